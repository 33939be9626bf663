"""Natural contexts: sentences of a corpus in which words stand, drawn at random, with the documents they come from."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from biasgauge.core import JsonMapping, Record, WordsLike, check_whole
from biasgauge.errors import ParameterError
from biasgauge.lexicons import words_of
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.text import visit_documents

MOST_CHARACTERS = 600
"""Of a context: longer ones are cut at blanks around the word."""
_WORD = re.compile(r"\w+")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|\n+")


@dataclass(frozen=True)
class Context(Record):
    """A word in a sentence of a corpus.

    Attributes:
        word: as it was asked for.
        text: the sentence.
        start: where the word begins in it, in characters.
        end: behind its last character.
        document: number of the document among those of the corpus that have text, from 0.
    """

    word: str
    text: str
    start: int
    end: int
    document: int


@dataclass(frozen=True, eq=False, repr=False)
class Contexts(Result):
    """Sentences drawn for some words, at most `draws` for each.

    Attributes:
        contexts: those of a word follow each other, in the order in which they were drawn.
        words: all that were asked for.
        found: how often each word stands in the corpus.
        draws: how many contexts were asked for.
        settings: how they were drawn.
        warnings: which words have fewer.
    """

    tables: ClassVar[tuple[str, ...]] = ("contexts",)

    contexts: tuple[Context, ...]
    words: tuple[str, ...]
    found: Mapping[str, int]
    draws: int
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def of(self, word: str) -> tuple[Context, ...]:
        """The contexts of one word."""
        return tuple(context for context in self.contexts if context.word == word)

    def by_word(self) -> dict[str, tuple[Context, ...]]:
        """The contexts of every word."""
        grouped: dict[str, list[Context]] = {word: [] for word in self.words}
        for context in self.contexts:
            grouped[context.word].append(context)
        return {word: tuple(own) for word, own in grouped.items()}

    def summary(self) -> Summary:
        """How many contexts each word has; the sentences themselves are in the frame."""
        own = self.by_word()
        rows = [(word, self.found.get(word, 0), len(own[word])) for word in self.words]
        columns = ["word", Column("in the corpus", "count"), Column("drawn", "count")]
        return Summary(
            title="Contexts of words",
            headline=f"{counted(self.contexts, 'context')} of "
            f"{counted(sum(map(bool, own.values())), 'word')} were drawn.",
            tables=(Table.of("contexts", "Contexts by word", columns, rows, most=20),),
            warnings=self.warnings,
        )


def draw_contexts(
    corpus: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    words: WordsLike,
    *,
    draws: int = 10,
    layout: str = "auto",
    field: str | int | None = None,
    documents: str = "line",
    case_sensitive: bool = False,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Contexts:
    """Draw sentences in which words stand, each occurrence in the corpus with the same probability.

    The draws of a word depend on the seed, the word and the corpus alone, not on which other words are asked for.

    Args:
        corpus: a file, a folder, a list of paths, or an iterator over documents.
        words: a lexicon, one of its sets, or words; of several words too, such as "African American".
        draws: contexts of each word, without replacement.
        layout: as in `corpora.read_corpus`.
        field: likewise.
        documents: likewise.
        case_sensitive: whether "May" and "may" are different words.
        random_state: seed.
        progress: called with (bytes read, bytes in all).

    Raises:
        CorpusError: the corpus cannot be read.
        ParameterError: an argument cannot be used, or no word stands in the corpus.
    """
    check_whole(1, draws=draws)
    check_whole(0, random_state=random_state)
    asked = words_of(words)
    names = tuple(dict.fromkeys(asked.words))
    pools = {word: _Reservoir(word, draws, random_state) for word in names}
    search = _Search(pools, case_sensitive=case_sensitive)
    visit_documents(corpus, search.visit, layout=layout, field=field, documents=documents, progress=progress)
    found = {word: pool.seen for word, pool in pools.items()}
    if not any(found.values()):
        raise ParameterError(f"None of the {len(names):,} words stands in the corpus: there are no contexts to draw.")
    short = [word for word in names if found[word] < draws]
    warning = (
        f"{len(short):,} of {len(names):,} words stand fewer than {draws:,} times in the corpus: "
        f"{', '.join(short[:8])}{' …' if len(short) > 8 else ''}"
    )
    return Contexts(
        contexts=tuple(context for pool in pools.values() for context in pool.drawn()),
        words=names,
        found=found,
        draws=draws,
        settings={
            "corpus": str(Path(corpus)) if isinstance(corpus, (str, os.PathLike)) else "memory",
            "words": asked.name,
            "draws": draws,
            "layout": layout,
            "field": field,
            "documents": documents,
            "case_sensitive": case_sensitive,
            "random_state": random_state,
        },
        warnings=(warning,) if short else (),
    )


class _Reservoir:
    """A uniform sample of a word's occurrences, of which nobody knows beforehand how many there are."""

    def __init__(self, word: str, size: int, random_state: int) -> None:
        self.word = word
        self.size = size
        self.seen = 0
        self._random = np.random.default_rng([random_state, *word.encode()])
        self._kept: list[Context] = []

    def offer(self, text: str, span: tuple[int, int], document: int) -> None:
        """One more occurrence, kept with the right probability (algorithm R)."""
        self.seen += 1
        place = len(self._kept) if len(self._kept) < self.size else int(self._random.integers(self.seen))
        if place >= self.size:
            return
        context = _sentence_around(self.word, text, span, document)
        self._kept[place : place + 1] = [context]

    def drawn(self) -> list[Context]:
        """The sample, in an order of chance: where it lies in the corpus says nothing about its number."""
        return [self._kept[place] for place in self._random.permutation(len(self._kept))]


