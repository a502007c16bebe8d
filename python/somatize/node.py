"""What a user derives from: `Node`, with the two operators and the two marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from somatize import _somatize

if TYPE_CHECKING:
    import torch

    from somatize._somatize import Ctx, Expression


class Node:
    """One step of a network.

    A subclass writes `forward(self, input, ctx)`, which runs once per run. Whatever it returns is what the
    next node is given; `Done(value)` says the same; `Await([request, ...])` asks the run's driver first, and
    `forward` is called again with the same input, the next `ctx.turn` and `ctx.results`. `input` is what the
    one predecessor said, a dict keyed by who said what when there are several, the graph's input when there
    is none.

    `__init__` need not call `super().__init__()`, and a class may be a `torch.nn.Module` as well; such a node
    is called the way torch's users call a module, so that its hooks run. A node that appears twice is one
    object in two places: its state is shared, and its weights are counted once.

    Example:
        >>> from somatize import Graph, Node
        >>> class Double(Node):
        ...     def forward(self, input, ctx):
        ...         return 2 * input
        >>> Graph.somatize(Double() >> Double()).forward(3)
        12
    """

    __slots__ = ()

    def forward(self, input: Any, ctx: Ctx) -> Any:
        """The step itself, written by the subclass."""
        raise NotImplementedError(f"`{type(self).__name__}` has no `forward(self, input, ctx)`")

    def named(self, name: str) -> Expression:
        """This node under a name of its own.

        Raises:
            GraphError: The name is empty.
        """
        return _somatize.expression(self).named(name)

    def on(self, device: str | torch.device) -> Expression:
        """This node, placed: `forward` finds the name in `ctx.device` and obeys it.

        Raises:
            DeviceError: torch would not accept the name.
        """
        return _somatize.expression(self).on(device)

    def __rshift__(self, next: Node | Expression) -> Expression:
        return _somatize.then(self, next)

    def __or__(self, other: Node | Expression) -> Expression:
        return _somatize.beside(self, other)

    # Two nodes never come here: this is where a torch module on the left is refused in words.

    def __rrshift__(self, before: object) -> Expression:
        return _somatize.then(before, self)

    def __ror__(self, other: object) -> Expression:
        return _somatize.beside(other, self)
