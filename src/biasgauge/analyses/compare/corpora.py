"""Corpora in the place of models: models of equal amounts of text, and the same difference from counts in the texts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge.analyses.compare.rows import CountDifference
from biasgauge.analyses.corpus_bias import CorpusBias, corpus_bias
from biasgauge.core import Query, WordPolicy, resolve
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import ByteSource
from biasgauge.text import MANIFEST, TokenCorpus
from biasgauge.text.training import ComparableModels, train_comparable
from biasgauge.vectors import load

_HEAD, _LINES = 2**14, 20
"""Bytes and lines of a file by which text is told from vectors."""
SHORT = 30
"""Mean number of tokens below which lines that are documents may be sentences of longer ones."""
DEFAULT_MIN_COUNT = 5
"""Occurrences below which `train_comparable` leaves a word out by default."""


def are_corpora(groups: object) -> bool:
    """Tell whether groups are corpora and not models.

    Raises:
        ParameterError: some are corpora and others are models.
    """
    if not isinstance(groups, Mapping):
        return False
    texts = [name for name, source in groups.items() if is_corpus_source(source)]
    if texts and len(texts) < len(groups):
        other = next(name for name in groups if name not in texts)
        raise ParameterError(f"Corpora are compared with corpora: {texts[0]!r} is a text, and {other!r} is a model.")
    return bool(texts)


def is_corpus_source(source: object) -> bool:
    """Tell whether a source is a tokenized corpus, the folder of one, or text."""
    if isinstance(source, TokenCorpus):
        return True
    if isinstance(source, list | tuple) and source:
        return all(isinstance(path, str | os.PathLike) and _is_text(Path(path)) for path in source)
    return isinstance(source, str | os.PathLike) and _is_text(Path(source))


def _is_text(path: Path) -> bool:
    """Tell running text from vectors: in a file of vectors nearly every line is a word and numbers, or it is binary."""
    try:
        if not path.is_file():
            return (path / MANIFEST).is_file()
        with ByteSource(path, error=CorpusError) as source:
            head = source.read(_HEAD)
    except (OSError, ValueError):
        return False
    try:
        lines = head.decode().splitlines()
    except UnicodeDecodeError as problem:
        if problem.start < len(head) - 4:  # not a character that the head cuts in two
            return False
        lines = head[: problem.start].decode().splitlines()
    words = [line.split() for line in lines[:_LINES] if line.strip()]
    return "\0" not in head.decode(errors="replace") and sum(map(_ends_in_numbers, words)) < len(words) / 2


def _ends_in_numbers(words: Sequence[str]) -> bool:
    try:
        return len(words) > 1 and bool([float(word) for word in words[-2 if len(words) > 2 else -1 :]])
    except ValueError:
        return False


def doubts_about_documents(corpora: Mapping[str, TokenCorpus]) -> Iterator[str]:
    """Yield warnings about what a document is, over which the verdict generalizes."""
    for name, corpus in corpora.items():
        mean = len(corpus.tokens) / (len(corpus.documents) - 1)
        if mean < SHORT:
            yield (
                f"A document of {name} has {mean:.0f} tokens on average. If these are sentences of longer documents, "
                "intervals are too narrow; say what a document is (documents='blank-line' or 'file')."
            )


@contextmanager
def trained_models(
    corpora: Mapping[str, Any], training: Mapping[str, Any], questions: Sequence[Query], policy: WordPolicy
) -> Iterator[ComparableModels]:
    """Train models of equal amounts of text; without `out` in a folder that goes when they were compared."""
    settings = dict(training)
    min_count = settings.get("min_count", DEFAULT_MIN_COUNT)
    settings["check"] = lambda read: _check_words(read, questions, policy, min_count)
    out = settings.pop("out", None)
    if out is not None:
        yield train_comparable(corpora, out=out, **settings)
        return
    with tempfile.TemporaryDirectory(prefix="biasgauge-compare-") as folder:
        yield train_comparable(corpora, out=folder, **settings)


def _check_words(
    corpora: Mapping[str, TokenCorpus], questions: Sequence[Query], policy: WordPolicy, min_count: int
) -> None:
    """Refuse questions whose words the corpora lack, before models are trained on parts of them.

    Raises:
        ParameterError: no question has enough words in every corpus.
    """
    vocabularies = []
    for corpus in corpora.values():
        words = [word for word, count in zip(corpus.words, corpus.counts.tolist(), strict=True) if count >= min_count]
        if not words:
            return  # training says so
        vocabularies.append(load((words, np.ones((len(words), 1), np.float32))))
    reasons = [resolve(question, vocabularies, policy).reason for question in questions]
    if all(reasons):
        raise nothing_to_compare(questions[0], str(reasons[0]), len(questions) - 1)


def nothing_to_compare(question: Query, reason: str, others: int) -> ParameterError:
    """Error where no question has enough words: the reason of the first, and what helps."""
    return ParameterError(
        f"Nothing can be compared: {question.name}: {reason}{f', and likewise {others} more' if others else ''}. Are "
        f"words there in lower case (case fallback), is the text in another language than {question.language!r}, or "
        "will fewer words do (min_coverage)?"
    )


def count_differences(
    corpora: Mapping[str, TokenCorpus],
    questions: Sequence[Query],
    pairs: Sequence[tuple[str, str]],
    policy: WordPolicy,
    level: float,
) -> list[CountDifference]:
    """Differences of the contrasts of log odds ratios, for the questions that are association tests.

    The interval is that of two independent estimates (MOVER; Zou & Donner 2008, *Statistics in Medicine* 27): the
    distances of the estimates from the ends of their intervals, added in squares. Where one word has most contexts of a
    set in either corpus, both numbers are those with words balanced.
    """
    rows = []
    for question in questions:
        if question.kind != "test":
            continue
        sets = dict(question.sets)
        try:
            found = {
                name: corpus_bias(corpus, **sets, policy=policy, level=level)  # type: ignore[arg-type]  # x, y, a, b
                for name, corpus in corpora.items()
            }
        except ParameterError as problem:
            rows += [_undefined(question, pair, str(problem).rstrip("."), level) for pair in pairs]
            continue
        rows += [_difference(question, pair, found, level) for pair in pairs]
    return rows


def _undefined(question: Query, pair: tuple[str, str], reason: str, level: float) -> CountDifference:
    return CountDifference(
        value=None, reason=reason, level=level, question=question.name, first=pair[0], second=pair[1]
    )


def _difference(
    question: Query, pair: tuple[str, str], found: Mapping[str, CorpusBias], level: float
) -> CountDifference:
    contrasts = [found[name].contrast for name in pair]
    dominated = any(row is not None and row.dominated for row in contrasts)
    first, second = (row.balanced if dominated and row is not None and row.balanced else row for row in contrasts)
    if first is None or second is None or first.value is None or second.value is None:
        reasons = [row.reason for row in (first, second) if row is not None and row.value is None and row.reason]
        return _undefined(question, pair, reasons[0] if reasons else "the texts lack the words", level)
    value = second.value - first.value
    labels: dict[str, Any] = {
        "question": question.name, "first": pair[0], "second": pair[1], "in_first": first.value,
        "in_second": second.value, "value": value, "level": level, "over": "documents",
    }  # fmt: skip
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return CountDifference(reason=first.reason or second.reason, **labels)
    below = ((second.value - second.low) ** 2 + (first.high - first.value) ** 2) ** 0.5
    above = ((second.high - second.value) ** 2 + (first.value - first.low) ** 2) ** 0.5
    return CountDifference(low=value - below, high=value + above, method="MOVER over documents", **labels)
