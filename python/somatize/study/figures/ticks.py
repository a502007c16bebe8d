"""Round numbers between two ends, where they lie, and how they are written."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

from somatize.figure.words import number

N_TICKS = 5


def share(low: float, high: float, one: float, *, log: bool) -> float:
    """Where a number lies, from 0 at `low` to 1 at `high`; 0.5 where the two are one."""
    if low == high:
        return 0.5
    span = math.log(high) - math.log(low) if log else 0.0
    # Ends that differ in their last digits have one logarithm.
    if span > 1e-9:
        return (math.log(one) - math.log(low)) / span
    if isinstance(low, int) and isinstance(high, int) and isinstance(one, int):
        return (one - low) / (high - low)  # floats tell no two apart beyond 2^53
    # Halved, so that the span of the widest floats is one too.
    half = high / 2 - low / 2
    # Two neighbours at the very bottom of the floats have a half that rounds to nothing.
    return (one / 2 - low / 2) / half if half > 0 else float(one > low)


def rounds(low: float, high: float, *, log: bool, whole: bool = False) -> list[float]:
    """Round numbers in `[low, high]`, about `N_TICKS` of them; none where the floats have no room."""
    if log:
        return _log(low, high)
    rough = high / N_TICKS - low / N_TICKS
    if rough < sys.float_info.min or math.isinf(rough):
        return []
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= rough * (1 - 1e-9))
    step = max(step, 1.0) if whole else step
    # Rounded: 3 * 0.1 is 0.30000000000000004, and a tick is read.
    digits = 12 - math.floor(math.log10(step))
    found = [round(i * step, digits) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [int(tick) for tick in found] if whole else found


def marked(ticks: Sequence[float], place: Callable[[float], float]) -> tuple[tuple[float, str], ...]:
    """Ticks with their places, written with as many digits as tell them apart, 3 at the least."""
    for digits in range(3, 18):
        words = [number(tick, digits) for tick in ticks]
        if len(set(words)) == len(set(ticks)):
            break
    return tuple((place(tick), text) for tick, text in zip(ticks, words, strict=True))


def _log(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(math.ceil((last - first) / N_TICKS), 1)
    steps = (1,) if every > 1 or math.log10(high) - math.log10(low) >= 3 else (1, 2, 5)
    ticks = (float(f"{m}e{power}") for power in range(first, last + 1) if power % every == 0 for m in steps)
    return [tick for tick in ticks if low <= tick <= high]
