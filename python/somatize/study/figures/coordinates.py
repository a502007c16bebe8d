"""Parallel coordinates: every finished trial is a curve across the knobs, coloured by its rank.

Drawn out of splines: a trial reads as one continuous thing, and a bundle as a bundle. A curve claims nothing
between two axes; it crosses each at the value it has, and between two it stays between the two.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from somatize.figure.words import fit, hover, line, width_px
from somatize.study.figures.axis import Axis, axis_of
from somatize.study.figures.labels import HEIGHT_PX, ROOM_PX, axis_labels
from somatize.study.figures.ranks import ROOM_PX as BAR_PX
from somatize.study.figures.ranks import rank_bar, rank_pens, rank_ticks, rank_words
from somatize.study.figures.record import Goal, Knob, Record, Row
from somatize.study.figures.shown import even, of_all, shown, told
from somatize.study.figures.spline import spline

if TYPE_CHECKING:
    from somatize import Store
    from somatize.figure.drawing import Figure
    from somatize.study import Space

N_STEPS = 40
"""Pieces a curve is drawn in between two axes, with few of them."""

N_PIECES = 80_000
"""Pieces of all curves together: with many and long ones each takes fewer, 10 at least."""

N_PRUNED = 120
"""Pruned trials drawn at most: they are the background."""


@dataclass(frozen=True)
class Curve:
    """A trial across the axes."""

    row: Row
    at: tuple[float | None, ...]
    """Where it crosses each knob's axis, in [0, 1]; None where the knob is absent."""
    good: float | None
    """Its share from the worst rank (0) to the best (1); None for a trial that is not ranked."""
    told: list[tuple[str, str]]
    """What a pointer over it is shown."""


@dataclass(frozen=True)
class Coordinates:
    """The numbers of the figure."""

    title: str
    subtitle: str
    axes: tuple[Axis, ...]
    notes: tuple[str, ...]
    """Under each axis: when its knob exists, and in how many of the trials it does not. Empty for most."""
    curves: tuple[Curve, ...]
    """Finished trials, best first."""
    pruned: tuple[Curve, ...]
    """By trial; they are never ranked and end before the score."""
    scores: tuple[tuple[float, str], ...]
    """Ticks of the score's axis: share from the worst to the best, and label."""
    good: str
    """Which end of the score is good, in words."""
    nothing: str
    """What to say instead, when nothing is finished."""


def coordinates(
    store: Store, space: Space | None = None, *, study: str, goal: Goal | None = None, theme: str = "auto"
) -> Figure:
    """Draw every finished trial as a curve across the knobs, coloured by its rank.

    The last axis is the score by rank, the good end on top: one outlier moves a curve's end by one rank and
    washes nothing out. Pruned trials are grey, behind, and end before the score: they are not comparable. A
    knob that a point does not have is a gap. Axes of knobs in log, and of those that span more than
    fifty-fold, are in log. Beyond 400 finished trials the best 100 and an even draw of the rest are drawn,
    and the subtitle says so.

    Args:
        store: Holds the study; read only.
        space: What parses the points; None takes the study's own.
        study: The study's name.
        goal: Which end is good; None takes the study's. A study that never said one is drawn grey.
        theme: `light`, `dark` or `auto`.

    Returns:
        The figure; with nothing finished, one that says so.

    Raises:
        ValueError: The goal is neither `min` nor `max`, or not the one the study was run with; the theme has
            no such name.
        StudyError: There is no such study; a close name is named.
    """
    from somatize.study.figures.read import read

    return _draw(_coordinates_data(read(store, space, study=study, goal=goal)), theme)


def _coordinates_data(record: Record) -> Coordinates:
    """What is drawn: axes, and where every trial crosses them."""
    rows = [*record.finished, *record.of_state("pruned")]
    axes = tuple(
        axis_of(knob, [row.point[knob.name] for row in rows if knob.name in row.point])
        for knob in record.knobs
    )
    drawn = shown(record.finished, ranked=record.goal is not None)
    pruned = even(record.of_state("pruned"), N_PRUNED)
    places = _places(axes, drawn, pruned)
    n = len(record.finished)
    some = of_all(len(drawn), n, "curves")
    if some and record.goal is not None:
        some += f", the best {len(drawn) // 4} among them"
    n_pruned = len(record.of_state("pruned"))
    behind = f"grey, dotted: {n_pruned:,} pruned, not ranked" if pruned else ""
    if len(pruned) < n_pruned:
        behind += f", {len(pruned):,} of them drawn"
    unknown = "nobody said whether a low or a high score is good; pass goal='min' or goal='max'"
    grey = f"not coloured: {unknown}" if record.goal is None and n else ""
    return Coordinates(
        title=record.heading,
        subtitle=line(record.where, behind, some, grey),
        axes=axes,
        notes=tuple(_note(knob, record.finished) for knob in record.knobs),
        curves=tuple(
            Curve(row, places[row.trial], record.good(row.trial), told(record, row)) for row in drawn
        ),
        pruned=tuple(Curve(row, places[row.trial], None, told(record, row)) for row in pruned),
        scores=rank_ticks(record),
        good=rank_words(record),
        nothing="" if n else f"{record.taken} A curve is drawn for each one that finishes.",
    )


def _note(knob: Knob, rows: tuple[Row, ...]) -> str:
    without = sum(knob.name not in row.point for row in rows)
    parts = [knob.condition] if knob.condition else []
    if without:
        parts.append(f"absent in {without:,} of {len(rows):,}")
    return ", ".join(parts)


