"""Write paper/paper.md and paper/paper.bib: the template with every number filled in from the tables of the studies.

python scripts/make_paper.py            # writes both
python scripts/make_paper.py --check    # leaves with 1 where they are not what the tables give
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import pandas as pd

import biasgauge
from biasgauge.core.groups import GROUPS
from biasgauge.results.wording import number_text
from biasgauge.text.training.algorithms import ALGORITHMS

ROOT = Path(__file__).resolve().parents[1]
PAPER = ROOT / "paper"
REFERENCES = (Path(biasgauge.__file__).parent / "audits" / "references.bib", PAPER / "prior_work.bib")
STUDY = ROOT / "docs" / "studies" / "calibration"
PLANTED = "mentions"
"""Planting whose numbers the paper quotes: first-order association."""
PROBE, FEW, MANY, TOKENS = 10, 8, 25, 10
ROUNDING = 1e-4
SPELLED = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def main() -> int:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    written = {PAPER / "paper.md": paper(), PAPER / "paper.bib": references()}
    stale = [path for path, text in written.items() if not path.exists() or path.read_text() != text]
    if check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what the tables give; run python scripts/make_paper.py")
        return 1 if stale else 0
    for path in stale:
        path.write_text(written[path])
    return 0


def paper() -> str:
    """The template with its numbers."""
    template = (PAPER / "paper.template.md").read_text()
    known = {**_calibration(), **_verdicts(), **_frequency(), **_canon(), **_detection()}
    known |= {"groups": _groups(), "algorithms": SPELLED[len(ALGORITHMS)]}
    asked = set(re.findall(r"{{(\w+)}}", template))
    if asked != known.keys():
        raise SystemExit(f"the template and the numbers differ by {sorted(asked ^ known.keys())}")
    return re.sub(r"{{(\w+)}}", lambda found: known[found[1]], template)


def references() -> str:
    """Those entries of the package's own references, and of prior work, that the paper cites."""
    cited = set(re.findall(r"@([a-z]+\d{4})", (PAPER / "paper.template.md").read_text()))
    entries = [entry for path in REFERENCES for entry in re.split(r"\n(?=@)", path.read_text(encoding="utf-8"))]
    named = {found[1]: entry.strip() for entry in entries if (found := re.match(r"@\w+{(\w+),", entry))}
    if missing := cited - named.keys():
        raise SystemExit(f"no reference for {sorted(missing)}")
    return "\n\n".join(named[name] for name in sorted(cited)) + "\n"


def _calibration() -> dict[str, str]:
    curves = pd.read_csv(STUDY / "curves.csv").query(f"planting == '{PLANTED}'")
    curves = curves[~curves["measure"].str.contains("corrected")]  # copies of the same models, not further combinations
    rows, numbers = ("all", "without nbm"), ["r", "low", "high", "n", "cells"]
    recovery = pd.read_csv(STUDY / "validity.csv").query(f"planting == '{PLANTED}'").set_index("points")
    table: dict[str, dict[str, float]] = recovery[numbers].astype(float).to_dict("index")  # type: ignore[assignment]  # str keys
    overall, without_nbm = (table[row] for row in rows)
    one_left_out = recovery[recovery.index.str.startswith("without nbm and ")]["r"]
    if len(curves) != overall["n"] or abs(curves["r"].corr(curves["retest"]) - overall["r"]) > ROUNDING:
        raise SystemExit("validity.csv and curves.csv differ; run the report of the calibration study again")
    limits = pd.read_csv(STUDY / "limits.csv").query(f"planting == '{PLANTED}' and of == 'measure' and side == 'first'")
    neighbors = curves.query(f"measure == 'nbm' and algorithm == 'sgns' and tokens == {TOKENS}").iloc[0]
    for_one, for_many = (limits[limits["words"] == words]["odds_ratio"].min() for words in (1, MANY))
    if for_one <= PROBE:
        raise SystemExit(f"the paper says that no measure detects an odds ratio of {PROBE} for one word; one does")
    return {
        "texts": str(len(curves)),
        "retest_low": number_text(curves["retest"].min()),
        "retest_high": number_text(curves["retest"].max()),
        "valid_low": number_text(curves["r"].min()),
        "valid_high": number_text(curves["r"].max()),
        "validity": number_text(overall["r"]),
        "validity_low": number_text(overall["low"]),
        "validity_high": number_text(overall["high"]),
        "cells": f"{overall['cells']:.0f}",
        "without_nbm": number_text(without_nbm["r"]),
        "without_nbm_low": number_text(without_nbm["low"]),
        "without_nbm_high": number_text(without_nbm["high"]),
        "left_out_low": number_text(one_left_out.min()),
        "left_out_high": number_text(one_left_out.max()),
        "tokens": str(TOKENS),
        "nbm_retest": number_text(neighbors["retest"]),
        "nbm_r": number_text(neighbors["r"]),
        "probe": str(PROBE),
        "many": str(MANY),
        "limit_many": number_text(for_many, 1),
    }


