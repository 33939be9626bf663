"""`corpus_bias`: association of words with two groups in a text, from counts alone: log odds ratios."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from biasgauge import registry
from biasgauge.analyses.corpus_bias.counting import ContextCounts, Weighting, corpus_coverage, count_contexts
from biasgauge.analyses.corpus_bias.result import CorpusBias, SetOdds, WordOdds
from biasgauge.core import (
    DEFAULT_POLICY,
    Estimate,
    Floats,
    LexiconLike,
    PairsLike,
    WordPolicy,
    WordsLike,
    check_choice,
    check_level,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, WordSet, WordSets, lexicon, pairs_of, words_of
from biasgauge.stats import odds_ratios
from biasgauge.text import TokenCorpus, corpus_of
from biasgauge.vectors import Coverage

Interval = Literal["documents", "bootstrap", "closed-form"]
CorpusLike = TokenCorpus | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
VALENTINI = "valentini2023"
LOST = "the text does not have the word"
TOO_FEW_DOCUMENTS = (
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
    policy: WordPolicy = DEFAULT_POLICY,
    as_published: str | None = None,
    layout: str = "auto",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    field: str | int | None = None,
    documents: str = "line",
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> CorpusBias:
    """Log odds ratio of words near group A against near group B, from the text itself, before any embedding.

    For a word w it is log [n_wA · n_¬wB / (n_¬wA · n_wB)], where n_wA counts tokens within ± `window` tokens of an A
    word, in the same line, that are w, and n_¬wA those that are not; for rare words it is PMI(w, A) − PMI(w, B).
    0: as likely near both. Where a count is 0, .5 is added to all four. Source: Valentini et al. 2023.

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
        policy: how words are looked up, and how many of each group and each set the text must have; `case="auto"`:
            other cases are tried where the text is all in lower case.
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
    check_level(level)
    query = corpus_query(words, a=a, b=b, pairs=pairs, test=test, x=x, y=y)
    text = corpus_of(corpus, layout=layout, tokenizer=tokenizer, field=field, documents=documents)
    counting: dict[str, Any] = {"window": window, "weighting": weighting, "min_count": min_count}
    counted = count_query(text, query, policy, progress, **counting)
    shift: odds_ratios.Shift = "all" if as_published is None else "zeros"
    uncertainty = _Uncertainty(interval, level, resamples, random_state, shift)
    rows, sets = _estimate(counted, query, uncertainty, policy.min_coverage, weighted=weighting != "flat")
    return CorpusBias(
        words=rows,
        sets=sets,
        a=counted.coverage.sets["a"].words,
        b=counted.coverage.sets["b"].words,
        names=query.names,
        coverage=counted.coverage.to_dict(),
        settings={
            "corpus": text.checksum, "tokens": len(text.tokens), "documents": len(text.documents) - 1, **counting,
            "interval": interval, "level": level, "resamples": resamples, "min_coverage": policy.min_coverage,
            "case_fallback": counted.case_fallback, "as_published": as_published, "random_state": random_state,
        },
        warnings=tuple(_warnings(counted, query, text)),
    )  # fmt: skip


@dataclass(frozen=True)
class CorpusQuery:
    """Words whose contexts are counted, and the two groups that they are compared on.

    Attributes:
        words: target words, each once.
        sets: named sets of them; "x" and "y" where two are to be compared.
        labels: display names of the sets.
        a, b: words of the groups.
        names: names of the groups.
    """

    words: tuple[str, ...]
    sets: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, str]
    a: tuple[str, ...]
    b: tuple[str, ...]
    names: tuple[str, str]

    @property
    def coefficients(self) -> dict[str, dict[str, float]]:
        """Weights of the words of each set: means, and the contrast of X and Y where there are both."""
        means = {name: dict.fromkeys(words, 1 / len(dict.fromkeys(words))) for name, words in self.sets.items()}
        if "x" in means and "y" in means:
            means["contrast"] = {**means["x"], **{word: -share for word, share in means["y"].items()}}
        return means


