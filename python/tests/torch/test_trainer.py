"""The Trainer is the loop written by hand: the same numbers bit for bit, and nothing kept that it drops."""

import copy
import gc
import math
import os
import pickle
import tracemalloc
import warnings
from pathlib import Path

import pytest
import torch
from networks import CASES, OPTIMIZERS, Body, built, by_hand, mlp
from torch import nn
from torch.nn import functional as F

from somatize import Graph, Node
from somatize.errors import NonFiniteLossWarning, OptimizerMismatchError, SomaError, UpdateError
from somatize.torch import Trainer, evaluating, export, module, parameters


def bits(some):
    return [each.detach().clone() for each in some]


def equal(a, b):
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def tensors_of(optimizer):
    return [v for state in optimizer.state.values() for v in state.values() if isinstance(v, torch.Tensor)]


def line(weight=1.0, bias=None):
    net = nn.Linear(1, 1, bias=bias is not None)
    with torch.no_grad():
        net.weight.fill_(weight)
    return net


@pytest.mark.parametrize("make", OPTIMIZERS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("how", ["fit", "step"])
def test_the_numbers_are_bit_for_bit_those_of_the_loop_written_by_hand(name, make, how):
    hand, ours = built(name), built(name)
    plain = OPTIMIZERS[make](hand.trains)
    torch.manual_seed(1)
    expected = by_hand(hand, plain, epochs=3)

    t = Trainer(ours.graph, objective=ours.objective, optimizer=OPTIMIZERS[make](ours.optimizer_parameters()))
    torch.manual_seed(1)
    if how == "fit":
        seen = t.fit(ours.batches, epochs=3).history
    else:
        seen = [t.step(batch) for _ in range(3) for batch in ours.batches]

    assert seen == expected
    assert len(set(seen)) > 1, "the network does not train, so equal says nothing"
    assert equal(bits(hand.trains), bits(ours.trains))
    assert equal(tensors_of(plain), tensors_of(t.optimizer))
    mine, theirs = export(hand.graph), export(ours.graph)  # buffers too: the statistics of a batch norm
    assert mine.keys() == theirs.keys()
    assert all(equal(list(mine[node].values()), list(theirs[node].values())) for node in mine)


def test_k_accumulated_batches_equal_one_big_one():
    one, many = built("mlp"), built("mlp")
    x, y = torch.randn(32, 8, dtype=torch.float64), torch.randn(32, 1, dtype=torch.float64)
    for case in (one, many):
        for each in case.trains:
            each.data = each.data.double()
    big = Trainer(one.graph, F.mse_loss, torch.optim.SGD(parameters(one.graph), lr=0.1))
    big.step((x, y))
    small = Trainer(many.graph, F.mse_loss, torch.optim.SGD(parameters(many.graph), lr=0.1))
    for at in range(4):
        part = slice(8 * at, 8 * at + 8)
        (small.loss((x[part], y[part])) / 4).backward()
    small.update()
    for a, b in zip(one.trains, many.trains, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def test_backward_adds_to_the_gradients_and_the_first_after_an_update_starts_from_zero():
    case = built("mlp")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=0.0))
    t.backward(case.batches[0])
    once = bits(each.grad for each in case.trains)
    t.backward(case.batches[0])
    assert equal(bits(each.grad for each in case.trains), [2 * each for each in once])
    t.update()
    t.backward(case.batches[0])
    assert equal(bits(each.grad for each in case.trains), once)


def test_a_first_step_ignores_gradients_that_lay_about_before():
    hand, ours = built("mlp"), built("mlp")
    expected = by_hand(hand, torch.optim.SGD(hand.trains, lr=0.1), 1)
    t = Trainer(ours.graph, ours.objective, torch.optim.SGD(ours.trains, lr=0.1))
    t.loss(ours.batches[-1]).backward()
    t.optimizer.zero_grad()
    for each in ours.trains:
        each.grad = torch.ones_like(each)
    t = Trainer(ours.graph, ours.objective, torch.optim.SGD(ours.trains, lr=0.1))
    assert t.fit(ours.batches).history == expected


