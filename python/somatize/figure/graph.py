"""A graph as a picture: an SVG that needs nothing but a browser.

Drawn from the plan, top to bottom: steps of a sequence stand below each other, branches of a wave beside each
other on a shaded ground, so that what runs at the same time is seen at once. Every node shows its name, its
class where that says more, and its device in words and colour.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from somatize.graph import Graph

# All in pixels.
_CHARACTER = 7.2  # The width of one at the font's size; names are set in a fixed-width font.
_LINE = 15.0
_PADDING = 10.0
_MIN_WIDTH = 64.0
_GAP = 26.0  # Between two steps, where the edges are drawn.
_BESIDE = 16.0  # Between two branches.
_GROUND = 12.0  # Around the branches of a wave.
_MARGIN = 8.0

_MAX_NODES = 400
"""Beyond this many nodes nobody reads a picture; the graph's text is shown instead."""

_MAX_NAME = 28
"""Characters of a name that are shown; the whole is in the tooltip."""

# Colours that differ for the colour-blind as well (Okabe and Ito 2008), by order of appearance.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")


@dataclass
class _Box:
    """A step, a row of steps or a wave, with its place."""

    kind: str
    node: str | None = None
    lines: tuple[str, ...] = ()
    width: float = 0.0
    height: float = 0.0
    x: float = 0.0
    y: float = 0.0
    children: list[_Box] = field(default_factory=list)


@dataclass(frozen=True)
class _Drawing:
    """Where everything stands: nodes and waves as `(x, y, width, height)`, edges as pairs of ids."""

    width: float
    height: float
    nodes: dict[str, tuple[float, float, float, float]]
    lines: dict[str, tuple[str, ...]]
    devices: dict[str, str]
    waves: list[tuple[float, float, float, float]]
    edges: list[tuple[str, str]]


def _graph_data(graph: Graph) -> _Drawing:
    """The layout: pure numbers, no drawing."""
    devices = graph.devices()
    boxes: list[_Box] = []
    open_: list[tuple[int, _Box]] = []
    for depth, kind, node, _ in graph.plan().rows():
        box = _Box(kind, node)
        if node is not None:
            box.lines = _lines(graph, node, devices.get(node))
        while open_ and open_[-1][0] >= depth:
            open_.pop()
        if open_:
            open_[-1][1].children.append(box)
        open_.append((depth, box))
        boxes.append(box)
    for box in reversed(boxes):  # Children stand after their parents: sizes from the inside out,
        _measure(box)
    boxes[0].x = boxes[0].y = _MARGIN
    for box in boxes:  # places from the outside in.
        _place(box)
    whole = boxes[0]
    at = {box.node: (box.x, box.y, box.width, box.height) for box in boxes if box.node is not None}
    return _Drawing(
        width=whole.width + 2 * _MARGIN,
        height=whole.height + 2 * _MARGIN,
        nodes=at,
        lines={box.node: box.lines for box in boxes if box.node is not None},
        devices=devices,
        waves=[(box.x, box.y, box.width, box.height) for box in boxes if box.kind == "wave"],
        edges=graph.edges(),
    )


def _lines(graph: Graph, node: str, device: str | None) -> tuple[str, ...]:
    kind = type(graph.implementation(node)).__name__
    says_more = kind.lower() != node.replace("_", "").rstrip("0123456789").lower()
    lines = [node, kind if says_more else "", device or ""]
    return tuple(line if len(line) <= _MAX_NAME else line[: _MAX_NAME - 1] + "…" for line in lines if line)


def _measure(box: _Box) -> None:
    inner = box.children
    if box.kind == "sequence":
        box.width = max(child.width for child in inner)
        box.height = sum(child.height for child in inner) + _GAP * (len(inner) - 1)
    elif box.kind == "wave":
        box.width = sum(child.width for child in inner) + _BESIDE * (len(inner) - 1) + 2 * _GROUND
        box.height = max(child.height for child in inner) + 2 * _GROUND
    else:
        longest = max(map(_columns, box.lines), default=0)
        box.width = max(_MIN_WIDTH, longest * _CHARACTER + 2 * _PADDING)
        box.height = max(1, len(box.lines)) * _LINE + _PADDING


def _columns(line: str) -> int:
    """Characters of the fixed-width font; the wide ones of East Asia and emoji take two."""
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in line)


