"""How far a study is, on stderr."""

from __future__ import annotations

from typing import Any

from somatize._somatize import RUNNING, Store, best
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
        rows = rows_of(self.store, self.study)
        return sum(n for state, n in rows.counts().items() if state != RUNNING) if rows else 0

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def show(self) -> None:
        """Count again what has ended."""
        if self.bar is None:
            return
        self.bar.update(min(self._ended(), self.total) - self.bar.n)
        try:
            top = best(self.store, study=self.study)
        except StudyNotFoundError:
            return
        if top is not None:
            self.bar.set_postfix_str(f"best {top.score:.4g}")
