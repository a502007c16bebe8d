"""Training a graph, outside the graph.

The graph does not learn that it is trained: the `Trainer` is a loop around `g.forward`, and everything a loop
can say (early stopping, schedules, accumulation, population training) stays a line in the caller's loop.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as missing:
    raise ImportError('somatize.torch needs PyTorch: pip install "somatize[torch]"') from missing

from somatize.torch.mode import evaluating
from somatize.torch.module import module
from somatize.torch.parameters import parameters
from somatize.torch.result import Epoch, Result
from somatize.torch.state import Unmatched, export, fedavg, keep, load, recall
from somatize.torch.trainer import Trainer

__all__ = [
    "Epoch",
    "Result",
    "Trainer",
    "Unmatched",
    "evaluating",
    "export",
    "fedavg",
    "keep",
    "load",
    "module",
    "parameters",
    "recall",
]
