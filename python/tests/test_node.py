"""Nodes and what they say: the operators, the marks, the answers."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import textwrap

import pytest

from somatize import Await, Ctx, Done, Expression, Graph, Node, Opaque
from somatize.errors import DeviceError, GraphError, SomaError


class Add(Node):
    def __init__(self, n=1):  # No `super().__init__()`, as in the seeds.
        self.n = n

    def forward(self, input, ctx):
        return input + self.n


class Same(Node):
    def forward(self, input, ctx):
        return input


class Told(Node):
    """Answers what it was told."""

    def forward(self, input, ctx):
        return ctx


def forward(piece, *input, **options):
    return Graph.somatize(piece).forward(*input, **options)


def test_a_node_is_an_object_with_forward():
    with pytest.raises(
        TypeError, match=r"class `Add` was given as a node, expected an object such as `Add\(\)`"
    ):
        Graph().node(Add)
    with pytest.raises(TypeError, match=r"`int` has no `forward"):
        Graph().node("three", 3)

    class Unwritten(Node):
        pass

    with pytest.raises(TypeError, match=r"`Unwritten` has no `forward"):
        Graph().node(Unwritten())

    class Duck:
        def forward(self, input, ctx):
            return input * 2

    g = Graph()
    g.node(Duck())
    assert g.forward(4) == 8


def test_any_mark_works_without_super_init():
    assert Graph.somatize(Add().named("x").on("meta")).devices() == {"x": "meta"}
    assert Graph.somatize(Add().on("meta").named("x")).devices() == {"x": "meta"}
    assert Add().forward(1, Ctx()) == 2


def test_marks_change_no_operand():
    node = Add()
    piece = node.named("x")
    piece.on("meta")
    assert Graph.somatize(piece).devices() == {}
    assert Graph.somatize(node).nodes() == ["add"]


def test_the_innermost_device_wins_and_the_last_name():
    g = Graph.somatize((Add().on("cpu") >> Add() >> (Add() | Add().on("meta")).on("cuda:0")).on("cuda:1"))
    assert g.devices() == {"add": "cpu", "add_2": "cuda:1", "add_3": "cuda:0", "add_4": "meta"}
    assert Graph.somatize(Add().named("first").named("last")).nodes() == ["last"]


def test_a_name_is_for_one_node():
    with pytest.raises(GraphError, match="a piece of 2 nodes, expected one node"):
        (Add() >> Add()).named("both")
    with pytest.raises(GraphError, match="an empty name"):
        Add().named("")


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:-1", "cuda 0", "", "CPU", "cuda:0:1"])
def test_a_name_torch_would_not_accept_fails_where_it_is_typed(name):
    with pytest.raises(DeviceError, match="is not the name of a device") as caught:
        Add().on(name)
    assert isinstance(caught.value, SomaError)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(DeviceError):
        Graph().node("x", Add(), device=name)
    g = Graph.somatize(Add())
    with pytest.raises(DeviceError):
        g.place("add", name)
    assert g.devices() == {}


def test_a_device_is_checked_without_importing_torch():
    text = """
        import sys
        from somatize import Graph, Node
        from somatize.errors import DeviceError
        class Same(Node):
            def forward(self, input, ctx):
                return input
        for good in ("cpu", "cuda", "cuda:3", "mps", "meta", "xla:1"):
            Same().on(good)
        for bad in ("gpu", "npu", "cuda:-1", "Cuda"):
            try:
                Same().on(bad)
            except DeviceError as error:
                assert bad in str(error)
            else:
                raise AssertionError(bad)
        Graph.somatize((Same() | Same().on("cpu")) >> Same()).forward(1)
        assert "torch" not in sys.modules
    """
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", textwrap.dedent(text)], check=True, env=env)


def test_a_device_is_text_or_a_torch_device():
    torch = pytest.importorskip("torch")
    assert Graph.somatize(Add().on(torch.device("cuda", 1))).devices() == {"add": "cuda:1"}
    with pytest.raises(TypeError, match="given as `int`"):
        Add().on(0)


def test_c41_operators_bind_as_python_binds_them_and_refuse_what_is_no_node():
    """C41."""

    def shape(piece):
        g = Graph.somatize(piece)
        return g.nodes(), g.edges(), g.plan()

    a, b, c, d = (Add(n).named(name) for n, name in enumerate("abcd"))
    assert shape(a >> b | c >> d) == shape((a >> b) | (c >> d))
    for wrong in (
        lambda: Add() | {},
        lambda: {} | Add(),
        lambda: Add() >> 3,
        lambda: 3 >> Add(),
        lambda: a | None,
    ):
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong()


def test_c41_composing_changes_and_copies_no_operand():
    """C41."""
    nodes = [Add(n) for n in range(4)]
    g = nodes[0] >> nodes[1]
    g >> nodes[2]
    g >> nodes[3]
    assert len(g) == 2
    assert Graph.somatize(g).implementation("add") is nodes[0]
    left, right = (nodes[0] >> nodes[1]) >> nodes[2], nodes[0] >> (nodes[1] >> nodes[2])
    assert len(left) == len(right) == 3
    assert forward(left, 5) == forward(right, 5) == 8
    one, other = Graph.somatize(left), Graph.somatize(right)
    assert (one.nodes(), one.edges(), one.plan()) == (other.nodes(), other.edges(), other.plan())


def test_an_expression_prints_as_it_is_written():
    piece = Add().named("a") >> (Add() | Same().named("s") >> Add()) >> Add().on("meta")
    assert repr(piece) == "Expression(a >> (Add | s >> Add) >> Add@meta)"
    for _ in range(10):
        piece = piece >> Add()
    assert repr(piece) == "Expression(15 nodes)"


def test_an_expression_travels():
    piece = Add(1).named("a") >> (Add(2) | Add(3).on("meta"))
    for copied in (pickle.loads(pickle.dumps(piece)), copy.copy(piece), copy.deepcopy(piece)):
        assert isinstance(copied, Expression)
        assert repr(copied) == repr(piece)
        assert Graph.somatize(copied).devices() == {"add_2": "meta"}


def test_a_plain_answer_done_and_opaque_say_the_same():
    thing = object()

    class Says(Node):
        def __init__(self, wrap):
            self.wrap = wrap

        def forward(self, input, ctx):
            assert input is thing
            return self.wrap(input)

    for wrap in (lambda x: x, Done, Opaque, lambda x: Done(Opaque(x)), lambda x: Opaque(Opaque(x))):
        assert forward(Says(wrap) >> Says(wrap), thing) is thing
        assert forward(Says(wrap), Opaque(thing)) is thing
    assert Done().value is None
    assert Opaque(thing).value is thing


def test_answers_print_and_pickle():
    for answer, text in (
        (Done(3), "Done(3)"),
        (Opaque("x"), "Opaque('x')"),
        (Await([1, "b"]), "Await([1, 'b'])"),
    ):
        assert repr(answer) == text
        assert repr(pickle.loads(pickle.dumps(answer))) == text
    ctx = pickle.loads(pickle.dumps(Ctx("meta", 2, [1])))
    assert (ctx.device, ctx.turn, ctx.results) == ("meta", 2, [1])
    assert repr(ctx) == "Ctx(device='meta', turn=2, results=[1])"


def test_await_takes_a_list_not_a_text():
    assert Await(n for n in range(2)).requests == [0, 1]
    for wrong in ("abc", b"abc"):
        with pytest.raises(TypeError, match="expected a list of requests"):
            Await(wrong)
    with pytest.raises(TypeError):
        Await(3)


def test_a_node_is_told_its_device_and_its_turn():
    ctx = forward(Told())
    assert (ctx.device, ctx.turn, ctx.results) == (None, 0, [])
    g = Graph.somatize(Told().on("meta"))
    assert g.forward().device == "meta"
    assert g.forward() is g.forward()  # Made once, not once per run.
    g.place("told", "cpu")
    assert g.forward().device == "cpu"
    g.place("told", None)
    assert g.forward().device is None


def test_c39_one_object_used_twice_is_two_nodes_that_share_it():
    """C39."""
    node = Add(1)
    g = Graph.somatize(node >> node)
    assert g.nodes() == ["add", "add_2"]
    assert g.implementation("add") is g.implementation("add_2") is node
    node.n = 5
    assert g.forward(0) == 10
    both = Graph.somatize(node | node)
    assert both.forward(0) == {"add": 5, "add_2": 5}


def test_a_forward_put_on_the_object_is_the_one_that_runs():
    node = Add(1)
    g = Graph.somatize(node)
    node.forward = lambda input, ctx: "mine"
    assert g.forward(1) == "mine"
