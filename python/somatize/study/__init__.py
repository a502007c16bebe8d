"""A study is a `for` over numbered trials; here is what the `for` asks for.

Numbers go in and a decision comes out, never a tensor: `ask` chooses a point, `take` claims a trial, `report`
writes down where it got to, `finished` reads the history back. The same script on eight machines over one
folder is a distributed study; `search` is that loop, written once.
"""

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
    attempts,
    best,
    curves,
    declared,
    discard,
    finished,
    importance,
    in_flight,
    report,
    take,
    trials,
)
from somatize.study.frame import frame
from somatize.study.search import INTERRUPTED, search

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
    "attempts",
    "best",
    "curves",
    "declared",
    "discard",
    "finished",
    "frame",
    "importance",
    "in_flight",
    "report",
    "search",
    "take",
    "trials",
]
