"""Results to tables: one row for each number, the ends of its interval in columns of their own."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd


def rows_to_frame(rows: Iterable[Any], *, without: tuple[str, ...] = (), reasons: bool = False) -> pd.DataFrame:
    """One row for each dataclass, its `interval` and any `…_interval` spread over columns.

    Args:
        rows: dataclasses of one kind.
        without: fields to leave out.
        reasons: add why an interval is undefined.
    """
    import pandas as pd  # noqa: PLC0415 - only those who want a frame pay for it

    plain = []
    for one in rows:
        row: dict[str, Any] = {}
        for name, value in asdict(one).items():
            if name.endswith("_interval"):
                row |= {name.replace("interval", end): (value or {}).get(end) for end in ("low", "high")}
            elif name != "interval" and name not in without:
                row[name] = value
        interval = asdict(one.interval) if one.interval is not None else {}
        row |= {name: interval.get(name) for name in ("low", "high", "level", "method")}
        plain.append({**row, **({"interval_reason": interval.get("reason")} if reasons else {})})
    return pd.DataFrame(plain)
