"""What fails quietly elsewhere is refused here, at construction or at the first batch, with what to do."""

import itertools

import pytest
import torch
from networks import Body, built
from torch import nn
from torch.nn import functional as F

from somatize import Graph, Node
from somatize.errors import (
    BatchError,
    LossError,
    NoGradientError,
    NoParametersError,
    OptimizerMismatchError,
    SpentDataError,
    TrainerError,
    UpdateError,
)
from somatize.torch import Trainer, module, parameters
from somatize.torch.parameters import walk


class Plain(Node):
    def forward(self, x, ctx):
        return x


def linear(*sizes, names="abcdef"):
    """A chain of linear nodes named a, b, ..."""
    expression = module(nn.Linear(sizes[0], sizes[1])).named(names[0])
    for at in range(1, len(sizes) - 1):
        expression = expression >> module(nn.Linear(sizes[at], sizes[at + 1])).named(names[at])
    return Graph.somatize(expression)


def sgd(some, **options):
    return torch.optim.SGD(some, lr=0.1, **options)


def data(n=3, inputs=4, outputs=1):
    return [(torch.randn(8, inputs), torch.randn(8, outputs)) for _ in range(n)]


def bits(g):
    return [each.detach().clone() for each in parameters(g)]


def unchanged(g, before):
    return all(torch.equal(a, b) for a, b in zip(parameters(g), before, strict=True))


def refused(kind, also, text, hint):
    """That the error is of `kind`, caught as the built-in `also` too, and says `text` and `hint`."""

    def check(error):
        assert isinstance(error, kind)
        assert isinstance(error, TrainerError)
        assert isinstance(error, also)
        assert text in error.text, error.text
        assert hint in (error.hint or ""), error.hint
        return True

    return pytest.raises(kind, check=check)


# At construction


def test_a_graph_without_parameters_is_refused():
    g = Graph.somatize(Plain().named("clean") >> Plain().named("split"))
    assert parameters(g) == []
    other = sgd(nn.Linear(1, 1).parameters())
    with refused(
        NoParametersError,
        ValueError,
        "nothing in the graph trains: nodes `clean`, `split`, without a parameter",
        "module(",
    ):
        Trainer(g, F.mse_loss, other)


def test_c29_an_optimizer_of_another_graph_is_refused():
    a, b = linear(4, 1), linear(4, 1)
    with refused(
        OptimizerMismatchError, ValueError, "shares no parameter with the graph", "parameters(graph)"
    ):
        Trainer(b, F.mse_loss, sgd(parameters(a)))


def test_c29_a_node_replaced_after_the_optimizer_was_made_is_refused_by_name():
    body = module(nn.Linear(4, 4))
    before = Graph.somatize(body.named("body") >> module(nn.Linear(4, 1)).named("head"))
    optimizer = sgd(parameters(before))
    after = Graph.somatize(body.named("body") >> module(nn.Linear(4, 1)).named("head"))
    with refused(OptimizerMismatchError, ValueError, "node `head`", "optimizer last"):
        Trainer(after, F.mse_loss, optimizer)


def test_a_part_of_the_parameters_is_legitimate():
    g = linear(4, 4, 1)
    Trainer(g, F.mse_loss, sgd(parameters(g, without="a"))).fit(data())


def test_c28_an_optimizer_that_holds_a_parameter_twice_is_refused_by_name():
    g = linear(4, 1)
    weight = parameters(g)[0]
    with pytest.warns(UserWarning, match="duplicate"):
        optimizer = sgd([weight, weight])
    with refused(OptimizerMismatchError, ValueError, "weight` (1, 4) of node `a` twice", "once"):
        Trainer(g, F.mse_loss, optimizer)


def test_c30_all_frozen_is_one_clear_error():
    g = linear(4, 4, 1)
    for each in parameters(g):
        each.requires_grad_(False)
    with refused(NoParametersError, ValueError, "is frozen", "requires_grad_(True)"):
        Trainer(g, F.mse_loss, sgd(parameters(g)))


