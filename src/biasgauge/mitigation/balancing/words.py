"""The four sets of a test as a tokenizer has them, and which of them each line of a text holds, at the speed of a scan.

Tokenizing every line would cost several times as much. For the tokenizers whose words are runs of bytes, a block of
lines is cut into runs in a few NumPy passes, and the first eight bytes of a run, hashed, rule out nearly all that are
no word of a set. A word that stands beside a sign that could mean several things (an apostrophe, anything beyond
ASCII) goes through the tokenizer itself, with all that hangs on to it; of a word that has such signs inside, its
longest stretch without them is looked for.
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
from biasgauge.mitigation.balancing.plan import A, B, X, Y
from biasgauge.text import Tokenizer

Sets = NDArray[np.uint8]
ROLES = {"x": X, "y": Y, "a": A, "b": B}
_KEY = 8
"""Bytes of a run that are looked at together."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_FILTER_BITS = 16
_SEPARATOR, _DOUBTFUL = 0, 1
_MOST_KEPT = 2**18
_KELVIN, _DOTTED_I = "\N{KELVIN SIGN}", "İ"
"""The only signs beyond ASCII whose lower case has a letter of ASCII in it: k, and i with a dot above."""
_DOT = "\N{COMBINING DOT ABOVE}"
_SIGMAS = frozenset("σς")
_BLANKS = b"\t\n\v\f\r\x1c\x1d\x1e\x1f "
"""What `str.split` takes for a blank, within ASCII."""


@dataclass(frozen=True)
class BalanceSets:
    """The sets of a test by role, and what a tokenizer makes of each word: None where it makes no word or several."""

    name: str
    sets: Mapping[str, WordSet]
    tokens: Mapping[str, str | None]

    @property
    def words(self) -> dict[str, int]:
        """Each word as it stands in a text, with the sum of its sets."""
        sums: dict[str, int] = {}
        for role, word_set in self.sets.items():
            for token in (self.tokens[word] for word in word_set.words):
                if token is not None:
                    sums[token] = sums.get(token, 0) | ROLES[role]
        return sums

    @property
    def labels(self) -> dict[int, str]:
        """What each set stands for."""
        return {ROLES[role]: word_set.name for role, word_set in self.sets.items()}

    @property
    def shared(self) -> tuple[str, ...]:
        """Words in both targets, or in both attributes."""
        both = (X | Y, A | B)
        return tuple(word for word, sets in self.words.items() if any(sets & two == two for two in both))

    def coverage(self, seen: set[str]) -> JsonObject:
        """How many words of the sets a text has, in the shape of every `--json`."""
        asked = {role: dict.fromkeys(word_set.words) for role, word_set in self.sets.items()}
        lost = {role: [word for word in words if self.tokens[word] not in seen] for role, words in asked.items()}
        number = sum(map(len, asked.values()))
        shape: dict[str, Any] = {"asked": number, "found": number - sum(map(len, lost.values()))}
        shape["lost"] = {role: words for role, words in lost.items() if words}
        split = [word for word, token in self.tokens.items() if token is None]
        reasons = dict.fromkeys(split, "the tokenizer makes no single word of it")
        return {**shape, "reasons": reasons} if reasons else shape


def balance_sets(
    given: str | os.PathLike[str] | AssociationTest | Mapping[str, Any], tokenizer: Tokenizer
) -> BalanceSets:
    """The sets of a lexicon, or of a mapping from roles to words.

    Raises:
        LexiconError: there is no such lexicon.
        ParameterError: it is no test, or the tokenizer makes no word of a whole set.
    """
    name, sets = _by_role(given)
    made = {word: list(tokenizer.split(word)) for word_set in sets.values() for word in word_set.words}
    tokens = {word: parts[0] if len(parts) == 1 else None for word, parts in made.items()}
    for role, word_set in sets.items():
        if all(tokens[word] is None for word in word_set.words):
            raise ParameterError(
                f"The tokenizer {tokenizer.name} makes no single word of any word of the set {role} of {name}; choose "
                "another tokenizer or other words."
            )
    return BalanceSets(name, sets, tokens)


