"""The study of Du et al. 2021 on three corpora of our own: docs/studies/du2021.md tells what it found.

    python scripts/study_du2021.py FOLDER

Trains skip-gram, GloVe and fastText with eight seeds on three texts of 3.5 million words each (English Wikipedia, film
reviews, novels; in the shared data folder), scores the whole vocabulary against 23 pairs with three measures, and
writes tables and figures to FOLDER/results. Takes about an hour on two idle cores; what is in FOLDER
already is not done again.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

import biasgauge as bg
from biasgauge.results.drawing import altair, styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biasgauge.agreement import ReliabilityResult

SHARED = Path(os.environ.get("BIASGAUGE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
WORDS = 3_500_000
ALGORITHMS = ("sgns", "glove", "fasttext")
LISTS = ("occ16", "occ18", "adj", "google10k")


def text(*parts: str) -> str:
    """A compressed text of the shared data."""
    with lzma.open(SHARED.joinpath(*parts), "rt", encoding="utf-8-sig") as file:
        return file.read()


def wiki() -> Iterator[str]:
    """Articles."""
    yield from text("enwiki_sample", "enwiki_long_articles_5M.txt.xz").split("\n\n")


def films() -> Iterator[str]:
    """Reviews, a positive and a negative one in turn."""
    rows = [row.split("\t", 1)[1] for row in text("imdb_reviews_train25k", "imdb_train25k.tsv.xz").splitlines()]
    half = len(rows) // 2
    for one, other in zip(rows[:half], rows[half:], strict=True):
        yield from (one, other)


def novels() -> Iterator[str]:
    """Paragraphs, their lines joined."""
    for one in re.split(r"\n\s*\n", text("english_novels_30", "english_novels_30.txt.xz")):
        yield " ".join(one.split())


CORPORA = {"wiki": wiki, "imdb": films, "novels": novels}


def first_words(texts: Iterator[str], most: int) -> Iterator[str]:
    """Texts until they hold so many words."""
    read = 0
    for one in texts:
        if one.strip():
            read += len(one.split())
            yield one
            if read >= most:
                return


def scores_of(folder: Path, name: str, algorithm: str) -> bg.scores.ScoreStore:
    """Train what is missing, score what is missing."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    tokens = place / "corpus"
    corpus = (
        bg.corpora.open_corpus(tokens)
        if tokens.is_dir()
        else bg.corpora.read_corpus(first_words(CORPORA[name](), WORDS), out=tokens)
    )
    trained = bg.train(corpus, out=place, algorithm=algorithm, seeds=8, dim=100, subwords=False)
    print(f"{algorithm} on {name}: {trained.models[0].words:,} words", flush=True)
    return bg.scores.score_to_store(
        place / f"scores-{algorithm}",
        [str(path) for path in trained.paths],
        pairs="du2021",
        words="full",
        measures=["dbwa", "ripa", "nbm"],
    )


def counts_of(folder: Path, name: str) -> dict[str, int]:
    """How often each word occurs in a corpus."""
    corpus = bg.corpora.open_corpus(folder / name / "corpus")
    return dict(zip(corpus.words, corpus.counts.tolist(), strict=True))


def main(folder: Path) -> None:
    """Run it all, and write what was found."""
    out = folder / "results"
    out.mkdir(parents=True, exist_ok=True)
    sources, found, stores = [], {}, {}
    for name in CORPORA:
        for algorithm in ALGORITHMS:
            store = scores_of(folder, name, algorithm)
            result = bg.reliability(store, lists=list(LISTS), queries="du2021_queries")
            whole = bg.reliability(store, lists={"full": list(store.words)}, queries={})
            found[algorithm, name] = (result, whole)
            stores[algorithm, name] = store
            sources.append(bg.agreement.FactorSource(algorithm, name, store, counts=counts_of(folder, name)))
    summary = tables(found)
    summary.to_csv(out / "summary.csv", index=False)
    internal(found).to_csv(out / "internal.csv", index=False)
    components(stores).to_csv(out / "components.csv", index=False)
    for outcome in ("test_retest", "inter_rater"):
        fitted = bg.factors(sources, outcome=outcome, refits=50)
        (out / f"factors_{outcome}.json").write_text(json.dumps(fitted.to_dict(), indent=1), encoding="utf-8")
    bg.presentation.save_figures(draw(summary), out, ("svg", "png"))


def tables(found: dict[tuple[str, str], tuple[ReliabilityResult, ReliabilityResult]]) -> pd.DataFrame:
    """Distributions of reliability by algorithm, corpus, list and measure."""
    return pd.concat(
        [
            part.distributions().assign(algorithm=algorithm, corpus=corpus)
            for (algorithm, corpus), parts in found.items()
            for part in parts
        ],
        ignore_index=True,
    )


def internal(found: dict[tuple[str, str], tuple[ReliabilityResult, ReliabilityResult]]) -> pd.DataFrame:
    """Alpha of every query and of the pairs."""
    return pd.concat(
        [
            parts[0].internal.to_frame().assign(algorithm=algorithm, corpus=corpus)
            for (algorithm, corpus), parts in found.items()
        ],
        ignore_index=True,
    )


def components(stores: dict[tuple[str, str], bg.scores.ScoreStore]) -> pd.DataFrame:
    """What the scores of occupations vary with."""
    frames = []
    for (algorithm, corpus), store in stores.items():
        known = set(store.words)
        words = [word for word in bg.lexicon("occ16").words if word in known]
        for measure in store.measures:
            part = bg.agreement.variance_components(store.read(word=words, measure=[measure]), measure=measure)
            frames.append(part.to_frame().assign(algorithm=algorithm, corpus=corpus, measure=measure))
    return pd.concat(frames, ignore_index=True)


def draw(summary: pd.DataFrame) -> dict[str, Any]:
    """Figures 2 and 3 of the paper: reliability of words by list, measure, algorithm and corpus."""
    alt = altair()
    charts = {}
    for kind, title in (
        ("test_retest", "Test-retest reliability of words"),
        ("inter_rater", "Inter-rater reliability of words, scores as they are"),
    ):
        part = summary[(summary["reliability"] == kind) & (summary["of"] == "word")].copy()
        part["measure"] = part["measure"].fillna("all measures")
        base = alt.Chart(part).encode(
            y=alt.Y("list:N", sort=[*LISTS, "full"], title=None),
            yOffset=alt.YOffset("measure:N", sort=["dbwa", "ripa", "nbm"]),
            color=alt.Color("measure:N", sort=["dbwa", "ripa", "nbm"], scale=alt.Scale(scheme="dark2")),
        )
        x = alt.X("p05:Q", title="reliability", scale=alt.Scale(domain=[min(0.0, part["p05"].min()), 1]))
        layers = alt.layer(
            base.mark_rule().encode(x=x, x2="p95:Q"),
            base.mark_bar(height=5).encode(x="q1:Q", x2="q3:Q"),
            base.mark_point(filled=True, size=28, color="black", opacity=1).encode(
                x="median:Q", color=alt.value("black")
            ),
            data=part,
        ).properties(width=190, height=190)
        chart = layers.facet(
            row=alt.Row("corpus:N", sort=list(CORPORA), title=None),
            column=alt.Column("algorithm:N", sort=list(ALGORITHMS), title=None),
        )
        charts[kind] = styled(chart, title, "Median, middle half, and 5 % to 95 % of the words; 8 seeds")
    return charts


if __name__ == "__main__":
    main(Path(sys.argv[1]))
