"""What every figure of a study is drawn from: one trial a row, the knobs, the goal. Numbers, no plotly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal

from somatize.figure.words import Scalar, count, number, spoken, value

Goal = Literal["min", "max"]

UNRANKED = ("pruned", "failed", "running")
"""The outcomes of a trial that is not finished, in the order they are shown."""

NOISE = 0.95
"""How surely the importance of knobs that do nothing stays within `Record.noise`."""


@dataclass(frozen=True)
class Knob:
    """A dimension of the space, as a picture needs it."""

    name: str
    kind: Literal["real", "int", "choice"]
    low: float | None = None
    high: float | None = None
    log: bool = False
    options: tuple[Scalar, ...] = ()
    when: tuple[str, tuple[Scalar, ...]] | None = None
    """The knob exists only in points where that other knob has one of these values."""

    @property
    def condition(self) -> str:
        """`only when opt = sgd`; empty for a knob that always exists."""
        if self.when is None:
            return ""
        name, values = self.when
        return f"only when {name} = {' or '.join(value(one) for one in values)}"


@dataclass(frozen=True)
class Row:
    """One attempt at a trial."""

    trial: int
    state: str
    point: Mapping[str, Scalar]
    score: float | None = None
    attempt: int = 0
    who: str | None = None
    because: str | None = None
    took_secs: float | None = None

    @property
    def is_finished(self) -> bool:
        """It ran to the end with a score that can be ranked."""
        return self.state == "done" and self.score is not None and math.isfinite(self.score)

    @property
    def outcome(self) -> str:
        """Its state; `failed` for one done without a score that can be ranked."""
        return "failed" if self.state == "done" and not self.is_finished else self.state


@dataclass(frozen=True)
class Record:
    """A study as read: what the figures' numbers are computed from."""

    study: str
    goal: Goal | None
    knobs: tuple[Knob, ...]
    attempts: tuple[Row, ...]
    """Every attempt, by trial and attempt."""
    importance: tuple[tuple[str, float], ...] = ()
    """By `importance`, highest first."""
    curves: Mapping[tuple[int, int], tuple[float, ...]] = field(default_factory=dict)
    """What was reported, by trial and attempt, where a figure asked for it."""
    n_discarded: int = 0
    """Trials of which every attempt was discarded: nothing draws them."""

    @classmethod
    def of(
        cls,
        rows: Iterable[Mapping[str, Any]],
        knobs: Iterable[Knob],
        *,
        study: str = "study",
        goal: Goal | None = None,
        importance: Iterable[tuple[str, float]] = (),
        curves: Mapping[tuple[int, int], Iterable[float]] | None = None,
        n_discarded: int = 0,
    ) -> Record:
        """From rows that read like those of `trials`.

        Args:
            rows: With the keys `trial attempt state point score who because took_secs`; all but the first
                three may be missing.
            knobs: The space's dimensions, in its order.
            study: The study's name.
            goal: The study's goal; None when nobody ever said one.
            importance: As `somatize.study.importance` answers it.
            curves: Reports by `(trial, attempt)`.
            n_discarded: Trials that are not among the rows because all their attempts were discarded.
        """
        attempts = [
            Row(
                trial=row["trial"],
                state=str(row["state"]),
                # A damaged record may have lost where the trial looked.
                point=dict(row["point"] or {}),
                score=row.get("score"),
                attempt=row.get("attempt") or 0,
                who=row.get("who"),
                because=row.get("because"),
                took_secs=row.get("took_secs"),
            )
            for row in rows
        ]
        attempts.sort(key=lambda row: (row.trial, row.attempt))
        said = {key: tuple(curve) for key, curve in (curves or {}).items()}
        return cls(study, goal, tuple(knobs), tuple(attempts), tuple(importance), said, n_discarded)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """One row a trial, by trial: its first finished attempt, which stands for ever, else its last."""
        counts: dict[int, Row] = {}
        for row in self.attempts:
            if not (row.trial in counts and counts[row.trial].is_finished):
                counts[row.trial] = row
        return tuple(counts.values())

    @cached_property
    def finished(self) -> tuple[Row, ...]:
        """Trials that ran to the end, best first; by trial number where no goal says what best is."""
        rows = [row for row in self.rows if row.is_finished]
        if self.goal is not None:
            sign = 1 if self.goal == "min" else -1
            rows.sort(key=lambda row: (sign * _score(row), row.trial))
        return tuple(rows)

    def of_state(self, state: str) -> tuple[Row, ...]:
        """Trials with that outcome, by trial."""
        return tuple(row for row in self.rows if row.outcome == state)

    @cached_property
    def ranks(self) -> dict[int, float]:
        """Trial to rank among the finished, 1 the best; equal scores share the mean. Empty without a goal."""
        if self.goal is None:
            return {}
        ranks: dict[int, float] = {}
        at = 0
        while at < len(self.finished):
            end = at
            while end < len(self.finished) and _score(self.finished[end]) == _score(self.finished[at]):
                end += 1
            ranks.update({row.trial: (at + 1 + end) / 2 for row in self.finished[at:end]})
            at = end
        return ranks

    def good(self, trial: int) -> float | None:
        """A finished trial's share from the worst rank (0) to the best (1); None without a goal."""
        rank = self.ranks.get(trial)
        if rank is None:
            return None
        n = len(self.finished)
        return 1.0 if n == 1 else 1 - (rank - 1) / (n - 1)

    @cached_property
    def best(self) -> Row | None:
        """The best finished trial, the first of equals; None without one or without a goal."""
        return self.finished[0] if self.goal is not None and self.finished else None

    @cached_property
    def noise(self) -> float | None:
        """The |rho| that knobs which do nothing stay under together, 19 times of 20.

        None below 4 finished trials. A rank correlation of n unrelated pairs is about normal with deviation
        1/sqrt(n-1) (Kendall and Gibbons, 1990, "Rank Correlation Methods", section 4.14); Sidak's correction
        allows for the number of knobs.
        """
        n, n_knobs = len(self.finished), len(self.knobs)
        if n < 4 or not n_knobs:
            return None
        each = NOISE ** (1 / n_knobs)
        return min(NormalDist().inv_cdf(0.5 + each / 2) / math.sqrt(n - 1), 1.0)

    @cached_property
    def deciding(self) -> tuple[str, ...]:
        """Knobs whose importance is above the noise, highest first, three at most."""
        noise = self.noise
        if noise is None:
            return ()
        return tuple(name for name, much in self.importance if much > noise)[:3]

    def knob(self, name: str) -> Knob | None:
        """The dimension of that name."""
        return next((knob for knob in self.knobs if knob.name == name), None)

    @cached_property
    def counted(self) -> str:
        """`14 of 30 finished, best 0.0225 at trial 17`, the part every title shares."""
        words = f"{len(self.finished):,} of {len(self.rows):,} finished"
        if self.best is not None:
            words += f", best {number(_score(self.best), 3)} at trial {self.best.trial}"
        return words

    @cached_property
    def rest(self) -> str:
        """The trials that are not finished, by state: `16 pruned, 1 running`; empty when there are none."""
        parts = ((state, len(self.of_state(state))) for state in UNRANKED)
        return ", ".join(f"{n:,} {state}" for state, n in parts if n)

    @property
    def empty(self) -> str:
        """What there is to say without a single trial."""
        return f"`{self.study}` has no trial to show: none was taken yet, or all were discarded."

    @property
    def heading(self) -> str:
        """The title of a figure of finished trials: the finding and the count, or that there are none."""
        if not self.finished:
            return f"{self.study}: nothing has finished"
        return f"{self.decision}; {self.counted}"

    @property
    def taken(self) -> str:
        """What there is where nothing has finished: "2 trials in `widths`: 1 pruned, 1 running."."""
        rest = f": {self.rest}" if self.rest else ""
        return f"{count(len(self.rows), 'trial')} in `{self.study}`{rest}."

    @cached_property
    def decision(self) -> str:
        """Which knob decides, in words, as far as the finished trials tell."""
        if self.noise is None or not self.importance:
            return "too early to say which knob decides"
        if not self.deciding:
            return "no knob stands out yet"
        return f"{spoken(list(self.deciding))} {'decides' if len(self.deciding) == 1 else 'decide'}"

    @cached_property
    def where(self) -> str:
        """Where the best quarter, twenty at most, lies on the deciding knobs; empty below 8 finished."""
        if len(self.finished) < 8 or self.goal is None:
            return ""
        good = self.finished[: min(len(self.finished) // 4, 20)]
        spans = [
            (name, _span(self.knob(name), [row.point[name] for row in good if name in row.point]))
            for name in self.deciding
        ]
        parts = [f"{name} {span}" for name, span in spans if span]
        return f"the best {len(good)} have {spoken(parts)}" if parts else ""


def _score(row: Row) -> float:
    """The score of a row that has one."""
    if row.score is None:
        raise AssertionError("only finished rows are ranked, and they have a score")
    return row.score


def _span(knob: Knob | None, values: list[Scalar]) -> str:
    """The values' two ends, or the option that three of five share; empty when there is nothing to say."""
    if knob is None or not values:
        return ""
    if knob.kind == "choice":
        # By type too: 1 and True are equal, and two options.
        (_, most), n = Counter((type(one), one) for one in values).most_common(1)[0]
        return f"{value(most)} ({n} of {len(values)})" if n >= 0.6 * len(values) else ""
    low, high = min(values, key=_float), max(values, key=_float)
    return _short(low) if low == high else f"{_short(low)} to {_short(high)}"


def _float(one: Scalar) -> float:
    return float(one) if isinstance(one, (int, float)) else 0.0


def _short(one: Scalar) -> str:
    return number(one, 3) if isinstance(one, float) else str(one)
