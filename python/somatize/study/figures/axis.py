"""Where a knob's values lie on its axis, from 0 at the low end to 1, and which of them are labelled."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from somatize.figure.words import Scalar, told_apart
from somatize.study.figures.record import Knob
from somatize.study.figures.ticks import N_TICKS, marked, rounds, share

LOG_SPAN = 50.0
"""A knob that spans more than this, and no zero, is drawn in log: it was almost certainly searched so."""


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
            return self._middles.get(_key(one))
        if isinstance(one, bool) or not isinstance(one, (int, float)) or not math.isfinite(one):
            return None
        return (
            share(self.low, self.high, one, log=self.kind == "log") if self.low <= one <= self.high else None
        )

    def labelled(self, at_most: int) -> tuple[tuple[float, str], ...]:
        """The ticks that have room for their label: all, or every n-th; a pointer tells the others."""
        return self.ticks[:: -(-len(self.ticks) // max(at_most, 1)) or 1]

    @cached_property
    def _middles(self) -> dict[tuple[str, Scalar], float]:
        return {_key(option): (i + 0.5) / len(self.options) for i, option in enumerate(self.options)}

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
    numbers = [one for one in values if isinstance(one, (int, float)) and not isinstance(one, bool)]
    ends = [end for end in (knob.low, knob.high, *numbers) if end is not None and math.isfinite(end)]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    log = low > 0 and (knob.log or high / low > LOG_SPAN)
    ticks = _ticks(low, high, log=log, whole=knob.kind == "int")
    places = marked(ticks, lambda tick: share(low, high, tick, log=log))
    return Axis(knob.name, "log" if log else "linear", low, high, ticks=places)


def _choice(knob: Knob, values: list[Scalar]) -> Axis:
    options: dict[tuple[str, Scalar], Scalar] = {_key(option): option for option in knob.options}
    for one in values:
        options.setdefault(_key(one), one)
    order = list(options.values())
    if all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in order):
        order.sort(key=lambda one: float(one) if isinstance(one, (int, float)) else 0.0)
    ticks = tuple(((i + 0.5) / len(order), label) for i, label in enumerate(told_apart(order)))
    return Axis(knob.name, "choice", options=tuple(order), ticks=ticks)


def _key(one: Scalar) -> tuple[str, Scalar]:
    """Options of one text may differ in type: 1, 1.0, True and "1" are four."""
    return type(one).__name__, one


def _ticks(low: float, high: float, *, log: bool, whole: bool) -> list[float]:
    """Both ends, and round numbers between them that keep their distance from each other and the ends."""
    if low == high:
        return [low]
    room = 0.6 / N_TICKS
    inner: list[float] = []
    before = 0.0
    for tick in rounds(low, high, log=log, whole=whole):
        place = share(low, high, tick, log=log)
        if before + room < place < 1 - room:
            inner.append(tick)
            before = place
    return [low, *inner, high]
