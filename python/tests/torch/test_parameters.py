"""`parameters(g)`: found by asking, in declaration order, each once."""

import pytest
import torch
from networks import Body, Words, built
from torch import nn
from torch.nn import functional as F

from somatize import Graph, Node
from somatize.torch import Trainer, export, load, module, parameters


def same(some, others):
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


def test_they_come_in_declaration_order_and_nodes_without_any_are_skipped():
    case = built("text")
    assert same(parameters(case.graph), case.trains)


def test_a_parameter_that_two_nodes_share_comes_once_where_it_is_met_first():
    case = built("tied")
    assert len(parameters(case.graph)) == 3
    assert same(parameters(case.graph), case.trains)


def test_one_node_object_used_twice_counts_once():
    net = nn.Linear(4, 4)
    g = Graph.somatize(module(net).named("a") >> module(net).named("b"))
    assert same(parameters(g), list(net.parameters()))


@pytest.mark.parametrize("without", ["encoder", ["encoder"], ("encoder",), {"encoder"}])
def test_nodes_can_be_left_out_by_name(without):
    case = built("frozen")
    assert same(parameters(case.graph, without=without), case.trains)


def test_a_shared_parameter_stays_in_when_only_one_of_its_nodes_is_left_out():
    case = built("tied")
    left = parameters(case.graph, without="embedding")
    assert len(left) == 3
    assert any(each is case.trains[0] for each in left)
    assert len(parameters(case.graph, without=["embedding", "out"])) == 2


def test_leaving_out_a_node_that_is_not_there_is_refused_with_a_close_name():
    case = built("frozen")
    with pytest.raises(ValueError, match="`encodr`, which the graph does not have; did you mean `encoder`"):
        parameters(case.graph, without="encodr")
    with pytest.raises(ValueError, match=r"expected one of \['encoder', 'head'\]"):
        parameters(case.graph, without=["zzz"])


def test_frozen_parameters_are_there_as_in_torch():
    case = built("frozen")
    assert len(parameters(case.graph)) == 4


def test_an_attribute_called_parameters_that_is_no_function_is_passed_over():
    class Configured(Node):
        def __init__(self):
            self.parameters = {"depth": 3}

        def forward(self, x, ctx):
            return x

    g = Graph.somatize(Configured() >> module(nn.Linear(1, 1)))
    assert len(parameters(g)) == 2


def test_parameters_that_are_no_tensors_are_refused_with_the_node():
    class Wrong(Node):
        def forward(self, x, ctx):
            return x

        def parameters(self):
            return ["weight"]

    with pytest.raises(
        TypeError, match="`parameters\\(\\)` of node `mine` answers a `str`, expected tensors"
    ):
        parameters(Graph.somatize(Wrong().named("mine")))


def test_a_graph_of_words_has_none():
    assert parameters(Graph.somatize(Words())) == []


class Times(Node):
    """y = w * x, with a weight of its own or another's."""

    def __init__(self, weight):
        self.weight = weight

    def forward(self, x, ctx):
        return self.weight * x

    def parameters(self):
        return [self.weight]


def test_c28_a_weight_of_two_layers_is_stepped_once_and_still_shared_after_a_load():
    weight = nn.Parameter(torch.tensor(1.0))
    g = Graph.somatize(Times(weight).named("first") >> Times(weight).named("second"))
    assert same(parameters(g), [weight])
    t = Trainer(g, lambda output, target: output, torch.optim.SGD(parameters(g), lr=0.1))
    t.step((torch.tensor(1.0), None))
    assert weight.item() == pytest.approx(0.8)

    other = nn.Parameter(torch.tensor(5.0))
    h = Graph.somatize(Times(other).named("first") >> Times(other).named("second"))
    load(h, export(g))
    assert same(parameters(h), [other])
    assert other.item() == weight.item()
    assert h.implementation("first").weight is h.implementation("second").weight


def test_the_order_is_that_of_a_hand_written_list_so_optimizer_states_are_interchangeable():
    case = built("cnn")
    body, head = case.graph.implementation("body").module, case.graph.implementation("head").net
    assert same(parameters(case.graph), [*body.parameters(), *head.parameters()])
    t = Trainer(case.graph, F.cross_entropy, torch.optim.Adam(parameters(case.graph)))
    t.fit(case.batches)
    plain = torch.optim.Adam([*body.parameters(), *head.parameters()])
    plain.load_state_dict(t.optimizer.state_dict())
    assert Body(head).net is head
