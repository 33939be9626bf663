"""Whom a text is about, by the words that it mentions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

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
    groups = {name: frozenset(word.lower() for word in words) for name, words in sets.items()}
    if len(groups) < 2 or not all(groups.values()):
        raise ParameterError(
            f"Words of groups must be of two groups at least, each with a word. Got {', '.join(groups) or 'none'}."
        )
    for name, other in combinations(groups, 2):
        if shared := groups[name] & groups[other]:
            raise ParameterError(
                f"Words of groups must not be shared: {name!r} and {other!r} both have {len(shared)} such words."
            )
    return groups


def _of_lexicon(given: str) -> dict[str, tuple[str, ...]]:
    name, colon, wanted = given.rpartition(":")
    if not colon:
        return dict(lexicon(given).sets)
    sets = lexicon(name).sets
    chosen = [group.strip() for group in wanted.split(",")]
    if missing := [group for group in chosen if group not in sets]:
        raise ParameterError(f"The lexicon {name!r} has no set {missing[0]!r}; its sets are {', '.join(sets)}.")
    return {group: sets[group] for group in chosen}


def groups_by_words(tokens: Iterable[Sequence[str]], words: Mapping[str, frozenset[str]]) -> tuple[str | None, ...]:
    """The group of each text: the one whose words it mentions; None where it mentions none, or several groups'."""
    groups = []
    for text in tokens:
        present = {token.lower() for token in text}
        named = [name for name, own in words.items() if not own.isdisjoint(present)]
        groups.append(named[0] if len(named) == 1 else None)
    return tuple(groups)