@pytest.mark.parametrize("optimizer", ["adam", torch.optim.Adam, None])
def test_an_optimizer_by_name_or_by_class_is_refused(optimizer):
    with pytest.raises(TypeError, match=r"`optimizer` was given .* expected one like"):
        Trainer(linear(4, 1), F.mse_loss, optimizer)


@pytest.mark.parametrize("objective", ["mse", nn.MSELoss, None])
def test_an_objective_that_is_not_a_function_of_two_is_refused(objective):
    g = linear(4, 1)
    with pytest.raises(TypeError, match=r"`objective` was given .* expected a callable"):
        Trainer(g, objective, sgd(parameters(g)))


def test_swapped_arguments_hear_the_order_on_one_line():
    g = linear(4, 1)
    with pytest.raises(TypeError) as caught:
        Trainer(g, sgd(parameters(g)), F.mse_loss)
    assert str(caught.value) == (
        "`objective` was given a `SGD`, expected a callable of (output, target); "
        "the order is `Trainer(graph, objective, optimizer)`"
    )


def test_a_module_in_place_of_the_graph_is_refused():
    net = nn.Linear(1, 1)
    with pytest.raises(TypeError, match="`graph` was given a `Linear`, expected a Graph"):
        Trainer(net, F.mse_loss, sgd(net.parameters()))


def test_a_driver_that_cannot_be_called_is_refused():
    g = linear(4, 1)
    with pytest.raises(TypeError, match="`driver` was given `3`, expected a callable"):
        Trainer(g, F.mse_loss, sgd(parameters(g)), driver=3)


@pytest.mark.parametrize("name", ["graph", "optimizer"])
def test_graph_and_optimizer_cannot_be_exchanged_behind_what_was_compared(name):
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    with pytest.raises(AttributeError, match=name):
        setattr(t, name, getattr(t, name))


# At the first batch, or at the step that would go wrong


def test_lbfgs_is_refused_by_update_with_the_way_to_write_it_which_works():
    torch.manual_seed(0)
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, torch.optim.LBFGS(parameters(g)))
    x = torch.randn(32, 4)
    batch = (x, x.sum(1, keepdim=True))
    with refused(UpdateError, RuntimeError, "`LBFGS` wants a closure", "trainer.optimizer.step(closure)"):
        t.step(batch)

    def closure():
        t.optimizer.zero_grad()
        loss = t.loss(batch)
        loss.backward()
        return loss

    t.optimizer.step(closure)
    assert t.evaluate([batch]) < 1e-6


def test_a_node_that_builds_its_module_in_the_first_forward_is_refused_by_name():
    class Lazy(Node):
        net = None

        def forward(self, x, ctx):
            if self.net is None:
                self.net = nn.Linear(x.shape[1], 4)
            return self.net(x)

        def parameters(self):
            return [] if self.net is None else list(self.net.parameters())

    g = Graph.somatize(Lazy().named("lazy") >> module(nn.Linear(4, 1)).named("head"))
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    with refused(OptimizerMismatchError, ValueError, "node `lazy` answers more parameters", "g.forward(x)"):
        t.fit(data())
    Trainer(g, F.mse_loss, sgd(parameters(g))).fit(data())


def test_a_lazy_module_of_torch_trains_since_its_parameters_stay_the_same_objects():
    g = Graph.somatize(module(nn.LazyLinear(4)).named("lazy") >> module(nn.Linear(4, 1)).named("head"))
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    t.fit(data(1))
    before = bits(g)
    t.fit(data(1))
    assert not torch.equal(before[0], parameters(g)[0])


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_c29_a_module_assigned_anew_is_refused_by_name_before_another_step(steps):
    node = Body(nn.Linear(4, 4))
    g = Graph.somatize(node.named("body") >> module(nn.Linear(4, 1)).named("head"))
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    for batch in data(steps):
        t.step(batch)
    node.net = nn.Linear(4, 4)
    before = bits(g)
    with refused(OptimizerMismatchError, ValueError, "node `body` answers other parameters", "optimizer"):
        t.step(data(1)[0])
    assert unchanged(g, before)


