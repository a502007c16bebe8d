"""`clear` leaves what `optimizer.zero_grad()` leaves."""

import pytest
import torch
from networks import built
from torch import nn

from somatize.torch import Trainer
from somatize.torch.gradients import clear


def with_gradients(optimizer):
    for group in optimizer.param_groups:
        for each in group["params"]:
            each.grad = torch.ones_like(each)
    return [each for group in optimizer.param_groups for each in group["params"]]


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.Adam, torch.optim.Adagrad])
@pytest.mark.parametrize("foreach", [None, True, False])
def test_every_gradient_is_none_afterwards_as_after_zero_grad(make, foreach):
    optimizer = make(nn.Linear(3, 2).parameters(), lr=0.1, foreach=foreach)
    some = with_gradients(optimizer)
    optimizer.zero_grad()
    assert all(each.grad is None for each in some)
    with_gradients(optimizer)
    clear(optimizer)
    assert all(each.grad is None for each in some)


def test_a_group_that_was_added_later_is_cleared_too():
    optimizer = torch.optim.SGD(nn.Linear(3, 2).parameters(), lr=0.1)
    optimizer.add_param_group({"params": nn.Linear(2, 1).parameters(), "lr": 1.0})
    some = with_gradients(optimizer)
    clear(optimizer)
    assert len(some) == 4
    assert all(each.grad is None for each in some)


class Own(torch.optim.SGD):
    """An optimizer that keeps its gradients as zeros, and counts."""

    n_calls = 0

    def zero_grad(self, set_to_none=True):
        self.n_calls += 1
        super().zero_grad(set_to_none=False)


def test_an_optimizer_with_a_zero_grad_of_its_own_is_asked_for_it():
    case = built("mlp")
    optimizer = Own(case.trains, lr=0.1)
    Trainer(case.graph, case.objective, optimizer).fit(case.batches)
    assert optimizer.n_calls == len(case.batches)


def test_so_is_one_whose_zero_grad_was_put_on_the_object():
    case, calls = built("mlp"), []
    optimizer = torch.optim.SGD(case.trains, lr=0.1)
    optimizer.zero_grad = lambda: calls.append(1)
    Trainer(case.graph, case.objective, optimizer).fit(case.batches)
    assert len(calls) == len(case.batches)
