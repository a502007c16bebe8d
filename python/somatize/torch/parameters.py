"""What a node holds that can be trained or kept, found by asking, not by a contract."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import Module, Parameter

if TYPE_CHECKING:
    from somatize import Graph


def parameters(graph: Graph, *, without: str | Iterable[str] = ()) -> list[Parameter]:
    """The parameters of the graph's nodes, for an optimizer.

    Asks each node for `parameters()`, in declaration order, and skips who has none: a node that cleans text
    does not train and is no less of a node for it. A parameter that several nodes share (tied weights) comes
    once, where it is met first. Frozen ones (`requires_grad` False) are there too, as in
    `torch.nn.Module.parameters`.

    Args:
        graph: The network.
        without: Ids of nodes to leave out, one or several. A parameter that another node shares stays in.

    Returns:
        A new list; empty if no node has any.

    Raises:
        ValueError: `without` names a node that the graph does not have.
        TypeError: A node's `parameters()` answers something other than tensors; names the node.
    """
    left_out = {without} if isinstance(without, str) else set(without)
    known = graph.nodes()
    for name in sorted(left_out.difference(known)):
        close = difflib.get_close_matches(name, known, 1)
        raise ValueError(
            f"`without` names `{name}`, which the graph does not have"
            + (f"; did you mean `{close[0]}`?" if close else f", expected one of {known}")
        )
    return list({id(each): each for node, each in walk(graph) if node not in left_out}.values())


def walk(graph: Graph) -> Iterator[tuple[str, Parameter]]:
    """Every node's id with each parameter it answers, repeats and all, in declaration order."""
    for node, implementation in implementations(graph):
        asked = getattr(implementation, "parameters", None)
        if not callable(asked):
            continue
        for each in asked():
            if not isinstance(each, torch.Tensor):
                raise TypeError(
                    f"`parameters()` of node `{node}` answers a `{type(each).__name__}`, expected tensors"
                )
            yield node, each  # type: ignore[misc]  # a plain leaf tensor trains as well


def implementations(graph: Graph) -> Iterator[tuple[str, Any]]:
    """Every node's id and the object behind it, in declaration order."""
    for node in graph.nodes():
        yield node, graph.implementation(node)


def parts(node: Any) -> Iterator[tuple[str, Module | Parameter]]:
    """The modules and parameters that a node holds in its attributes, by name, in the order they were set.

    Looks into lists, tuples and dicts, which are numbered or keyed: `layers.0`. A node that is a module
    itself is its one part, with no name.
    """
    if isinstance(node, Module):
        yield "", node
        return
    for name, value in getattr(node, "__dict__", {}).items():
        yield from _parts_in(name, value)


def _parts_in(name: str, value: Any) -> Iterator[tuple[str, Module | Parameter]]:
    if isinstance(value, (Module, Parameter)):
        yield name, value
    elif isinstance(value, (list, tuple)):
        for at, each in enumerate(value):
            yield from _parts_in(f"{name}.{at}", each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _parts_in(f"{name}.{key}", each)


def names(graph: Graph) -> dict[int, tuple[str, str]]:
    """Identity of every parameter the nodes answer -> the node that has it first, and its name there."""
    found: dict[int, tuple[str, str]] = {}
    for node, implementation in implementations(graph):
        if not callable(getattr(implementation, "parameters", None)):
            continue
        for name, each in _named(implementation):
            found.setdefault(id(each), (node, name))
    return found


def _named(node: Any) -> Iterator[tuple[str, Parameter]]:
    for name, part in parts(node):
        if isinstance(part, Parameter):
            yield name, part
        else:
            yield from part.named_parameters(prefix=name)
    for at, each in enumerate(node.parameters()):
        yield f"parameters()[{at}]", each