def test_two_trainers_that_share_a_node_do_not_train_on_each_others_gradients():
    """The two halves of a GAN: the generator's step leaves gradients in the discriminator."""
    torch.manual_seed(0)
    make, judge = nn.Linear(2, 2), nn.Linear(2, 1)
    both = Graph.somatize(module(make).named("make") >> module(judge).named("judge"))
    alone = Graph.somatize(module(judge))
    first = Trainer(both, F.mse_loss, torch.optim.SGD(parameters(both, without="judge"), lr=0.1))
    second = Trainer(alone, F.mse_loss, torch.optim.SGD(parameters(alone), lr=0.1))
    batch = (torch.randn(4, 2), torch.ones(4, 1))
    twin = copy.deepcopy(judge)
    first.step(batch)
    second.step(batch)
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
    F.mse_loss(twin(batch[0]), batch[1]).backward()
    optimizer.step()
    assert torch.equal(twin.weight, judge.weight)


def test_update_without_a_backward_is_refused_rather_than_repeating_the_last_gradients():
    case = built("mlp")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=0.1))
    with pytest.raises(UpdateError, match="without a `backward`"):
        t.update()
    t.step(case.batches[0])
    before = bits(case.trains)
    with pytest.raises(UpdateError):
        t.update()
    assert equal(before, bits(case.trains))


