"""Declare a network as a graph, train it from outside, search over it from any number of machines.

The graph is here, training one is in `somatize.torch`, searching over many in `somatize.study`.
"""

from somatize._somatize import Store, __version__
from somatize.errors import SomaError

__all__ = [
    "SomaError",
    "Store",
    "__version__",
]
