"""The target meets the output, whatever it is wrapped in, and the user's batch stays what it was.

The second device that every machine has is `meta`.
"""

import collections
import dataclasses
import types
from typing import NamedTuple

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_sequence

from somatize import Graph
from somatize.torch import Trainer, module, parameters
from somatize.torch.device import first_tensor, meet, move

META = torch.device("meta")
HERE = torch.zeros(2)
THERE = torch.zeros(2, device=META)


class Pair(NamedTuple):
    left: object
    right: object


@dataclasses.dataclass
class Boxes:
    corners: object
    labels: object
    name: str = "boxes"


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    corners: object


class Named(list):
    """A list with a name."""

    name = "of its own"


class Movable:
    """A thing with a `.to` that moves itself in place."""

    def __init__(self, inside):
        self.inside = inside

    def to(self, device):
        self.inside = self.inside.to(device)
        return self


def test_c33_every_tensor_is_moved_text_is_not_and_containers_keep_their_type():
    batch = ((HERE, HERE), {"y": HERE, "id": ["a"]}, Pair(HERE, "text"))
    moved = move(batch, META)
    (x1, x2), named, pair = moved
    assert all(each.device == META for each in (x1, x2, named["y"], pair.left))
    assert named["id"] is batch[1]["id"]
    assert pair.right == "text"
    assert [type(each) for each in (moved, moved[0], named, pair)] == [tuple, tuple, dict, Pair]
    assert batch[1]["y"] is HERE
    assert batch[2].left is HERE


def defaulted():
    return collections.defaultdict(list, {"a": HERE})


@pytest.mark.parametrize(
    "value",
    [
        [HERE, "a"],
        (HERE, 1),
        {"a": HERE},
        collections.OrderedDict(b=HERE, a=HERE),
        defaulted(),
        collections.UserDict({"a": HERE}),
        types.MappingProxyType({"a": HERE}),
        Pair(HERE, [HERE]),
        Boxes(HERE, {"x": [HERE]}),
        Frozen((HERE,)),
        Named([HERE]),
        {HERE},
        [[[[HERE]]]],
        pack_sequence([torch.zeros(3), torch.zeros(2)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_container_keeps_its_type_and_the_original_stays_as_it_was(value):
    moved = move(value, META)
    assert type(moved) is type(value)
    assert first_tensor(moved).device == META
    assert first_tensor(value).device != META
    if isinstance(value, collections.defaultdict):
        assert moved.default_factory is list
    if isinstance(value, collections.OrderedDict):
        assert list(moved) == ["b", "a"]
    if isinstance(value, Boxes):
        assert moved.name == "boxes"
        assert moved.labels["x"][0].device == META


def test_what_moves_itself_in_place_is_copied_first():
    value = Movable(HERE)
    moved = move(value, META)
    assert moved.inside.device == META
    assert value.inside is HERE


@pytest.mark.parametrize("value", [None, "text", b"bytes", 3, 2.5, True, object(), nn.Linear(1, 1), int])
def test_what_is_no_tensor_is_passed_through(value):
    assert move(value, META) is value


@pytest.mark.parametrize("value", [HERE, (HERE, "a"), {"a": [HERE]}, Boxes(HERE, "b"), Pair(1, 2)])
def test_what_lies_there_already_is_the_same_object(value):
    assert meet(value, HERE) is value
    assert move(value, "cpu") is value


def test_an_output_without_a_tensor_moves_nothing():
    assert meet(HERE, {"a": 3.0}) is HERE


def test_two_heads_on_two_devices_each_meet_their_own_target():
    output = {"a": HERE, "b": THERE}
    target = {"b": HERE, "a": HERE}
    met = meet(target, output)
    assert (met["a"].device, met["b"].device) == (HERE.device, META)
    assert list(met) == ["b", "a"]
    met = meet((HERE, HERE), (THERE, HERE))
    assert (met[0].device, met[1].device) == (META, HERE.device)


def test_a_target_unlike_the_output_goes_where_the_first_tensor_of_the_output_is():
    met = meet({"labels": HERE, "masks": [HERE]}, (THERE, HERE))
    assert met["labels"].device == META
    assert met["masks"][0].device == META


def test_the_objective_is_handed_a_target_that_lies_with_the_output_and_the_batch_is_left_alone():
    g = Graph.somatize(module(nn.Linear(4, 1).to("meta")).on("meta"))
    seen = []

    def objective(output, target):
        seen.append(target)
        return F.mse_loss(output, target["y"])

    target = {"y": torch.zeros(2, 1), "id": ["a", "b"]}
    batch = (torch.randn(2, 4), target)
    Trainer(g, objective, torch.optim.SGD(parameters(g), lr=0.1)).backward(batch)
    assert seen[0]["y"].device == META
    assert seen[0]["id"] is target["id"]
    assert batch[1] is target
    assert target["y"].device.type == "cpu"


gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")


@pytest.mark.gpu
@gpu
def test_the_target_meets_an_output_on_the_gpu_and_the_numbers_are_those_of_the_plain_loop():
    torch.manual_seed(0)
    data = [
        (torch.randn(8, 4).pin_memory(), {"y": torch.randn(8, 1).pin_memory(), "id": ["a"]}) for _ in range(5)
    ]

    def objective(output, target):
        return F.mse_loss(output, target["y"])

    torch.manual_seed(1)
    net = nn.Linear(4, 1)
    g = Graph.somatize(module(net).on("cuda:0").named("head"))
    t = Trainer(g, objective, torch.optim.SGD(parameters(g), lr=0.1))
    seen = t.fit(data, epochs=2).history
    torch.manual_seed(1)
    twin = nn.Linear(4, 1).to("cuda:0")
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
    expected = []
    for _ in range(2):
        for x, y in data:
            optimizer.zero_grad()
            loss = F.mse_loss(twin(x.to("cuda:0")), y["y"].to("cuda:0"))
            loss.backward()
            optimizer.step()
            expected.append(loss.item())
    assert seen == expected
    assert all(y["y"].device.type == "cpu" for _, y in data)


@pytest.mark.gpu
@gpu
def test_fit_waits_for_the_gpu_once_an_epoch():
    g = Graph.somatize(module(nn.Linear(4, 1)).on("cuda:0").named("head"))
    data = [(torch.randn(8, 4, device="cuda:0"), torch.randn(8, 1, device="cuda:0")) for _ in range(5)]
    t = Trainer(g, F.mse_loss, torch.optim.SGD(parameters(g), lr=0.1))
    t.fit(data)  # the first moves the parameters

    def walked():
        for batch in data:
            torch.cuda.set_sync_debug_mode("error")
            yield batch
        torch.cuda.set_sync_debug_mode("default")

    try:
        assert len(t.fit(walked).history) == 5
    finally:
        torch.cuda.set_sync_debug_mode("default")