def _by_role(given: str | os.PathLike[str] | AssociationTest | Mapping[str, Any]) -> tuple[str, dict[str, WordSet]]:
    if isinstance(given, Mapping):
        if set(given) != set(ROLES):
            listed = ", ".join(map(str, given)) or "none"
            raise ParameterError(f"The 'lexicon' parameter of balance must give the sets x, y, a and b. Got {listed}.")
        return "given words", {role: words_of(given[role]) for role in ROLES}
    named = lexicon(given)
    if not isinstance(named, AssociationTest):
        kind = f"The lexicon {named.name!r} is of kind {named.kind!r}"
        raise ParameterError(f"{kind}; balancing needs kind 'test', or four sets.")
    return named.name, dict(named.roles)


class SetFinder:
    """Says which sets a line has a word of, as a sum of powers of two; `seen` are the words met so far.

    `words` has each word as the tokenizer gives it, with the sets it is in: 1, 2, 4, 8 or a sum of them.
    """

    def __init__(self, words: Mapping[str, int], tokenizer: Tokenizer) -> None:
        self.seen: set[str] = set()
        self._words = dict(words)
        self._split = tokenizer.split
        # Signs are lowered one by one, but for the Greek capital sigma, whose lower case depends on what follows.
        sigma = tokenizer.name != "whitespace" and any(_SIGMAS & set(word) for word in words)
        self._table = _byte_tables().get(tokenizer.name) if tokenizer.ours and not sigma else None
        if self._table is not None:
            self._prepare(self._table, tokenizer.name)

    def _prepare(self, table: bytes, rule: str) -> None:
        encoded = {word.encode(): word for word in self._words}
        plain = {raw: word for raw, word in encoded.items() if raw.translate(table) == raw and _DOUBTFUL not in raw}
        short = sorted((_key(raw), word) for raw, word in plain.items() if len(raw) < _KEY)
        fragments = [_fragment(word, table) for raw, word in encoded.items() if raw not in plain]
        self._resolves_all = not all(fragments)
        self._filter = np.zeros(2**_FILTER_BITS, np.bool_)
        self._filter[_hashed(np.array([_key(raw) for raw in chain(plain, *fragments)], np.uint64))] = True
        self._masks = np.array([256**length - 1 for length in range(_KEY + 1)], np.uint64)
        self._short_words = [word for _, word in short] or [""]
        self._short_keys = np.array([key for key, _ in short] or [0], np.uint64)
        self._short_sets = np.array([self._words.get(word, 0) for word in self._short_words], np.uint8)
        self._long = {raw: word for raw, word in plain.items() if len(raw) >= _KEY}
        self._resolved: dict[bytes, int] = {}
        letters = set("".join(self._words))
        # Where a mark is part of the word, i with one is never the plain letter.
        dotted = "i" in letters if rule == "ascii-words" else _DOT in letters
        self._lowered = [_KELVIN.encode()] if rule != "whitespace" and "k" in letters else []
        self._lowered += [_DOTTED_I.encode()] if rule != "whitespace" and dotted else []

    def find(self, raw: bytes) -> Sets:
        """The sets of each line of UTF-8 text; there is one line more than line feeds."""
        if self._table is None:
            return np.array([self._sets_of(line) for line in raw.decode().split("\n")], np.uint8)
        places, sets = self._scan(raw, b"\0" + raw.translate(self._table) + b"\0" * _KEY)
        breaks = np.flatnonzero(np.frombuffer(raw, np.uint8) == ord("\n"))
        line = np.searchsorted(breaks, places)
        by_line = np.zeros(len(breaks) + 1, np.uint8)
        for bit in ROLES.values():
            by_line[line[sets & bit != 0]] |= bit
        return by_line

    def _scan(self, raw: bytes, padded: bytes) -> tuple[Places, Sets]:
        """Places of words in `raw`, and the sets of each; `padded` is `raw` as the table has it, one byte later."""
        signs = np.frombuffer(padded, np.uint8)
        edges = np.flatnonzero(np.diff(signs > _DOUBTFUL))
        starts, ends = edges[::2], edges[1::2]
        windows = np.ndarray((len(padded) - _KEY + 1,), "<u8", padded, strides=(1,))
        lengths = np.minimum(ends - starts, _KEY)
        keys = windows[starts + 1] & self._masks[lengths]
        likely = np.flatnonzero(self._filter[_hashed(keys)])
        starts, ends, keys = starts[likely], ends[likely], keys[likely]
        hanging = (signs[starts] == _DOUBTFUL) | (signs[ends + 1] == _DOUBTFUL)
        is_short = lengths[likely] < _KEY
        short, long = np.flatnonzero(~hanging & is_short), np.flatnonzero(~hanging & ~is_short)
        if self._resolves_all:
            doubted = np.flatnonzero(signs == _DOUBTFUL) - 1
        else:
            lowered = [match.start() for sign in self._lowered if sign in raw for match in re.finditer(sign, raw)]
            doubted = np.sort(np.append(starts[hanging], np.array(lowered, np.intp)))
        places = np.concatenate([starts[short], starts[long], doubted])
        sets = [self._of_short(keys[short]), self._of_long(padded, starts[long], ends[long])]
        return places, np.concatenate([*sets, self._of_doubted(raw, padded, doubted)])

    def _of_short(self, keys: NDArray[np.uint64]) -> Sets:
        """Runs of fewer than eight bytes are known by their keys."""
        near = np.minimum(np.searchsorted(self._short_keys, keys), len(self._short_keys) - 1)
        is_word = self._short_keys[near] == keys
        self.seen.update(self._short_words[place] for place in np.unique(near[is_word]).tolist())
        sets: Sets = np.where(is_word, self._short_sets[near], 0).astype(np.uint8)
        return sets

    def _of_long(self, padded: bytes, starts: Places, ends: Places) -> Sets:
        runs = zip(starts.tolist(), ends.tolist(), strict=True)
        words = [self._long.get(padded[start + 1 : end + 1]) for start, end in runs]
        self.seen.update(word for word in words if word is not None)
        return np.array([0 if word is None else self._words[word] for word in words], np.uint8)

    def _of_doubted(self, raw: bytes, padded: bytes, places: Places) -> Sets:
        """By the tokenizer itself, from separator to separator, each different text once."""
        sums = np.zeros(len(places), np.uint8)
        end = -1
        for number, place in enumerate(places.tolist()):
            if place < end:
                continue
            start = padded.rfind(b"\0", 0, place + 1)
            end = padded.find(b"\0", place + 1) - 1
            text = raw[start:end]
            sets = self._resolved.get(text)
            if sets is None:
                if len(self._resolved) >= _MOST_KEPT:
                    self._resolved.clear()
                sets = self._resolved[text] = self._sets_of(text.decode())
            sums[number] = sets
        return sums

    def _sets_of(self, text: str) -> int:
        sets = 0
        for word in self._words.keys() & set(self._split(text)):
            self.seen.add(word)
            sets |= self._words[word]
        return sets