def corpus_query(
    words: WordsLike | None, *, a: WordsLike | None, b: WordsLike | None, pairs: PairsLike | None,
    test: LexiconLike | None, x: WordsLike | None, y: WordsLike | None,
) -> CorpusQuery:  # fmt: skip
    """Resolve target words and groups from the arguments of `corpus_bias`.

    Raises:
        ParameterError: too many or too few arguments are given.
    """
    if test is not None:
        source = lexicon(test)
        if not isinstance(source, AssociationTest):
            raise ParameterError(
                f"The 'test' parameter must be a lexicon of kind 'test'. {source.name!r} is of {source.kind!r}."
            )
        if any(argument is not None for argument in (words, a, b, pairs, x, y)):
            raise ParameterError("A 'test' has its own words and groups: give it alone.")
        words_x, words_y, group_a, group_b = source.roles.values()
    elif (x is None) != (y is None) or (x is not None and words is not None):
        raise ParameterError("Give 'words', or both 'x' and 'y'.")
    elif x is not None and y is not None:
        group_a, group_b = _groups(a, b, pairs)
        words_x, words_y = words_of(x), words_of(y)
    elif words is not None:
        group_a, group_b = _groups(a, b, pairs)
        targets = words_of(words)
        listed = lexicon(words) if isinstance(words, str) and words in registry.names("lexicon") else words
        sets = {targets.name: targets.words} if len(targets.words) > 1 else {}
        if isinstance(listed, WordSets):  # a lexicon of several sets
            sets = dict(listed.sets)
        distinct = tuple(dict.fromkeys(targets.words))
        return CorpusQuery(distinct, sets, {}, group_a.words, group_b.words, (group_a.name, group_b.name))
    else:
        raise ParameterError("Say which words to ask about: 'words', 'x' and 'y', or a 'test'.")
    if shared := set(words_x.words) & set(words_y.words):
        raise ParameterError(f"A word may stand in one of 'x' and 'y' only. Got {min(shared)!r} in both.")
    return CorpusQuery(
        words=tuple(dict.fromkeys((*words_x.words, *words_y.words))),
        sets={"x": words_x.words, "y": words_y.words},
        labels={"x": words_x.name, "y": words_y.name, "contrast": f"{words_x.name} − {words_y.name}"},
        a=group_a.words,
        b=group_b.words,
        names=(group_a.name, group_b.name),
    )


def _groups(a: WordsLike | None, b: WordsLike | None, pairs: PairsLike | None) -> tuple[WordSet, WordSet]:
    """Groups A and B; words without a name are named by the first three."""
    if pairs is not None:
        if a is not None or b is not None:
            raise ParameterError("Give either 'pairs', or 'a' and 'b'.")
        source = pairs_of(pairs)
        first, second = source.sets.values()
        return WordSet(source.ends[0], first), WordSet(source.ends[1], second)
    if a is None or b is None:
        raise ParameterError("Two groups are needed: 'a' and 'b', such as a=['he'] and b=['she'], or 'pairs'.")
    groups = []
    for group in (words_of(a), words_of(b)):
        name = "/".join(group.words[:3]) + ("/…" if len(group.words) > 3 else "")
        groups.append(WordSet(name, group.words) if group.name == "given words" else group)
    return groups[0], groups[1]


@dataclass(frozen=True, eq=False)
class QueryCounts:
    """Counts of a query in a text: `index` has the row of each word in the counts."""

    counts: ContextCounts
    index: Mapping[str, int]
    coverage: Coverage
    case_fallback: bool


