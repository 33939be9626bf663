"""Every checkable number of a paper: published, by its own rule on the data at hand, corrected."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from biasgauge import registry
from biasgauge.core import did_you_mean
from biasgauge.errors import InternalError, ParameterError
from biasgauge.papers.paper import Data, Paper, Part, Progress
from biasgauge.papers.result import Missing, PaperList, Reproduction
from biasgauge.papers.row import Row

_STEPS = 1000
"""Steps of progress for each part."""


def list_papers() -> PaperList:
    """The papers that can be reproduced, with how many numbers each has."""
    return PaperList(tuple(registry.everything("paper").values()))


def reproduce(
    name: str,
    data: str | os.PathLike[str] | None = None,
    parts: Iterable[str] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Reproduction:
    """Set a paper's numbers beside what its own rule and a corrected one give on the data at hand.

    Args:
        name: one of `registry.names("paper")`.
        data: a folder with whatever of the paper's data you hold, in its published layout; without it, only what needs
            no data or ships with the package is computed. The result says what is missing and where to get it.
        parts: names of the parts to run; all of them by default.
        random_state: seed of simulations, resampling and samplers.
        progress: called with (done, total).

    Raises:
        ParameterError: there is no such paper or part.
        InputError: there is no such folder, or a file in it does not say what it should.
    """
    paper = registry.get("paper", name)
    chosen = _select_parts(paper, parts)
    files = Data(data, paper.needs)
    rows: list[Row] = []
    for number, table in enumerate(chosen):
        rows += _rows(table, files, random_state, _scale_progress(progress, number, len(chosen)))
    return Reproduction(
        paper=paper.name,
        title=paper.title,
        citation=paper.citation,
        about=paper.about,
        parts={table.name: table.about for table in chosen},
        rows=tuple(rows),
        missing=_missing_data(paper, chosen, files),
        settings={
            "paper": paper.name,
            "data": None if data is None else str(data),
            "parts": [table.name for table in chosen],
            "random_state": random_state,
            "files": files.used(),
        },
    )


def _select_parts(paper: Paper, parts: Iterable[str] | None) -> tuple[Part, ...]:
    by_name = {table.name: table for table in paper.parts}
    if parts is None:
        return paper.parts
    wanted = [parts] if isinstance(parts, str) else list(parts)
    for name in wanted:
        if name not in by_name:
            hint = did_you_mean(name, by_name) if isinstance(name, str) else ""
            raise ParameterError(
                f"A part of {paper.name} must be one of {', '.join(by_name)}. Got {name!r}{hint or '.'}"
            )
    return tuple(table for table in paper.parts if table.name in wanted)


def _rows(part: Part, data: Data, random_state: int, progress: Progress | None) -> list[Row]:
    rows = [replace(row, part=part.name) for row in part.published]
    absent = [name for name in part.needs if data.find(name) is None]
    if absent:
        return [_without_data(row, ", ".join(absent)) for row in rows]
    ours = part.compute(data, random_state, progress) if part.compute else {}
    strange = ours.keys() - {row.id for row in rows}
    if strange:
        raise InternalError(f"Part {part.name!r} filled rows that it has not published: {', '.join(sorted(strange))}.")
    filled = [row.filled(ours[row.id]) if row.id in ours else row for row in rows]
    return [
        _without_data(row, row.needs)
        if row.needs and row.as_published is None and data.find(row.needs) is None
        else row
        for row in filled
    ]


def _without_data(row: Row, needs: str) -> Row:
    """The row of a number that cannot be computed for want of data."""
    note = f"needs {needs}"
    return replace(row, needs=needs, note=f"{note}; {row.note}" if row.note else note)


def _missing_data(paper: Paper, chosen: Iterable[Part], data: Data) -> tuple[Missing, ...]:
    parts_of: dict[str, list[str]] = {need.name: [] for need in paper.needs}
    for table in chosen:
        for name in dict.fromkeys([*table.needs, *(row.needs for row in table.published if row.needs)]):
            parts_of[name].append(table.name)
    return tuple(
        Missing(need.name, need.what, need.fetch, need.accepts, tuple(parts_of[need.name]))
        for need in paper.needs
        if parts_of[need.name] and data.find(need.name) is None
    )


def _scale_progress(progress: Progress | None, index: int, parts: int) -> Progress | None:
    """Progress of one part as progress of all; every part counts the same."""
    if progress is None:
        return None

    def report(done: int, total: int) -> None:
        progress(index * _STEPS + _STEPS * done // max(total, 1), parts * _STEPS)

    return report
