"""How often `regress` finds a difference between random groups of documents of one source, and one that is planted.

    python scripts/regress_error_rates.py imdb.tsv.xz --source reviews --vectors glove.npz --splits 20
    python scripts/regress_error_rates.py novels.txt.xz --source novels --names FILES.txt --vectors glove.npz
    python scripts/regress_error_rates.py imdb.tsv.xz --source reviews --vectors glove.npz --splits 10 --odds 3
    python scripts/regress_error_rates.py imdb.tsv.xz --source reviews --vectors glove.npz --splits 4 --background 3
    python scripts/regress_error_rates.py imdb.tsv.xz --source reviews --vectors glove.npz --targets 1 --limits 12

Documents are dealt to two groups at random, so that nothing differs; with `--source novels` a document is a piece of a
novel, all of an author is dealt to one group, and the cluster is the author or, to see what that costs, the document.
A second covariate is a random number. Targets are frequent words; A and B are lists of eight words near two random
frequent words. With --odds, in documents of the second group a word of B within the window of a target becomes one of
A with the probability 1 − 1 / odds; with as many of both before, the odds of A are then 2 odds − 1. With --background
words of B give way to any words everywhere there with that probability: the odds of A are larger near all words alike.
Printed are shares of p < .05 by reading, and verdicts; with --limits, limits of detection over so many random halves.
"""

from __future__ import annotations

import argparse
import lzma
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.regress import ContextReader, FitSettings, embed_occurrences, fit_regression, parse_formula
from biasgauge.analyses.regress.transform import transform_of
from biasgauge.core import Integers, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.text import DocumentTable, read_documents

WINDOW = 6
PIECE = 60
"""Paragraphs of a novel that are one document."""


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--source", choices=["reviews", "novels"], required=True)
    parser.add_argument("--names", type=Path, help="names of the novels, one per line: Author_Title_Year.txt")
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--documents", type=int, help="at most so many, taken at random")
    parser.add_argument("--targets", type=int, default=10)
    parser.add_argument("--together", type=int, default=0, help="targets of a list, judged as a sample of words")
    parser.add_argument("--counts", default="200,5000", help="fewest and most occurrences of a target")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--cluster", choices=["author", "document"], default="author")
    parser.add_argument("--odds", type=float, default=1.0)
    parser.add_argument("--background", type=float, default=1.0)
    parser.add_argument("--limits", type=int, default=0, help="random halves for the limits of detection")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    """Simulate and print the table."""
    arguments = parse_arguments()
    generator = np.random.default_rng(arguments.seed)
    by_author = arguments.source == "novels"
    records = list(novels(arguments.file, arguments.names) if by_author else reviews(arguments.file))
    if arguments.documents and arguments.documents < len(records):
        records = [records[row] for row in sorted(generator.permutation(len(records))[: arguments.documents])]
    table = read_documents(records, ["author"])
    reader = ContextReader(table.corpus, arguments.vectors, window=WINDOW)
    transform = transform_of(reader)
    print(f"{len(table.corpus.tokens):,} tokens, {len(table.ids):,} documents, {table.covariates['author'].nunique()} "
          f"authors; recovery {transform.recovery}")  # fmt: skip
    rows, limits = [], []
    for split in range(arguments.splits):
        words, a, b = draw_words(reader, arguments, generator)
        covariates = deal(table, generator, by_author=by_author)
        here, around = table, reader
        if arguments.odds > 1:
            here, around = plant(table, covariates, words, (a, b), arguments.odds, generator, arguments.vectors)
        elif arguments.background > 1:
            here, around = plant(table, covariates, None, (a, b), arguments.background, generator, arguments.vectors)
        here = replace(here, covariates=covariates)
        settings = FitSettings(
            "author" if by_author and arguments.cluster == "author" else None, a, b,
            permutations=arguments.permutations, random_state=split,
            policy=bg.core.WordPolicy(min_coverage=0.5),
        )  # fmt: skip
        groups = [words] if arguments.together else [[word] for word in words]
        for group in groups:
            embedded = embed_occurrences(around, transform.matrix, group)
            formula = parse_formula(f"{'+'.join(group)} ~ group + number")
            sample = replace(settings, is_sample=bool(arguments.together))
            try:
                fit = fit_regression(here, around, around.embedding, transform, embedded, formula, sample)
            except ParameterError as problem:
                print(f"left out: {problem}")
                continue
            if arguments.limits:
                limits += list(detection_rows(fit, a, b, arguments.limits))
            else:
                rows += list(readings(fit))
    if arguments.limits:
        print(pd.DataFrame(limits).to_string())
    else:
        report(pd.DataFrame(rows))


def detection_rows(fit: Any, a: list[str], b: list[str], draws: int) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Limits of detection of one target, as odds ratios, and the share shown at each."""
    found = fit.detection(a, b, odds=(1, 2, 4, 10, 30), draws=draws, permutations=99)
    shown = {(point.reading, point.odds): point.shown for point in found.points}
    for row in found.limits:
        shares = {f"shown at {odds:g}": shown.get((row.reading, odds)) for odds in found.settings["odds"]}
        ends = {name: None if end is None else np.exp(end) for name, end in (("low", row.low), ("high", row.high))}
        yield {"target": fit.targets[0].word, "n": found.occurrences, "reading": row.reading, "odds": row.odds, **ends,
               **shares}  # fmt: skip
    print(found, flush=True)


def reviews(file: Path) -> Iterator[dict[str, Any]]:
    """Film reviews; each has an author of its own."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            yield {"text": line.rstrip("\n").partition("\t")[2], "author": f"{number}"}


