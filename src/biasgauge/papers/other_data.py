"""What was found, with what is to be said about the data: on other data than the paper's nothing has to agree."""

from __future__ import annotations

from typing import Any

from biasgauge.papers.row import Found


def found_on(differs: str, *, note: str = "", **numbers: Any) -> Found:  # noqa: ANN401 - the fields of Found
    """What was found, and in what the data differ from those of the paper.

    Args:
        differs: in what the data differ; empty where they are the paper's.
        note: what else is to be said, first.
        **numbers: as of `Found`.
    """
    return Found(**numbers, note="; ".join(text for text in (note, differs) if text), same_data=not differs)
