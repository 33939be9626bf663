"""`score_pairs`: which of two sentences does a language model prefer? For the user's own pairs of sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from biasgauge.analyses.likelihood.benchmark_scores import measure_named, models_of, open_model, score_pair_list
from biasgauge.analyses.likelihood.context_association.result import Undefined
from biasgauge.analyses.likelihood.measure import LikelihoodMeasure
from biasgauge.analyses.likelihood.models import ModelLike, Sentence, language_model
from biasgauge.analyses.likelihood.preferences import TIES, Ties, equal_scores, preferred
from biasgauge.analyses.likelihood.sentence_pairs.files import PairsOfSentences, SentencePair, read_pairs
from biasgauge.analyses.likelihood.sentence_pairs.result import Flip, PairPreferences, PairScore, PreferenceScores
from biasgauge.core import Floats, JsonMapping, check_choice, check_level, check_number
from biasgauge.errors import ParameterError
from biasgauge.results import share_text
from biasgauge.stats import clustered_mean

_PERCENT = 100.0


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
    """How often a language model prefers the first of two sentences, with an interval over clusters of pairs.

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
    scored = score_by_models(model, listed, measures, progress, start)
    settings = {
        "ties": ties, "min_coverage": min_coverage, "level": level, "unit": unit_of(listed, cluster),
        "start": scored.start,
    }  # fmt: skip
    return preferences("Pairs of sentences", listed, scored, settings)


class ScoredPairs(NamedTuple):
    """Scores by measure: models × pairs × 2, with reasons by model and place; and what causal models read first."""

    tables: Mapping[str, Floats]
    reasons: Mapping[str, Sequence[Mapping[int, str]]]
    models: tuple[str, ...]
    start: str | None = None


def score_by_models(
    models: ModelLike | Sequence[ModelLike],
    pairs: Sequence[SentencePair],
    measures: str | LikelihoodMeasure | Sequence[str | LikelihoodMeasure] | None,
    progress: Callable[[int, int], None] | None,
    start: str | None = None,
) -> ScoredPairs:
    """Scores of pairs by every model and measure; each model is loaded once, and let go before the next."""
    sources = models_of(models)
    listed: Sequence[str | LikelihoodMeasure | None]
    listed = [measures] if measures is None or isinstance(measures, str | LikelihoodMeasure) else measures
    rules = [measure_named(measure, sources[0]) for measure in listed]
    if not rules or len({rule.name for rule in rules}) < len(rules):
        raise ParameterError("Measures must be distinct, and at least one.")
    texts = [(Sentence(pair.first), Sentence(pair.second)) for pair in pairs]
    tables: dict[str, list[Floats]] = {rule.name: [] for rule in rules}
    reasons: dict[str, list[Mapping[int, str]]] = {rule.name: [] for rule in rules}
    names, read_first = [], None
    for count, source in enumerate(sources):
        language = open_model(source, rules[0], start)
        for at, rule in enumerate(rules):
            open_model(language, rule)

            def told(done: int, total: int, before: int = count * len(rules) + at) -> None:
                if progress is not None:
                    progress(before * total + done, len(sources) * len(rules) * total)

            table = score_pair_list(language_model(language), texts, rule, told)
            tables[rule.name].append(table.scores)
            reasons[rule.name].append(table.reasons)
        names.append(language.name)
        read_first = language.start_token
    return ScoredPairs({name: np.stack(rows) for name, rows in tables.items()}, reasons, _distinct(names), read_first)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names) if len(set(names)) == len(names) else tuple(f"{name} {at + 1}" for at, name in enumerate(names))


def unit_of(pairs: Sequence[SentencePair], cluster: str | None = None) -> str:
    """What a cluster of these pairs is called."""
    return "pairs" if all(pair.cluster == pair.identifier for pair in pairs) else (cluster or "clusters")


