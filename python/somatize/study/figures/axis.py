"""Where a knob's values lie on its axis, from 0 at the low end to 1, and which of them are labelled."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from somatize.figure.words import Scalar, number, value
from somatize.study.figures.record import Goal, Knob

LOG_SPAN = 50.0
"""A knob that spans more than this, and no zero, is drawn in log: it was almost certainly searched so."""

N_TICKS = 5


@dataclass(frozen=True)
class Axis:
    """A knob's axis. `at` is exact, and every tick is a value of the knob."""

    name: str
    kind: Literal["linear", "log", "choice"]
    low: float = 0.0
    high: float = 1.0
    options: tuple[Scalar, ...] = ()
    """In axis order, the lowest first."""
    ticks: tuple[tuple[float, str], ...] = ()
    """Positions in [0, 1] and their labels, from low to high."""

    def at(self, one: Scalar) -> float | None:
        """Where a value lies, in [0, 1]; None for one that is not on this axis.

        A constant lies in the middle. Of a choice, the middle of the option's band.
        """
        if self.kind == "choice":
            keys = [_key(option) for option in self.options]
            return (keys.index(_key(one)) + 0.5) / len(keys) if _key(one) in keys else None
        if isinstance(one, bool) or not isinstance(one, (int, float)) or not math.isfinite(one):
            return None
        if self.kind == "log" and one <= 0:
            return None
        if self.low == self.high:
            return 0.5 if one == self.low else None
        place = _share(self.low, self.high, one, self.kind == "log")
        return place if 0 <= place <= 1 else None

    @property
    def band(self) -> float:
        """How much of the axis an option's trials may spread over; 0 for a number, whose place is exact."""
        return 0.62 / len(self.options) if self.kind == "choice" else 0.0


def axis_of(knob: Knob, values: Iterable[Scalar]) -> Axis:
    """The axis of a knob.

    It covers the space's bounds, and what was tried beyond them under an earlier version of the space. It is
    in log when the knob is, or when it spans more than `LOG_SPAN` without touching zero. Options that are all
    numbers stand by value, others as the space lists them.

    Args:
        knob: The dimension; bounds of None are taken from the values.
        values: Every value tried.
    """
    values = list(values)
    if knob.kind == "choice":
        return _choice(knob, values)
    numbers = [float(one) for one in values if isinstance(one, (int, float)) and not isinstance(one, bool)]
    numbers = [one for one in numbers if math.isfinite(one)]
    ends = [float(end) for end in (knob.low, knob.high) if end is not None]
    low, high = min((*ends, *numbers), default=0.0), max((*ends, *numbers), default=0.0)
    log = low > 0 and (knob.log or high / low > LOG_SPAN)
    ticks = _ticks(low, high, log=log, whole=knob.kind == "int")
    return Axis(
        knob.name,
        "log" if log else "linear",
        low,
        high,
        ticks=tuple(
            (0.5 if low == high else _share(low, high, tick, log), number(tick, 3)) for tick in ticks
        ),
    )


@dataclass(frozen=True)
class ScoreAxis:
    """An axis for scores, from 0 at its low end to 1; far outliers at the bad end stay beyond it."""

    low: float
    high: float
    log: bool
    ticks: tuple[tuple[float, str], ...]
    n_beyond: int
    """Scores that lie beyond an end."""

    def at(self, score: float) -> float:
        """Where a score lies; below 0 or above 1 for one beyond the ends, or that a log axis cannot show."""
        if self.low == self.high:
            return 0.5 if score == self.low else float(score > self.low) * 2 - 0.5
        if self.log and score <= 0:
            return -1.0
        return _share(self.low, self.high, score, self.log)

    def within(self, score: float) -> float:
        """As `at`, held to the axis: where the mark of an outlier stands."""
        return min(max(self.at(score), 0.0), 1.0)