def test_a_module_taken_out_of_a_node_is_refused_since_the_optimizer_still_holds_it():
    node = Body(nn.Linear(4, 4))
    g = Graph.somatize(node.named("body") >> module(nn.Linear(4, 1)).named("head"))
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    t.fit(data())
    node.net = nn.Identity()
    with refused(OptimizerMismatchError, ValueError, "node `body` answers other parameters", "optimizer"):
        t.step(data(1)[0])


def test_a_layer_that_a_node_grew_is_refused_at_the_next_fit_and_fine_once_the_optimizer_holds_it():
    node = Body(nn.Sequential(nn.Linear(4, 4)))
    g = Graph.somatize(node.named("body") >> module(nn.Linear(4, 1)).named("head"))
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    t.fit(data())
    node.net.append(nn.Linear(4, 4))
    with refused(OptimizerMismatchError, ValueError, "node `body` answers more parameters", "optimizer"):
        t.fit(data())
    t.optimizer.add_param_group({"params": node.net[1].parameters()})
    before = node.net[1].weight.detach().clone()
    t.fit(data())
    assert not torch.equal(before, node.net[1].weight)
    node.net[0].requires_grad_(False)  # makes the Trainer look again
    t.fit(data())


def test_a_node_added_to_the_graph_is_refused_at_the_next_fit():
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    t.fit(data())
    g.node("late", module(nn.Linear(1, 1)))
    g.edge("a", "late")
    with refused(OptimizerMismatchError, ValueError, "node `late` answers more parameters", "optimizer"):
        t.fit(data())


@pytest.mark.parametrize("steps", [0, 3])
def test_an_update_that_would_move_nothing_is_refused(steps):
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)), allow_unused=True)
    t.fit(data(steps)) if steps else None
    t.backward(data(1)[0])
    t.optimizer.zero_grad()
    with refused(NoGradientError, RuntimeError, "no parameter that the optimizer holds", "clear nothing"):
        t.update()
    t.fit(data())


def test_a_parameter_that_no_gradient_reaches_is_refused_by_name_before_anything_moves():
    class Forgets(Node):
        def __init__(self):
            self.used, self.unused = nn.Linear(4, 1), nn.Linear(4, 1)

        def forward(self, x, ctx):
            return self.used(x)

        def parameters(self):
            return [*self.used.parameters(), *self.unused.parameters()]

    g = Graph.somatize(Forgets().named("head"))
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    before = bits(g)
    with refused(
        NoGradientError,
        RuntimeError,
        "no gradient reached `unused.weight` (1, 4) of node `head`, `unused.bias` (1,) of node `head`",
        "without=['head']",
    ):
        t.step(data(1)[0])
    assert unchanged(g, before)
    Trainer(g, F.mse_loss, sgd(parameters(g)), allow_unused=True).fit(data())


def test_a_parameter_of_no_node_that_no_gradient_reaches_is_refused():
    g = linear(4, 1)
    stray = nn.Parameter(torch.zeros(7))
    t = Trainer(g, F.mse_loss, sgd([*parameters(g), stray]))
    with refused(
        NoGradientError, RuntimeError, "a parameter of shape (7,) that no node has", "leave them out"
    ):
        t.step(data(1)[0])


