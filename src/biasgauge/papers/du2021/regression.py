"""The regression of Du et al. 2021 fitted to the replicates that the user holds and to those that ship."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.analyses.reliability import INTERCEPT, FactorSource, factors, stored_counts
from biasgauge.papers.du2021.sets import COMBINATIONS, ReplicateSet, given_sets, shipped_set
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.analyses.reliability import FactorsResult
    from biasgauge.papers.paper import Data, Progress
    from biasgauge.stats.mixed_models import Share

OUTCOMES = ("test_retest", "inter_rater")
_REFITS = 50
_Z = 1.959964
_MEASURES = {"ripa_unit": "ripa", "nbm_du2021": "nbm"}


def fitted(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Estimates, R² and what it loses without each factor; nothing where fewer than two sets can be compared."""
    user_sets = given_sets(data)
    if not user_sets:
        return {}
    complete = {replicate_set.name for replicate_set in user_sets} == set(COMBINATIONS)
    sets = user_sets if complete else (*user_sets, shipped_set(data))
    rows: dict[str, Recomputed] = {}
    for number, outcome in enumerate(OUTCOMES):
        # corrected: measures brought to one standard deviation before they are compared
        theirs = _fit(sets, "published", outcome, seed, standardize=False)
        ours = _fit(sets, "corrected", outcome, seed, standardize=outcome == "inter_rater")
        rows |= _rows(outcome, theirs, ours, _note(sets), same=complete)
        if progress is not None:
            progress(number + 1, len(OUTCOMES))
    return rows


def _note(sets: Sequence[ReplicateSet]) -> str:
    return f"fitted to {len(sets)} sets: {'; '.join(replicate_set.note for replicate_set in sets)}"


def _fit(
    sets: Sequence[ReplicateSet], side: str, outcome: str, seed: int, *, standardize: bool
) -> FactorsResult | None:
    sources = []
    for replicate_set in sets:
        scores = replicate_set.published if side == "published" else replicate_set.corrected
        if scores is not None:
            counts = stored_counts(scores)
            sources.append(FactorSource(replicate_set.algorithm, replicate_set.corpus, scores, counts=counts))
    if len(sources) < 2:
        return None
    return factors(sources, outcome=outcome, standardize=standardize, refits=_REFITS, random_state=seed)  # type: ignore[arg-type]


def _rows(
    outcome: str, theirs: FactorsResult | None, ours: FactorsResult | None, note: str, *, same: bool
) -> dict[str, Recomputed]:
    left_out = sorted({name for fit in (theirs, ours) if fit is not None for name in fit.absent})
    note += f"; without {', '.join(left_out)}" if left_out else ""
    published, corrected = (_numbers(outcome, fit) for fit in (theirs, ours))
    return {
        name: Recomputed(
            published.get(name, (None, None, None))[0], *corrected.get(name, (None, None, None)), note=note,
            same_data=same,
        )
        for name in dict.fromkeys([*published, *corrected])
    }  # fmt: skip


def _numbers(outcome: str, fit: FactorsResult | None) -> dict[str, tuple[float | None, float | None, float | None]]:
    """Every number by the name of its row, with its interval."""
    if fit is None:
        return {}
    numbers: dict[str, tuple[float | None, float | None, float | None]] = {}
    for effect in fit.fixed:
        name = _column(effect.name)
        if name and effect.estimate is not None:
            margin = None if effect.se_words is None else _Z * effect.se_words
            ends = (None, None) if margin is None else (effect.estimate - margin, effect.estimate + margin)
            numbers[f"regression.{outcome}.estimate.{name}"] = (effect.estimate, *ends)
    for factor, drop in fit.drops.items():
        numbers[f"regression.{outcome}.drop.{factor}"] = _ends(drop.fixed)
    shares = {"fixed": fit.r2.fixed, **fit.r2.groups, "total": fit.r2.total}
    numbers |= {f"regression.{outcome}.r2.{name}": _ends(share) for name, share in shares.items()}
    numbers |= {
        f"regression.{outcome}.empty.{name}": _ends(share) for name, share in fit.r2_intercept_only.groups.items()
    }
    if outcome == OUTCOMES[0]:
        numbers["regression.words"] = (fit.words, None, None)
    return numbers


def _ends(share: Share) -> tuple[float | None, float | None, float | None]:
    return share.value, share.interval.low, share.interval.high


def _column(name: str) -> str:
    """Name of a column in the paper's rows; empty for the intercept."""
    kind, _, level = name.rstrip("]").partition("[")
    if kind == "measure":
        return _MEASURES.get(level, level)
    return f"pos_{level.lower()}" if kind == "pos" else "" if name == INTERCEPT else name
