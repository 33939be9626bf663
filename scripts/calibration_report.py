"""Write docs/measures/error_rates.md: how often every interval holds the truth, and every test and verdict is wrong.

Simulates worlds with a known answer: for each function that makes an interval (the cases of
tests/stats/test_calibration.py), for each that gives a p (scripts/null_cases.py), and for the verdicts of the audit, of
curves over views, of points and of changes (bench/verdicts.py, bench/specification_curve.py). Every share stands beside
its Monte Carlo error. A test fails when something is added that the page does not name.

    python scripts/calibration_report.py             about 15 minutes of one processor
    python scripts/calibration_report.py --quick     two minutes, to look at; writes build/error_rates.md
    python scripts/calibration_report.py --only verdicts --share 0.5     the verdicts alone; the rest of the page stays
"""

from __future__ import annotations

import argparse
import csv
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

import pandas as pd  # noqa: E402 - after the path
import specification_curve  # noqa: E402
import verdicts  # noqa: E402
from null_cases import NULLS, SAME_AS  # noqa: E402
from tests.stats.test_calibration import CASES, SETTLED_ELSEWHERE  # noqa: E402

import biasgauge as bg  # noqa: E402
from biasgauge import registry  # noqa: E402
from biasgauge.audits.change import contrast_changes  # noqa: E402
from biasgauge.audits.subjects import subjects_of  # noqa: E402
from biasgauge.audits.tracking import answer_points  # noqa: E402
from biasgauge.audits.verdicts import Rules  # noqa: E402
from biasgauge.lexicons import QUERY_KINDS  # noqa: E402
from biasgauge.vectors import load_default_replicates  # noqa: E402

ALPHA = 0.05
SILENT = {
    "circularity": "lists that say that they were made from vectors or a text: none of these does",
    "views": "views of a transformer alone: see below",
}
"""Questions that a rule is asked of, for rules that are asked of none of those on the page."""
NULL = "A and B relabeled"
"""Lists of which the page quotes the shares of the rules."""
RULES = """
## Rules of these verdicts
Share of questions that each rule fails or cannot decide, on relabeled lists, on random words along base pairs and on
the shipped lists: [rules.csv]({folder}/rules.csv). On relabeled lists the share that fails is {association} under
`association`, {frequency} under `frequency` and {replicates} under `replicates`.
"""
Row = Sequence[str]


def main() -> None:
    """Run everything, write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="a tenth of the worlds, into build/error_rates.md")
    parser.add_argument("--share", type=float, default=1.0, help="of the worlds: errors are larger with fewer")
    parser.add_argument("--only", choices=("intervals", "tests", "verdicts"), help="the rest of the page stays")
    asked = parser.parse_args()
    share = 0.1 if asked.quick else asked.share
    path = ROOT / ("build/error_rates.md" if asked.quick else "docs/measures/error_rates.md")
    started = time.process_time()
    head = HEAD.replace("{share}", "" if share == 1 else f" --share {share:g}")
    files = path.with_suffix("")  # whole tables, of which the page has a summary
    files.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[float], Iterator[str]]] = {
        "intervals": partial(coverage, files=files),
        "tests": partial(null_rates, files=files),
        "verdicts": partial(verdict_rates, files=files),
    }
    if asked.only:
        page = path.read_text(encoding="utf-8")
        text = replace_sections(page, "\n".join(makers[asked.only](share)))
    else:
        text = "\n".join([head, *(line for maker in makers.values() for line in maker(share))]) + "\n"
    path.write_text(text, encoding="utf-8")
    print(f"{path}: {time.process_time() - started:.0f} s of processor")


def replace_sections(page: str, made: str) -> str:
    """Replace the sections of a page that have the headings of others; those of a heading that it lacks come last."""
    sections = dict(part.split("\n", 1) for part in f"\n{page}".split("\n## ")[1:])
    sections |= dict(part.split("\n", 1) for part in f"\n{made}".split("\n## ")[1:])
    start = page.split("\n## ", maxsplit=1)[0]
    return "\n".join([start, *(f"## {heading}\n{text.strip()}\n" for heading, text in sections.items())])


HEAD = """# Error rates

