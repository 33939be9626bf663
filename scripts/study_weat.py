"""The canon, read again: WEAT 1 to 10 on several vector sets, with what each finding generalizes to.

    python scripts/study_weat.py --out docs/studies/weat NAME=FILE …
    python scripts/study_weat.py --out docs/studies/weat --language es NAME=FOLDER …

Beside what is named (a file of vectors, or a folder of replicates), in English: the shipped GloVe vectors and the
shipped replicates. Writes weat.csv (one row a test and vector set) and weat.svg; in Spanish, weat_es.csv and
weat_es.svg.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import biasgauge as bg
from biasgauge.audits.measurement import Unmeasurable, measure
from biasgauge.audits.null_lists import chance_band
from biasgauge.audits.subjects import Subject, subjects_of
from biasgauge.core import WordPolicy
from biasgauge.lexicons import lexicon, queries_from_lexicons
from biasgauge.results.drawing import altair
from biasgauge.stats import plan_words
from biasgauge.vectors import load_default, load_default_replicates, load_models

ALPHA = 0.05
TESTS = {
    "en": [f"weat{number}" for number in (1, 2, 3, 4, 5, 6, "6b", 7, 8, 9, 10)],
    "es": [*(f"xweat{number}_es" for number in (1, 2, 7, 8, 9)), "weat_es_gender", "weat_es_migrant"],
}
PUBLISHED = {
    "weat1": (1.50, "1e-7"), "weat2": (1.53, "1e-7"), "weat3": (1.41, "1e-8"), "weat4": (1.50, "1e-4"),
    "weat5": (1.28, "1e-3"), "weat6": (1.81, "1e-3"), "weat7": (1.06, ".018"), "weat8": (1.24, "1e-2"),
    "weat9": (1.38, "1e-2"), "weat10": (1.21, "1e-2"),
}  # fmt: skip
"""d and p of Caliskan, Bryson & Narayanan 2017, Table 1 (GloVe 840B, 300 dimensions)."""


def main() -> None:
    """Measure, write the table and the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--language", choices=TESTS, default="en")
    parser.add_argument("--min-coverage", type=float, default=0.8, help="share of each list that must be found")
    parser.add_argument("vectors", nargs="*", help="NAME=FILE or NAME=FOLDER")
    asked = parser.parse_args()
    named = {name: Path(path) for name, _, path in (one.partition("=") for one in asked.vectors)}
    subjects = [*shipped()] if asked.language == "en" else []
    for name, path in named.items():
        files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path]
        subjects += [Subject(name, one.models) for one in subjects_of(load_models(files))]
    tests = TESTS[asked.language]
    rows = pd.DataFrame([row for subject in subjects for row in asked_of(subject, tests, asked.min_coverage)])
    asked.out.mkdir(parents=True, exist_ok=True)
    stem = "weat" if asked.language == "en" else f"weat_{asked.language}"
    rows.to_csv(asked.out / f"{stem}.csv", index=False)
    chart(rows, tests).save(asked.out / f"{stem}.svg")
    defined = rows.dropna(subset=["contrast"])
    for vectors, part in defined.groupby("vectors", sort=False):
        targets, both = (part["p_targets"] <= ALPHA).sum(), (part["p"] <= ALPHA).sum()
        print(f"{vectors!s}: {len(part)} tests, p over targets at most .05 in {targets}, all three p in {both}")
    print("wrote", asked.out / f"{stem}.csv")


def shipped() -> Iterator[Subject]:
    """The vectors that ship, which are English."""
    yield Subject("GloVe 6B 100d (shipped subset)", (load_default(),))
    yield from (Subject("SGNS enwiki 64d × 8 (shipped)", one.models) for one in subjects_of(load_default_replicates()))


def asked_of(subject: Subject, names: list[str], least: float) -> Iterator[dict[str, Any]]:
    """One row a test."""
    tests = [lexicon(name) for name in names]
    lower = all(word == word.lower() for word in subject.models[0].words)
    for name, question in zip(names, queries_from_lexicons(tests), strict=True):
        found = measure(question, subject, WordPolicy(least, "fallback" if lower else "exact"), 0)
        published = PUBLISHED.get(name, (None, None))
        row: dict[str, Any] = {"vectors": subject.name, "test": name}
        row |= {"published_d": published[0], "published_p": published[1], "words_found": found.share}
        if isinstance(found, Unmeasurable):
            yield {**row, "reason": found.reason}
            continue
        sizes = [
            bg.weat(
                model, name, interval=None, policy=WordPolicy(least, "fallback" if lower else "exact"), samples=10_000
            ).effect_size
            or 0.0
            for model in subject.models
        ]
        test = found.test
        low, high = test.interval(0.95)
        plan = plan_words(test.contrast, found.value)
        band = chance_band(found, 0)
        holds = "holds" if found.p <= ALPHA else "not shown"
        yield {
            **row,
            "d": sum(sizes) / len(sizes),
            "contrast": found.value,
            "low": low,
            "high": high,
            "p_targets": test.p_targets,
            "p_attributes": test.p_attributes,
            "p_contrast": test.contrast.p,
            "p": found.p,
            "holds": "does not generalize" if holds == "not shown" and (test.p_targets or 1) <= ALPHA else holds,
            "random_lists_95": None if band is None else band.band,
            "words_for_80_percent_power": plan.both,
            "attributes_for_80_percent_power": plan.attributes,
        }


def chart(rows: pd.DataFrame, tests: list[str]) -> Any:  # noqa: ANN401 - a chart
    """Contrasts with their intervals, a panel for each vector set."""
    alt = altair()
    frame = rows.dropna(subset=["contrast"])
    colors = alt.Scale(domain=["holds", "does not generalize", "not shown"], range=["#1b7f5c", "#c8791b", "#8a8f98"])
    base = alt.Chart(frame).encode(
        y=alt.Y("test:N", sort=tests, title=None),
        color=alt.Color("holds:N", title="targets and attributes", scale=colors),
    )
    zero = alt.Chart(frame).mark_rule(color="#9aa09a", strokeDash=[3, 3]).encode(x=alt.datum(0))
    lines = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="contrast, in cosine units"), x2="high:Q")
    points = base.mark_point(filled=True, size=50, opacity=1).encode(x="contrast:Q")
    layers = alt.layer(zero, lines, points, data=frame).properties(width=210, height=210)
    return layers.facet(facet=alt.Facet("vectors:N", title=None, sort=list(dict.fromkeys(frame["vectors"]))), columns=3)


if __name__ == "__main__":
    main()
