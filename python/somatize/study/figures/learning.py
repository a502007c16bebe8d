"""Every curve as it was reported; pruned ones end where they were cut, and say why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from somatize.figure.words import count, hover
from somatize.study.figures.axis import ScoreAxis, score_axis
from somatize.study.figures.ranks import ROOM_PX, rank_bar, rank_ticks, rank_words
from somatize.study.figures.record import Record, Row, even, shown, told

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
    others = tuple(
        row
        for state in ("pruned", "failed", "running")
        for row in record.of_state(state)
        if _values(record, row)
    )
    drawn, apart = shown(finished, N_CURVES), even(tuple(sorted(others, key=lambda row: row.trial)), N_OTHERS)
    values = [one for row in (*finished, *others) for one in _values(record, row)]
    cut = [len(_values(record, row)) for row in others if row.state == "pruned"]
    axis = score_axis(values, record.goal)
    said = []
    if cut:
        spread = f"at report {min(cut)}" if min(cut) == max(cut) else f"at reports {min(cut)} to {max(cut)}"
        said.append(f"{len(cut):,} pruned {spread}, where their grey curves end")
    if len(drawn) < len(finished):
        said.append(f"{len(drawn):,} of {len(finished):,} finished curves drawn")
    if axis.n_beyond:
        said.append(f"{count(axis.n_beyond, 'report')} beyond the edge")
    if record.goal is None and finished:
        said.append("not coloured: nobody said whether a low or a high score is good")
    return Learning(
        title=record.counted if values else f"{record.study}: nothing was reported",
        subtitle=" · ".join(said),
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


def _values(record: Record, row: Row) -> tuple[float, ...]:
    return record.curves.get((row.trial, row.attempt), ())


def _learnt(record: Record, row: Row) -> Learnt:
    state = "done" if row.is_finished else "failed" if row.state == "done" else row.state
    return Learnt(row.trial, state, _values(record, row), record.good(row.trial), told(record, row))


def _draw(data: Learning, theme: str) -> Figure:
    """A trace a curve; where it ends without finishing, a mark says how."""
    from somatize.figure import drawing
    from somatize.figure.theme import theme_of

    if data.nothing:
        return drawing.statement(theme, title=data.title, words=data.nothing)
    look = theme_of(theme)
    n = len(data.curves)
    thick = 2 if n <= 40 else 1.4 if n <= 150 else 1
    few = 0.8 if len(data.others) <= 60 else 0.4
    traces = [_trace(data, one, look.state(one.state), 1.2, few) for one in data.others]
    for i, one in reversed(list(enumerate(data.curves))):
        if one.good is None:
            traces.append(_trace(data, one, look.muted, thick, 0.6))
        elif i == 0:
            traces.append(_trace(data, one, look.best, thick + 1, 1))
        else:
            fade = 0.9 if n <= 40 else 0.2 + 0.5 * one.good**2
            traces.append(_trace(data, one, look.shade(one.good), thick, fade))
    for state, symbol in (("pruned", "x-thin-open"), ("failed", "x-open"), ("running", "circle-open")):
        ends = [(one, last) for one in data.others if one.state == state for last in [_last(one)] if last]
        if ends:
            traces.append(
                {
                    "type": "scatter",
                    "name": f"{state} here",
                    "mode": "markers",
                    "x": [at for _, (at, _) in ends],
                    "y": [data.axis.within(value) for _, (_, value) in ends],
                    "marker": {
                        "symbol": symbol,
                        "size": 8,
                        "color": look.state(state),
                        "line": {"width": 1.6, "color": look.state(state)},
                    },
                    "cliponaxis": False,
                    "hoverinfo": "text",
                    "text": [hover(one.told) for one, _ in ends],
                }
            )
    notes = []
    if data.scores and data.curves:
        traces.append(rank_bar(data.scores, look, offset=10))
        where: dict[str, Any] = {
            "x": 1,
            "xref": "paper",
            "xanchor": "left",
            "xshift": 10,
            "yref": "paper",
            "align": "left",
        }
        notes = [
            drawing.label("<b>score</b>", look, y=1, yanchor="bottom", yshift=10, **where),
            drawing.label(
                data.good, look, size=11, colour=look.muted, y=0, yanchor="top", yshift=-8, **where
            ),
        ]
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
            title={"text": "report", "font": {"size": 12, "color": look.muted}, "standoff": 8},
            showgrid=False,
            tickformat=",d",
            nticks=12,
            **({"dtick": 1} if data.longest <= 12 else {}),
        ),
        yaxis=drawing.axis(
            look,
            range=[-0.02, 1.02],
            tickvals=[at for at, _ in data.axis.ticks],
            ticktext=[text for _, text in data.axis.ticks],
            title={
                "text": "reported, log" if data.axis.log else "reported",
                "font": {"size": 12, "color": look.muted},
            },
            fixedrange=True,
        ),
    )


def _last(one: Learnt) -> tuple[int, float] | None:
    """The last report that is a number, counted from 1."""
    known = [(i + 1, value) for i, value in enumerate(one.values) if math.isfinite(value)]
    return known[-1] if known else None


def _trace(data: Learning, one: Learnt, colour: str, width: float, opacity: float) -> dict[str, Any]:
    alone = len(one.values) == 1
    return {
        "type": "scatter",
        "name": f"trial {one.trial}",
        "mode": "markers" if alone else "lines",
        "x0": 1,
        "dx": 1,
        "y": [round(data.axis.at(value), 4) if math.isfinite(value) else None for value in one.values],
        "line": {
            "color": colour,
            "width": width,
            "dash": "dash" if one.state == "running" else "solid",
            "simplify": False,
        },
        "marker": {"color": colour, "size": 5},
        "opacity": opacity,
        "hoverinfo": "text",
        "text": hover(one.told),
        "hoverlabel": {"bordercolor": colour},
    }
