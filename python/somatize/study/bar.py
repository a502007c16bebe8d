"""How far a study is, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from somatize._somatize import FAILED, RUNNING, Store, best
from somatize.errors import StudyNotFoundError
from somatize.study.open_trials import rows_of


class Bar:
    """The study's trials that have ended, whoever ran them, and the best score so far."""

    def __init__(self, store: Store, study: str, total: int, *, shown: bool) -> None:
        self.store = store
        self.study = study
        self.total = total
        self.bar = self._made() if shown else None

    def _made(self) -> Any:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm(total=self.total, desc=self.study, unit="trial", initial=self._ended())

    def _ended(self) -> int:
        return sum(n for state, n in self._counts().items() if state != RUNNING)

    def _counts(self) -> Mapping[Any, int]:
        rows = rows_of(self.store, self.study)
        return rows.counts() if rows else {}

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def show(self, *, is_waiting: bool = False) -> None:
        """Count again what has ended; `is_waiting`: nothing is left but trials of others."""
        if self.bar is None:
            return
        counts = self._counts()
        ended = sum(n for state, n in counts.items() if state != RUNNING)
        self.bar.update(min(ended, self.total) - self.bar.n)
        try:
            top = best(self.store, study=self.study)
        except StudyNotFoundError:
            return
        said = [f"best {top.score:.4g}"] if top is not None else []
        if counts.get(FAILED):
            said.append(f"{counts[FAILED]} failed")
        if is_waiting:
            said.append(f"waiting for {counts.get(RUNNING, 0)} of other workers")
        self.bar.set_postfix_str(", ".join(said))

    def say_over(self) -> None:
        """Say that there was nothing to do, and how there would be."""
        if self.bar is None or not self.total or self._ended() < self.total:
            return
        text = (
            f"study `{self.study}` has all of its {self.total} trials: "
            "a larger `total` runs more, another name for `study` begins anew"
        )
        if self._counts().get(FAILED):
            text += ", `retry_failed=True` runs the failed ones again"
        self.bar.write(text, file=sys.stderr)
