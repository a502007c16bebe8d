"""One trial from its taking to its end, and what an objective reports in it."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Literal

from somatize._somatize import DONE, FAILED, PRUNED, Point, Pruner, Store, curves, report, take
from somatize.errors import OwnershipError, SomaError
from somatize.study.open_trials import INTERRUPTED, n_lost

if TYPE_CHECKING:
    from typing import SupportsFloat

    Objective = Callable[[Point], Iterator[SupportsFloat] | SupportsFloat]


class Worker:
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
        self.n_taken = 0
        self._told: set[type] = set()  # exceptions that were warned of

    def run(self, trial: int, attempt: int, point: Point) -> None:
        """Nothing happens where somebody else has the trial."""
        which: dict[str, Any] = {
            "study": self.study, "trial": trial, "attempt": attempt, "me": self.me, "goal": self.goal,
        }  # fmt: skip
        said: list[float] = []
        try:
            if not take(self.store, point, **which):
                return
            self.n_taken += 1
            lost = n_lost(self.store, self.study, trial, attempt) if attempt else 0
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
            report(self.store, point, said, state=FAILED, because=_reason(heard.error), **which)
        if heard.error is not None:
            if self.raises:
                raise heard.error
            ended = FAILED if why is None else PRUNED
            self._tell(heard.error, f"trial {which['trial']} {ended}: {_reason(heard.error)}")

    def _tell(self, error: Exception, text: str) -> None:
        """Warn of the first exception of each kind: one that all trials raise is a bug of the objective."""
        if type(error) not in self._told:
            self._told.add(type(error))
            warnings.warn(f"{text}; the next one starts, `raises=True` stops instead", stacklevel=5)


def _reason(error: BaseException) -> str:
    """An exception and what it came from, as a node's failure names the node and its cause the fault."""
    text = error.text if isinstance(error, SomaError) else str(error)
    reason = f"{type(error).__name__}: {text}"
    return reason if error.__cause__ is None else f"{reason}; from {_reason(error.__cause__)}"


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
