"""`Query`: one question about words; `WordPolicy`: the rules by which its words are looked up in a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias, get_args

from biasgauge.core.inputs import check_choice, check_number
from biasgauge.core.records import JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:  # a command that explains itself loads no library of numbers
    from biasgauge.core.arrays import Flags, Places, Vectors
    from biasgauge.core.frequency import FrequencyMeans, LogFrequencies
    from biasgauge.lexicons import Lexicon

QueryKind = Literal["test", "stereotypes", "lean", "order"]
CaseRule = Literal["auto", "exact", "fallback"]
CounterpartRule = Literal["balance", "keep", "as-published"]

Pair: TypeAlias = tuple[str, str]

WEAT_WEIGHTS = ((1.0, -1.0), (-1.0, 1.0))
"""Contrast of WEAT: (X with A − X with B) − (Y with A − Y with B)."""

TEST_ROLES = ("x", "y", "a", "b")
"""Sets of an association test, targets before attributes."""

NO_FAMILY = "own"
"""Family of lexicons that name none."""


@dataclass(frozen=True)
class WordSet:
    """Words under one name. The words are as their source has them: order, case and duplicates kept.

    `lexicon` is the list that they are a set of, where they were named by it.
    """

    name: str
    words: tuple[str, ...]
    lexicon: Any = field(default=None, compare=False, repr=False)  # a Lexicon, which this package does not know

    def __len__(self) -> int:
        return len(self.words)


ENOUGH = 25
"""Words of a list of a battery that are enough, whatever share of it they are: a recipe's list is a sample, and what is
found of it is a smaller one. Error rates of lists of this size were measured."""


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
        base: the lexicon of its base pairs; None without one.
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
    base: Lexicon | None = None
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
    def enough(self) -> float:
        """Words of a set that are enough whatever share of it was found: `ENOUGH` of a battery, else infinite."""
        return ENOUGH if self.lexicon is not None and self.lexicon.battery else inf

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
    def sources(self) -> tuple[Lexicon, ...]:
        """Every lexicon that its words come from, once: its own, that of its base pairs, those that sets name."""
        members = (words.lexicon for words in (*self.targets, *self.attributes))
        distinct = {id(lexicon): lexicon for lexicon in (self.lexicon, self.base, *members) if lexicon is not None}
        return tuple(distinct.values())

    @property
    def beware(self) -> tuple[str, ...]:
        """Notes on what to beware of in these lists, each once."""
        return tuple(dict.fromkeys(note for lexicon in self.sources for note in lexicon.beware))

    @property
    def words(self) -> tuple[str, ...]:
        """Every word once: targets, attributes, then base pairs."""
        listed = [word for words in self.sets.values() for word in words]
        return tuple(dict.fromkeys([*listed, *(word for pair in self.pairs for word in pair)]))


_PLURAL_ENDINGS = ("s", "people", "women", "men")
_SINGULAR_ENDINGS = ("ics", "arts", "ss")
"""Endings of names that look like plurals and are not: physics, politics, arts, illness."""


def words_phrase(words: WordSet) -> str:
    """Return what the words of a set are called in a sentence: "flowers", "mental-disease words"."""
    name = words.name
    noun = re.split(" (?:of|for|in) ", name, maxsplit=1)[0]
    if " words" in name or (noun.endswith(_PLURAL_ENDINGS) and not noun.endswith(_SINGULAR_ENDINGS)):
        return name
    return f"{name.replace(' ', '-')} words"


def build_test_claims(x: WordSet, y: WordSet, a: WordSet, b: WordSet) -> tuple[str, str]:
    """Return the meaning of a positive and of a negative contrast of an association test."""
    claim = f"{words_phrase(x)} are more associated with {{}} than {words_phrase(y)} are"
    return claim.format(a.name), claim.format(b.name)


class FoundWords(Protocol):
    """Words that a model has: those found, their rows, and those that were not found with the reason."""

    @property
    def words(self) -> tuple[str, ...]:
        """Words that were found, as they were asked for."""

    @property
    def rows(self) -> Places:
        """Row of each of them."""

    @property
    def lost(self) -> Mapping[str, str]:
        """Words that were not found, with the reason."""

    @property
    def respelled(self) -> Mapping[str, str]:
        """Words found in another case, with the spelling of the vocabulary."""


class WordVectors(Protocol):
    """One model as `resolve` sees it; `biasgauge.Embedding` is one."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def vectors(self) -> Vectors:
        """One row for each word."""

    @property
    def lower_case(self) -> bool:
        """True where no word of the vocabulary has a capital letter."""

    @property
    def checksum(self) -> str:
        """SHA-256 of words and vectors."""

    @property
    def text(self) -> str:
        """Checksum or name of the text that the model was trained on; empty where it is not known."""

    def log_frequencies(self, language: str) -> LogFrequencies | None:
        """Log frequency of every word, where anything is known of it."""

    def frequency_means(self, language: str) -> FrequencyMeans | None:
        """Mean vectors of words of one frequency; None with too few words."""

    def lookup(self, words: Iterable[str], *, case_fallback: bool = False) -> FoundWords:
        """Find the rows of words."""

    def directed(self, rows: Places | None = None) -> Flags:
        """Tell which rows are not zero vectors."""


