"""Bias before and after: every association test, and the posterior of distances, on the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.association import TESTS, AssociationResult, Interval, Resampling, SetTest
from biasgauge.association.intervals import interval_over_words
from biasgauge.association.set_test import Resampled
from biasgauge.errors import ParameterError
from biasgauge.mitigation.effect_result import Row
from biasgauge.uncertainty import CONNECTIONS, bayes_change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from biasgauge.embeddings import Embedding
    from biasgauge.lexicons import AssociationTest, Lexicon

Sets = dict[str, "NDArray[Any]"]


def association_rows(
    before: Embedding,
    after: Embedding,
    test: AssociationTest,
    interval: Resampling,
    *,
    min_coverage: float,
    case_fallback: bool,
) -> list[Row]:
    """Every registered test on one lexicon; words count that have a direction both before and after."""
    coverages = [model.coverage(test.sets, case_fallback=case_fallback, directions=True) for model in (before, after)]
    short = coverages[0].shortfall(min_coverage) or coverages[1].shortfall(min_coverage)
    if short:
        return [Row("association", kind, test.name, None, None, None, reason=short) for kind in TESTS]
    rows = [
        {role: dict(zip(one.words, one.rows.tolist(), strict=True)) for role, one in each.sets.items()}
        for each in coverages
    ]
    usable = {role: rows[0][role].keys() & rows[1][role].keys() for role in test.sets}
    if shared := usable["x"] & usable["y"]:
        why = f"the word {min(shared)!r} is in both target sets"
        return [Row("association", kind, test.name, None, None, None, reason=why) for kind in TESTS]
    found = []
    for kind in TESTS.values():
        words = _kept(kind, test.sets, usable)
        sets = [
            {role: model.vectors[[own[role][word] for word in words[role]]] for role in kind.sets}
            for model, own in zip((before, after), rows, strict=True)
        ]
        found.append(_row(kind, test.name, sets, interval))
    return found


def _kept(
    kind: SetTest, words: Mapping[str, Sequence[str]], usable: Mapping[str, AbstractSet[str]]
) -> dict[str, list[str]]:
    """Words of each set that both models have, each once; where the test pairs x with y, the pairs that are whole."""
    kept = {role: [word for word in dict.fromkeys(words[role]) if word in usable[role]] for role in kind.sets}
    if not kind.paired:
        return kept
    whole = [
        pair for pair in zip(words["x"], words["y"], strict=True) if pair[0] in usable["x"] and pair[1] in usable["y"]
    ]
    return {**kept, "x": [pair[0] for pair in whole], "y": [pair[1] for pair in whole]}


def _row(kind: SetTest, name: str, sets: list[Sets], interval: Resampling) -> Row:
    results: list[AssociationResult] = [kind.function(**one, interval=interval) for one in sets]
    first, second = (one.value for one in results)
    change = None if first is None or second is None else second - first
    return Row(
        "association",
        kind.name,
        name,
        first,
        second,
        change,
        results[0].interval,
        results[1].interval,
        None if change is None else _paired(change, kind, sets, interval),
        count=sum(len(one) for one in sets[0].values()),
        reason=results[0].reason or results[1].reason,
    )


def _paired(change: float, kind: SetTest, sets: list[Sets], interval: Resampling) -> Interval | None:
    """Interval of the change: each time, the same words are drawn before and after."""
    first, second = (kind.resampled({role: np.asarray(one, np.float64) for role, one in each.items()}) for each in sets)
    return interval_over_words(
        change, Resampled(first.units, lambda counts: second.values(counts) - first.values(counts)), interval
    )


def distance_rows(
    before: Embedding,
    after: Embedding,
    named: Lexicon,
    random_state: int,
    **lookup: Any,  # noqa: ANN401 - as the association rows have it
) -> list[Row]:
    """Posterior mean distances of the connections of one lexicon; a change has the paired posterior."""
    try:
        found = bayes_change(before, after, named, random_state=random_state, **lookup)
    except ParameterError as problem:
        return [Row("distances", name, named.name, None, None, None, reason=str(problem)) for name in CONNECTIONS]
    prob, how = found.before.credible.prob, found.before.credible.kind

    def interval(low: float | None, high: float | None) -> Interval | None:
        return None if low is None else Interval(low, high, prob, how, 0, "words (posterior)")

    old, new = ({one.connection: one for one in side.groups} for side in (found.before, found.after))
    return [
        Row(
            "distances",
            one.connection,
            named.name,
            old[one.connection].mean,
            new[one.connection].mean,
            one.mean,
            interval(old[one.connection].low, old[one.connection].high),
            interval(new[one.connection].low, new[one.connection].high),
            interval(one.low, one.high),
            reason=one.reason or old[one.connection].reason or new[one.connection].reason,
        )
        for one in found.groups
    ]
