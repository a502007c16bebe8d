"""Evaluating a graph between two steps, and leaving it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch.nn import Module

from somatize.torch.parameters import implementations, parts

if TYPE_CHECKING:
    from somatize import Graph


@contextmanager
def evaluating(graph: Graph) -> Iterator[None]:
    """Every module of the graph's nodes in eval mode, and no gradients, for as long as the `with` lasts.

    Each module, down to the innermost, is then put back the way it was found: what the caller had set to
    `eval()` stays so. The same holds when the body raises. Modules are found in the nodes' attributes, in
    lists, tuples and dicts too.

    Example:
        >>> import torch
        >>> from somatize import Graph
        >>> from somatize.torch import evaluating, module
        >>> g = Graph.somatize(module(torch.nn.Dropout(0.5)))
        >>> with evaluating(g):
        ...     g.forward(torch.ones(3))
        tensor([1., 1., 1.])
    """
    found = [each for _, node in implementations(graph) for each in _modules(node)]
    before = [(each, each.training) for each in found]
    try:
        for each in found:
            each.eval()
        with torch.no_grad():
            yield
    finally:
        for each, training in before:
            each.training = training  # not train(mode), which would set the children too


def _modules(node: object) -> Iterator[Module]:
    for _, part in parts(node):
        if isinstance(part, Module):
            yield from part.modules()
