"""`seed_choice`: one measurement under every seed set of a category, and the spread that the choice induces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.embeddings import Embedding, load_models
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.inputs import ModelsLike, WordsLike
from biasgauge.lexicons import WordSet, seed_bank, words_of
from biasgauge.lexicons.bank import Filter
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.seed_words.balance import set_similarity, similarity_left_out
from biasgauge.seed_words.figures import choice_charts
from biasgauge.seed_words.located import Located, locate
from biasgauge.seed_words.word_pairs import SeedPair
from biasgauge.spelling import did_you_mean
from biasgauge.stats.estimate import Estimate, check_level
from biasgauge.stats.means import mean_over_models

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ListValue:
    """The measurement under one list.

    Attributes:
        set: id of the seed set.
        paper: authors and year.
        value: cosine of the set's mean vector with that of the target, mean over models; None when undefined.
        low, high: its interval.
        method: how that was found.
        most_influential: the seed whose absence moves the value most, in the first model.
        without: the value without it.
        found, asked: seeds.
        models: how many models take part.
        reason: why the value is undefined.
    """

    set: str
    paper: str
    value: float | None
    low: float | None
    high: float | None
    method: str | None
    most_influential: str | None
    without: float | None
    found: int
    asked: int
    models: int
    reason: str | None


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

    category: str
    target: str
    lists: tuple[ListValue, ...]
    spread: float | None
    range: tuple[float, float] | None
    replicate_spread: float | None
    list_share: float | None
    sign_changes: bool
    settings: dict[str, Any]

    def to_frame(self) -> pd.DataFrame:
        """One row a list."""
        import pandas as pd

        return pd.DataFrame([asdict(one) for one in self.lists])

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return asdict(self)

    def summary(self) -> Summary:
        """The measurement under every list, and what the choice does to it."""
        rows = [
            (Estimate(value=one.value, low=one.low, high=one.high, reason=one.reason), one.found, one.asked, one.set)
            for one in self.lists
        ]
        columns: list[Column | str] = [
            Column("cosine [interval]", "estimate", 3),
            Column("seeds", "count"),
            Column("of", "count"),
            "list",
        ]
        told = []
        if self.replicate_spread is not None and self.list_share is not None:
            told.append(
                f"Standard deviation over models {self.replicate_spread:.3f}: the list accounts for "
                f"{self.list_share:.0%} of the variance."
            )
        if self.sign_changes:
            told.append("Lists disagree about the sign.")
        name = f"Cosine of {self.category} lists with {self.target}"
        if self.spread is None or self.range is None:
            headline = f"{name}: fewer than two lists can be measured."
        else:
            low, high = self.range
            headline = f"{name}: from {low:.3f} to {high:.3f}; standard deviation over lists {self.spread:.3f}"
        table = Table.of("lists", "", columns, rows)
        return Summary(name, headline, sentences=tuple(told), tables=(table,), charts=choice_charts(self))


def seed_choice(
    vectors: ModelsLike,
    category: str | Sequence[str],
    target: WordsLike,
    *,
    unit: bool = False,
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    level: float = 0.95,
    filter: Filter = "corrected",  # noqa: A002 - the word that the papers use
) -> SeedChoice:
    """Measure the same thing with every list of a category: how near the list is to a target.

    Args:
        vectors: an `Embedding`, anything `load` takes, or a list of them: replicates.
        category: a category of the seed bank, as in "female", or ids of its sets.
        target: words, a lexicon, NAME:SET, or the id of a seed set; a string that is none of these is one word.
        unit: scale vectors to length 1 first.
        min_coverage: share of a list that must be found.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
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
        by_id = {one.id: one for one in bank.seeds}
        if strange := [one for one in category if one not in by_id]:
            raise ParameterError(f"There is no seed set {strange[0]!r}{did_you_mean(strange[0], by_id)}.")
        chosen, named = tuple(by_id[one] for one in category), "given sets"
    if not chosen:
        raise ParameterError(
            f"No set of the seed bank is of the category {named!r}{did_you_mean(named, bank.categories)}."
        )
    models = load_models(vectors)
    against = _target(target)
    pairs = [SeedPair(one.id, against.name, one.words, against.words) for one in chosen]
    located = locate(pairs, models, min_coverage=min_coverage, case_fallback=case_fallback)
    if all(not one.coverage.sets["b"].words for one in located):
        raise ParameterError(f"The target {against.name!r} cannot be used: no model has a word of it.")
    tables = [_values(one, models, scaled=unit) for one in located]
    lists = [
        _list_value(one, seeds.short_paper, values, models, level, scaled=unit)
        for one, seeds, values in zip(located, chosen, tables, strict=True)
    ]
    lists.sort(key=lambda one: (one.value is None, -(one.value or 0.0)))
    settings = {
        "unit": unit,
        "min_coverage": min_coverage,
        "case_fallback": case_fallback,
        "level": level,
        "filter": filter,
        "models": [model.name for model in models],
    }
    return SeedChoice(named, against.name, tuple(lists), **_spreads(lists, tables), settings=settings)


def _target(target: WordsLike) -> WordSet:
    try:
        found = words_of(target)
    except LexiconError:
        if not isinstance(target, str) or ":" in target or target.endswith(".toml"):
            raise
        return WordSet(target, (target,))
    return WordSet(" ".join(found.words), found.words) if found.name == "given words" else found


def _values(located: Located, models: Sequence[Embedding], *, scaled: bool) -> Floats:
    if located.reason is not None:
        return np.empty(0)
    rows = zip(located.places, located.rows, strict=True)
    return np.array([set_similarity(models[place].vectors, one, scaled=scaled) for place, one in rows])


def _list_value(
    located: Located, paper: str, values: Floats, models: Sequence[Embedding], level: float, *, scaled: bool
) -> ListValue:
    about = located.coverage.sets["a"]
    measured = Estimate(value=None, reason=located.reason)
    word, without = None, None
    if located.reason is None:
        left = similarity_left_out(models[located.places[0]].vectors, located.rows[0], scaled=scaled)
        measured = mean_over_models(values, level, left[:1], (-1.0, 1.0))
        moved = np.abs(left[0] - values[0])
        if np.isfinite(moved).any():
            most = int(np.nanargmax(moved))
            word, without = located.a[most], float(left[0][most])
    return ListValue(
        set=located.pair.a,
        paper=paper,
        value=measured.value,
        low=measured.low,
        high=measured.high,
        method=measured.method if measured.defined else None,
        most_influential=word,
        without=without,
        found=len(about.words),
        asked=about.asked,
        models=len(values),
        reason=measured.reason,
    )


def _spreads(lists: Sequence[ListValue], tables: Sequence[Floats]) -> dict[str, Any]:
    means = np.array([one.value for one in lists if one.value is not None])
    if len(means) < 2:
        return {"spread": None, "range": None, "replicate_spread": None, "list_share": None, "sign_changes": False}
    repeated = [one for one in tables if len(one) > 1]
    within = float(np.mean([one.var(ddof=1) for one in repeated])) if repeated else None
    between = float(means.var(ddof=1))
    share = None
    if within is not None:
        runs = float(np.mean([len(one) for one in repeated]))
        due = max(between - within / runs, 0.0)  # the variance of means holds some of that between models
        share = due / (due + within) if due + within else None
    return {
        "spread": between**0.5,
        "range": (float(means.min()), float(means.max())),
        "replicate_spread": None if within is None else within**0.5,
        "list_share": share,
        "sign_changes": bool(means.min() < 0 < means.max()),
    }
