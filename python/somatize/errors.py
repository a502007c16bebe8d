"""What can go wrong, by name.

Every error derives from `SomaError` and, where Python has the word, from the built-in a person would
catch. What to do about it is `hint`, apart from what happened, and printed on a line of its own. Errors of
the operating system (a full disk, a missing permission) stay the `OSError` they are.
"""

from __future__ import annotations

from typing import ClassVar


class SomaError(Exception):
    """The base of every error of somatize.

    Attributes:
        text: What was given and what was expected.
        hint: What to do about it, or None.
    """

    text: str
    hint: str | None

    def __init__(self, text: str = "", *, hint: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.text}\nhint: {self.hint}" if self.hint else self.text


class StoreError(SomaError):
    """A store refused: another version, damaged bytes, or a backend that cannot do what was asked."""


class StoreNotFoundError(StoreError, LookupError):
    """There is no store at the place that was opened for reading."""


class BlobNotFoundError(StoreError, LookupError):
    """The store holds no bytes under this digest."""


class NameNotFoundError(StoreError, LookupError):
    """Nothing is bound to this name."""


class DigestError(StoreError, ValueError):
    """Text was given for a digest that is not 64 hexadecimal digits."""


class CorruptError(StoreError, ValueError):
    """Bytes read back are not the bytes that were written."""


class SpaceError(SomaError, ValueError):
    """A dimension, a point or a text does not fit its space."""


class DimensionNotFoundError(SomaError, KeyError):
    """The point, or the space, has no dimension of this name; `args` holds what was asked for."""


class UsedUpError(SpaceError):
    """Every point of a finite space was asked for already."""


class SamplerError(SomaError, ValueError):
    """A sampler was built with an option it cannot work with."""


class PrunerError(SomaError, ValueError):
    """A pruner was built with an option it cannot work with."""


class StudyError(SomaError):
    """A study refused, or its records cannot be read as asked."""


class StudyNotFoundError(StudyError, LookupError):
    """The store has no study of this name."""


class TrialNotFoundError(StudyError, LookupError):
    """Nobody has taken a trial of this number."""


class GoalError(StudyError, ValueError):
    """The study has the other goal, or none where one is needed."""


class OwnershipError(StudyError, RuntimeError):
    """A report by somebody else, for a trial nobody claimed, or on a finished attempt. Nothing changed."""


class SpaceMismatchError(StudyError, ValueError):
    """The study was begun over dimensions of other names or kinds."""


class ReportError(StudyError, ValueError):
    """A report contradicts itself or the reports before it."""


class GraphError(SomaError, ValueError):
    """A node, an edge or a name was refused when it was added. The graph is as it was."""


class UnknownNodeError(GraphError, LookupError):
    """No node of the graph has this id."""


class DeviceError(GraphError):
    """The text is not the name of a device."""


class RunError(SomaError, RuntimeError):
    """A run of a graph ended without an answer.

    Attributes:
        node: The id of the node it is about.
        also: The failures of other branches of the same run, in declaration order.
    """

    node: str | None = None
    also: tuple[RunError, ...] = ()

    def _keep(self, also: list[RunError]) -> None:
        """Attaches what else failed, so that no failure of a run is lost."""
        self.also = tuple(also)
        if hasattr(self, "add_note"):  # Python 3.11 and later print notes below the traceback.
            for other in also:
                because = f": {type(other.__cause__).__name__}: {other.__cause__}" if other.__cause__ else ""
                self.add_note(f"also, {other.text}{because}")


class NodeError(RunError):
    """A node failed; what it raised is `__cause__`, with its traceback.

    It is also of the built-in class of its cause, so that `except ValueError` around `forward` finds the
    `ValueError` of a node.
    """

    _builtin: ClassVar[type[Exception] | None] = None

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.text, self._builtin, {**self.__dict__, "cause": self.__cause__})


class DriverError(RunError):
    """A node asked, and there was no driver, it failed, or it answered another number of results."""


class TurnBudgetError(RunError):
    """A node was not done after 64 turns."""


class PlacementError(RunError):
    """The output of a placed node is on another device than the node."""


# Built-in classes that take more than a text, or that mean something to whoever calls a function.
_TOO_SPECIAL = (UnicodeError, SyntaxError, StopIteration, StopAsyncIteration)


def _builtin_of(raised: type[BaseException]) -> type[Exception] | None:
    """The nearest built-in class a person would catch; None where that is `Exception` or `RuntimeError`."""
    if issubclass(raised, NodeError):  # A node that ran a graph of its own.
        return raised._builtin
    for known in raised.__mro__:
        if known in (Exception, RuntimeError):
            return None
        if known.__module__ == "builtins" and issubclass(known, Exception):
            if not issubclass(known, _TOO_SPECIAL):
                return known
            if known is ValueError:
                return known
    return None


_NODE_ERRORS: dict[type[Exception] | None, type[NodeError]] = {None: NodeError}


def _node_error_class(builtin: type[Exception] | None) -> type[NodeError]:
    found = _NODE_ERRORS.get(builtin)
    if found is None and builtin is not None:
        words = {"__module__": NodeError.__module__, "__doc__": NodeError.__doc__, "_builtin": builtin}
        found = type("NodeError", (NodeError, builtin), words)
        _NODE_ERRORS[builtin] = found
    return found or NodeError


def node_error(text: str, cause: BaseException) -> NodeError:
    """A `NodeError` that is also of the built-in class of `cause`."""
    return _node_error_class(_builtin_of(type(cause)))(text)


def _rebuilt(text: str, builtin: type[Exception] | None, state: dict[str, object]) -> NodeError:
    raised = _node_error_class(builtin)(text)
    raised.__cause__ = state.pop("cause")  # type: ignore[assignment]
    raised.__dict__.update(state)
    return raised


class DamageWarning(UserWarning):
    """Some bytes of a store do not read; whoever reads it goes on without what they said."""


# Training


class TrainerError(SomaError):
    """A training run refused to start, or to go on."""


class NoParametersError(TrainerError, ValueError):
    """Nothing would train: no node has parameters, or all that the optimizer holds are frozen."""


class OptimizerMismatchError(TrainerError, ValueError):
    """The optimizer is of another graph, holds a parameter twice, or a node was replaced since."""


class NoGradientError(TrainerError, RuntimeError):
    """A parameter that is to be trained got no gradient."""


class UpdateError(TrainerError, RuntimeError):
    """An update without gradients gathered for it, or by an optimizer that wants a closure."""


class SpentDataError(TrainerError, ValueError):
    """An epoch yielded nothing."""


class BatchError(TrainerError, TypeError, ValueError):
    """A batch is not a pair, or its target does not fit the output."""


class LossError(TrainerError, ValueError):
    """The objective answered something that cannot be minimised."""


class StateError(SomaError, ValueError):
    """A state does not fit the graph or the states it meets, or cannot be written or read."""


class NonFiniteLossWarning(RuntimeWarning):
    """A loss is infinite or not a number; training goes on."""
