"""The canon, read again: WEAT 1 to 10 on several sets of vectors, with what each finding generalizes to.

Leaves weat.csv (one row per test and set of vectors) and weat.svg; in Spanish weat_es.csv and weat_es.svg, from models
that the study trains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import biasgauge as bg
from biasgauge.audits.measurement import Unmeasurable, measure
from biasgauge.audits.parts.null_lists import chance_band
from biasgauge.audits.subjects import Subject, subjects_of
from biasgauge.core import WordPolicy
from biasgauge.lexicons import lexicon, queries_from_lexicons
from biasgauge.results.drawing import altair
from biasgauge.stats import plan_words
from biasgauge.study import Job, Kind, Step, file_step
from biasgauge.vectors import load_default, load_default_replicates
from biasgauge_studies.vectors import glove_50d, spacy_md

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


def canon(out: Path, inputs: Mapping[str, Path], *, google_news: Path) -> None:
    """Ask WEAT 1 to 10 of five sets of vectors."""
    write(out, "weat", english_subjects(google_news), TESTS["en"], min_coverage=0.8)


def english_subjects(google_news: Path) -> list[Subject]:
    """Return the sets of vectors that are at hand: shipped ones, a file, and those of packages."""
    return [
        Subject("GloVe 6B 100d (shipped subset)", (load_default(),)),
        *(Subject("SGNS enwiki 64d × 4 (shipped)", s.models) for s in subjects_of(load_default_replicates())),
        Subject("word2vec GoogleNews (subset)", (bg.load(google_news),)),
        *(
            Subject(name, (vectors,))
            for name, vectors in (
                ("GloVe 6B 50d (400,000 words)", glove_50d()),
                ("spaCy en md (300d)", spacy_md()),
            )
            if vectors is not None
        ),
    ]


def canon_es(job: Job) -> None:
    """Ask the Spanish tests of the models of one group, with half of each list."""
    (group,) = job.settings["groups"]
    models = job.open_models(group["models"], "model0-")
    subject = Subject("SGNS 100d × 8 (Spanish novels and films)", tuple(models))
    write(job.out, "weat_es", [subject], TESTS["es"], min_coverage=0.5)
    job.write_json("result.json", {"files": ["weat_es.csv", "weat_es.svg"]})


def no_settings(groups: object) -> None:
    """Take the models of the study, and no settings."""


def write(out: Path, stem: str, subjects: Sequence[Subject], tests: list[str], *, min_coverage: float) -> None:
    """Write the table and the figure."""
    rows = pd.DataFrame([row for subject in subjects for row in test_rows(subject, tests, min_coverage)])
    rows.to_csv(out / f"{stem}.csv", index=False)
    chart(rows, tests).save(out / f"{stem}.svg")


def test_rows(subject: Subject, names: list[str], min_coverage: float) -> Iterator[dict[str, Any]]:
    """One row per test."""
    lower = all(word == word.lower() for word in subject.models[0].words)
    policy = WordPolicy(min_coverage, "fallback" if lower else "exact")
    for name, query in zip(names, queries_from_lexicons([lexicon(name) for name in names]), strict=True):
        outcome = measure(query, subject, policy, 0)
        published_d, published_p = PUBLISHED.get(name, (None, None))
        row: dict[str, Any] = {"vectors": subject.name, "test": name}
        row |= {"published_d": published_d, "published_p": published_p, "words_found": outcome.share}
        if isinstance(outcome, Unmeasurable):
            yield {**row, "reason": outcome.reason}
            continue
        effect_sizes = [
            bg.weat(model, name, interval=None, policy=policy, samples=10_000).effect_size or 0.0
            for model in subject.models
        ]
        test, decisive = outcome.test, outcome.test.decisive
        low, high = decisive.interval(0.95)
        plan = plan_words(decisive.contrast, outcome.value)
        band = chance_band(outcome, 0)
        holds = "holds" if outcome.p <= ALPHA else "not shown"
        yield {
            **row,
            "d": sum(effect_sizes) / len(effect_sizes),
            "contrast": outcome.value,
            "low": low,
            "high": high,
            "p_targets": test.p_targets,
            "p_attributes": test.p_attributes,
            "p_contrast": decisive.contrast.p,
            "p": outcome.p,
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


ENGLISH = file_step("weat-canon", "WEAT 1 to 10 on five sets of vectors", {"weat-canon": canon})
SPANISH = Step("weat-canon-es", 1, canon_es, "the Spanish tests", (Kind("weat-canon-es", "groups", (no_settings,)),))
