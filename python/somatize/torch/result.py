"""What `fit` saw.

B is the batch size, the length of a target's first dimension.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Epoch:
    """One walk over the data.

    Attributes:
        number: Counted from 0 over the life of the Trainer, so a second `fit` goes on counting.
        loss: The mean over samples: every batch weighs what it holds, the short last one too. That is the
            epoch's loss for an objective that is a mean over its batch. Where a batch does not say its size
            (its target and input hold neither a tensor or array with dimensions nor a list), every batch of
            the epoch weighs the same.
        n_steps: Batches taken.
        n_samples: The sum of B, or 0 where a batch did not say.
    """

    number: int
    loss: float
    n_steps: int
    n_samples: int


@dataclass(frozen=True)
class Result:
    """What `fit` saw.

    Attributes:
        history: The loss of every step, in order; one float a step.
        loss: The last one.
        epochs: One `Epoch` a walk over the data; `result.epochs[-1].loss` is the mean loss of the last.
    """

    history: list[float]
    loss: float
    epochs: list[Epoch]
