"""Declare a network as a graph, train it from outside, search over it from any number of machines.

The graph is here, training one is in `somatize.torch`, searching over many in `somatize.study`.
"""

from somatize._somatize import Await, Ctx, Done, Expression, Opaque, Store, __version__
from somatize.errors import SomaError
from somatize.graph import Graph
from somatize.node import Node

__all__ = [
    "Await",
    "Ctx",
    "Done",
    "Expression",
    "Graph",
    "Node",
    "Opaque",
    "SomaError",
    "Store",
    "__version__",
]