def test_a_layer_that_a_later_batch_skips_goes_on_training():
    """Stochastic depth: reached in the first batch, not in each."""

    class Skips(Node):
        def __init__(self):
            self.net, self.skip = nn.Linear(4, 4), False

        def forward(self, x, ctx):
            return x if self.skip else self.net(x)

        def parameters(self):
            return list(self.net.parameters())

    node = Skips()
    g = Graph.somatize(node.named("body") >> module(nn.Linear(4, 1)).named("head"))
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    for at, batch in enumerate(data(6)):
        node.skip = at % 2 == 1
        before = node.net.weight.detach().clone()
        t.step(batch)
        assert torch.equal(before, node.net.weight) == node.skip


def test_c30_a_frozen_node_keeps_its_bits_under_momentum_and_decay_while_the_other_moves():
    g = linear(4, 4, 1)
    frozen = list(g.implementation("a").parameters())
    for each in frozen:
        each.requires_grad_(False)
    before = bits(g)
    t = Trainer(g, F.mse_loss, sgd(parameters(g), momentum=0.9, weight_decay=0.1))
    t.fit(data(5))
    assert all(torch.equal(a, b) for a, b in zip(before[:2], frozen, strict=True))
    assert not torch.equal(before[2], parameters(g)[2])


def test_c30_a_node_frozen_after_three_steps_keeps_its_bits_from_then_on():
    g = linear(4, 4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g), momentum=0.9, weight_decay=0.1))
    t.fit(data(3))
    for each in g.implementation("a").parameters():
        each.requires_grad_(False)
    before = bits(g)
    t.fit(data(5))
    after = bits(g)
    assert all(torch.equal(a, b) for a, b in zip(before[:2], after[:2], strict=True))
    assert not torch.equal(before[2], after[2])


def test_a_node_thawed_later_trains_from_then_on():
    g = linear(4, 4, 1)
    body = list(g.implementation("a").parameters())
    for each in body:
        each.requires_grad_(False)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    t.fit(data())
    before = bits(g)
    for each in body:
        each.requires_grad_(True)
    t.fit(data())
    assert not torch.equal(before[0], body[0])


# The data


def five():
    yield from data(5)


def test_c31_a_generator_is_an_error_at_the_second_epoch_that_names_the_cause():
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    with refused(
        SpentDataError,
        ValueError,
        "epoch 2 of 3 yielded no batch: `generator` was spent by the epoch before",
        "a DataLoader, or a function",
    ):
        t.fit(five(), epochs=3)
    assert (t.n_steps, t.n_epochs) == (5, 1)


def test_c31_a_list_a_loader_and_a_function_give_5_5_5():
    every = data(5)
    samples = torch.utils.data.TensorDataset(
        torch.cat([x for x, _ in every]), torch.cat([y for _, y in every])
    )
    for given in (every, torch.utils.data.DataLoader(samples, batch_size=8), five):
        g = linear(4, 1)
        result = Trainer(g, F.mse_loss, sgd(parameters(g))).fit(given, epochs=3)
        assert [epoch.n_steps for epoch in result.epochs] == [5, 5, 5]


@pytest.mark.parametrize("empty", [[], (), iter([]), lambda: iter([])])
def test_c31_data_without_a_batch_is_an_error_and_not_a_loss_of_0(empty):
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    with refused(SpentDataError, ValueError, "epoch 1 of 1 yielded no batch", "at least one batch"):
        t.fit(empty)
    with refused(SpentDataError, ValueError, "yielded no batch", "at least one batch"):
        t.evaluate(list(empty) if not callable(empty) else empty)


def test_one_epoch_of_a_generator_is_fine():
    g = linear(4, 1)
    assert len(Trainer(g, F.mse_loss, sgd(parameters(g))).fit(five()).history) == 5


@pytest.mark.parametrize("epochs", [2.0, "2", None, torch.zeros(8, 1)])
def test_epochs_that_are_no_whole_number_are_refused(epochs):
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    with pytest.raises(TypeError, match=r"`epochs` was given a `\w+`, expected a whole number"):
        t.fit(data(), epochs)


