"""The losses of one epoch, left on their device until somebody reads them."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from somatize.torch.data import n_samples

FOLD_EVERY = 1024
"""How many losses lie about on an accelerator one by one before they are folded into one tensor there."""


class Losses:
    """A float per loss on the CPU; on an accelerator its few bytes there, until `read`.

    Attributes:
        n_samples: The sum of the sizes said so far; 0 once one of them was 0.
    """

    def __init__(self) -> None:
        self.n_samples = 0
        self._sizes: list[int] = []
        self._values: list[float] = []
        self._folded: list[Tensor] = []
        self._loose: list[Tensor] = []

    def __bool__(self) -> bool:
        return bool(self._sizes)

    def add(self, loss: Tensor, batch: Any) -> None:
        """Take the loss of one batch; waits for no accelerator."""
        target = batch[1]
        plain = type(target) is Tensor and target.ndim > 0
        self._sizes.append(target.size(0) if plain else n_samples(batch))
        if loss.is_cpu:
            self._values.append(loss.item())
            return
        self._loose.append(loss.reshape(()))
        if len(self._loose) == FOLD_EVERY:
            self._fold()

    def read(self) -> tuple[list[float], float]:
        """Every loss in order, and their mean over samples. This waits for the accelerator."""
        if self._loose:
            self._fold()
        values = [value for some in self._folded for value in some.tolist()] + self._values
        sizes = self._sizes if all(self._sizes) else [1] * len(values)
        self.n_samples = sum(self._sizes) if all(self._sizes) else 0
        return values, _mean(values, sizes)

    def _fold(self) -> None:
        self._folded.append(torch.stack(self._loose))
        self._loose = []


def _mean(values: list[float], sizes: list[int]) -> float:
    """The mean of `values`, each weighing its size; not finite as soon as one of them is not."""
    if not all(map(math.isfinite, values)):
        return sum(values)  # inf, -inf or nan, whichever the values come to
    return math.fsum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
