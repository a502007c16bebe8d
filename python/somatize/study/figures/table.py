"""The table of results: a row a trial, finished ones by rank, the others apart below them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from somatize.figure.words import Scalar, aligned, duration, fit, line, number, rounded, safe, value, width_px
from somatize.study.figures.record import UNRANKED, Record, Row

if TYPE_CHECKING:
    from somatize import Store
    from somatize.figure.drawing import Figure
    from somatize.figure.theme import Theme
    from somatize.study import Space

ROW_PX, TEXT_PX, CELL_PX, HEAD_PX, MOST_PX = 28, 12, 300, 130, 900
"""Height of a row, size of its text, most width of a cell's text and of a head's, most height unscrolled."""


FACTS = ("rank", "trial", "state", "score")
"""The first columns. A knob may have one of their names: where it matters, a column is known by its place."""


@dataclass(frozen=True)
class Cell:
    """A cell: what stands in it, and the number or text it stands for."""

    text: str
    value: Scalar = None


@dataclass(frozen=True)
class Table:
    """The numbers of the figure."""

    title: str
    subtitle: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """By rank, then pruned, failed and running trials by number."""
    states: tuple[str, ...]
    """Of each row."""
    good: tuple[float | None, ...]
    """Of each row: share from the worst rank to the best; None for one that is not ranked."""
    nothing: str


def table(store: Store, space: Space | None = None, *, study: str, theme: str = "auto") -> Figure:
    """Draw every trial as a row: rank, state, score, the point, why it ended, how long it took.

    Finished trials come first, by rank. Pruned, failed and running ones follow with their state and no rank:
    the score of a trial that was stopped was measured after fewer reports, and says nothing beside a finished
    one.

    Args:
        store: Holds the study; read only.
        space: What parses the points; None takes the study's own.
        study: The study's name.
        theme: `light`, `dark` or `auto`.

    Returns:
        The figure; with no trial at all, one that says so.

    Raises:
        StudyError: There is no such study; a close name is named.
        ValueError: The theme has no such name.
    """
    from somatize.study.figures.read import read

    return _draw(_table_data(read(store, space, study=study, importance=False)), theme)


def _table_data(record: Record) -> Table:
    """What is drawn. Columns that would say the same or nothing in every row are left out."""
    rows = [*record.finished, *(row for state in UNRANKED for row in record.of_state(state))]
    knobs = [knob.name for knob in record.knobs]
    telling = {
        "attempt": any(row.attempt for row in rows),
        "took": any(row.took_secs is not None for row in rows),
        "who": len({row.who for row in rows}) > 1,
        "because": any(row.because for row in rows),
    }
    more = [name for name, is_shown in telling.items() if is_shown]
    unknown = "no rank: nobody said whether a low or a high score is good"
    digits = _digits([row.score for row in record.finished[:20] if row.score is not None])
    return Table(
        title=record.counted if rows else f"{record.study}: no trials yet",
        subtitle=line(
            f"{record.rest}: below the ranked ones, never among them" if record.rest else "",
            f"{record.n_discarded:,} discarded, not shown" if record.n_discarded else "",
            unknown if record.goal is None and record.finished else "",
        ),
        columns=(*FACTS, *knobs, *more),
        rows=tuple(_cells(record, row, knobs, more, digits) for row in rows),
        states=tuple(row.outcome for row in rows),
        good=tuple(record.good(row.trial) for row in rows),
        nothing="" if rows else record.empty,
    )


def _knob(row: Row, name: str) -> Cell:
    if name not in row.point:
        return Cell("–")
    said = row.point[name]
    return Cell(aligned(said) if isinstance(said, float) else value(said), said)


def _digits(scores: list[float]) -> int:
    """The significant digits by which the best scores read apart, from 4 to 9."""
    n = len(set(scores))
    return next((d for d in range(4, 9) if len({aligned(score, d) for score in scores}) == n), 9)


def _cells(record: Record, row: Row, knobs: list[str], more: list[str], digits: int) -> tuple[Cell, ...]:
    rank = record.ranks.get(row.trial)
    facts = {
        "rank": Cell("–" if rank is None else number(rank), rank),
        "trial": Cell(str(row.trial), row.trial),
        "state": Cell(row.state, row.state),
        "score": Cell("–" if row.score is None else aligned(row.score, digits), row.score),
        "attempt": Cell(str(row.attempt), row.attempt),
        "took": Cell("–" if row.took_secs is None else duration(row.took_secs), row.took_secs),
        "who": Cell(row.who or "–", row.who),
        "because": Cell(rounded(row.because or ""), row.because),
    }
    return tuple(
        [
            *(facts[name] for name in FACTS),
            *(_knob(row, name) for name in knobs),
            *(facts[name] for name in more),
        ]
    )


def _draw(data: Table, theme: str) -> Figure:
    """Plotly's table; long words break over lines, none is cut."""
    from somatize.figure import drawing
    from somatize.figure.theme import theme_of

    if data.nothing:
        return drawing.statement(theme, title=data.title, words=data.nothing)
    look = theme_of(theme)
    heads, texts, colours, widths, aligns = [], [], [], [], []
    lines = [1] * len(data.rows)
    for i, name in enumerate(data.columns):
        cells = [row[i] for row in data.rows]
        words = [fit(cell.text, CELL_PX, TEXT_PX, 6) for cell in cells]
        lines = [max(known, len(word)) for known, word in zip(lines, words, strict=True)]
        longest = max((width_px(line, TEXT_PX) for word in words for line in word), default=0)
        heads.append(fit(name, HEAD_PX, TEXT_PX, 3))
        widths.append(max(longest, *(width_px(line, TEXT_PX) * 1.1 for line in heads[-1])) + 26)
        texts.append(["<br>".join(safe(line) for line in word) for word in words])
        colours.append([_colour(data, j, i, look) for j in range(len(cells))])
        is_number = all(isinstance(cell.value, (int, float)) or cell.value is None for cell in cells)
        aligns.append("right" if is_number else "left")
    head_px = 14 + 17 * max(map(len, heads))
    width = max(drawing.WIDTH_PX, sum(widths) + 48)
    height = min(sum(ROW_PX + 17 * (n - 1) for n in lines) + head_px + 4, MOST_PX)
    trace = {
        "type": "table",
        "name": "table",
        "columnwidth": widths,
        "header": {
            "values": ["<br>".join(f"<b>{safe(line)}</b>" for line in head) for head in heads],
            "align": aligns,
            "height": head_px,
            "fill": {"color": look.head},
            "line": {"color": look.grid, "width": 1},
            "font": {"size": TEXT_PX, "color": look.ink},
        },
        "cells": {
            "values": texts,
            "align": aligns,
            "height": ROW_PX,
            "fill": {"color": [[look.stripe if j % 2 else look.paper for j in range(len(data.rows))]]},
            "line": {"color": look.grid, "width": 1},
            "font": {"size": TEXT_PX, "color": colours},
        },
    }
    return drawing.figure(
        [trace],
        theme,
        title=data.title,
        subtitle=data.subtitle,
        width=width,
        height=height + 24,
        margin=(24, 24, 24),
    )


def _colour(data: Table, j: int, i: int, look: Theme) -> str:
    """The best rank and score in their own colour, states in theirs, what is not ranked quiet."""
    good, state = data.good[j], data.states[j]
    name = FACTS[i] if i < len(FACTS) else ""
    if name == "state":
        return look.state(state)
    if state != "done":
        return look.muted
    if name in ("rank", "score") and j == 0 and good is not None:
        return look.best
    return look.ink
