"""The score against one knob at a time: one panel a knob."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from somatize.figure.words import fit, hover, line, safe, width_px
from somatize.study.figures.axis import Axis, axis_of
from somatize.study.figures.record import Record, Row
from somatize.study.figures.scores import ScoreAxis, score_axis
from somatize.study.figures.shown import even, of_all, shown, told

if TYPE_CHECKING:
    from somatize import Store
    from somatize.figure.drawing import Figure
    from somatize.figure.theme import Theme
    from somatize.study import Space

HEIGHT_PX, NAME_PX = 190, 46
"""A panel's height, and that of the name above the next one."""

N_LINES = 3
"""Lines of an option's label."""

N_MARKS = 5_000
"""Marks of all panels together."""

GOLDEN = 0.6180339887498949
"""Its multiples fill an interval evenly in any order: how the marks of one option are told apart."""


@dataclass(frozen=True)
class Panel:
    """The trials that have one knob."""

    axis: Axis
    importance: float | None
    marks: tuple[tuple[Row, float], ...]
    """Finished trials, best first, and their places on the knob's axis."""
    pruned: tuple[tuple[Row, float], ...]
    """The trial and its place on the knob's axis; without a score, which would not be comparable."""
    n_absent: int


@dataclass(frozen=True)
class Slices:
    """The numbers of the figure."""

    title: str
    subtitle: str
    axis: ScoreAxis
    panels: tuple[Panel, ...]
    best: int | None
    """The best trial."""
    told: dict[int, list[tuple[str, str]]]
    """What a pointer over each trial is shown."""
    nothing: str


def slices(store: Store, space: Space | None = None, *, study: str, theme: str = "auto") -> Figure:
    """Draw the score of finished trials against each knob, one panel a knob, one score axis for all.

    Pruned trials are strokes below the panel, where they were tried and without a score. The best trial is
    ringed in every panel. Far outliers at the bad end are marked at the edge.

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

    return _draw(_slices_data(read(store, space, study=study)), theme)


def _slices_data(record: Record) -> Slices:
    """What is drawn."""
    n = len(record.finished)
    at_most = max(N_MARKS // max(len(record.knobs), 1), 100)
    drawn = shown(record.finished, at_most, ranked=record.goal is not None)
    pruned = even(record.of_state("pruned"), at_most // 4)
    axis = score_axis([row.score for row in record.finished if row.score is not None], record.goal)
    known = dict(record.importance)
    panels = []
    for knob in record.knobs:
        tried = [row.point[knob.name] for row in (*record.finished, *pruned) if knob.name in row.point]
        knob_axis = axis_of(knob, tried)
        panels.append(
            Panel(
                axis=knob_axis,
                importance=known.get(knob.name) if n >= 3 else None,
                marks=_placed(knob_axis, drawn),
                pruned=_placed(knob_axis, pruned),
                n_absent=sum(knob.name not in row.point for row in record.finished),
            )
        )
    n_pruned = len(record.of_state("pruned"))
    return Slices(
        title=record.heading,
        subtitle=line(
            record.where,
            f"strokes below: {n_pruned:,} pruned, without a score" if pruned else "",
            axis.outliers,
            of_all(len(drawn), n, "finished"),
            of_all(len(pruned), n_pruned, "pruned"),
        ),
        axis=axis,
        panels=tuple(panels),
        best=record.best.trial if record.best else None,
        told={row.trial: told(record, row) for row in (*drawn, *pruned)},
        nothing="" if n and panels else record.taken,
    )


def _placed(axis: Axis, rows: tuple[Row, ...]) -> tuple[tuple[Row, float], ...]:
    """Rows that have the knob, and where; the marks of one option are spread over its band."""
    placed = []
    for row in rows:
        at = axis.at(row.point[axis.name]) if axis.name in row.point else None
        if at is not None:
            placed.append((row, at + (row.trial * GOLDEN % 1 - 0.5) * axis.band * 0.7))
    return tuple(placed)


def _draw(data: Slices, theme: str) -> Figure:
    """A grid of panels, four a row at most."""
    from somatize.figure import drawing
    from somatize.figure.theme import theme_of

    if data.nothing:
        return drawing.statement(theme, title=data.title, words=data.nothing)
    look = theme_of(theme)
    n = len(data.panels)
    n_columns = n if n <= 4 else 3 if n in (5, 6, 9) else 4
    n_rows = -(-n // n_columns)
    left, right, between = 76, 28, 40
    wide = (drawing.WIDTH_PX - left - right - between * (n_columns - 1)) / n_columns
    words = [_tick_words(panel.axis, wide) for panel in data.panels]
    below = 16 + 15 * max(one.count("<br>") + 1 for labels in words for _, one in labels)
    between_rows = below + NAME_PX
    plot_w = drawing.WIDTH_PX - left - right
    plot_h = n_rows * HEIGHT_PX + (n_rows - 1) * between_rows
    hovers = {trial: hover(facts) for trial, facts in data.told.items()}
    traces: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    for i, panel in enumerate(data.panels):
        row, column = divmod(i, n_columns)
        x0 = column * (wide + between) / plot_w
        y1 = 1 - row * (HEIGHT_PX + between_rows) / plot_h
        suffix = "" if i == 0 else str(i + 1)
        traces += _traces(data, panel, hovers, look, suffix)
        notes.append(_title(panel, look, x0, y1, wide))
        layout[f"xaxis{suffix}"] = drawing.axis(
            look,
            domain=[x0, min(x0 + wide / plot_w, 1.0)],
            anchor=f"y{suffix}",
            range=[-0.03, 1.03],
            tickvals=[at for at, _ in words[i]],
            ticktext=[text for _, text in words[i]],
            tickangle=0,
            showgrid=False,
            fixedrange=True,
        )
        layout[f"yaxis{suffix}"] = data.axis.drawn(
            look,
            "score" if column == 0 else "",
            domain=[max(y1 - HEIGHT_PX / plot_h, 0.0), y1],
            anchor=f"x{suffix}",
            range=[-0.14, 1.04],
            showticklabels=column == 0,
            ticks="outside" if column == 0 else "",
        )
    return drawing.figure(
        traces,
        theme,
        title=data.title,
        subtitle=data.subtitle,
        height=plot_h + below + 14,
        margin=(left, right, below + 14),
        gap=58,
        annotations=notes,
        **layout,
    )


def _tick_words(axis: Axis, wide: float) -> list[tuple[float, str]]:
    """A knob's ticks under its panel: of a number both ends and one between, of a choice every option."""
    ticks = axis.ticks
    if axis.kind != "choice":
        keep = {0, len(ticks) - 1}
        # An axis without a centre tick near the middle reads better with its two ends alone.
        if 0.25 < ticks[len(ticks) // 2][0] < 0.75:
            keep.add(len(ticks) // 2)
        # A whole number of 16 digits stands in two lines: it would reach into the next panel.
        return [(ticks[i][0], _broken(ticks[i][1], 56)) for i in sorted(keep)]
    # Below the widest of the labels or a few letters of it, every n-th option has one.
    least = min(max(width_px(text, 11) for _, text in ticks), 22) + 8
    ticks = axis.labelled(int(wide / least))
    room = wide / len(ticks) - 8
    words = [text for _, text in ticks]
    if any(len(fit(text, room, 11, 9)) > N_LINES for text in words):
        # What they share says nothing: the rest tells them apart.
        alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*words, strict=False))
        shared = re.sub(r"[^\W_]*$", "", "".join(letters[0] for letters in alike))
        words = [f"…{text[len(shared) :]}" if shared else text for text in words]
    return [(at, _broken(text, room)) for (at, _), text in zip(ticks, words, strict=True)]


