"""The training document, decision by decision: training happens outside the graph."""

from __future__ import annotations

import inspect
import subprocess
import sys
from itertools import count

import pytest
import torch
from torch.nn.functional import cross_entropy, mse_loss

import somatize.torch
from somatize import Graph, Node, Opaque
from somatize.errors import NoParametersError, OptimizerMismatchError
from somatize.torch import Trainer, parameters

DEVICE = "cuda:0" if torch.cuda.is_available() else "cpu"


class Encoder(Node):
    """Obeys its placement as the document says a placed node does: its module once, its input every time."""

    def __init__(self, inputs=8, outputs=4):
        self.net = torch.nn.Sequential(torch.nn.Linear(inputs, outputs), torch.nn.Tanh())

    def forward(self, x, ctx):
        if ctx.device is not None:
            self.net.to(ctx.device)
            x = x.to(ctx.device)
        return Opaque(self.net(x))

    def parameters(self):
        return list(self.net.parameters())


class Head(Encoder):
    def __init__(self, inputs=4, outputs=3):
        self.net = torch.nn.Linear(inputs, outputs)


class Lemmatizer(Node):
    """A node that does not train, and is no less of a node for it."""

    def forward(self, texts, ctx):
        return torch.stack([torch.tensor([float(ord(letter) % 7) for letter in text[:8]]) for text in texts])


class Letter(Node):
    """Hands on what it is given."""

    def forward(self, x, ctx):
        return x


def data(batches=4, size=16):
    return [(torch.randn(size, 8), torch.randint(0, 3, (size,))) for _ in range(batches)]


def net():
    return Graph.somatize(Encoder().named("encoder") >> Head().named("head"))


def sgd(some):
    return torch.optim.SGD(some, lr=0.1)


def bits(g):
    return [each.detach().clone() for each in parameters(g)]


def moved(before, g):
    return [not torch.equal(a, b) for a, b in zip(before, parameters(g), strict=True)]


def test_the_program_of_the_document_runs_as_written():
    encoder, head = Encoder(), Head()
    g = Graph.somatize(encoder.on(DEVICE) >> head.on(DEVICE))
    t = Trainer(g, objective=cross_entropy, optimizer=torch.optim.Adam(parameters(g), lr=1e-3))
    batch = data(1)[0]
    before = t.step(batch)
    t.fit(data(), epochs=10)
    assert isinstance(t.step(batch), float)
    assert t.step(batch) != before


def test_decision_1_the_trainer_receives_the_graph_and_leaves_it_as_it_was():
    g = net()
    assert not hasattr(g, "fit")
    nodes, edges, implementations = g.nodes(), g.edges(), [g.implementation(node) for node in g.nodes()]
    for optimizer in (
        sgd(parameters(g)),
        torch.optim.Adam(parameters(g)),
        sgd(parameters(g, without="encoder")),
    ):
        Trainer(g, objective=cross_entropy, optimizer=optimizer).fit(data())
    assert (g.nodes(), g.edges()) == (nodes, edges)
    assert [g.implementation(node) for node in g.nodes()] == implementations


