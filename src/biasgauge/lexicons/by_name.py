"""Every lexicon by name: those that ship, those of registered folders, and the user's own by their paths.

And what a user may write where words or pairs are wanted: a name, one set of it, a file, or the words themselves.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import ModuleType

from biasgauge import registry
from biasgauge.core import PairsLike, WordSet, WordsLike, did_you_mean, nearest
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons.model import AssociationTest, Lexicon, Pairs, WordSets
from biasgauge.lexicons.parse import parse_lexicon, read_lexicon
from biasgauge.lexicons.seed_sets import seed_bank
from biasgauge.lexicons.table import describe, parse_toml, shown

SUFFIX = ".toml"
PLAIN_SUFFIX = ".txt"
"""Ending of a plain list, one word per line."""
TYPED_WORDS = "given words"
"""Name of a set of words that come without one."""
BANK = "seed_bank"
FOLDER = Path(__file__).with_name("data")
"""The lexicons that ship."""


def lexicon(reference: str | os.PathLike[str] | Lexicon) -> Lexicon:
    """Give a lexicon: a registered one by its name, a user's by the path of its TOML file, a Lexicon as it is.

    A registered name wins over a file of the same name; a path is known by its ".toml" or ".txt" or by a separator in
    it. A file that ends in .txt is a plain list, one word per line.
    """
    match reference:
        case Lexicon():
            return reference
        case str():
            if reference in registry.names("lexicon"):
                return registry.get("lexicon", reference)
            if looks_like_path(reference):
                return read_lexicon(reference)
            raise LexiconError(
                f"{unknown(reference)}, or give the path of a {SUFFIX} file, or of a {PLAIN_SUFFIX} file of words"
            )
        case os.PathLike():
            path = os.fspath(reference)
            if isinstance(path, str):
                return read_lexicon(path)
    raise ParameterError(f"a lexicon must be a name, a path or a Lexicon, found {describe(reference)}")


def treatment(reference: str | os.PathLike[str] | Lexicon) -> Lexicon:
    """Give a lexicon that debiases or overbiases: as `lexicon`, and of kind "sets" one of its treatments as a test.

    NAME is the first treatment of the lexicon NAME, NAME:TREATMENT another one. A lexicon without any stays as it is.
    """
    name, colon, wanted = reference.rpartition(":") if isinstance(reference, str) else ("", "", "")
    chosen = colon and (name in registry.names("lexicon") or name.endswith(SUFFIX))
    named = lexicon(name if chosen else reference)
    if not isinstance(named, WordSets) or not named.treatments:
        return lexicon(reference)
    names = [treatment_name for treatment_name, _ in named.treatments]
    if chosen and wanted not in names:
        raise LexiconError(f"the lexicon {shown(name)} has no treatment {shown(wanted)}; it has {', '.join(names)}")
    return named.treatment(wanted if chosen else names[0])


def looks_like_path(reference: str) -> bool:
    """Say whether a string means a file rather than a name."""
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    return reference.endswith((SUFFIX, PLAIN_SUFFIX)) or any(separator in reference for separator in separators)


def unknown(name: str) -> str:
    """Say that a name is not known, with the nearest that are."""
    near = nearest(name, registry.names("lexicon"), count=3)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return f"there is no lexicon named {shown(name)}{hint}; `biasgauge lexicons list` shows all"


def lexicons_in(folder: Path | ModuleType) -> dict[str, Callable[[], Lexicon]]:
    """Loaders of the lexicons in a folder of TOML files, or in a package with such files, by name.

    Raises:
        LexiconError: there is no such folder, or it holds no lexicon.
    """
    root: Traversable = folder if isinstance(folder, Path) else files(folder)
    try:
        inside = [file for file in root.iterdir() if file.name.endswith(SUFFIX)]
    except OSError as problem:
        raise LexiconError(f"cannot be read as a folder of lexicons ({problem.strerror})", path=str(root)) from problem
    if not inside:
        raise LexiconError(f"holds no lexicon, which would be a file with the ending {SUFFIX}", path=str(root))

    def read(file: Traversable) -> Lexicon:
        return parse_lexicon(parse_toml(file.read_bytes(), str(file)), path=str(file), shipped=folder == FOLDER)

    return {
        file.name.removesuffix(SUFFIX): cache(partial(read, file)) for file in inside
    }  # each read at its first call


def words_of(words: WordsLike) -> WordSet:
    """Give the words that they mean, with a name for them.

    - `NAME` or a path: every word of that lexicon, once;
    - `NAME:SET` or `path.toml:SET`: one set of it, duplicates kept; of a test by role or by label;
    - `NAME:SET,SET`: the words of several sets of it, one after the other;
    - an id of the seed bank, such as `definitional_male-Bolukbasi_et_al_2016` (corrected filter);
    - words themselves, in any iterable but a string.
    """
    match words:
        case WordSet():
            return words
        case Lexicon():
            return WordSet(words.name, words.words, words)
        case str():
            return _words_by_name(words)
        case os.PathLike():
            return words_of(lexicon(words))
        case Iterable():
            words = tuple(_word(word, number) for number, word in enumerate(words, 1))
            if not words:
                raise ParameterError("words must be a name, a path or at least one word, found none")
            return WordSet(TYPED_WORDS, words)
    raise ParameterError(f"words must be a name, a path or an iterable of strings, found {describe(words)}")


def pairs_of(pairs: PairsLike) -> Pairs:
    """Give base pairs: a lexicon of kind "pairs" by name or path, or pairs themselves, each (first, second)."""
    match pairs:
        case Pairs():
            return pairs
        case str() | os.PathLike() | Lexicon():
            named = lexicon(pairs)
            if isinstance(named, Pairs):
                return named
            raise LexiconError(f"{shown(named.name)} holds {named.kind}, but pairs are wanted here")
        case Iterable():
            pairs = tuple(_pair(pair, number) for number, pair in enumerate(pairs, 1))
            if not pairs:
                raise ParameterError("pairs must be a name, a path or at least one pair, found none")
            return Pairs(name="given pairs", pairs=pairs)
    raise ParameterError(f"pairs must be a name, a path or an iterable of pairs, found {describe(pairs)}")


def _words_by_name(reference: str) -> WordSet:
    if reference in registry.names("lexicon"):
        return words_of(lexicon(reference))
    name, colon, set_name = reference.rpartition(":")
    if colon and (name in registry.names("lexicon") or name.endswith(SUFFIX)):
        if name == BANK:
            return _seeds(set_name)
        sets = [_one_set(lexicon(name), part.strip()) for part in set_name.split(",")]
        return sets[0] if len(sets) == 1 else _union(reference, sets)
    if reference.endswith(SUFFIX):
        return words_of(lexicon(reference))
    if "-" in reference and reference in lexicon(BANK).sets:
        return _seeds(reference)
    if looks_like_path(reference):
        return words_of(lexicon(reference))
    hint = did_you_mean(reference, lexicon(BANK).sets) if "-" in reference else ""
    if hint:
        raise LexiconError(f"there is no lexicon and no seed set {shown(reference)}{hint}")
    raise LexiconError(
        f"{unknown(reference)}; a single word is given as a list (in a shell, with a comma: {reference},)"
    )


def _union(name: str, sets: list[WordSet]) -> WordSet:
    return WordSet(name, tuple(word for part in sets for word in part.words), sets[0].lexicon)


def is_set_reference(text: str) -> bool:
    """Say whether a text with commas names sets of a lexicon, NAME:SET,SET, and not words."""
    name, colon, _ = text.partition(":")
    return bool(colon) and (name in registry.names("lexicon") or name.endswith(SUFFIX))


def _seeds(identifier: str) -> WordSet:
    filtered = seed_bank()
    sets = filtered.bank.sets
    if identifier in sets:
        return WordSet(identifier, sets[identifier], filtered.bank)
    for removal in filtered.removed:
        if removal.set_id == identifier and removal.word is None:
            raise LexiconError(f"the seed set {shown(identifier)} cannot be used: {removal.reason}")
    raise LexiconError(f"there is no seed set {shown(identifier)}{did_you_mean(identifier, sets)}")


def _one_set(source: Lexicon, set_name: str) -> WordSet:
    name = f"{source.name}:{set_name}"
    if set_name in source.sets:
        return WordSet(name, source.sets[set_name], source)
    labels = {members.name: members for members in source.roles.values()} if isinstance(source, AssociationTest) else {}
    if set_name in labels:
        return WordSet(name, labels[set_name].words, source)
    names = ", ".join([*source.sets, *labels])
    raise LexiconError(f"the lexicon {shown(source.name)} has no set {shown(set_name)}; its sets: {names}")


def _word(word: object, number: int) -> str:
    if not isinstance(word, str):
        raise ParameterError(f"word {number} must be a string, found {describe(word)}")
    if not word or word != word.strip():
        raise ParameterError(f"word {number} must be a word without white space around it, found {shown(word)}")
    return word


def _pair(pair: object, number: int) -> tuple[str, str]:
    expected = f"pair {number} must be two words, as in [('he', 'she')]"
    if isinstance(pair, str) or not isinstance(pair, Iterable):
        raise ParameterError(f"{expected}, found {describe(pair)}")
    match tuple(pair):
        case (first, second):
            return _word(first, number), _word(second, number)
        case other:
            raise ParameterError(f"{expected}, found {len(other)}")
