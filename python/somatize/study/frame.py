"""A study as a polars data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from somatize._somatize import trials

if TYPE_CHECKING:
    import polars

    from somatize._somatize import Store


def frame(store: Store, *, study: str) -> polars.DataFrame:
    """Every attempt of a study, one row each, with a column per dimension of its space.

    Args:
        store: Where the study is kept.
        study: The study's name.

    Returns:
        Columns `trial`, `attempt`, `state`, then the dimensions by name (null where one does not exist in a
        point), then `score`, `who`, `goal`, `because`, `took_secs`, `reports`, `space_version`,
        `is_discarded`. A dimension whose name is one of these stands as `point.<name>`.

    Raises:
        StudyNotFoundError: There is no such study; its hint names a close one.
        ImportError: polars is not installed; `pip install somatize[plot]` brings it.
    """
    import polars

    seen = polars.DataFrame(trials(store, study=study))
    points = seen["point"].struct
    names = [f"point.{name}" if name in seen.columns else name for name in points.fields]
    return seen.with_columns(points.rename_fields(names)).unnest("point")