def _places(
    axes: tuple[Axis, ...], finished: tuple[Row, ...], pruned: tuple[Row, ...]
) -> dict[int, tuple[float | None, ...]]:
    """Where each trial crosses each axis.

    A number lies where it is. The trials of one option share its band, from the worst at the low end to the
    best: neighbours in rank stay neighbours, so that a bundle runs through a choice as a bundle. Pruned
    trials have no rank and spread over the same band by trial.
    """
    found: dict[int, list[float | None]] = {row.trial: [] for row in (*finished, *pruned)}
    for axis in axes:
        for group in (tuple(reversed(finished)), pruned):
            middles = [axis.at(row.point[axis.name]) if axis.name in row.point else None for row in group]
            totals, seen = Counter(middles), Counter[float | None]()
            for row, middle in zip(group, middles, strict=True):
                if middle is None or not axis.band:
                    found[row.trial].append(middle)
                    continue
                share = (seen[middle] + 0.5) / totals[middle] - 0.5
                seen[middle] += 1
                found[row.trial].append(middle + share * axis.band)
    return {trial: tuple(places) for trial, places in found.items()}


GAP_PX = 112
"""Least distance of two axes."""


def _draw(data: Coordinates, theme: str) -> Figure:
    """The drawing: a plotly trace a curve, a shape an axis, annotations for every label."""
    from somatize.figure import drawing
    from somatize.figure.drawing import LABEL_PX, TICK_PX, WIDTH_PX
    from somatize.figure.theme import theme_of

    if data.nothing:
        return drawing.statement(theme, title=data.title, words=data.nothing)
    look = theme_of(theme)
    n_axes = len(data.axes)
    # A space without knobs has the score alone.
    last = max(n_axes if data.scores else n_axes - 1, 1)
    first = data.axes[0] if data.axes else None
    left = min(max((width_px(text, TICK_PX) for _, text in first.ticks), default=0) if first else 0, 170) + 30
    right = BAR_PX if data.scores else 110
    width = max(WIDTH_PX, left + right + GAP_PX * last)
    gap = (width - left - right) / last

    n = len(data.curves)
    n_steps = max(min(N_PIECES // max((n + len(data.pruned)) * last, 1), N_STEPS), 10)
    traces = [_trace(curve, look.pruned, 1.0, 0.45, "pruned", n_steps, "dot") for curve in data.pruned]
    pens = rank_pens([curve.good for curve in data.curves], look)
    for curve, pen in reversed(list(zip(data.curves, pens, strict=True))):
        kind = "best" if pen[0] == look.best else "finished"
        traces.append(_trace(curve, *pen, kind, n_steps))
    notes = []
    heads = [
        fit(axis.name, min(gap, 2 * left if i == 0 else gap) - ROOM_PX, LABEL_PX + 1, 2)
        for i, axis in enumerate(data.axes)
    ]
    for i, (axis, note) in enumerate(zip(data.axes, data.notes, strict=True)):
        # Without a score's axis the last one's labels end at the figure's edge.
        room = left - 22 if i == 0 else (gap if i < last else right) - 2 * ROOM_PX
        notes += axis_labels(axis, heads[i], note, i, gap=gap, room=room, look=look)
    if data.scores:
        bar, said = rank_bar(data.scores, data.good, look, x=last, xref="x", xanchor="center")
        traces.append(bar)
        notes += said
    lines = [
        {
            "type": "line",
            "x0": i,
            "x1": i,
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"color": look.axis, "width": 1.4},
        }
        for i in range(n_axes)
    ]
    n_note_lines = max((len(fit(note, gap - ROOM_PX, TICK_PX, 4)) for note in data.notes if note), default=1)
    n_name_lines = max(map(len, heads), default=1)
    bottom = 26 + 14 * max(n_note_lines, 2)
    return drawing.figure(
        traces,
        theme,
        title=data.title,
        subtitle=data.subtitle,
        width=width,
        height=HEIGHT_PX + bottom,
        margin=(left, right, bottom),
        gap=26 + (LABEL_PX + 5) * n_name_lines,
        xaxis={"visible": False, "range": [0, last], "fixedrange": True},
        yaxis={"visible": False, "range": [0, 1], "fixedrange": True},
        annotations=notes,
        shapes=lines,
        hoverdistance=12,
    )


def _trace(
    curve: Curve, colour: str, width: float, opacity: float, kind: str, n_steps: int, dash: str = "solid"
) -> dict[str, Any]:
    """One trial. `x` is even, so its start and step say it all."""
    at = list(curve.at) if curve.good is None else [*curve.at, curve.good]
    points = spline(at, n_steps)
    alone = len(at) == 1
    return {
        "type": "scatter",
        "name": f"{kind} {curve.row.trial}",
        "mode": "markers" if alone else "lines",
        "x0": 0,
        "dx": 1 / n_steps,
        "y": [None if one is None else round(one, 4) for one in points],
        # Plotly drops points it thinks nobody sees, and a curve turns into corners.
        "line": {"color": colour, "width": width, "dash": dash, "simplify": False},
        "marker": {"color": colour},
        "opacity": opacity,
        "cliponaxis": False,
        "connectgaps": False,
        "hoverinfo": "text",
        "text": hover(curve.told),
        "hoverlabel": {"bordercolor": colour},
    }
