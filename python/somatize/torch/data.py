"""The data: an iterable of `(input, target)`, walked once per epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from somatize.errors import BatchError, SpentDataError
from somatize.torch.device import first_tensor


def pair(batch: Any, step: int) -> tuple[Any, Any]:
    """`batch` as `(input, target)`: a tuple or a list of two.

    Nothing else that happens to unpack in two counts: a tensor of two rows, a dict of two keys, a text of two
    letters would train on nonsense.

    Raises:
        BatchError: It is something else; names `step` and what it is.
    """
    if isinstance(batch, (tuple, list)) and len(batch) == 2:
        return batch[0], batch[1]
    given = f"a `{type(batch).__name__}`"
    if isinstance(batch, (tuple, list)):
        given += f" of {len(batch)}"
    if isinstance(batch, torch.Tensor):
        hint = "if the data is one batch alone, wrap it: `fit([(input, target)])`"
    elif isinstance(batch, Mapping):
        hint = "say which entries are which: `((b['x'], b['y']) for b in data)`"
    else:
        hint = "put what belongs together into one: `((x1, x2), target)`"
    raise BatchError(f"the batch at step {step} is {given}, expected a pair `(input, target)`", hint=hint)


def n_samples(batch: Any) -> int:
    """How many samples a batch holds: B of its target, or of its input; 0 if neither says.

    A tensor says first, target before input; then the first tensor within either; then a list by its entries
    and an array by its rows.
    """
    input, target = batch
    sides = (target, input)
    for first in (*filter(torch.is_tensor, sides), *map(first_tensor, sides)):
        if first is not None and first.ndim:
            return first.size(0)
    for side in sides:
        if isinstance(side, list):
            return len(side)
        shape = getattr(side, "shape", None)
        if isinstance(shape, tuple) and shape:
            return int(shape[0])
    return 0


def batches_of(data: Iterable[Any] | Callable[[], Iterable[Any]]) -> Iterable[Any]:
    """What one epoch walks: `data` itself, or what it answers when it is a function."""
    return data() if callable(data) and not hasattr(data, "__iter__") else data


def spent(batches: Iterable[Any], epoch: int, epochs: int) -> SpentDataError:
    """The error for an epoch without a batch; names it, counted from 1 as in the text `epoch 2 of 3`."""
    kind = type(batches).__name__
    if epoch == 0:
        return SpentDataError(
            f"epoch 1 of {epochs} yielded no batch: `{kind}` is empty, or was walked before",
            hint="give data that holds at least one batch",
        )
    return SpentDataError(
        f"epoch {epoch + 1} of {epochs} yielded no batch: `{kind}` was spent by the epoch before",
        hint="give what can be walked again: a list, a DataLoader, or a function that answers an iterable",
    )
