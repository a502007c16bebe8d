"""Reads a study from its store for the figures: rows, space, goal, importance, curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from somatize.study.figures.record import Goal, Knob, Record

if TYPE_CHECKING:
    from somatize import Store
    from somatize.study import Space


def read(
    store: Store,
    space: Space | None = None,
    *,
    study: str,
    goal: str | None = None,
    importance: bool = True,
    curves: bool = False,
) -> Record:
    """Read what figures draw. Nothing is written.

    Args:
        store: Holds the study.
        space: What parses the points; None takes the newest the study was run with.
        study: The study's name.
        goal: Refused when it is not the study's; None takes the study's.
        importance: Compute it.
        curves: Read them, of every attempt.

    Raises:
        ValueError: The goal is neither `min` nor `max`, or not the one the study was run with.
        StudyNotFoundError: There is no such study; a close name is named.
    """
    from somatize import study as api

    if goal is not None and goal not in get_args(Goal):
        raise ValueError(f"`goal` was given `{goal}`, expected `min` or `max`")
    declared, known = api.declared(store, study=study)
    if goal is not None and known is not None and goal != known:
        raise ValueError(f"`goal` was given `{goal}`, the study `{study}` was run with `{known}`")
    attempts = api.trials(store, space, study=study)
    rows = [row for row in attempts if not row.is_discarded]
    kept = {row.trial for row in rows}
    return Record.of(
        rows,
        knobs_of(declared if space is None else space),
        study=study,
        goal=_goal(goal or known),
        importance=api.importance(store, space, study=study) if importance else (),
        curves=_curves(store, study, kept) if curves else {},
        n_discarded=len({row.trial for row in attempts} - kept),
    )


def knobs_of(space: Space) -> tuple[Knob, ...]:
    """A space's dimensions as the figures need them."""
    return tuple(
        Knob(
            name=one.name,
            kind=one.kind,
            low=one.low,
            high=one.high,
            log=one.log,
            options=tuple(one.options or ()),
            when=one.when,
        )
        for one in space.dimensions
    )


def silent(store: Store, *, study: str, lease: float | None = None) -> set[int]:
    """Running trials whose worker has given no sign of life for a lease."""
    from somatize import study as api

    return {row.trial for row in api.abandoned(store, study=study, lease=lease)}


def _goal(goal: str | None) -> Literal["min", "max"] | None:
    return "max" if goal == "max" else "min" if goal == "min" else None


def _curves(store: Store, study: str, trials: set[int]) -> dict[tuple[int, int], list[float]]:
    from somatize import study as api

    return {
        (trial, attempt): curve
        for trial in sorted(trials)
        for attempt, curve in api.attempts(store, study=study, trial=trial)
    }
