"""What can go wrong, by name.

Every error derives from `SomaError` and, where Python has the word, from the built-in a person would
catch. What to do about it is `hint`, apart from what happened, and printed on a line of its own. Errors of
the operating system (a full disk, a missing permission) stay the `OSError` they are.
"""

from __future__ import annotations


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
    """A node, an edge or a placement was refused when it was added."""


class NodeError(SomaError, RuntimeError):
    """A node failed while the graph ran; what it raised is the cause."""


class DamageWarning(UserWarning):
    """Some bytes of a store do not read; whoever reads it goes on without what they said."""
