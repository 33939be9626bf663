"""Whom a text is about, by the words that it mentions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from biasgauge.errors import ParameterError
from biasgauge.lexicons import lexicon

GroupWords = str | Mapping[str, Iterable[str]]


def group_words(given: GroupWords) -> dict[str, frozenset[str]]:
    """Words of each group, in lower case, in the order of the groups.

    Args:
        given: groups with their words; or the name or file of a lexicon, each of whose sets is a group
            ("bolukbasi2016": male, female); or NAME:SET,SET for some of them ("goldfarb2021_expansion:male,female").

    Raises:
        ParameterError: there are fewer than two groups, or a group has no words or shares one with another.
        LexiconError: there is no such lexicon.
    """
    sets = {name: tuple(words) for name, words in given.items()} if isinstance(given, Mapping) else _of_lexicon(given)
    found = {name: frozenset(word.lower() for word in words) for name, words in sets.items()}
    if len(found) < 2 or not all(found.values()):
        raise ParameterError(
            f"Words of groups must be of two groups at least, each with a word. Got {', '.join(found) or 'none'}."
        )
    names = list(found)
    for at, name in enumerate(names):
        for other in names[at + 1 :]:
            if shared := sorted(found[name] & found[other]):
                raise ParameterError(
                    f"Words of groups must not be shared: {name!r} and {other!r} both have {len(shared)} such words."
                )
    return found


def _of_lexicon(given: str) -> dict[str, tuple[str, ...]]:
    name, colon, wanted = given.rpartition(":")
    if not colon:
        return dict(lexicon(given).sets)
    sets = lexicon(name).sets
    chosen = [one.strip() for one in wanted.split(",")]
    missing = [one for one in chosen if one not in sets]
    if missing:
        raise ParameterError(f"The lexicon {name!r} has no set {missing[0]!r}; its sets are {', '.join(sets)}.")
    return {one: sets[one] for one in chosen}


def groups_by_words(tokens: Iterable[Sequence[str]], words: Mapping[str, frozenset[str]]) -> tuple[str | None, ...]:
    """The group of each text: the one whose words it mentions; None where it mentions none, or several groups'."""
    found = []
    for text in tokens:
        present = {token.lower() for token in text}
        named = [name for name, own in words.items() if not own.isdisjoint(present)]
        found.append(named[0] if len(named) == 1 else None)
    return tuple(found)
