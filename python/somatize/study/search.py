"""The sugar: the loop of a study, written once."""

from __future__ import annotations

import inspect
import operator
import os
import reprlib
import secrets
import signal
import socket
import threading
import time
import warnings
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice, zip_longest
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from somatize._somatize import (
    DONE,
    FAILED,
    PRUNED,
    RUNNING,
    Point,
    Pruner,
    Sampler,
    Space,
    Store,
    Trial,
    Trials,
    abandoned,
    asked,
    best,
    curves,
    in_flight,
    report,
    take,
    trials,
)
from somatize.errors import OwnershipError, SomaError, StudyNotFoundError, UsedUpError

if TYPE_CHECKING:
    from typing import SupportsFloat

    Objective = Callable[[Point], Iterator[SupportsFloat] | SupportsFloat]

INTERRUPTED = "interrupted"
"""Why a trial failed when Ctrl-C or SIGTERM ended it: `search` takes such a trial up again."""

_POLL_SECS = (0.05, 1.0)  # the first wait for the trials of others, and the longest


def search(
    objective: Objective,
    store: Store,
    space: Space,
    sampler: Sampler,
    *,
    study: str,
    total: int,
    goal: Literal["min", "max"],
    pruner: Pruner | None = None,
    me: str | None = None,
    lease: float | None = None,
    attempts: int = 3,
    raises: bool = False,
    progress: bool = True,
) -> Trials:
    """Run what is left of a study's `total` trials, and answer all of them.

    For each trial: ask the sampler, take the trial, report every value, hear the pruner, report the end. The
    same call in other processes or on other machines over the same store shares the trials out. It returns
    when every one of them has ended: the trial of a worker that dies is taken over by whoever is left.

    Args:
        objective: Called with the point. A generator of reports: each value is one report, the last is the
            score, and a pruner stops it by not asking for the next. A generator that returns a number gives
            the score that way. A plain function answers the score.
        store: Where the study is kept.
        space: What is searched.
        sampler: Chooses the point of each trial.
        study: The study's name.
        total: Trials in the study, whoever runs them: numbers 0 up to and without `total`.
        goal: `"min"` or `"max"`.
        pruner: Hears each report; None prunes nothing. One without a goal takes this study's.
        me: Who is said to run the trials; by default the host's name and eight random letters.
        lease: Seconds without a sign of life after which a trial is taken over (next attempt, same point);
            None is the store's own.
        attempts: Workers that a trial may cost, at least 1. One that so many died or fell silent in (out of
            memory, a crash in native code) is FAILED, `because="abandoned 3 times"`, and not tried again.
        raises: Stop at the first exception of the objective, once it is reported. Otherwise the trial is
            FAILED with the exception's type and text, and the next one starts.
        progress: Show a bar on stderr, where tqdm is installed.

    Returns:
        The study's trials, as `trials` gives them.

    Raises:
        SpaceMismatchError: The study was begun over other knobs.
        GoalError: The study was begun with the other goal.
        SpaceError: Another goal than the two there are.
        ValueError: `total` is negative or `attempts` below 1.
        TypeError: They are no whole numbers, or the objective is none or an async function.
        KeyboardInterrupt: Ctrl-C; the running trial is reported FAILED, `because="interrupted"`, before.
        SystemExit: SIGTERM, where the program has no handler of its own; reported likewise.

    Warns:
        UserWarning: The space has fewer than `total` points: the loop ended when all were used. Or a trial
            was lost to another worker, which took this one for dead.
    """
    _check(objective, total, attempts)
    sampler, pruner = sampler.toward(goal), pruner and pruner.toward(goal)
    worker = _Worker(objective, store, study, goal, pruner, me or _name(), attempts, raises)
    with _terminable(), _Bar(store, study, total, shown=progress) as bar:
        for one in _open_trials(store, space, sampler, study, total, lease):
            if one is not None:
                worker.run(*one)
            bar.show()
    # Where there was nothing to do, nobody may have begun the study.
    return trials(store, space, study=study) if total else _rows(store, study) or Trials()


def _check(objective: object, total: object, attempts: object) -> None:
    """Refuse what no trial could run with, before any is taken."""
    if not callable(objective):
        raise TypeError(f"`objective` was given {reprlib.repr(objective)}, expected a function of the point")
    if inspect.iscoroutinefunction(objective) or inspect.isasyncgenfunction(objective):
        raise TypeError("`objective` was given an async function, expected one that runs by itself")
    for name, value, least in (("total", total, 0), ("attempts", attempts, 1)):
        if not isinstance(value, SupportsIndex):
            raise TypeError(f"`{name}` was given `{value!r}`, expected a whole number")
        if operator.index(value) < least:
            raise ValueError(f"`{name}` was given `{value!r}`, expected at least {least}")


