"""The four sets of a test as a tokenizer splits them, and a scanner that finds their words in lines of text.

The scanner is written by hand because tokenizing every line is 6 to 12 times as slow (bench/balance.py), and a
corpus is read twice. For the tokenizers whose words are runs of bytes, a block of lines is cut into runs in a few NumPy
passes, and a hash of the first eight bytes of a run rules out nearly all that are no word of a set. A run next to a
character with several readings (an apostrophe, anything beyond ASCII) is split by the tokenizer itself, together with
all that is attached to it; of a word that contains such characters, the longest stretch without them is looked for. So
the answer is always the tokenizer's.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from string import ascii_letters
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import JsonObject, Places
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, WordSet, lexicon, words_of
from biasgauge.text import Tokenizer

SetSums = NDArray[np.uint8]
"""Sums of the powers of two of sets: which sets a line has a word of."""
X, Y, A, B = 1, 2, 4, 8
ROLES = {"x": X, "y": Y, "a": A, "b": B}
_KEY_BYTES = 8
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_FILTER_BITS = 16
_SEPARATOR, _UNCERTAIN = 0, 1
_MAX_CACHED = 2**18
_KELVIN, _DOTTED_I = "\N{KELVIN SIGN}", "İ"
"""The only characters beyond ASCII whose lower case has an ASCII letter in it: k, and i with a dot above."""
_DOT = "\N{COMBINING DOT ABOVE}"
_SIGMAS = frozenset("σς")
_BLANKS = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
"""ASCII characters that `str.split` takes for blanks."""


@dataclass(frozen=True)
class BalanceSets:
    """The sets of a test by role, and the token of each word: None where the tokenizer makes none or several of it."""

    name: str
    sets: Mapping[str, WordSet]
    tokens: Mapping[str, str | None]

    @property
    def words(self) -> dict[str, int]:
        """Each token with the sum of its sets."""
        sums: dict[str, int] = {}
        for role, word_set in self.sets.items():
            for token in (self.tokens[word] for word in word_set.words):
                if token is not None:
                    sums[token] = sums.get(token, 0) | ROLES[role]
        return sums

    @property
    def labels(self) -> dict[int, str]:
        """Name of each set."""
        return {ROLES[role]: word_set.name for role, word_set in self.sets.items()}

    @property
    def shared(self) -> tuple[str, ...]:
        """Words in both targets, or in both attributes."""
        pairs = (X | Y, A | B)
        return tuple(word for word, sets in self.words.items() if any(sets & pair == pair for pair in pairs))

    def coverage(self, seen: set[str]) -> JsonObject:
        """Number of words of the sets that a text has, in the shape of every `--json`."""
        words = {role: dict.fromkeys(word_set.words) for role, word_set in self.sets.items()}
        lost = {role: [word for word in members if self.tokens[word] not in seen] for role, members in words.items()}
        number = sum(map(len, words.values()))
        shape: JsonObject = {"asked": number, "found": number - sum(map(len, lost.values()))}
        shape["lost"] = {role: members for role, members in lost.items() if members}
        split = [word for word, token in self.tokens.items() if token is None]
        reasons = dict.fromkeys(split, "the tokenizer makes no single word of it")
        return {**shape, "reasons": reasons} if reasons else shape


def balance_sets(
    test: str | os.PathLike[str] | AssociationTest | Mapping[str, Any], tokenizer: Tokenizer
) -> BalanceSets:
    """Sets of a lexicon, or of a mapping from roles to words, with the token of each word.

    Raises:
        LexiconError: there is no such lexicon.
        ParameterError: it is no test, or the tokenizer makes no single word of any word of a set.
    """
    name, sets = _sets_by_role(test)
    split = {word: list(tokenizer.split(word)) for word_set in sets.values() for word in word_set.words}
    tokens = {word: parts[0] if len(parts) == 1 else None for word, parts in split.items()}
    for role, word_set in sets.items():
        if all(tokens[word] is None for word in word_set.words):
            raise ParameterError(
                f"The tokenizer {tokenizer.name} makes no single word of any word of the set {role} of {name}; choose "
                "another tokenizer or other words."
            )
    return BalanceSets(name, sets, tokens)


def _sets_by_role(test: str | os.PathLike[str] | AssociationTest | Mapping[str, Any]) -> tuple[str, dict[str, WordSet]]:
    if isinstance(test, Mapping):
        if set(test) != set(ROLES):
            listed = ", ".join(map(str, test)) or "none"
            raise ParameterError(f"The 'lexicon' parameter of balance must give the sets x, y, a and b. Got {listed}.")
        return "given words", {role: words_of(test[role]) for role in ROLES}
    named = lexicon(test)
    if not isinstance(named, AssociationTest):
        raise ParameterError(
            f"The lexicon {named.name!r} is of kind {named.kind!r}; balancing needs kind 'test', or four sets."
        )
    return named.name, dict(named.roles)


class SetFinder:
    """Finds which sets a line has a word of, as a sum of powers of two; `seen` are the words met so far.

    `words` has each word as the tokenizer gives it, with the sets it is in: 1, 2, 4, 8 or a sum of them.
    """

    def __init__(self, words: Mapping[str, int], tokenizer: Tokenizer) -> None:
        self.seen: set[str] = set()
        self._words = dict(words)
        self._split = tokenizer.split
        # Characters are lowered one by one, except the Greek capital sigma, whose lower case depends on its successor.
        sigma = tokenizer.name != "whitespace" and any(_SIGMAS & set(word) for word in words)
        self._table = _byte_tables().get(tokenizer.name) if tokenizer.ours and not sigma else None
        if self._table is not None:
            self._prepare_scan(self._table, tokenizer.name)

    def _prepare_scan(self, table: bytes, rule: str) -> None:
        encoded = {word.encode(): word for word in self._words}
        self._plain = {
            raw: word for raw, word in encoded.items() if raw.translate(table) == raw and _UNCERTAIN not in raw
        }
        fragments = [_longest_fragment(word, table) for raw, word in encoded.items() if raw not in self._plain]
        self._resolves_all = not all(fragments)
        self._filter = np.zeros(2**_FILTER_BITS, np.bool_)
        keys = [
            int.from_bytes(raw[:_KEY_BYTES].ljust(_KEY_BYTES, b"\0"), "little")
            for raw in chain(self._plain, *fragments)
        ]
        self._filter[_hash(np.array(keys, np.uint64))] = True
        self._masks = np.array([256**length - 1 for length in range(_KEY_BYTES + 1)], np.uint64)
        self._resolved: dict[bytes, int] = {}
        letters = set("".join(self._words))
        # Where a combining mark is part of the word, i with a dot is never the plain letter.
        dotted = "i" in letters if rule == "ascii-words" else _DOT in letters
        self._lowered = [_KELVIN.encode()] if rule != "whitespace" and "k" in letters else []
        self._lowered += [_DOTTED_I.encode()] if rule != "whitespace" and dotted else []

    def find(self, raw: bytes) -> SetSums:
        """Sets of each line of UTF-8 text; there is one line more than line feeds."""
        if self._table is None:
            return np.array([self._tokenized_sets(line) for line in raw.decode().split("\n")], np.uint8)
        positions, sets = self._scan(raw, b"\0" + raw.translate(self._table) + b"\0" * _KEY_BYTES)
        breaks = np.flatnonzero(np.frombuffer(raw, np.uint8) == ord("\n"))
        line = np.searchsorted(breaks, positions)
        by_line = np.zeros(len(breaks) + 1, np.uint8)
        for bit in ROLES.values():
            by_line[line[sets & bit != 0]] |= bit
        return by_line

    def _scan(self, raw: bytes, padded: bytes) -> tuple[Places, SetSums]:
        """Positions of words in `raw`, and the sets of each; `padded` is `raw` translated, shifted by one."""
        codes = np.frombuffer(padded, np.uint8)
        edges = np.flatnonzero(np.diff(codes > _UNCERTAIN))
        starts, ends = edges[::2], edges[1::2]
        # the eight bytes from every position on, as one number each, without copying
        windows = np.ndarray((len(padded) - _KEY_BYTES + 1,), "<u8", padded, strides=(1,))
        keys = windows[starts + 1] & self._masks[np.minimum(ends - starts, _KEY_BYTES)]
        candidates = np.flatnonzero(self._filter[_hash(keys)])
        starts, ends = starts[candidates], ends[candidates]
        attached = (codes[starts] == _UNCERTAIN) | (codes[ends + 1] == _UNCERTAIN)
        if self._resolves_all:
            uncertain = np.flatnonzero(codes == _UNCERTAIN) - 1
        else:
            lowered = [match.start() for sign in self._lowered if sign in raw for match in re.finditer(sign, raw)]
            uncertain = np.sort(np.append(starts[attached], np.array(lowered, np.intp)))
        starts, ends = starts[~attached], ends[~attached]
        runs = zip((starts + 1).tolist(), (ends + 1).tolist(), strict=True)
        words = [self._plain.get(padded[start:end]) for start, end in runs]
        self.seen.update(word for word in set(words) if word is not None)
        sets = np.array([0 if word is None else self._words[word] for word in words], np.uint8)
        return np.concatenate([starts, uncertain]), np.append(sets, self._resolve(raw, padded, uncertain))

    def _resolve(self, raw: bytes, padded: bytes, positions: Places) -> SetSums:
        """Sets by the tokenizer itself, from separator to separator, each distinct text once."""
        sums = np.zeros(len(positions), np.uint8)
        end = -1
        for number, position in enumerate(positions.tolist()):
            if position < end:
                continue
            start = padded.rfind(b"\0", 0, position + 1)
            end = padded.find(b"\0", position + 1) - 1
            text = raw[start:end]
            sets = self._resolved.get(text)
            if sets is None:
                if len(self._resolved) >= _MAX_CACHED:
                    self._resolved.clear()
                sets = self._resolved[text] = self._tokenized_sets(text.decode())
            sums[number] = sets
        return sums

    def _tokenized_sets(self, text: str) -> int:
        sets = 0
        for word in self._words.keys() & set(self._split(text)):
            self.seen.add(word)
            sets |= self._words[word]
        return sets


def _longest_fragment(word: str, table: bytes) -> tuple[bytes, ...]:
    """Longest run of certain characters in a word that has uncertain ones too, in every form that a text may have.

    An accented letter may be one character or a letter and a mark; then the run before it ends with that letter. Empty
    when a text may have the word without any certain character.
    """
    certain = {chr(byte) for byte in range(128) if table[byte] == byte and byte > _UNCERTAIN}
    fragments: list[tuple[bytes, ...]] = []
    run = ""
    for sign in word:
        if sign in certain:
            run += sign
            continue
        letter = unicodedata.normalize("NFD", sign)[0]
        fragments.append((run.encode(), (run + letter).encode()) if letter in certain else (run.encode(),))
        run = ""
    fragments.append((run.encode(),))
    longest = max(fragments, key=lambda forms: len(forms[0]))
    return longest if longest[0] else ()


def _hash(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Multiplicative (Fibonacci) hash to `_FILTER_BITS` bits."""
    hashes: NDArray[np.uint64] = (keys * _HASH_FACTOR) >> np.uint64(64 - _FILTER_BITS)
    return hashes


def _byte_tables() -> dict[str, bytes]:
    """For each tokenizer the class of a byte of UTF-8: a separator, uncertain, or itself, lowered where it lowers."""
    uncertain = dict.fromkeys(range(128, 256), _UNCERTAIN)
    lower = {ord(letter): ord(letter.lower()) for letter in ascii_letters}
    # The two codes may also be bytes of the text; then they are uncertain.
    blanks = {byte: max(byte, _UNCERTAIN) for byte in range(128)} | dict.fromkeys(_BLANKS, _SEPARATOR) | uncertain
    letters = dict.fromkeys(range(128), _SEPARATOR) | lower | {ord("'"): _UNCERTAIN} | uncertain
    rules = {"words": letters, "ascii-words": letters, "whitespace": blanks, "lower-whitespace": blanks | lower}
    return {name: bytes(rule[byte] for byte in range(256)) for name, rule in rules.items()}
