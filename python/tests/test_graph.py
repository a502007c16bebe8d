"""The graph: topology, plan, forward, errors, travelling."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import random
import sys
import threading
import time
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from somatize import Graph, Node
from somatize.errors import GraphError, NodeError, RunError, SomaError, UnknownNodeError


class Add(Node):
    def __init__(self, n=1):
        self.n = n

    def forward(self, input, ctx):
        return input + self.n


class Sum(Node):
    def forward(self, input, ctx):
        return sum(input.values())


class Same(Node):
    def forward(self, input, ctx):
        return input


class Boom(Node):
    def __init__(self, error):
        self.error = error

    def forward(self, input, ctx):
        raise self.error


class Clean(Add):
    pass


class TfIdf(Add):
    pass


def diamond():
    return Graph.somatize(Add(1).named("s") >> (Add(10).named("l") | Add(20).named("r")) >> Sum().named("t"))


# Topology.


def test_both_doors_give_the_same_graph_and_the_same_plan():
    hand = Graph()
    assert hand.node("s", Add(1)) == "s"
    for id, node in (("l", Add(10)), ("r", Add(20)), ("t", Sum())):
        hand.node(id, node)
    for edge in (("s", "l"), ("s", "r"), ("l", "t"), ("r", "t")):
        hand.edge(*edge)
    written = diamond()
    assert (written.nodes(), written.edges()) == (hand.nodes(), hand.edges())
    assert written.plan() == hand.plan()
    assert written.forward(0) == hand.forward(0) == 32
    hand.edge("s", "t")
    assert written.plan() != hand.plan()


def test_an_id_not_given_is_the_class_in_snake_case_then_numbered():
    g = Graph()
    ids = [g.node(TfIdf()), g.node(TfIdf()), g.node("tf_idf_3", Add()), g.node(TfIdf()), g.node(Clean())]
    assert ids == ["tf_idf", "tf_idf_2", "tf_idf_3", "tf_idf_4", "clean"] == g.nodes()


def test_queries_answer_in_declaration_order():
    g = diamond()
    assert g.nodes() == ["s", "l", "r", "t"]
    assert g.roots() == ["s"]
    assert g.leaves() == ["t"]
    assert g.predecessors("t") == ["l", "r"]
    assert g.successors("s") == ["l", "r"]
    assert g.topological_sort() == ["s", "l", "r", "t"]
    assert isinstance(g.implementation("t"), Sum)
    assert len(g) == 4
    assert "s" in g
    assert "x" not in g
    assert repr(g) == "Graph(4 nodes, 4 edges: s, l, r, t)"
    assert g.devices() == {}


def test_what_cannot_be_in_a_graph_is_refused_when_it_is_added():
    g = diamond()
    before = (g.nodes(), g.edges())
    for wrong, error, text in (
        (
            lambda: g.edge("s", "nowhere"),
            UnknownNodeError,
            "there is no node `nowhere`\nhint: the graph has s, l",
        ),
        (lambda: g.edge("s", "l"), GraphError, "there is an edge `s` -> `l` already"),
        (lambda: g.edge("t", "s"), GraphError, "`t` -> `s` would close a cycle: `s` -> `[lr]` -> `t` -> `s`"),
        (lambda: g.edge("s", "s"), GraphError, "would close a cycle: `s` -> `s`"),
        (lambda: g.node("", Add()), GraphError, "an empty name"),
        (lambda: g.place("x", "cpu"), UnknownNodeError, "there is no node `x`"),
        (lambda: g.implementation("x"), LookupError, "there is no node `x`"),
    ):
        with pytest.raises(error, match=text) as caught:
            wrong()
        assert isinstance(caught.value, SomaError)
        assert isinstance(caught.value, ValueError)
    assert (g.nodes(), g.edges()) == before


def test_c39_two_equal_names_are_refused_and_both_are_named():
    """C39."""
    with pytest.raises(GraphError, match="the name `x` was given twice: to a `Add` and to a `Sum`"):
        Graph.somatize(Add().named("x") >> Sum().named("x"))


def test_c39_two_of_one_class_in_parallel_both_run_and_can_be_addressed():
    """C39."""
    g = Graph.somatize(Add(1) | Add(2))
    assert g.forward(0) == {"add": 1, "add_2": 2}
    assert g.implementation("add_2").n == 2


def test_a_name_stands_before_its_node():
    with pytest.raises(TypeError, match="a node's name was given as `Add`, expected text before the node"):
        Graph().node(Add(), "add")
    assert 3 not in diamond()


def test_what_is_no_expression_is_no_graph():
    for wrong in (3, {}, None, int):
        with pytest.raises(TypeError, match="expected a node or an expression of nodes"):
            Graph.somatize(wrong)
    with pytest.raises(TypeError, match=r"the class `Add` was given .* expected an object such as `Add\(\)`"):
        Graph.somatize(Add)


# Forward.


def test_values_cross_by_reference_and_stay_what_they_are():
    for value in (1, True, 2**80, 1.5, "x", b"x", None, [1], {"a": 1}, object(), float("nan")):
        assert Graph.somatize(Same() >> Same()).forward(value) is value
    assert Graph().forward(5) == 5
    assert Graph().forward() is None
    assert Graph.somatize(Same()).forward() is None


def test_c37_a_join_runs_once_after_its_longer_arm_and_is_given_both_in_written_order():
    """C37."""
    calls = []

    class Join(Node):
        def forward(self, input, ctx):
            calls.append(dict(input))
            return list(input)

    for _ in range(20):
        piece = Add(1).named("a") >> (Add(2).named("b") | (Add(3).named("c") >> Add(4).named("c2"))) >> Join()
        assert Graph.somatize(piece).forward(0) == ["b", "c2"]
    assert calls == [{"b": 3, "c2": 8}] * 20


def test_a_map_belongs_to_the_node_it_was_given_to():
    class Spoils(Node):
        def forward(self, input, ctx):
            input["spoiled"] = True
            return len(input)

    assert Graph.somatize((Add(1) | Add(2)) >> (Spoils() | Spoils())).forward(0) == {
        "spoils": 3,
        "spoils_2": 3,
    }


def test_c38_five_thousand_nodes_are_built_run_printed_copied_and_pickled():
    """C38."""
    since = time.perf_counter()
    piece = Add()
    for _ in range(4_999):
        piece = piece >> Add()
    g = Graph.somatize(piece)
    assert time.perf_counter() - since < 2
    assert g.forward(0) == 5_000
    assert repr(g).startswith("Graph(5000 nodes, 4999 edges: add, add_2, ")
    assert repr(piece) == "Expression(5000 nodes)"
    for copied in (copy.copy(g), copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        assert copied.forward(0) == 5_000
        assert copied.plan() == g.plan()
    assert len(pickle.loads(pickle.dumps(piece))) == 5_000
    assert len(str(g.plan()).splitlines()) == 5_001
    assert len(json.loads(g.manifest())["nodes"]) == 5_000
    del piece, g


def test_c38_thirty_stacked_diamonds_call_each_node_once():
    """C38."""
    calls = 0

    class Counted(Same):
        def forward(self, input, ctx):
            nonlocal calls
            calls += 1
            return input

    piece = Counted()
    for _ in range(30):
        piece = piece >> (Counted() | Counted()) >> Sum()
    assert Graph.somatize(piece).forward(3) == 3 * 2**30
    assert calls == 61


def test_deep_nests_of_waves_do_not_recurse():
    piece = Add(1)
    for _ in range(2_000):
        piece = Add(0) >> (Add(1) | piece) >> Sum()
    g = Graph.somatize(piece)
    assert g.forward(0) == g.forward(0, workers=1) == 2_001
    assert pickle.loads(pickle.dumps(g)).plan() == g.plan()


def test_a_wide_fan_is_linear():
    piece = Add(0)
    fan = piece
    for _ in range(999):
        fan = fan | Add(0)
    since = time.perf_counter()
    g = Graph.somatize(Add(0) >> fan >> Sum())
    g.plan()
    assert time.perf_counter() - since < 1
    assert g.forward(1) == 1_000


@st.composite
def graphs(draw):
    """A graph of up to eight nodes by hand, and its edges."""
    n_nodes = draw(st.integers(1, 8))
    order = draw(st.permutations(range(n_nodes)))
    pairs = [(order[i], order[j]) for i in range(n_nodes) for j in range(i + 1, n_nodes)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return n_nodes, edges


class Said(Node):
    """Says who it is and what it was given."""

    def __init__(self, id):
        self.id = id

    def forward(self, input, ctx):
        return (self.id, input)


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_any_graph_runs_as_a_plain_walk_over_it_would(drawn):
    n_nodes, edges = drawn
    g = Graph()
    for node in range(n_nodes):
        g.node(f"n{node}", Said(node))
    for a, b in edges:
        g.edge(f"n{a}", f"n{b}")
    before = {node: [a for a, b in edges if b == node] for node in range(n_nodes)}
    said = {}

    def walk(node):
        if node not in said:
            given = [walk(other) for other in before[node]]
            named = {f"n{other}": value for other, value in zip(before[node], given, strict=True)}
            said[node] = (node, "in" if not given else given[0] if len(given) == 1 else named)
        return said[node]

    leaves = [node for node in range(n_nodes) if node not in {a for a, _ in edges}]
    expected = walk(leaves[0]) if len(leaves) == 1 else {f"n{leaf}": walk(leaf) for leaf in leaves}
    assert g.forward("in") == g.forward("in", workers=1) == expected
    order = g.topological_sort()
    assert all(order.index(f"n{a}") < order.index(f"n{b}") for a, b in edges)
    assert sorted(g.plan().nodes()) == sorted(g.nodes())
    for a, b in edges:
        with pytest.raises(GraphError, match="cycle"):
            g.edge(f"n{b}", f"n{a}")


def test_the_plan_is_kept_until_the_topology_changes():
    g = diamond()
    plan = g.plan()
    g.place("l", "cpu")
    assert g.plan() == plan
    assert g.forward(0) == 32
    assert plan.kind == "sequence"
    assert plan.nodes() == ["s", "l", "r", "t"]
    assert len(plan) == 4
    g.node("u", Add())
    assert g.plan() != plan


def test_a_plan_prints_for_a_person():
    assert str(diamond().plan()).splitlines() == [
        "sequence",
        "  s <- input",
        "  wave",
        "    l <- s",
        "    r <- s",
        "  t <- l, r",
    ]
    assert str(Graph().plan()) == "empty"


def test_a_run_works_on_the_graph_as_it_was_when_it_began():
    g = Graph()

    class Grows(Node):
        def forward(self, input, ctx):
            g.node(Add(1))
            g.edge("grows", g.nodes()[-1])
            return input

    g.node(Grows())
    assert g.forward(1) == 1
    assert g.forward(1) == 2


def test_workers_are_at_least_one():
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=f"`workers` was given {wrong}, expected at least 1"):
            diamond().forward(0, workers=wrong)


# Errors.


def test_a_failure_names_its_node_and_keeps_what_was_raised():
    error = ValueError("no such word")
    with pytest.raises(NodeError, match="node `clean` failed") as caught:
        Graph.somatize(Add() >> Boom(error).named("clean")).forward(1)
    raised = caught.value
    assert raised.__cause__ is error
    assert raised.node == "clean"
    assert raised.also == ()
    assert isinstance(raised, SomaError)
    assert isinstance(raised, RunError)
    lines = [entry.name for entry in traceback_of(error)]
    assert lines[-1] == "forward"  # The line within the node is in the traceback.


def traceback_of(error):
    import traceback

    return traceback.extract_tb(error.__traceback__)


class OwnError(KeyError):
    pass


@pytest.mark.parametrize(
    ("error", "known"),
    [
        (ValueError("x"), ValueError),
        (TypeError("x"), TypeError),
        (KeyError("x"), KeyError),
        (OwnError("x"), KeyError),
        (ZeroDivisionError("x"), ArithmeticError),
        (FileNotFoundError(2, "x"), FileNotFoundError),
        (TimeoutError("x"), OSError),
        (MemoryError(), MemoryError),
        (AttributeError("x"), AttributeError),
        (NotImplementedError("x"), NotImplementedError),
        (UnicodeDecodeError("utf8", b"x", 0, 1, "x"), ValueError),
        (StopIteration(1), NodeError),
        (RuntimeError("x"), RuntimeError),
    ],
)
def test_a_failure_is_caught_by_the_class_a_person_would_catch(error, known):
    with pytest.raises(known) as caught:
        Graph.somatize(Boom(error)).forward()
    assert type(caught.value) is not type(error)
    assert isinstance(caught.value, NodeError)
    assert str(caught.value) == "node `boom` failed"
    assert caught.value.__cause__ is error
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert again.node == "boom"
    assert type(again.__cause__) is type(error)


def test_c40_the_first_failing_branch_is_raised_and_the_second_is_not_lost():
    """C40."""
    first, second = ValueError("one"), KeyError("two")

    class Late(Boom):
        def forward(self, input, ctx):
            time.sleep(0.02)
            raise self.error

    g = Graph.somatize(Add().named("ok") | Late(first).named("boom1") | Boom(second).named("boom2"))
    for workers in (None, 1, 2):
        with pytest.raises(NodeError, match="node `boom1` failed") as caught:
            g.forward(0, workers=workers)
        assert caught.value.__cause__ is first
        [also] = caught.value.also
        assert also.node == "boom2"
        assert also.__cause__ is second
        if sys.version_info >= (3, 11):
            assert caught.value.__notes__ == ["also, node `boom2` failed: KeyError: 'two'"]
    g.implementation("boom1").forward = g.implementation("boom2").forward = lambda input, ctx: 7
    assert g.forward(0) == {"ok": 1, "boom1": 7, "boom2": 7}


def test_c40_the_order_of_outputs_does_not_depend_on_who_is_first():
    """C40."""

    class Slow(Add):
        def forward(self, input, ctx):
            time.sleep(random.random() / 1_000)
            return self.n

    g = Graph.somatize(Slow(0).named("a") | Slow(1).named("b") | Slow(2).named("c"))
    for _ in range(50):
        assert list(g.forward(0).items()) == [("a", 0), ("b", 1), ("c", 2)]


def test_every_branch_ends_though_one_failed():
    ended = []

    class Ends(Node):
        def forward(self, input, ctx):
            ended.append(1)

    g = Graph.somatize(Boom(ValueError()) | (Add() >> Ends()) | Ends())
    for workers in (None, 1):
        ended.clear()
        with pytest.raises(NodeError):
            g.forward(0, workers=workers)
        assert len(ended) == 2


def test_an_exit_within_a_branch_is_an_exit():
    for stop in (SystemExit(3), KeyboardInterrupt()):
        for piece in (
            Boom(stop),
            Add() | Boom(stop),
            (Boom(stop) | Add()) >> Sum(),
            Add() | (Add() >> (Boom(stop) | Add())),
        ):
            with pytest.raises(type(stop)) as caught:
                Graph.somatize(piece).forward(0)
            assert caught.value is stop


def test_a_node_that_runs_its_own_graph_says_so_layer_by_layer():
    inner = Graph.somatize(Boom(ValueError("deep")).named("inner"))

    class Outer(Node):
        def forward(self, input, ctx):
            return inner.forward(input)

    with pytest.raises(ValueError, match="node `outer` failed") as caught:
        Graph.somatize(Outer()).forward()
    assert caught.value.__cause__.node == "inner"
    assert str(caught.value.__cause__.__cause__) == "deep"


# Travelling.


def test_a_graph_pickles_with_its_placement_and_its_attributes():
    g = diamond()
    g.place("l", "meta")
    g.place("l", "cpu")
    g.note = "mine"
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(g, protocol))
        assert type(again) is Graph
        assert again.note == "mine"
        assert (again.nodes(), again.edges(), again.devices()) == (g.nodes(), g.edges(), {"l": "cpu"})
        assert again.manifest() == g.manifest()
        assert again.forward(0) == 32


def test_a_copy_shares_its_nodes_and_a_deep_copy_has_its_own():
    g = diamond()
    shallow, deep = copy.copy(g), copy.deepcopy(g)
    g.implementation("s").n = 100
    assert (shallow.forward(0), deep.forward(0)) == (230, 32)
    shallow.node("more", Add())
    assert len(g) == 4


def test_one_object_used_twice_is_one_object_after_a_pickle():
    node = Add(1)
    again = pickle.loads(pickle.dumps(Graph.somatize(node >> node)))
    assert again.implementation("add") is again.implementation("add_2")


def test_the_manifest_is_the_topology_as_json():
    g = Graph()
    g.node('a "quoted"\n', Add(), device="meta")
    g.node("b", Sum())
    g.edge('a "quoted"\n', "b")
    assert json.loads(g.manifest()) == {
        "format": "somatize graph",
        "version": 1,
        "nodes": [
            {"id": 'a "quoted"\n', "kind": "Add", "device": "meta"},
            {"id": "b", "kind": "Sum", "device": None},
        ],
        "edges": [['a "quoted"\n', "b"]],
    }
    assert json.loads(Graph().manifest())["nodes"] == []


def test_a_graph_in_a_cycle_of_references_is_collected():
    class Holds(Node):
        graph = None

        def forward(self, input, ctx):
            return input

    def make():
        node = Holds()
        node.graph = Graph.somatize(node >> Add())
        node.graph.forward  # noqa: B018
        return weakref.ref(node)

    gone = make()
    gc.collect()
    assert gone() is None
    # One that ran holds its plan as well.
    node = Holds()
    node.graph = Graph.somatize(node)
    node.graph.forward(1)
    gone = weakref.ref(node)
    del node
    gc.collect()
    assert gone() is None


def test_a_node_held_by_an_expression_outlives_a_collection():
    node = Add(4)
    node.self = node
    piece = node.named("x")
    graph = Graph.somatize(piece)
    del node, graph
    gc.collect()
    assert Graph.somatize(piece).forward(0) == 4


def test_many_threads_run_and_extend_one_graph():
    g = diamond()
    failures = []

    def run():
        try:
            for _ in range(50):
                assert g.forward(0) in (32, {"t": 32, "add": 1})
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    g.node(Add())
    for thread in threads:
        thread.join()
    assert not failures