def novels(file: Path, names: Path) -> Iterator[dict[str, Any]]:
    """Pieces of novels, with their authors."""
    with lzma.open(file, "rt", encoding="utf-8") as stream:
        texts = [text for text in stream.read().split("\ufeff") if text.strip()]
    for name, text in zip(names.read_text().split(), texts, strict=True):
        paragraphs = [" ".join(lines.split()) for lines in re.split(r"\n\s*\n", text) if lines.strip()]
        for first in range(0, len(paragraphs), PIECE):
            yield {"text": "\n".join(paragraphs[first : first + PIECE]), "author": name.partition("_")[0]}


def draw_words(
    reader: ContextReader, arguments: argparse.Namespace, generator: np.random.Generator
) -> tuple[list[str], list[str], list[str]]:
    """Draw frequent targets, and two topics of eight words near random frequent words."""
    embedding = reader.embedding
    counts = np.array([reader.count(word) for word in embedding.words])
    least, most = map(int, arguments.counts.split(","))
    frequent = np.flatnonzero((counts >= least) & (counts <= most))
    number = arguments.together or arguments.targets
    words = [embedding.words[row] for row in generator.choice(frequent, number, replace=False)]
    pool = np.flatnonzero(counts >= 100)
    units = unit_rows(np.asarray(embedding.vectors[pool], np.float64))
    first, second = generator.choice(len(pool), 2, replace=False)
    order = np.argsort(-units @ units[first])
    a = [embedding.words[pool[row]] for row in order if embedding.words[pool[row]] not in words][:8]
    order = np.argsort(-units @ units[second])
    b = [w for row in order if (w := embedding.words[pool[row]]) not in words and w not in a][:8]
    return words, a, b


def deal(table: DocumentTable, generator: np.random.Generator, *, by_author: bool) -> pd.DataFrame:
    """Deal documents, or all of an author, to two groups, with a number beside."""
    authors, codes = np.unique(table.covariates["author"].astype(str), return_inverse=True)
    size = len(authors) if by_author else len(table.ids)
    group, number = generator.permutation(size) % 2, generator.normal(size=size)
    rows = codes if by_author else np.arange(size)
    groups = np.where(group[rows] == 1, "y", "x")
    return pd.DataFrame({"author": table.covariates["author"], "group": groups, "number": number[rows]})


def plant(
    table: DocumentTable, covariates: pd.DataFrame, words: list[str] | None, sides: tuple[list[str], list[str]],
    odds: float, generator: np.random.Generator, vectors: Path,
) -> tuple[DocumentTable, ContextReader]:  # fmt: skip
    """Turn words of B near a target into words of A, or those everywhere into any, in documents of the second group."""
    corpus = table.corpus
    index = {word: row for row, word in enumerate(corpus.words)}
    ids: list[Integers] = [np.array([index[word] for word in side if word in index]) for side in (words or [], *sides)]
    tokens = np.array(corpus.tokens)
    near = np.zeros(len(tokens) + 1, np.int64)
    places = np.flatnonzero(np.isin(tokens, ids[0]))
    np.add.at(near, np.maximum(places - WINDOW, 0), 1)
    np.add.at(near, np.minimum(places + WINDOW + 1, len(tokens)), -1)
    bounds = corpus.lines[corpus.documents]
    in_second = np.repeat((covariates["group"] == "y").to_numpy(), np.diff(bounds))
    eligible = np.flatnonzero(((np.cumsum(near)[:-1] > 0) | (words is None)) & in_second & np.isin(tokens, ids[2]))
    changed = eligible[generator.random(len(eligible)) < 1 - 1 / odds]
    tokens[changed] = generator.choice(np.asarray(corpus.tokens) if words is None else ids[1], len(changed))
    planted = replace(corpus, tokens=tokens, counts=np.bincount(tokens, minlength=len(corpus.words)))
    return replace(table, corpus=planted), ContextReader(planted, vectors, window=WINDOW)


def readings(fit: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - an EmbeddingRegression
    """Rows of the table: p and whether the interval has 0, by reading and term."""
    n, clusters = fit.terms[0].n, fit.settings["clusters"]
    for position, (norm, verdict) in enumerate(zip(fit.terms, fit.verdicts, strict=True)):
        row = {
            "term": norm.term, "n": n, "clusters": clusters, "decision": verdict.decision,
            "speaker": fit.speakers[norm.term], "norm": norm.p, "low": norm.low,
        }  # fmt: skip
        for kind, terms in (("axis", fit.axis_terms), ("counts", fit.count_terms)):
            effect = terms[position] if terms else None
            row |= {kind: None if effect is None else effect.p, f"{kind} df": None if effect is None else effect.df,
                    f"{kind} estimate": None if effect is None else effect.estimate}  # fmt: skip
        yield row


def report(frame: pd.DataFrame) -> None:
    """Print shares by term."""
    for term, rows in frame.groupby("term"):
        sizes = f"median {rows['n'].median():.0f} occurrences, {rows['clusters'].median():.0f} clusters"
        print(f"\n{term}: {len(rows)} tests, {sizes}")
        for kind in ("norm", "axis", "counts"):
            p = rows[kind].dropna().astype(float)
            enough = p >= 0 if kind == "norm" else rows[f"{kind} df"].loc[p.index] >= 4
            judged = f"with enough clusters {(p[enough] < 0.05).mean():.3f} of {enough.sum()}"
            print(f"  {kind}: p < .05 in {(p < 0.05).mean():.3f} of {len(p)}; {judged}")
        low = rows["low"].dropna().astype(float)
        print(f"  norm interval above 0: {(low > 0).mean():.3f} of {len(low)}")
        print(f"  spoke: {rows['speaker'].value_counts().to_dict()}")
        print(f"  decisions: {rows['decision'].value_counts().to_dict()}")


if __name__ == "__main__":
    main()