def _broken(text: str, room_px: float) -> str:
    return "<br>".join(safe(line) for line in fit(text, room_px, 11, N_LINES))


def _title(panel: Panel, look: Theme, x0: float, y1: float, wide: float) -> dict[str, Any]:
    from somatize.figure import drawing

    parts = []
    if panel.importance is not None:
        parts.append(f"|ρ| {panel.importance:.2f}")
    if panel.axis.kind == "log":
        parts.append("log")
    if panel.n_absent:
        parts.append(f"absent in {panel.n_absent:,}")
    note = " · ".join(parts)
    name = safe(fit(panel.axis.name, wide - 4, 13)[0])
    return drawing.label(
        f'<b>{name}</b><br><span style="font-size:11px;color:{look.muted}">{note or " "}</span>',
        look,
        x=x0,
        xref="paper",
        xanchor="left",
        y=y1,
        yref="paper",
        yanchor="bottom",
        yshift=2,
        align="left",
        hovertext=safe(panel.axis.name),
    )


def _traces(
    data: Slices, panel: Panel, hovers: dict[int, str], look: Theme, suffix: str
) -> list[dict[str, Any]]:
    """Pruned strokes, finished marks, and the best on top."""
    from somatize.figure import drawing

    def trace(name: str, placed: list[tuple[Row, float]], marker: dict[str, Any]) -> dict[str, Any]:
        return drawing.marks(
            f"{panel.axis.name}{name}",
            [round(at, 4) for _, at in placed],
            [_height(data.axis, row) for row, _ in placed],
            [hovers[row.trial] for row, _ in placed],
            marker,
            xaxis=f"x{suffix}",
            yaxis=f"y{suffix}",
        )

    traces = []
    if panel.pruned:
        stroke = {
            "symbol": "line-ns-open",
            "size": 9,
            "color": look.pruned,
            "opacity": 0.9 if len(panel.pruned) <= 60 else 0.45,
            "line": {"width": 1.2, "color": look.pruned},
        }
        traces.append(trace(" pruned", list(panel.pruned), stroke))
    n = len(panel.marks)
    marks = list(reversed(panel.marks))
    mark = {
        "color": look.accent,
        "size": 8 if n <= 60 else 5.5 if n <= 400 else 4,
        "opacity": 0.75 if n <= 60 else 0.5 if n <= 400 else 0.35,
        "symbol": [data.axis.symbol(row.score) for row, _ in marks if row.score is not None],
        "line": {"width": 0},
    }
    traces.append(trace("", marks, mark))
    best = [(row, at) for row, at in marks if row.trial == data.best]
    if best:
        ring = {"size": 10, "color": look.best, "line": {"width": 2, "color": look.paper}}
        traces.append(trace(" best", best, ring))
    return traces


def _height(axis: ScoreAxis, row: Row) -> float:
    """Where a finished trial's score lies, and below the scores for a trial that has none to compare."""
    return round(axis.within(row.score), 4) if row.is_finished and row.score is not None else -0.08