def test_decision_2_it_lives_in_somatize_torch_and_the_core_does_not_learn_of_it():
    assert somatize.torch.Trainer is Trainer
    code = (
        "import sys, somatize; from somatize import Graph, Node\n"
        "assert 'torch' not in sys.modules, 'somatize imports torch'\n"
        "assert not [name for name in dir(Graph) if 'train' in name or 'fit' in name or 'loss' in name]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_decision_3_step_is_the_primitive_and_fit_is_sugar_over_it():
    torch.manual_seed(0)
    one, some = net(), data()
    torch.manual_seed(0)
    two = net()
    fitted = Trainer(one, objective=cross_entropy, optimizer=sgd(parameters(one))).fit(some, epochs=3)
    t = Trainer(two, objective=cross_entropy, optimizer=sgd(parameters(two)))
    assert fitted.history == [t.step(batch) for _ in range(3) for batch in some]
    assert fitted.loss == fitted.history[-1]
    assert set(inspect.signature(Trainer.fit).parameters) == {"self", "data", "epochs", "progress"}


def test_decision_3_a_federated_round_is_a_for_over_step():
    g = net()
    t = Trainer(g, objective=cross_entropy, optimizer=sgd(parameters(g)))
    batch, k = data(1)[0], 5
    losses = [t.step(batch) for _ in range(k)]
    assert losses[-1] < losses[0]


def test_decision_4_parameters_are_collected_by_asking_and_who_has_none_is_skipped():
    head = Head(8, 3)
    g = Graph.somatize(Lemmatizer() >> head)
    assert [id(each) for each in parameters(g)] == [id(each) for each in head.parameters()]
    texts = ["lemmatizer", "and a head", "trained on", "four texts"]
    result = Trainer(g, objective=cross_entropy, optimizer=sgd(parameters(g))).fit(
        [(texts, torch.tensor([0, 1, 2, 0]))], epochs=20
    )
    assert result.loss < result.history[0]


def test_decision_4_a_graph_without_parameters_fails_when_the_trainer_is_built():
    g = Graph.somatize(Letter() >> Letter())
    with pytest.raises(NoParametersError):
        Trainer(g, objective=cross_entropy, optimizer=sgd(Head().parameters()))


def test_decision_5_parameters_come_without_repeats_by_identity():
    shared = torch.nn.Linear(4, 4)
    first, second, equal = Head(), Head(), Head()
    first.net = second.net = shared
    equal.net = torch.nn.Linear(4, 4)
    equal.net.load_state_dict(shared.state_dict())
    g = Graph.somatize(first.named("embedding") >> second.named("output") >> equal.named("equal"))
    found = [*shared.parameters(), *equal.net.parameters()]
    assert [id(each) for each in parameters(g)] == [id(each) for each in found]


def test_decision_6_the_optimizer_is_built_by_the_caller_and_names_are_refused():
    g = net()
    with pytest.raises(TypeError, match="`optimizer` was given `'adam'`"):
        Trainer(g, objective=cross_entropy, optimizer="adam")


def test_decision_6_an_optimizer_that_shares_no_parameter_with_the_graph_is_refused():
    with pytest.raises(OptimizerMismatchError):
        Trainer(net(), objective=cross_entropy, optimizer=sgd(parameters(net())))


def test_decision_6_covering_a_part_is_legitimate_and_the_rest_stays_as_it_is():
    g = net()
    before = bits(g)
    head = g.implementation("head").parameters()
    Trainer(g, objective=cross_entropy, optimizer=sgd(head)).fit(data())
    assert moved(before, g) == [False, False, True, True]


@pytest.mark.parametrize("form", ["list", "loader", "generator", "function"])
def test_decision_7_the_data_is_an_iterable_of_pairs(form):
    some = data()
    forms = {
        "list": some,
        "loader": torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(torch.cat([x for x, _ in some]), torch.cat([y for _, y in some])),
            batch_size=16,
        ),
        "generator": (batch for batch in some),
        "function": lambda: iter(some),
    }
    g = net()
    assert (
        len(Trainer(g, objective=cross_entropy, optimizer=sgd(parameters(g))).fit(forms[form]).history) == 4
    )


def test_decision_8_the_loss_is_a_callable_that_is_swapped_without_touching_the_model():
    g = net()
    calls = count()

    def counted(output, target):
        next(calls)
        return cross_entropy(output, target)

    Trainer(g, objective=counted, optimizer=sgd(parameters(g))).fit(data())
    Trainer(g, objective=torch.nn.CrossEntropyLoss(), optimizer=sgd(parameters(g))).fit(data())
    Trainer(
        g,
        objective=lambda output, target: mse_loss(output, torch.nn.functional.one_hot(target, 3).float()),
        optimizer=sgd(parameters(g)),
    ).fit(data())
    assert next(calls) == 4
    assert g.forward(torch.randn(2, 8)).shape == (2, 3), "at inference there is no loss in the graph"
    assert g.nodes() == ["encoder", "head"]


def test_the_target_is_moved_to_the_output_and_not_the_output_to_the_target():
    class There(Node):
        """The last layer on another device: `meta` is the second one that every machine has."""

        def __init__(self):
            self.net = torch.nn.Linear(4, 3, device="meta")

        def forward(self, x, ctx):
            return self.net(x.to("meta"))

        def parameters(self):
            return self.net.parameters()

    g = Graph.somatize(Encoder().named("encoder") >> There().on("meta").named("head"))
    seen = []

    def objective(output, target):
        seen.append((output.device.type, target.device.type))
        return cross_entropy(output, target)

    batch = data(1)[0]
    Trainer(g, objective=objective, optimizer=sgd(parameters(g))).loss(batch)
    assert seen == [("meta", "meta")]
    assert batch[1].device.type == "cpu"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_a_last_layer_on_the_gpu_trains_with_targets_on_the_cpu():
    g = Graph.somatize(Encoder().named("encoder") >> Head().on("cuda:0").named("head"))
    result = Trainer(g, objective=cross_entropy, optimizer=sgd(parameters(g))).fit(data(), epochs=10)
    assert len(result.history) == 40


def test_level_3_is_a_comprehension_and_each_run_has_a_network_of_its_own():
    some = data()

    def run(lr):
        g = net()
        return Trainer(
            g, objective=cross_entropy, optimizer=torch.optim.Adam(parameters(g), lr)
        ).fit(some, epochs=5)  # fmt: skip

    study = {lr: run(lr) for lr in (1e-4, 1e-2)}
    assert min(study, key=lambda lr: study[lr].loss) == 1e-2


def test_replicas_that_share_node_objects_would_train_one_model_so_each_is_built():
    encoder, head = Encoder(), Head()
    replicas = [Graph.somatize(encoder >> head) for _ in range(2)]
    assert parameters(replicas[0])[0] is parameters(replicas[1])[0], "a graph shares the objects it is given"
    assert parameters(net())[0] is not parameters(net())[0], "a function that builds them does not"
