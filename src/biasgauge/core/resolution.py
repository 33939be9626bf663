"""`resolve`: look the words of a query up in models, here and nowhere else; `SimilarityTable`: their cosines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from types import MappingProxyType

import numpy as np

from biasgauge.core.arrays import Floats, Integers, Places, Vectors
from biasgauge.core.families import first_connected, word_families
from biasgauge.core.frequency import LogFrequencies
from biasgauge.core.geometry import unit_rows
from biasgauge.core.query import DEFAULT_POLICY, TEST_ROLES, Pair, Query, WordPolicy, WordVectors
from biasgauge.errors import ParameterError

ZERO_VECTOR = "its vector is zero"
ON_BOTH_SIDES = "it, or another form of it, is an attribute too"
CUT_AS_PUBLISHED = "cut from the end of the longer set, as published"
CASE_HINT = (
    "; enough are found in another case: WordPolicy(case='fallback'), --case-fallback (audit: --case-fallback yes)"
)
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

    def in_model(self, number: int) -> Resolved:
        """Return the same words in one of the models alone."""
        one = slice(number, number + 1)
        sets = {key: replace(words, rows=words.rows[one]) for key, words in self.sets.items()}
        return replace(self, models=self.models[one], sets=sets, pair_rows=self.pair_rows[:, one])

    def families(self) -> tuple[str, ...]:
        """Word family of each target and then of each attribute: forms of one lemma, and words of one vector.

        Where a vocabulary was pruned, words share the vector of the nearest word that stayed: one observation.
        """
        groups = (*self.targets, *self.attributes)
        families = word_families([word for group in groups for word in group.words], self.query.language)
        rows = np.concatenate([group.rows for group in groups], axis=1)
        vectors = np.hstack([model.vectors[row] for model, row in zip(self.models, rows, strict=True)])
        keys = [(family, vector.tobytes()) for family, vector in zip(families, vectors, strict=True)]
        return tuple(families[first] for first in first_connected(keys))

    def frequencies(self, key: str, model: int = 0) -> Floats | None:
        """Log10 frequency of each word of a set in one model, up to a constant; None where nothing is known of it."""
        known = _frequencies_of(self.models[model], self.query.language)
        return None if known is None else known.values[self.sets[key].rows[model]]

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
    if policy.counterparts != "as-published":
        sets = _drop_shared_words(query, sets)
    resolved = Resolved(query, several, policy, fallback, sets, pairs, pair_rows)
    reason = shortfall(sets, policy.min_coverage, query.enough)
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


def _drop_shared_words(query: Query, sets: Mapping[str, ResolvedSet]) -> dict[str, ResolvedSet]:
    """Drop the targets of which a form is an attribute, or in a base pair: they are associated with themselves."""
    attributes = {word for pair in query.pairs for word in pair}
    attributes |= {word for key in query.attribute_keys for word in sets[key].words}
    words = [*attributes, *(word for key in query.target_keys for word in sets[key].words)]
    families = dict(zip(words, word_families(words, query.language), strict=True))
    shared = {families[word] for word in attributes}
    return {
        key: words.without({word: ON_BOTH_SIDES for word in words.words if families[word] in shared})
        if key in query.target_keys
        else words
        for key, words in sets.items()
    }


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


def shortfall(sets: Mapping[str, ResolvedSet], min_coverage: float, enough: float = inf) -> str | None:
    """Say which sets have fewer than this share of their words, or none at all; None where every set has enough.

    `enough` words will do whatever their share is.
    """
    short = [
        f"{key} {len(set(words.words))} of {words.asked}"
        for key, words in sets.items()
        if not words.words or len(set(words.words)) < min(enough, min_coverage * words.asked)
    ]
    if not short:
        return None
    more = f" and {len(short) - _MOST_SETS_NAMED} more sets" if len(short) > _MOST_SETS_NAMED else ""
    return f"fewer than {100 * min_coverage:.0f} % of the words found: {', '.join(short[:_MOST_SETS_NAMED])}{more}"


@dataclass(frozen=True, eq=False)
class TableWords:
    """Words of one side of a table, each family of words of a list as one observation, the mean of its words.

    Attributes:
        groups: list of each family.
        words: the forms of each family, such as "run/runs"; a base pair is "first–second".
        rows: row of its first form in the first model; of a pair, that of its first word.
        averaging: families × words: matrix that takes the mean of the forms.
        frequencies: log frequency, the mean over forms and models; None where a model has none, or with base pairs.
        cosines: between the families, the mean over models.
    """

    groups: Integers
    words: tuple[str, ...]
    rows: Places
    averaging: Floats
    frequencies: Floats | None = None
    cosines: Floats = field(default_factory=lambda: np.empty((0, 0)))

    @classmethod
    def of(cls, sets: Sequence[ResolvedSet], families: Sequence[str]) -> TableWords:
        """Group the words of some lists by family; `families` names that of each word, list by list."""
        words = [word for group in sets for word in group.words]
        lists = np.repeat(np.arange(len(sets)), [len(group.words) for group in sets]).tolist()
        members: dict[tuple[int, str], list[int]] = {}
        for index, key in enumerate(zip(lists, families, strict=True)):
            members.setdefault(key, []).append(index)
        averaging = np.zeros((len(members), len(words)))
        for row, indices in enumerate(members.values()):
            averaging[row, indices] = 1 / len(indices)
        rows = np.concatenate([group.rows[0] for group in sets])
        return cls(
            groups=np.array([group for group, _ in members], np.intp),
            words=tuple("/".join(words[index] for index in indices) for indices in members.values()),
            rows=rows[[indices[0] for indices in members.values()]],
            averaging=averaging,
        )


class SimilarityTable:
    """Cosines of every target with every attribute (or base pair) of a query, in every model.

    Forms of one lemma in one list, and words of one vector, are one row or column, with the mean of their cosines. With
    base pairs a column is the cosine with the first word less the cosine with the second, from −2 to 2.

    Attributes:
        resolved: the query and the rows of its words.
        values: models × targets × attributes.
        centered: the same less what words of such frequencies have in common (`FrequencyMeans`); None where a model
            has no frequencies.
        frequency_sources: where the frequencies of each model are from; None in place of one that has none.
        targets, attributes: words of both sides.
    """

    def __init__(self, resolved: Resolved) -> None:
        if resolved.reason is not None:
            raise ParameterError(f"The query {resolved.query.name!r} cannot be measured: {resolved.reason}.")
        self.resolved = resolved
        pairs = resolved.pairs
        families, count = resolved.families(), sum(len(group.words) for group in resolved.targets)
        self.targets = TableWords.of(resolved.targets, families[:count])
        columns, names = ((resolved.sets[BASE_PAIRS],), [*map("–".join, pairs)]) if pairs else (
            resolved.attributes, families[count:]
        )  # fmt: skip
        self.attributes = TableWords.of(columns, names)
        language = resolved.query.language
        known = [_frequencies_of(model, language) for model in resolved.models]
        self.frequency_sources = tuple(None if one is None else one.source for one in known)
        values, centered, cosines, frequencies = [], [], [], []
        target_rows = np.concatenate([group.rows for group in resolved.targets], axis=1)
        for number, model in enumerate(resolved.models):
            sides = [unit_vectors(model, target_rows[number]), *self._attribute_vectors(number)]
            values.append(self._table(sides))
            cosines.append(
                [self._cosines(self.targets, sides[0]), self._cosines(self.attributes, _difference(sides[1:]))]
            )
            log = known[number]
            if log is None:
                continue
            rows = [target_rows[number], *self._attribute_rows(number)]
            frequencies.append([log.values[places] for places in rows])
            centered.append(self._table(self._centered(number, sides, rows)))
        self.values: Floats = np.stack(values)
        self.centered: Floats | None = None
        by_model = zip(*cosines, strict=True)
        near = [np.mean(side, axis=0) for side in by_model]
        means_of = [None, None]
        if len(centered) == len(values):
            self.centered = np.stack(centered)
            sums = [np.mean(side, axis=0) for side in zip(*frequencies, strict=True)]
            means_of = [self.targets.averaging @ sums[0], None if pairs else self.attributes.averaging @ sums[1]]
        self.targets = replace(self.targets, frequencies=means_of[0], cosines=near[0])
        self.attributes = replace(self.attributes, frequencies=means_of[1], cosines=near[1])

    def _attribute_rows(self, number: int) -> Sequence[Places]:
        """Rows of the attributes in a model; of base pairs, those of their first and of their second words."""
        resolved = self.resolved
        if resolved.query.pairs:
            return [rows[number] for rows in resolved.pair_rows]
        return [np.concatenate([group.rows[number] for group in resolved.attributes])]

    def _attribute_vectors(self, number: int) -> list[Floats]:
        model = self.resolved.models[number]
        return [unit_vectors(model, rows) for rows in self._attribute_rows(number)]

    def _table(self, sides: Sequence[Floats]) -> Floats:
        """Mean products of the forms of each target with those of each attribute."""
        products = sides[0] @ _difference(sides[1:]).T
        return np.asarray(self.targets.averaging @ products @ self.attributes.averaging.T)

    @staticmethod
    def _cosines(words: TableWords, units: Floats) -> Floats:
        """Cosines between the families of one side in one model."""
        means = unit_rows(words.averaging @ units, pairwise=True)
        return np.asarray(means @ means.T)

    def similarities_of(self, words: ResolvedSet) -> tuple[Floats, Floats | None]:
        """Cosines of other words with the attributes of this table: models × words × attributes, also centered."""
        averaging = self.attributes.averaging.T
        values, centered = [], []
        for number, model in enumerate(self.resolved.models):
            sides = [unit_vectors(model, words.rows[number]), *self._attribute_vectors(number)]
            values.append(sides[0] @ _difference(sides[1:]).T @ averaging)
            if self.centered is not None:
                rows = [words.rows[number], *self._attribute_rows(number)]
                equal = self._centered(number, sides, rows)
                centered.append(equal[0] @ _difference(equal[1:]).T @ averaging)
        return np.stack(values), np.stack(centered) if centered else None

    def _centered(self, number: int, sides: Sequence[Floats], rows: Sequence[Places]) -> Sequence[Floats]:
        """Vectors of words of a model less the mean vectors of words of their frequencies."""
        model, language = self.resolved.models[number], self.resolved.query.language
        log, means = _frequencies_of(model, language), model.frequency_means(language)
        if log is None or means is None:
            return sides
        return [units - means.at(log.values[places]) for units, places in zip(sides, rows, strict=True)]

    @property
    def target_groups(self) -> Integers:
        """List of each row."""
        return self.targets.groups

    @property
    def attribute_groups(self) -> Integers:
        """List of each column."""
        return self.attributes.groups

    @property
    def target_words(self) -> tuple[str, ...]:
        """Names of rows."""
        return self.targets.words

    @property
    def attribute_words(self) -> tuple[str, ...]:
        """Names of columns."""
        return self.attributes.words

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


def _difference(sides: Sequence[Floats]) -> Floats:
    """Return the vectors of attributes, or those of the first words of pairs less those of their second words."""
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def _frequencies_of(model: WordVectors, language: str) -> LogFrequencies | None:
    """Log frequency of every word of a model, where it knows any."""
    look_up = getattr(model, "log_frequencies", None)
    return None if look_up is None else look_up(language)


def unit_vectors(model: WordVectors, rows: Places) -> Floats:
    """Vectors of some words of a model, scaled to length 1."""
    return unit_rows(np.asarray(model.vectors[rows], np.float64), pairwise=True)
