"""`Document`: sentences, and which stretches of words speak of the same thing; which documents are held out.

Sets that come as running text (GAP, Winogender) are split here: a word is a run of letters and digits, with hyphens,
full stops and apostrophes inside it; n't, 's and their like stand alone, as in the treebank that coreference corpora
follow; every other sign stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise

from biasgauge.errors import ParameterError

Span = tuple[int, int]
"""First and last word, counted from 0 over the whole document; both belong to it."""
Clusters = tuple[tuple[Span, ...], ...]
"""Mentions of one thing each."""
EVERY = 10
"""One document in so many is held out, for each purpose."""
_WORD = re.compile(
    r"""
      (?-i:Mr|Mrs|Ms|Dr|Jr|Sr|St|Prof|Gen|Col|Lt|Sgt|Rev|Hon|Gov|Sen|Rep)\.
    | (?:[^\W\d_]\.){2,}                          # U.S.
    | [’'](?:s|re|ve|ll|d|m)\b | n[’']t\b
    | \w+?(?=n[’']t\b)                            # do|n't
    | \w+(?:[-./&]\w+|,\d+|[’'](?!(?:s|re|ve|ll|d|m)\b)\w+)*
    | \.{2,} | -{2,} | ''
    | [^\w\s]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STOPS = {".", "?", "!", "...", "…", "?!", "!!"}
_CLOSERS = {'"', "''", "”", "’", "'", ")", "]", "-RRB-", "-RSB-"}


@dataclass(frozen=True)
class Document:
    """A text and its coreference.

    Attributes:
        name: what the file calls it.
        sentences: words by sentence; none is empty, but there may be none.
        clusters: mentions that speak of the same thing, in the order of the text; no span is in two of them.
        part: documents of one name may come in parts.
        speakers: who says each word; empty where nobody wrote it down.
        genre: e.g. "nw"; empty where unknown.
        notices: what was odd about the file and what was done about it.
    """

    name: str
    sentences: tuple[tuple[str, ...], ...]
    clusters: Clusters = ()
    part: int = 0
    speakers: tuple[str, ...] = ()
    genre: str = ""
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(self.sentences):
            raise ParameterError(f"A sentence of a Document needs at least one word ({self.name!r} has an empty one).")
        total = len(self.words)
        mentions = [span for cluster in self.clusters for span in cluster]
        wrong = next((span for span in mentions if not 0 <= span[0] <= span[1] < total), None)
        if wrong is not None:
            raise ParameterError(
                f"The mention {wrong} of {self.name!r} must lie within its {total} words, first word first."
            )
        if len(set(mentions)) != len(mentions):
            raise ParameterError(f"Each span of {self.name!r} may be a mention of one thing only; one comes twice.")
        if self.speakers and len(self.speakers) != total:
            raise ParameterError(
                f"{self.name!r} has {total} words but {len(self.speakers)} speakers; give one for each word or none."
            )
        object.__setattr__(self, "clusters", sort_clusters(self.clusters))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words, sentence after sentence."""
        return tuple(word for sentence in self.sentences for word in sentence)

    def with_clusters(self, clusters: Iterable[Iterable[Span]]) -> Document:
        """The same text with another coreference."""
        return replace(self, clusters=tuple(tuple(cluster) for cluster in clusters))

    def without_singletons(self) -> Document:
        """Leave out what is mentioned once: nothing refers to it, and OntoNotes does not annotate it."""
        return self.with_clusters(cluster for cluster in self.clusters if len(cluster) > 1)

    def sentences_from(self, first: int, count: int) -> Document:
        """`count` sentences from the sentence `first` on, with the mentions that lie within them."""
        start = sum(map(len, self.sentences[:first]))
        sentences = self.sentences[first : first + count]
        end = start + sum(map(len, sentences))
        inside = [
            tuple((a - start, b - start) for a, b in cluster if start <= a and b < end) for cluster in self.clusters
        ]
        clusters = tuple(cluster for cluster in inside if cluster)
        return replace(self, sentences=sentences, clusters=clusters, speakers=self.speakers[start:end])


def sort_clusters(clusters: Iterable[Iterable[Span]]) -> Clusters:
    """Mentions in the order of the text, clusters in the order of their first mention; empty ones are left out."""
    return tuple(sorted(tuple(sorted(cluster)) for cluster in clusters if cluster))


def each_span_once(clusters: Iterable[Iterable[Span]]) -> tuple[Clusters, list[Span]]:
    """Keep the first of a span that is repeated, as the reference scorer does; also give what was left out."""
    seen: set[Span] = set()
    unique: list[tuple[Span, ...]] = []
    repeated: list[Span] = []
    for cluster in clusters:
        new: list[Span] = []
        for span in cluster:
            (repeated if span in seen else new).append(span)
            seen.add(span)
        unique.append(tuple(new))
    return tuple(cluster for cluster in unique if cluster), repeated


def held_out(
    documents: list[Document], dev: list[Document] | None = None, test: list[Document] | None = None
) -> tuple[list[Document], list[Document], list[Document]]:
    """Training, dev and test documents: those given, else every tenth by name, and the fifth after each of them.

    Names begin with the genre or the kind of text in the corpora that need this, so that each is held out alike.
    """
    order = sorted(documents, key=lambda document: (document.name, document.part))
    offsets = {offset for offset, split in ((0, dev), (EVERY // 2, test)) if split is None}
    train = [document for index, document in enumerate(order) if index % EVERY not in offsets]
    dev, test = order[::EVERY] if dev is None else dev, order[EVERY // 2 :: EVERY] if test is None else test
    if not train or not dev or not test:
        raise ParameterError(
            f"To hold out dev and test documents there must be more than {EVERY // 2}. Got {len(documents)}; "
            "name dev and test documents."
        )
    return train, dev, test


def words_with_offsets(text: str) -> list[tuple[str, int, int]]:
    """Words of a text, each with the places in the text where it begins and where it has ended."""
    return [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def sentence_lengths(words: Sequence[str]) -> list[int]:
    """Lengths of sentences that end at . ? or !, with the quotation marks and brackets that close after it."""
    ends = []
    closing = False
    for index, word in enumerate(words):
        if closing and word not in _CLOSERS and word not in _STOPS:
            ends.append(index)
            closing = False
        closing = closing or word in _STOPS
    if words:
        ends.append(len(words))
    return [end - start for start, end in pairwise([0, *ends])]


def split_sentences(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The words by sentence."""
    remaining = iter(words)
    return tuple(tuple(islice(remaining, length)) for length in sentence_lengths(words))
