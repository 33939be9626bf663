"""Sentences for words: templates with a gap, and natural contexts that are drawn from a corpus."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from biasgauge.core import JsonMapping, Record, WordsLike, check_whole, did_you_mean
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import read_toml
from biasgauge.lexicons import words_of
from biasgauge.results import Column, RecordTable, Result, counted
from biasgauge.text import visit_documents

GAP = "{}"
DEFAULT = "any"
SHIPPED = Path(__file__).with_name("templates.toml")

TemplatesLike: TypeAlias = "str | os.PathLike[str] | Iterable[str]"
"""Templates, or where they are: a set that ships ("noun"), a sentence with a gap, a TOML file, one of its sets."""


def templates_of(templates: TemplatesLike) -> tuple[str, ...]:
    """Return the templates of a name, a file or a list, each once.

    - a name: one of the sets that ship: any, bare, noun, name, adjective, verb;
    - a sentence with a gap `{}`, or several of them in a list;
    - `my.toml`: every template of its table `[templates]`; `my.toml:SET`: those of one key.

    Raises:
        ParameterError: a template has no gap or several, or there is no such set.
        InputError: the file is not what it should be.
    """
    if isinstance(templates, (str, os.PathLike)):
        return _by_name(os.fspath(templates))
    if not isinstance(templates, Iterable):
        raise ParameterError(f"The 'templates' parameter must be a name, a file or sentences. Got {templates!r}.")
    chosen = tuple(dict.fromkeys(_checked(template) for template in templates))
    if not chosen:
        raise ParameterError("The 'templates' parameter must hold at least one template. Got none.")
    return chosen


def filled(template: str, word: str) -> tuple[str, tuple[int, int]]:
    """Return the sentence with the word in its gap, and the word's span."""
    start = template.index(GAP)
    return template.replace(GAP, word), (start, start + len(word))


def _by_name(name: str) -> tuple[str, ...]:
    shipped = _shipped()
    if name in shipped:
        return shipped[name]
    if GAP in name:
        return (_checked(name),)
    path, colon, chosen = (name, "", "") if Path(name).is_file() else name.rpartition(":")
    if path and Path(path).is_file():
        sets = _read(Path(path))
        if not colon:
            return tuple(dict.fromkeys(template for members in sets.values() for template in members))
        if chosen in sets:
            return sets[chosen]
        raise ParameterError(f"{path}: has no set {chosen!r} of templates; it has {', '.join(sets)}.")
    meant = did_you_mean(name, shipped) or f"; the sets are {', '.join(shipped)}."
    raise ParameterError(
        f"Templates must be a set that ships, a TOML file or sentences with {GAP}. Got {name!r}{meant}"
    )


@cache
def _shipped() -> Mapping[str, tuple[str, ...]]:
    return _read(SHIPPED)


def _read(path: Path) -> dict[str, tuple[str, ...]]:
    table: Any = read_toml(path).get("templates")
    if not isinstance(table, Mapping) or not table:
        raise InputError(
            f"{path}: needs a table [templates] with lists of sentences, such as plain = ['This is {GAP}.']"
        )
    for name, members in table.items():
        if not isinstance(members, list) or not members:
            raise InputError(f"{path}: the set {name!r} of [templates] must be a list of sentences")
    return {
        str(name): tuple(dict.fromkeys(_checked(template, path) for template in members))
        for name, members in table.items()
    }


def _checked(template: object, path: Path | None = None) -> str:
    if not isinstance(template, str) or template.count(GAP) != 1:
        where = "" if path is None else f"{path}: "
        raise ParameterError(f"{where}A template must be a sentence with one gap {GAP}. Got {template!r}.")
    return template


MOST_CHARACTERS = 600
"""Of a context: longer ones are cut at blanks around the word."""
_WORD = re.compile(r"\w+")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|\n+")


