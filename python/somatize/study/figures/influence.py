"""Which knob mattered: a bar a knob, as long as the score follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from somatize.figure.words import count, fit, hover, number, width_px
from somatize.study.figures.record import Record

if TYPE_CHECKING:
    from somatize import Store
    from somatize.figure.drawing import Figure
    from somatize.study import Space

ROW_PX, LABEL_ROOM_PX = 34, 260
"""Height of a bar and its distance to the next; the most room a knob's name takes."""


@dataclass(frozen=True)
class Influence:
    """The numbers of the figure."""

    title: str
    subtitle: str
    bars: tuple[tuple[str, float], ...]
    """Knob and |rho|, highest first."""
    noise: float | None
    """The |rho| that knobs which do nothing stay under; None when too few trials tell."""
    n_finished: int
    nothing: str


def influence(store: Store, space: Space | None = None, *, study: str, theme: str = "auto") -> Figure:
    """Draw the importance of every knob: Spearman's |rho| between the knob and the score of finished trials.

    A bar near zero is a knob you can stop searching, one near one is the knob the study is about. The band
    from zero is what knobs that do nothing reach by chance with so many trials; bars that end in it are pale.

    Args:
        store: Holds the study; read only.
        space: What parses the points; None takes the study's own.
        study: The study's name.
        theme: `light`, `dark` or `auto`.

    Returns:
        The figure; with fewer than 3 finished trials, one that says so.

    Raises:
        StudyError: There is no such study; a close name is named.
        ValueError: The theme has no such name.
    """
    from somatize.study.figures.read import read

    return _draw(_influence_data(read(store, space, study=study)), theme)


def _influence_data(record: Record) -> Influence:
    """What is drawn: `bars` is exactly what `importance` answers."""
    n = len(record.finished)
    nothing = ""
    if not record.importance:
        nothing = f"`{record.study}` has no knobs to compare."
    elif n < 3:
        few = count(n, "finished trial")
        nothing = f"{few} in `{record.study}`: importance compares ranks and takes at least 3."
    elif len({row.score for row in record.finished}) == 1:
        same = f"All {n:,} finished trials of `{record.study}` have the same score"
        nothing = f"{same}: no knob can explain a difference."
    said = [f"Spearman's |ρ| with the score, over {n:,} finished trials"]
    if record.noise is not None:
        said.append(f"shaded: what knobs that do nothing reach by chance, up to {record.noise:.2f}")
    return Influence(
        title=f"{record.study}: nothing to compare yet"
        if nothing
        else f"{record.decision}; {record.counted}",
        subtitle=" · ".join(said),
        bars=record.importance,
        noise=record.noise,
        n_finished=n,
        nothing=nothing,
    )


def _draw(data: Influence, theme: str) -> Figure:
    """A horizontal bar a knob, the highest on top."""
    from somatize.figure import drawing
    from somatize.figure.theme import theme_of

    if data.nothing:
        return drawing.statement(theme, title=data.title, words=data.nothing)
    look = theme_of(theme)
    names = [fit(name, LABEL_ROOM_PX, 13)[0] for name, _ in data.bars]
    left = 40 + max(width_px(name, 13) for name in names)
    within = [data.noise is not None and much <= data.noise for _, much in data.bars]
    bars = {
        "type": "bar",
        "name": "importance",
        "orientation": "h",
        "x": [much for _, much in data.bars],
        "y": list(range(len(data.bars))),
        "width": 0.56,
        "marker": {"color": [look.axis if noise else look.accent for noise in within], "cornerradius": 3},
        "opacity": 1,
        "text": [f"{much:.2f}" for _, much in data.bars],
        "textposition": "outside",
        "textfont": {"size": 12, "color": look.ink},
        "cliponaxis": False,
        "hoverinfo": "text",
        "hovertext": [
            hover(
                [
                    (name, f"|ρ| {number(much)}"),
                    ("over", f"{data.n_finished:,} finished trials"),
                    ("reads", "within chance" if noise else "beyond chance"),
                ]
            )
            for (name, much), noise in zip(data.bars, within, strict=True)
        ],
    }
    band = []
    if data.noise is not None:
        band = [
            {
                "type": "rect",
                "x0": 0,
                "x1": data.noise,
                "y0": 0,
                "y1": 1,
                "yref": "paper",
                "layer": "below",
                "fillcolor": look.faint,
                "opacity": 0.55,
                "line": {"width": 0},
            }
        ]
    return drawing.figure(
        [bars],
        theme,
        title=data.title,
        subtitle=data.subtitle,
        height=ROW_PX * len(data.bars) + 56,
        margin=(left, 60, 48),
        xaxis=drawing.axis(
            look, range=[0, 1], tickvals=[0, 0.25, 0.5, 0.75, 1], fixedrange=True, showgrid=True
        ),
        yaxis=drawing.names(look, names, 13),
        shapes=band,
    )
