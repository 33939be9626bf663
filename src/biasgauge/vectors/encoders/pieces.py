"""Sentences to tokens: positions of a word's pieces, the window around them, and batches of sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgauge.core import Places
from biasgauge.vectors.encoders.loading import LoadedModel

Span = tuple[int, int]
"""Position of a word in a sentence: first character, and the one after its last."""

PADDED = 0.1
"""Share of a batch that may be padding; below ten tokens all sentences of a batch are of one length."""


@dataclass(frozen=True, eq=False)
class TokenizedSentences:
    """Sentences for the model, in arrays: all but those whose word cannot be used.

    Attributes:
        places: which of the sentences that were given.
        tokens: ids, special ones included, one sentence after the other.
        sizes: how many tokens each sentence has, at most as many as the window.
        pieces: where in its sentence a word's own pieces are, in order, one word after the other.
        counts: how many pieces each word has.
        cls: place in each sentence of the classification token; −1 without one.
        lost: why a word cannot be used, by the place of its sentence.
        cut: how many sentences lost tokens, so that they fit.
    """

    places: Places
    tokens: Places
    sizes: Places
    pieces: Places
    counts: Places
    cls: Places
    lost: Mapping[int, str]
    cut: int

    def __len__(self) -> int:
        return len(self.places)

    def padded(self, rows: Places, padding: int) -> tuple[Places, Places | None]:
        """Tokens of some sentences as one array, and which of them are no padding; None where all are."""
        sizes = self.sizes[rows]
        across = np.arange(sizes.max())
        mask = across < sizes[:, None]
        inside = starts_of(self.sizes)[rows][:, None] + across
        if mask.all():
            return self.tokens[inside], None
        return np.where(mask, self.tokens[np.where(mask, inside, 0)], padding), mask.astype(np.int64)

    def pooled(self, rows: Places, pooling: str) -> tuple[Places, Places]:
        """Tokens of some sentences that a pooling averages, one sentence after the other; and their numbers."""
        ends, counts = np.cumsum(self.counts)[rows], self.counts[rows]
        match pooling:
            case "mean":
                return self.pieces[np.repeat(ends - counts, counts) + counting(counts)], counts
            case "sentence":
                return counting(self.sizes[rows]), self.sizes[rows]
            case "cls":
                tokens = self.cls[rows]
            case _:
                tokens = self.pieces[ends - counts if pooling == "first" else ends - 1]
        return tokens, np.ones_like(tokens)


def starts_of(sizes: Places) -> Places:
    """Starts of consecutive runs of these sizes."""
    starts: Places = np.cumsum(sizes) - sizes
    return starts


def counting(sizes: Places) -> Places:
    """0, 1, 2 … for each size, one after the other."""
    return np.arange(sizes.sum()) - np.repeat(starts_of(sizes), sizes)


def tokenize(loaded: LoadedModel, texts: Sequence[str], spans: Sequence[Span]) -> TokenizedSentences:
    """Tokenize sentences.

    A sentence that is longer than the window loses tokens on both sides, as far from the word as can be: special tokens
    stay, and so do all pieces of the word.
    """
    tokenizer = loaded.tokenizer
    backend = tokenizer.backend_tokenizer  # the library's own call copies every list of every sentence once more
    backend.no_truncation()
    backend.no_padding()
    unknown = getattr(tokenizer, "unk_token_id", None)
    encoded = backend.encode_batch(list(texts), add_special_tokens=True)
    # Nothing is kept of a sentence but numbers: objects by the thousand would have the garbage collector look at all.
    tokens: list[int] = []
    pieces: list[int] = []
    sizes: list[int] = []
    counts: list[int] = []
    lost: dict[int, str] = {}
    cut = 0
    for index, (encoding, span) in enumerate(zip(encoded, spans, strict=True)):
        ids: list[int] = encoding.ids
        positions = _pieces(encoding, ids, span, unknown)
        if len(ids) > loaded.window and not isinstance(positions, str):
            cut += 1
            ids, positions = _cut(ids, positions, encoding.special_tokens_mask, loaded.window)
        if isinstance(positions, str):
            lost[index] = positions
            continue
        tokens += ids
        pieces += positions
        sizes.append(len(ids))
        counts.append(len(positions))
    ids_of_all, lengths = np.array(tokens, np.int64), np.array(sizes, np.int64)
    usable = np.arange(len(encoded)) if not lost else np.delete(np.arange(len(encoded)), list(lost))
    all_positions = _first_in_each(ids_of_all, lengths, getattr(tokenizer, "cls_token_id", None))
    return TokenizedSentences(
        usable, ids_of_all, lengths, np.array(pieces, np.int64), np.array(counts, np.int64), all_positions, lost, cut
    )


def _pieces(encoded: Any, ids: list[int], span: Span, unknown: int | None) -> Sequence[int] | str:  # noqa: ANN401 - an Encoding of the library
    """Positions of the word's own pieces, at least one; or why it cannot be used."""
    begin, stop = span
    # To ask for the word's first and last characters takes a fraction of the time that it takes to look at all tokens.
    # They do not decide where a character is several pieces, or none.
    first, last = encoded.char_to_token(begin), encoded.char_to_token(stop - 1)
    after = None if last is None else encoded.token_to_chars(last + 1)
    pieces: Sequence[int]
    if first is not None and last is not None and (after is None or after[0] >= stop):
        pieces = range(first, last + 1)
    else:
        special: list[int] = encoded.special_tokens_mask
        inside = [position for position, (start, end) in enumerate(encoded.offsets) if start < stop and end > begin]
        pieces = [position for position in inside if not special[position] or ids[position] == unknown]
    if not pieces:
        return "the tokenizer makes nothing of it"
    if ids[pieces[0]] == unknown and all(ids[position] == unknown for position in pieces):
        return "the tokenizer does not know it"
    return pieces