@dataclass(frozen=True)
class Context(Record):
    """A word in a sentence of a corpus.

    Attributes:
        word: as in the word list.
        text: the sentence.
        start: the word's first character in it.
        end: the one after its last.
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
        contexts: grouped by word, in the order in which they were drawn.
        words: the word list.
        found: occurrences of each word in the corpus.
        draws: contexts per word.
        settings: arguments of the draw.
        warnings: words that have fewer.
    """

    tables: ClassVar[tuple[str, ...]] = ("contexts",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "_words",
            "Contexts by word",
            ("word", Column("in the corpus", "count", source="found"), Column("drawn", "count")),
            most=20,
            name="contexts",
        ),
    )

    contexts: tuple[Context, ...]
    words: tuple[str, ...]
    found: Mapping[str, int]
    draws: int
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def of(self, word: str) -> tuple[Context, ...]:
        """Contexts of one word."""
        return tuple(context for context in self.contexts if context.word == word)

    def by_word(self) -> dict[str, tuple[Context, ...]]:
        """Contexts of every word."""
        grouped: dict[str, list[Context]] = {word: [] for word in self.words}
        for context in self.contexts:
            grouped[context.word].append(context)
        return {word: tuple(members) for word, members in grouped.items()}

    @property
    def _words(self) -> list[SimpleNamespace]:
        drawn = self.by_word()
        return [
            SimpleNamespace(word=word, found=self.found.get(word, 0), drawn=len(drawn[word])) for word in self.words
        ]

    def _title(self) -> str:
        return "Contexts of words"

    def _headline(self) -> str:
        words = counted(sum(map(bool, self.by_word().values())), "word")
        return f"{counted(self.contexts, 'context')} of {words} were drawn."


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
    """Draw sentences that contain words, each occurrence in the corpus with the same probability.

    The draws of a word depend on the seed, the word and the corpus alone, not on the other words.

    Args:
        corpus: a file, a folder, a list of paths, or an iterator over documents.
        words: a lexicon, one of its sets, or words; of several words too, such as "African American".
        draws: contexts of each word, without replacement.
        layout: as in `read_corpus`.
        field: likewise.
        documents: likewise.
        case_sensitive: whether "May" and "may" are different words.
        random_state: seed.
        progress: called with (bytes read, bytes in all).

    Raises:
        CorpusError: the corpus cannot be read.
        ParameterError: an argument cannot be used, or no word is in the corpus.
    """
    check_whole(1, draws=draws)
    check_whole(0, random_state=random_state)
    word_list = words_of(words)
    names = tuple(dict.fromkeys(word_list.words))
    pools = {word: _Reservoir(word, draws, random_state) for word in names}
    search = _ContextSearch(pools, case_sensitive=case_sensitive)
    visit_documents(corpus, search.visit, layout=layout, field=field, documents=documents, progress=progress)
    occurrences = {word: pool.seen for word, pool in pools.items()}
    if not any(occurrences.values()):
        raise ParameterError(f"None of the {len(names):,} words is in the corpus: there are no contexts to draw.")
    short = [word for word in names if occurrences[word] < draws]
    warning = (
        f"{len(short):,} of {len(names):,} words occur fewer than {draws:,} times in the corpus: "
        f"{', '.join(short[:8])}{' …' if len(short) > 8 else ''}"
    )
    return Contexts(
        contexts=tuple(context for pool in pools.values() for context in pool.drawn()),
        words=names,
        found=occurrences,
        draws=draws,
        settings={
            "corpus": str(Path(corpus)) if isinstance(corpus, (str, os.PathLike)) else "memory",
            "words": word_list.name, "draws": draws, "layout": layout, "field": field, "documents": documents,
            "case_sensitive": case_sensitive, "random_state": random_state,
        },
        warnings=(warning,) if short else (),
    )  # fmt: skip


class _Reservoir:
    """A uniform sample of a word's occurrences, whose number is not known beforehand (reservoir sampling)."""

    def __init__(self, word: str, size: int, random_state: int) -> None:
        self.word = word
        self.size = size
        self.seen = 0
        self._random = np.random.default_rng([random_state, *word.encode()])
        self._sample: list[Context] = []

    def offer(self, text: str, span: tuple[int, int], document: int) -> None:
        """Take one more occurrence with probability size / seen (algorithm R)."""
        self.seen += 1
        index = len(self._sample) if len(self._sample) < self.size else int(self._random.integers(self.seen))
        if index >= self.size:
            return
        context = _sentence_around(self.word, text, span, document)
        self._sample[index : index + 1] = [context]

    def drawn(self) -> list[Context]:
        """The sample in random order, so that a number says nothing about the position in the corpus."""
        return [self._sample[index] for index in self._random.permutation(len(self._sample))]


class _ContextSearch:
    """Finds all words in one document after the other.

    Words of letters alone are looked up among the words of the text; others, such as "African American" or "co-worker",
    by a pattern.
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
    """Return the sentence around a word, cut at blanks where it is too long."""
    first = max((end.end() for end in _SENTENCE_ENDS.finditer(text, 0, span[0])), default=0)
    next_end = _SENTENCE_ENDS.search(text, span[1])
    last = len(text) if next_end is None else next_end.start()
    spare = max(MOST_CHARACTERS - (span[1] - span[0]), 0) // 2
    if span[0] - first > spare:
        blank = text.find(" ", span[0] - spare, span[0])
        first = span[0] if blank < 0 else blank + 1
    if last - span[1] > spare:
        blank = text.rfind(" ", span[1], span[1] + spare)
        last = span[1] if blank < 0 else blank
    return Context(word, text[first:last], span[0] - first, span[1] - first, document)
