"""The sentences of planted corpora, and the neutral words that fill them."""

from __future__ import annotations

from itertools import product

from biasgauge.errors import ParameterError

PAIRS = (
    ("he", "she"),
    ("his", "her"),
    ("man", "woman"),
    ("boy", "girl"),
    ("father", "mother"),
    ("son", "daughter"),
    ("brother", "sister"),
    ("uncle", "aunt"),
)

PHRASES = {"he": "{}", "she": "{}", "his": "{} friend", "her": "{} friend"}
"""How a word of a pair stands in a sentence; any other is a noun: `the {}`."""

SUBJECTS = frozenset({"he", "she"})
"""Words that cannot stand where a sentence wants an object."""

FILLERS = {
    kind: tuple(words.split())
    for kind, words in {
        "place": "market harbour library station garden office kitchen valley bridge museum village river theatre "
        "factory school square forest castle bakery tower",
        "time": "morning evening night afternoon monday tuesday thursday saturday week month winter summer spring "
        "autumn holiday weekend year day january october",
        "thing": "letter lamp basket map clock table bottle ladder coat ticket parcel boat stone loaf candle mirror "
        "bicycle newspaper violin blanket chair picture bucket window carpet kettle needle pencil saddle wheel",
        "verb": "carried painted found sold repaired bought opened moved lost kept borrowed cleaned measured folded "
        "noticed described dropped wrapped hid admired brought counted touched weighed polished",
        "kind": "old green heavy small broken wooden bright empty narrow red cheap strange warm round yellow dusty "
        "plain long soft grey",
        "manner": "slowly quickly quietly often gladly twice again early late carefully alone together outside",
    }.items()
}
"""Neutral words by their part in a sentence."""

PLANTED = (
    "{first} became a {word} when {second} {verb} the {thing}",
    "as a {word} {first} {verb} the {kind} {thing} with {second}",
    "{first} met the {word} and {second} near the {place}",
    "the {word} and {first} {verb} the {thing} for {second} every {time}",
    "every {time} the {word} told {second} that {first} {verb} the {thing}",
    "{manner} {first} asked the {word} about {second} in the {place}",
)
"""A target word between two words of the same end: this is where bias is planted."""

BALANCED = (
    "{first} {verb} the {kind} {thing} with {second} in the {place}",
    "in the {place} {first} {manner} {verb} the {thing} for {second}",
    "every {time} {first} went to the {place} and {verb} the {thing}",
    "{first} told {second} about the {kind} {thing} near the {place}",
    "last {time} {first} {manner} {verb} the {kind} {thing}",
)
"""Words of either end alike, and no target word."""

PLAIN = (
    "the {word} {verb} the {kind} {thing} in the {place}",
    "every {time} the {word} {manner} {verb} the {thing}",
    "near the {place} the {word} {verb} the {kind} {thing} {manner}",
    "last {time} the {word} came to the {kind} {place}",
)
"""A target word, and no word of a pair."""

FILLING = (
    "the {kind} {thing} near the {place} was {verb} every {time}",
    "{manner} the {thing} was {verb} in the {kind} {place}",
    "last {time} the {place} was {kind} and the {thing} was {verb}",
)
"""Neither."""

_SYLLABLES = tuple(consonant + vowel for consonant, vowel in product("bdfgklmnprstvz", "aeiou"))
_STRIDE = 197_413
"""Shares no divisor with the number of words of three syllables, so all of them come before one comes again."""


def invented_words(count: int) -> tuple[str, ...]:
    """Words of three syllables that were made up, far from each other in spelling, and always the same ones."""
    base = len(_SYLLABLES)
    if count > base**3:
        raise ParameterError(f"No more than {base**3:,} words can be invented. Got {count:,}.")
    numbers = [(place + 1) * _STRIDE % base**3 for place in range(count)]
    return tuple(
        _SYLLABLES[number // base**2] + _SYLLABLES[number // base % base] + _SYLLABLES[number % base]
        for number in numbers
    )
