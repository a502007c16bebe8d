"""The graph: declared once, run many times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from somatize import _somatize

if TYPE_CHECKING:
    from typing_extensions import Self

    from somatize._somatize import Expression
    from somatize.node import Node


class Graph(_somatize.Graph):
    """A network: nodes, the edges between them, and where they run.

    Acyclic by construction: what cannot be in a graph is refused when it is added.

    Example:
        >>> from somatize import Graph, Node
        >>> class Add(Node):
        ...     def __init__(self, n):
        ...         self.n = n
        ...     def forward(self, input, ctx):
        ...         return input + self.n
        >>> g = Graph.somatize(Add(1) >> (Add(10).named("left") | Add(20).named("right")))
        >>> g.forward(0)
        {'left': 11, 'right': 21}
        >>> print(g.plan())
        sequence
          add <- input
          wave
            left <- add
            right <- add
    """

    @classmethod
    def somatize(cls, expression: Node | Expression) -> Self:
        """The graph an expression describes: `Graph.somatize(A() >> (B() | C()) >> D())`.

        Raises:
            GraphError: Two nodes were given one name.
            TypeError: It is neither a node nor an expression of nodes.
        """
        graph = cls()
        graph.extend(expression)
        return graph

    def _repr_html_(self) -> str:
        from somatize.figure.graph import svg

        return svg(self)
