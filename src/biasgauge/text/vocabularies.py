"""Vocabularies of models: minimum counts, <unk>, the rules of each paper, bootstrap samples of documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biasgauge.core import Integers, Record, check_whole
from biasgauge.errors import ParameterError
from biasgauge.io import read_toml
from biasgauge.text.token_corpus import TokenCorpus

_BLOCK = 2**22
LEFT_OUT = -1
"""The row of a token whose word is not learned."""


@dataclass(frozen=True)
class PaperRules(Record):
    """Vocabulary of a paper's models; `to_dict` gives the arguments of `vocabulary`.

    Attributes:
        min_count: the least count of a word that is kept.
        unknown: the word that rarer ones became; None: they were left out.
        remove: words left out before training.
        not_scored: marks that were trained as words: leave them out of the vocabulary that is scored.
        source: section of the paper or line of the code, and where the two differ.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"not_scored", "source"})

    min_count: int
    unknown: str | None = None
    remove: tuple[str, ...] = ()
    not_scored: tuple[str, ...] = ()
    source: str = ""


def _paper_rules(rules: dict[str, Any]) -> PaperRules:
    """Build the rules of one paper from its table in the file."""
    return PaperRules(**{**rules, **{name: tuple(rules.get(name, ())) for name in ("remove", "not_scored")}})


_RULES: dict[str, dict[str, Any]] = read_toml(Path(__file__).with_name("paper_rules.toml"))
PAPER_RULES = MappingProxyType({paper: _paper_rules(rules) for paper, rules in _RULES.items()})
"""Rules of each paper; `vocabulary(corpus, **PAPER_RULES["du2021"].to_dict())` applies them."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words that a model learns.

    Attributes:
        words: the most frequent first, ties in the order of their code points.
        counts: how many tokens of the sample each has.
        places: for each type of the corpus its row in `words`; −1 where its tokens are left out.
    """

    words: tuple[str, ...]
    counts: Integers
    places: NDArray[np.int32]


def vocabulary(
    corpus: TokenCorpus,
    *,
    min_count: int = 5,
    unknown: str | None = None,
    remove: Iterable[str] = (),
    documents: ArrayLike | None = None,
    max_size: int | None = None,
) -> Vocabulary:
    """Choose the words to learn from a corpus, or from a sample of its documents.

    Args:
        corpus: the corpus.
        min_count: the least count of a word that is kept; a word that does not occur in the sample never is.
        unknown: rarer words become this word, whose own tokens it joins; it is kept whatever its count. None: they are
            left out.
        remove: words that are left out whatever their count.
        documents: numbers of documents, one that is repeated counts as often as it occurs. None: each once.
        max_size: keep no more words than this, the most frequent (`unknown` not counted).

    Raises:
        ParameterError: an argument is impossible, or no word is left.
    """
    removed = frozenset([remove] if isinstance(remove, str) else remove)
    if unknown is not None and (not isinstance(unknown, str) or not unknown or unknown in removed):
        raise ParameterError(f"The 'unknown' parameter must be a word that is not removed. Got {unknown!r}.")
    check_whole(0, min_count=min_count)
    check_whole(1, max_size=1 if max_size is None else max_size)
    counts = corpus.counts if documents is None else count_tokens(corpus, documents)
    usable = (counts > 0) & np.array([word not in removed for word in corpus.words])
    candidates = usable & (counts >= min_count) & np.array([word != unknown for word in corpus.words])
    numbers = counts.tolist()
    types = sorted(np.flatnonzero(candidates).tolist(), key=lambda number: (-numbers[number], corpus.words[number]))
    types = types[:max_size]
    if not types:
        largest = int(counts[usable].max(initial=0))
        raise ParameterError(
            f"No word is left: the 'min_count' parameter of vocabulary is {min_count}, and the largest count found is "
            f"{largest}. Give a smaller min_count, or more text."
        )
    rare = usable.copy()
    rare[types] = False
    entries = [(-numbers[number], corpus.words[number], number) for number in types]
    if unknown is not None and rare.any():
        entries.append((-int(counts[rare].sum()), unknown, LEFT_OUT))
        entries.sort()
    rows = np.full(len(counts), LEFT_OUT, np.int32)
    for row, (_, _, number) in enumerate(entries):
        rows[rare if number == LEFT_OUT else number] = row
    return Vocabulary(
        tuple(word for _, word, _ in entries), np.array([-count for count, _, _ in entries], np.int64), rows
    )


def count_tokens(corpus: TokenCorpus, documents: ArrayLike) -> Integers:
    """Tokens of each type in a sample of documents; a document drawn three times counts three times."""
    sample = np.asarray(documents)
    number = len(corpus.documents) - 1
    if sample.ndim != 1 or not np.issubdtype(sample.dtype, np.integer) or not len(sample):
        raise ParameterError("The 'documents' parameter of vocabulary must be a list of document numbers.")
    if sample.min() < 0 or sample.max() >= number:
        raise ParameterError(
            f"The 'documents' parameter of vocabulary must hold numbers from 0 to {number - 1}. Got "
            f"{int(sample.min())} to {int(sample.max())}."
        )
    drawn = np.bincount(sample, minlength=number)
    counts = np.zeros(len(corpus.words))
    bounds = corpus.lines[corpus.documents]
    for start in range(0, len(corpus.tokens), _BLOCK):
        end = min(start + _BLOCK, len(corpus.tokens))
        first, last = np.searchsorted(bounds, start, "right") - 1, np.searchsorted(bounds, end, "left")
        edges = np.clip(bounds[first : last + 1], start, end)
        times = np.repeat(drawn[first:last], edges[1:] - edges[:-1])  # how often the document of each token was drawn
        counts += np.bincount(corpus.tokens[start:end], times, minlength=len(counts))
    return counts.astype(np.int64)  # sums of whole numbers below 2**53 are exact


def bootstrap_documents(corpus: TokenCorpus | int, sample: int, random_state: int) -> Integers:
    """Draw as many documents as there are, with replacement; return their numbers in the order of the draws.

    Sample k of a seed is the same whichever other samples are drawn: it has a random stream of its own.

    Args:
        corpus: the corpus, or its number of documents.
        sample: number of the sample, from 0.
        random_state: seed of the whole series of samples.

    Raises:
        ParameterError: a number is impossible.
    """
    documents = len(corpus.documents) - 1 if isinstance(corpus, TokenCorpus) else corpus
    check_whole(1, corpus=documents)
    check_whole(0, sample=sample, random_state=random_state)
    stream = np.random.SeedSequence(int(random_state), spawn_key=(int(sample),))
    return np.random.Generator(np.random.PCG64(stream)).integers(0, documents, size=documents, dtype=np.int64)