@pytest.mark.parametrize("epochs", [0, -1])
def test_fewer_epochs_than_one_are_refused(epochs):
    g = linear(4, 1)
    with pytest.raises(ValueError, match=f"`epochs` was given `{epochs}`, expected at least 1"):
        Trainer(g, F.mse_loss, sgd(parameters(g))).fit(data(), epochs=epochs)


@pytest.mark.parametrize(
    ("batch", "said", "hint"),
    [
        (torch.zeros(2, 4), "a `Tensor`", "wrap it"),
        ({"x": 1, "y": 2}, "a `dict`", "b['x']"),
        ("ab", "a `str`", "(x1, x2)"),
        ((1, 2, 3), "a `tuple` of 3", "(x1, x2)"),
        ([1], "a `list` of 1", "(x1, x2)"),
        (None, "a `NoneType`", "(x1, x2)"),
        (7, "a `int`", "(x1, x2)"),
    ],
)
def test_a_batch_that_is_not_a_pair_is_refused_with_its_step_and_type(batch, said, hint):
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    t.step(data(1)[0])
    for also in (TypeError, ValueError):
        with refused(BatchError, also, f"the batch at step 1 is {said}, expected a pair", hint):
            t.fit([batch])


# Shapes


@pytest.mark.parametrize(
    "objective",
    [
        F.mse_loss,
        F.l1_loss,
        F.smooth_l1_loss,
        F.huber_loss,
        nn.MSELoss(),
        lambda output, target: ((output - target) ** 2).mean(),
        lambda output, target: (target - output).abs().mean(),
        lambda output, target: torch.sub(output, target.float()).pow(2).mean(),
        lambda output, target: F.mse_loss(output.sigmoid(), target.log1p()),
    ],
)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_output_and_target_that_would_be_broadcast_are_refused(objective):
    g = linear(4, 1)
    t = Trainer(g, objective, sgd(parameters(g)))
    before = bits(g)
    with refused(
        BatchError,
        ValueError,
        "the output of shape (4, 1) and the target of shape (4,) would be broadcast in",
        "target.reshape((4, 1))",
    ):
        t.step((torch.randn(4, 4), torch.rand(4)))
    assert unchanged(g, before)


@pytest.mark.parametrize(
    "objective",
    [
        lambda output, target: F.mse_loss(output.squeeze(1), target),
        lambda output, target: F.mse_loss(output, target[:, None]),
        lambda output, target: (
            (output[:, None] - target[None, :, None]).pow(2).mean()
        ),  # pairwise, and says so
        lambda output, target: F.cross_entropy(output.expand(4, 3), target.long().clamp(0, 2)),
        lambda output, target: (output * output).mean() + target.mean(),
        lambda output, target: F.mse_loss(output, torch.ones_like(output)) * target.sum(),
    ],
)
def test_an_objective_that_brings_the_shapes_together_itself_passes(objective):
    g = linear(4, 1)
    Trainer(g, objective, sgd(parameters(g))).fit([(torch.randn(4, 4), torch.rand(4))] * 2)


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_no_reshape_is_advised_where_none_would_do():
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    with pytest.raises(BatchError, match=r"\(8, 1\) and the target of shape \(1, 1\)") as seen:
        t.step((torch.randn(8, 4), torch.rand(1, 1)))
    assert seen.value.hint == "give both one shape"


def test_shapes_are_followed_into_maps_of_heads():
    g = Graph.somatize(module(nn.Linear(4, 4)) >> (module(nn.Linear(4, 1)).named("a") | Plain().named("b")))
    t = Trainer(g, lambda output, target: F.mse_loss(output["a"], target["a"]), sgd(parameters(g)))
    with (
        pytest.warns(UserWarning, match="target size"),
        refused(BatchError, ValueError, "would be broadcast in `mse_loss`", "reshape"),
    ):
        t.step((torch.randn(4, 4), {"a": torch.rand(4)}))