How often do intervals cover the truth, and tests and verdicts err, in simulations with a known answer?
`python scripts/calibration_report.py{share}` makes this page, `--only` one part of it. *±* is one Monte Carlo standard
error; a row is marked where it misses its level by more than three. See also [Verdicts](verdicts.md) and, for real word
lists without a common meaning, [Hard nulls](hard_nulls.md)."""


def coverage(share: float, files: Path) -> Iterator[str]:
    """Does each interval hold the truth as often as it says?"""
    rows = []
    for name, case in sorted(CASES.items()):
        random, worlds = np.random.default_rng(2026), int((2_000 if case.worlds >= 400 else 600) * share)
        held = 0
        for _ in range(worlds):
            found = case.make(case.draw(random))
            held += found.low is not None and found.high is not None and found.low <= case.truth <= found.high
        rate = held / worlds
        rows.append(
            (f"`{name}`", f"{case.level:.2f}", with_error(rate, worlds), judged(case.level, rate, worlds, short=True))
        )
        print(*rows[-1], flush=True)
    heads = ("function", "nominal", "coverage", "")
    yield "\n## Intervals\nCoverage of every function of `biasgauge.stats` that returns an interval.\n"
    yield summarized(files / "intervals.csv", heads, rows, column=2)
    elsewhere = [f"`{name}` ({why})" for name, why in SETTLED_ELSEWHERE.items()]
    yield f"\nWithout a simulation:\n{enumeration(elsewhere)}"


def null_rates(share: float, files: Path) -> Iterator[str]:
    """How often does each test reject where there is nothing?"""
    rows = []
    for case in NULLS:
        random, worlds = np.random.default_rng(2026), int(case.worlds * share)
        drawn = [case.draw(random) for _ in range(worlds)]
        known = [p for p in drawn if p is not None]
        rates = [float(np.mean([p <= level for p in known])) for level in (ALPHA, 0.01)]
        words = case.published and f"as published: {case.published}"
        remark = words or judged(ALPHA, rates[0], len(known), short=False)
        rows.append((f"`{case.giver}`", case.what, *(with_error(rate, len(known)) for rate in rates), remark))
        print(*rows[-1], flush=True)
    yield "\n## Tests\nShare of p at most .05, and at most .01, under the null hypothesis.\n"
    yield summarized(files / "tests.csv", ("p of", "world", "p ≤ .05", "p ≤ .01", ""), rows, column=2)
    parts = [f"`{name}` ({as_in})" for name, as_in in SAME_AS.items()]
    yield f"\nParts or vectorized forms of these:\n{enumeration(parts)}"


def verdict_rates(share: float, files: Path) -> Iterator[str]:
    """How often does a verdict say that something may be reported where there is nothing?"""
    audits, rows = int(400 * share), []
    for name, draw in verdicts.nulls().items():
        said, found, _ = verdicts.rates(draw(np.random.default_rng(19)), audits)
        rows.append(
            (name, with_error(said, audits), with_error(found, audits), judged(ALPHA, said, audits, short=False))
        )
        print(*rows[-1], flush=True)
    yield f"""