class _Worker:
    """Takes one trial, runs it, and says how it ended."""

    def __init__(
        self,
        objective: Objective,
        store: Store,
        study: str,
        goal: Literal["min", "max"],
        pruner: Pruner | None,
        me: str,
        attempts: int,
        raises: bool,
    ) -> None:
        self.objective = objective
        self.store = store
        self.study = study
        self.goal = goal
        self.pruner = pruner
        self.me = me
        self.attempts = attempts
        self.raises = raises

    def run(self, trial: int, attempt: int, point: Point) -> None:
        """Nothing happens where somebody else has the trial."""
        which: dict[str, Any] = {
            "study": self.study, "trial": trial, "attempt": attempt, "me": self.me, "goal": self.goal,
        }  # fmt: skip
        said: list[float] = []
        try:
            if not take(self.store, point, **which):
                return
            lost = _lost(self.store, self.study, trial, attempt) if attempt else 0
            if lost < self.attempts:
                self._hear(point, said, which)
            else:
                because = f"abandoned {lost} time{'s' if lost > 1 else ''}"
                report(self.store, point, said, state=FAILED, because=because, **which)
        except OwnershipError as error:
            warnings.warn(str(error), stacklevel=3)
        except BaseException:
            # The trial is left to others, who would wait for it as long as this process lives. Ours or not:
            # for one that was never taken, or has ended, this is refused and changes nothing.
            with suppress(SomaError, OSError):
                report(self.store, point, said, state=FAILED, because=INTERRUPTED, **which)
            raise

    def _hear(self, point: Point, said: list[float], which: dict[str, Any]) -> None:
        """The loop of one trial that is ours."""
        heard = _Heard(self.objective, point)
        why = None
        with closing(iter(heard)) as values:
            for value in values:
                said.append(value)
                if self.pruner is not None:
                    why = self.pruner.verdict(said, curves(self.store, study=self.study))
                if why is not None:
                    break
                report(self.store, point, said, **which)
        if why is not None:
            report(self.store, point, said, state=PRUNED, because=why, **which)
        elif heard.error is None:
            report(self.store, point, said, state=DONE, score=heard.score, **which)
        else:
            because = f"{type(heard.error).__name__}: {heard.error}"
            report(self.store, point, said, state=FAILED, because=because, **which)
        if heard.error is not None and self.raises:
            raise heard.error


class _Heard:
    """Iterates over what an objective reports; what it raises is kept apart from what the loop raises."""

    def __init__(self, objective: Objective, point: Point) -> None:
        self.objective = objective
        self.point = point
        self.score: float | None = None  # said by a generator's `return`; None leaves it to the last report
        self.error: Exception | None = None

    def __iter__(self) -> Generator[float, None, None]:
        said: Any = None
        try:
            said = self.objective(self.point)
            yield from self._values(said)
        except Exception as error:
            self.error = error
        finally:
            # A pruned generator ends here and now, and frees what it holds before the next trial starts.
            if hasattr(said, "close"):
                try:
                    said.close()
                except Exception as error:
                    self.error = self.error or error

    def _values(self, said: Any) -> Generator[float, None, None]:
        if not isinstance(said, Iterator):
            yield _number(said, "a number, or a generator of numbers")
            return
        is_silent = True
        while True:
            try:
                value = next(said)
            except StopIteration as end:
                self.score = None if end.value is None else _number(end.value, "a number to return")
                break
            is_silent = False
            yield _number(value, "a number")
        if is_silent and self.score is None:
            raise ValueError("the objective reported nothing, expected at least one value")


def _number(value: Any, expected: str) -> float:
    """A float of whatever is a number: a text is none, even one that reads as a number."""
    if isinstance(value, (str, bytes)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"the objective gave {reprlib.repr(value)}, expected {expected}")
    return float(value)


