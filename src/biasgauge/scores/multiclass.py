"""MAC of a stereotype lexicon on an embedding, and its change from one embedding to another (Manzini et al. 2019)."""

from __future__ import annotations

import os
from typing import cast

from biasgauge.association.mac import MacChange, MacResult, mac_of_sets
from biasgauge.association.mac import mac_change as mac_change_of
from biasgauge.embeddings import load
from biasgauge.errors import ParameterError
from biasgauge.inputs import VectorsLike
from biasgauge.lexicons import Stereotypes, lexicon
from biasgauge.scores.word_set_tests import Association
from biasgauge.stats.bootstrap import BCA, Resampling, not_estimated


def mac(
    vectors: VectorsLike,
    stereotypes: str | os.PathLike[str] | Stereotypes,
    *,
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    interval: Resampling | None = BCA,
) -> Association:
    """Mean average cosine distance of the protected words from every group's attributes; nearer to 1 is less biased.

    Targets are the lexicon's `eval_targets`, or all protected words where it names none.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        stereotypes: a lexicon of kind "stereotypes".
        min_coverage: share of each set that must be found for the result to be defined.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        interval: how to find the interval over words; None for none.
    """
    named = lexicon(stereotypes)
    if not isinstance(named, Stereotypes):
        raise ParameterError(f"The lexicon {named.name!r} is of kind {named.kind!r}; MAC needs kind 'stereotypes'.")
    model = load(vectors)
    protected = [word for group in named.groups for word in group.protected]
    sets = {"targets": tuple(named.eval_targets or protected)}
    sets |= {f"{group.name}.attributes": group.attributes for group in named.groups}
    coverage = model.coverage(sets, case_fallback=case_fallback, directions=True)
    short = coverage.short_of(min_coverage)
    arrays = {name: model.vectors[lookup.rows] for name, lookup in coverage.sets.items()}
    if short:
        reason = f"fewer than {min_coverage:.0%} of the words found in {', '.join(short)}"
        result = MacResult(value=None, reason=reason, interval=not_estimated(interval, reason))
    else:
        targets = arrays.pop("targets")
        result = mac_of_sets(targets, list(arrays.values()), interval=interval)
    settings = {"min_coverage": min_coverage, "case_fallback": case_fallback, "model_checksum": model.checksum}
    return Association("mac", named.name, model.name, {name: name for name in sets}, result, coverage, settings)


def mac_change(
    before: VectorsLike,
    after: VectorsLike,
    stereotypes: str | os.PathLike[str] | Stereotypes,
    *,
    min_coverage: float = 0.8,
    case_fallback: bool = False,
) -> MacChange:
    """The paired t test of Manzini et al. between two embeddings, over (target, attribute set) means.

    Undefined, with the reason, when MAC is undefined on either.

    Raises:
        ParameterError: the two do not have the same words of the lexicon.
    """
    found = [
        mac(vectors, stereotypes, min_coverage=min_coverage, case_fallback=case_fallback, interval=None)
        for vectors in (before, after)
    ]
    words = [{name: lookup.words for name, lookup in each.coverage.sets.items()} for each in found]
    if words[0] != words[1]:
        raise ParameterError("The two embeddings must have the same words of the lexicon for a paired test.")
    first, second = (cast("MacResult", each.result) for each in found)
    return mac_change_of(first, second)
