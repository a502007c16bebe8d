"""A node around any `torch.nn.Module`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from torch.nn import Module, Parameter

from somatize import Node
from somatize.torch.device import move

if TYPE_CHECKING:
    from torch import Tensor

    from somatize import Ctx


def module(net: Module) -> ModuleNode:
    """A node that runs `net` where the graph places it.

    On `.on(device)` the parameters and buffers go there once, at the first run, and each input every time,
    however nested. Without a placement nothing moves. Parameters keep their identity when they move, so an
    optimizer that was built before still trains them.

    Args:
        net: Called with the one value that crosses the edge: a map, where several nodes come before.

    Example:
        >>> import torch
        >>> from somatize import Graph
        >>> from somatize.torch import module
        >>> body = module(torch.nn.Linear(8, 4)).named("body")
        >>> g = Graph.somatize(body >> module(torch.nn.Linear(4, 1)).named("head"))
        >>> g.forward(torch.ones(3, 8)).shape
        torch.Size([3, 1])
    """
    return ModuleNode(net)


class ModuleNode(Node):
    """What `module` answers; the module itself is `.module`.

    Raises:
        TypeError: `net` is not a `torch.nn.Module`, or is the class of one.
    """

    def __init__(self, net: Module) -> None:
        if not isinstance(net, Module):
            given = f"the class `{net.__name__}`" if isinstance(net, type) else f"a `{type(net).__name__}`"
            raise TypeError(f"module was given {given}, expected an instance of torch.nn.Module")
        super().__init__()
        self.module = net
        self._lies_on: str | None = None

    def forward(self, input: Any, ctx: Ctx) -> Any:
        """Run the module on `input`, on the device that `ctx` names."""
        device = ctx.device
        if device is not None:
            if device != self._lies_on:
                self.module.to(device)
                self._lies_on = device
            input = move(input, device)
        return self.module(input)

    def parameters(self) -> Iterator[Parameter]:
        """Those of the module."""
        return self.module.parameters()

    def state_dict(self, *, keep_vars: bool = False) -> dict[str, Tensor]:
        """That of the module, under the module's own names."""
        return self.module.state_dict(keep_vars=keep_vars)

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Put a state back into the module, strictly."""
        self.module.load_state_dict(state)

    def train(self, mode: bool = True) -> ModuleNode:
        """Set the module's mode, as `torch.nn.Module.train`."""
        self.module.train(mode)
        return self

    def eval(self) -> ModuleNode:
        """Set the module to evaluate, as `torch.nn.Module.eval`."""
        return self.train(False)

    def __repr__(self) -> str:
        return f"module({self.module!r})"
