"""Which sets a line holds: the byte scan must say what the tokenizer says, whatever the text."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.mitigation.balancing_text import SetFinder
from biasgauge.text.tokenizers import Tokenizer, tokenizer_named

SCANNED = ("words", "ascii-words", "whitespace", "lower-whitespace")
WORDS = {
    "he": 1,
    "kin": 1,
    "she": 2,
    "daughters": 2,
    "daughter": 2,
    "career": 4,
    "o'clock": 4,
    "niño": 8,
    "executive": 8,
}
ACCENTED = {"niño": 1, "mamá": 1, "él": 2, "señoría": 4, "o'clock": 8, "i\u0307stanbul": 8, "kahvesi\u0307": 4, "he": 2}
PLAIN = {word: sets for word, sets in WORDS.items() if word.isalpha() and word.isascii()}
PIECES = [
    *WORDS, *ACCENTED, "mama\u0301", "MAMÁ", "MAMA\u0301", "SEÑORI\u0301A", "Sen\u0303oría",
    "sen\u0303ori\u0301a", "\u0130stanbul", "KAHVES\u0130", "\N{KELVIN SIGN}ahvesi\u0307", "E\u0301l", "Él.",
    "He", "SHE", "KIN", "\N{KELVIN SIGN}in", "k\N{LATIN SMALL LETTER DOTLESS I}n", "K\u0130N", "ki\u0307n", "İhe",
    "he's", "he’s", "he'", "'he", "nin\u0303o", "NIÑO", "Σ\u0391Σ.\u0391", "he.she", "he-she", "the", "her",
    "executives", "e\u0301he", "he\u0301", "=\u0338he", "1he", "he2", "_he_", "“he”", "中he",
    "\U0001d421\U0001d41e", "👩he", "career,", "(career)", "O'CLOCK", "o’clock", "o'clock's", " ", "  ", "\t",
    "\r", "\x0b", "\x1c", "\x1f", "\x85", "\xa0", "\u2003", "\u2028", "\u3000", "\u200b", "\x01", "\ufeff", ".",
    "—",
]  # fmt: skip


def slow(lines: list[str], words: dict[str, int], tokenizer: Tokenizer) -> list[int]:
    found = []
    for line in lines:
        sets = 0
        for word in tokenizer.split(line):
            sets |= words.get(word, 0)
        found.append(sets)
    return found


@pytest.mark.parametrize("name", SCANNED)
@pytest.mark.parametrize(
    "words",
    [WORDS, ACCENTED, PLAIN, {**PLAIN, "σας": 8}, {**WORDS, "é": 4, "да": 2}],
    ids=["all", "accented", "plain", "sigma", "no certain sign"],
)
@settings(deadline=None, max_examples=80)
@given(lines=st.lists(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=8), max_size=6))
def test_the_scan_is_the_tokenizer(name: str, words: dict[str, int], lines: list[list[str]]) -> None:
    tokenizer = tokenizer_named(name)
    texts = ["".join(pieces).replace("\n", "").encode("utf-8", "replace").decode() for pieces in lines] or [""]
    finder = SetFinder(words, tokenizer)
    assert finder.find("\n".join(texts).encode()).tolist() == slow(texts, words, tokenizer)
    assert finder.seen == {word for text in texts for word in tokenizer.split(text) if word in words}


def test_other_tokenizers_are_asked_line_by_line() -> None:
    tokenizer = tokenizer_named("twitter")
    texts = ["RT @x he", "He's at home: @someone", "#career", "", "she — career"]
    assert SetFinder(WORDS, tokenizer).find("\n".join(texts).encode()).tolist() == slow(texts, WORDS, tokenizer)


def test_a_function_named_like_a_tokenizer_is_not_taken_for_it() -> None:
    own = Tokenizer("whitespace", list, ours=False)
    assert SetFinder({"h": 1}, own).find(b"he\nshe\nx").tolist() == [1, 1, 0]


@pytest.mark.slow
def test_only_two_signs_beyond_ascii_are_lowered_to_letters_of_ascii() -> None:
    """The scan looks for these two; every other letter of ASCII in lower case comes from one in the text."""
    ascii_letters = set("abcdefghijklmnopqrstuvwxyz")
    lowered = {
        chr(point): ascii_letters & set(unicodedata.normalize("NFC", chr(point).lower()))
        for point in range(128, sys.maxunicode + 1)
        if not 0xD800 <= point < 0xE000
    }
    assert {sign: letters for sign, letters in lowered.items() if letters} == {
        "\N{KELVIN SIGN}": {"k"},
        "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}": {"i"},
    }


@pytest.mark.parametrize(
    ("name", "word", "text"),
    [
        ("ascii-words", "ki", "k\u0130n"),  # lowered to i and a mark, which is no letter of ASCII and ends the word
        ("words", "kin", "\N{KELVIN SIGN}in"),
        ("lower-whitespace", "kin", "\N{KELVIN SIGN}in"),
        ("words", "\u03b1\u03c3", "\u0391\u03a3.\u0391"),  # a sigma before a full stop and a letter is not final
        ("words", "\u03b1\u03c2", "\u0391\u03a3. \u0391"),
    ],
)
def test_lower_case_that_is_more_than_one_sign_for_another(name: str, word: str, text: str) -> None:
    assert word in tokenizer_named(name).split(text)
    assert SetFinder({word: 4}, tokenizer_named(name)).find(text.encode()).tolist() == [4]


def test_words_of_eight_bytes_and_more_are_told_apart() -> None:
    finder = SetFinder({"daughter": 1, "daughters": 2, "daughterless": 4}, tokenizer_named("words"))
    found = finder.find(b"daughter\ndaughters\ndaughterl\nDaughterless\ndaughte\ndaughterlessness")
    assert found.tolist() == [1, 2, 0, 4, 0, 0]
    assert found.dtype == np.uint8


def test_a_word_may_be_in_several_sets() -> None:
    assert SetFinder({"he": 1 | 8, "she": 2}, tokenizer_named("words")).find(b"he\nshe he\n").tolist() == [9, 11, 0]
