"""Mean average cosine distance (MAC) of the words of a lexicon of stereotypes, and its change between embeddings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from biasgauge.core import DEFAULT_POLICY, VectorsLike, WordPolicy, resolve_sets, shortfall
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Stereotypes, lexicon
from biasgauge.metrics import MacChange, MacResult, mac_change_over_runs, mac_of_sets
from biasgauge.metrics import mac_change as mac_change_of
from biasgauge.scores.word_set_results import Association
from biasgauge.stats import BCA, Resampling, not_estimated
from biasgauge.vectors import Coverage, load


def mac(
    vectors: VectorsLike,
    stereotypes: str | os.PathLike[str] | Stereotypes,
    *,
    policy: WordPolicy = DEFAULT_POLICY,
    interval: Resampling | None = BCA,
) -> Association:
    """Mean average cosine distance of the protected words from every group's attributes; nearer to 1 is less biased.

    Targets are the lexicon's `eval_targets`, or all protected words where it names none.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        stereotypes: a lexicon of kind "stereotypes".
        policy: how words are looked up, and how many of each set must be found for the result to be defined.
        interval: how to find the interval over words; None for none.
    """
    named = lexicon(stereotypes)
    if not isinstance(named, Stereotypes):
        raise ParameterError(f"The lexicon {named.name!r} is of kind {named.kind!r}; MAC needs kind 'stereotypes'.")
    model = load(vectors)
    protected = [word for group in named.groups for word in group.protected]
    sets = {"targets": tuple(named.eval_targets or protected)}
    sets |= {f"{group.name}.attributes": group.attributes for group in named.groups}
    resolved = resolve_sets(sets, [model], policy)
    reason = shortfall(resolved, policy.min_coverage)
    if reason:
        result = MacResult(value=None, reason=reason, interval=not_estimated(interval, reason))
    else:
        targets, *attributes = (model.vectors[words.rows[0]] for words in resolved.values())
        result = mac_of_sets(targets, attributes, interval=interval)
    settings = {**policy.settings([model]), "model_checksum": model.checksum}
    coverage = Coverage.from_resolved(resolved)
    return Association("mac", named.name, model.name, {name: name for name in sets}, result, coverage, settings)


def mac_change(
    before: VectorsLike,
    after: VectorsLike,
    stereotypes: str | os.PathLike[str] | Stereotypes,
    *,
    before_replicates: Sequence[VectorsLike] = (),
    after_replicates: Sequence[VectorsLike] = (),
    policy: WordPolicy = DEFAULT_POLICY,
) -> MacChange:
    """The paired t test of Manzini et al. between two embeddings, over (target, attribute set) means.

    It says how far the change would move with other words. Where the two were trained separately
    (`vectors.separately_trained`), other training runs move it too, and `warnings` says so: with replicates of both
    sides, the interval and p are over target words and training runs. Undefined, with the reason, when MAC is
    undefined on any.

    Args:
        before: an `Embedding` or anything `load` takes.
        after: the same after the change.
        stereotypes: a lexicon of kind "stereotypes".
        before_replicates: other training runs of the recipe of `before`; both sides need some, or neither.
        after_replicates: of that of `after`.
        policy: how words are looked up, and how many of each set must be found for a MAC to be defined.

    Raises:
        ParameterError: the embeddings do not have the same words of the lexicon, or one side alone has replicates.
    """
    if bool(before_replicates) != bool(after_replicates):
        raise ParameterError("Replicates must be given of both sides, or of neither. Got those of one.")
    sides = [[load(run) for run in runs] for runs in ((before, *before_replicates), (after, *after_replicates))]
    results = [mac(run, stereotypes, policy=policy, interval=None) for run in (*sides[0], *sides[1])]
    words = [{name: lookup.words for name, lookup in result.coverage.sets.items()} for result in results]
    if any(sets != words[0] for sets in words):
        raise ParameterError("The two embeddings must have the same words of the lexicon for a paired test.")
    macs = [cast("MacResult", result.result) for result in results]
    if before_replicates:
        return mac_change_over_runs(macs[: len(sides[0])], macs[len(sides[0]) :])
    from biasgauge.vectors import SEPARATE, separately_trained  # alignment is loaded where models are compared

    warnings = (SEPARATE,) if separately_trained(sides[0][0], sides[1][0]) else ()
    return replace(mac_change_of(*macs), warnings=warnings)
