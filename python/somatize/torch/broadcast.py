"""Refuses the loss that is right in type and wrong in shape: (B, 1) against (B,) is B * B numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from somatize.errors import BatchError
from somatize.torch.device import tensors

OUTPUT, TARGET = 1, 2

ELEMENTWISE = {
    functional.hinge_embedding_loss,
    functional.huber_loss,
    functional.kl_div,
    functional.l1_loss,
    functional.mse_loss,
    functional.poisson_nll_loss,
    functional.smooth_l1_loss,
    functional.soft_margin_loss,
}
"""Losses that compare element by element and broadcast, at most with a warning, what is not of one shape."""


def refusing_broadcast(
    objective: Callable[..., Any], output: Any, target: Any
) -> AbstractContextManager[Any]:
    """Watches one call of the objective for output and target meeting in shapes that were not meant.

    Follows both through every torch function the objective calls. Refused is an element-wise loss of torch
    over two shapes, and any operation that gives one of the two a leading dimension it did not have and
    answers more numbers than either had. A pairwise objective that says so (`output[:, None] - target[None,
    :]`) passes. The numbers are those of the call unwatched. A compiled objective is not followed: the
    compiler would trace the watching too.

    Raises:
        BatchError: On leaving the operation; names it and both shapes.
    """
    if hasattr(objective, "_torchdynamo_orig_callable") or hasattr(objective, "_orig_mod"):
        return nullcontext()
    return _Watched(output, target)


class _Watched(TorchFunctionMode):
    """Marks what comes from the output and what from the target, and looks where they meet."""

    def __init__(self, output: Any, target: Any) -> None:
        super().__init__()
        self._marks: dict[int, tuple[Tensor, int]] = {}  # the tensor is held, so that its id stays its own
        self._refusal: BatchError | None = None
        for value, mark in ((output, OUTPUT), (target, TARGET)):
            for each in tensors(value):
                self._mark(each, mark)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run `func`, then judge it."""
        kwargs = kwargs or {}
        given = [each for each in (*args, *kwargs.values()) if isinstance(each, Tensor)]
        shapes = [tuple(each.shape) for each in given]  # before the call: it may work in place
        answer = func(*args, **kwargs)
        marks = [self._marks.get(id(each), (each, 0))[1] for each in given]
        if sorted(marks[:2]) == [OUTPUT, TARGET] and isinstance(answer, Tensor):
            self._refusal = self._refusal or _judged(func, marks, shapes, tuple(answer.shape))
        mark = 0
        for one in tensors(args):
            mark |= self._marks.get(id(one), (one, 0))[1]
        if mark:
            for one in tensors(answer):
                self._mark(one, self._marks.get(id(one), (one, 0))[1] | mark)
        return answer

    def __exit__(self, kind: Any, raised: Any, trace: Any) -> None:
        """Raise what was found: not before, since the operators of a tensor swallow a TypeError."""
        super().__exit__(kind, raised, trace)  # type: ignore[no-untyped-call]
        self._marks.clear()
        if self._refusal is not None:
            raise self._refusal from raised

    def _mark(self, tensor: Tensor, mark: int) -> None:
        self._marks[id(tensor)] = (tensor, mark)


def _judged(
    func: Any, marks: list[int], shapes: list[tuple[int, ...]], answer: tuple[int, ...]
) -> BatchError | None:
    """What is wrong with `func` over one tensor of each side, if something is."""
    a, b = shapes[:2]
    if a == b or not a or not b:
        return None
    if func not in ELEMENTWISE:
        grown = torch.Size(answer).numel() > max(torch.Size(a).numel(), torch.Size(b).numel())
        if len(a) == len(b) or not grown or answer != _broadcast(a, b):
            return None
    output, target = (a, b) if marks[0] == OUTPUT else (b, a)
    name = getattr(func, "__name__", str(func))
    one_size = torch.Size(a).numel() == torch.Size(b).numel()
    example = f", for example `target.reshape({output})` where that is what is meant" if one_size else ""
    return BatchError(
        f"the output of shape {output} and the target of shape {target} would be broadcast in `{name}`",
        hint=f"give both one shape{example}",
    )


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return tuple(torch.broadcast_shapes(a, b))  # type: ignore[no-untyped-call]
    except RuntimeError:
        return None
