"""The colour bar of ranks, shared by the figures that colour finished trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from somatize.figure.words import number, safe
from somatize.study.figures.record import Record

if TYPE_CHECKING:
    from somatize.figure.theme import Theme

ROOM_PX = 120
"""Room for the bar and its labels, right of the drawing."""


def rank_ticks(record: Record) -> tuple[tuple[float, str], ...]:
    """The scores at the worst, the best and the quarters between, where they rank; none without a goal."""
    if record.goal is None or not record.finished:
        return ()
    n = len(record.finished)
    ticks: dict[float, str] = {}
    for quarter in range(5):
        row = record.finished[round((n - 1) * (1 - quarter / 4))]
        good = record.good(row.trial)
        if good is not None and row.score is not None:
            ticks[good] = number(row.score, 3)
    return tuple(sorted(ticks.items()))


def rank_words(record: Record) -> str:
    """Under the bar: which end is good."""
    return "by rank<br>low is good" if record.goal == "min" else "by rank<br>high is good"


def rank_bar(ticks: tuple[tuple[float, str], ...], look: Theme, offset: float = 0.0) -> dict[str, Any]:
    """A trace that draws nothing but the bar, as high as the drawing.

    Args:
        ticks: As `rank_ticks` answers them.
        look: The theme.
        offset: Of the bar from the drawing's right side, in pixels.
    """
    words = [safe(text) for _, text in ticks]
    words[-1] = f'<span style="color:{look.best}"><b>{words[-1]}</b></span>'
    scale = look.scale
    return {
        "type": "scatter",
        "name": "score",
        "mode": "markers",
        "x": [None],
        "y": [None],
        "hoverinfo": "skip",
        "marker": {
            "color": [0],
            "cmin": 0,
            "cmax": 1,
            "colorscale": [[i / (len(scale) - 1), colour] for i, colour in enumerate(scale)],
            "showscale": True,
            "colorbar": {
                "x": 1,
                "xpad": offset,
                "ypad": 0,
                "y": 0.5,
                "len": 1,
                "thickness": 12,
                "outlinewidth": 0,
                "tickvals": [at for at, _ in ticks],
                "ticktext": words,
                "ticks": "",
                "tickfont": {"size": 11, "color": look.muted},
            },
        },
    }