def score_axis(scores: Iterable[float], goal: Goal | None) -> ScoreAxis:
    """The axis on which the bulk of the scores can be told apart.

    It is in log when nine tenths of the scores span more than `LOG_SPAN`. With 8 scores or more, those beyond
    the far fence of Tukey (1977, "Exploratory Data Analysis", section 2D: three quartile distances) at the
    bad end lie beyond it; the good end is never cut.

    Args:
        scores: Those that are not finite are left out.
        goal: Which end is good; None cuts at both.
    """
    known = sorted(score for score in scores if math.isfinite(score))
    if not known:
        return ScoreAxis(0.0, 1.0, log=False, ticks=(), n_beyond=0)
    log = known[0] > 0 and _quantile(known, 0.95) / _quantile(known, 0.05) > LOG_SPAN
    bent = [math.log(score) for score in known] if log else known
    lower, upper = _quantile(bent, 0.25), _quantile(bent, 0.75)
    reach = 3 * (upper - lower)
    inside = known
    if len(known) >= 8 and reach > 0:
        inside = [
            score
            for score, place in zip(known, bent, strict=True)
            if (goal == "max" or place <= upper + reach) and (goal == "min" or place >= lower - reach)
        ]
    low, high = inside[0], inside[-1]
    if low != high and not log:
        # A little air, and zero rather than almost zero.
        air = 0.04 * (high - low)
        low, high = (0.0 if 0 <= low <= 2 * air else low - air), high + air
    elif log:
        air = (high / low) ** 0.04
        low, high = low / air, high * air
    rounds = (
        (_round_log(low, high) if log else _round_linear(low, high, whole=False)) if low != high else [low]
    )
    ticks = [tick for tick in rounds if low <= tick <= high]
    places = tuple((0.5 if low == high else _share(low, high, tick, log), number(tick, 3)) for tick in ticks)
    return ScoreAxis(low, high, log, places, len(known) - len(inside))


def _quantile(ordered: list[float], share: float) -> float:
    """Linear between order statistics."""
    at = share * (len(ordered) - 1)
    left = int(at)
    right = min(left + 1, len(ordered) - 1)
    return ordered[left] + (at - left) * (ordered[right] - ordered[left])


def _share(low: float, high: float, one: float, log: bool) -> float:
    span = math.log(high) - math.log(low) if log else 0.0
    # Ends that differ in their last digits have one logarithm.
    if span > 1e-9:
        return (math.log(one) - math.log(low)) / span
    # Halved, so that the span of the widest floats is one too.
    half = high / 2 - low / 2
    # Two neighbours at the very bottom of the floats have a half that rounds to nothing.
    return (one / 2 - low / 2) / half if half > 0 else float(one > low)


def _choice(knob: Knob, values: list[Scalar]) -> Axis:
    options: dict[tuple[str, Scalar], Scalar] = {_key(option): option for option in knob.options}
    for one in values:
        options.setdefault(_key(one), one)
    order = list(options.values())
    if all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in order):
        order.sort(key=lambda one: float(one) if isinstance(one, (int, float)) else 0.0)
    labels = [value(one) for one in order]
    # `64` and `"64"` may both be options: then the text keeps its quotes.
    labels = [
        repr(one) if labels.count(label) > 1 and isinstance(one, str) else label
        for one, label in zip(order, labels, strict=True)
    ]
    ticks = tuple(((i + 0.5) / len(order), label) for i, label in enumerate(labels))
    return Axis(knob.name, "choice", options=tuple(order), ticks=ticks)


def _key(one: Scalar) -> tuple[str, Scalar]:
    """Options of one text may differ in type: 1, 1.0, True and "1" are four."""
    return type(one).__name__, one


def _ticks(low: float, high: float, *, log: bool, whole: bool) -> list[float]:
    """Both ends, and round numbers between them that keep their distance from each other and the ends."""
    if low == high:
        return [int(low) if whole else low]
    rounds = _round_log(low, high) if log else _round_linear(low, high, whole)
    room = 0.6 / N_TICKS
    inner: list[float] = []
    for tick in rounds:
        place = _share(low, high, tick, log)
        if room < place < 1 - room and (not inner or place - _share(low, high, inner[-1], log) > room):
            inner.append(tick)
    ends = [int(low), int(high)] if whole else [low, high]
    return [ends[0], *inner, ends[1]]


def _round_linear(low: float, high: float, whole: bool) -> list[float]:
    rough = high / N_TICKS - low / N_TICKS
    if rough == 0 or math.isinf(rough):  # narrower than floats can divide, or wider than they reach
        return []
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= rough * (1 - 1e-9))
    step = max(step, 1.0) if whole else step
    first = math.ceil(low / step)
    # Rounded: 3 * 0.1 is 0.30000000000000004, and a tick is read.
    ticks = [
        round(i * step, 12 - math.floor(math.log10(step))) for i in range(first, math.floor(high / step) + 1)
    ]
    return [int(tick) for tick in ticks] if whole else ticks


def _round_log(low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if last - first > N_TICKS:
        every = math.ceil((last - first) / N_TICKS)
        return [
            10.0**power
            for power in range(first, last + 1)
            if power % every == 0 and low <= float(f"1e{power}") <= high
        ]
    steps = (1,) if math.log10(high / low) >= 3 else (1, 2, 5)
    ticks = (float(f"{m}e{power}") for power in range(first, last + 1) for m in steps)
    return [tick for tick in ticks if low <= tick <= high]
