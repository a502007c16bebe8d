"""A tree of tensors as one safetensors file, whose header carries the shape of the tree.

Reading it back unpickles nothing. docs/training.md describes the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor

from somatize.errors import StateError

FORMAT = "somatize state"
VERSION = 1
ENTRY = "somatize"
"""The entry of the safetensors header that holds the tree."""
MAX_DEPTH = 100
"""How deep a tree may nest, so that what was written can be read wherever the reader stands."""


def dumps(tree: Any) -> bytes:
    """A tree of tensors and plain values as the bytes of a safetensors file.

    Raises:
        StateError: A leaf or a key is of a kind that cannot be written; names where it is.
    """
    from safetensors.torch import save

    writer = _Writer()
    head = {"format": FORMAT, "version": VERSION, "tree": writer.written(tree, "")}
    # one entry: safetensors writes several in no order, and equal states are to have one digest
    return save(writer.tensors, metadata={ENTRY: json.dumps(head, allow_nan=False)})


def loads(data: bytes) -> Any:
    """The tree that `dumps` wrote.

    Raises:
        StateError: It wrote none of this, or a newer version of it did.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load as tensors_of

    try:
        tensors = tensors_of(data)
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length]).get("__metadata__", {})
    except (SafetensorError, ValueError) as broken:
        raise StateError("the bytes are no safetensors file") from broken
    if ENTRY not in header:
        raise StateError(
            "the safetensors file was not written by `keep`", hint="read it with `safetensors.torch.load`"
        )
    try:
        head = json.loads(header[ENTRY])
        if head["version"] <= VERSION:
            return _read(head["tree"], tensors)
    except (ValueError, TypeError, LookupError) as broken:
        raise StateError("the header of the state is not one that `keep` writes") from broken
    raise StateError(
        f"the state is of version {head['version']}, and this somatize reads up to {VERSION}",
        hint="upgrade somatize",
    )


class _Writer:
    """Writes a tree as JSON, where every node is a pair (kind, what), and gathers its tensors by name."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._names: dict[Any, str] = {}
        self._storages: set[int] = set()

    def written(self, value: Any, at: str, depth: int = 0) -> list[Any]:
        """`value`, which lies at the path `at`, within `depth` others."""
        if depth > MAX_DEPTH:
            raise StateError(f"the state nests deeper than {MAX_DEPTH}, or holds itself")
        if isinstance(value, Tensor):
            _refuse_unwritable(value, at)
            return ["tensor", self._named(value.detach(), at or "tensor")]
        if isinstance(value, Mapping):
            items = value.items()
            return [
                "dict",
                [[_key(key, at), self.written(each, _under(at, key), depth + 1)] for key, each in items],
            ]
        if isinstance(value, (list, tuple)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return [
                kind,
                [self.written(each, _under(at, place), depth + 1) for place, each in enumerate(value)],
            ]
        if isinstance(value, float) and not math.isfinite(value):
            return ["float", repr(float(value))]
        if value is None or isinstance(value, (bool, int, float, str)):
            return ["value", value]
        raise StateError(
            f"a `{type(value).__name__}` at `{at}` cannot be kept, expected tensors or plain values",
            hint="plain values are text, numbers, bools and None; put it into these, or keep it yourself",
        )

    def _named(self, tensor: Tensor, name: str) -> str:
        """The name under which `tensor` is written; one that is written already keeps its first."""
        memory = (tensor.device, tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        same = (*memory, tensor.is_conj(), tensor.is_neg())
        if tensor.numel() and same in self._names:
            return self._names[same]
        name = name.encode("utf-8", "backslashreplace").decode()
        while name in self.tensors or name == "__metadata__":
            name += "'"  # two paths that read alike, as `a/b` and `a` then `b`, or a word of the format
        self._names[same] = name
        self.tensors[name] = self._apart(tensor.resolve_conj().resolve_neg().cpu().contiguous())
        return name

    def _apart(self, tensor: Tensor) -> Tensor:
        """`tensor` in memory of its own, as safetensors asks: a copy where another one may look into it."""
        storage = tensor.untyped_storage()
        if storage.data_ptr() in self._storages:
            return tensor.clone()
        self._storages.add(storage.data_ptr())
        return tensor


def _refuse_unwritable(tensor: Tensor, at: str) -> None:
    kind = None
    if tensor.is_meta:
        kind = "on the device `meta`"
    elif tensor.layout != torch.strided or tensor.is_quantized:
        kind = f"of layout {tensor.layout}" if tensor.layout != torch.strided else "that is quantized"
    elif not _has_name(tensor.dtype):
        kind = f"of {tensor.dtype}"
    if kind is not None:
        raise StateError(
            f"a tensor {kind} at `{at}` cannot be kept",
            hint="a safetensors file holds dense tensors of the common types: convert it first",
        )


@cache
def _has_name(dtype: torch.dtype) -> bool:
    """Whether safetensors has a name for `dtype`."""
    from safetensors.torch import save

    try:
        save({"": torch.empty(0, dtype=dtype)})
    except KeyError:
        return False
    return True


def _key(key: Any, at: str) -> Any:
    if isinstance(key, (str, int)) and not isinstance(key, bool):
        return key
    raise StateError(f"a key at `{at}` is a `{type(key).__name__}`, expected text or a whole number")


def _under(at: str, key: Any) -> str:
    return f"{at}/{key}" if at else str(key)


def _read(node: list[Any], tensors: Mapping[str, Tensor]) -> Any:
    kind, what = node
    readers: dict[str, Callable[[], Any]] = {
        "tensor": lambda: tensors[what],
        "dict": lambda: {key: _read(each, tensors) for key, each in what},
        "list": lambda: [_read(each, tensors) for each in what],
        "tuple": lambda: tuple(_read(each, tensors) for each in what),
        "float": lambda: float(what),
        "value": lambda: what,
    }
    return readers[kind]()
