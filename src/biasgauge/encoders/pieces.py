"""Sentences to tokens: where a word's own pieces are, what fits into the window, which sentences share a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Places
from biasgauge.encoders.loading import LoadedModel

Span = tuple[int, int]
"""Where a word stands in a sentence: first character, and the one behind its last."""

PADDED = 0.1
"""Share of a batch that may be padding; below ten tokens all sentences of a batch are of one length."""


class TokenizedSentence(NamedTuple):
    """One sentence for the model.

    Attributes:
        tokens: ids, special tokens included, at most as many as the window.
        pieces: places of the word's own pieces among them, in order.
        cls: place of the classification token; −1 without one.
        cut: whether tokens were left out so that it fits.
    """

    tokens: tuple[int, ...]
    pieces: tuple[int, ...]
    cls: int
    cut: bool


def tokenize(loaded: LoadedModel, texts: Sequence[str], spans: Sequence[Span]) -> list[TokenizedSentence | str]:
    """Tokenize sentences; in the place of one whose word cannot be used stands the reason.

    A sentence that is longer than the window loses tokens on both sides, as far from the word as can be: special tokens
    stay, and so do all pieces of the word.
    """
    tokenizer = loaded.tokenizer
    backend = tokenizer.backend_tokenizer  # the library's own call copies every list of every sentence once more
    backend.no_truncation()
    backend.no_padding()
    unknown = getattr(tokenizer, "unk_token_id", None)
    cls = getattr(tokenizer, "cls_token_id", None)
    encoded = backend.encode_batch(list(texts), add_special_tokens=True)
    return [
        _sentence(encoding, span, loaded.window, unknown, cls) for encoding, span in zip(encoded, spans, strict=True)
    ]


def _sentence(
    encoded: Any,  # noqa: ANN401 - an Encoding of the library
    span: Span,
    window: int,
    unknown: int | None,
    cls: int | None,
) -> TokenizedSentence | str:
    tokens: list[int] = encoded.ids
    pieces = _run_of_pieces(encoded, span)
    if pieces is None:
        begin, stop = span
        special: list[int] = encoded.special_tokens_mask
        inside = [place for place, (start, end) in enumerate(encoded.offsets) if start < stop and end > begin]
        pieces = [place for place in inside if not special[place] or tokens[place] == unknown]
    if not pieces:
        return "the tokenizer makes nothing of it"
    if unknown is not None and all(tokens[place] == unknown for place in pieces):
        return "the tokenizer does not know it"
    cut = len(tokens) > window
    if cut:
        kept = _around(pieces, encoded.special_tokens_mask, window)
        if kept is None:
            room = f"the model's window of {window:,} tokens has room for"
            return f"it has {len(pieces):,} pieces, which is more than {room}"
        shift = {place: new for new, place in enumerate(kept)}
        tokens, pieces = [tokens[place] for place in kept], [shift[place] for place in pieces]
    first = tokens.index(cls) if cls is not None and cls in tokens else -1
    return TokenizedSentence(tuple(tokens), tuple(pieces), first, cut)


def _run_of_pieces(encoded: Any, span: Span) -> Sequence[int] | None:  # noqa: ANN401 - an Encoding of the library
    """The pieces from the word's first character to its last; None where these do not say which they are.

    A character of several bytes may be several pieces, and one that the tokenizer leaves out is none. To ask for two
    characters takes a fraction of the time that it takes to look at all tokens.
    """
    first, last = encoded.char_to_token(span[0]), encoded.char_to_token(span[1] - 1)
    if first is None or last is None:
        return None
    behind = encoded.token_to_chars(last + 1)
    return range(first, last + 1) if behind is None or behind[0] >= span[1] else None


def _around(pieces: Sequence[int], special: Sequence[int], window: int) -> list[int] | None:
    """Places that stay of a sentence that is too long: special tokens at its ends, and a run around the word."""
    size = len(special)
    front = next(place for place in range(size + 1) if place == size or not special[place])
    back = next(count for count in range(size + 1) if count == size or not special[size - 1 - count])
    room, needed = window - front - back, pieces[-1] - pieces[0] + 1
    if needed > room:
        return None
    start = min(max(pieces[0] - (room - needed) // 2, front), size - back - room)
    return [*range(front), *range(start, start + room), *range(size - back, size)]


def batches(lengths: Sequence[int], most_tokens: int) -> Iterator[Places]:
    """Places of the sentences of each batch, longest first: nearly one length each, at most so many tokens."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    start = 0
    while start < len(order):
        longest = int(lengths[order[start]])
        end = start + 1
        while (
            end < len(order)
            and (end + 1 - start) * longest <= most_tokens
            and lengths[order[end]] >= longest * (1 - PADDED)
        ):
            end += 1
        yield order[start:end]
        start = end


def padded(sentences: Sequence[TokenizedSentence], padding: int) -> tuple[Any, Any]:
    """Tokens of a batch as one array, and which of them are no padding; None where all are."""
    sizes = np.array([len(sentence.tokens) for sentence in sentences])
    tokens = np.full((len(sentences), sizes.max()), padding, np.int64)
    mask = np.arange(sizes.max()) < sizes[:, None]
    tokens[mask] = flat([sentence.tokens for sentence in sentences], int(sizes.sum()))
    return tokens, None if mask.all() else mask.astype(np.int64)


def flat(parts: Sequence[Sequence[int]], size: int) -> NDArray[np.int64]:
    """Numbers of all parts, one part after the other; `size` says how many they are."""
    return np.fromiter(chain.from_iterable(parts), np.int64, size)