class Breaks(torch.autograd.Function):
    """Fails in the backward pass, after what comes behind it has its gradients."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError("out of memory")


class Fragile(Node):
    failing = True

    def forward(self, x, ctx):
        return Breaks.apply(x) if self.failing else x


def test_a_backward_that_failed_half_way_leaves_nothing_behind_in_the_next_step():
    def network():
        torch.manual_seed(0)
        body, head, fragile = nn.Linear(8, 4), nn.Linear(4, 1), Fragile()
        g = Graph.somatize(module(body).named("body") >> fragile >> module(head).named("head"))
        return g, fragile, Trainer(g, F.mse_loss, torch.optim.SGD(parameters(g), lr=0.1))

    batches = built("mlp").batches
    _, fragile, t = network()
    fragile.failing = False
    expected = t.fit(batches).history

    g, fragile, t = network()
    with pytest.raises(RuntimeError, match="out of memory"):
        t.step(batches[0])
    assert parameters(g)[2].grad is not None, "the head had its gradients when it failed"
    with pytest.raises(UpdateError):
        t.update()
    fragile.failing = False
    assert t.fit(batches).history == expected


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_optimizer_that_failed_leaves_no_gradients_for_the_next_step(error):
    class Fails(torch.optim.SGD):
        n_calls = 0

        def step(self, closure=None):
            self.n_calls += 1
            if self.n_calls == 3:
                raise error
            return super().step(closure)

    hand, ours = built("mlp"), built("mlp")
    batches = ours.batches
    hand.batches = [*batches[:2], *batches[3:]]
    expected = by_hand(hand, torch.optim.SGD(hand.trains, lr=0.1), 1)
    t = Trainer(ours.graph, ours.objective, Fails(ours.trains, lr=0.1))
    with pytest.raises(error):
        t.fit(batches)
    assert t.n_steps == 2
    with pytest.raises(UpdateError):
        t.update()
    assert [t.step(batch) for batch in batches[3:]] == expected[2:]


def test_an_interrupt_in_a_node_or_in_the_objective_costs_that_batch_alone():
    hand, ours = built("mlp"), built("mlp")
    batches, turns = ours.batches, iter(range(100))
    hand.batches = [*batches[:2], *batches[3:]]
    expected = by_hand(hand, torch.optim.SGD(hand.trains, lr=0.1), 1)

    def objective(output, target):
        if next(turns) == 2:
            raise KeyboardInterrupt
        return F.mse_loss(output, target)

    t = Trainer(ours.graph, objective, torch.optim.SGD(ours.trains, lr=0.1))
    with pytest.raises(KeyboardInterrupt):
        t.fit(batches)
    assert [t.step(batch) for batch in batches[3:]] == expected[2:]


def test_a_subclass_that_overrides_backward_or_update_is_asked_by_step_and_by_fit():
    calls = []

    class Clips(Trainer):
        def backward(self, batch):
            calls.append("backward")
            return super().backward(batch)

        def update(self):
            calls.append("update")
            super().update()

    case = built("mlp")
    t = Clips(case.graph, case.objective, torch.optim.SGD(case.trains, lr=0.1))
    t.step(case.batches[0])
    assert calls == ["backward", "update"]
    t.fit(case.batches[:1])
    assert calls == ["backward", "update"] * 2


def test_an_autocast_around_the_whole_fit_trains_as_one_around_each_loss():
    """Inside, torch keeps the weights it cast, and would go on with those from before the first update."""
    one, each = built("mlp"), built("mlp")
    t = Trainer(one.graph, one.objective, torch.optim.SGD(one.trains, lr=0.1))
    with torch.autocast("cpu", torch.bfloat16):
        whole = t.fit(one.batches).history
    t = Trainer(each.graph, each.objective, torch.optim.SGD(each.trains, lr=0.1))
    seen = []
    for batch in each.batches:
        with torch.autocast("cpu", torch.bfloat16):
            loss = t.loss(batch)
        loss.backward()
        t.update()
        seen.append(loss.item())
    assert whole == seen
    assert equal(bits(one.trains), bits(each.trains))


def test_an_evaluation_after_a_step_leaves_its_gradients_to_be_looked_at():
    case = built("mlp")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=0.1))
    t.step(case.batches[0])
    before = bits(each.grad for each in case.trains)
    t.evaluate(case.batches)
    assert equal(before, bits(each.grad for each in case.trains))
    with pytest.raises(UpdateError):
        t.update()


def test_a_wave_runs_one_branch_at_a_time_so_a_seed_means_what_it_means_in_plain_torch():
    def run(workers):
        torch.manual_seed(0)
        branches = [module(nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))).named(f"b{i}") for i in range(4)]
        g = Graph.somatize(branches[0] | branches[1] | branches[2] | branches[3])
        t = Trainer(
            g,
            lambda output, target: sum(output.values()).pow(2).mean(),
            torch.optim.SGD(parameters(g), lr=0.1),
            **workers,
        )
        torch.manual_seed(1)
        return t.fit([(torch.ones(4, 8), None)] * 3, epochs=2).history

    assert run({}) == run({}) == run({"workers": 1})


def test_the_objective_may_have_parameters_of_its_own():
    class Learnt(nn.Module):
        def __init__(self):
            super().__init__()
            self.temperature = nn.Parameter(torch.ones(()))

        def forward(self, output, target):
            return F.mse_loss(output * self.temperature, target)

    case, objective = built("mlp"), Learnt()
    some = [*parameters(case.graph), *objective.parameters()]
    t = Trainer(case.graph, objective, torch.optim.SGD(some, lr=0.1))
    t.fit(case.batches)
    assert objective.temperature.item() != 1.0


def test_a_trainer_takes_its_arguments_in_the_order_they_are_written_and_says_what_it_is():
    case = built("mlp")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=0.1))
    t.step(case.batches[0])
    assert repr(t) == "Trainer(4 parameters in 2 nodes, SGD, step 1)"


# Counting


def test_c32_the_loss_of_an_epoch_is_the_mean_over_samples_in_training_and_in_validation():
    net = line()
    g = Graph.somatize(module(net))
    t = Trainer(g, lambda output, target: (output * target).mean(), torch.optim.SGD(parameters(g), lr=0.0))
    squares = torch.tensor([[float(i * i)] for i in range(10)])
    data = [(torch.ones(len(part), 1), part) for part in squares.split(4)]
    result = t.fit(data)
    assert result.epochs[0].loss == 28.5
    assert result.epochs[0].n_samples == 10
    assert result.epochs[0].n_steps == 3
    assert t.evaluate(data) == 28.5
    assert sum(result.history) / 3 == pytest.approx(35.83, abs=0.01), "the wrong mean of means"


def test_where_a_batch_does_not_say_its_size_every_batch_weighs_the_same():
    g = Graph.somatize(module(line()))
    t = Trainer(g, lambda output, target: output.mean() * target, torch.optim.SGD(parameters(g), lr=0.0))

    class Text(Node):
        def forward(self, text, ctx):
            return torch.full((1, 1), float(len(text)))

    g = Graph.somatize(Text().named("text") >> module(line()).named("line"))
    t = Trainer(g, lambda output, target: output.mean(), torch.optim.SGD(parameters(g), lr=0.0))
    epoch = t.fit([("a", None), ("aaa", None)]).epochs[0]
    assert (epoch.loss, epoch.n_samples) == (2.0, 0)


def test_a_batch_of_texts_weighs_as_many_as_there_are():
    case = built("text")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=0.1))
    assert t.fit([(texts, target) for texts, target in case.batches]).epochs[0].n_samples == 16


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize(
    ("make", "n"),
    [
        (lambda: [torch.ones(1)] * 3, 3),  # ragged: one a sample, so the input says
        (lambda: {"boxes": torch.ones(5, 4)}, 3),
        (lambda: None, 3),
        (lambda: torch.ones(2, 1), 2),
        (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), 2),
    ],
    ids=["list", "dict", "None", "tensor", "nested"],
)
def test_a_batch_weighs_what_its_target_says_if_that_is_a_tensor_and_else_what_its_input_says(make, n):
    g = Graph.somatize(module(line()))
    t = Trainer(g, lambda output, target: output.mean(), torch.optim.SGD(parameters(g), lr=0.0))
    assert t.fit([(torch.ones(3, 1), make())]).epochs[0].n_samples == n


def test_a_batch_of_arrays_weighs_as_many_rows_as_they_have():
    class Read(Node):
        def forward(self, x, ctx):
            return torch.from_numpy(x)

    numpy = pytest.importorskip("numpy")
    g = Graph.somatize(Read() >> module(line()).named("line"))
    t = Trainer(g, lambda output, target: output.mean(), torch.optim.SGD(parameters(g), lr=0.0))
    data = [(numpy.full((n, 1), n, "float32"), numpy.zeros(n)) for n in (4, 2)]
    epoch = t.fit(data).epochs[0]
    assert (epoch.n_samples, epoch.loss) == (6, (4 * 4 + 2 * 2) / 6)


def test_c36_a_second_fit_goes_on_counting_and_training():
    case = built("mlp")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=1e-3))
    weights = [bits(case.trains)]
    numbers = []
    for _ in range(2):
        result = t.fit(case.batches, epochs=2)
        numbers += [epoch.number for epoch in result.epochs]
        weights.append(bits(case.trains))
    assert numbers == [0, 1, 2, 3]
    assert (t.n_epochs, t.n_steps) == (4, 24)
    assert not equal(weights[0], weights[1])
    assert not equal(weights[1], weights[2])
    assert len(result.history) == 12, "a result is of its own fit alone"


def test_c36_a_second_model_starts_from_epoch_0():
    for seed in (0, 1):
        case = built("mlp", seed)
        t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=1e-3))
        assert [epoch.number for epoch in t.fit(case.batches, epochs=2).epochs] == [0, 1]


def test_c36_two_fits_equal_one_of_as_many_epochs():
    one, two = built("cnn"), built("cnn")
    a = Trainer(one.graph, one.objective, torch.optim.Adam(one.trains))
    b = Trainer(two.graph, two.objective, torch.optim.Adam(two.trains))
    torch.manual_seed(1)
    whole = a.fit(one.batches, epochs=4).history
    torch.manual_seed(1)
    parts = b.fit(two.batches, epochs=2).history + b.fit(two.batches, epochs=2).history
    assert whole == parts


def test_result_loss_is_the_last_of_the_history():
    case = built("mlp")
    result = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=1e-3)).fit(case.batches)
    assert result.loss == result.history[-1]


# Modes


def test_c34_after_an_evaluation_in_mid_epoch_dropout_is_active_again():
    case = built("cnn")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=1e-3))
    t.step(case.batches[0])
    assert t.evaluate(case.batches) == t.evaluate(case.batches), "dropout is off inside"
    with torch.no_grad():
        a, b = (case.graph.forward(case.batches[0][0], workers=1) for _ in range(2))
    assert not torch.equal(a, b), "and on again outside"


def test_c34_a_batch_norm_that_the_user_put_in_eval_keeps_its_statistics():
    norm = nn.BatchNorm1d(8)
    g = Graph.somatize(module(norm).named("norm") >> module(nn.Linear(8, 1)).named("head"))
    norm.eval()
    before = bits([norm.running_mean, norm.running_var, norm.num_batches_tracked])
    t = Trainer(g, F.mse_loss, torch.optim.SGD(parameters(g), lr=1e-3))
    data = [(torch.randn(4, 8) + 3, torch.randn(4, 1)) for _ in range(3)]
    for _ in range(2):
        t.fit(data)
        t.evaluate(data)
    assert not norm.training
    assert equal(before, bits([norm.running_mean, norm.running_var, norm.num_batches_tracked]))


def test_c34_an_error_inside_an_evaluation_does_not_leave_the_model_in_eval():
    case = built("cnn")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=1e-3))
    body = case.graph.implementation("body").module
    body[1].eval()
    with pytest.raises(SomaError):
        t.evaluate([case.batches[0], "no pair"])
    with pytest.raises(KeyError, match="mine"), evaluating(case.graph):
        raise KeyError("mine")
    assert [each.training for each in body] == [True, False, True, True, True]
    assert torch.is_grad_enabled()


def test_fit_and_step_leave_train_and_eval_as_they_found_them():
    case = built("cnn")
    body = case.graph.implementation("body").module
    body[3].eval()
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=1e-3))
    t.fit(case.batches)
    t.step(case.batches[0])
    assert [each.training for each in body] == [True, True, True, False, True]


def test_evaluating_finds_modules_in_attributes_lists_and_dicts():
    class Several(Node):
        def __init__(self):
            self.one = nn.Dropout()
            self.some = [nn.Dropout(), (nn.Sequential(nn.Dropout()),)]
            self.named_ = {"a": nn.Dropout()}

        def forward(self, x, ctx):
            return x

    node = Several()
    every = [node.one, node.some[0], node.some[1][0], node.some[1][0][0], node.named_["a"]]
    with evaluating(Graph.somatize(node >> module(nn.Linear(1, 1)))):
        assert not any(each.training for each in every)
    assert all(each.training for each in every)


def test_the_loss_can_be_read_without_gradients_between_steps():
    hand, ours = built("mlp"), built("mlp")
    expected = by_hand(hand, torch.optim.SGD(hand.trains, lr=0.1), 1)
    t = Trainer(ours.graph, ours.objective, torch.optim.SGD(ours.trains, lr=0.1))
    seen = []
    for batch in ours.batches:
        t.backward(batch)
        with torch.no_grad():
            seen.append(t.loss(batch).item())  # between backward and update: it must clear nothing
        t.update()
    assert seen == expected


def test_a_node_that_is_a_module_itself_trains():
    class Both(Node, nn.Module):
        def __init__(self):
            nn.Module.__init__(self)
            self.net = nn.Linear(8, 1)

        def forward(self, x, ctx):
            return self.net(x)

    torch.manual_seed(0)
    node = Both()
    g = Graph.somatize(node)
    before = bits(node.parameters())
    case = mlp()
    Trainer(g, F.mse_loss, torch.optim.SGD(parameters(g), lr=0.1)).fit(case.batches)
    assert not equal(before, bits(node.parameters()))


# Non-finite


def test_a_loss_that_is_not_finite_is_reported_once_with_its_step_and_left_to_the_user():
    g = Graph.somatize(module(line()))
    t = Trainer(g, F.mse_loss, torch.optim.SGD(parameters(g), lr=0.0))
    good, bad = (torch.ones(2, 1), torch.ones(2, 1)), (torch.full((2, 1), math.inf), torch.ones(2, 1))
    t.step(good)
    t.step(good)
    with pytest.warns(NonFiniteLossWarning, match=r"the loss is inf at step 2") as seen:
        assert t.step(bad) == math.inf
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        t.step(bad)


def test_fit_reports_it_with_its_step_and_goes_on():
    g = Graph.somatize(module(line()))
    t = Trainer(g, F.mse_loss, torch.optim.SGD(parameters(g), lr=0.0))
    good, bad = (torch.ones(2, 1), torch.ones(2, 1)), (torch.full((2, 1), math.nan), torch.ones(2, 1))
    t.fit([good])
    with pytest.warns(NonFiniteLossWarning, match=r"the loss is nan at step 3") as seen:
        result = t.fit([good, good, bad, good])
    assert seen[0].filename == __file__
    assert math.isnan(result.history[2])
    assert math.isnan(result.epochs[0].loss)


# Memory


def with_graph():
    """How many live tensors hang on a computation graph."""
    gc.collect()
    return sum(issubclass(type(each), torch.Tensor) and each.grad_fn is not None for each in gc.get_objects())


def test_c35_the_history_holds_plain_floats_and_keeps_no_graph_alive():
    case = built("mlp")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=1e-4))
    seen = {}

    def data():
        for at in range(300):
            yield case.batches[at % 6]
            if at + 1 in (50, 299):
                seen[at + 1] = with_graph()

    history = t.fit(data()).history
    assert len(history) == 300
    assert {type(each) for each in history} == {float}
    assert seen[50] == seen[299]
    assert with_graph() <= seen[50]


def test_c35_a_loss_kept_by_the_user_keeps_no_graph_alive():
    case = built("mlp")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=1e-4))
    before = with_graph()
    kept = [t.backward(case.batches[0]) for _ in range(5)]
    assert not any(each.requires_grad for each in kept)
    assert with_graph() == before


class Cheap(Node):
    """The least that trains."""

    def __init__(self):
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, x, ctx):
        return self.weight

    def parameters(self):
        return [self.weight]


def grown(steps, measured):
    """By how much `measured()` grows in `fit`, per step, once the first 500 steps are over."""
    g = Graph.somatize(Cheap())
    t = Trainer(g, lambda output, target: output * 1.0, torch.optim.SGD(parameters(g), lr=0.0))
    held = {}

    def data():
        for at in range(steps):
            yield None, None
            if at in (500, steps - 1):
                gc.collect()
                held[at] = measured()

    assert len(t.fit(data()).history) == steps
    return (held[steps - 1] - held[500]) / (steps - 501)


def test_c35_memory_does_not_grow_with_the_steps():
    tracemalloc.start()
    try:
        per_step = grown(8_000, lambda: tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert per_step < 48, "a float, its place in the history and the size of its batch"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc to read the memory from")
def test_c35_a_fit_of_100_000_steps_keeps_a_float_a_step_and_no_tensor():
    """What torch allocates is not Python's, so here the process is measured."""
    page = os.sysconf("SC_PAGE_SIZE")
    per_step = grown(100_000, lambda: int(Path("/proc/self/statm").read_text().split()[1]) * page)
    assert per_step < 100, "a scalar tensor alone takes several hundred"