def _place(box: _Box) -> None:
    if box.kind == "sequence":
        y = box.y
        for child in box.children:
            child.x, child.y = box.x + (box.width - child.width) / 2, y
            y += child.height + _GAP
    elif box.kind == "wave":
        x = box.x + _GROUND
        for child in box.children:
            child.x, child.y = x, box.y + (box.height - child.height) / 2
            x += child.width + _BESIDE


def svg(graph: Graph) -> str:
    """The picture of a graph as HTML: an SVG in a box that scrolls sideways.

    Beyond 400 nodes, the graph's one-line text.
    """
    if len(graph) > _MAX_NODES or len(graph) == 0:
        return f"<pre>{escape(repr(graph))}</pre>"
    drawing = _graph_data(graph)
    shown = list(dict.fromkeys(drawing.devices.values()))
    colour = {device: _COLOURS[at % len(_COLOURS)] for at, device in enumerate(shown)}
    parts = [_wave(wave) for wave in drawing.waves]
    parts += [_edge(drawing, source, target) for source, target in drawing.edges]
    parts += [_node(drawing, node, colour.get(drawing.devices.get(node, ""))) for node in drawing.nodes]
    size = f'width="{drawing.width:.0f}" height="{drawing.height:.0f}"'
    return (
        '<div style="overflow-x:auto">'
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}" '
        f'role="img" aria-label="{escape(repr(graph))}" font-family="ui-monospace, monospace" font-size="12" '
        'color="currentColor" fill="none" stroke="none">' + "".join(parts) + "</svg></div>"
    )


def _wave(wave: tuple[float, float, float, float]) -> str:
    x, y, width, height = wave
    return (
        f'<rect class="wave" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="10" '
        'fill="#808080" fill-opacity="0.13"/>'
    )


def _edge(drawing: _Drawing, source: str, target: str) -> str:
    x0, y0, width0, height0 = drawing.nodes[source]
    x1, y1, width1, _ = drawing.nodes[target]
    begin, end = (x0 + width0 / 2, y0 + height0), (x1 + width1 / 2, y1)
    reach = (end[1] - begin[1]) / 2
    # Around whatever stands between: an edge that skips a step of its own column leaves it sideways.
    over = _in_the_way(drawing, source, target, begin, end)
    aside = 0.0 if over is None else 1.6 * (over - min(begin[0], end[0]))
    return (
        f'<path class="edge" d="M{begin[0]:.1f},{begin[1]:.1f} '
        f"C{begin[0] + aside:.1f},{begin[1] + reach:.1f} {end[0] + aside:.1f},{end[1] - reach:.1f} "
        f'{end[0]:.1f},{end[1]:.1f}" stroke="#808080" stroke-width="1.4"/>'
        f'<path d="M{end[0] - 3.5:.1f},{end[1] - 6:.1f} L{end[0]:.1f},{end[1]:.1f} '
        f'L{end[0] + 3.5:.1f},{end[1] - 6:.1f}" '
        'stroke="#808080" stroke-width="1.4"/>'
    )


def _in_the_way(
    drawing: _Drawing, source: str, target: str, begin: tuple[float, float], end: tuple[float, float]
) -> float | None:
    """The right side of the widest node that the straight line would cross; None when it crosses none."""
    right = None
    for node, (x, y, width, height) in drawing.nodes.items():
        middle = y + height / 2
        if node in (source, target) or not begin[1] < middle < end[1]:
            continue
        at = begin[0] + (end[0] - begin[0]) * (middle - begin[1]) / (end[1] - begin[1])
        if x < at < x + width:
            right = max(right or 0.0, x + width)
    return right


def _node(drawing: _Drawing, node: str, colour: str | None) -> str:
    x, y, width, height = drawing.nodes[node]
    lines = drawing.lines[node]
    edge = colour or "#808080"
    device = drawing.devices.get(node)
    tip = node if device is None else f"{node} on {device}"
    texts = "".join(
        f'<text x="{x + width / 2:.1f}" y="{y + _PADDING / 2 + _LINE * (at + 0.78):.1f}" '
        'text-anchor="middle" '
        f'fill="currentColor"{_weight(at)}>{escape(line)}</text>'
        for at, line in enumerate(lines)
    )
    return (
        f'<g class="node"><title>{escape(tip)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="6" fill="{edge}" fill-opacity="0.12" stroke="{edge}" stroke-width="1.4"/>'
        f"{texts}</g>"
    )


def _weight(at: int) -> str:
    return ' font-weight="600"' if at == 0 else ' fill-opacity="0.75" font-size="11"'
