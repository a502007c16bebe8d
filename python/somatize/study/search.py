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
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Literal, SupportsIndex

from somatize._somatize import Pruner, Sampler, Space, Store, Trials, declared, trials
from somatize.errors import GoalError, StudyNotFoundError
from somatize.study.bar import Bar
from somatize.study.open_trials import open_trials, rows_of
from somatize.study.worker import Worker

if TYPE_CHECKING:
    from somatize.study.worker import Objective


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
    retry_failed: bool = False,
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
        retry_failed: Run again, once each in this call, the trials that had FAILED when it began, as after
            the objective was mended: next attempt, same point.
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
        RuntimeError: Called by the objective of a trial of this very study, which it would wait for.
        TypeError: They are no whole numbers, the objective is none or an async function, or one of the others
            is of another kind.
        KeyboardInterrupt: Ctrl-C; the running trial is reported FAILED, `because="interrupted"`, before.
        SystemExit: SIGTERM, where the program has no handler of its own; reported likewise.

    Warns:
        UserWarning: The objective raised: once for each kind of exception. The space has fewer than `total`
            points: the loop ended when all were used. A trial was lost to another worker, which took this one
            for dead. The study was last searched over other ranges or options. The pruner was given another
            goal than the study has.
    """
    _check(objective, total, attempts)
    _check_kinds(store, space, sampler, pruner)
    sampler, pruner = sampler.toward(goal), pruner and pruner.toward(goal)
    _compare(store, space, pruner, study, goal)
    worker = Worker(objective, store, study, goal, pruner, me or _name(), attempts, raises)
    left = open_trials(store, space, sampler, study, total, lease, retry_failed=retry_failed)
    with _terminable(), _not_inside(store, study), Bar(store, study, total, shown=progress) as bar:
        for one in left:
            if one is not None:
                worker.run(*one)
            bar.show(is_waiting=one is None)
        if not worker.n_taken:
            bar.say_over()
    # Where there was nothing to do, nobody may have begun the study.
    return trials(store, space, study=study) if total else rows_of(store, study) or Trials()


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


def _check_kinds(store: object, space: object, sampler: object, pruner: object) -> None:
    """Refuse what is no store, space, sampler or pruner, and say how one is made."""
    kinds: tuple[tuple[str, object, type, str], ...] = (
        ("store", store, Store, 'Store("runs")'),
        ("space", space, Space, 'Space().real("lr", 1e-4, 1e-1, log=True)'),
        ("sampler", sampler, Sampler, "Sampler.sobol(seed=0)"),
        ("pruner", pruner, Pruner, "Pruner.median(warmup=4)"),
    )
    for name, value, kind, example in kinds:
        if not isinstance(value, kind) and not (value is None and kind is Pruner):
            given = reprlib.repr(value)
            raise TypeError(f"`{name}` was given {given}, expected a {kind.__name__}, such as `{example}`")


def _compare(store: Store, space: Space, pruner: Pruner | None, study: str, goal: str) -> None:
    """Say where this call differs from what the study was begun with, or differs within itself."""
    other = "max" if goal == "min" else "min"
    if f"goal={other}" in str(pruner):
        warnings.warn(
            f"the pruner was given the goal `{other}` and the study has `{goal}`: right where the reports "
            "are another quantity than the score, and otherwise it prunes the good ones; a pruner without a "
            "goal takes the study's",
            stacklevel=3,
        )
    try:
        known, known_goal = declared(store, study=study)
    except StudyNotFoundError:
        return
    if known_goal is not None and known_goal != goal:
        raise GoalError(
            f"study `{study}` was begun with the goal `{known_goal}`, and was given `{goal}`",
            hint="give the study's goal, or another study's name",
        )
    names = [[(one.name, one.kind) for one in each.dimensions] for each in (known, space)]
    if known != space and names[0] == names[1]:
        warnings.warn(
            f"study `{study}` was last searched over `{known}`, and is now over `{space}`; its trials are "
            "kept, and count together",
            stacklevel=3,
        )


def _name() -> str:
    """The host, for people; the random part makes it unique, as two containers can look alike."""
    return f"{socket.gethostname()}-{secrets.token_hex(4)}"


_searched = threading.local()


@contextmanager
def _not_inside(store: Store, study: str) -> Iterator[None]:
    """A search inside a trial of the same study would wait for that trial to end."""
    outer: tuple[tuple[str, str], ...] = getattr(_searched, "studies", ())
    # Every store in memory is one of its own.
    where = store.location if store.location != "memory://" else str(id(store))
    if (where, study) in outer:
        raise RuntimeError(
            f"`search` over study `{study}` was called by an objective of that study, expected another study"
        )
    _searched.studies = (*outer, (where, study))
    try:
        yield
    finally:
        _searched.studies = outer


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
