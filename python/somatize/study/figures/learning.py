"""Every curve as it was reported; pruned ones end where they were cut, and say why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from somatize.figure.words import count, hover, line
from somatize.study.figures.ranks import ROOM_PX, rank_bar, rank_pens, rank_ticks, rank_words
from somatize.study.figures.record import UNRANKED, Record, Row
from somatize.study.figures.scores import ScoreAxis, score_axis
from somatize.study.figures.shown import even, of_all, shown, told

if TYPE_CHECKING:
    from somatize import Store
    from somatize.figure.drawing import Figure
    from somatize.study import Space

HEIGHT_PX = 400

N_CURVES, N_OTHERS = 240, 120
"""Curves drawn at most, of finished trials and of the others: they lie closer together than elsewhere."""


@dataclass(frozen=True)
class Learnt:
    """The curve of one trial."""

    trial: int
    state: str
    values: tuple[float, ...]
    good: float | None
    """Share from the worst rank to the best; None for one that is not ranked."""
    told: list[tuple[str, str]]


@dataclass(frozen=True)
class Learning:
    """The numbers of the figure."""

    title: str
    subtitle: str
    axis: ScoreAxis
    curves: tuple[Learnt, ...]
    """Of finished trials, best first."""
    others: tuple[Learnt, ...]
    """Of pruned, failed and running ones, by trial."""
    scores: tuple[tuple[float, str], ...]
    """Ticks of the colour bar: share from the worst to the best, and score."""
    good: str
    """Which end of the score is good, in words."""
    longest: int
    """The most reports of one trial."""
    nothing: str


def learning(store: Store, space: Space | None = None, *, study: str, theme: str = "auto") -> Figure:
    """Draw what every trial reported, in order.

    Finished trials are coloured by rank. A pruned one is grey and ends with a cross where it was cut; the
    pointer shows why. A running one ends open. This is the one figure that reads the curves.

    Args:
        store: Holds the study; read only.
        space: What parses the points; None takes the study's own.
        study: The study's name.
        theme: `light`, `dark` or `auto`.

    Returns:
        The figure; with no report at all, one that says so.

    Raises:
        StudyError: There is no such study; a close name is named.
        ValueError: The theme has no such name.
    """
    from somatize.study.figures.read import read

    return _draw(_learning_data(read(store, space, study=study, importance=False, curves=True)), theme)


def _learning_data(record: Record) -> Learning:
    """What is drawn: reports in the order they were made."""
    finished = tuple(row for row in record.finished if _values(record, row))
    others = tuple(row for row in record.rows if row.outcome in UNRANKED and _values(record, row))
    drawn = shown(finished, N_CURVES, ranked=record.goal is not None)
    apart = even(others, N_OTHERS)
    values = [one for row in (*finished, *others) for one in _values(record, row)]
    n_odd = sum(not math.isfinite(one) for one in values)
    axis = score_axis(values, record.goal)
    cut = [len(_values(record, row)) for row in others if row.state == "pruned"]
    unknown = "not coloured: nobody said whether a low or a high score is good"
    return Learning(
        title=record.counted if values else f"{record.study}: nothing was reported",
        subtitle=line(
            f"{len(cut):,} pruned at {_reports(cut)}, where their grey curves end" if cut else "",
            of_all(len(drawn), len(finished), "finished curves"),
            of_all(len(apart), len(others), "other curves"),
            f"{count(axis.n_beyond, 'report')} beyond the edge" if axis.n_beyond else "",
            f"{count(n_odd, 'report')} not a finite number, left out as a gap" if n_odd else "",
            unknown if record.goal is None and finished else "",
        ),
        axis=axis,
        curves=tuple(_learnt(record, row) for row in drawn),
        others=tuple(_learnt(record, row) for row in apart),
        scores=rank_ticks(record),
        good=rank_words(record),
        longest=max((len(_values(record, row)) for row in (*finished, *others)), default=0),
        nothing=""
        if values
        else f"{count(len(record.rows), 'trial')} in `{record.study}`, and no report of any.",
    )


def _reports(at: list[int]) -> str:
    return f"report {min(at)}" if min(at) == max(at) else f"reports {min(at)} to {max(at)}"


def _values(record: Record, row: Row) -> tuple[float, ...]:
    return record.curves.get((row.trial, row.attempt), ())


def _learnt(record: Record, row: Row) -> Learnt:
    values = _values(record, row)
    return Learnt(row.trial, row.outcome, values, record.good(row.trial), told(record, row))


def _draw(data: Learning, theme: str) -> Figure:
    """A trace a curve; where it ends without finishing, a mark says how."""
    from somatize.figure import drawing
    from somatize.figure.theme import theme_of

    if data.nothing:
        return drawing.statement(theme, title=data.title, words=data.nothing)
    look = theme_of(theme)
    few = 0.8 if len(data.others) <= 60 else 0.4
    traces = [_trace(data, one, look.state(one.state), 1.2, few) for one in data.others]
    pens = rank_pens([one.good for one in data.curves], look)
    traces += [_trace(data, one, *pen) for one, pen in reversed(list(zip(data.curves, pens, strict=True)))]
    for state, symbol in (("pruned", "x-thin-open"), ("failed", "x-open"), ("running", "circle-open")):
        ends = [(one, last) for one in data.others if one.state == state for last in [_last(one)] if last]
        if ends:
            marker = {
                "symbol": symbol,
                "size": 8,
                "color": look.state(state),
                "line": {"width": 1.6, "color": look.state(state)},
            }
            places = [data.axis.within(value) for _, (_, value) in ends]
            said = [hover(one.told) for one, _ in ends]
            traces.append(drawing.marks(f"{state} here", [at for _, (at, _) in ends], places, said, marker))
    notes: list[dict[str, Any]] = []
    if data.scores and data.curves:
        bar, notes = rank_bar(
            data.scores, data.good, look, 10, x=1, xref="paper", xanchor="left", xshift=10, align="left"
        )
        traces.append(bar)
    return drawing.figure(
        traces,
        theme,
        title=data.title,
        subtitle=data.subtitle,
        height=HEIGHT_PX + 54,
        margin=(84, ROOM_PX if notes else 48, 54),
        gap=42 if notes else 20,
        annotations=notes,
        xaxis=drawing.axis(
            look,
            range=[1 - 0.02 * data.longest, data.longest + 0.02 * data.longest],
            title="report",
            title_gap=8,
            showgrid=False,
            tickformat=",d",
            nticks=12,
            **({"dtick": 1} if data.longest <= 12 else {}),
        ),
        yaxis=data.axis.drawn(look, "reported"),
    )


def _last(one: Learnt) -> tuple[int, float] | None:
    """The last report that is a number, counted from 1."""
    known = [(i + 1, value) for i, value in enumerate(one.values) if math.isfinite(value)]
    return known[-1] if known else None


def _trace(data: Learning, one: Learnt, colour: str, width: float, opacity: float) -> dict[str, Any]:
    known = [math.isfinite(value) for value in (math.nan, *one.values, math.nan)]
    # A line shows no report that stands alone between gaps: those get a mark.
    alone = [
        here and not (before or after)
        for before, here, after in zip(known, known[1:], known[2:], strict=False)
    ]
    return {
        "type": "scatter",
        "name": f"trial {one.trial}",
        "mode": "lines+markers" if any(alone) else "lines",
        "x0": 1,
        "dx": 1,
        "y": [round(data.axis.at(value), 4) if math.isfinite(value) else None for value in one.values],
        "line": {
            "color": colour,
            "width": width,
            "dash": "dash" if one.state == "running" else "solid",
            "simplify": False,
        },
        "marker": {"color": colour, "size": [5 if one else 0 for one in alone] if any(alone) else 5},
        "opacity": opacity,
        "hoverinfo": "text",
        "text": hover(one.told),
        "hoverlabel": {"bordercolor": colour},
    }
