"""Every checkable number of a paper: published, by its own rule on the data at hand, corrected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from biasgauge.errors import InternalError, ParameterError
from biasgauge.lexicons.nearest import meant
from biasgauge.papers.data import Data
from biasgauge.papers.registry import paper_named
from biasgauge.papers.result import Missing, Reproduction

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from biasgauge.papers.paper import Paper, Part, Progress
    from biasgauge.papers.row import Row

_STEPS = 1000
"""Steps of progress for each part."""


def reproduce(
    name: str,
    data: str | os.PathLike[str] | None = None,
    parts: Iterable[str] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Reproduction:
    """Set a paper's numbers beside what its own rule and a corrected one give on the data at hand.

    Args:
        name: one of `paper_names()`.
        data: a folder with whatever of the paper's data you hold, in its published layout; without it, only what needs
            no data or ships with the package is computed. The result says what is missing and where it is to be had.
        parts: names of the parts to run; all of them by default.
        random_state: seed of simulations, resampling and samplers.
        progress: called with (done, total).

    Raises:
        ParameterError: there is no such paper or part.
        InputError: there is no such folder, or a file in it does not say what it should.
    """
    paper = paper_named(name)
    chosen = _chosen(paper, parts)
    found = Data(data, paper.needs)
    rows: list[Row] = []
    for place, part in enumerate(chosen):
        rows += _rows(part, found, random_state, _scaled(progress, place, len(chosen)))
    return Reproduction(
        paper=paper.name,
        title=paper.title,
        citation=paper.citation,
        about=paper.about,
        parts={part.name: part.about for part in chosen},
        rows=tuple(rows),
        missing=_missing(paper, chosen, found),
        settings={
            "paper": paper.name,
            "data": None if data is None else str(data),
            "parts": [part.name for part in chosen],
            "random_state": random_state,
            "files": found.used(),
        },
    )


def _chosen(paper: Paper, parts: Iterable[str] | None) -> tuple[Part, ...]:
    known = {part.name: part for part in paper.parts}
    if parts is None:
        return paper.parts
    wanted = [parts] if isinstance(parts, str) else list(parts)
    for one in wanted:
        if one not in known:
            near = meant(one, known) if isinstance(one, str) else ""
            raise ParameterError(f"A part of {paper.name} must be one of {', '.join(known)}. Got {one!r}{near or '.'}")
    return tuple(part for part in paper.parts if part.name in wanted)


def _rows(part: Part, data: Data, random_state: int, progress: Progress | None) -> list[Row]:
    rows = [replace(row, part=part.name) for row in part.published]
    absent = [name for name in part.needs if data.find(name) is None]
    if absent:
        return [_without(row, ", ".join(absent)) for row in rows]
    found = part.compute(data, random_state, progress) if part.compute else {}
    strange = found.keys() - {row.id for row in rows}
    if strange:
        raise InternalError(f"Part {part.name!r} filled rows that it has not published: {', '.join(sorted(strange))}.")
    filled = [row.filled(found[row.id]) if row.id in found else row for row in rows]
    return [
        _without(row, row.needs) if row.needs and row.as_published is None and data.find(row.needs) is None else row
        for row in filled
    ]


def _without(row: Row, needs: str) -> Row:
    """The row of a number that cannot be computed for want of data."""
    note = f"needs {needs}"
    return replace(row, needs=needs, note=f"{note}; {row.note}" if row.note else note)


def _missing(paper: Paper, chosen: Iterable[Part], data: Data) -> tuple[Missing, ...]:
    parts_of: dict[str, list[str]] = {need.name: [] for need in paper.needs}
    for part in chosen:
        for name in dict.fromkeys([*part.needs, *(row.needs for row in part.published if row.needs)]):
            parts_of[name].append(part.name)
    return tuple(
        Missing(need=need, parts=tuple(parts_of[need.name]))
        for need in paper.needs
        if parts_of[need.name] and data.find(need.name) is None
    )


def _scaled(progress: Progress | None, place: int, parts: int) -> Progress | None:
    """Progress of one part as progress of all; every part counts the same."""
    if progress is None:
        return None

    def report(done: int, total: int) -> None:
        progress(place * _STEPS + _STEPS * done // max(total, 1), parts * _STEPS)

    return report
