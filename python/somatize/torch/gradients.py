"""The gradients that lie in the parameters between two updates."""

from __future__ import annotations

from torch.optim import Optimizer


def clear(optimizer: Optimizer) -> None:
    """What `optimizer.zero_grad()` does, less the label it writes for the profiler: that takes 10 µs a call.

    An optimizer that has a `zero_grad` of its own is asked for it.
    """
    if getattr(optimizer.zero_grad, "__func__", None) is not Optimizer.zero_grad:
        optimizer.zero_grad()
        return
    for group in optimizer.param_groups:
        for each in group["params"]:
            each.grad = None