def count_query(
    text: TokenCorpus,
    query: CorpusQuery,
    policy: WordPolicy,
    progress: Callable[[int, int], None] | None,
    **counting: Any,  # noqa: ANN401 - window, weighting and min_count of `count_contexts`
) -> QueryCounts:
    """Find the words of a query in a text and count their contexts.

    Raises:
        ParameterError: the text has too few words of a group.
    """
    all_lower_case = all(word == word.lower() for word in text.words)
    case_fallback = all_lower_case if policy.case == "auto" else policy.case == "fallback"
    sets = {"a": query.a, "b": query.b, **(query.sets or {"words": query.words})}
    coverage = corpus_coverage(text, sets, case_fallback=case_fallback)
    groups = {group: coverage.sets[group] for group in ("a", "b")}
    if reason := Coverage.of(groups).shortfall(policy.min_coverage):
        raise ParameterError(f"The text has too few words of the groups: {reason}.")
    word_ids = {word: row for name in sets if name not in groups for word, row in coverage.sets[name].row_of.items()}
    targets = list(dict.fromkeys(word_ids.values()))  # two spellings may find one word
    a, b = (sorted(set(group.rows.tolist())) for group in groups.values())
    counts = count_contexts(text, targets, a, b, progress=progress, **counting)
    order = {word_id: row for row, word_id in enumerate(targets)}
    return QueryCounts(counts, {word: order[word_id] for word, word_id in word_ids.items()}, coverage, case_fallback)


@dataclass(frozen=True)
class _Uncertainty:
    """Method and settings of the intervals; `shift` says which zero counts .5 is added to."""

    interval: Interval
    level: float
    resamples: int
    random_state: int
    shift: odds_ratios.Shift = "all"

    def estimate(
        self, value: float, se: float, changes: Floats, carriers: int, drawn: Floats | None, n: int | None = None
    ) -> Estimate:
        """Estimate with the requested interval, or that of the closed form with a warning.

        `se` is the closed-form standard error, `changes` are those of the value without each document, `carriers` is
        the number of documents that carry it, `drawn` are bootstrap replicates, `n` is the number of words.
        """
        labels = {} if n is None else {"n": n}
        closed = odds_ratios.closed_form(value, se, self.level, **labels)
        if self.interval == "closed-form":
            return closed
        if carriers < odds_ratios.LEAST_DOCUMENTS:
            return replace(closed, warning=TOO_FEW_DOCUMENTS)
        if drawn is not None:
            return odds_ratios.bootstrap_estimate(value, drawn, self.level, **labels)
        return odds_ratios.over_documents(value, changes, carriers, se, self.level, **labels)


def _estimate(
    counted: QueryCounts, query: CorpusQuery, uncertainty: _Uncertainty, min_coverage: float, *, weighted: bool
) -> tuple[tuple[WordOdds, ...], tuple[SetOdds, ...]]:
    """Rows of words and of sets; changes without each document are in memory for one word and all sets at a time."""
    counts, index = counted.counts, counted.index
    drawn = _bootstrap(counts, uncertainty) if uncertainty.interval == "bootstrap" else None
    coefficients = set_weights(query, counted)
    set_changes = {name: np.zeros(len(counts.totals)) for name in coefficients}
    values, errors, rows = {}, {}, []
    for word in query.words:
        if word not in index:
            n_a, n_b = (_as_count(total, weighted=weighted) for total in counts.total)
            rows.append(WordOdds(word, None, None, None, None, 0, n_a, 0, n_b, level=uncertainty.level, reason=LOST))
            continue
        changes = counts.left_out_changes(index[word], uncertainty.shift)
        word_drawn = None if drawn is None else drawn[:, index[word]]
        row = _word_row(word, counts, index[word], changes, word_drawn, uncertainty, weighted=weighted)
        rows.append(row)
        values[word], errors[word] = row.log_odds or 0.0, row.se or 0.0
        for name, weights in coefficients.items():
            if word in weights:
                set_changes[name] += weights[word] * changes
    sets = []
    for name, weights in coefficients.items():
        kind = "contrast" if name == "contrast" else "mean"
        labels: dict[str, Any] = {"name": query.labels.get(name, name), "kind": kind}
        members = ("x", "y") if name == "contrast" else (name,)
        shortfall = Coverage.of({member: counted.coverage.sets[member] for member in members}).shortfall(min_coverage)
        if shortfall or not weights:
            labels |= {"level": uncertainty.level, "method": uncertainty.interval}
            sets.append(SetOdds(value=None, reason=shortfall or LOST, **labels))
            continue
        columns, shares = [index[word] for word in weights], np.array(list(weights.values()))
        value = sum(share * values[word] for word, share in weights.items())
        se = sum((share * errors[word]) ** 2 for word, share in weights.items()) ** 0.5
        set_drawn = None if drawn is None else drawn[:, columns] @ shares
        carriers = len(counts.carriers(columns))
        estimate = uncertainty.estimate(value, se, set_changes[name], carriers, set_drawn, len(weights))
        sets.append(SetOdds.of_estimate(estimate, **labels))
    return tuple(rows), tuple(sets)