def _verdicts() -> dict[str, str]:
    """Rates from the table of the page on verdicts, which `python bench/verdicts.py` makes."""
    page = (ROOT / "docs" / "measures" / "verdicts.md").read_text()
    table = page.split("| lists without meaning |", 1)[1].split("\n\n", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    rates = {name: (float(report), float(old)) for name, report, _, old in rows}
    new, old = rates["A and B relabeled, GloVe"]
    return {
        "new_relabeled": f"{100 * new:.1f}",
        "old_relabeled": f"{100 * old:.0f}",
        "null_rows": str(len(rates)),
        "worst_null": f"{100 * max(report for report, _ in rates.values()):.1f}",
    }


def _frequency() -> dict[str, str]:
    """Rates of one null and of the power rows of the page on hard nulls, which `scripts/hard_nulls.py` makes."""
    page = (ROOT / "docs" / "measures" / "hard_nulls.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    column = next(row for row in rows if row[0] == "lists").index("GloVe 6B 50d")
    cells = {(row[0].strip("*"), row[1]): row[column] for row in rows if len(row) > column}
    unequal = "random words: X, A of ranks 100–2,000, Y, B of 20,000–60,000"
    power = next(row for row in rows if row[0].startswith("**four topics"))[0].strip("*")
    (hard_rule, hard_plain), (power_rule, power_plain) = (
        [f"{100 * float(share):g}" for share in re.findall(r"\d?\.\d+", cells[row])]
        for row in ((unequal, str(FEW)), (power, str(MANY)))
    )
    return {
        "hard_words": str(FEW),
        "hard_rule": hard_rule,
        "hard_plain": hard_plain,
        "power_words": str(MANY),
        "power_rule": power_rule,
        "power_plain": power_plain,
    }


def _canon() -> dict[str, str]:
    """Published associations with powered lists at equal frequency, on the sets of vectors that are whole."""
    table = pd.read_csv(ROOT / "docs" / "studies" / "weat" / "canon.csv")
    whole = table[~table["vectors"].str.contains("subset|shipped") & table["list"].eq("powered, equal frequency")]
    if whole["vectors"].nunique() != SPELLED.index("three"):
        raise SystemExit("the paper speaks of three sets of vectors")
    answers = whole.groupby("association")["answer"].agg(lambda found: " or ".join(sorted(set(found))))
    race = whole[whole["test"].eq("race_valence")]["contrast"]
    small = answers[answers == "too small to matter"].index
    if set(whole[whole["association"].isin(small)]["test"]) != {"race_valence", "age_valence"}:
        raise SystemExit("the paper says that the associations of race and of age with valence are too small to matter")
    hold = answers[answers == "association"].index
    if not {"gender_career", "gender_math"} <= set(whole[whole["association"].isin(hold)]["test"]):
        raise SystemExit("the paper says that those of gender with career and with mathematics hold")
    return {
        "canon_words": str(whole["words"].str.split("+").explode().astype(int).max()),
        "canon_hold": SPELLED[len(hold)].capitalize(),
        "canon_small": SPELLED[len(small)],
        "race_low": f"{race.min():+.3f}".replace("-", "−"),
        "race_high": f"{race.max():+.3f}".replace("-", "−"),
    }


def _detection() -> dict[str, str]:
    """Limits of the most frequent targets in the table of the page on regression."""
    page = (ROOT / "docs" / "text" / "regress.md").read_text(encoding="utf-8")
    table = page.split("| occurrences of a target | texts | norm |", 1)[1].split("\n\n", 1)[0]
    occurrences, _, norm, projection, counts = (cell.strip() for cell in table.splitlines()[-1].strip("|").split("|"))
    beyond = re.match(r"> (\d+) for all", norm)
    if beyond is None or not projection.startswith(beyond[0]):
        raise SystemExit("the paper says that no reading of the regression detects the largest odds ratio")
    limits = [float(limit) for limit in counts.split(",")]
    return {
        "detect_occurrences": occurrences,
        "detect_limit": beyond[1],
        "detect_low": f"{min(limits):g}",
        "detect_high": f"{max(limits):g}",
    }


def _groups() -> str:
    return str(len(GROUPS))


if __name__ == "__main__":
    sys.exit(main())