def test_a_compiled_objective_is_called_as_it_is():
    g = linear(4, 1)

    def objective(output, target):
        return F.mse_loss(output, target)

    compiled = torch.compile(objective, backend="eager")
    assert Trainer(g, compiled, sgd(parameters(g))).fit(data()).history


# The loss


@pytest.mark.parametrize(
    ("objective", "said", "hint"),
    [
        (lambda output, target: F.mse_loss(output, target).item(), "a `float`", ".item()"),
        (lambda output, target: None, "a `NoneType`", ""),
        (lambda output, target: (output - target) ** 2, "a tensor of shape (8, 1)", ".mean()"),
        (lambda output, target: F.mse_loss(output.detach(), target), "nothing links it", "detach"),
        (lambda output, target: output.argmax().float(), "nothing links it", "argmax"),
    ],
)
def test_a_loss_that_cannot_be_minimised_is_refused_with_the_reason(objective, said, hint):
    g = linear(4, 1)
    t = Trainer(g, objective, sgd(parameters(g)))
    with refused(LossError, ValueError, said, hint):
        t.step(data(1)[0])


def test_the_same_at_a_later_step():
    g = linear(4, 1)
    turns = itertools.count()

    def objective(output, target):
        loss = F.mse_loss(output, target)
        return loss.detach() if next(turns) == 3 else loss

    t = Trainer(g, objective, sgd(parameters(g)))
    with refused(LossError, ValueError, "nothing links it", "detach"):
        t.fit(data(5))
    assert t.n_steps == 3


@pytest.mark.parametrize("off", [torch.no_grad, torch.inference_mode])
def test_a_step_with_gradients_off_is_refused(off):
    g = linear(4, 1)
    t = Trainer(g, F.mse_loss, sgd(parameters(g)))
    with off(), refused(LossError, ValueError, "gradients are off", "torch.no_grad()"):
        t.step(data(1)[0])


def test_an_error_of_torch_in_the_backward_pass_stays_what_it_is():
    g = linear(4, 1)

    def objective(output, target):
        loss = F.mse_loss(output, target)
        loss.backward()
        return loss

    with pytest.raises(RuntimeError, match="second time"):
        Trainer(g, objective, sgd(parameters(g))).step(data(1)[0])


# What it costs


def test_after_the_first_update_no_step_walks_the_graph_again(monkeypatch):
    case = built("mlp")
    t = Trainer(case.graph, case.objective, sgd(case.trains))
    t.fit(case.batches)
    walks = []
    monkeypatch.setattr("somatize.torch.watch.walk", lambda g: walks.append(g) or walk(g))
    for batch in case.batches:
        t.step(batch)
    assert walks == []
    t.fit(case.batches, epochs=5)
    assert len(walks) == 1, "one a fit, for what the graph grew since the last"
    walks.clear()
    for each in case.trains[:2]:
        each.requires_grad_(False)
    for _ in range(5):
        for batch in case.batches:
            t.step(batch)
    assert len(walks) == 1, "and a parameter that gets no gradient any more costs one walk, not one a step"


def test_the_objective_is_watched_until_a_batch_trained_also_where_the_loop_takes_the_steps_itself():
    case = built("mlp")
    watched = []

    def objective(output, target):
        watched.append(torch.overrides._is_torch_function_mode_enabled())
        return F.mse_loss(output, target)

    t = Trainer(case.graph, objective, sgd(case.trains))
    t.evaluate(case.batches[:1])
    for batch in case.batches[:3]:
        t.loss(batch).backward()
        t.optimizer.step()
        t.optimizer.zero_grad()
    assert watched == [True, True, False, False]


def test_after_the_first_update_the_objective_is_called_unwatched():
    case = built("mlp")
    watched = []

    def objective(output, target):
        watched.append(torch.overrides._is_torch_function_mode_enabled())
        return F.mse_loss(output, target)

    t = Trainer(case.graph, objective, sgd(case.trains))
    t.fit(case.batches)
    assert watched == [True, False, False, False, False, False]