## Verdicts of the audit
{audits} audits per row with all shipped English lists, none of which has a meaning. *report*: at least one question
gets `report` or `report-with-care`; *found*: at least one passes the rule `association`. Both should be at most .05.
Questions are adjusted by the default, `fdr` ([other corrections](verdicts.md#many-questions-at-once)).
"""
    yield table(("lists without meaning", "report", "found", ""), rows)
    rules = rule_rows(max(int(40 * share), 2))
    write_rows(files / "rules.csv", ("rule", "registered as", "questions", "fails", "unknown", "lists"), rules)
    yield RULES.format(folder=files.name, **{row[1].strip("`"): row[3] for row in reversed(rules) if row[-1] == NULL})
    yield "\n## Other verdicts\nUnder their null hypotheses.\n"
    yield table(("verdict", "world", "says report", ""), other_verdicts(share))


def rule_rows(audits: int) -> list[Row]:
    """How often each rule forbids or cannot know."""
    every = [
        one
        for one in registry.everything("lexicon").values()
        if one.language == "en" and one.kind in QUERY_KINDS and not one.on_request
    ]
    runs = load_default_replicates()
    random = np.random.default_rng(5)
    lists = {
        NULL: verdicts.relabeled(runs, every, random),
        "random words along base pairs": verdicts.random_words(runs, random),
        "the shipped lists": iter([(runs, every)]),
    }
    rows: list[Row] = []
    for name, drawn in lists.items():
        tally: dict[tuple[str, str], list[bool | None]] = {}
        for _, (models, lexicons) in zip(range(audits), drawn, strict=False):
            for registered, rule, passes in verdicts.pieces(subjects_of(models)[0], lexicons):
                tally.setdefault((rule, registered), []).append(passes)
        for (rule, registered), said in tally.items():
            shares = [said.count(outcome) / len(said) for outcome in (False, None)]
            rows.append((rule, f"`{registered}`", str(len(said)), *(f"{part:.2f}" for part in shares), name))
    silent = set(registry.names("verdict_rule")) - {row[1].strip("`") for row in rows}
    rows += [("", f"`{name}`", "0", "", "", SILENT.get(name, "")) for name in sorted(silent)]
    return rows


def other_verdicts(share: float) -> list[Row]:
    """Curves over views, points, changes."""
    rows = [
        reported("curve over 12 views", null, partial(_curve_verdict, null), int(200 * share))
        for null in specification_curve.NULLS
    ]
    rows.append(reported("points", "60 points in 3 strata, no correlation", _points_verdict, int(500 * share)))
    reduced, pairs = placebo_changes(8 if share == 1 else 3)
    rate = reduced / pairs
    rows.append(
        (
            "change",
            f"a replicate as the changed version of another: {pairs} pairs of a few models",
            with_error(rate, pairs),
            judged(ALPHA, rate, pairs, short=False),
        )
    )
    print(*rows[-1], flush=True)
    return rows


def reported(verdict: str, world: str, decide: Callable[[int], str], draws: int) -> Row:
    """A row: how often the decision is one of those that report."""
    rate = sum(decide(seed).startswith("report") for seed in range(draws)) / draws
    row = (verdict, world, with_error(rate, draws), judged(ALPHA, rate, draws, short=False))
    print(*row, flush=True)
    return row


def _curve_verdict(null: str, seed: int) -> str:
    return specification_curve.decided(null, 5, 12, seed)


def _points_verdict(seed: int) -> str:
    random = np.random.default_rng(seed)
    numbers = {"x": random.normal(size=60), "y": random.normal(size=60), "metric": np.repeat(["a", "b", "c"], 20)}
    found = bg.correlate(pd.DataFrame(numbers), "x", "y", ["metric"], resamples=100)
    return answer_points(found, Rules()).decision


def placebo_changes(runs: int) -> tuple[int, int]:
    """Ordered pairs of replicates in which every association seems reduced, and how many pairs there are."""
    every = [
        one
        for one in registry.everything("lexicon").values()
        if one.language == "en" and one.kind in QUERY_KINDS and not one.on_request
    ]
    asked = [verdicts.put(subjects_of([model])[0], every)[0] for model in load_default_replicates()[:runs]]
    reduced = pairs = 0
    for before, after in permutations(asked, 2):
        biased = [one for one in contrast_changes(before, after, Rules()) if one.biased]
        pairs += 1
        reduced += bool(biased) and all(one.reduced for one in biased)
    return reduced, pairs


def with_error(share: float, n: int) -> str:
    """A share and its Monte Carlo error; where the share is 0 or 1, that of half a hit more or less."""
    inside = min(max(share, 0.5 / n), 1 - 0.5 / n)
    return f"{share:.3f} ± {(inside * (1 - inside) / n) ** 0.5:.3f}"


def judged(promised: float, share: float, n: int, *, short: bool) -> str:
    """In which direction a share lies beyond three errors of what was promised; `short`: below is the bad side."""
    error = (promised * (1 - promised) / n) ** 0.5
    if abs(share - promised) <= 3 * error:
        return ""
    if (share < promised) == short:
        return f"**{'short' if short else 'over'} by {abs(share - promised):.3f}**"
    return "cautious"


def write_rows(path: Path, heads: Row, rows: Sequence[Row]) -> None:
    """Write a table to a file, without the marks of code."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([cell.strip("`") for cell in row] for row in (heads, *rows))


def summarized(path: Path, heads: Row, rows: Sequence[Row], *, column: int) -> str:
    """Write all rows to a file; return the range of the unmarked ones and a table of those with a remark."""
    write_rows(path, heads, rows)
    marked = [row for row in rows if row[-1]]
    shares = [float(row[column].split()[0]) for row in rows if not row[-1]]
    return (
        f"{len(shares)} of {len(rows)} are within three standard errors of their level ({min(shares):.3f} to "
        f"{max(shares):.3f}; [all]({path.parent.name}/{path.name})). The others:\n\n{table(heads, marked)}"
    )


def enumeration(items: Sequence[str]) -> str:
    """A sentence that lists items, in lines of at most 120 characters."""
    return textwrap.fill(f"{'; '.join(items)}.", 120, break_long_words=False, break_on_hyphens=False)


def table(heads: Row, rows: Sequence[Row]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
