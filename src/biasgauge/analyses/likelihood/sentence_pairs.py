"""Preferences of language models between two sentences: `score_pairs` for one's own pairs, `crows_pairs`.

The pairs of CrowS-Pairs (Nangia et al. 2020) were written by 77 writers, some of whom wrote a hundred: intervals are
over writers. Blodgett et al. (2021) list what is wrong with many of the pairs; no interval says anything about that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge import registry
from biasgauge.analyses.likelihood.benchmark_files import PairsOfSentences, SentencePair, read_pair_scores, read_pairs
from biasgauge.analyses.likelihood.models import LikelihoodMeasure, ModelLike, Sentence, kind_of
from biasgauge.analyses.likelihood.scoring import (
    DEFAULTS,
    NO_SCORE,
    TIES,
    ScoredPairs,
    Ties,
    Undefined,
    check_benchmark,
    equal_scores,
    models_of,
    preference_chart,
    preferred,
    score_by_models,
)
from biasgauge.core import (
    Estimate,
    Flags,
    Floats,
    IntervalsBeside,
    JsonMapping,
    JsonObject,
    Record,
    check_choice,
    check_level,
    check_number,
)
from biasgauge.results import Chart, Column, RecordTable, Result, estimate_text, level_text, records_frame, share_text
from biasgauge.stats import clustered_mean

if TYPE_CHECKING:
    import pandas as pd

FAULTS = "Many of the pairs are faulty (Blodgett et al. 2021); no interval accounts for that."
_DECIMALS = 3
NEITHER = 50.0
_COLUMNS = (
    "measure",
    Column("first preferred, % [{level}]", "estimate", 1, source="preferred"),
    Column("mean difference", "estimate", 3, source="difference"),
    Column("pairs", "count"),
)
_DISAGREEMENT = (
    Column("measure", source="first"),
    Column("other", source="second"),
    Column("prefer different sentences, % [{level}]", "estimate", 1, source="flipped"),
)


@dataclass(frozen=True)
class PreferenceScores(IntervalsBeside):
    """Share of pairs in which the first sentence is preferred.

    Attributes:
        measure: by which sentences were scored.
        group: of pairs; "all" for all of them.
        preferred: percent of pairs in which the first sentence scores higher; 50 is neither.
        difference: mean of first score less second, in the units of the measure; 0 is neither.
        pairs: how many there are.
        compared: comparisons that are defined, over all models.
        clusters: of pairs that belong together.
        ties: comparisons of two equal scores.
        undefined: comparisons without a score of both sentences.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("preferred", "difference")

    measure: str
    group: str
    preferred: Estimate
    difference: Estimate
    pairs: int
    compared: int
    clusters: int
    ties: int
    undefined: int

    def derived(self) -> JsonMapping:
        """Reason where there is no number."""
        return {"reason": self.preferred.reason if self.preferred.value is None else None}


