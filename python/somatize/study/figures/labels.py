"""The words around an axis of `coordinates`: its name above it, its note below, its ticks beside it.

The ticks stand left of the first axis and right of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from somatize.figure.words import fit, safe
from somatize.study.figures.axis import Axis

if TYPE_CHECKING:
    from somatize.figure.theme import Theme

HEIGHT_PX, ROOM_PX = 430, 9
"""An axis' height, and the room kept free on either side of a label."""


def axis_labels(
    axis: Axis, head: list[str], note: str, i: int, *, gap: float, room: float, look: Theme
) -> list[dict[str, Any]]:
    """The annotations of the `i`-th axis.

    Args:
        axis: Its name is shown whole by the pointer.
        head: The name in lines.
        note: Below the axis; empty for none.
        i: Where the axis stands.
        gap: Between two axes, in pixels.
        room: For a tick's label, in pixels.
        look: The theme.
    """
    from somatize.figure.drawing import TICK_PX, label

    is_first = i == 0
    where: dict[str, Any] = {"x": i, "xref": "x"}
    name = "<br>".join(safe(line) for line in head)
    said = [
        label(
            f"<b>{name}</b>",
            look,
            y=1,
            yref="paper",
            yanchor="bottom",
            yshift=10,
            xanchor="center",
            hovertext=safe(axis.name),
            **where,
        )
    ]
    if note:
        text = "<br>".join(safe(line) for line in fit(note, gap - ROOM_PX, TICK_PX, 4))
        said.append(
            label(
                text,
                look,
                size=TICK_PX,
                colour=look.muted,
                y=0,
                yref="paper",
                yanchor="top",
                yshift=-10,
                **where,
            )
        )
    ticks = axis.labelled(HEIGHT_PX // (TICK_PX + 5))
    each = HEIGHT_PX / max(len(ticks), 1)
    n_lines = max(int(each * 0.8 / (TICK_PX * 1.35)), 1) if axis.kind == "choice" else 1
    for at, text in ticks:
        said.append(
            label(
                "<br>".join(safe(line) for line in fit(text, room, TICK_PX, n_lines)),
                look,
                size=TICK_PX,
                colour=look.ink if axis.kind == "choice" else look.muted,
                y=at,
                yref="y",
                yanchor="middle",
                xanchor="right" if is_first else "left",
                xshift=-6 if is_first else 6,
                align="right" if is_first else "left",
                bgcolor=look.halo,
                borderpad=1,
                hovertext=safe(text),
                **where,
            )
        )
    return said
