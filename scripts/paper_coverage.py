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

Every part of every paper: the command that does it, and what came of its numbers. *Reached*: the paper's own rule
gives the printed number, or a printed claim holds, on the paper's own data. *Differ*: it does not; `reproduce` says why
for each. *On other data*: ours stands beside it and is not held to it, because the paper's models or texts were not
released or are not here. *Ours alone*: the paper prints no number. *Cannot be*: no data, or no model; what is missing
is named. *Identities*, list lengths and sums of printed numbers, are counted apart: they say nothing about a method.

This page is made by `scripts/paper_coverage.py` from the rows themselves, with the data of this project at hand.
"""

BEFORE = Path(__file__).resolve().parents[1] / "docs" / "studies" / "coverage_before.csv"
"""The same counts, with the same data, at commit b821cbb: before claims and identities were counted apart throughout,
and before rows were added for what more data, figures and appendices allow."""
COUNTS = ("reached", "differ", "beside", "alone", "unchecked", "identities")


def compared(results: Sequence[Reproduction]) -> str:
    """What came of each paper before and now; identities stand apart."""
    with BEFORE.open(encoding="utf-8", newline="") as file:
        before = {row["paper"]: row for row in csv.DictReader(file)}
    lines = [
        "Before → now; before: commit b821cbb, on the same data. Fewer numbers are *reached* where those that only",
        "restate a length, a sum or a mean of printed cells became identities.",
        "",
        "| paper | reached | differ | on other data | ours alone | cannot be | identities |",
        "|---|---|---|---|---|---|---|",
    ]
    for found in results:
        now = {name: sum(getattr(part, name) for part in found.coverage) for name in COUNTS}
        old = before.get(found.paper)
        cells = [f"{old[name]} → {now[name]}" if old else f"– → {now[name]}" for name in COUNTS]
        lines.append(f"| `{found.paper}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def counted(found: Reproduction) -> str:
    """What came of a paper, in a sentence made from its rows."""
    told = []
    kinds: dict[Kind, str] = {"value": "values are reached", "range": "claims in words hold", "identity": "identities"}
    for kind, words in kinds.items():
        agree, differ = (found.count(state, kind) for state in ("agrees", "differs"))
        told += [f"{agree} of {agree + differ} {words}"] if agree + differ else []
    beside = sum(part.beside for part in found.coverage)
    without = sum(part.unchecked for part in found.coverage)
    told += [f"{beside} numbers on other data"] if beside else []
    told += [f"{without} cannot be checked"] if without else []
    return ", ".join(told) + "."


def table(found: Reproduction) -> str:
    """One line for each part."""
    lines = [
        "| part | what it is | reached | differ | on other data | ours alone | cannot be | identities | missing |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for part in found.coverage:
        numbers = (part.reached, part.differ, part.beside, part.alone, part.unchecked, part.identities)
        cells = [f"`{part.part}`", part.about, *(str(number or "") for number in numbers), ", ".join(part.missing)]
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
