"""`module(net)`: a node around any module, that obeys its placement."""

import pickle

import pytest
import torch
from torch import nn

from somatize import Graph, Node
from somatize.torch import export, module, parameters
from somatize.torch.module import ModuleNode


class Moves(nn.Module):
    """Counts how often it was told to move, and to where."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.moves = []

    def to(self, device):
        self.moves.append(device)
        return super().to(device)

    def forward(self, x):
        self.seen = x
        return self.net(x[0] if isinstance(x, tuple) else x)


def test_without_a_placement_nothing_moves():
    net = Moves()
    Graph.somatize(module(net)).forward(torch.zeros(1, 4))
    assert net.moves == []


def test_parameters_move_once_and_every_input_does():
    net = Moves()
    g = Graph.somatize(module(net).on("meta"))
    for _ in range(3):
        assert g.forward((torch.zeros(1, 4), {"id": ["a"]})).device.type == "meta"
        assert net.seen[0].device.type == "meta"
        assert net.seen[1] == {"id": ["a"]}
    assert net.moves == ["meta"]
    assert all(each.device.type == "meta" for each in net.parameters())


def test_a_node_placed_anew_moves_once_more():
    net = Moves()
    g = Graph.somatize(module(net).on("cpu").named("net"))
    g.forward(torch.zeros(1, 4))
    g.place("net", "meta")
    g.forward(torch.zeros(1, 4))
    g.forward(torch.zeros(1, 4))
    assert net.moves == ["cpu", "meta"]


def test_a_module_keeps_its_parameters_when_it_is_told_to_stay():
    net = nn.Linear(4, 2)
    g = Graph.somatize(module(net).on("cpu"))
    before = parameters(g)
    g.forward(torch.zeros(1, 4))
    assert all(a is b for a, b in zip(before, parameters(g), strict=True))


def test_gradients_flow_through_it():
    net = nn.Linear(4, 2)
    Graph.somatize(module(net)).forward(torch.ones(1, 4)).sum().backward()
    assert torch.equal(net.weight.grad, torch.ones(2, 4))


def test_it_is_a_node_and_its_state_has_the_names_of_the_module():
    node = module(nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2)))
    assert isinstance(node, Node)
    state = export(Graph.somatize(node.named("body")))
    assert set(state["body"]) == set(node.module.state_dict())


def test_train_and_eval_are_those_of_the_module():
    node = module(nn.Dropout(0.5))
    assert node.eval() is node
    assert not node.module.training
    node.train()
    assert node.module.training


@pytest.mark.parametrize(("given", "said"), [(nn.Linear, "the class `Linear`"), (3, "a `int`")])
def test_what_is_no_module_is_refused(given, said):
    with pytest.raises(TypeError, match=f"module was given {said}, expected an instance"):
        module(given)


def test_it_pickles():
    node = pickle.loads(pickle.dumps(module(nn.Linear(4, 2))))
    assert isinstance(node, ModuleNode)
    assert repr(node) == "module(Linear(in_features=4, out_features=2, bias=True))"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_on_the_gpu_an_optimizer_built_before_the_move_still_trains_it():
    net = nn.Linear(4, 1)
    g = Graph.somatize(module(net).on("cuda:0"))
    before = parameters(g)
    g.forward(torch.zeros(1, 4))
    assert all(a is b for a, b in zip(before, parameters(g), strict=True))
    assert net.weight.device.type == "cuda"
