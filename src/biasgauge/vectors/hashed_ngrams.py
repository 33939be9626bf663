"""Vectors of words from character n-grams that are hashed into buckets, as in fastText (Bojanowski et al., TACL 2017).

A word is `<word>`. Its n-grams are all runs of min_n to max_n characters of that, except the ends `<` and `>` alone.
Each has the bucket h mod B, where h is the 32-bit FNV-1a hash of its UTF-8, with bytes taken as signed. The vector of a
word of the vocabulary is the mean of its own row and of its n-grams' rows; that of any other word the mean of its
n-grams' rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from biasgauge.core import Array, Places, Singles

END_OF_SENTENCE = b"</s>"
_OFFSET, _PRIME = np.uint32(2166136261), np.uint32(16777619)
_WIDTH = 4
"""Bytes of a number."""
_GATHERED = 2**20
"""Bytes of rows that are gathered together."""
_HASHED = 2**16
"""Bytes of words whose n-grams are hashed together, beyond the first word."""


def ngram_buckets(words: Sequence[bytes], min_n: int, max_n: int, buckets: int) -> tuple[Places, Places]:
    """Bucket of each n-gram of each word, one word's after the other's; and the number of n-grams of each word.

    All n-grams of all words grow by one byte at a time, together. fastText's end of a sentence has none.
    """
    marked = [b"" if word == END_OF_SENTENCE else b"<" + word + b">" for word in words]
    data = np.frombuffer(b"".join(marked), np.uint8)
    if not len(data) or max_n < 1 or buckets < 1:
        return np.empty(0, np.intp), np.zeros(len(words), np.intp)
    lengths = np.fromiter(map(len, marked), np.intp, len(marked))
    owner = np.repeat(np.arange(len(words)), lengths)
    last = np.cumsum(lengths)
    first = last - lengths
    is_start = (data & 0xC0) != 0x80  # other bytes go on with a character of UTF-8
    signed = data.view(np.int8).astype(np.int32).view(np.uint32)

    begin = np.flatnonzero(is_start)
    position = begin.copy()
    hashes = np.full(len(begin), _OFFSET, np.uint32)
    size = np.zeros(len(begin), np.intp)
    owners, chosen = [], []
    while len(begin):
        hashes = (hashes ^ signed[position]) * _PRIME
        position = position + 1
        word = owner[begin]
        at_end = position == last[word]
        complete = at_end | is_start[np.minimum(position, len(data) - 1)]
        size = size + complete
        is_mark = (size == 1) & ((begin == first[word]) | at_end)
        take = complete & (size >= min_n) & ~is_mark
        owners.append(word[take])
        chosen.append((hashes[take] % np.uint32(buckets)).astype(np.intp))
        going_on = ~at_end & ((size < max_n) | ~complete)
        begin, position, hashes, size = begin[going_on], position[going_on], hashes[going_on], size[going_on]
    together = np.concatenate(owners)
    order = np.argsort(together, kind="stable")
    return np.concatenate(chosen)[order], np.bincount(together, minlength=len(words)).astype(np.intp)


def sum_rows(rows: Array, places: Places, counts: Places) -> Singles:
    """Sum of the next `counts[i]` rows for each i; zeros where there is none. `rows` are bytes of 32-bit numbers.

    Rows are gathered into one buffer that fits into the processor's cache, again and again.
    """
    sums = np.zeros((len(counts), rows.shape[1] // _WIDTH), np.float32)
    ends = np.cumsum(counts)
    most = max(_GATHERED // rows.shape[1], 1)
    buffer = np.empty((most, rows.shape[1]), np.uint8)
    word = 0
    while word < len(counts):
        start = int(ends[word] - counts[word])
        if counts[word] > most:
            for first in range(start, int(ends[word]), most):
                last = min(first + most, int(ends[word]))
                sums[word] += rows[places[first:last]].view("<f4").sum(axis=0)
            word += 1
            continue
        stop = max(int(np.searchsorted(ends, start + most, "right")), word + 1)
        end = int(ends[stop - 1])
        if end > start:
            gathered = buffer[: end - start]
            np.take(rows, places[start:end], axis=0, out=gathered, mode="clip")  # without bounds a buffer is saved
            filled = np.flatnonzero(counts[word:stop])
            starts = ends[word:stop] - counts[word:stop] - start
            sums[word + filled] = np.add.reduceat(gathered.view("<f4"), starts[filled], axis=0)
        word = stop
    return sums


def _blocks(words: Sequence[bytes]) -> Iterator[slice]:
    start = size = 0
    for row, word in enumerate(words):
        size += len(word)
        if size > _HASHED and row > start:
            yield slice(start, row)
            start, size = row, len(word)
    if words:
        yield slice(start, len(words))


def compose(
    own_rows: Array, buckets: Array, words: Sequence[bytes], places: Places, min_n: int, max_n: int
) -> Iterator[tuple[slice, Singles]]:
    """Vectors of words of the vocabulary, a block at a time: the mean of each word's own row and its n-grams' rows.

    Args:
        own_rows: rows of the words, as bytes.
        buckets: rows of the buckets, as bytes.
        words: the words, in UTF-8.
        places: row of each of these words.
        min_n: fewest characters of an n-gram.
        max_n: most characters of an n-gram; 0 for none.
    """
    for block in _blocks(words):
        chosen, counts = ngram_buckets(words[block], min_n, max_n, len(buckets))
        vectors = sum_rows(buckets, chosen, counts)
        vectors += own_rows[places[block]].view("<f4")
        vectors /= (counts + 1).astype(np.float32)[:, None]
        yield block, vectors


def compose_unknown(buckets: Array, word: str, min_n: int, max_n: int) -> Singles | None:
    """Vector of a word that is not in the vocabulary: the mean of its n-grams' rows; None where it has none."""
    chosen, counts = ngram_buckets([word.encode("utf-8")], min_n, max_n, len(buckets))
    if not len(chosen):
        return None
    mean: Singles = sum_rows(buckets, chosen, counts)[0] / np.float32(len(chosen))
    return mean
