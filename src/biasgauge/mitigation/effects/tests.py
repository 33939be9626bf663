"""Bias before and after: every association test, and the posterior of distances, on the same words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge import registry
from biasgauge.embeddings import Embedding
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Lexicon
from biasgauge.mitigation.effects.result import Row
from biasgauge.stats.bootstrap import Resampled, Resampling, estimate_over_words
from biasgauge.stats.estimate import Estimate
from biasgauge.uncertainty import CONNECTIONS, bayes_change

if TYPE_CHECKING:
    from biasgauge.association.result import AssociationResult
    from biasgauge.association.set_test import SetTest

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
        return _undefined(test.name, short)
    rows = [
        {role: dict(zip(one.words, one.rows.tolist(), strict=True)) for role, one in each.sets.items()}
        for each in coverages
    ]
    usable = {role: rows[0][role].keys() & rows[1][role].keys() for role in test.sets}
    if shared := usable["x"] & usable["y"]:
        return _undefined(test.name, f"the word {min(shared)!r} is in both target sets")
    found = []
    for kind in registry.everything("association_test").values():
        words = _kept(kind, test.sets, usable)
        sets = [
            {role: model.vectors[[own[role][word] for word in words[role]]] for role in kind.sets}
            for model, own in zip((before, after), rows, strict=True)
        ]
        found.append(_row(kind, test.name, sets, interval))
    return found


def _undefined(name: str, reason: str) -> list[Row]:
    return [Row(part="association", name=kind, of=name, reason=reason) for kind in registry.names("association_test")]


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
    before, after = (
        Estimate(value=one.value) if one.interval is None else replace(one.interval, value=one.value) for one in results
    )
    return Row(
        part="association",
        name=kind.name,
        of=name,
        before=before,
        after=after,
        change=_change(before.value, after.value, kind, sets, interval),
        count=sum(len(one) for one in sets[0].values()),
        reason=results[0].reason or results[1].reason,
    )


def _change(
    before: float | None, after: float | None, kind: SetTest, sets: list[Sets], interval: Resampling
) -> Estimate | None:
    """After less before, with an interval that draws the same words before and after each time."""
    if before is None or after is None:
        return None
    first, second = (kind.resampled({role: np.asarray(one, np.float64) for role, one in each.items()}) for each in sets)
    drawn = Resampled(first.units, lambda counts: second.values(counts) - first.values(counts))
    return estimate_over_words(after - before, drawn, interval)


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
        return [Row(part="distances", name=name, of=named.name, reason=str(problem)) for name in CONNECTIONS]
    prob, how = found.before.credible.prob, found.before.credible.kind

    def estimate(of: Any) -> Estimate | None:  # noqa: ANN401 - a group or a change
        if of.mean is None:
            return None
        if of.low is None:
            return Estimate(value=of.mean)
        return Estimate(value=of.mean, low=of.low, high=of.high, level=prob, method=how, over="words (posterior)")

    old, new = ({one.connection: one for one in side.groups} for side in (found.before, found.after))
    return [
        Row(
            part="distances",
            name=name,
            of=named.name,
            before=estimate(old[name]),
            after=estimate(new[name]),
            change=estimate(one),
            reason=one.reason or old[name].reason or new[name].reason,
        )
        for one in found.groups
        for name in (one.connection,)
    ]