@dataclass(frozen=True)
class MeasureDisagreement(IntervalsBeside):
    """Share of pairs of which two measures prefer different sentences.

    Attributes:
        first, second: the measures.
        flipped: percent of pairs, among those with a preference by both.
        pairs: how many those are, over all models.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("flipped",)

    first: str
    second: str
    flipped: Estimate
    pairs: int


@dataclass(frozen=True)
class PairScore(Record):
    """The scores of one pair by one measure and model; None where undefined, with the reason."""

    id: str
    measure: str
    model: str
    first_score: float | None
    second_score: float | None
    reason: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class PairPreferences(Result):
    """Preferences of one model, or of replicates, between two sentences, with intervals over clusters.

    Attributes:
        what: what the pairs are.
        measures: one row per measure.
        groups: one row per measure and group of pairs.
        flips: one row for every two measures.
        undefined: pairs without a score by some measure, by id.
        models: names of what was scored.
        settings: everything that decides the result.
        warnings: what to know before trusting a number.
        scores: of every pair by every measure and model; left out of JSON, `scores_frame` has them.
        directions: of CrowS-Pairs, one row per measure for pairs that show a stereotype and one for those that show its
            opposite, as the paper prints them; the first sentence is the more stereotypical one in both.
    """

    tables: ClassVar[tuple[str, ...]] = ("measures", "groups")
    hidden: ClassVar[frozenset[str]] = frozenset({"scores"})
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("measures", "By measure", _COLUMNS),
        RecordTable("groups", "By group of pairs", ("group", *_COLUMNS)),
        RecordTable("directions", "By direction of the pair", (Column("direction", source="group"), *_COLUMNS)),
        RecordTable("flips", "Where measures disagree", _DISAGREEMENT),
    )

    what: str
    measures: tuple[PreferenceScores, ...]
    groups: tuple[PreferenceScores, ...]
    flips: tuple[MeasureDisagreement, ...]
    undefined: tuple[Undefined, ...]
    models: tuple[str, ...]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()
    scores: tuple[PairScore, ...] = ()
    directions: tuple[PreferenceScores, ...] = ()

    def scores_frame(self) -> pd.DataFrame:
        """One row per pair, measure and model: id, first_score, second_score, and why one is undefined."""
        return records_frame(self.scores)

    def frames_beside(self) -> Mapping[str, pd.DataFrame]:
        """Scores of pairs, by their ids."""
        return {"scores": self.scores_frame()} if self.scores else {}

    def _title(self) -> str:
        return f"{self.what}: {', '.join(self.models)}"

    def _headline(self) -> str:
        shown = {None: "there is no interval", True: "the interval excludes 50", False: "the interval holds 50"}
        sentences = []
        for row in self.measures:
            share = row.preferred
            if share.value is None:
                sentences.append(f"{row.measure}: undefined, {share.reason}.")
                continue
            interval = f"{level_text(share.level)}, over {share.over}; {shown[share.excludes(NEITHER)]}"
            percent = estimate_text(share, 1)
            sentences.append(
                f"{row.measure}: the first sentence is preferred in {percent} % of the pairs ({interval})."
            )
        return " ".join(sentences)

    def _sentences(self) -> tuple[str, ...]:
        sentences = [
            f"{flip.first} and {flip.second} prefer different sentences in {estimate_text(flip.flipped, 1)} % of pairs."
            for flip in self.flips
        ]
        if self.undefined:
            count = len({entry.id for entry in self.undefined})
            sentences.append(f"Pairs without a score by some measure: {count:,}.")
        return tuple(sentences)

    def _charts(self) -> tuple[Chart, ...]:
        level = level_text(self.settings["level"])
        several = len(self.measures) > 1
        rows = [(f"{row.group}{f', {row.measure}' if several else ''}", row.preferred)
                for row in (*self.measures, *self.groups)]  # fmt: skip
        remark = f"Percent of pairs; lines: {level} intervals over {self.settings['unit']}. 50: neither is preferred"
        title = f"How often the first sentence is preferred: {self.what}"
        return (preference_chart("preferred", title, remark, "first preferred, %", rows),)


def score_pairs(
    model: ModelLike | Sequence[ModelLike],
    pairs: PairsOfSentences,
    *,
    measures: str | LikelihoodMeasure | Sequence[str | LikelihoodMeasure] | None = None,
    cluster: str | None = None,
    group: str | None = None,
    start: str | None = None,
    ties: Ties = "undefined",
    min_coverage: float = 0.8,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> PairPreferences:
    """Share of pairs of which a language model prefers the first sentence, with an interval over clusters of pairs.

    A pair is undefined, never neutral, where a sentence has no score: it is too long for the model, has no tokens, or
    the measure has no value for it. With several models, replicates of one, intervals are over replicates too.

    Args:
        model: a folder, a GGUF file, (model, tokenizer); several for replicates.
        pairs: a CSV file or a frame with columns first and second (or sent_more and sent_less), and, where there are
            any, id, cluster and group; or a list of (first, second).
        measures: one or several likelihood measures; by default "causal-mean" or "aul", by the kind of model.
        cluster: column that says which pairs are not independent (one template, one writer).
        group: column that says which pairs get numbers of their own.
        start: the token that a causal model reads first, such as "<|endoftext|>"; by default what parts documents, else
            the beginning of a text. Results say which it was.
        ties: what two equal scores count as.
        min_coverage: share of pairs that must be defined for a number to be.
        level: nominal coverage of the intervals.
        progress: called with (done, total).

    Raises:
        ParameterError: a setting cannot be used, or a measure does not fit the model.
        InputError: a file is not what it should be.
    """
    check_number(0, 1, min_coverage=min_coverage)
    check_level(level)
    check_choice(TIES, ties=ties)
    listed = read_pairs(pairs, cluster=cluster, group=group)
    scored = score_by_models(model, _sentences(listed), measures, progress, start)
    unit = "pairs" if all(pair.cluster == pair.identifier for pair in listed) else (cluster or "clusters")
    settings = {"ties": ties, "min_coverage": min_coverage, "level": level, "unit": unit, "start": scored.start}
    return preferences("Pairs of sentences", listed, scored, settings)


def _sentences(pairs: Sequence[SentencePair]) -> list[tuple[Sentence, ...]]:
    return [(Sentence(pair.first), Sentence(pair.second)) for pair in pairs]


def preferences(
    what: str, pairs: Sequence[SentencePair], scored: ScoredPairs, settings: JsonMapping, warnings: Sequence[str] = ()
) -> PairPreferences:
    """The result of some scores; `settings` holds ties, min_coverage, level and unit."""
    comparison = _PairComparison(pairs, scored, settings)

    def rows_by(labels: Sequence[str], levels: Iterable[str]) -> tuple[PreferenceScores, ...]:
        masks = {level: np.array(labels) == level for level in levels if level}
        return tuple(comparison.row(name, level, mask) for name in scored.tables for level, mask in masks.items())

    groups, directions = [pair.group for pair in pairs], [pair.direction for pair in pairs]
    rows = rows_by(["all"] * len(pairs), ["all"])
    by_group, by_direction = rows_by(groups, sorted(set(groups))), rows_by(directions, dict.fromkeys(directions))
    tied = sum(row.ties for row in rows)
    ties = [f"{tied:,} comparisons are ties: {TIES[settings['ties']]}."] if tied else []
    flips = tuple(comparison.flip(*names) for names in combinations(scored.tables, 2))
    return PairPreferences(
        what, rows, by_group, flips, comparison.undefined(), scored.models,
        {**settings, "measures": list(scored.tables), "pairs": len(pairs)}, (*warnings, *ties), comparison.scores(),
        by_direction,
    )  # fmt: skip


class _PairComparison:
    """Preferences between the sentences of some pairs, by every measure."""

    def __init__(self, pairs: Sequence[SentencePair], scored: ScoredPairs, settings: JsonMapping) -> None:
        self.pairs, self.scored = pairs, scored
        self.clusters = np.array([pair.cluster for pair in pairs])
        self.level, self.least, self.unit = settings["level"], settings["min_coverage"], settings["unit"]
        self.wins = {
            name: preferred(table[..., 0], table[..., 1], settings["ties"]) for name, table in scored.tables.items()
        }

    def row(self, name: str, group: str, chosen: Flags) -> PreferenceScores:
        """One row of the tables."""
        table, wins = self.scored.tables[name][:, chosen], self.wins[name][:, chosen]
        clusters, count = self.clusters[chosen], int(chosen.sum())
        gaps = np.where(np.isfinite(table).all(axis=2), table[..., 0] - table[..., 1], np.nan)
        share = self._percent(wins, clusters, "first preferred, %")
        difference = clustered_mean(gaps, clusters, statistic="mean difference", level=self.level, unit=self.unit)
        defined = float(np.isfinite(wins).mean()) if wins.size else 0.0
        if defined < self.least:
            reason = f"only {share_text(defined, 1)} of the pairs are defined ({share_text(self.least)} required)"
            share, difference = share.without(reason), difference.without(reason)
        tied = equal_scores(table[..., 0], table[..., 1])
        return PreferenceScores(
            name, group, share, difference, count, int(np.isfinite(wins).sum()), len(set(clusters.tolist())),
            int(tied.sum()), int((~np.isfinite(gaps)).sum()),
        )  # fmt: skip

    def _percent(self, hits: Floats, clusters: np.ndarray[Any, Any], statistic: str) -> Estimate:
        """Percent of hits with its interval over clusters; NaN is left out."""
        return clustered_mean(
            100 * hits, clusters, bounds=(0.0, 100.0), statistic=statistic, level=self.level, unit=self.unit
        )

    def flip(self, first: str, second: str) -> MeasureDisagreement:
        """Of two measures."""
        by_first, by_second = self.wins[first], self.wins[second]
        differ = np.where(np.isfinite(by_first) & np.isfinite(by_second), by_first != by_second, np.nan)
        estimate = self._percent(differ, self.clusters, "flipped, %")
        return MeasureDisagreement(first, second, estimate, int(np.isfinite(differ).sum()))

    def undefined(self) -> tuple[Undefined, ...]:
        """Pairs without a score, once for each reason."""
        lost = dict.fromkeys(
            (self.pairs[index].identifier, f"{name}: {reason}")
            for name, models in self.scored.reasons.items()
            for reasons in models
            for index, reason in sorted(reasons.items())
        )
        return tuple(Undefined(identifier, reason) for identifier, reason in lost)

    def scores(self) -> tuple[PairScore, ...]:
        """Every pair by every measure and model."""
        rows = []
        for name, table in self.scored.tables.items():
            for model, scores, reasons in zip(self.scored.models, table, self.scored.reasons[name], strict=True):
                for index, pair in enumerate(self.pairs):
                    first, second = (None if np.isnan(score) else float(score) for score in scores[index])
                    rows.append(PairScore(pair.identifier, name, model, first, second, reasons.get(index)))
        return tuple(rows)


def crows_pairs(
    data: str | os.PathLike[str],
    *,
    model: ModelLike | Sequence[ModelLike] | None = None,
    predictions: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    measures: str | LikelihoodMeasure | Sequence[str | LikelihoodMeasure] | None = None,
    as_published: bool = False,
    start: str | None = None,
    min_coverage: float = 0.8,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> PairPreferences:
    """Percent of CrowS-Pairs in which the more stereotypical sentence is preferred, with intervals over writers.

    Args:
        data: `crows_pairs_anonymized.csv`, compressed or not.
        model: a language model to score the pairs with; several for replicates.
        predictions: scores of the pairs in the place of a model: a CSV file with id, sent_more_score and
            sent_less_score; several for replicates.
        measures: one or several likelihood measures; by default "cps" for masked models, "causal-sum" and "causal-mean"
            for causal ones.
        as_published: as the released codes do: their own version of the measures, scores rounded to 3 decimals, ties
            left in the denominator.
        start: the token that a causal model reads first, such as "<|endoftext|>"; by default what parts documents, else
            the beginning of a text. Results say which it was.
        min_coverage: share of pairs that must be defined for a number to be.
        level: nominal coverage of the intervals.
        progress: called with (done, total).

    Raises:
        ParameterError: not exactly one of model and predictions is given, or a setting cannot be used.
        InputError: a file is not what it should be.
    """
    check_benchmark("CrowS-Pairs", model, predictions, min_coverage, level, measures=measures, start=start)
    pairs = read_pairs(data)
    ties: Ties = "published" if as_published else "undefined"
    unit = "writers" if any(pair.cluster != pair.identifier for pair in pairs) else "pairs"
    settings: JsonObject = {"ties": ties, "min_coverage": min_coverage, "level": level, "unit": unit}
    settings |= {"data": Path(data).name, "as_published": as_published}
    if predictions is not None:
        files = [predictions] if isinstance(predictions, str | os.PathLike) else list(predictions)
        tables = np.stack([read_pair_scores(file, [pair.identifier for pair in pairs]) for file in files])
        tables = np.round(tables, _DECIMALS) if as_published else tables
        lost = [{int(index): NO_SCORE for index in np.flatnonzero(~np.isfinite(table).all(axis=1))} for table in tables]
        scored = ScoredPairs({"predictions": tables}, {"predictions": lost}, tuple(Path(file).stem for file in files))
    elif model is not None:
        rules = _rules(measures, models_of(model)[0], released=as_published)
        scored = score_by_models(model, _sentences(pairs), rules, progress, start)
        settings |= {"start": scored.start}
    return preferences("CrowS-Pairs", pairs, scored, settings, (FAULTS,))


def _rules(
    measures: str | LikelihoodMeasure | Sequence[str | LikelihoodMeasure] | None, model: ModelLike, *, released: bool
) -> list[LikelihoodMeasure]:
    """Measures, each as released code has it where that is asked for and differs."""
    if measures is None:
        usual = {**DEFAULTS, "masked": "cps"}[kind_of(model)]
        measures = ("causal-sum", "causal-mean") if usual == "causal-mean" else usual
    listed = [measures] if isinstance(measures, str | LikelihoodMeasure) else list(measures)
    rules = [registry.get("likelihood_measure", measure) for measure in listed]
    return [registry.get("likelihood_measure", rule.released) if released and rule.released else rule for rule in rules]
