"""Every part of every paper that can be reproduced: the command, and what came of its numbers, as a page.

    python scripts/paper_coverage.py SHARED > docs/studies/coverage.md

SHARED is a folder with the data, as for `biasgauge reproduce --data`. Takes a few minutes of one core. With names of
papers after the folder, only those.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import biasgauge as bg
from biasgauge.papers import Reproduction, list_papers
from biasgauge.papers.paper import Kind

HEAD = """\
# What of each paper is covered

Every part of every paper: the command that does it, and what came of its numbers.

- *Reached*: the paper's own rule gives the published number, or a printed claim holds, on the paper's own data; in
  brackets, how many of these are read off the coordinates of *figures* (which print no number) and how many are
  looked up in *files* of the authors.
- *Differ*: it does not; `reproduce` says why for each.
- *On other data*: ours stands beside it and is not held to it.
- *From print*: ours follows from other numbers that the paper prints; no data are used.
- *Ours alone*: the paper prints no number.
- *Not at hand*: data or models are public, or their authors give a link, and they are not here; bring them, and the row
  is filled.
- *Cannot be*: data or models are not public, or nothing here computes it from them; what is missing is named.
- *No number*: the paper shows something without a number, and none is computed.
- *Identities*: list lengths and sums of printed numbers, which say nothing about a method.

This page is made by `scripts/paper_coverage.py` from the rows themselves, with the data of this project at hand.
"""

BEFORE = Path(__file__).resolve().parents[1] / "docs" / "studies" / "coverage_before.csv"
"""Counts with the same data at commit 04830a7a, before they were corrected: counts of files that ship were *reached*,
rows without any number and rows whose data are public were *cannot be*, and rearranged printed numbers were *on other
data*."""
COLUMNS = {
    "reached": "reached",
    "differ": "differ",
    "on other data": "beside",
    "from print": "rearranged",
    "ours alone": "alone",
    "not at hand": "obtainable",
    "cannot be": "unchecked",
    "no number": "unprinted",
    "identities": "identities",
}
"""Columns of the tables: the count of a part of a paper by its heading."""


def compared(results: Sequence[Reproduction]) -> str:
    """What came of each paper before and now; identities stand apart."""
    with BEFORE.open(encoding="utf-8", newline="") as file:
        before = {row["paper"]: row for row in csv.DictReader(file)}
    lines = [
        "Before → now; before: commit 04830a7a, on the same data, when three of the columns did not exist.",
        "",
        f"| paper | {' | '.join(COLUMNS)} |",
        f"|---|{'---|' * len(COLUMNS)}",
    ]
    for found in results:
        now = {name: sum(getattr(part, name) for part in found.coverage) for name in COLUMNS.values()}
        old = before[found.paper]
        cells = [f"{old.get(name, '–')} → {now[name]}" for name in COLUMNS.values()]
        lines.append(f"| `{found.paper}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def counted(found: Reproduction) -> str:
    """What came of a paper, in a sentence made from its rows."""
    told = []
    kinds: dict[Kind, str] = {"value": "values are reached", "range": "claims in words hold", "identity": "identities"}
    for kind, words in kinds.items():
        agree, differ = (found.count(state, kind) for state in ("agrees", "differs"))
        told += [f"{agree} of {agree + differ} {words}"] if agree + differ else []
    sums = {name: sum(getattr(part, name) for part in found.coverage) for name in COLUMNS.values()}
    told += [f"{sums['beside']} numbers on other data"] if sums["beside"] else []
    told += [f"{sums['obtainable']} need public data that are not at hand"] if sums["obtainable"] else []
    told += [f"{sums['unchecked']} cannot be checked"] if sums["unchecked"] else []
    return ", ".join(told) + "."


def table(found: Reproduction) -> str:
    """One line for each part."""
    lines = [
        f"| part | what it is | {' | '.join(COLUMNS)} | missing |",
        f"|---|---|{'---|' * len(COLUMNS)}---|",
    ]
    for part in found.coverage:
        counts = {heading: str(getattr(part, name) or "") for heading, name in COLUMNS.items()}
        sources = {"figures": part.from_figures, "files": part.from_files}
        if told := ", ".join(f"{name} {number}" for name, number in sources.items() if number):
            counts["reached"] += f" ({told})"
        cells = [f"`{part.part}`", part.about, *counts.values(), ", ".join(part.missing)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def section(found: Reproduction) -> str:
    """All about one paper."""
    command = f"`biasgauge reproduce {found.paper} --data DIR`, one part by `--part NAME`."
    heading = f"## {found.paper}\n\n*{found.title}.* {found.citation}."
    return f"{heading}\n\n{command} {counted(found)}\n\n{table(found)}\n"


def main(shared: Path, names: list[str]) -> None:
    """Print the page."""
    chosen = names or [paper.name for paper in list_papers().papers]
    results = [bg.reproduce(name, shared) for name in chosen]
    print("\n".join([HEAD, compared(results), *map(section, results)]), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
