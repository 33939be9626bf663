"""`seed_choice`: one measurement under every seed set of a category, and the spread that the choice induces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.seeds.figures import choice_charts
from biasgauge.analyses.seeds.pairing import set_similarities, similarity_left_out
from biasgauge.analyses.seeds.word_pairs import GIVEN, Located, SeedPair, locate
from biasgauge.core import (
    DEFAULT_POLICY,
    Estimate,
    Floats,
    JsonMapping,
    ModelsLike,
    WordPolicy,
    WordsLike,
    check_level,
    did_you_mean,
)
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import Filter, WordSet, seed_bank, words_of
from biasgauge.results import Chart, Column, RecordTable, Result, number_text, share_text
from biasgauge.stats import mean_over_models
from biasgauge.vectors import Embedding, load_models


@dataclass(frozen=True, kw_only=True)
class ListValue(Estimate):
    """The measurement under one list: cosine of the set's mean vector with that of the target, mean over models.

    Attributes:
        set: id of the seed set.
        paper: authors and year.
        most_influential: the seed whose absence moves the value most, in the first model.
        value_without: the value without it.
        found, asked: seeds.
        models: how many models take part.
    """

    renamed: ClassVar[Mapping[str, str]] = {"value_without": "without"}
    hidden: ClassVar[frozenset[str]] = frozenset({"n", "over"})

    set: str
    paper: str
    most_influential: str | None
    value_without: float | None
    found: int
    asked: int
    models: int


@dataclass(frozen=True, eq=False, repr=False)
class SeedChoice(Result):
    """A measurement under every list of a category.

    Attributes:
        category: what the lists stand for.
        target: what they are measured against.
        lists: the measurement under each list, largest first, undefined ones last.
        spread: standard deviation over lists (n − 1): what another author's list does to the number.
        range: smallest and largest value.
        replicate_spread: standard deviation over models, pooled over lists: what another training run does to it; None
            with fewer than two models.
        list_share: share of the variance of a single measurement that is due to the list rather than to the model, from
            the two spreads; None without replicates.
        sign_changes: whether some lists say the opposite of others.
        settings: everything that decides the numbers.
    """

    tables: ClassVar[tuple[str, ...]] = ("lists",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "lists",
            columns=(
                Column("cosine [interval]", "estimate", 3, source="."),
                Column("seeds", "count", source="found"),
                Column("of", "count", source="asked"),
                Column("list", source="set"),
            ),
        ),
    )

    category: str
    target: str
    lists: tuple[ListValue, ...]
    spread: float | None
    range: tuple[float, float] | None
    replicate_spread: float | None
    list_share: float | None
    sign_changes: bool
    settings: JsonMapping

    def _title(self) -> str:
        return f"Cosine of {self.category} lists with {self.target}"

    def _headline(self) -> str:
        if self.spread is None or self.range is None:
            return f"{self._title()}: fewer than two lists can be measured."
        low, high = (number_text(end, 3) for end in self.range)
        return f"{self._title()}: from {low} to {high}; standard deviation over lists {number_text(self.spread, 3)}"

    def _sentences(self) -> list[str]:
        sentences = []
        if self.replicate_spread is not None and self.list_share is not None:
            sentences.append(
                f"Standard deviation over models {number_text(self.replicate_spread, 3)}: the list accounts for "
                f"{share_text(self.list_share)} of the variance."
            )
        return [*sentences, "Lists disagree about the sign."] if self.sign_changes else sentences

    def _charts(self) -> tuple[Chart, ...]:
        return choice_charts(self)


def seed_choice(
    vectors: ModelsLike,
    category: str | Sequence[str],
    target: WordsLike,
    *,
    unit: bool = False,
    policy: WordPolicy = DEFAULT_POLICY,
    level: float = 0.95,
    filter: Filter = "corrected",  # noqa: A002 - the word that the papers use
) -> SeedChoice:
    """Measure the same thing with every list of a category: how near the list is to a target.

    Args:
        vectors: an `Embedding`, anything `load` takes, or a list of them: replicates.
        category: a category of the seed bank, as in "female", or ids of its sets.
        target: words, a lexicon, NAME:SET, or the id of a seed set; a string that is none of these is one word.
        unit: scale vectors to length 1 first.
        policy: how words are looked up, and how many of a list must be found.
        level: nominal coverage of the intervals.
        filter: which form of the seed bank.

    Raises:
        ParameterError: an argument cannot be used, or the bank has no such category.
    """
    check_level(level)
    bank = seed_bank(filter).bank
    if isinstance(category, str):
        chosen, named = bank.browse(category=category), category
    else:
        by_id = {listed.id: listed for listed in bank.seeds}
        if strange := [name for name in category if name not in by_id]:
            raise ParameterError(f"There is no seed set {strange[0]!r}{did_you_mean(strange[0], by_id)}.")
        chosen, named = tuple(by_id[name] for name in category), "given sets"
    if not chosen:
        raise ParameterError(
            f"No set of the seed bank is of the category {named!r}{did_you_mean(named, bank.categories)}."
        )
    models = load_models(vectors)
    against = _target(target)
    pairs = [SeedPair(listed.id, against.name, listed.words, against.words) for listed in chosen]
    located = locate(pairs, models, policy)
    if not any(pair.coverage.sets["b"].words for pair in located):
        raise ParameterError(f"The target {against.name!r} cannot be used: no model has a word of it.")
    tables = [set_similarities(pair, models, scaled=unit) for pair in located]
    lists = [
        _list_value(pair, listed.short_paper, values, models, level, scaled=unit)
        for pair, listed, values in zip(located, chosen, tables, strict=True)
    ]
    lists.sort(key=lambda row: (row.value is None, -(row.value or 0.0)))
    looked_up = policy.settings(models)
    names = [model.name for model in models]
    settings = {"unit": unit, **looked_up, "level": level, "filter": filter, "models": names}
    return SeedChoice(named, against.name, tuple(lists), **_spreads(lists, tables), settings=settings)


def _target(target: WordsLike) -> WordSet:
    try:
        words = words_of(target)
    except LexiconError:
        if not isinstance(target, str) or ":" in target or target.endswith(".toml"):
            raise
        return WordSet(target, (target,))
    return WordSet(" ".join(words.words), words.words) if words.name == GIVEN else words


def _list_value(
    located: Located, paper: str, values: Floats, models: Sequence[Embedding], level: float, *, scaled: bool
) -> ListValue:
    coverage = located.coverage.sets["a"]
    mean, word, without = Estimate(value=None, level=level, reason=located.reason), None, None
    if located.reason is None:
        index, rows = next(iter(located.rows.items()))
        left, _ = similarity_left_out(models[index].vectors, rows, scaled=scaled)
        mean = mean_over_models(values, level, [left], (-1.0, 1.0))
        moved = np.abs(left - values[0])
        if np.isfinite(moved).any():
            most = int(np.nanargmax(moved))
            word, without = located.a[most], float(left[most])
    found = {"found": len(coverage.words), "asked": coverage.asked, "models": len(values)}
    return ListValue.of_estimate(
        mean, set=located.pair.a, paper=paper, most_influential=word, value_without=without, **found
    )


def _spreads(lists: Sequence[ListValue], tables: Sequence[Floats]) -> dict[str, Any]:
    means = np.array([row.value for row in lists if row.value is not None])
    if len(means) < 2:
        return {"spread": None, "range": None, "replicate_spread": None, "list_share": None, "sign_changes": False}
    repeated = [values for values in tables if len(values) > 1]
    within = float(np.mean([values.var(ddof=1) for values in repeated])) if repeated else None
    between = float(means.var(ddof=1))
    share = None
    if within is not None:
        runs = float(np.mean([len(values) for values in repeated]))
        due = max(between - within / runs, 0.0)  # the variance of means holds some of that between models
        share = due / (due + within) if due + within else None
    return {
        "spread": between**0.5,
        "range": (float(means.min()), float(means.max())),
        "replicate_spread": None if within is None else within**0.5,
        "list_share": share,
        "sign_changes": bool(means.min() < 0 < means.max()),
    }
