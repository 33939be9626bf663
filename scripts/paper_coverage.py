"""Every part of every paper that can be reproduced: the command, and what came of its numbers, as a page.

    python scripts/paper_coverage.py SHARED > docs/studies/coverage.md

SHARED is a folder with the data, as for `biasgauge reproduce --data`. Takes a few minutes of one core. With names of
papers after the folder, only those.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import biasgauge as bg
from biasgauge.papers import Reproduction, list_papers
from biasgauge.papers.paper import Kind

HEAD = """\
# What is covered of each paper

Every part of every paper that `biasgauge reproduce PAPER --data DIR` redoes (one part with `--part NAME`), and how its
numbers came out. `scripts/paper_coverage.py` makes this page from the rows themselves, with the data of this project.

| state | meaning |
|---|---|
| reached | the paper's own rule gives the published number, or a printed claim holds, on the paper's data; in brackets, how many were read off *figures* that print no number or looked up in *files* of the authors |
| differ | it does not; `reproduce` gives the reason for each |
| on other data | computed on other vectors or text, not compared |
| from print | follows from other printed numbers; no data used |
| ours alone | the paper prints no number |
| not at hand | data or models are public or linked by the authors but not available here; `reproduce` fills the row when given them |
| cannot be | data or models are not public, or nothing here computes the number from them |
| no number | the paper shows something without a number, and none is computed |
| identities | list lengths and sums of printed numbers, which test no method |
"""

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


def totals(results: Sequence[Reproduction]) -> str:
    """Table of counts with one line per paper; identities have a column of their own."""
    lines = [f"| paper | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    for found in results:
        counts = [str(sum(getattr(part, name) for part in found.coverage)) for name in COLUMNS.values()]
        lines.append(f"| `{found.paper}` | {' | '.join(counts)} |")
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
    """Table of one paper: a line per part, with its counts that are not 0."""
    lines = ["| part | content | numbers | missing |", "|---|---|---|---|"]
    for part in found.coverage:
        counts = {heading: str(count) for heading, name in COLUMNS.items() if (count := getattr(part, name))}
        sources = {"figures": part.from_figures, "files": part.from_files}
        if told := ", ".join(f"{name} {number}" for name, number in sources.items() if number):
            counts["reached"] += f" ({told})"
        numbers = "; ".join(f"{heading} {count}" for heading, count in counts.items())
        lines.append(f"| `{part.part}` | {part.about.rstrip('.')} | {numbers} | {', '.join(part.missing)} |")
    return "\n".join(lines)


def section(found: Reproduction) -> str:
    """Heading, source, counts and table of one paper."""
    return f"## {found.paper}\n\n*{found.title}.* {found.citation}. {counted(found)}\n\n{table(found)}\n"


def main(shared: Path, names: list[str]) -> None:
    """Print the page."""
    chosen = names or [paper.name for paper in list_papers().papers]
    results = [bg.reproduce(name, shared) for name in chosen]
    print("\n".join([HEAD, totals(results), *map(section, results)]), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
