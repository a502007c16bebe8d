"""The axis of scores: the bulk can be told apart, and an outlier is marked at the edge."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from somatize.figure.words import count
from somatize.study.figures.axis import LOG_SPAN
from somatize.study.figures.record import Goal
from somatize.study.figures.ticks import marked, rounds, share

if TYPE_CHECKING:
    from somatize.figure.theme import Theme


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
        if self.low == self.high and score != self.low:
            return 1.5 if score > self.low else -0.5
        if self.log and score <= 0:
            return -1.0
        return share(self.low, self.high, score, log=self.log)

    def within(self, score: float) -> float:
        """As `at`, held to the axis: where the mark of an outlier stands."""
        return min(max(self.at(score), 0.0), 1.0)

    def symbol(self, score: float) -> str:
        """A circle, or the triangle that points to where an outlier lies."""
        at = self.at(score)
        return "circle" if 0 <= at <= 1 else "triangle-up" if at > 1 else "triangle-down"

    @property
    def outliers(self) -> str:
        """`2 outliers marked at the edge`; empty without one."""
        return f"{count(self.n_beyond, 'outlier')} marked at the edge" if self.n_beyond else ""

    def drawn(self, look: Theme, title: str, **more: Any) -> dict[str, Any]:
        """As plotly's vertical axis.

        Args:
            look: The theme.
            title: What the axis counts; empty for none.
            more: More of plotly's axis.
        """
        from somatize.figure.drawing import axis

        return axis(
            look,
            title=f"{title}, log" if title and self.log else title,
            tickvals=[at for at, _ in self.ticks],
            ticktext=[text for _, text in self.ticks],
            fixedrange=True,
            **{"range": [-0.02, 1.02], **more},
        )


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
    low, high = _aired(inside[0], inside[-1], log)
    ticks = [tick for tick in rounds(low, high, log=log) if low <= tick <= high] if low != high else [low]
    places = marked(ticks, lambda tick: share(low, high, tick, log=log))
    return ScoreAxis(low, high, log, places, len(known) - len(inside))


def _aired(low: float, high: float, log: bool) -> tuple[float, float]:
    """The ends with a little air, and zero rather than almost zero, as far as floats reach."""
    most = sys.float_info.max
    if low == high:
        return low, high
    if log:
        air = math.exp(0.04 * (math.log(high) - math.log(low)))
        return max(low / air, math.ulp(0.0)), min(high * air, most)
    air = 0.04 * min(high - low, most)
    return 0.0 if 0 <= low <= 2 * air else max(low - air, -most), min(high + air, most)


def _quantile(ordered: list[float], at: float) -> float:
    """Linear between order statistics."""
    at *= len(ordered) - 1
    left = int(at)
    right = min(left + 1, len(ordered) - 1)
    span = ordered[right] - ordered[left]
    if math.isinf(span):
        return ordered[left] * (left + 1 - at) + ordered[right] * (at - left)
    return ordered[left] + (at - left) * span
