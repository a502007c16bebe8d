"""The score against one knob at a time: one panel a knob."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from somatize.figure.words import count, fit, hover, safe
from somatize.study.figures.axis import Axis, ScoreAxis, axis_of, score_axis
from somatize.study.figures.record import Record, Row, even, shown, told

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
    marks: tuple[tuple[Row, float, float], ...]
    """Finished trials, best first: the trial, its place on the knob's axis and on the score's."""
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
    drawn, pruned = shown(record.finished, at_most), even(record.of_state("pruned"), at_most // 4)
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
                marks=tuple(
                    (row, at, axis.at(row.score))
                    for row, at in _placed(knob_axis, drawn)
                    if row.score is not None
                ),
                pruned=tuple(_placed(knob_axis, pruned)),
                n_absent=sum(knob.name not in row.point for row in record.finished),
            )
        )
    said = [record.where]
    if pruned:
        said.append(f"strokes below: {len(record.of_state('pruned')):,} pruned, without a score")
    if axis.n_beyond:
        said.append(f"{count(axis.n_beyond, 'outlier')} marked at the edge")
    if len(drawn) < n:
        said.append(f"{len(drawn):,} of {n:,} drawn")
    rest = f": {record.rest}" if record.rest else ""
    return Slices(
        title=f"{record.decision}; {record.counted}" if n else f"{record.study}: nothing has finished",
        subtitle=" · ".join(part for part in said if part),
        axis=axis,
        panels=tuple(panels),
        best=record.best.trial if record.best else None,
        told={row.trial: told(record, row) for row in (*drawn, *pruned)},
        nothing="" if n and panels else f"{count(len(record.rows), 'trial')} in `{record.study}`{rest}.",
    )


def _placed(axis: Axis, rows: tuple[Row, ...]) -> list[tuple[Row, float]]:
    """Rows that have the knob, and where; the marks of one option are spread over its band."""
    placed = []
    for row in rows:
        at = axis.at(row.point[axis.name]) if axis.name in row.point else None
        if at is not None:
            placed.append((row, at + (row.trial * GOLDEN % 1 - 0.5) * axis.band * 0.7))
    return placed


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
    left, right, between = 76, 28, 24
    wide = (drawing.WIDTH_PX - left - right - between * (n_columns - 1)) / n_columns
    words = [_tick_words(panel.axis, wide) for panel in data.panels]
    below = 16 + 15 * max(one.count("<br>") + 1 for labels in words for one in labels)
    between_rows = below + NAME_PX
    plot_w = drawing.WIDTH_PX - left - right
    plot_h = n_rows * HEIGHT_PX + (n_rows - 1) * between_rows
    traces: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    layout: dict[str, Any] = {}
    for i, panel in enumerate(data.panels):
        row, column = divmod(i, n_columns)
        x0 = column * (wide + between) / plot_w
        y1 = 1 - row * (HEIGHT_PX + between_rows) / plot_h
        suffix = "" if i == 0 else str(i + 1)
        traces += _traces(data, panel, look, suffix)
        notes.append(_title(panel, look, x0, y1, wide))
        layout[f"xaxis{suffix}"] = drawing.axis(
            look,
            domain=[x0, min(x0 + wide / plot_w, 1.0)],
            anchor=f"y{suffix}",
            range=[-0.03, 1.03],
            tickvals=[at for at, _ in panel.axis.ticks],
            ticktext=words[i],
            tickangle=0,
            showgrid=False,
            fixedrange=True,
        )
        layout[f"yaxis{suffix}"] = drawing.axis(
            look,
            domain=[max(y1 - HEIGHT_PX / plot_h, 0.0), y1],
            anchor=f"x{suffix}",
            range=[-0.14, 1.04],
            tickvals=[at for at, _ in data.axis.ticks],
            ticktext=[text for _, text in data.axis.ticks],
            showticklabels=column == 0,
            ticks="outside" if column == 0 else "",
            title={
                "text": ("score, log" if data.axis.log else "score") if column == 0 else "",
                "font": {"size": 12, "color": look.muted},
            },
            fixedrange=True,
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


def _tick_words(axis: Axis, wide: float) -> list[str]:
    """A knob's ticks under its panel: of a number both ends and one between, of a choice every option."""
    if axis.kind != "choice":
        keep = {0, len(axis.ticks) - 1, len(axis.ticks) // 2}
        # An axis without a centre tick near the middle reads better with its two ends alone.
        return [
            safe(text) if i in keep and (i in (0, len(axis.ticks) - 1) or 0.25 < at < 0.75) else ""
            for i, (at, text) in enumerate(axis.ticks)
        ]
    room = wide / len(axis.ticks) - 8
    words = [text for _, text in axis.ticks]
    if any(len(fit(text, room, 11, 9)) > N_LINES for text in words):
        # What they share says nothing: the rest tells them apart.
        shared = re.sub(r"[^\W_]*$", "", _shared(words))
        words = [f"…{text[len(shared) :]}" if shared else text for text in words]
    return ["<br>".join(safe(line) for line in fit(text, room, 11, N_LINES)) for text in words]


def _shared(words: list[str]) -> str:
    """What all of them begin with."""
    first, last = min(words), max(words)
    n = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:n]


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


def _traces(data: Slices, panel: Panel, look: Theme, suffix: str) -> list[dict[str, Any]]:
    """Pruned strokes, finished marks, and the ring around the best."""
    n = len(panel.marks)
    on = {
        "type": "scatter",
        "mode": "markers",
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "hoverinfo": "text",
    }
    ordered = list(reversed(panel.marks))
    traces: list[dict[str, Any]] = []
    if panel.pruned:
        traces.append(
            {
                **on,
                "name": f"{panel.axis.name} pruned",
                "x": [round(at, 4) for _, at in panel.pruned],
                "y": [-0.08] * len(panel.pruned),
                "marker": {
                    "symbol": "line-ns-open",
                    "size": 9,
                    "color": look.pruned,
                    "opacity": 0.9 if len(panel.pruned) <= 60 else 0.45,
                    "line": {"width": 1.2, "color": look.pruned},
                },
                "text": [hover(data.told[row.trial]) for row, _ in panel.pruned],
            }
        )
    traces.append(
        {
            **on,
            "name": panel.axis.name,
            "x": [round(at, 4) for _, at, _ in ordered],
            "y": [round(min(max(score, 0), 1), 4) for _, _, score in ordered],
            "marker": {
                "color": look.accent,
                "size": 8 if n <= 60 else 5.5 if n <= 400 else 4,
                "opacity": 0.75 if n <= 60 else 0.5 if n <= 400 else 0.35,
                "symbol": [
                    "circle" if 0 <= score <= 1 else "triangle-up" if score > 1 else "triangle-down"
                    for _, _, score in ordered
                ],
                "line": {"width": 0},
            },
            "cliponaxis": False,
            "text": [hover(data.told[row.trial]) for row, _, _ in ordered],
        }
    )
    best = [(row, at, score) for row, at, score in panel.marks if row.trial == data.best]
    for row, at, score in best:
        traces.append(
            {
                **on,
                "name": f"{panel.axis.name} best",
                "x": [at],
                "y": [min(max(score, 0), 1)],
                "marker": {
                    "symbol": "circle",
                    "size": 10,
                    "color": look.best,
                    "line": {"width": 2, "color": look.paper},
                },
                "cliponaxis": False,
                "text": [hover(data.told[row.trial])],
            }
        )
    return traces
