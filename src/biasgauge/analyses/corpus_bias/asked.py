"""Which words are asked of a text, and between which groups, from whatever was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biasgauge import registry
from biasgauge.core import LexiconLike, PairsLike, WordsLike
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Lexicon, WordSet, WordSets, lexicon, pairs_of, words_of


@dataclass(frozen=True)
class Asked:
    """Which words are asked about, and between which groups.

    Attributes:
        words: each once.
        sets: named sets of them; "x" and "y" where two are to be compared.
        labels: what sets are called.
        a, b: words of the groups.
        names: what the groups are called.
    """

    words: tuple[str, ...]
    sets: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, str]
    a: tuple[str, ...]
    b: tuple[str, ...]
    names: tuple[str, str]

    @property
    def coefficients(self) -> dict[str, dict[str, float]]:
        """Each set as weights of its words: means, and the contrast of X and Y where there are both."""
        means = {name: dict.fromkeys(words, 1 / len(dict.fromkeys(words))) for name, words in self.sets.items()}
        if "x" in means and "y" in means:
            means["contrast"] = {**means["x"], **{word: -share for word, share in means["y"].items()}}
        return means


def asked_sets(
    words: WordsLike | None, *, a: WordsLike | None, b: WordsLike | None, pairs: PairsLike | None,
    test: LexiconLike | None, x: WordsLike | None, y: WordsLike | None,
) -> Asked:  # fmt: skip
    """Sets and groups from whatever was given.

    Raises:
        ParameterError: too much or too little was given.
    """
    if test is not None:
        named = lexicon(test)
        if not isinstance(named, AssociationTest):
            raise ParameterError(
                f"The 'test' parameter must be a lexicon of kind 'test'. {named.name!r} is of {named.kind!r}."
            )
        if any(given is not None for given in (words, a, b, pairs, x, y)):
            raise ParameterError("A 'test' has its own words and groups: give it alone.")
        words_x, words_y, group_a, group_b = named.roles.values()
    elif (x is None) != (y is None) or (x is not None and words is not None):
        raise ParameterError("Give 'words', or both 'x' and 'y'.")
    elif x is None and words is None:
        raise ParameterError("Say which words to ask about: 'words', 'x' and 'y', or a 'test'.")
    else:
        group_a, group_b = _groups(a, b, pairs)
        if x is None or y is None:
            return _asked_words(words, group_a, group_b)
        words_x, words_y = words_of(x), words_of(y)
    if shared := set(words_x.words) & set(words_y.words):
        raise ParameterError(f"A word may stand in one of 'x' and 'y' only. Got {min(shared)!r} in both.")
    return Asked(
        tuple(dict.fromkeys((*words_x.words, *words_y.words))),
        {"x": words_x.words, "y": words_y.words},
        {"x": words_x.name, "y": words_y.name, "contrast": f"{words_x.name} − {words_y.name}"},
        group_a.words, group_b.words, (group_a.name, group_b.name),
    )  # fmt: skip


def _asked_words(words: Any, group_a: WordSet, group_b: WordSet) -> Asked:  # noqa: ANN401 - WordsLike
    named = _lexicon_of_sets(words)
    chosen = words_of(words)
    sets = named.sets if named is not None else {chosen.name: chosen.words} if len(chosen.words) > 1 else {}
    distinct = tuple(dict.fromkeys(chosen.words))
    return Asked(distinct, sets, {}, group_a.words, group_b.words, (group_a.name, group_b.name))


def _lexicon_of_sets(words: object) -> Lexicon | None:
    """The lexicon that `words` is or names, where it has several sets."""
    if isinstance(words, str) and words in registry.names("lexicon"):
        words = lexicon(words)
    return words if isinstance(words, WordSets) else None


def _groups(a: WordsLike | None, b: WordsLike | None, pairs: PairsLike | None) -> tuple[WordSet, WordSet]:
    if pairs is not None:
        if a is not None or b is not None:
            raise ParameterError("Give either 'pairs', or 'a' and 'b'.")
        named = pairs_of(pairs)
        first, second = named.sets.values()
        return WordSet(named.ends[0], first), WordSet(named.ends[1], second)
    if a is None or b is None:
        raise ParameterError("Two groups are needed: 'a' and 'b', such as a=['he'] and b=['she'], or 'pairs'.")
    return _named(words_of(a)), _named(words_of(b))


def _named(group: WordSet) -> WordSet:
    """A group of few words is called by them."""
    if group.name != "given words":
        return group
    return WordSet("/".join(group.words[:3]) + ("/…" if len(group.words) > 3 else ""), group.words)