def _open_trials(
    store: Store, space: Space, sampler: Sampler, study: str, total: int, lease: float | None
) -> Iterator[tuple[int, int, Point] | None]:
    """Trial, attempt and point of whatever may be free; None after each wait for the trials of others.

    What was left behind comes first, then the numbers nobody has, then the wait: the workers of those under
    way may die. Another worker may be faster, so the caller takes what it is given, or does not.
    """

    def ask(trial: int) -> Point:
        return sampler.ask(space, trial, asked(store, space, study=study))

    wait_secs, longest_secs = _POLL_SECS
    yield from _left_behind(store, study, total, lease, ask)
    for trial in range(total):
        if _is_taken(store, study, trial):
            continue
        try:
            point = ask(trial)
        except UsedUpError as used_up:
            total = trial
            warnings.warn(f"the study `{study}` ends after {trial} trials: {used_up.text}", stacklevel=4)
            break
        yield trial, 0, point
    while True:
        left = list(_left_behind(store, study, total, lease, ask))
        yield from left
        if not left and _is_over(store, study, total):
            return
        if not left:
            time.sleep(wait_secs)
            wait_secs = min(2 * wait_secs, longest_secs)
            yield None


def _left_behind(
    store: Store, study: str, total: int, lease: float | None, ask: Callable[[int], Point]
) -> Iterator[tuple[int, int, Point]]:
    """The next attempt at every trial whose worker fell silent or was interrupted."""
    for left in abandoned(store, study=study, lease=lease):
        if left.trial < total:
            # Killed between its claim and its first line: the sampler knows where the trial looked.
            yield left.trial, left.attempt + 1, left.point or ask(left.trial)
    rows = _rows(store, study) or ()
    for row, after in zip_longest(rows, islice(rows, 1, None)):
        is_last = after is None or after.trial != row.trial
        if is_last and row.trial < total and row.state == FAILED and row.because == INTERRUPTED:
            yield row.trial, row.attempt + 1, row.point or ask(row.trial)


def _lost(store: Store, study: str, trial: int, attempt: int) -> int:
    """How many attempts before this one their workers abandoned: one that was interrupted said so."""
    earlier = (row for row in _rows(store, study) or () if row.trial == trial and row.attempt < attempt)
    # A worker killed between its claim and its first line leaves no row.
    return attempt - sum(row.state == FAILED and row.because == INTERRUPTED for row in earlier)


def _is_over(store: Store, study: str, total: int) -> bool:
    """Whether every one of the trials is on record and none is under way.

    A worker killed between its claim and its first line leaves no record, and whoever fell silent for the
    store's lease is not in flight: neither has ended.
    """
    recorded = {row.trial for row in _rows(store, study) or () if row.trial < total}
    open_trials = [*in_flight(store, study=study), *abandoned(store, study=study)]
    return len(recorded) == total and all(one.trial >= total for one in open_trials)


def _is_taken(store: Store, study: str, trial: int) -> bool:
    """Whether the records have this trial: one that somebody took this instant is found out by `take`."""
    rows: Sequence[Trial] | Trials = _rows(store, study) or ()
    at = bisect_left(rows, trial, key=lambda row: row.trial)
    return at < len(rows) and rows[at].trial == trial


def _rows(store: Store, study: str) -> Trials | None:
    """Every attempt, in trial order; None where nobody has begun."""
    try:
        return trials(store, study=study)
    except StudyNotFoundError:
        return None


def _name() -> str:
    """The host, for people; the random part makes it unique, as two containers can look alike."""
    return f"{socket.gethostname()}-{secrets.token_hex(4)}"


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends the loop like `sys.exit`, unless the program has its own way with it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    owner = os.getpid()

    def stop(signum: int, frame: FrameType | None) -> None:
        if os.getpid() == owner:
            raise SystemExit(128 + signum)
        # A forked child (a DataLoader's worker) inherits the handler, and none of our trials.
        signal.signal(signum, signal.SIG_DFL)
        os.kill(os.getpid(), signum)

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


class _Bar:
    """The study's trials that have ended, whoever ran them, and the best score so far."""

    def __init__(self, store: Store, study: str, total: int, *, shown: bool) -> None:
        self.store = store
        self.study = study
        self.total = total
        self.bar = self._made() if shown else None

    def _made(self) -> Any:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm(total=self.total, desc=self.study, unit="trial", initial=self._ended())

    def _ended(self) -> int:
        rows = _rows(self.store, self.study)
        return sum(n for state, n in rows.counts().items() if state != RUNNING) if rows else 0

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def show(self) -> None:
        if self.bar is None:
            return
        self.bar.update(min(self._ended(), self.total) - self.bar.n)
        try:
            top = best(self.store, study=self.study)
        except StudyNotFoundError:
            return
        if top is not None:
            self.bar.set_postfix_str(f"best {top.score:.4g}")
