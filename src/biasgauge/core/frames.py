"""Data frames of whatever library: pandas as it is, others (polars, Arrow, Modin) read through narwhals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def as_pandas(given: object) -> pd.DataFrame | None:
    """A pandas frame of the same columns and rows; None for what is no data frame.

    Only pandas has labels of rows: those of other libraries are numbered.
    """
    if not (hasattr(given, "columns") or hasattr(given, "column_names")):  # libraries of frames are slow to import
        return None
    import narwhals as nw
    import pandas as pd

    if isinstance(given, pd.DataFrame):
        return given
    frame = nw.from_native(given, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
