"""The reliabilities of Du et al. 2021 on replicates that the user holds, or on those that ship."""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from biasgauge.analyses.reliability import ALL_WORDS, reliability
from biasgauge.papers.du2021.sets import COMBINATIONS, CORPORA, ReplicateSet, given_sets, shipped_set
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from biasgauge.analyses.reliability import Distribution, ReliabilityResult
    from biasgauge.papers.paper import Data, Progress
    from biasgauge.scores import ScoreStore, ScoreTensor

STANDS_FOR = "sgns-wikitext103"
"""What replicates of another name are set beside: the models of the paper's figure 2."""
GLOVE_STANDS_FOR = "glove-wikitext103"
_PUBLISHED = {"ripa": "ripa_unit", "nbm": "nbm_du2021"}
_FORMS_ON = (ALL_WORDS, "google10k", "occ16")
"""Word lists on which pairs are compared, the best first."""


class Replicates(NamedTuple):
    """Reliabilities of one algorithm on one corpus: as the paper's code scores, and corrected; None where not known."""

    published: ReliabilityResult | None
    corrected: ReliabilityResult | None
    set: ReplicateSet

    @property
    def sides(self) -> tuple[ReliabilityResult | None, ReliabilityResult | None]:
        """As published, and corrected."""
        return self.published, self.corrected


