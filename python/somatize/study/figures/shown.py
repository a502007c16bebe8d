"""Which trials of a record a figure shows, and what a pointer over one is told."""

from __future__ import annotations

from somatize.figure.words import number, rounded, value
from somatize.study.figures.record import Knob, Record, Row

N_SHOWN = 400
"""Curves or marks of one kind drawn at most: beyond, the eye sees a smear and the browser stutters."""


N_TOLD = 24
"""Knobs a pointer over a trial is shown: more lines than that leave the figure.

With more, the first of the space: the table has them all.
"""


def shown(rows: tuple[Row, ...], at_most: int = N_SHOWN, *, ranked: bool = True) -> tuple[Row, ...]:
    """The finished rows that are drawn: all, or the first quarter of `at_most` and an even draw.

    The best stand first, so the good end stays whole and the rest keeps its spread over the ranks. Where
    nothing is ranked there is no good end, and the draw is even throughout.
    """
    if len(rows) <= at_most:
        return rows
    whole = at_most // 4 if ranked else 0
    return (*rows[:whole], *even(rows[whole:], at_most - whole))


def even(rows: tuple[Row, ...], at_most: int = N_SHOWN) -> tuple[Row, ...]:
    """The rows that are drawn where no rank orders them: all, or an even draw that keeps both ends."""
    if len(rows) <= at_most:
        return rows
    return tuple(rows[round(i * (len(rows) - 1) / (at_most - 1))] for i in range(at_most))


def of_all(n_drawn: int, n: int, what: str) -> str:
    """`400 of 3,000 pruned drawn`; empty where all are."""
    return f"{n_drawn:,} of {n:,} {what} drawn" if n_drawn < n else ""


def told(record: Record, row: Row) -> list[tuple[str, str]]:
    """Everything about a trial, as pairs of a name and its words: what a pointer over it is shown."""
    rank = record.ranks.get(row.trial)
    n = len(record.finished)
    state = row.state if rank is None else f"rank {number(rank)} of {n:,}"
    facts = [(f"trial {row.trial}", state)]
    if row.score is not None:
        comparable = "" if row.is_finished else ", not comparable with a finished one"
        facts.append(("score", number(row.score, 6) + comparable))
    if row.because:
        facts.append(("because", rounded(row.because)))
    if row.attempt:
        facts.append(("attempt", str(row.attempt)))
    for knob in record.knobs[:N_TOLD]:
        facts.append((knob.name, value(row.point[knob.name]) if knob.name in row.point else absent(knob)))
    if len(record.knobs) > N_TOLD:
        facts.append(("and", f"{len(record.knobs) - N_TOLD:,} more knobs, as the table has them"))
    return facts


def absent(knob: Knob) -> str:
    """Why a point has no value for the knob."""
    return f"absent, {knob.condition}" if knob.condition else "absent"
