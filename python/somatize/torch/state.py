"""What a training run exports: the tensors of its nodes, out, back, into a store and averaged.

A state is `{node: {name: tensor}}`; `state_file` is what it looks like when it is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.parameter import is_lazy

from somatize._somatize import Store
from somatize.errors import StateError
from somatize.torch.parameters import implementations, parts
from somatize.torch.state_file import dumps, loads

if TYPE_CHECKING:
    from somatize import Graph

State = dict[str, dict[str, Tensor]]

SHOWN = 8
"""How many misfits an error names before it counts the rest."""


class Unmatched(NamedTuple):
    """What `load(..., strict=False)` passed over, as `node/name`.

    Attributes:
        missing: In the graph and not in the state; left as they were.
        unexpected: In the state and not in the graph; dropped.
    """

    missing: list[str]
    unexpected: list[str]


def export(graph: Graph) -> State:
    """The parameters and buffers of every node that has any: `{node: {name: tensor}}`.

    A node with a `state_dict()` is asked for it; of any other, the modules and parameters in its attributes
    are named as torch names them (`net.0.weight`), and whatever else its `parameters()` answers by its place
    (`parameters.0`). Tensors are detached copies on the device they lie on; training on does not change them.
    A tensor that several nodes share is copied once and shared by their entries.

    Raises:
        StateError: A node's `state_dict()` holds something that is no tensor, or a lazy one that no forward
            has shaped yet; names the node and the entry.
    """
    copies: dict[int, Tensor] = {}
    return {
        node: {name: _copied(each, copies) for name, each in entries.items()}
        for node, entries in _live(graph).items()
    }


def load(graph: Graph, state: Mapping[str, Mapping[str, Tensor]], *, strict: bool = True) -> Unmatched:
    """Put an exported state back, in place: what is shared stays so, and an optimizer goes on.

    Everything is compared first, so a state that is refused has changed nothing.

    Args:
        graph: The network.
        state: As `export` answers it; on any device.
        strict: Whether every name must be on both sides. Shapes and dtypes must fit either way.

    Returns:
        The names on one side alone; both lists are empty when `strict`.

    Raises:
        StateError: Names, shapes or dtypes do not fit, or entries that the graph shares differ; names them.
    """
    live, given = _flat(_live(graph)), _flat(state)
    missing = [f"{node}/{name}" for node, name in live if (node, name) not in given]
    unexpected = [f"{node}/{name}" for node, name in given if (node, name) not in live]
    misfits = [_misfit(key, live[key], given[key]) for key in live if key in given]
    wrong = [text for text in misfits if text]
    if strict:
        wrong += [f"`{name}` is missing" for name in missing]
        wrong += [f"`{name}` is not in the graph" for name in unexpected]
    wrong = wrong or _at_odds(live, given)
    if wrong:
        raise StateError(
            f"the state does not fit the graph: {_listed(wrong)}",
            hint="load it into a network like the one exported; `strict=False` passes over names on one side",
        )
    with torch.no_grad():
        for key, each in live.items():
            if key in given:
                each.copy_(given[key])
    return Unmatched(missing, unexpected)


def keep(store: Store, name: str, state: Any, *, metadata: Mapping[str, str] | None = None) -> str:
    """Write a state into a store and bind `name` to it; a reader meets the old one or the new one.

    Besides what `export` answers, any tree of dicts, lists and tuples does whose leaves are tensors, text,
    numbers, bools and None: `{"graph": export(g), "optimizer": t.optimizer.state_dict(), "epoch": 3}`.

    Args:
        store: Open for writing. Any number of processes may keep at once; of two under one name the later
            stands.
        name: Any text.
        state: The tree. Shared tensors are written once, and come back shared.
        metadata: Words beside the name, for who looks before reading: `store.metadata(name)`.

    Returns:
        The digest of the bytes. They are on disk when this returns, as `Store.put` and `Store.bind` have it.

    Raises:
        StateError: A leaf or a key is of a kind that cannot be written; names where it is.
        TypeError: `store` is no store.
    """
    _check_store(store)
    digest: str = store.put(dumps(state))
    store.bind(name, digest, dict(metadata) if metadata else None)
    return digest


def recall(store: Store, name: str) -> Any:
    """The state that was kept under `name`, its tensors on the CPU. Nothing is unpickled.

    Raises:
        NameNotFoundError: Nothing was kept under `name`.
        StateError: What `name` is bound to is no state, or one written by a newer version.
        CorruptError: The bytes are not those that were written.
        TypeError: `store` is no store.
    """
    _check_store(store)
    return loads(store.get(store.resolve(name)))


def _check_store(store: object) -> None:
    if not isinstance(store, Store):
        raise TypeError(f"{store!r} was given, expected a Store: open one with `Store({str(store)!r})`")


def fedavg(states: Sequence[State], sizes: Sequence[float]) -> State:
    """The mean of several states of one network, each weighing its size.

    McMahan et al. 2017, "Communication-Efficient Learning of Deep Networks from Decentralized Data",
    algorithm 1: the sum over clients k of (n_k / n) w_k. Ours sums in float64, and averages buffers too:
    whole numbers (the step count of a batch norm) are rounded to the nearest, truths must agree. What is
    equal in all states stays so to the bit, and a state of size 0 adds nothing, whatever it holds.

    Args:
        states: At least one, with the same names, shapes and dtypes; on any devices.
        sizes: How many samples each has seen; at least one above 0, none below.

    Returns:
        New tensors, on the devices of the first state.

    Raises:
        ValueError: The two are of different lengths or empty, or a size is negative or not finite, or all are
            0.
        StateError: A state differs from the first in a name, a shape or a dtype; names it.
    """
    if not states or len(states) != len(sizes):
        raise ValueError(
            f"fedavg was given {len(states)} states and {len(sizes)} sizes, expected as many, at least 1"
        )
    if not all(math.isfinite(size) and size >= 0 for size in sizes) or not sum(sizes) > 0:
        raise ValueError(
            f"`sizes` was given `{list(sizes)}`, expected finite numbers, not negative and not all 0"
        )
    flat = [_flat(state) for state in states]
    for at, other in enumerate(flat[1:], 1):
        wrong = [f"`{node}/{name}` is missing" for node, name in flat[0] if (node, name) not in other]
        wrong += [
            f"`{node}/{name}` is not in the first" for node, name in other if (node, name) not in flat[0]
        ]
        wrong += filter(None, (_misfit(key, flat[0][key], other[key]) for key in flat[0] if key in other))
        if wrong:
            raise StateError(
                f"state {at} does not fit the first: {_listed(wrong)}",
                hint="average states of one network alone",
            )
    counted = [(state, size / sum(sizes)) for state, size in zip(flat, sizes, strict=True) if size]
    shares = [share for _, share in counted]
    return {
        node: {
            name: _mean(
                f"{node}/{name}", [state[node, name].to(first.device) for state, _ in counted], shares
            )
            for name, first in entries.items()
        }
        for node, entries in states[0].items()
    }


def _live(graph: Graph) -> dict[str, dict[str, Tensor]]:
    """The tensors themselves, by node and name; nodes without any are left out."""
    found = {node: _tensors(node, implementation) for node, implementation in implementations(graph)}
    return {node: entries for node, entries in found.items() if entries}


def _tensors(node: str, implementation: Any) -> dict[str, Tensor]:
    entries: dict[str, Any] = {}
    asked = getattr(implementation, "state_dict", None)
    if callable(asked):
        entries = asked(keep_vars=True)
    else:
        for name, part in parts(implementation):
            if isinstance(part, Module):
                entries.update(part.state_dict(prefix=f"{name}.", keep_vars=True))
            else:
                entries[name] = part
        known = {id(each) for each in entries.values()}
        answered = getattr(implementation, "parameters", None)
        rest = [each for each in answered() if id(each) not in known] if callable(answered) else []
        entries.update({f"parameters.{at}": each for at, each in enumerate(rest)})
    for name, each in entries.items():
        if is_lazy(each):
            raise StateError(
                f"`{name}` of node `{node}` has no shape yet",
                hint="a lazy module takes its shape in the first forward: run `g.forward(x)` once",
            )
        if not isinstance(each, Tensor):
            raise StateError(
                f"the state of node `{node}` has a `{type(each).__name__}` as `{name}`, expected tensors",
                hint="register it as a buffer, or keep it yourself beside the state",
            )
    return entries


def _flat(state: Mapping[str, Mapping[str, Tensor]]) -> dict[tuple[str, str], Tensor]:
    for given in (state, *(state.values() if isinstance(state, Mapping) else ())):
        if not isinstance(given, Mapping):
            raise StateError(
                f"the state holds a `{type(given).__name__}`, expected `{{node: {{name: tensor}}}}`",
                hint="the `state_dict()` of a module goes under the name of its node",
            )
    return {(node, name): each for node, entries in state.items() for name, each in entries.items()}


def _copied(tensor: Tensor, copies: dict[int, Tensor]) -> Tensor:
    if id(tensor) not in copies:
        copies[id(tensor)] = tensor.detach().clone()
    return copies[id(tensor)]


def _misfit(key: tuple[str, str], live: Tensor, given: Tensor) -> str | None:
    """What keeps `given` from going into `live`, in words, or None."""
    name = "/".join(key)
    if not isinstance(given, Tensor):
        return f"`{name}` is a `{type(given).__name__}`, expected a tensor"
    if live.shape != given.shape:
        return f"`{name}` has shape {tuple(given.shape)}, expected {tuple(live.shape)}"
    if live.dtype != given.dtype:
        return f"`{name}` is of {given.dtype}, expected {live.dtype}"
    if live.is_meta != given.is_meta:
        return f"`{name}` lies on the device `meta` on one side, and has no numbers there"
    return None


def _at_odds(live: dict[tuple[str, str], Tensor], given: dict[tuple[str, str], Tensor]) -> list[str]:
    """Entries that are one tensor in the graph and two different ones in the state."""
    first: dict[int, tuple[str, str]] = {}
    wrong = []
    for key, each in live.items():
        if key not in given:
            continue
        other = first.setdefault(id(each), key)
        if given[other] is not given[key] and not _same(given[other], given[key]):
            wrong.append(f"`{'/'.join(other)}` and `{'/'.join(key)}` are one tensor in the graph, and differ")
    return wrong


def _same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors of one shape and dtype are equal to the bit."""
    return torch.equal(_bits(a), _bits(b.to(a.device)))


def _bits(tensor: Tensor) -> Tensor:
    return tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def _mean(name: str, some: list[Tensor], shares: list[float]) -> Tensor:
    first = some[0]
    if all(_same(first, each) for each in some[1:]):
        return first.clone()
    if first.dtype == torch.bool:
        raise StateError(f"`{name}` holds truths that differ between the states, and have no mean")
    wide = torch.complex128 if first.is_complex() else torch.float64
    total = torch.zeros_like(first, dtype=wide)
    for each, share in zip(some, shares, strict=True):
        total += each.to(wide) * share
    return (total if first.is_floating_point() or first.is_complex() else total.round()).to(first.dtype)


def _listed(some: Iterable[str]) -> str:
    every = list(some)
    rest = len(every) - SHOWN
    return ", ".join(every[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")