class _Search:
    """Looks for all words in one document after the other.

    Words of letters alone are looked up among the words of the text; others, such as "African American" or "co-worker",
    are searched for by a pattern.
    """

    def __init__(self, pools: Mapping[str, _Reservoir], *, case_sensitive: bool) -> None:
        self._fold = str if case_sensitive else str.casefold
        self._pools: dict[str, list[_Reservoir]] = {}
        for word, pool in pools.items():
            self._pools.setdefault(self._key(word), []).append(pool)
        patterns = [_WORD]
        if odd := sorted(
            (word for word in self._pools if not _WORD.fullmatch(word)), key=lambda word: (-len(word), word)
        ):
            inside = "|".join(r"\s+".join(map(re.escape, word.split())) for word in odd)
            patterns.append(re.compile(rf"(?<!\w)(?:{inside})(?!\w)", 0 if case_sensitive else re.IGNORECASE))
        self._patterns = tuple(patterns)
        self._document = 0

    def visit(self, text: str) -> None:
        """Offer every occurrence to its word."""
        for pattern in self._patterns:
            for match in pattern.finditer(text):
                for pool in self._pools.get(self._key(match.group()), ()):
                    pool.offer(text, match.span(), self._document)
        self._document += 1

    def _key(self, word: str) -> str:
        return self._fold(" ".join(word.split()) if not word.isalnum() else word)


def _sentence_around(word: str, text: str, span: tuple[int, int], document: int) -> Context:
    """The sentence that holds the word, cut at blanks where it is too long."""
    first = max((end.end() for end in _SENTENCE_ENDS.finditer(text, 0, span[0])), default=0)
    behind = _SENTENCE_ENDS.search(text, span[1])
    last = len(text) if behind is None else behind.start()
    spare = max(MOST_CHARACTERS - (span[1] - span[0]), 0) // 2
    if span[0] - first > spare:
        blank = text.find(" ", span[0] - spare, span[0])
        first = span[0] if blank < 0 else blank + 1
    if last - span[1] > spare:
        blank = text.rfind(" ", span[1], span[1] + spare)
        last = span[1] if blank < 0 else blank
    return Context(word, text[first:last], span[0] - first, span[1] - first, document)
