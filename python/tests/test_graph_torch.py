"""Graphs of torch's nodes: placement, memory, nodes that are modules."""

from __future__ import annotations

import gc
import io
import pickle
import weakref

import pytest

from somatize import Graph, Node, Opaque
from somatize.errors import PlacementError

torch = pytest.importorskip("torch")


class Linear(Node):
    """Moves what it is given and what it has to where it was placed."""

    def __init__(self, n_in, n_out):
        self.layer = torch.nn.Linear(n_in, n_out)

    def forward(self, x, ctx):
        if ctx.device is not None:
            self.layer.to(ctx.device)
            x = x.to(ctx.device)
        return Opaque(self.layer(x))

    def parameters(self):
        return list(self.layer.parameters())


class Says(Node):
    def __init__(self, output):
        self.output = output

    def forward(self, input, ctx):
        return self.output


def test_a_node_obeys_its_device_and_the_engine_checks():
    g = Graph.somatize(Linear(2, 3).on("meta") >> Linear(3, 1).on("meta"))
    assert g.forward(torch.ones(4, 2)).device.type == "meta"
    g.place("linear_2", "cpu")
    with pytest.raises((PlacementError, NotImplementedError, RuntimeError)):
        g.forward(torch.ones(4, 2))


MISPLACED = [
    torch.ones(1),
    [torch.ones(1, device="meta"), torch.ones(1)],
    (1, {"deep": [torch.ones(1)]}),
    {"x": torch.ones(1)},
]


@pytest.mark.parametrize("output", MISPLACED)
def test_an_output_on_another_device_is_named(output):
    with pytest.raises(
        PlacementError, match="node `x` was placed on `meta` and its output is on `cpu`"
    ) as caught:
        Graph.somatize(Says(output).named("x").on("meta")).forward()
    assert caught.value.node == "x"
    assert "ctx.device" in caught.value.hint


def test_an_output_where_its_node_was_placed_passes_as_it_is():
    for output in (torch.ones(1), (1, {"deep": [torch.ones(1)]}), torch.nn.Linear(1, 1).weight):
        assert Graph.somatize(Says(output).on("cpu")).forward() is output
        assert Graph.somatize(Says(output).on("cpu:0")).forward() is output


def test_an_output_that_says_no_device_is_where_it_should_be():
    circle = []
    circle.append(circle)

    class Shy:
        device = "somewhere else"

    for output in (1, "cpu", None, circle, Shy(), [torch.ones(1, device="meta")]):
        assert Graph.somatize(Says(output).on("meta")).forward() is output


def test_placing_changes_neither_plan_nor_order_nor_result():
    g = Graph.somatize(Linear(2, 3) >> (Linear(3, 1) | Linear(3, 2)))
    x, plan = torch.ones(4, 2), g.plan()
    before = g.forward(x)
    for id in g.nodes():
        g.place(id, "cpu:0")
    after = g.forward(x)
    assert g.plan() == plan
    assert list(before) == list(after)
    assert all(torch.equal(before[leaf], after[leaf]) for leaf in before)


def test_a_tensor_keeps_its_grad_fn_and_the_same_object_comes_out():
    made = []

    class Doubles(Node):
        def forward(self, x, ctx):
            made.append(x * 2)
            return made[-1]

    x = torch.ones(1, requires_grad=True)
    out = Graph.somatize(Doubles() >> Doubles()).forward(x)
    assert out is made[-1]
    assert out.grad_fn is not None
    out.backward()
    assert x.grad.item() == 4.0


def test_a_value_is_released_as_soon_as_its_last_reader_has_run():
    live, most = weakref.WeakSet(), 0

    class Fresh(Node):
        def forward(self, x, ctx):
            nonlocal most
            # A tensor of its own: neither the input nor what it was made from lives in it.
            out = torch.zeros(1000) if x is None else torch.zeros_like(x)
            live.add(out)
            most = max(most, len(live))
            return out

    piece = Fresh()
    for _ in range(49):
        piece = piece >> Fresh()
    g = Graph.somatize(piece)
    gc.collect()
    with torch.no_grad():
        for workers in (None, 1):
            most = 0
            out = g.forward(workers=workers)
            assert most == 2
            assert set(live) == {out}
            del out
            assert len(live) == 0