def on_replicates(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Compute rows from the replicates in the data, or from those that ship; other rows are left out.

    Sets named as the paper's fill its rows. All others stand for its skip-gram on WikiText-103, those of GloVe for its
    GloVe there, unless that is given: the number is the median over them, and is not held to the paper's.
    """
    given = given_sets(data, progress) or (shipped_set(data),)
    found = [
        Replicates(_reliability(own.published, own, seed), _reliability(own.corrected, own, seed), own) for own in given
    ]
    groups = _groups(found)
    rows: dict[str, Recomputed] = {}
    for name, group in groups.items():
        rows |= _of_words(name, group)
    for corpus in CORPORA:
        own = [one for name, group in groups.items() if name.endswith(f"-{corpus}") for one in group]
        rows |= _alpha(corpus, [one for one in own if not one.set.ships])
    rows |= _relations(groups.get(STANDS_FOR) or next(iter(groups.values())))
    return {name: row for name, row in rows.items() if row.as_published is not None or row.corrected is not None}


def _groups(replicates: Sequence[Replicates]) -> dict[str, list[Replicates]]:
    """Sets by the paper's name that they fill or stand for."""
    groups = {replicate.set.name: [replicate] for replicate in replicates if replicate.set.same}
    on_other_data = [replicate for replicate in replicates if not replicate.set.same]
    for name, standing in (
        (STANDS_FOR, [replicate for replicate in on_other_data if replicate.set.algorithm != "glove"]),
        (GLOVE_STANDS_FOR, [replicate for replicate in on_other_data if replicate.set.algorithm == "glove"]),
    ):
        if standing and name not in groups:
            groups[name] = standing
    return groups


def _row(group: Sequence[Replicates], number: Callable[[ReliabilityResult | None, int], float | None]) -> Recomputed:
    """A row about some sets: the median of a number over them, as published and corrected."""
    theirs, ours = (_median_of([number(replicate.sides[side], side) for replicate in group]) for side in (0, 1))
    return Recomputed(theirs, ours, note=_note(group), same_data=all(replicate.set.same for replicate in group))


def _median_of(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return median(defined) if defined else None


def _note(group: Sequence[Replicates]) -> str:
    notes = "; ".join(replicate.set.note for replicate in group)
    return f"median over {len(group)} sets: {notes}" if len(group) > 1 else notes


def _reliability(
    scores: ScoreTensor | ScoreStore | None, replicate_set: ReplicateSet, seed: int
) -> ReliabilityResult | None:
    """Whatever share of a list was found, as the paper does."""
    if scores is None:
        return None
    queries: dict[str, list[str]] | None = {} if replicate_set.ships else None  # their alphas stand in no row
    return reliability(scores, min_coverage=0.0, queries=queries, target=None, random_state=seed)


def _of_words(name: str, group: Sequence[Replicates]) -> dict[str, Recomputed]:
    rows: dict[str, Recomputed] = {}
    of_user = [replicate for replicate in group if not replicate.set.ships]
    if name == STANDS_FOR:
        for label, words, sets in (("occ16", "occ16", group), ("full", ALL_WORDS, of_user)):
            for measure in ("dbwa", "ripa", "nbm"):
                rows[f"test_retest.{name}.{label}.{measure}"] = _row(
                    sets, partial(_median, ("test_retest", "test_retest"), words, measure)
                )
        for label, words in (("google10k", "google10k"), ("full", ALL_WORDS)):
            rows[f"below.{name}.{label}"] = _row(of_user, partial(_share_below, words))
    # corrected: measures brought to one standard deviation before they are compared
    kinds = ("inter_rater", "inter_rater_standardized")
    return rows | {f"inter_rater.{name}.full": _row(of_user, partial(_median, kinds, ALL_WORDS, None))}


def _summaries(result: ReliabilityResult | None, kind: str, words: str) -> list[Distribution]:
    rows = () if result is None else result.summaries
    return [row for row in rows if (row.reliability, row.of, row.list) == (kind, "word", words)]


def _median(
    kinds: tuple[str, str], words: str, measure: str | None, result: ReliabilityResult | None, side: int
) -> float | None:
    names = {measure, _PUBLISHED.get(measure or "", measure)}
    return next((row.median for row in _summaries(result, kinds[side], words) if row.measure in names), None)


def _share_below(words: str, result: ReliabilityResult | None, _side: int) -> float | None:
    rows = _summaries(result, "test_retest", words)
    count = sum(row.count for row in rows)
    return 100 * sum(row.below for row in rows) / count if count else None


def _alpha(corpus: str, sets: Sequence[Replicates]) -> dict[str, Recomputed]:
    def of_pairs(result: ReliabilityResult | None) -> list[float]:
        rows = [] if result is None else result.internal.to_dict()
        values = [row["value"] for row in rows if (row["of"], row["list"]) == ("pairs", "google10k")]
        return [value for value in values if value is not None]

    theirs, ours = (
        _median_of([value for replicate in sets for value in of_pairs(replicate.sides[side])]) for side in (0, 1)
    )
    complete = len(sets) == len(COMBINATIONS) // len(CORPORA) and all(replicate.set.same for replicate in sets)
    return {f"alpha.pairs.{corpus}": Recomputed(theirs, ours, note=_note(sets), same_data=complete)}


def _relations(group: Sequence[Replicates]) -> dict[str, Recomputed]:
    """Correlations of measures, of singular with plural pairs, and of one reliability with the other.

    Of several sets, medians; the interval is that of a single one.
    """
    by_replicate = [_relations_of(replicate) for replicate in group]
    names = dict.fromkeys(name for relation in by_replicate for name in relation)
    rows = {}
    for name in names:
        relation = [relations[name] for relations in by_replicate if name in relations]
        low, high = relation[0][2:] if len(relation) == 1 else (None, None)
        theirs, ours = (_median_of([numbers[side] for numbers in relation]) for side in (0, 1))
        rows[name] = Recomputed(theirs, ours, low, high, note=_note(group), same_data=False)
    return rows


def _relations_of(replicates: Replicates) -> dict[str, tuple[float | None, float | None, float | None, float | None]]:
    """As published, corrected, and the ends of its interval."""
    sides: dict[str, dict[int, tuple[float | None, float | None, float | None]]] = {}
    short = {variant: name for name, variant in _PUBLISHED.items()}
    for side, result in enumerate(replicates.sides):
        if result is None:
            continue
        for pair in result.measures:
            name = f"pearson.{short.get(pair.a, pair.a)}.{short.get(pair.b, pair.b)}"
            sides.setdefault(name, {})[side] = (pair.value, pair.low, pair.high)
        for words in _FORMS_ON:
            for form in result.forms:
                if form.list == words:
                    sides.setdefault(f"forms.{form.reliability}.t", {}).setdefault(side, (form.t, None, None))
            for relation in result.relations:
                if (relation.list, relation.of) == (words, "pair"):
                    sides.setdefault("forms.r", {}).setdefault(side, (relation.value, relation.low, relation.high))
    none = (None, None, None)
    return {name: (both.get(0, none)[0], *both.get(1, none)) for name, both in sides.items()}
