"""Use of words by groups of documents: film reviews by rating, novels by gender of the author, Wikipedia and novels.

Each question is asked with pre-trained vectors and the transformation estimated on the text itself, and each text has a
blank: the same words by groups that were dealt at random. Takes ten minutes on one core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.regress import ContextReader
from biasgauge.analyses.regress.transform import transform_of
from biasgauge.core import WordsLike
from biasgauge.results.drawing import altair, styled
from biasgauge.study import file_step
from biasgauge.text import DocumentTable, read_documents
from biasgauge_studies.texts import articles, first_words, read_text

WOMEN, MEN = "woman + women + girl + girls", "man + men + boy + boys"
STRONG = ["strong", "smart", "brave", "clever", "powerful"]
PRETTY = ["beautiful", "pretty", "lovely", "sexy", "attractive"]
HE, SHE = ["he", "him", "his", "man", "men", "himself"], ["she", "her", "hers", "woman", "women", "herself"]
WOMEN_AUTHORS = frozenset({"Braddon", "Cbronte", "Eliot", "Schreiner", "Ward", "Woolf"})
PIECE = 60
"""Paragraphs of a novel that are one document."""
ARTICLE_WORDS = 5_000_000
DIGITS = "%.5f"


@dataclass(frozen=True)
class Question:
    """A formula with its attribute words, and groups whose neighbors are compared.

    Attributes:
        formula: target words and covariates.
        a, b: attribute words.
        groups: values of covariates to set against each other.
        targets: lists that stand for targets.
    """

    formula: str
    a: list[str]
    b: list[str]
    groups: tuple[dict[str, str], dict[str, str]] | None = None
    targets: Mapping[str, WordsLike] = field(default_factory=dict)


def review_records(data: Path) -> Iterator[dict[str, Any]]:
    """Yield film reviews with their rating."""
    for line in read_text(data, "imdb_reviews_train25k", "imdb_train25k.tsv.xz").splitlines():
        rating, _, text = line.partition("\t")
        yield {"text": text, "rating": {"pos": "positive", "neg": "negative"}[rating]}


def novel_records(data: Path) -> Iterator[dict[str, Any]]:
    """Yield pieces of novels with their authors."""
    names = (data / "english_novels_30" / "FILES.txt").read_text(encoding="utf-8").split()
    text = read_text(data, "english_novels_30", "english_novels_30.txt.xz")
    novels = [novel for novel in text.split("\ufeff") if novel.strip()]
    for name, novel in zip(names, novels, strict=True):
        author = name.partition("_")[0]
        paragraphs = [" ".join(lines.split()) for lines in re.split(r"\n\s*\n", novel) if lines.strip()]
        for first in range(0, len(paragraphs), PIECE):
            gender = "woman" if author in WOMEN_AUTHORS else "man"
            yield {"text": "\n".join(paragraphs[first : first + PIECE]), "author": author, "gender": gender}


def article_and_novel_records(data: Path) -> Iterator[dict[str, Any]]:
    """Yield articles of Wikipedia and pieces of novels; an article is an author of its own."""
    for number, article in enumerate(first_words(articles(data), ARTICLE_WORDS)):
        yield {"text": article, "source": "Wikipedia", "author": f"article {number}"}
    for record in novel_records(data):
        yield {"text": record["text"], "source": "novels", "author": record["author"]}


def deal_groups(table: DocumentTable, cluster: str | None, random_state: int) -> pd.DataFrame:
    """Return the covariates with a blank beside them: half of the clusters, drawn at random."""
    frame = table.covariates
    names = frame[cluster].astype(str).to_numpy() if cluster else np.arange(len(frame))
    codes = np.unique(names, return_inverse=True)[1]
    halves = np.random.default_rng(random_state).permutation(int(codes.max()) + 1) % 2
    return frame.assign(half=np.where(halves[codes] == 1, "second", "first"))


def answer(
    out: Path, records: Iterator[dict[str, Any]], columns: list[str], cluster: str | None, questions: list[Question],
    vectors: Path, source: str,
) -> None:  # fmt: skip
    """Fit every question, and write the rows of all readings, the verdicts, and the neighbors that differ."""
    table = read_documents(list(records), columns)
    table = DocumentTable(table.corpus, deal_groups(table, cluster, 0), table.ids, table.without_words)
    transform = transform_of(ContextReader(table.corpus, vectors))
    recovery = transform.recovery
    rows, neighbors = [], []
    for question in questions:
        fit = bg.regress(
            table.corpus, question.formula, metadata=table.covariates, vectors=vectors, transform=transform,
            cluster=cluster, a=question.a, b=question.b, targets=question.targets,
        )  # fmt: skip
        print(source, question.formula, *(verdict.sentence for verdict in fit.verdicts), sep="\n  ", flush=True)
        effects: dict[str, tuple[Any, ...]] = {
            "embedding regression": fit.terms, "projection": fit.axis_terms,
            "projection beside the documents": fit.background_terms, "counts": fit.count_terms,
        }  # fmt: skip
        for reading, terms in effects.items():
            for effect, verdict in zip(terms, fit.verdicts, strict=False):
                value = effect.estimate.value if reading == "embedding regression" else effect.estimate
                rows.append({
                    "text": source, "formula": question.formula, "term": effect.term, "reading": reading,
                    "estimate": value, "low": effect.low, "high": effect.high, "p": effect.p,
                    "occurrences": fit.terms[0].n, "clusters": fit.settings["clusters"], "decision": verdict.decision,
                    "recovery": None if recovery is None else recovery.cosine,
                })  # fmt: skip
        if question.groups is not None:
            found = fit.neighbors(*question.groups, most=15, resamples=200)
            neighbors += [{"formula": question.formula, **row.to_dict()} for row in found.rows]
    frame = pd.DataFrame(rows)
    frame.to_csv(out / "readings.csv", index=False, float_format=DIGITS)
    pd.DataFrame(neighbors).to_csv(out / "neighbors.csv", index=False, float_format=DIGITS)
    bg.results.save_figures(draw(frame, source), out, ("svg",))


def draw(frame: pd.DataFrame, source: str) -> dict[str, Any]:
    """Projection and counts of each term with their intervals."""
    alt = altair()
    shown = frame[frame["reading"] != "embedding regression"].dropna(subset=["low"])
    shown = shown.assign(question=shown["formula"].str.replace(r" ~ .*", "", regex=True) + ": " + shown["term"])
    x = alt.X("estimate:Q", title="← B · difference · A →")
    base = alt.Chart(shown).encode(y=alt.Y("question:N", title=None, axis=alt.Axis(labelLimit=320)))
    zero = alt.Chart(shown).mark_rule(strokeDash=[3, 3], opacity=0.5).encode(x=alt.datum(0))
    bars = base.mark_rule().encode(x=alt.X("low:Q", title="← B · difference · A →"), x2="high:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x=x)
    chart = alt.layer(zero, bars, points, data=shown).properties(width=220)
    facets = chart.facet(column=alt.Column("reading:N", title=None)).resolve_scale(x="independent")
    return {"readings": styled(facets, source, "Each term with its 95 % interval")}


def ask_reviews(out: Path, inputs: Mapping[str, Path], *, data: Path, vectors: Path) -> None:
    """Words for women and men in positive and negative reviews."""
    ratings = ({"rating": "positive"}, {"rating": "negative"})
    questions = [Question(f"{words} ~ rating", STRONG, PRETTY, ratings) for words in (WOMEN, MEN)]
    questions += [Question(f"{words} ~ half", STRONG, PRETTY) for words in (WOMEN, MEN)]
    answer(out, review_records(data), ["rating"], None, questions, vectors, "25,000 film reviews")


def ask_novels(out: Path, inputs: Mapping[str, Path], *, data: Path, vectors: Path) -> None:
    """Words for women and men in novels by women and by men."""
    genders = ({"gender": "woman"}, {"gender": "man"})
    questions = [Question(f"{words} ~ gender", STRONG, PRETTY, genders) for words in (WOMEN, MEN)]
    questions += [Question(f"{words} ~ half", STRONG, PRETTY) for words in (WOMEN, MEN)]
    answer(out, novel_records(data), ["author", "gender"], "author", questions, vectors, "30 novels by 21 authors")


def ask_sources(out: Path, inputs: Mapping[str, Path], *, data: Path, vectors: Path) -> None:
    """Occupations in Wikipedia and in novels."""
    jobs = {"jobs": bg.lexicon("bls2015").words}
    questions = [Question(f"jobs ~ {name}", HE, SHE, targets=jobs) for name in ("source", "half")]
    title = "Wikipedia (5 million words) and 30 novels"
    answer(out, article_and_novel_records(data), ["source", "author"], "author", questions, vectors, title)


STEP = file_step(
    "regress-texts",
    "use of words by groups of documents",
    {"regress-reviews": ask_reviews, "regress-novels": ask_novels, "regress-sources": ask_sources},
)
