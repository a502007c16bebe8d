"""Which trials of a study are left to run."""

from __future__ import annotations

import time
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, zip_longest

from somatize._somatize import (
    FAILED,
    Point,
    Sampler,
    Space,
    Store,
    Trial,
    Trials,
    abandoned,
    asked,
    in_flight,
    trials,
)
from somatize.errors import StudyNotFoundError, UsedUpError

INTERRUPTED = "interrupted"
"""Why a trial failed when Ctrl-C or SIGTERM ended it: `search` takes such a trial up again."""

ABANDONED = "abandoned:"
"""How the reason begins where `trials` calls an attempt failed because nobody reports to it any more."""

_POLL_SECS = (0.05, 1.0)  # the first wait for the trials of others, and the longest


def open_trials(
    store: Store,
    space: Space,
    sampler: Sampler,
    study: str,
    total: int,
    lease: float | None,
    *,
    retry_failed: bool = False,
) -> Iterator[tuple[int, int, Point] | None]:
    """Trial, attempt and point of whatever may be free; None after each wait for the trials of others.

    What was left behind comes first (with `retry_failed`, what failed), then the numbers nobody has, then the
    wait: the workers of those under way may die. Another worker may be faster, so the caller takes what it is
    given, or does not.
    """

    def ask(trial: int) -> Point:
        return sampler.ask(space, trial, asked(store, space, study=study))

    wait_secs, longest_secs = _POLL_SECS
    yield from list(_left_behind(store, study, total, lease, ask, with_failed=retry_failed))
    known = {row.trial for row in rows_of(store, study) or ()}
    for trial in range(total):
        if trial in known or _is_taken(store, study, trial):
            continue
        try:
            point = ask(trial)
        except UsedUpError as used_up:
            total = trial
            warnings.warn(f"the study `{study}` ends after {trial} trials: {used_up.text}", stacklevel=3)
            break
        yield trial, 0, point
    before: list[tuple[int, int, Point]] = []
    while True:
        left = list(_left_behind(store, study, total, lease, ask))
        yield from left
        if not left and _is_over(store, study, total):
            return
        # What was offered a moment ago and is offered again was not to be had.
        before, is_stuck = left, left == before
        if is_stuck:
            time.sleep(wait_secs)
            wait_secs = min(2 * wait_secs, longest_secs)
            yield None


def _left_behind(
    store: Store,
    study: str,
    total: int,
    lease: float | None,
    ask: Callable[[int], Point],
    *,
    with_failed: bool = False,
) -> Iterator[tuple[int, int, Point]]:
    """The next attempt at trials whose worker fell silent or was interrupted, and at what failed."""
    for left in abandoned(store, study=study, lease=lease):
        if left.trial < total:
            # Killed between its claim and its first line: the sampler knows where the trial looked.
            yield left.trial, left.attempt + 1, left.point or ask(left.trial)
    rows = rows_of(store, study) or ()
    for row, after in zip_longest(rows, islice(rows, 1, None)):
        is_last = after is None or after.trial != row.trial
        if not is_last or row.trial >= total or row.is_discarded or row.state != FAILED:
            continue
        because = row.because or ""
        # Who is silent counts as failed by the store's lease; by ours it stands above, or is not to be had.
        if because == INTERRUPTED or (with_failed and not because.startswith(ABANDONED)):
            yield row.trial, row.attempt + 1, row.point or ask(row.trial)


def n_lost(store: Store, study: str, trial: int, attempt: int) -> int:
    """How many attempts before this one their workers abandoned, since the last that failed by itself.

    One that was interrupted said so, and does not count.
    """
    ends = {row.attempt: row.because or "" for row in rows_of(store, study) or () if row.trial == trial}
    lost = 0
    for earlier in reversed(range(attempt)):
        # A worker killed between its claim and its first line leaves no row.
        end = ends.get(earlier, ABANDONED)
        if end != INTERRUPTED and not end.startswith(ABANDONED):
            break
        lost += end != INTERRUPTED
    return lost


def _is_over(store: Store, study: str, total: int) -> bool:
    """Whether every one of the trials is on record and none is under way.

    A worker killed between its claim and its first line leaves no record, and whoever fell silent for the
    store's lease is not in flight: neither has ended.
    """
    recorded = {row.trial for row in rows_of(store, study) or () if row.trial < total}
    open_trials = [*in_flight(store, study=study), *abandoned(store, study=study)]
    return len(recorded) == total and all(one.trial >= total for one in open_trials)


def _is_taken(store: Store, study: str, trial: int) -> bool:
    """Whether the records have this trial: one that somebody took this instant is found out by `take`."""
    rows: Sequence[Trial] | Trials = rows_of(store, study) or ()
    at = bisect_left(rows, trial, key=lambda row: row.trial)
    return at < len(rows) and rows[at].trial == trial


def rows_of(store: Store, study: str) -> Trials | None:
    """Every attempt, in trial order; None where nobody has begun."""
    try:
        return trials(store, study=study)
    except StudyNotFoundError:
        return None
