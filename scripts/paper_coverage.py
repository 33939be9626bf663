"""Write docs/studies/coverage.md and coverage.csv: what is covered of each paper, part by part.

    python scripts/paper_coverage.py SHARED

SHARED is a folder with the data, as for `biasgauge reproduce --data`. Takes a few minutes of one core.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import biasgauge as bg
from biasgauge.papers import Reproduction, list_papers
from biasgauge.papers.paper import Kind

STUDIES = Path(__file__).resolve().parents[1] / "docs" / "studies"
HEAD = """\
# What is covered of each paper

Outcomes of every number that `biasgauge reproduce PAPER --data DIR` recomputes, with the data of this project.
[coverage.csv](coverage.csv) has them by part (`--part NAME`), with what is missing. `scripts/paper_coverage.py` makes \
both files.

| state | meaning |
|---|---|
| reached | the paper's own rule gives the published number, or a printed claim holds, on the paper's data; the file \
also counts those read off figures or looked up in files of the authors |
| differ | it does not; `reproduce` gives the reason for each |
| other data | computed on other vectors or text, not compared |
| derived | follows from other printed numbers; no data used |
| unpublished | the paper prints no number |
| not at hand | data or models are public or linked by their authors but not available here; given them, `reproduce` \
fills the row |
| not checkable | data or models are not public, or nothing here computes the number from them |
| no number | the paper shows something without a number, and none is computed |
| identities | list lengths and sums of printed numbers, which test no method |
"""
COLUMNS = {
    "reached": "reached",
    "differ": "differ",
    "other data": "beside",
    "derived": "rearranged",
    "unpublished": "alone",
    "not at hand": "obtainable",
    "not checkable": "unchecked",
    "no number": "unprinted",
    "identities": "identities",
}
"""Columns of the tables: the count of a part of a paper by its heading."""
FIELDS = ("paper", "part", "content", *COLUMNS, "from figures", "from files", "missing")
"""Columns of coverage.csv."""


def totals(results: Sequence[Reproduction]) -> str:
    """Table of counts with one line per paper; identities have a column of their own."""
    lines = [f"| paper | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    for found in results:
        counts = [str(sum(getattr(part, name) for part in found.coverage)) for name in COLUMNS.values()]
        lines.append(f"| `{found.paper}` | {' | '.join(counts)} |")
    return "\n".join(lines) + "\n"


def counted(found: Reproduction) -> str:
    """Counts of a paper's rows as a sentence."""
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


def parts(found: Reproduction) -> Iterator[tuple[str, ...]]:
    """Rows of coverage.csv: a row per part of the paper, empty where a count is 0."""
    for part in found.coverage:
        counts = [getattr(part, name) for name in (*COLUMNS.values(), "from_figures", "from_files")]
        texts = [str(count or "") for count in counts]
        yield found.paper, part.part, part.about.rstrip("."), *texts, ", ".join(part.missing)


def section(found: Reproduction) -> str:
    """Heading, source and counts of one paper."""
    return f"## {found.paper}\n\n*{found.title}.* {found.citation}. {counted(found)}\n"


def main(shared: Path) -> None:
    """Write both files."""
    results = [bg.reproduce(paper.name, shared) for paper in list_papers().papers]
    page = "\n".join([HEAD, totals(results), *map(section, results)])
    (STUDIES / "coverage.md").write_text(page, encoding="utf-8")
    with (STUDIES / "coverage.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(FIELDS)
        for found in results:
            rows.writerows(parts(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
