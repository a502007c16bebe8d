"""The colour bar of ranks, shared by the figures that colour finished trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from somatize.figure.words import safe
from somatize.study.figures.record import Record
from somatize.study.figures.ticks import marked

if TYPE_CHECKING:
    from somatize.figure.theme import Theme

ROOM_PX = 120
"""Room for the bar and its labels, right of the drawing."""


def rank_ticks(record: Record) -> tuple[tuple[float, str], ...]:
    """The scores at the worst, the best and the quarters between, where they rank; none without a goal."""
    if record.goal is None or not record.finished:
        return ()
    n = len(record.finished)
    rows = [record.finished[round((n - 1) * (1 - quarter / 4))] for quarter in range(5)]
    places = {row.score: record.good(row.trial) or 0.0 for row in rows if row.score is not None}
    return marked(list(places), places.__getitem__)


def rank_words(record: Record) -> str:
    """Under the bar: which end is good."""
    return "by rank<br>low is good" if record.goal == "min" else "by rank<br>high is good"


def rank_pens(goods: list[float | None], look: Theme) -> list[tuple[str, float, float]]:
    """Colour, width in pixels and opacity of each finished curve: the more of them, the quieter the bad end.

    Args:
        goods: Their shares from the worst rank to the best, the best first; None for one that is not ranked.
        look: The theme.
    """
    n = len(goods)
    thick = 2.2 if n <= 40 else 1.6 if n <= 150 else 1.1
    least, most = (0.9, 0.9) if n <= 40 else (0.3, 0.8) if n <= 150 else (0.15, 0.6)
    pens = [
        (look.muted, thick, 0.6)
        if good is None
        else (look.shade(good), thick, least + (most - least) * good**2)
        for good in goods
    ]
    return [(look.best, thick + 1.4, 1.0), *pens[1:]] if goods and goods[0] is not None else pens


def rank_bar(
    ticks: tuple[tuple[float, str], ...], words: str, look: Theme, offset: float = 0.0, **where: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A trace that draws nothing but the bar, as high as the drawing, and the labels above and below it.

    Args:
        ticks: As `rank_ticks` answers them.
        words: As `rank_words` answers them.
        look: The theme.
        offset: Of the bar from the drawing's right side, in pixels.
        where: The labels' place, as plotly's annotations have it; their height aside.
    """
    from somatize.figure.drawing import TICK_PX, label

    above: dict[str, Any] = {"y": 1, "yref": "paper", "yanchor": "bottom", "yshift": 10}
    below: dict[str, Any] = {"y": 0, "yref": "paper", "yanchor": "top", "yshift": -8}
    notes = [
        label("<b>score</b>", look, **above, **where),
        label(words, look, size=TICK_PX, colour=look.muted, **below, **where),
    ]
    return _bar(ticks, look, offset), notes


def _bar(ticks: tuple[tuple[float, str], ...], look: Theme, offset: float) -> dict[str, Any]:
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
