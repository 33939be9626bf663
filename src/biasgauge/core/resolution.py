"""`resolve`: look the words of a query up in models, here and nowhere else; `SimilarityTable`: their cosines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np

from biasgauge.core.arrays import Floats, Integers, Places, Vectors
from biasgauge.core.families import word_families
from biasgauge.core.geometry import unit_rows
from biasgauge.core.query import DEFAULT_POLICY, TEST_ROLES, Pair, Query, WordPolicy, WordVectors
from biasgauge.errors import ParameterError

ZERO_VECTOR = "its vector is zero"
CUT_AS_PUBLISHED = "cut from the end of the longer set, as published"
CASE_HINT = "; enough are found in another case: WordPolicy(case='fallback') (--case-fallback)"
BASE_PAIRS = "base pairs"
"""Key of the base pairs of a query among its sets."""
_MOST_SETS_NAMED = 4


@dataclass(frozen=True, eq=False)
class ResolvedSet:
    """One set of words in some models.

    Attributes:
        words: those that every model has, as the set spells them, each once and in the order of the set.
        rows: models × words: the row of each word in each model.
        lost: words that a model lacks, or that had to go with another, each with the reason.
        respelled: words found in another case, with the spelling of the vocabulary.
        listed: the set itself, with duplicates.
    """

    words: tuple[str, ...]
    rows: Places
    lost: Mapping[str, str]
    respelled: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    listed: tuple[str, ...] = ()

    @property
    def asked(self) -> int:
        """Number of distinct words in the set."""
        return len(set(self.words)) + len(self.lost)

    @property
    def share(self) -> float:
        """Share of the distinct words that were found; 1 for an empty set."""
        return len(set(self.words)) / self.asked if self.asked else 1.0

    @cached_property
    def row_of(self) -> Mapping[str, Places]:
        """Row of each word in every model."""
        return dict(zip(self.words, self.rows.T, strict=True))

    def without(self, reasons: Mapping[str, str]) -> ResolvedSet:
        """Return the set without some of its words, which are then lost for the reason given."""
        gone = {word: why for word, why in reasons.items() if word in self.words}
        return replace(self.only([word for word in self.words if word not in gone]), lost={**self.lost, **gone})

    def only(self, words: Sequence[str]) -> ResolvedSet:
        """Return the set with these of its words, in this order, and nothing added to `lost`."""
        rows = np.array([self.row_of[word] for word in words], np.intp).reshape(len(words), len(self.rows)).T
        return replace(self, words=tuple(words), rows=rows)


@dataclass(frozen=True, eq=False)
class Resolved:
    """A query whose words were looked up in some models.

    Attributes:
        query: the question.
        models: one model, or several in which each word is found or lost together.
        policy: how words were looked up.
        case_fallback: whether other cases were tried.
        sets: each set of the query by key; base pairs under "base pairs", as "first–second", with the rows of
            their first words.
        pairs: base pairs of which both words were found.
        pair_rows: 2 × models × pairs: rows of their first and of their second words.
        reason: why the query cannot be measured; None where it can.
    """

    query: Query
    models: tuple[WordVectors, ...]
    policy: WordPolicy
    case_fallback: bool
    sets: Mapping[str, ResolvedSet]
    pairs: tuple[Pair, ...] = ()
    pair_rows: Places = field(default_factory=lambda: np.empty((2, 0, 0), np.intp))
    reason: str | None = None

    @property
    def targets(self) -> tuple[ResolvedSet, ...]:
        """Groups of target words."""
        return tuple(self.sets[key] for key in self.query.target_keys)

    @property
    def attributes(self) -> tuple[ResolvedSet, ...]:
        """Groups of attribute words; none with base pairs."""
        return tuple(self.sets[key] for key in self.query.attribute_keys)

    @property
    def share(self) -> float:
        """Smallest share of a set that was found."""
        return min((words.share for words in self.sets.values() if words.asked), default=0.0)

    @property
    def shared_target(self) -> str | None:
        """A word that is in two target groups, which no test of their difference can have; None without one."""
        rows: set[int] = set()
        for group in self.targets:
            for word, places in group.row_of.items():
                if int(places[0]) in rows:
                    return word
            rows |= set(group.rows[0].tolist())
        return None

    def families(self) -> tuple[str, ...]:
        """Word family of each target and then of each attribute: words with one family are forms of one lemma."""
        words = [word for group in (*self.targets, *self.attributes) for word in group.words]
        return word_families(words, self.query.language)

    def frequencies(self, key: str, model: int = 0) -> Floats | None:
        """Frequency of each word of a set in one model, as counts or as ranks; None where the source has neither."""
        known = getattr(self.models[model], "frequencies", None)
        return None if known is None else np.asarray(known.values, np.float64)[self.sets[key].rows[model]]

    def paired_sets(self) -> tuple[Mapping[str, ResolvedSet], str | None]:
        """Return the sets with X and Y paired by position, and why they cannot be paired (None where they can).

        A pair goes as a whole when either of its words is out of vocabulary or had to go.
        """
        first, second = self.targets
        if len(first.listed) != len(second.listed):
            return self.sets, (
                f"the test pairs the words of X and Y by position, and they have {len(first.listed)} and "
                f"{len(second.listed)} words"
            )
        pairs = [
            (one, two)
            for one, two in zip(first.listed, second.listed, strict=True)
            if one in first.row_of and two in second.row_of
        ]
        ends = [first.only([one for one, _ in pairs]), second.only([two for _, two in pairs])]
        return {**self.sets, **dict(zip(self.query.target_keys, ends, strict=True))}, None

    def vectors(
        self, keys: Iterable[str], *, paired: bool = False, model: int = 0
    ) -> tuple[dict[str, Vectors], str | None]:
        """Return the vectors of some sets in one model, by key, and why a test cannot use them (None where it can)."""
        sets, reason = self.paired_sets() if paired else (self.sets, None)
        vectors = self.models[model].vectors
        return {key: vectors[sets[key].rows[model]] for key in keys}, reason


def resolve(query: Query, models: WordVectors | Sequence[WordVectors], policy: WordPolicy = DEFAULT_POLICY) -> Resolved:
    """Look the words of a query up in one model or several.

    A word counts as found where every model has it with a vector that is not zero. Words whose counterpart is lost go
    as the policy says. `reason` states which sets fall short of `policy.min_coverage`; nothing is raised for that.
    """
    several = tuple(models) if isinstance(models, Sequence) else (models,)
    fallback = policy.uses_fallback(several)
    sets = dict(resolve_sets(query.sets, several, policy))
    if policy.counterparts == "balance":
        sets = {key: _balance(words, query.counterparts) for key, words in sets.items()}
    pairs: tuple[Pair, ...] = ()
    pair_rows = np.empty((2, len(several), 0), np.intp)
    if query.pairs:
        pairs, pair_rows, sets[BASE_PAIRS] = _resolve_pairs(query.pairs, several, policy)
    resolved = Resolved(query, several, policy, fallback, sets, pairs, pair_rows)
    reason = shortfall(sets, policy.min_coverage)
    if reason and policy.case != "fallback" and not fallback:
        other_case = resolve(query, several, replace(policy, case="fallback"))
        reason += "" if other_case.reason else CASE_HINT
    if policy.counterparts == "as-published" and query.kind == "test":
        resolved = replace(resolved, sets=_cut_as_published(sets))
    return replace(resolved, reason=reason)


def resolve_sets(
    sets: Mapping[str, Sequence[str]], models: Sequence[WordVectors], policy: WordPolicy = DEFAULT_POLICY
) -> dict[str, ResolvedSet]:
    """Look named sets of words up in every one of some models; for what is not a query, such as a list to score."""
    fallback = policy.uses_fallback(models)
    return {key: _resolve_set(tuple(words), models, case_fallback=fallback) for key, words in sets.items()}


def _resolve_set(words: tuple[str, ...], models: Sequence[WordVectors], *, case_fallback: bool) -> ResolvedSet:
    distinct = tuple(dict.fromkeys(words))
    rows: dict[str, list[int]] = {word: [] for word in distinct}
    lost: dict[str, str] = {}
    respelled: dict[str, str] = {}
    for model in models:
        lookup = model.lookup(distinct, case_fallback=case_fallback)
        usable = model.directed(lookup.rows)
        respelled |= lookup.respelled
        missing = {
            **lookup.lost,
            **{word: ZERO_VECTOR for word, good in zip(lookup.words, usable, strict=True) if not good},
        }
        for word, row in zip(lookup.words, lookup.rows.tolist(), strict=True):
            rows[word].append(row)
        for word, why in missing.items():
            lost.setdefault(word, why if len(models) == 1 else f"{why} ({model.name})")
    found = tuple(word for word in distinct if word not in lost)
    table = np.array([rows[word] for word in found], np.intp).reshape(len(found), len(models)).T
    lost = {word: lost[word] for word in distinct if word in lost}
    respelled = {word: spelling for word, spelling in respelled.items() if word not in lost}
    return ResolvedSet(found, table, MappingProxyType(lost), MappingProxyType(respelled), words)


def _balance(words: ResolvedSet, counterparts: Sequence[Pair]) -> ResolvedSet:
    """Drop the words whose counterpart is lost from the same set.

    In a language with grammatical gender a masculine form lies near male words for that reason alone. A set with both
    forms of each word cancels that, until one form is out of vocabulary: its counterpart then has to go too.
    """
    partner = {word: other for pair in counterparts for word, other in (pair, pair[::-1])}
    return words.without(
        {word: f"its counterpart {partner[word]!r} was lost" for word in words.words if partner.get(word) in words.lost}
    )


def _resolve_pairs(
    pairs: Sequence[Pair], models: Sequence[WordVectors], policy: WordPolicy
) -> tuple[tuple[Pair, ...], Places, ResolvedSet]:
    """Base pairs of which both words were found, their rows, and the pairs as a set for coverage."""
    ends = resolve_sets({"ends": [word for pair in pairs for word in pair]}, models, policy)["ends"]
    distinct = tuple(dict.fromkeys(pairs))
    found = tuple(pair for pair in pairs if all(word in ends.row_of for word in pair))
    rows = np.array([[ends.row_of[word] for word in pair] for pair in found], np.intp)
    rows = rows.reshape(len(found), 2, len(models)).transpose(1, 2, 0)
    lost = {
        "–".join(pair): "; ".join(f"{word}: {ends.lost[word]}" for word in pair if word in ends.lost)
        for pair in distinct
        if pair not in found
    }
    labels = tuple("–".join(pair) for pair in found)
    return found, rows, ResolvedSet(labels, rows[0], MappingProxyType(lost), ends.respelled, labels)


def _cut_as_published(sets: Mapping[str, ResolvedSet]) -> dict[str, ResolvedSet]:
    """Cut X and Y, then A and B, to one length by dropping the last words; a word listed twice counts twice."""
    cut = dict(sets)
    for roles in TEST_ROLES[:2], TEST_ROLES[2:]:
        keys = [role for role in roles if role in sets]
        listed = {key: [word for word in sets[key].listed if word in sets[key].row_of] for key in keys}
        length = min(map(len, listed.values()), default=0)
        for key in keys:
            stays = listed[key][:length]
            gone = {word: CUT_AS_PUBLISHED for word in listed[key][length:] if word not in stays}
            cut[key] = replace(sets[key].only(stays), lost={**sets[key].lost, **gone})
    return cut


def shortfall(sets: Mapping[str, ResolvedSet], min_coverage: float) -> str | None:
    """Say which sets have fewer than this share of their words, or none at all; None where every set has enough."""
    short = [
        f"{key} {len(set(words.words))} of {words.asked}"
        for key, words in sets.items()
        if not words.words or len(set(words.words)) < min_coverage * words.asked
    ]
    if not short:
        return None
    more = f" and {len(short) - _MOST_SETS_NAMED} more sets" if len(short) > _MOST_SETS_NAMED else ""
    return f"fewer than {100 * min_coverage:.0f} % of the words found: {', '.join(short[:_MOST_SETS_NAMED])}{more}"


class SimilarityTable:
    """Cosines of every target with every attribute (or base pair) of a query, in every model.

    With base pairs a column is the cosine with the first word less the cosine with the second, from −2 to 2.

    Attributes:
        resolved: the query and the rows of its words.
        values: models × targets × attributes.
        target_groups, attribute_groups: group of each target and of each attribute.
        target_words, attribute_words: names of rows and of columns; a pair is "first–second".
        target_rows, attribute_rows: their rows in the first model; of a pair, the row of its first word.
    """

    def __init__(self, resolved: Resolved) -> None:
        if resolved.reason is not None:
            raise ParameterError(f"The query {resolved.query.name!r} cannot be measured: {resolved.reason}.")
        self.resolved = resolved
        columns = (resolved.sets[BASE_PAIRS],) if resolved.query.pairs else resolved.attributes
        self.target_groups, self.target_words, self.target_rows = _stacked(resolved.targets)
        self.attribute_groups, self.attribute_words, self.attribute_rows = _stacked(columns)
        self.values = self.similarities_of(resolved.targets)

    def similarities_of(self, groups: Sequence[ResolvedSet]) -> Floats:
        """Cosines of other words with the attributes of this table: models × words × attributes."""
        rows = np.concatenate([group.rows for group in groups], axis=1)
        return np.stack(
            [
                unit_vectors(model, rows[number]) @ columns.T
                for number, (model, columns) in enumerate(zip(self.resolved.models, self._columns(), strict=True))
            ]
        )

    def _columns(self) -> Iterator[Floats]:
        """Unit vectors of the attributes in each model; of a pair, that of its first word less that of its second."""
        resolved = self.resolved
        for number, model in enumerate(resolved.models):
            if resolved.query.pairs:
                first, second = (unit_vectors(model, rows[number]) for rows in resolved.pair_rows)
                yield first - second
            else:
                yield unit_vectors(model, np.concatenate([group.rows[number] for group in resolved.attributes]))

    @property
    def weights(self) -> tuple[tuple[float, ...], ...]:
        """Weights of the contrast that answers the query: groups of targets × groups of attributes."""
        return self.resolved.query.weights

    @property
    def contrast(self) -> float:
        """Σ w[i, j] · mean cosine of target group i with attribute group j, over models; 0: no association."""
        means = [
            [
                self.values[:, self.target_groups == target][:, :, self.attribute_groups == attribute].mean()
                for attribute in range(len(row))
            ]
            for target, row in enumerate(self.weights)
        ]
        return float((np.asarray(self.weights) * means).sum())


def _stacked(groups: Sequence[ResolvedSet]) -> tuple[Integers, tuple[str, ...], Places]:
    """Group of each word, the words, and their rows in the first model."""
    sizes = [len(group.words) for group in groups]
    words = tuple(word for group in groups for word in group.words)
    return np.repeat(np.arange(len(groups)), sizes), words, np.concatenate([group.rows[0] for group in groups])


def unit_vectors(model: WordVectors, rows: Places) -> Floats:
    """Vectors of some words of a model, scaled to length 1."""
    return unit_rows(np.asarray(model.vectors[rows], np.float64), pairwise=True)
