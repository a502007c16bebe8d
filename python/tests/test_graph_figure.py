"""The picture of a graph: what it shows, and that nothing lies on anything else."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET

from somatize import Graph, Node
from somatize.figure.graph import _graph_data, svg


class Same(Node):
    def forward(self, input, ctx):
        return input


def thirty():
    """Thirty nodes: three blocks of a fan over chains, some placed."""
    piece = Same().named("source")
    for block in range(4):
        arms = Same().named(f"b{block}_first") >> Same().named(f"b{block}_second_with_a_long_name")
        for arm in range(4):
            arms = arms | Same().named(f"b{block}_arm{arm}").on("cuda:0" if arm % 2 else "meta")
        piece = piece >> arms >> Same().named(f"join{block}")
    return Graph.somatize(piece >> Same().named("head"))


def overlap(one, other):
    x0, y0, width0, height0 = one
    x1, y1, width1, height1 = other
    return x0 < x1 + width1 and x1 < x0 + width0 and y0 < y1 + height1 and y1 < y0 + height0


def test_thirty_nodes_stand_apart_and_inside_the_picture():
    g = thirty()
    assert len(g) == 30
    data = _graph_data(g)
    assert set(data.nodes) == set(g.nodes())
    for one, other in itertools.combinations(data.nodes.values(), 2):
        assert not overlap(one, other)
    for x, y, width, height in data.nodes.values():
        assert x >= 0
        assert y >= 0
        assert x + width <= data.width
        assert y + height <= data.height
    for node, lines in data.lines.items():  # Every name fits its box.
        assert data.nodes[node][2] > 7 * max(map(len, lines))
    assert data.width < 1_000


def test_a_name_of_wide_letters_fits_its_box():
    data = _graph_data(Graph.somatize(Same().named("編碼器的第一個注意力層")))
    ((_, _, width, _),) = data.nodes.values()
    assert width > 11 * 12


def test_edges_go_down_and_a_wave_holds_its_branches():
    g = thirty()
    data = _graph_data(g)
    for source, target in g.edges():
        assert data.nodes[source][1] + data.nodes[source][3] < data.nodes[target][1]
    assert len(data.waves) == 4
    inside = [node for node, box in data.nodes.items() if any(overlap(box, wave) for wave in data.waves)]
    assert sorted(inside) == sorted(node for node in g.nodes() if node.startswith("b"))


def test_the_svg_shows_every_name_class_and_device():
    g = Graph.somatize(Same().named("a<b>&") >> (Same().on("cuda:0") | Same().named("r").on("meta")))
    root = ET.fromstring(g._repr_html_())
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["a<b>&", "Same", "same", "cuda:0", "r", "Same", "meta"]
    kinds = [element.get("class") for element in root.iter() if element.get("class")]
    assert (kinds.count("node"), kinds.count("edge"), kinds.count("wave")) == (3, 2, 1)


def test_an_edge_that_skips_a_step_goes_around_it():
    g = Graph.somatize(Same().named("a") >> Same().named("b") >> Same().named("c"))
    straight = svg(g)
    g.edge("a", "c")
    assert svg(g).count('class="edge"') == straight.count('class="edge"') + 1
    data = _graph_data(g)
    x, _, width, _ = data.nodes["b"]
    path = [part for part in svg(g).split("<path") if 'class="edge"' in part][-1]
    first_control = float(path.split("C")[1].split(",")[0])
    assert first_control > x + width


def test_graphs_too_large_to_read_and_empty_ones_are_text():
    piece = Same()
    for _ in range(500):
        piece = piece >> Same()
    assert svg(Graph.somatize(piece)).startswith("<pre>Graph(501 nodes")
    assert svg(Graph()) == "<pre>Graph(0 nodes, 0 edges)</pre>"
