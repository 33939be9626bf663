"""What a user may write where words or pairs are wanted: a name, one set of it, a file, or the words themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons.model import AssociationTest, Lexicon, Pairs, WordSet
from biasgauge.lexicons.nearest import meant
from biasgauge.lexicons.registry import SUFFIX, lexicon, lexicon_names, looks_like_path, unknown
from biasgauge.lexicons.seed_bank import seed_bank
from biasgauge.lexicons.table import found, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    WordsReference = str | os.PathLike[str] | Lexicon | WordSet | Iterable[str]
    PairsReference = str | os.PathLike[str] | Lexicon | Iterable[Sequence[str]]

BANK = "seed_bank"


def words_of(reference: WordsReference) -> WordSet:
    """Give the words that a reference means, with a name for them.

    - `NAME` or a path: every word of that lexicon, once;
    - `NAME:SET` or `path.toml:SET`: one set of it, duplicates kept; of a test by role or by label;
    - an id of the seed bank, such as `definitional_male-Bolukbasi_et_al_2016` (corrected filter);
    - words themselves, in any iterable but a string.
    """
    match reference:
        case WordSet():
            return reference
        case Lexicon():
            return WordSet(reference.name, reference.words)
        case str():
            return _words_by_name(reference)
        case os.PathLike():
            return words_of(lexicon(reference))
        case Iterable():
            words = tuple(_word(word, number) for number, word in enumerate(reference, 1))
            if not words:
                raise ParameterError("words must be a name, a path or at least one word, found none")
            return WordSet("given words", words)
    raise ParameterError(f"words must be a name, a path or an iterable of strings, found {found(reference)}")


def pairs_of(reference: PairsReference) -> Pairs:
    """Give base pairs: a lexicon of kind "pairs" by name or path, or pairs themselves, each (first, second)."""
    match reference:
        case Pairs():
            return reference
        case str() | os.PathLike() | Lexicon():
            named = lexicon(reference)
            if isinstance(named, Pairs):
                return named
            raise LexiconError(f"{shown(named.name)} holds {named.kind}, but pairs are wanted here")
        case Iterable():
            pairs = tuple(_pair(pair, number) for number, pair in enumerate(reference, 1))
            if not pairs:
                raise ParameterError("pairs must be a name, a path or at least one pair, found none")
            return Pairs(name="given pairs", pairs=pairs)
    raise ParameterError(f"pairs must be a name, a path or an iterable of pairs, found {found(reference)}")


def _words_by_name(reference: str) -> WordSet:
    if reference in lexicon_names():
        return words_of(lexicon(reference))
    name, colon, set_name = reference.rpartition(":")
    if colon and (name in lexicon_names() or name.endswith(SUFFIX)):
        return _seeds(set_name) if name == BANK else _one_set(lexicon(name), set_name)
    if reference.endswith(SUFFIX):
        return words_of(lexicon(reference))
    if "-" in reference and reference in lexicon(BANK).sets:
        return _seeds(reference)
    if looks_like_path(reference):
        return words_of(lexicon(reference))
    hint = meant(reference, lexicon(BANK).sets) if "-" in reference else ""
    if hint:
        raise LexiconError(f"there is no lexicon and no seed set {shown(reference)}{hint}")
    raise LexiconError(f"{unknown(reference)}; words themselves go in a list")


def _seeds(identifier: str) -> WordSet:
    filtered = seed_bank()
    sets = filtered.bank.sets
    if identifier in sets:
        return WordSet(identifier, sets[identifier])
    for removal in filtered.removed:
        if removal.set_id == identifier and removal.word is None:
            raise LexiconError(f"the seed set {shown(identifier)} cannot be used: {removal.reason}")
    raise LexiconError(f"there is no seed set {shown(identifier)}{meant(identifier, sets)}")


def _one_set(source: Lexicon, set_name: str) -> WordSet:
    name = f"{source.name}:{set_name}"
    if set_name in source.sets:
        return WordSet(name, source.sets[set_name])
    labels = {members.name: members for members in source.roles.values()} if isinstance(source, AssociationTest) else {}
    if set_name in labels:
        return WordSet(name, labels[set_name].words)
    known = ", ".join([*source.sets, *labels])
    raise LexiconError(f"the lexicon {shown(source.name)} has no set {shown(set_name)}; its sets: {known}")


def _word(word: object, number: int) -> str:
    if not isinstance(word, str):
        raise ParameterError(f"word {number} must be a string, found {found(word)}")
    if not word or word != word.strip():
        raise ParameterError(f"word {number} must be a word without white space around it, found {shown(word)}")
    return word


def _pair(pair: object, number: int) -> tuple[str, str]:
    expected = f"pair {number} must be two words, as in [('he', 'she')]"
    if isinstance(pair, str) or not isinstance(pair, Iterable):
        raise ParameterError(f"{expected}, found {found(pair)}")
    match tuple(pair):
        case (first, second):
            return _word(first, number), _word(second, number)
        case other:
            raise ParameterError(f"{expected}, found {len(other)}")