# What is around it


def test_fit_shows_a_bar_when_asked(capsys):
    pytest.importorskip("tqdm")
    case = built("mlp")
    t = Trainer(case.graph, case.objective, torch.optim.SGD(case.trains, lr=1e-4))
    t.fit(case.batches, epochs=2)
    assert capsys.readouterr().err == ""
    t.fit(case.batches, epochs=2, progress=True)
    out, err = capsys.readouterr()
    assert "12/12" in err
    assert "loss=" in err
    assert out == ""
    t.fit(lambda: iter(case.batches), progress=True)
    assert "6step" in capsys.readouterr().err


def test_a_trainer_pickles_with_its_graph_and_optimizer_and_goes_on_as_if_nothing_was():
    torch.manual_seed(0)
    net = nn.Linear(8, 1)
    g = Graph.somatize(module(net))
    t = Trainer(g, F.mse_loss, torch.optim.Adam(parameters(g)))
    batches = [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(4)]
    t.fit(batches)
    other = pickle.loads(pickle.dumps(t))
    assert other.fit(batches).history == t.fit(batches).history
    assert other.n_epochs == 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_a_copy_is_a_trainer_of_its_own_without_the_gradients_that_were_not_applied(copied):
    case = built("mlp")
    g = Graph.somatize(module(nn.Linear(8, 1)).named("line"))
    t = Trainer(g, F.mse_loss, torch.optim.Adam(parameters(g)))
    t.step(case.batches[0])
    t.backward(case.batches[1])
    other = copied(t)
    with pytest.raises(UpdateError):
        other.update()
    assert repr(other) == repr(t) == "Trainer(2 parameters in 1 nodes, Adam, step 1)"
    before = bits(parameters(g))
    seen = [other.step(batch) for batch in case.batches[1:]]
    assert equal(before, bits(parameters(g)))
    t.update()
    assert [t.step(batch) for batch in case.batches[2:]] == seen[1:]
    other.graph.implementation("line").module = nn.Linear(8, 1)
    with pytest.raises(OptimizerMismatchError, match="node `line` answers other parameters"):
        other.step(case.batches[0])


def test_body_needs_no_super_init():
    assert Graph.somatize(Body(nn.Linear(1, 1)) >> Body(nn.Linear(1, 1))).nodes()
