"""`join-tables`: the tables of several analyses below each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from biasgauge.study import file_step


def join_tables(out: Path, inputs: Mapping[str, Path]) -> None:
    """Join the CSV files that have one name, in the order of the analyses."""
    names = dict.fromkeys(path.name for folder in inputs.values() for path in sorted(folder.glob("*.csv")))
    for name in names:
        frames = [pd.read_csv(folder / name, dtype=str) for folder in inputs.values() if (folder / name).is_file()]
        pd.concat(frames, ignore_index=True).to_csv(out / name, index=False)


STEP = file_step("join-tables", "tables of several analyses as one", {"join-tables": join_tables})
