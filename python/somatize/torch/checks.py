"""What a Trainer is given and what the objective answers, refused in words where it is of the wrong kind."""

from __future__ import annotations

from operator import index
from typing import Any

import torch
from torch import Tensor

from somatize.errors import LossError


def given(graph: Any, objective: Any, optimizer: Any, driver: Any) -> None:
    """Refuse what a Trainer cannot be built from, whatever it holds.

    Raises:
        TypeError: One of them is of another kind than it should be; says which and what was given.
    """
    if not callable(getattr(graph, "forward", None)) or not callable(getattr(graph, "implementation", None)):
        raise TypeError(
            f"`graph` was given {_named(graph)}, expected a Graph: `Graph.somatize(module(net))` makes one"
        )
    if not callable(objective) or isinstance(objective, type):
        order = "; the order is `Trainer(graph, objective, optimizer)`" if _optimizes(objective) else ""
        raise TypeError(
            f"`objective` was given {_named(objective)}, expected a callable of (output, target){order}"
        )
    if not _optimizes(optimizer):
        raise TypeError(
            f"`optimizer` was given {_named(optimizer)}, "
            "expected one like `torch.optim.Adam(parameters(graph))`"
        )
    if driver is not None and not callable(driver):
        raise TypeError(f"`driver` was given `{driver!r}`, expected a callable of a list of requests")


def _optimizes(given: Any) -> bool:
    return hasattr(given, "param_groups") and not isinstance(given, type)


def _named(given: Any) -> str:
    """What was given, on one line: an optimizer prints itself on a dozen."""
    if isinstance(given, type):
        return f"the class `{given.__name__}`"
    if given is None or isinstance(given, str):
        return f"`{given!r}`"
    return f"a `{type(given).__name__}`"


def at_least_one(epochs: int) -> None:
    """Refuse fewer epochs than one.

    Raises:
        TypeError: `epochs` is no whole number.
        ValueError: It is below 1.
    """
    try:
        index(epochs)
    except TypeError:
        raise TypeError(
            f"`epochs` was given a `{type(epochs).__name__}`, expected a whole number; the data is one "
            "iterable of `(input, target)` pairs"
        ) from None
    if epochs < 1:
        raise ValueError(f"`epochs` was given `{epochs}`, expected at least 1")


def explain(loss: Any) -> None:
    """Say why `loss.backward()` failed, if it was for what `loss` is; called when it did, and never else.

    Raises:
        LossError: It is not a tensor, not one element, or hangs on no parameter.
    """
    single(loss)
    if loss.requires_grad:
        return
    if not torch.is_grad_enabled():
        raise LossError(
            "the loss has no gradient: gradients are off",
            hint="leave `torch.no_grad()` or `torch.inference_mode()` before a step",
        )
    raise LossError(
        "the loss has no gradient: nothing links it to a parameter that trains",
        hint="a node or the objective detaches (`.detach()`, `argmax`), or all nodes it passes are frozen",
    )


def single(loss: Any) -> Tensor:
    """`loss`, if it is a tensor with one element.

    Raises:
        LossError: It is not.
    """
    if not isinstance(loss, Tensor):
        raise LossError(
            f"the objective answered a `{type(loss).__name__}`, expected a tensor with one element",
            hint="return the tensor itself, not `.item()` of it" if isinstance(loss, (int, float)) else None,
        )
    if loss.numel() != 1:
        raise LossError(
            f"the objective answered a tensor of shape {tuple(loss.shape)}, expected one element",
            hint="reduce it: `.mean()`, or without `reduction='none'`",
        )
    return loss
