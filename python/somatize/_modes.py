"""torch's per-thread modes, carried from the thread that opens a wave to those that run its branches.

Imported only once torch is.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import torch  # noqa: TID253
from torch import _C  # noqa: TID253

is_grad_enabled = torch.is_grad_enabled
is_inference_mode_enabled = torch.is_inference_mode_enabled
is_any_autocast_enabled = _C._is_any_autocast_enabled
is_autocast_cache_enabled = torch.is_autocast_cache_enabled
len_torch_function_stack = _C._len_torch_function_stack


class Modes(NamedTuple):
    """What one thread holds; the default device is one of the function modes."""

    grad: bool
    inference: bool
    casts: tuple[tuple[str, torch.dtype], ...]
    cast_cache: bool
    functions: tuple[object, ...]


def _cast_devices() -> tuple[str, ...]:
    """The kinds of devices that may be cast for here: the CPU, CUDA, and whatever else is fitted."""
    fitted = torch.accelerator.current_accelerator() if hasattr(torch, "accelerator") else None
    return tuple(dict.fromkeys(["cpu", "cuda", *([fitted.type] if fitted is not None else [])]))


def read() -> Modes:
    """What this thread holds."""
    casts: tuple[tuple[str, torch.dtype], ...] = ()
    if is_any_autocast_enabled():
        casting = filter(torch.is_autocast_enabled, _cast_devices())
        casts = tuple((kind, torch.get_autocast_dtype(kind)) for kind in casting)
    n_functions = len_torch_function_stack()
    return Modes(
        is_grad_enabled(),
        is_inference_mode_enabled(),
        casts,
        is_autocast_cache_enabled(),
        tuple(_C._get_function_stack_at(at) for at in range(n_functions)) if n_functions else (),
    )


# What a thread of the pool holds when it holds nothing.
_NOTHING = Modes(True, False, (), True, ())


def enter(modes: Modes) -> ExitStack | None:
    """Takes on `modes` on a thread of the pool; `leave` undoes it. None when there is nothing to undo."""
    if modes == _NOTHING:
        return None
    entered = ExitStack()
    if modes.inference:
        entered.enter_context(torch.inference_mode())
    if torch.is_grad_enabled() != modes.grad:
        entered.enter_context(torch.set_grad_enabled(modes.grad))
    for kind, dtype in modes.casts:
        entered.enter_context(torch.autocast(kind, dtype=dtype, cache_enabled=modes.cast_cache))
    for mode in modes.functions:
        _C._push_on_torch_function_stack(mode)
        entered.callback(_C._pop_torch_function_stack)
    return entered


def leave(entered: ExitStack | None) -> None:
    """Undoes `enter`, and whatever the branch left behind on a thread of the pool."""
    if entered is not None:
        entered.close()
    restore(_NOTHING)


def restore(modes: Modes) -> None:
    """Undoes what a branch left behind, so that the next one on this thread sees what all of them see."""
    if (
        is_grad_enabled() is modes.grad
        and is_inference_mode_enabled() is modes.inference
        and is_any_autocast_enabled() is (modes.casts != ())
        and len_torch_function_stack() == len(modes.functions)
        and not modes.casts
        and not modes.functions
    ):
        return  # What nearly every branch of nearly every wave leaves behind: nothing.
    now = read()
    if now == modes:
        return
    for _ in now.functions:
        _C._pop_torch_function_stack()
    for mode in modes.functions:
        _C._push_on_torch_function_stack(mode)
    expected = dict(modes.casts)
    for kind in {kind for kind, _ in (*now.casts, *modes.casts)}:
        torch.set_autocast_enabled(kind, kind in expected)
        if kind in expected:
            torch.set_autocast_dtype(kind, expected[kind])
    torch.set_autocast_cache_enabled(modes.cast_cache)
    _C._set_grad_enabled(modes.grad)
