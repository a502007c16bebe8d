"""Scores by trial, and the best so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from somatize.figure.words import hover, line, number
from somatize.study.figures.record import UNRANKED, Record, Row
from somatize.study.figures.scores import ScoreAxis, score_axis
from somatize.study.figures.shown import even, of_all, shown, told

if TYPE_CHECKING:
    from somatize import Store
    from somatize.figure.drawing import Figure
    from somatize.study import Space

N_MARKS = 1500
"""Finished trials drawn at most."""

HEIGHT_PX, LANE_PX = 330, 24
SYMBOLS = {"pruned": "line-ns-open", "failed": "x-thin-open", "running": "circle-open"}


@dataclass(frozen=True)
class Mark:
    """A trial: its number, its score if it is ranked, and what a pointer over it is shown."""

    trial: int
    score: float | None
    told: list[tuple[str, str]]


@dataclass(frozen=True)
class History:
    """The numbers of the figure."""

    title: str
    subtitle: str
    axis: ScoreAxis
    finished: tuple[Mark, ...]
    """By trial."""
    best: tuple[tuple[int, float], ...]
    """Trial and score wherever the best so far changed, by trial. Empty without a goal."""
    lanes: tuple[tuple[str, tuple[Mark, ...]], ...]
    """The trials of every other state that occurs, apart from the scores."""
    last: int
    """The highest trial number."""
    nothing: str


def history(store: Store, space: Space | None = None, *, study: str, theme: str = "auto") -> Figure:
    """Draw the score of every finished trial by trial number, and the best so far.

    Pruned, failed and running trials stand in lanes of their own below: their scores, where they have one,
    are not comparable. Far outliers at the bad end are marked at the edge rather than stretching the axis.

    Args:
        store: Holds the study; read only.
        space: What parses the points; None takes the study's own.
        study: The study's name.
        theme: `light`, `dark` or `auto`.

    Returns:
        The figure; with nothing finished, one that says so.

    Raises:
        StudyError: There is no such study; a close name is named.
        ValueError: The theme has no such name.
    """
    from somatize.study.figures.read import read

    return _draw(_history_data(read(store, space, study=study, importance=False)), theme)


def _history_data(record: Record) -> History:
    """What is drawn."""
    by_trial = [row for row in record.rows if row.is_finished]
    axis = score_axis([row.score for row in by_trial if row.score is not None], record.goal)
    best: list[tuple[int, float]] = []
    for row in by_trial if record.goal else ():
        if row.score is not None and (
            not best or (row.score < best[-1][1] if record.goal == "min" else row.score > best[-1][1])
        ):
            best.append((row.trial, row.score))
    drawn = {row.trial for row in shown(record.finished, N_MARKS, ranked=record.goal is not None)}
    lanes = {state: record.of_state(state) for state in UNRANKED}
    unknown = "no best: nobody said whether a low or a high score is good"
    return History(
        title=record.counted if by_trial else record.heading,
        subtitle=line(
            f"the best so far changed last at trial {best[-1][0]}" if best else "",
            axis.outliers,
            of_all(len(drawn), len(by_trial), "finished"),
            *(of_all(len(even(rows)), len(rows), state) for state, rows in lanes.items()),
            unknown if record.goal is None and by_trial else "",
        ),
        axis=axis,
        finished=tuple(_mark(record, row) for row in by_trial if row.trial in drawn),
        best=tuple(best),
        lanes=tuple(
            (state, tuple(_mark(record, row) for row in even(rows))) for state, rows in lanes.items() if rows
        ),
        last=max((row.trial for row in record.rows), default=0),
        nothing="" if by_trial else record.taken,
    )


def _mark(record: Record, row: Row) -> Mark:
    return Mark(row.trial, row.score if row.is_finished else None, told(record, row))


def _draw(data: History, theme: str) -> Figure:
    """Scores above, a lane a state below, one axis of trial numbers."""
    from somatize.figure import drawing
    from somatize.figure.theme import theme_of

    if data.nothing:
        return drawing.statement(theme, title=data.title, words=data.nothing)
    look = theme_of(theme)
    lanes_px = LANE_PX * len(data.lanes)
    height = HEIGHT_PX + lanes_px
    floor = (lanes_px + 14) / height if data.lanes else 0
    n = len(data.finished)
    scores = [mark.score for mark in data.finished if mark.score is not None]
    traces = [
        drawing.marks(
            "finished",
            [mark.trial for mark in data.finished],
            [data.axis.within(score) for score in scores],
            [hover(mark.told) for mark in data.finished],
            {
                "color": look.accent,
                "size": 9 if n <= 100 else 6 if n <= 600 else 4,
                "opacity": 0.85 if n <= 100 else 0.5,
                "symbol": [data.axis.symbol(score) for score in scores],
                "line": {"width": 0},
            },
        )
    ]
    notes = []
    if data.best:
        steps = [*data.best, (data.last, data.best[-1][1])]
        traces.append(
            {
                "type": "scatter",
                "name": "best so far",
                "mode": "lines",
                "x": [trial for trial, _ in steps],
                "y": [data.axis.within(score) for _, score in steps],
                "line": {"color": look.best, "width": 2.4, "shape": "hv"},
                "cliponaxis": False,
                "hoverinfo": "text",
                "text": [f"best so far <b>{number(score)}</b>, trial {trial}" for trial, score in data.best]
                + [f"best so far <b>{number(data.best[-1][1])}</b>"],
            }
        )
        notes.append(
            drawing.label(
                f"<b>{number(data.best[-1][1], 3)}</b>",
                look,
                size=12,
                colour=look.best,
                x=1,
                xref="paper",
                xanchor="left",
                xshift=8,
                y=data.axis.within(data.best[-1][1]),
                yref="y",
                yanchor="middle",
            )
        )
    for i, (state, lane) in enumerate(data.lanes):
        marker = {
            "symbol": SYMBOLS[state],
            "size": 11 if state == "pruned" else 8,
            "color": look.state(state),
            "opacity": 1 if len(lane) <= 200 else 0.5,
            "line": {"width": 1.6, "color": look.state(state)},
        }
        said = [hover(mark.told) for mark in lane]
        trials: list[float] = [mark.trial for mark in lane]
        traces.append(drawing.marks(state, trials, [i] * len(lane), said, marker, yaxis="y2"))
    layout: dict[str, Any] = {}
    if data.lanes:
        layout["yaxis2"] = drawing.axis(
            look,
            domain=[0, floor - 14 / height],
            range=[len(data.lanes) - 0.5, -0.5],
            tickvals=list(range(len(data.lanes))),
            ticktext=[state for state, _ in data.lanes],
            ticks="",
            showline=False,
            showgrid=False,
            fixedrange=True,
            anchor="x",
        )
    pad = max(data.last * 0.012, 0.5)
    return drawing.figure(
        traces,
        theme,
        title=data.title,
        subtitle=data.subtitle,
        height=height + 54,
        margin=(84, 84, 54),
        annotations=notes,
        xaxis=drawing.axis(
            look,
            range=[-pad, data.last + pad],
            title="trial",
            title_gap=8,
            showgrid=False,
            anchor="y2" if data.lanes else "y",
            tickformat=",d",
            nticks=10,
            **({"dtick": 1} if data.last < 12 else {}),
        ),
        yaxis=data.axis.drawn(look, "score", domain=[floor, 1]),
        **layout,
    )
