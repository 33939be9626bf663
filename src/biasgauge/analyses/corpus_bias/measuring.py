"""`corpus_bias`: what a text says about words, from counts alone: log odds ratios with two groups of words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from biasgauge.analyses.corpus_bias.asked import Asked, asked_sets
from biasgauge.analyses.corpus_bias.counting import ContextCounts, Weighting, corpus_coverage, count_contexts
from biasgauge.analyses.corpus_bias.result import CorpusBias, SetOdds, WordOdds
from biasgauge.core import (
    Estimate,
    Floats,
    LexiconLike,
    PairsLike,
    WordsLike,
    check_choice,
    check_level,
    check_number,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.stats import odds_ratios
from biasgauge.text import TokenCorpus, corpus_of
from biasgauge.vectors import Coverage

Interval = Literal["documents", "bootstrap", "closed-form"]
CorpusLike = TokenCorpus | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
VALENTINI = "valentini2023"
LOST = "the text does not have the word"
ALIKE = (
    "fewer than two documents carry the number, so the interval takes all contexts as independent, which they are not"
)


def corpus_bias(  # noqa: PLR0913 - settings are keyword arguments
    corpus: CorpusLike,
    words: WordsLike | None = None,
    *,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    pairs: PairsLike | None = None,
    test: LexiconLike | None = None,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    window: int = 5,
    weighting: Weighting = "flat",
    min_count: int = 1,
    interval: Interval = "documents",
    level: float = 0.95,
    resamples: int = 2_000,
    min_coverage: float = 0.8,
    case_fallback: bool | None = None,
    as_published: str | None = None,
    layout: str = "auto",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    field: str | int | None = None,
    documents: str = "line",
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> CorpusBias:
    """Log odds ratio of words near group A against near group B: what the text itself says, before any embedding.

    For a word w it is log [n_wA · n_¬wB / (n_¬wA · n_wB)], where n_wA counts places within ± `window` tokens of an A
    word, in the same line, that hold w, and n_¬wA those that hold anything else; for rare words it is PMI(w, A) −
    PMI(w, B). 0: as likely near both. Where a count is 0, .5 is added to all four. Source: Valentini et al. 2023.

    Args:
        corpus: a tokenized corpus, its folder, or what `read_corpus` reads.
        words: words to ask about: a list, a lexicon, one of its sets. A lexicon of several sets also gives a mean for
            each set.
        a: words of the first group, such as ["he"].
        b: words of the second group, such as ["she"].
        pairs: base pairs instead of a and b: the first ends are A, the second ends B.
        test: a lexicon of kind "test": targets X and Y, attributes A and B. The contrast is the mean log odds ratio of
            X less that of Y.
        x: first targets, in the place of `words`.
        y: second targets.
        window: tokens on each side.
        weighting: "flat": every context counts 1. "word2vec": (window + 1 − distance) / window, as often as its
            shrinking window reaches it. "glove": 1 / distance.
        min_count: words rarer than this are skipped before distances are counted, as trainers do.
        interval: "documents": each document left out in turn, Student's t; "bootstrap": documents drawn again;
            "closed-form": contexts taken as independent, which is too narrow where they are not.
        level: nominal coverage of the intervals.
        resamples: bootstrap samples of documents.
        min_coverage: share of each group and each set that the text must have.
        case_fallback: look words up in lower case, then capitalized; None: where the text is all in lower case.
        as_published: "valentini2023": .5 goes into those of the four counts that are 0 alone, as in the code they used
            (statsmodels' `Table2x2`), not to all four.
        layout: of a text that is read: "lines", "paragraphs", "wikitext", "tsv", "csv", "jsonl", or "auto".
        tokenizer: of a text that is read.
        field: column or field of a table that is read.
        documents: what is a document in plain lines: "line", "blank-line" or "file".
        random_state: seed of the bootstrap.
        progress: called with (done, total).

    Raises:
        ParameterError: an argument cannot be used, or a word stands in both groups.
        CorpusError: the text cannot be read.
    """
    check_whole(1, window=window, min_count=min_count, resamples=resamples)
    check_choice(get_args(Weighting), weighting=weighting)
    check_choice(get_args(Interval), interval=interval)
    check_choice((None, VALENTINI), as_published=as_published)
    check_number(0, 1, min_coverage=min_coverage)
    check_level(level)
    asked = asked_sets(words, a=a, b=b, pairs=pairs, test=test, x=x, y=y)
    text = corpus_of(corpus, layout=layout, tokenizer=tokenizer, field=field, documents=documents)
    counted = count_asked(
        text, asked, window=window, weighting=weighting, min_count=min_count, min_coverage=min_coverage,
        case_fallback=case_fallback, progress=progress,
    )  # fmt: skip
    shift: odds_ratios.Shift = "all" if as_published is None else "zeros"
    how = _How(interval, level, resamples, random_state, whole=weighting == "flat", shift=shift)
    rows, sets = _measured(counted, asked, how, min_coverage)
    return CorpusBias(
        words=rows,
        sets=sets,
        a=counted.coverage.sets["a"].words,
        b=counted.coverage.sets["b"].words,
        names=asked.names,
        coverage=counted.coverage.to_dict(),
        settings={
            "corpus": text.checksum, "tokens": len(text.tokens), "documents": len(text.documents) - 1,
            "window": window, "weighting": weighting, "min_count": min_count, "interval": interval, "level": level,
            "resamples": resamples, "min_coverage": min_coverage, "case_fallback": counted.case_fallback,
            "as_published": as_published, "random_state": random_state,
        },
        warnings=tuple(_warnings(counted, asked, text)),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts of what was asked, and where its words are."""

    counts: ContextCounts
    places: Mapping[str, int]
    coverage: Coverage
    case_fallback: bool


def count_asked(
    text: TokenCorpus, asked: Asked, *, window: int, weighting: Weighting, min_count: int, min_coverage: float,
    case_fallback: bool | None, progress: Callable[[int, int], None] | None,
) -> Counted:  # fmt: skip
    """Find the words in a text and count their contexts.

    Raises:
        ParameterError: the text has too few words of a group.
    """
    fallback = _lower_case(text) if case_fallback is None else case_fallback
    sets = {"a": asked.a, "b": asked.b, **(asked.sets or {"words": asked.words})}
    coverage = corpus_coverage(text, sets, case_fallback=fallback)
    groups = {group: coverage.sets[group] for group in ("a", "b")}
    if reason := Coverage.of(groups).shortfall(min_coverage):
        raise ParameterError(f"The text has too few words of the groups: {reason}.")
    places = {
        word: int(row)
        for lookup in (coverage.sets[name] for name in sets if name not in groups)
        for word, row in zip(lookup.words, lookup.rows, strict=True)
    }
    targets = list(dict.fromkeys(places.values()))
    counts = count_contexts(
        text, targets, sorted(set(groups["a"].rows.tolist())), sorted(set(groups["b"].rows.tolist())),
        window=window, weighting=weighting, min_count=min_count, progress=progress,
    )  # fmt: skip
    order = {place: number for number, place in enumerate(targets)}
    return Counted(counts, {word: order[place] for word, place in places.items()}, coverage, fallback)


def _lower_case(text: TokenCorpus) -> bool:
    """Whether no word of the text has a capital letter."""
    return not any(word != word.lower() for word in text.words)


@dataclass(frozen=True)
class _How:
    interval: Interval
    level: float
    resamples: int
    random_state: int
    whole: bool
    shift: odds_ratios.Shift = "all"

    def estimate(
        self,
        value: float,
        se: float,
        changes: Floats,
        carriers: int,
        drawn: Floats | None,
        **about: Any,  # noqa: ANN401 - n
    ) -> Estimate:
        """A number with the interval that was asked for, or that of the closed form with a warning."""
        closed = odds_ratios.closed_form(value, se, self.level, **about)
        if self.interval == "closed-form":
            return closed
        if carriers < odds_ratios.LEAST_DOCUMENTS:
            return replace(closed, warning=ALIKE)
        if drawn is not None:
            return odds_ratios.bootstrap_estimate(value, drawn, self.level, **about)
        return odds_ratios.over_documents(value, changes, carriers, se, self.level, **about)


def _measured(
    counted: Counted, asked: Asked, how: _How, min_coverage: float
) -> tuple[tuple[WordOdds, ...], tuple[SetOdds, ...]]:
    """Rows of words and of sets; the changes without each document are held for one word and all sets at a time."""
    counts, places = counted.counts, counted.places
    drawn = _bootstrap(counts, how) if how.interval == "bootstrap" else None
    coefficients = present_coefficients(asked, counted)
    changes = {name: np.zeros(len(counts.totals)) for name in coefficients}
    values, errors, rows = {}, {}, []
    for word in asked.words:
        if word not in places:
            rows.append(_lost(word, counts, how))
            continue
        place = places[word]
        own = counts.left_out_changes(place, how.shift)
        row = _row(word, counts, place, own, None if drawn is None else drawn[:, place], how)
        rows.append(row)
        values[word], errors[word] = row.log_odds or 0.0, row.se or 0.0
        for name, weights in coefficients.items():
            if word in weights:
                changes[name] += weights[word] * own
    sets = []
    for name, weights in coefficients.items():
        label: dict[str, Any] = {
            "name": asked.labels.get(name, name),
            "kind": "contrast" if name == "contrast" else "mean",
        }
        parts = ("x", "y") if name == "contrast" else (name,)
        short = Coverage.of({part: counted.coverage.sets[part] for part in parts}).shortfall(min_coverage)
        if short or not weights:
            sets.append(SetOdds(value=None, level=how.level, method=how.interval, reason=short or LOST, **label))
            continue
        carriers = counts.carriers([places[word] for word in weights])
        value = sum(share * values[word] for word, share in weights.items())
        se = sum((share * errors[word]) ** 2 for word, share in weights.items()) ** 0.5
        mixed = None
        if drawn is not None:
            mixed = drawn[:, [places[word] for word in weights]] @ np.array(list(weights.values()))
        estimate = how.estimate(value, se, changes[name], carriers, mixed, n=len(weights))
        sets.append(SetOdds.of_estimate(estimate, **label))
    return tuple(rows), tuple(sets)


def present_coefficients(asked: Asked, counted: Counted) -> dict[str, dict[str, float]]:
    """Weights of the words of each set that the text has."""
    return {
        name: _rescaled({word: share for word, share in weights.items() if word in counted.places})
        for name, weights in asked.coefficients.items()
    }


def _rescaled(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights of the words that are there, so that each side again sums to 1 or −1."""
    sums = {side: sum(abs(share) for share in weights.values() if (share > 0) is side) for side in (True, False)}
    return {word: share / sums[share > 0] for word, share in weights.items()}


def _row(word: str, counts: ContextCounts, place: int, changes: Floats, drawn: Floats | None, how: _How) -> WordOdds:
    table = counts.table(place)
    value = float(odds_ratios.log_odds_ratio(table, how.shift))
    se = float(odds_ratios.closed_form_se(table, counts.table_squares(place), how.shift))
    closed = odds_ratios.closed_form(value, se, how.level)
    estimate = how.estimate(value, se, changes, len(counts.cells(place)[0]), drawn)
    number = _count if how.whole else float
    return WordOdds(
        word=word, log_odds=value, low=estimate.low, high=estimate.high, se=se,
        n_wa=number(table[0]), n_a=number(table[0] + table[1]), n_wb=number(table[2]), n_b=number(table[2] + table[3]),
        level=how.level, method=estimate.method, closed_low=closed.low, closed_high=closed.high,
        se_documents=odds_ratios.document_se(changes), documents=len(counts.cells(place)[0]),
        effective_documents=odds_ratios.effective_documents(changes), reason=estimate.reason, warning=estimate.warning,
    )  # fmt: skip


def _count(number: float) -> int:
    return round(float(number))


def _lost(word: str, counts: ContextCounts, how: _How) -> WordOdds:
    number = _count if how.whole else float
    n_a, n_b = (number(total) for total in counts.total)
    return WordOdds(word, None, None, None, None, 0, n_a, 0, n_b, level=how.level, reason=LOST)


def _bootstrap(counts: ContextCounts, how: _How) -> Floats:
    """Resamples × words: log odds ratios in samples of the documents."""
    from scipy.sparse import csr_array

    carriers = np.flatnonzero(counts.totals.any(axis=1))
    order = np.full(len(counts.totals), -1)
    order[carriers] = np.arange(len(carriers))
    words = len(counts.words)
    cells = np.repeat(np.arange(words), np.diff(counts.starts))
    shape = (words, len(carriers))
    near = [csr_array((counts.near[:, side], (cells, order[counts.documents])), shape=shape) for side in (0, 1)]
    totals = counts.totals[carriers]
    values = np.empty((how.resamples, words))
    samples = odds_ratios.draw_documents(len(counts.totals), carriers, how.resamples, how.random_state)
    for number, times in enumerate(samples):
        drawn = times.astype(np.float64)
        total = drawn @ totals
        tables = np.zeros((words, 4))
        tables[:, 0], tables[:, 2] = (np.asarray(group @ drawn) for group in near)
        tables[:, 1::2] = total - tables[:, 0::2]
        values[number] = odds_ratios.log_odds_ratio(tables, how.shift)
    return values


def _warnings(counted: Counted, asked: Asked, text: TokenCorpus) -> Sequence[str]:
    told = [str(notice) for notice in text.settings.get("notices", ())]
    if lost := counted.coverage.lost:
        told += [f"not in the text, {name}: {', '.join(words)}" for name, words in lost.items()]
    both = [word for word in asked.words if word in {*asked.a, *asked.b}]
    if both:
        told.append(f"asked about, and themselves words of a group: {', '.join(both)}")
    return told