def _cut(ids: list[int], pieces: Sequence[int], special: Sequence[int], window: int) -> tuple[list[int], Any]:
    """Cut a sentence that is too long: tokens and positions of the pieces, or the reason why they do not fit.

    Special tokens at its ends stay, and a run around the word.
    """
    size = len(special)
    front = next(position for position in range(size + 1) if position == size or not special[position])
    back = next(count for count in range(size + 1) if count == size or not special[size - 1 - count])
    available, needed = window - front - back, pieces[-1] - pieces[0] + 1
    if needed > available:
        window_text = f"the model's window of {window:,} tokens has room for"
        return ids, f"it has {len(pieces):,} pieces, which is more than {window_text}"
    start = min(max(pieces[0] - (available - needed) // 2, front), size - back - available)
    positions = [*range(front), *range(start, start + available), *range(size - back, size)]
    return [ids[position] for position in positions], [positions.index(position) for position in pieces]


def _first_in_each(tokens: Places, sizes: Places, wanted: int | None) -> Places:
    """Position of a token's first occurrence in each sentence; −1 where it does not occur."""
    starts = starts_of(sizes)
    hits = np.append(np.flatnonzero(tokens == wanted) if wanted is not None else [], len(tokens)).astype(np.int64)
    first = hits[np.searchsorted(hits, starts)]
    return np.where(first < starts + sizes, first - starts, -1)


def batches(lengths: Sequence[int] | Places, most_tokens: int, padded: float = PADDED) -> Iterator[Places]:
    """Yield the indices of the sentences of each batch, longest first: at most `most_tokens`, nearly one length.

    The shortest is at most by the share `padded` shorter than the longest.
    """
    shorter = -np.asarray(lengths)
    order = np.argsort(shorter, kind="stable")
    shorter = shorter[order]
    start = 0
    while start < len(order):
        longest = -int(shorter[start])
        alike = int(np.searchsorted(shorter, -longest * (1 - padded), side="right"))
        end = min(alike, start + max(most_tokens // max(longest, 1), 1))
        yield order[start:end]
        start = end
