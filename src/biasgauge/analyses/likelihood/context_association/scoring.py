"""`stereoset`: StereoSet from scores of its sentences, or from a language model (Nadeem, Bethke & Reddy 2021).

The authors' numbers are means over targets (79 in each split) of shares within a target. Targets are what was sampled:
intervals are over targets, and over models too where several replicates are given.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from biasgauge.analyses.likelihood.context_association.files import DOMAINS, SPLITS, Cluster, read_clusters, read_scores
from biasgauge.analyses.likelihood.context_association.icat import FULL, icat_estimate
from biasgauge.analyses.likelihood.context_association.result import (
    SplitScores,
    StereoSetResult,
    StereoSetScores,
    Undefined,
)
from biasgauge.analyses.likelihood.preferences import NO_SCORE, NOT_FINITE, TIES, Ties, equal_scores, preferred
from biasgauge.core import Floats, JsonObject, check_choice, check_level, check_number
from biasgauge.errors import InputError, ParameterError
from biasgauge.results import share_text
from biasgauge.stats import clustered_means

if TYPE_CHECKING:
    from biasgauge.analyses.likelihood.measure import LikelihoodMeasure
    from biasgauge.analyses.likelihood.models import ModelLike

ScoresLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, float | None]"
"""Scores of StereoSet's sentences: a file of predictions, or a mapping from the id of a sentence to its score."""
_PAIRS = ((0, 1), (0, 2), (1, 2))
"""Stereotype with anti-stereotype, and each of them with the unrelated sentence."""


def stereoset(
    data: str | os.PathLike[str],
    predictions: ScoresLike | Sequence[ScoresLike] | None = None,
    *,
    model: ModelLike | Sequence[ModelLike] | None = None,
    measure: str | LikelihoodMeasure | None = None,
    start: str | None = None,
    min_coverage: float = 0.8,
    ties: Ties = "published",
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> StereoSetResult:
    """StereoSet's lms, ss and icat with intervals over targets, from predictions or from a model.

    A sentence without a score leaves its comparisons undefined; they are left out and listed, never taken for 50. Two
    equal scores count as the authors count them, as not preferring the stereotype (ss) or the meaningful sentence
    (lms), so that complete predictions always give the authors' numbers; `ties="undefined"` leaves them out too.

    Args:
        data: StereoSet's `dev.json`, compressed or not.
        predictions: scores of the sentences, higher is more likely, in the layout of the authors' files; several for
            replicates of one model.
        model: a language model that scores the sentences, in the place of predictions; several for replicates.
        measure: which likelihood measure scores them; by default "causal-mean" for causal models, "aul" for masked.
        start: the token that a causal model reads first, such as "<|endoftext|>"; by default what parts documents, else
            the beginning of a text. Results say which it was.
        min_coverage: share of comparisons that must be defined for a number to be.
        ties: what two equal scores count as.
        level: nominal coverage of the intervals.
        progress: called with (done, total).

    Raises:
        ParameterError: not exactly one of predictions and model is given, or a setting cannot be used.
        InputError: a file is not what it should be, or predictions and data have no sentence in common.
    """
    check_number(0, 1, min_coverage=min_coverage)
    check_level(level)
    check_choice(TIES, ties=ties)
    if (predictions is None) == (model is None):
        raise ParameterError("StereoSet needs predictions or a model, and not both.")
    clusters = read_clusters(data)
    settings: JsonObject = {"data": Path(data).name, "min_coverage": min_coverage, "ties": ties}
    reasons: Mapping[str, str] = {}
    if predictions is not None:
        for name, setting in (("measure", measure), ("start", start)):
            if setting is not None:
                raise ParameterError(f"The {name!r} parameter is for a model; predictions are scores already.")
        sources = _several(predictions)
        scores = [read_scores(source) for source in sources]
        names = tuple(_named(source, place) for place, source in enumerate(sources))
        warnings = _compare_ids(clusters, scores, names)
        table = np.array([[own.get(s, np.nan) for c in clusters for s in c.sentences] for own in scores])
        known = [set(own) for own in scores]
    else:
        from biasgauge.analyses.likelihood.benchmark_scores import score_clusters

        scored = score_clusters(model, clusters, measure, progress, start)
        table, names, reasons, warnings = scored.table, scored.names, scored.reasons, scored.warnings
        settings |= {"measure": scored.measure, "start": scored.start}
        known = [set(reasons)] * len(names)
    table = table.reshape(len(names), len(clusters), 3)
    judge = _Judge(table, clusters, known, reasons, min_coverage, level, ties)
    domains = _domains(clusters)
    splits = {
        split: judge.scores(
            [place for place, cluster in enumerate(clusters) if cluster.split == split], domains, split
        )
        for split in SPLITS
    }  # fmt: skip
    overall = judge.scores(list(range(len(clusters))), domains, "both splits")
    return StereoSetResult(
        splits["intrasentence"],
        splits["intersentence"],
        overall,
        names,
        {**settings, "level": level},
        (*warnings, *([f"{overall.ties:,} comparisons are ties: {TIES[ties]}."] if overall.ties else ())),
    )


class _Judge:
    """Comparisons within clusters, and the three numbers for any of them."""

    def __init__(
        self,
        table: Floats,
        clusters: Sequence[Cluster],
        known: Sequence[set[str]],
        reasons: Mapping[str, str],
        min_coverage: float,
        level: float,
        tied: Ties,
    ) -> None:
        pairs = [(table[:, :, first], table[:, :, second]) for first, second in _PAIRS]
        self.outcomes = np.stack([preferred(*pair, tied) for pair in pairs])
        self.tied = np.stack([equal_scores(*pair) for pair in pairs])
        self.table, self.clusters, self.known, self.reasons = table, clusters, known, reasons
        self.min_coverage, self.level = min_coverage, level

    def scores(self, places: Sequence[int], domains: Sequence[str], what: str) -> SplitScores:
        """Some clusters, and by domain."""
        by_domain = tuple(
            self._row([place for place in places if self.clusters[place].domain == domain], domain, what)
            for domain in domains
        )
        whole = self._row(places, "all", what)
        return SplitScores(**{**vars(whole), "undefined": self._undefined(places)}, domains=by_domain)

    def _row(self, places: Sequence[int], domain: str, what: str) -> StereoSetScores:
        targets = [self.clusters[place].target for place in places]
        outcomes, tied = self.outcomes[:, :, places], self.tied[:, :, places]
        labels = np.unique(targets, return_inverse=True)[1]
        numbers = np.stack([_target_shares(part, labels) for part in (outcomes[1:], outcomes[:1])])
        defined = np.isfinite(numbers)
        means = clustered_means(np.where(defined, FULL * numbers, 0.0), defined)
        estimates = []
        for own, (name, part) in enumerate((("lms", outcomes[1:]), ("ss", outcomes[:1]))):
            estimate = means.estimate(own, level=self.level, bounds=(0.0, FULL), unit="targets", statistic=name)
            held = np.isfinite(part)
            share = float(held.mean()) if held.size else 0.0
            reason = self._reason(share, what, bool(places))
            estimate = replace(estimate, n=int(held.sum() / max(len(self.table), 1)))
            estimates.append(estimate.without(reason) if reason else estimate)
        lms, ss = estimates
        return StereoSetScores(
            domain, lms, ss, icat_estimate(means, lms, ss), len(places), int(defined[1].any(axis=0).sum()),
            int(np.isfinite(outcomes).sum()), int(tied.sum()),
        )  # fmt: skip

    def _reason(self, share: float, what: str, any_clusters: bool) -> str | None:  # noqa: FBT001 - a fact
        if not any_clusters:
            return f"the data have no clusters of {what}"
        if share == 0:
            return f"no comparison of {what} is defined"
        if share < self.min_coverage:
            return (
                f"only {share_text(share, 1)} of the comparisons of {what} are defined "
                f"({share_text(self.min_coverage)} required)"
            )
        return None

    def _undefined(self, places: Sequence[int]) -> tuple[Undefined, ...]:
        lost: dict[str, str] = {}
        for row, known in zip(self.table, self.known, strict=True):
            for place in places:
                for sentence, score in zip(self.clusters[place].sentences, row[place], strict=True):
                    if not np.isfinite(score):
                        reason = NOT_FINITE if sentence in known else NO_SCORE
                        lost[sentence] = self.reasons.get(sentence, reason)
        return tuple(Undefined(sentence, reason) for sentence, reason in lost.items())


def _target_shares(outcomes: Floats, labels: np.ndarray[Any, np.dtype[np.int64]]) -> Floats:
    """Shares of comparisons won, models × targets, of comparisons × models × clusters; NaN where none is defined."""
    members = np.zeros((len(labels), int(labels.max()) + 1 if len(labels) else 0))
    members[np.arange(len(labels)), labels] = 1.0
    defined = np.isfinite(outcomes)
    won = (np.where(defined, outcomes, 0.0) @ members).sum(axis=0)
    count = (defined @ members).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, won / count, np.nan))


