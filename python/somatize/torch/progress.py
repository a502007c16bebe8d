"""The bar of `fit`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Bar:
    """A bar that is not shown."""

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *raised: object) -> None:
        """The bar stays as it is."""

    def over(self, batches: Iterable[Any]) -> Iterable[Any]:
        """`batches`, each counted once it was worked on."""
        return batches

    def say(self, loss: float) -> None:
        """One epoch has ended with this mean loss."""


class Tqdm(Bar):
    """A bar on stderr."""

    def __init__(self, shown: Any) -> None:
        self._shown = shown

    def __exit__(self, *raised: object) -> None:
        """End the line."""
        self._shown.close()

    def over(self, batches: Iterable[Any]) -> Iterable[Any]:
        """`batches`, each a step of the bar once it was worked on."""
        for batch in batches:
            yield batch
            self._shown.update()

    def say(self, loss: float) -> None:
        """Write the loss beside the bar."""
        self._shown.set_postfix(loss=f"{loss:.4g}")


def bar(data: Any, epochs: int, *, shown: bool) -> Bar:
    """A bar over `epochs` walks of `data`, with its end when `data` knows its length.

    Raises:
        ImportError: It is to be shown and tqdm is not installed.
    """
    if not shown:
        return Bar()
    try:
        from tqdm.auto import tqdm
    except ImportError as missing:
        raise ImportError('a progress bar needs tqdm: pip install "somatize[torch]"') from missing
    try:
        total = len(data) * epochs
    except TypeError:  # a function, a stream, an iterable without a length
        total = None
    return Tqdm(tqdm(total=total, unit="step"))
