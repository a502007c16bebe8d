"""Who did what: a lane a worker, a bar a trial, and who has fallen silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from somatize.figure.words import count, duration, fit, hover, spoken, value, width_px
from somatize.study.figures.record import Record, Row
from somatize.study.figures.shown import told

if TYPE_CHECKING:
    from collections.abc import Collection

    from somatize import Store
    from somatize.figure.drawing import Figure
    from somatize.study import Space

LANE_PX, LABEL_ROOM_PX = 34, 200
STATES = ("done", "pruned", "failed", "running", "silent")
WORDS = {"done": "finished", "silent": "silent: no sign of life for a lease"}


@dataclass(frozen=True)
class Bar:
    """An attempt at a trial."""

    trial: int
    state: str
    """One of `STATES`."""
    start_secs: float
    """On its worker's own clock: the time its earlier trials took."""
    took_secs: float | None
    """None where nobody has said how long."""
    told: list[tuple[str, str]]


@dataclass(frozen=True)
class Lane:
    """A worker and its trials in order."""

    who: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Timeline:
    """The numbers of the figure."""

    title: str
    subtitle: str
    lanes: tuple[Lane, ...]
    """By the worker's first trial."""
    nothing: str


def timeline(
    store: Store, space: Space | None = None, *, study: str, lease: float | None = None, theme: str = "auto"
) -> Figure:
    """Draw a lane for each worker with its trials one after another, and mark those fallen silent.

    Clocks of different machines are not compared, so a lane is the worker's own time: how long each trial
    took, in the order it took them, without the idle time between them.

    Args:
        store: Holds the study; read only.
        space: What parses the points; None takes the study's own.
        study: The study's name.
        lease: Seconds without a sign of life after which a worker counts as silent; None takes the store's.
        theme: `light`, `dark` or `auto`.

    Returns:
        The figure; with no trial at all, one that says so.

    Raises:
        StudyError: There is no such study; a close name is named.
        ValueError: The theme has no such name.
    """
    from somatize.study.figures.read import read, silent

    record = read(store, space, study=study, importance=False)
    return _draw(_timeline_data(record, silent(store, study=study, lease=lease)), theme)


def _timeline_data(record: Record, silent: Collection[int] = ()) -> Timeline:
    """What is drawn.

    Args:
        record: Every attempt counts here, not only the one that stands.
        silent: Running trials whose worker has not been heard of for a lease.
    """
    lanes: dict[str, list[Row]] = {}
    for row in record.attempts:
        lanes.setdefault(row.who or "nobody said who", []).append(row)
    made = tuple(Lane(who, _bars(record, rows, silent)) for who, rows in lanes.items())
    spent = sum(row.took_secs or 0 for row in record.attempts)
    lost = sorted({bar.trial for lane in made for bar in lane.bars if bar.state == "silent"})
    quiet = [lane.who for lane in made if any(bar.state == "silent" for bar in lane.bars)]
    title = f"{count(len(made), 'worker')}, {count(len(record.rows), 'trial')}"
    title += f", {duration(spent)} of work" if spent else ", and nobody said how long"
    if quiet:
        title += f"; {spoken(quiet) if len(quiet) < 4 else count(len(quiet), 'worker')} fell silent in trial "
        some = [str(trial) for trial in lost[:6]]
        title += spoken([*some, f"{len(lost) - 6:,} more"] if len(lost) > 6 else some)
    return Timeline(
        title=title if made else f"{record.study}: no trials yet",
        subtitle="each lane is its worker's own time: trials in order, without the idle time between them",
        lanes=made,
        nothing="" if made else record.empty,
    )


def _bars(record: Record, rows: list[Row], silent: Collection[int]) -> tuple[Bar, ...]:
    bars, now = [], 0.0
    for row in rows:
        state = "silent" if row.state == "running" and row.trial in silent else row.outcome
        bars.append(Bar(row.trial, state, now, row.took_secs, told(record, row)))
        now += row.took_secs or 0.0
    return tuple(bars)


def _draw(data: Timeline, theme: str) -> Figure:
    """A bar trace a state, so that the legend can switch each."""
    from somatize.figure import drawing
    from somatize.figure.theme import theme_of

    if data.nothing:
        return drawing.statement(theme, title=data.title, words=data.nothing)
    look = theme_of(theme)
    colours = {state: look.state(state) for state in STATES} | {"silent": look.silent}
    ends = [bar.start_secs + (bar.took_secs or 0) for lane in data.lanes for bar in lane.bars]
    longest = max([*ends, 1e-3])
    # One that nobody timed still shows: as a sliver, or as long as a hundredth of the figure while it runs.
    sliver = longest / 100
    traces: list[dict[str, Any]] = []
    for state in STATES:
        bars = [(i, bar) for i, lane in enumerate(data.lanes) for bar in lane.bars if bar.state == state]
        if not bars:
            continue
        traces.append(
            {
                "type": "bar",
                "name": WORDS.get(state, state),
                "orientation": "h",
                "base": [round(bar.start_secs, 6) for _, bar in bars],
                "x": [round(bar.took_secs or sliver, 6) for _, bar in bars],
                "y": [i for i, _ in bars],
                "width": 0.62,
                "marker": {
                    "color": colours[state],
                    "line": {"color": look.paper, "width": 1 if len(ends) <= 400 else 0.3},
                    "pattern": {"shape": "/" if state in ("running", "silent") else ""},
                },
                "hoverinfo": "text",
                "hovertext": [
                    hover(
                        [
                            *bar.told,
                            ("took", duration(bar.took_secs) if bar.took_secs is not None else "not said"),
                        ]
                    )
                    for _, bar in bars
                ],
            }
        )
    names = [fit(value(lane.who), LABEL_ROOM_PX, 12)[0] for lane in data.lanes]
    unit, by = ("h", 3600) if longest > 7200 else ("min", 60) if longest > 120 else ("s", 1)
    for trace in traces:
        trace["base"] = [one / by for one in trace["base"]]
        trace["x"] = [one / by for one in trace["x"]]
    bottom = 92
    return drawing.figure(
        traces,
        theme,
        title=data.title,
        subtitle=data.subtitle,
        height=LANE_PX * len(data.lanes) + 12 + bottom,
        margin=(36 + max(width_px(name, 12) for name in names), 40, bottom),
        barmode="overlay",
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 0,
            "yref": "container",
            "yanchor": "bottom",
            "font": {"size": 12, "color": look.muted},
            "bgcolor": look.paper,
            "itemsizing": "constant",
        },
        xaxis=drawing.axis(
            look, range=[0, longest / by * 1.02], title=f"worker's own time, {unit}", title_gap=8
        ),
        yaxis=drawing.names(look, names, 12),
    )