def preferences(
    what: str,
    pairs: Sequence[SentencePair],
    scored: ScoredPairs,
    settings: JsonMapping,
    warnings: Sequence[str] = (),
) -> PairPreferences:
    """The result of some scores; `settings` holds ties, min_coverage, level and unit."""
    judge = _Judge(pairs, scored, settings)
    groups = dict.fromkeys(pair.group for pair in pairs if pair.group)
    rows = tuple(judge.row(name, "all", np.ones(len(pairs), bool)) for name in scored.tables)
    by_group = tuple(
        judge.row(name, group, np.array([pair.group == group for pair in pairs]))
        for name in scored.tables
        for group in sorted(groups)
    )
    by_direction = tuple(
        judge.row(name, direction, np.array([pair.direction == direction for pair in pairs]))
        for name in scored.tables
        for direction in dict.fromkeys(pair.direction for pair in pairs if pair.direction)
    )
    tied = sum(row.ties for row in rows)
    told = [f"{tied:,} comparisons are ties: {TIES[settings['ties']]}."] if tied else []
    flips = tuple(judge.flip(*names) for names in combinations(scored.tables, 2))
    return PairPreferences(
        what, rows, by_group, flips, judge.undefined(), scored.models,
        {**settings, "measures": list(scored.tables), "pairs": len(pairs)}, (*warnings, *told), judge.scores(),
        by_direction,
    )  # fmt: skip


class _Judge:
    """Numbers of some pairs by some measure."""

    def __init__(self, pairs: Sequence[SentencePair], scored: ScoredPairs, settings: JsonMapping) -> None:
        self.pairs, self.scored = pairs, scored
        self.clusters = np.array([pair.cluster for pair in pairs])
        self.level, self.least, self.unit = settings["level"], settings["min_coverage"], settings["unit"]
        self.wins = {
            name: preferred(table[..., 0], table[..., 1], settings["ties"]) for name, table in scored.tables.items()
        }

    def row(self, name: str, group: str, chosen: np.ndarray[Any, np.dtype[np.bool_]]) -> PreferenceScores:
        """One row of the tables."""
        table, wins = self.scored.tables[name][:, chosen], self.wins[name][:, chosen]
        clusters, count = self.clusters[chosen], int(chosen.sum())
        gaps = np.where(np.isfinite(table).all(axis=2), table[..., 0] - table[..., 1], np.nan)
        about: dict[str, Any] = {"level": self.level, "unit": self.unit}
        share = clustered_mean(
            _PERCENT * wins, clusters, bounds=(0.0, _PERCENT), statistic="first preferred, %", **about
        )
        difference = clustered_mean(gaps, clusters, statistic="mean difference", **about)
        defined = float(np.isfinite(wins).mean()) if wins.size else 0.0
        if defined < self.least:
            reason = f"only {share_text(defined, 1)} of the pairs are defined ({share_text(self.least)} required)"
            share, difference = share.without(reason), difference.without(reason)
        tied = equal_scores(table[..., 0], table[..., 1])
        return PreferenceScores(
            name, group, share, difference, count, int(np.isfinite(wins).sum()), len(set(clusters.tolist())),
            int(tied.sum()), int((~np.isfinite(gaps)).sum()),
        )  # fmt: skip

    def flip(self, first: str, second: str) -> Flip:
        """Of two measures."""
        by_first, by_second = self.wins[first], self.wins[second]
        differ = np.where(np.isfinite(by_first) & np.isfinite(by_second), by_first != by_second, np.nan)
        estimate = clustered_mean(
            _PERCENT * differ,
            self.clusters,
            level=self.level,
            bounds=(0.0, _PERCENT),
            unit=self.unit,
            statistic="flipped, %",
        )
        return Flip(first, second, replace(estimate), int(np.isfinite(differ).sum()))

    def undefined(self) -> tuple[Undefined, ...]:
        """Pairs without a score, once for each reason."""
        lost = dict.fromkeys(
            (self.pairs[place].identifier, f"{name}: {reason}")
            for name, models in self.scored.reasons.items()
            for reasons in models
            for place, reason in sorted(reasons.items())
        )
        return tuple(Undefined(identifier, reason) for identifier, reason in lost)

    def scores(self) -> tuple[PairScore, ...]:
        """Every pair by every measure and model."""
        return tuple(
            PairScore(pair.identifier, name, model, _plain(row[0]), _plain(row[1]), reason)
            for name, table in self.scored.tables.items()
            for model, rows, reasons in zip(self.scored.models, table, self.scored.reasons[name], strict=True)
            for pair, row, reason in zip(self.pairs, rows, map(reasons.get, range(len(rows))), strict=True)
        )


def _plain(score: float) -> float | None:
    return None if np.isnan(score) else float(score)
