"""`Query`: one question about words, before it is put to any model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.lexicons import Lexicon

QueryKind = Literal["test", "stereotypes", "lean", "order"]

Pair: TypeAlias = tuple[str, str]

WEAT_WEIGHTS = ((1.0, -1.0), (-1.0, 1.0))
"""Contrast of WEAT: (X with A − X with B) − (Y with A − Y with B)."""

TEST_ROLES = ("x", "y", "a", "b")
"""Sets of an association test, targets before attributes."""

NO_FAMILY = "own"
"""Family of lexicons that name none."""


@dataclass(frozen=True)
class WordSet:
    """Words under one name. The words are as their source has them: order, case and duplicates kept."""

    name: str
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, eq=False, kw_only=True)
class Query:
    """One question: are these target words more similar to these attributes than to those, as the weights say?

    The contrast that answers it is Σ w[i, j] · (mean cosine of target group i with attribute group j).

    Attributes:
        name: of the lexicon, or LEXICON:SET.
        kind: "test": X and Y against A and B; "stereotypes": groups against the attributes of their own stereotype and
            of others; "lean": one list of words along base pairs; "order": words with large values against words with
            small ones, along base pairs.
        targets: groups of target words.
        attributes: groups of attribute words; with `pairs`, their first and their second words.
        weights: of the mean similarity of each group of targets with each group of attributes (or with the pairs).
        claims: meaning of a positive contrast, and of a negative one.
        pairs: base pairs; similarities are then those with the first word less those with the second.
        counterparts: masculine and feminine forms of one word that stay or go together (`WordPolicy.counterparts`).
        title: name for readers.
        family: queries of one family are corrected together: gender, race, …; "sanity" checks the instrument itself.
        language: of the words.
        lexicon: the lexicon it was made from; None for words that were given.
        roles: keys of targets and attributes in `sets`, such as x, y, a and b; empty: their names.
    """

    name: str
    kind: QueryKind
    targets: tuple[WordSet, ...]
    attributes: tuple[WordSet, ...]
    weights: tuple[tuple[float, ...], ...]
    claims: tuple[str, str] = ("", "")
    pairs: tuple[Pair, ...] = ()
    counterparts: tuple[Pair, ...] = ()
    title: str = ""
    family: str = NO_FAMILY
    language: str = "en"
    lexicon: Lexicon | None = None
    roles: tuple[str, ...] = ()

    @classmethod
    def from_lexicon(
        cls, lexicon: str | PathLike[str] | Lexicon, pairs: str | PathLike[str] | Lexicon | None = None
    ) -> Query:
        """Build the query of a lexicon: its name, its file, or the lexicon itself.

        Args:
            lexicon: an association test or stereotypes; or a list of words or values, measured along `pairs`.
            pairs: a lexicon of base pairs, for a list of words or values.

        Raises:
            ParameterError: it asks no question, or several.
            LexiconError: there is no such lexicon.
        """
        from biasgauge import registry

        lexicons = [registry.read("lexicon", reference) for reference in (lexicon, pairs) if reference is not None]
        queries: list[Query] = list(lexicons[0].queries([] if pairs is None else [lexicons[1]]))
        if len(queries) != 1:
            name = lexicons[0].name
            advice = "several: name one set, as NAME:SET" if queries else "none by itself: give base pairs in 'pairs'"
            raise ParameterError(f"A query needs a lexicon that asks one question; {name!r} asks {advice}.")
        return queries[0]

    @classmethod
    def from_sets(
        cls,
        sets: Mapping[str, WordSet | Sequence[str]],
        *,
        name: str = "given words",
        counterparts: Sequence[Pair] = (),
    ) -> Self:
        """Build an association test from its sets by role: x, y, a, b, or those of them that the test has.

        Words without a name are called X, Y, A and B.
        """
        groups = {
            role: words if isinstance(words, WordSet) else WordSet(role.upper(), tuple(words))
            for role, words in sets.items()
        }
        targets = [role for role in TEST_ROLES[:2] if role in groups]
        attributes = [role for role in TEST_ROLES[2:] if role in groups]
        weights = tuple(row[: len(attributes)] for row in WEAT_WEIGHTS[: len(targets)])
        return cls(
            name=name, kind="test", targets=tuple(groups[role] for role in targets),
            attributes=tuple(groups[role] for role in attributes), weights=weights, title=name,
            claims=build_test_claims(**groups) if len(groups) == len(TEST_ROLES) else ("", ""),
            counterparts=tuple(counterparts), roles=(*targets, *attributes),
        )  # fmt: skip

    @property
    def target_keys(self) -> tuple[str, ...]:
        """Keys of the target groups in `sets`: their roles, else their names."""
        return self.roles[: len(self.targets)] or tuple(words.name for words in self.targets)

    @property
    def attribute_keys(self) -> tuple[str, ...]:
        """Keys of the attribute groups in `sets`: their roles, else their names; empty with base pairs."""
        if self.pairs:
            return ()
        return self.roles[len(self.targets) :] or tuple(words.name for words in self.attributes)

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """Words of each target group and, without base pairs, of each attribute group, by key."""
        groups = (*self.targets, *(() if self.pairs else self.attributes))
        keys = (*self.target_keys, *self.attribute_keys)
        return {key: words.words for key, words in zip(keys, groups, strict=True)}

    @property
    def labels(self) -> Mapping[str, str]:
        """Name of each set, by key."""
        groups = (*self.targets, *(() if self.pairs else self.attributes))
        return {key: words.name for key, words in zip(self.sets, groups, strict=True)}

    @property
    def words(self) -> tuple[str, ...]:
        """Every word once: targets, attributes, then base pairs."""
        listed = [word for words in self.sets.values() for word in words]
        return tuple(dict.fromkeys([*listed, *(word for pair in self.pairs for word in pair)]))


_PLURAL_ENDINGS = ("s", "people", "women", "men")
_FIELD_ENDINGS = ("ics", "arts")
"""Endings of names that look like plurals and are not: physics, politics, arts."""


def words_phrase(words: WordSet) -> str:
    """Return what the words of a set are called in a sentence: "flowers", "mental-disease words"."""
    name = words.name
    if " words" in name or (name.endswith(_PLURAL_ENDINGS) and not name.endswith(_FIELD_ENDINGS)):
        return name
    return f"{name.replace(' ', '-')} words"


def build_test_claims(x: WordSet, y: WordSet, a: WordSet, b: WordSet) -> tuple[str, str]:
    """Return the meaning of a positive and of a negative contrast of an association test."""
    claim = f"{words_phrase(x)} are more associated with {{}} than {words_phrase(y)} are"
    return claim.format(a.name), claim.format(b.name)
