"""A study is a `for` over numbered trials; here is what the `for` asks for.

Numbers go in and a decision comes out, never a tensor: `ask` chooses a point, `take` claims a trial, `report`
writes down where it got to, `finished` reads the history back. The same script on eight machines over one
folder is a distributed study; `search` is that loop, written once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from somatize._somatize import (
    DONE,
    FAILED,
    PRUNED,
    RUNNING,
    Abandoned,
    Curves,
    Dimension,
    History,
    Observation,
    Point,
    Pruner,
    Sampler,
    Space,
    Trial,
    Trials,
    abandoned,
    asked,
    attempts,
    best,
    curves,
    declared,
    discard,
    finished,
    importance,
    in_flight,
    report,
    seal,
    take,
    trials,
)
from somatize.study.frame import frame
from somatize.study.open_trials import INTERRUPTED
from somatize.study.search import search

if TYPE_CHECKING:
    from somatize.study.figures.coordinates import coordinates
    from somatize.study.figures.history import history
    from somatize.study.figures.influence import influence
    from somatize.study.figures.learning import learning
    from somatize.study.figures.slices import slices
    from somatize.study.figures.table import table
    from somatize.study.figures.timeline import timeline

__all__ = [
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "PRUNED",
    "RUNNING",
    "Abandoned",
    "Curves",
    "Dimension",
    "History",
    "Observation",
    "Point",
    "Pruner",
    "Sampler",
    "Space",
    "Trial",
    "Trials",
    "abandoned",
    "asked",
    "attempts",
    "best",
    "coordinates",
    "curves",
    "declared",
    "discard",
    "finished",
    "frame",
    "history",
    "importance",
    "in_flight",
    "influence",
    "learning",
    "report",
    "seal",
    "search",
    "slices",
    "table",
    "take",
    "timeline",
    "trials",
]

# Found when first asked for: the loop of a study draws nothing.
_FIGURES = ("coordinates", "history", "influence", "learning", "slices", "table", "timeline")


def __getattr__(name: str) -> Any:
    if name not in _FIGURES:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(import_module(f"{__name__}.figures.{name}"), name)