def _fragment(word: str, table: bytes) -> tuple[bytes, ...]:
    """The longest run of certain signs in a word that has doubtful ones too, in every way that a text may have it.

    An accented letter may be one sign or a letter and a mark; then the run before it ends with that letter. Nothing
    when a text may have the word without any certain sign.
    """
    certain = {chr(byte) for byte in range(128) if table[byte] == byte and byte > _DOUBTFUL}
    found: list[tuple[bytes, ...]] = []
    here = ""
    for sign in word:
        if sign in certain:
            here += sign
            continue
        letter = unicodedata.normalize("NFD", sign)[0]
        found.append((here.encode(), (here + letter).encode()) if letter in certain else (here.encode(),))
        here = ""
    found.append((here.encode(),))
    longest = max(found, key=lambda ways: len(ways[0]))
    return longest if longest[0] else ()


def _key(raw: bytes) -> int:
    return int.from_bytes(raw[:_KEY].ljust(_KEY, b"\0"), "little")


def _hashed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    found: NDArray[np.uint64] = (keys * _SPREAD) >> np.uint64(64 - _FILTER_BITS)
    return found


def _byte_tables() -> dict[str, bytes]:
    """For each tokenizer what a byte of UTF-8 is: a separator, doubtful, or itself, in lower case where it lowers."""
    doubtful = dict.fromkeys(range(128, 256), _DOUBTFUL)
    lower = {ord(letter): ord(letter.lower()) for letter in ascii_letters}
    # The two numbers that mean something here may also be bytes of the text; then they are in doubt.
    whole = {byte: max(byte, _DOUBTFUL) for byte in range(128)} | dict.fromkeys(_BLANKS, _SEPARATOR) | doubtful
    letters = dict.fromkeys(range(128), _SEPARATOR) | lower | {ord("'"): _DOUBTFUL} | doubtful
    rules = {"words": letters, "ascii-words": letters, "whitespace": whole, "lower-whitespace": whole | lower}
    return {name: bytes(rule[byte] for byte in range(256)) for name, rule in rules.items()}
