"""Moving what a batch holds to a device, whatever it is wrapped in."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Set
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence


def meet(target: Any, output: Any) -> Any:
    """`target` on the device of `output`; moving the output would drag the backward pass over the wire.

    Where both are mappings with the same keys, or sequences of the same length, each entry meets its own
    counterpart: two heads may live on two devices. What has no counterpart goes where the first tensor of
    `output` is.

    Returns:
        `target` itself if nothing had to move; else a copy of the same type with the moved tensors in it.
    """
    if isinstance(target, Tensor) and isinstance(output, Tensor):
        return target if target.device == output.device else move(target, output.device)
    if isinstance(target, Mapping) and isinstance(output, Mapping) and target.keys() <= output.keys():
        return _rebuilt(target, {key: meet(value, output[key]) for key, value in target.items()})
    if _alike(target, output):
        return _rebuilt(target, dict(enumerate(map(meet, target, output))))
    first = first_tensor(output)
    return target if first is None else move(target, first.device)


def move(value: Any, device: torch.device | str) -> Any:
    """`value` with every tensor in it on `device`.

    Tuples, named tuples, lists, sets, mappings, dataclasses and whatever has a `.to(device)` are copied,
    never changed, and keep their type; text, numbers and the rest are passed through. A pinned tensor is
    copied without waiting, so its memory must not be written to before the device has read it.

    Returns:
        `value` itself if nothing had to move.
    """
    if isinstance(value, Tensor):
        if value.device == device:
            return value
        return value.to(device, non_blocking=value.is_pinned())
    if isinstance(value, PackedSequence):
        return value.to(device)  # type: ignore[arg-type]  # torch types the overloads of a tensor
    entries = _entries(value)
    if entries is not None:
        return _rebuilt(value, {key: move(entry, device) for key, entry in entries})
    if callable(getattr(value, "to", None)) and not isinstance(value, (type, torch.nn.Module)):
        return copy.copy(value).to(device)  # some move themselves in place
    return value


def first_tensor(value: Any) -> Tensor | None:
    """The first tensor in `value`, in the order it is written down; None if it holds none."""
    if isinstance(value, Tensor):
        return value
    for _, entry in _entries(value) or ():
        found = first_tensor(entry)
        if found is not None:
            return found
    return None


def tensors(value: Any) -> Iterable[Tensor]:
    """Every tensor in `value`, in the order it is written down."""
    if isinstance(value, Tensor):
        yield value
    for _, entry in _entries(value) or ():
        yield from tensors(entry)


def _alike(target: Any, output: Any) -> bool:
    kinds = (tuple, list)
    return isinstance(target, kinds) and isinstance(output, kinds) and len(target) == len(output)


def _entries(value: Any) -> Iterable[tuple[Any, Any]] | None:
    """What a container holds, by key, place or field; None for what is no container."""
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, (tuple, list, Set)):
        return enumerate(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]
    return None


def _rebuilt(value: Any, entries: dict[Any, Any]) -> Any:
    """A container like `value` that holds `entries`; `value` itself if they are what it holds already."""
    if all(entries[key] is old for key, old in _entries(value) or ()):
        return value
    if isinstance(value, (tuple, Set)):
        make: Callable[[Any], Any] = getattr(value, "_make", type(value))
        return make(list(entries.values()))
    if isinstance(value, Mapping) and not isinstance(value, MutableMapping):
        return type(value)(entries)  # type: ignore[call-arg]  # a read-only view over a mapping
    new = copy.copy(value)
    if isinstance(value, (MutableMapping, list)):
        for key, entry in entries.items():
            new[key] = entry
    else:
        for name, entry in entries.items():
            object.__setattr__(new, name, entry)  # a frozen dataclass too
    return new
