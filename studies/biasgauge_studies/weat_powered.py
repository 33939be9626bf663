"""The ten associations of WEAT with published lists and with those of the battery, as they are and at equal frequency.

Leaves canon.csv (one row per association, list and set of vectors) and canon.svg.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from biasgauge.audits.measurement import Measured, QueryOutcome, measure
from biasgauge.audits.parts.null_lists import TELESCOPE, smallest_contrast
from biasgauge.audits.subjects import Subject
from biasgauge.core import WordPolicy
from biasgauge.lexicons import lexicon, queries_from_lexicons
from biasgauge.results.drawing import altair
from biasgauge.study import file_step
from biasgauge_studies.vectors import glove_100d
from biasgauge_studies.weat import ALPHA, PUBLISHED, english_subjects


class Association(NamedTuple):
    """A published test, the test of the battery for the same question, and 1 or -1 where that has X first or last."""

    label: str
    classic: str
    powered: str
    direction: int = 1


ASSOCIATIONS = (
    Association("1 flowers, insects; pleasant", "weat1", "flowers_insects"),
    Association("2 instruments, weapons; pleasant", "weat2", "instruments_weapons"),
    Association("3 white, black names; pleasant", "weat3", "race_valence"),
    Association("4 the same, résumé names", "weat4", "race_valence"),
    Association("5 the same, short attributes", "weat5", "race_valence"),
    Association("6 male, female names; career", "weat6", "gender_career"),
    Association("7 mathematics, arts; male", "weat7", "gender_math"),
    Association("8 science, arts; male", "weat8", "gender_science"),
    Association("9 mental, physical illness; temporary", "weat9", "illness_temporary"),
    Association("10 young, old names; pleasant", "weat10", "age_valence", -1),
)
CLASSIC, POWERED, ADJUSTED = "published list", "powered list", "powered, equal frequency"


def powered_canon(out: Path, inputs: Mapping[str, Path], *, google_news: Path) -> None:
    """Ask the ten associations of all sets of vectors."""
    subjects = english_subjects(google_news)
    whole = glove_100d()
    if whole is not None:
        subjects.append(Subject("GloVe 6B 100d (341,479 words)", (whole,)))
    rows = pd.DataFrame([row for subject in subjects for row in association_rows(subject)])
    rows.to_csv(out / "canon.csv", index=False, float_format="%.6g")
    chart(rows).save(out / "canon.svg")


def association_rows(subject: Subject) -> Iterator[dict[str, Any]]:
    """Three rows per association: published list; powered list as it is, and at equal word frequency."""
    lower = all(word == word.lower() for word in subject.models[0].words)
    policy = WordPolicy(0.8, "fallback" if lower else "exact")
    names = list(dict.fromkeys(name for one in ASSOCIATIONS for name in (one.classic, one.powered)))
    outcomes = {
        name: measure(query, subject, policy, 0)
        for name, query in zip(names, queries_from_lexicons([lexicon(name) for name in names]), strict=True)
    }
    # One standard deviation of contrasts of unrelated lists: stricter than an audit, whose margin is TELESCOPE of them.
    smallest = (
        smallest_contrast(subject, [one for one in outcomes.values() if isinstance(one, Measured)], 0) / TELESCOPE
    )
    for association in ASSOCIATIONS:
        classic, powered = outcomes[association.classic], outcomes[association.powered]
        label = f"{association.label} (d = {PUBLISHED[association.classic][0]:.2f})"
        shared = {"vectors": subject.name, "association": label, "smallest": smallest}
        yield {**shared, "list": CLASSIC, "test": association.classic, **numbers(classic, smallest)}
        for kind, at_equal_frequency in ((POWERED, False), (ADJUSTED, True)):
            found = numbers(powered, smallest, association.direction, at_equal_frequency=at_equal_frequency)
            yield {**shared, "list": kind, "test": association.powered, **found}


def numbers(
    outcome: QueryOutcome, smallest: float, direction: int = 1, *, at_equal_frequency: bool = False
) -> dict[str, Any]:
    """Contrast, interval, p and answer; the reason where there is none."""
    if not isinstance(outcome, Measured):
        return {"words_found": outcome.share, "answer": "too few words", "reason": outcome.reason}
    test = outcome.test.decisive if at_equal_frequency else outcome.test
    low, high = test.interval(1 - ALPHA)
    # Two one-sided tests at alpha: the interval of level 1 − 2 alpha lies within what is too small to matter.
    inner = test.interval(1 - 2 * ALPHA)
    absent = None not in inner and max(map(abs, inner)) < smallest  # type: ignore[arg-type]
    association = "association" if test.p is not None and test.p <= ALPHA else "open"
    ends = sorted(direction * end for end in (low, high) if end is not None)
    return {
        "words_found": outcome.share,
        "contrast": direction * test.value,
        "low": ends[0] if ends else None,
        "high": ends[1] if ends else None,
        "p": test.p,
        "words": "+".join(str(count) for side in test.contrast.words for count in side),
        "answer": "too small to matter" if absent else association,
    }


def chart(rows: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Contrasts with intervals: an association per row, a set of vectors per panel, three lists below each other."""
    alt = altair()
    frame = rows.dropna(subset=["contrast"])
    answers = alt.Scale(domain=["association", "too small to matter", "open"], range=["#1b7f5c", "#3465a4", "#b0b3b8"])
    base = alt.Chart(frame).encode(
        y=alt.Y("association:N", sort=list(dict.fromkeys(frame["association"])), title="association (published d)"),
        yOffset=alt.YOffset("list:N", sort=[CLASSIC, POWERED, ADJUSTED]),
        color=alt.Color("answer:N", title="answer", scale=answers),
    )
    zero = alt.Chart(frame).mark_rule(color="#9aa09a", strokeDash=[3, 3]).encode(x=alt.datum(0))
    lines = base.mark_rule(strokeWidth=1.6).encode(x=alt.X("low:Q", title="contrast, in cosine units"), x2="high:Q")
    shapes = alt.Scale(domain=[CLASSIC, POWERED, ADJUSTED], range=["diamond", "circle", "square"])
    points = base.mark_point(filled=True, size=42, opacity=1).encode(
        x="contrast:Q", shape=alt.Shape("list:N", title="lists", scale=shapes)
    )
    layers = alt.layer(zero, lines, points, data=frame).properties(width=220, height=400)
    return layers.facet(facet=alt.Facet("vectors:N", title=None, sort=list(dict.fromkeys(frame["vectors"]))), columns=3)


STEP = file_step(
    "weat-canon-powered", "the ten associations of WEAT, lists with power", {"weat-canon-powered": powered_canon}
)
