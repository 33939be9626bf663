"""Optional libraries: devices of PyTorch by name, and data frames of whatever library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import torch


def device_named(name: str) -> torch.device:
    """The device of that name: "cpu" (also "torch"), "cuda", "cuda:1".

    Raises:
        ParameterError: PyTorch is not installed, or cannot use it.
    """
    try:
        import torch
    except ImportError as problem:
        raise ParameterError(f"The device {name!r} needs PyTorch: pip install 'biasgauge[extrinsic]'.") from problem
    try:
        device = torch.device("cpu" if name == "torch" else name)
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError) as problem:
        raise ParameterError(f"The device {name!r} cannot be used: {str(problem).splitlines()[0]}.") from problem
    return device


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