def test_within_waves_too_nothing_is_kept():
    live = weakref.WeakSet()

    class Fresh(Node):
        def forward(self, x, ctx):
            out = torch.zeros(10)
            live.add(out)
            return out

    class Counts(Node):
        def forward(self, x, ctx):
            del x
            return len(live)

    # What the first said is gone once both branches have read it; the branches' own are gone once joined.
    g = Graph.somatize(Fresh() >> (Fresh() >> Fresh() | Fresh() >> Fresh()) >> Fresh() >> Counts())
    for _ in range(3):
        assert g.forward(workers=1) <= 1
        assert g.forward() <= 1


class Both(Node, torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layer = torch.nn.Linear(n, n)

    def forward(self, x, ctx):
        return self.layer(x)


class Other(torch.nn.Module, Node):
    def __init__(self, n):
        torch.nn.Module.__init__(self)
        self.layer = torch.nn.Linear(n, n)

    def forward(self, x, ctx):
        assert ctx.device is None
        return self.layer(x)


class Bare(Node, torch.nn.Module):
    def __init__(self):  # torch's own `__init__` has not run either.
        pass

    def forward(self, x, ctx):
        return x


def test_a_class_may_be_a_node_and_a_module():
    a, b = Both(2), Other(2)
    x = torch.ones(1, 2)
    g = Graph.somatize(a.named("a") >> (b.named("b") | Bare()))
    out = g.forward(x)
    assert torch.equal(out["b"], b.layer(a.layer(x)))
    assert torch.equal(out["bare"], a.layer(x))
    # A module's call runs its hooks, in waves and out of them.
    seen = []
    for module in (a, b):
        module.register_forward_hook(lambda module, args, out: seen.append(module))
    g.forward(x)
    assert seen == [a, b]
    assert [name for name, _ in a.named_parameters()] == ["layer.weight", "layer.bias"]


def test_the_state_of_nodes_is_saved_by_torch_as_ever():
    a = Both(2)
    g = Graph.somatize(a >> Linear(2, 1))
    file = io.BytesIO()
    torch.save(a.state_dict(), file)
    file.seek(0)
    assert torch.equal(torch.load(file)["layer.weight"], a.layer.weight)
    again = pickle.loads(pickle.dumps(g))
    assert torch.equal(again.forward(torch.ones(1, 2)), g.forward(torch.ones(1, 2)))
    file = io.BytesIO()
    torch.save(g, file)
    file.seek(0)
    assert torch.load(file, weights_only=False).nodes() == g.nodes()


@pytest.mark.gpu
def test_on_a_gpu_both_layers_or_one_and_the_backward_pass_crosses():
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    for second in ("cuda:0", "cpu"):
        g = Graph.somatize(Linear(2, 3).on("cuda:0") >> Linear(3, 1).on(second))
        out = g.forward(torch.ones(4, 2))
        assert out.device == torch.device(second)
        out.sum().backward()
        assert g.implementation("linear").layer.weight.grad.device == torch.device("cuda:0")


def test_a_torch_module_in_an_expression_hears_how_it_becomes_a_node():
    plain, node = torch.nn.Linear(1, 1), Linear(1, 1)
    for call in (
        lambda: node >> plain,
        lambda: plain >> node,
        lambda: node | plain,
        lambda: plain | node,
        lambda: node >> node >> plain,
        lambda: plain >> (node >> node),
        lambda: plain | (node >> node),
        lambda: Graph.somatize(plain),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == (
            "a `Linear` was given, expected a node: `somatize.torch.module(Linear(...))` makes it one"
        )


def test_a_class_in_an_expression_hears_that_an_object_is_expected():
    for call in (lambda: Linear(1, 1) >> Linear, lambda: Linear | Linear(1, 1)):
        with pytest.raises(
            TypeError, match=r"the class `Linear` was given as a node, .* such as `Linear\(\)`"
        ):
            call()


def test_anything_else_beside_a_node_is_left_to_python_and_to_itself():
    class Reader:
        def __rrshift__(self, node):
            return "read"

    node = Linear(1, 1)
    assert node >> Reader() == (node >> node) >> Reader() == "read"
    for call in (lambda: node >> 3, lambda: 3 >> node, lambda: {} | (node >> node)):
        with pytest.raises(TypeError, match="unsupported operand"):
            call()