def set_weights(query: CorpusQuery, counted: QueryCounts) -> dict[str, dict[str, float]]:
    """Weights of the words of each set that the text has, rescaled so that each side sums to 1 or −1."""
    rescaled = {}
    for name, weights in query.coefficients.items():
        present = {word: share for word, share in weights.items() if word in counted.index}
        sums = {side: sum(abs(share) for share in present.values() if (share > 0) is side) for side in (True, False)}
        rescaled[name] = {word: share / sums[share > 0] for word, share in present.items()}
    return rescaled


def _word_row(
    word: str, counts: ContextCounts, index: int, changes: Floats, drawn: Floats | None, uncertainty: _Uncertainty,
    *, weighted: bool,
) -> WordOdds:  # fmt: skip
    table, documents = counts.table(index), len(counts.cells(index)[0])
    value = float(odds_ratios.log_odds_ratio(table, uncertainty.shift))
    se = float(odds_ratios.closed_form_se(table, counts.table_squares(index), uncertainty.shift))
    closed = odds_ratios.closed_form(value, se, uncertainty.level)
    estimate = uncertainty.estimate(value, se, changes, documents, drawn)
    numbers = (table[0], table[0] + table[1], table[2], table[2] + table[3])
    n_wa, n_a, n_wb, n_b = (_as_count(number, weighted=weighted) for number in numbers)
    return WordOdds(
        word=word, log_odds=value, low=estimate.low, high=estimate.high, se=se, n_wa=n_wa, n_a=n_a, n_wb=n_wb, n_b=n_b,
        level=uncertainty.level, method=estimate.method, closed_low=closed.low, closed_high=closed.high,
        se_documents=odds_ratios.document_se(changes), documents=documents,
        effective_documents=odds_ratios.effective_documents(changes), reason=estimate.reason, warning=estimate.warning,
    )  # fmt: skip


def _as_count(number: float, *, weighted: bool) -> int | float:
    return float(number) if weighted else round(float(number))


def _bootstrap(counts: ContextCounts, uncertainty: _Uncertainty) -> Floats:
    """Resamples × words: log odds ratios in bootstrap samples of the documents."""
    from scipy.sparse import csr_array

    # Documents without a context of either group change nothing: only the others are drawn and stored.
    carriers = np.flatnonzero(counts.totals.any(axis=1))
    column = np.full(len(counts.totals), -1)
    column[carriers] = np.arange(len(carriers))
    words = len(counts.words)
    rows = np.repeat(np.arange(words), np.diff(counts.starts))
    cells, shape = (rows, column[counts.documents]), (words, len(carriers))
    near = [csr_array((counts.near[:, side], cells), shape=shape) for side in (0, 1)]
    totals = counts.totals[carriers]
    values = np.empty((uncertainty.resamples, words))
    samples = odds_ratios.draw_documents(len(counts.totals), carriers, uncertainty.resamples, uncertainty.random_state)
    for sample, multiplicities in enumerate(samples):
        drawn = multiplicities.astype(np.float64)
        tables = np.zeros((words, 4))
        tables[:, 0], tables[:, 2] = (np.asarray(group @ drawn) for group in near)
        tables[:, 1::2] = drawn @ totals - tables[:, 0::2]
        values[sample] = odds_ratios.log_odds_ratio(tables, uncertainty.shift)
    return values


def _warnings(counted: QueryCounts, query: CorpusQuery, text: TokenCorpus) -> Iterator[str]:
    yield from (str(notice) for notice in text.settings.get("notices", ()))
    for name, words in counted.coverage.lost.items():
        yield f"not in the text, {name}: {', '.join(words)}"
    group_words = [word for word in query.words if word in {*query.a, *query.b}]
    if group_words:
        yield f"asked about, and themselves words of a group: {', '.join(group_words)}"