def _several(predictions: ScoresLike | Sequence[ScoresLike]) -> list[ScoresLike]:
    if isinstance(predictions, str | os.PathLike | Mapping):
        return [predictions]
    listed = list(predictions)
    if not listed:
        raise ParameterError("StereoSet needs at least one file of predictions.")
    return listed


def _named(source: ScoresLike, place: int) -> str:
    return f"predictions {place + 1}" if isinstance(source, Mapping) else Path(source).name.split(".json")[0]


def _domains(clusters: Sequence[Cluster]) -> tuple[str, ...]:
    """The four of StereoSet, in its own order, then any others."""
    there = {cluster.domain for cluster in clusters}
    return tuple(
        sorted(there, key=lambda name: (name not in DOMAINS, DOMAINS.index(name) if name in DOMAINS else name))
    )


def _compare_ids(
    clusters: Sequence[Cluster], scores: Sequence[Mapping[str, float]], names: Sequence[str]
) -> tuple[str, ...]:
    asked = {sentence for cluster in clusters for sentence in cluster.sentences}
    warnings = []
    for own, name in zip(scores, names, strict=True):
        if asked.isdisjoint(own):
            raise InputError(f"The predictions {name!r} and the data have no sentence in common; check the ids.")
        lost, others = len(asked - own.keys()), len(own.keys() - asked)
        if lost:
            warnings.append(f"{name}: {lost:,} of {len(asked):,} sentences have no score; what they take part in is "
                            "undefined and left out.")  # fmt: skip
        if others:
            warnings.append(f"{name}: {others:,} scores are of sentences that the data do not have; they are not used.")
    return tuple(warnings)
