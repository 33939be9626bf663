"""The four sets of a test as the words that a tokenizer makes of a text, and which of them a text has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biasgauge.corpora.tokenizers import Tokenizer
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, WordSet, lexicon, words_of
from biasgauge.mitigation.balancing.plan import A, B, X, Y

ROLES = {"x": X, "y": Y, "a": A, "b": B}


@dataclass(frozen=True)
class BalanceSets:
    """The sets of a test under a tokenizer.

    Attributes:
        name: of the lexicon.
        sets: by role.
        tokens: for each word of a set what the tokenizer makes of it; None where it makes no word or several of it.
    """

    name: str
    sets: Mapping[str, WordSet]
    tokens: Mapping[str, str | None]

    @property
    def words(self) -> dict[str, int]:
        """Each word as it stands in a text, with the sum of its sets."""
        found: dict[str, int] = {}
        for role, one in self.sets.items():
            for word in one.words:
                token = self.tokens[word]
                if token is not None:
                    found[token] = found.get(token, 0) | ROLES[role]
        return found

    @property
    def labels(self) -> dict[int, str]:
        """What each set stands for."""
        return {ROLES[role]: one.name for role, one in self.sets.items()}

    @property
    def shared(self) -> tuple[str, ...]:
        """Words in both targets, or in both attributes."""
        both = (X | Y, A | B)
        return tuple(word for word, sets in self.words.items() if any(sets & two == two for two in both))

    def coverage(self, seen: set[str]) -> dict[str, Any]:
        """How many words of the sets a text has, in the shape of every `--json`."""
        asked = {role: dict.fromkeys(one.words) for role, one in self.sets.items()}
        lost = {role: [word for word in words if self.tokens[word] not in seen] for role, words in asked.items()}
        number = sum(map(len, asked.values()))
        shape: dict[str, Any] = {
            "asked": number,
            "found": number - sum(map(len, lost.values())),
            "lost": {role: words for role, words in lost.items() if words},
        }
        apart = {word: "the tokenizer makes no single word of it" for word, one in self.tokens.items() if one is None}
        return {**shape, "reasons": apart} if apart else shape


def balance_sets(
    given: str | os.PathLike[str] | AssociationTest | Mapping[str, Any], tokenizer: Tokenizer
) -> BalanceSets:
    """The sets of a lexicon, or of a mapping from roles to words.

    Raises:
        LexiconError: there is no such lexicon.
        ParameterError: it is no test, or the tokenizer makes no word of a whole set.
    """
    name, sets = _by_role(given)
    tokens: dict[str, str | None] = {}
    for one in sets.values():
        for word in one.words:
            made = tokenizer.split(word)
            tokens[word] = made[0] if len(made) == 1 else None
    for role, one in sets.items():
        if all(tokens[word] is None for word in one.words):
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
        raise ParameterError(
            f"The lexicon {named.name!r} is of kind {named.kind!r}; balancing needs kind 'test', or four sets."
        )
    return named.name, dict(named.roles)