@dataclass(frozen=True)
class WordPolicy:
    """Rules for looking words up, and the share that must be found.

    Attributes:
        min_coverage: share of each set that must be found; with fewer, the query is undefined.
        case: "exact": as written; "fallback": as written, else in lower case, else capitalized; "auto": fall back where
            no word of any model's vocabulary has a capital letter.
        counterparts: what goes with a word that is out of vocabulary. "balance": the other grammatical form of that
            word, where the lexicon lists them, so that masculine and feminine forms stay equally many; "keep": nothing;
            "as-published": the last words of the longer of X and Y, and of A and B (XWEAT's code).
    """

    min_coverage: float = 0.8
    case: CaseRule = "auto"
    counterparts: CounterpartRule = "balance"

    def __post_init__(self) -> None:
        check_number(0, 1, min_coverage=self.min_coverage)
        check_choice(get_args(CaseRule), case=self.case)
        check_choice(get_args(CounterpartRule), counterparts=self.counterparts)

    @classmethod
    def from_options(cls, min_coverage: float | None = None, case_fallback: bool | None = None) -> Self:  # noqa: FBT001 - as typed on the command line
        """Build the policy of a command's `--min-coverage` and `--case-fallback`; None leaves the default."""
        case: CaseRule = "auto" if case_fallback is None else ("fallback" if case_fallback else "exact")
        return cls(cls.min_coverage if min_coverage is None else min_coverage, case)

    def with_min_coverage(self, min_coverage: float | None) -> WordPolicy:
        """Return this policy with another share to be found; None changes nothing.

        Raises:
            ParameterError: the policy states another share than the default already.
        """
        if min_coverage is None:
            return self
        if self.min_coverage not in {WordPolicy.min_coverage, min_coverage}:
            raise ParameterError("Give the share of words to be found once: in 'policy' or as 'min_coverage'.")
        return replace(self, min_coverage=min_coverage)

    def uses_fallback(self, models: Sequence[WordVectors]) -> bool:
        """Return whether words are also looked up in lower case and capitalized in these models."""
        if self.case == "auto":
            return bool(models) and all(model.lower_case for model in models)
        return self.case == "fallback"

    def decided(self, models: Sequence[WordVectors]) -> WordPolicy:
        """Return this policy with the case rule that works out for these models."""
        return replace(self, case="fallback" if self.uses_fallback(models) else "exact")

    def settings(self, models: Sequence[WordVectors] = ()) -> JsonObject:
        """Return what results record of the policy, as it works out for these models."""
        return {"min_coverage": self.min_coverage, "case_fallback": self.uses_fallback(models)}


DEFAULT_POLICY = WordPolicy()
EXACT_POLICY, FALLBACK_POLICY = WordPolicy(case="exact"), WordPolicy(case="fallback")
"""Words as they are written; and, where that fails, in lower case or capitalized."""
