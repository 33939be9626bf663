"""Limits of detection: the smallest planted difference that the readings of a regression see in this text.

Clusters are dealt to two groups at random, and the odds of A against B around the targets of the second are multiplied:
words of B there become words of A. The regression is then fitted to `target ~ group`. The edits of `calibrate` would
not do: they set counts near a target to their quota, so that blanks would not vary as the counts of a text do. Limits
are those of `calibrate` (Currie 1968).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from biasgauge.analyses.regress.occurrences import embed_occurrences
from biasgauge.core import (
    REPORTED,
    Estimate,
    Flags,
    Floats,
    JsonMapping,
    JsonObject,
    Record,
    WordPolicy,
    WordsLike,
    check_number,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import words_of
from biasgauge.results import Chart, Column, RecordTable, Result, chart_of_rows, number_text
from biasgauge.stats import detection_between, wilson
from biasgauge.text import DocumentTable

if TYPE_CHECKING:
    from biasgauge.analyses.regress.contexts import ContextReader
    from biasgauge.analyses.regress.model import RegressionModel
    from biasgauge.analyses.regress.result import EmbeddingRegression
    from biasgauge.io import Progress
    from biasgauge.text import TokenCorpus

ODDS = (1.0, 2.0, 4.0, 10.0, 20.0)
"""Odds ratios that are planted by default."""
READINGS = {"norm": "embedding regression", "axis": "projection", "counts": "counts"}
REPORT = "verdict"


@dataclass(frozen=True)
class PlantedDifference(Record):
    """One reading at one planted difference.

    Attributes:
        reading: embedding regression, projection or counts; or verdict.
        odds: planted ratio of the odds of A against B in the second group to those in the first; 1: none.
        mean: mean of the estimates over the draws; None for verdicts.
        shown: share of draws with p < alpha; of verdicts, the share that report the difference as toward A.
        low, high: Wilson's interval of the share.
        draws: how many.
    """

    reading: str
    odds: float
    mean: float | None
    shown: float
    low: float | None
    high: float | None
    draws: int

    @property
    def share(self) -> Estimate:
        """The share with its interval."""
        return Estimate(value=self.shown, low=self.low, high=self.high, method="Wilson", over="draws", n=self.draws)


@dataclass(frozen=True)
class ReadingLimit(Record):
    """Limit of detection of one reading.

    Attributes:
        reading: embedding regression, projection or counts.
        log_odds: smallest log odds ratio of which 95 % of estimates lie beyond the limit of blank (Currie 1968); None
            where no planted difference reaches it.
        low, high: bootstrap interval over draws; without an upper end where it is not reached in some samples.
        odds: the limit as an odds ratio.
        blank: 95 % of estimates lie below it where there is no difference.
        reason: why there is no limit, or no end.
    """

    reading: str
    log_odds: float | None
    low: float | None
    high: float | None
    odds: float | None
    blank: float
    reason: str | None = None

    @property
    def limit(self) -> Estimate:
        """The limit with its interval."""
        return Estimate(
            value=self.log_odds, low=self.low, high=self.high, method="percentile bootstrap", over="draws",
            reason=self.reason,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class RegressionLimits(Result):
    """Smallest differences between two groups of documents that a regression detects in this text.

    Attributes:
        limits: of each reading.
        points: each reading at each planted difference.
        occurrences: of the targets.
        settings: everything that decides the numbers.
        warnings: draws that could not be planted.
    """

    tables: ClassVar[tuple[str, ...]] = ("limits", "points")
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "limits",
            "Limits of detection",
            (
                "reading",
                Column("limit (log odds)", "estimate", source="limit"),
                Column("limit (odds ratio)", "number", 1, source="odds"),
                Column("limit of blank", "number", 3, source="blank"),
            ),
        ),
        RecordTable(
            "points",
            "Share of draws that show the difference",
            (
                "reading",
                Column("odds ratio", "number", 1, source="odds"),
                Column("mean estimate", "number", 3, source="mean"),
                Column("shown", "estimate", source="share"),
                Column("draws", "count"),
            ),
        ),
    )

    limits: tuple[ReadingLimit, ...]
    points: tuple[PlantedDifference, ...]
    occurrences: int
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def _title(self) -> str:
        return "Limits of detection of the regression"

    def _headline(self) -> str:
        texts = [
            f"{row.reading}: an odds ratio of {number_text(row.odds, 1)}"
            if row.odds is not None
            else f"{row.reading}: not even {number_text(max(point.odds for point in self.points), 1)}"
            for row in self.limits
        ]
        return f"With {self.occurrences:,} occurrences in {self.settings['clusters']:,} clusters, {'; '.join(texts)}."

    def _sentences(self) -> list[str]:
        draws = self.settings["draws"]
        return [f"Odds of A against B around the targets, of one half of the clusters to the other; {draws} halves."]

    def _charts(self) -> Sequence[Chart]:
        rows = [
            {"what": f"{point.odds:g} : 1", "share": point.shown, "low": point.low, "high": point.high,
             "reading": point.reading}
            for point in self.points
        ]  # fmt: skip
        remark = "Share of random halves in which a planted difference is shown, by its odds ratio; 1 : 1 is none."
        title, axis = "What a planted difference shows", "share of halves in which it is shown"
        chart = chart_of_rows(
            "detection", title, remark, axis, rows, number="share", color="reading", offset="reading"
        )  # fmt: skip
        return [chart]


def planted_limits(
    fit: EmbeddingRegression, model: RegressionModel, a: WordsLike, b: WordsLike, *, odds: Sequence[float], draws: int,
    permutations: int, random_state: int, progress: Progress | None,
) -> RegressionLimits:  # fmt: skip
    """Plant differences in random halves of the clusters, and estimate the limits of detection of all readings.

    Raises:
        ParameterError: odds are impossible, or there are too few clusters or words to plant with.
    """
    from biasgauge.analyses.regress.analysis import FitSettings, fit_regression  # imports this module
    from biasgauge.analyses.regress.formulas import parse_formula

    check_whole(4, draws=draws)
    for ratio in odds:
        check_number(1, 1000, odds=ratio)
    levels = sorted(set(odds))
    if len(levels) < 2 or levels[0] != 1.0:
        raise ParameterError("The 'odds' parameter must hold 1 (no difference) and larger odds ratios.")
    present = frozenset(model.reader.corpus.words)
    sides = [[word for word in words_of(side).words if word in present] for side in (a, b)]
    if not all(sides):
        raise ParameterError("The text has no word of A, or none of B, so that nothing can be planted.")
    targets = [target.word for target in fit.targets if target.occurrences]
    formula = parse_formula(f"{' + '.join(map(repr, targets))} ~ group")
    settings = FitSettings(
        cluster=None if fit.settings["cluster"] is None else "cluster", a=sides[0], b=sides[1],
        permutations=permutations, smallest=float(fit.settings["smallest"]), level=float(fit.settings["level"]),
        policy=WordPolicy(min_coverage=0.0), is_sample=model.is_sample,
    )  # fmt: skip
    outcomes = _Outcomes(levels, 1 - settings.level)
    for draw in range(draws):
        generator = np.random.default_rng([random_state, 19, draw])
        for number, (table, reader) in enumerate(_planted_texts(model, targets, sides, levels, generator)):
            embedded = embed_occurrences(reader, model.transform.matrix, targets)
            try:
                refitted = fit_regression(
                    table, reader, model.vectors, model.transform, embedded, formula,
                    replace(settings, random_state=draw),
                )  # fmt: skip
                outcomes.add(draw, number, refitted)
            except ParameterError as problem:
                outcomes.refused[f"a draw was left out: {problem}"] = None
            if progress is not None:
                progress(draw * len(levels) + number + 1, draws * len(levels))
    record: JsonObject = {
        "draws": draws, "odds": levels, "clusters": len(np.unique(model.clusters)),
        "random_state": random_state, "permutations": permutations, "level": settings.level, "a": sides[0],
        "b": sides[1],
    }  # fmt: skip
    points, limits = outcomes.points(settings.level), outcomes.limits(settings.level, random_state)
    return RegressionLimits(limits, points, model.occurrences.total, record, tuple(outcomes.refused))


class _Outcomes:
    """Estimates and p-values of all draws.

    Attributes:
        levels: odds ratios.
        alpha: of the tests.
        values: by reading, for each odds ratio, draws and estimates.
        shown: by reading, for each odds ratio, whether each draw shows the difference.
        refused: why draws were left out.
    """

    def __init__(self, levels: Sequence[float], alpha: float) -> None:
        self.levels = levels
        self.alpha = alpha
        self.values: dict[str, list[list[tuple[float, float]]]] = {kind: [[] for _ in levels] for kind in READINGS}
        self.shown: dict[str, list[list[bool]]] = {kind: [[] for _ in levels] for kind in (*READINGS, REPORT)}
        self.refused: dict[str, None] = {}

    def add(self, draw: int, number: int, fit: EmbeddingRegression) -> None:
        """Add the fit of a draw at one of the odds ratios."""
        for kind, estimate, p in _estimates(fit):
            self.values[kind][number].append((draw, estimate))
            self.shown[kind][number].append(p <= self.alpha)
        (verdict,) = fit.verdicts
        self.shown[REPORT][number].append(verdict.decision in REPORTED and " A " in f"{verdict.claim} ")

    def points(self, level: float) -> tuple[PlantedDifference, ...]:
        """Shares of draws that show each difference."""
        points = []
        for kind, by_level in self.shown.items():
            for number, flags in enumerate(by_level):
                if flags:
                    values = [value for _, value in self.values.get(kind, self.values["norm"])[number]]
                    mean = float(np.mean(values)) if kind in self.values else None
                    share = wilson(float(np.mean(flags)), len(flags), level, over="draws")
                    name = READINGS.get(kind, kind)
                    odds, ends = self.levels[number], (share.low, share.high)
                    points.append(PlantedDifference(name, odds, mean, float(np.mean(flags)), *ends, len(flags)))
        return tuple(points)

    def limits(self, level: float, random_state: int) -> tuple[ReadingLimit, ...]:
        """Limits of the readings that have estimates at every odds ratio."""
        limits = []
        for kind, by_level in self.values.items():
            if all(len(rows) > 1 for rows in by_level):
                rows = [np.array(values) for values in by_level]
                found = detection_between(np.log(self.levels), rows, level=level, random_state=random_state)
                limit = found.detection
                odds = None if limit.value is None else exp(limit.value)
                limits.append(ReadingLimit(
                    READINGS[kind], limit.value, limit.low, limit.high, odds, found.blank, limit.reason
                ))  # fmt: skip
        return tuple(limits)


def _estimates(fit: EmbeddingRegression) -> Iterator[tuple[str, float, float]]:
    """Yield estimate and p of each reading that has both."""
    norm = fit.terms[0]
    if norm.p is not None and norm.estimate.value is not None:
        yield "norm", norm.estimate.value, norm.p
    for kind, rows in (("axis", fit.axis_terms), ("counts", fit.count_terms)):
        if rows and rows[0].p is not None and rows[0].estimate is not None:
            yield kind, rows[0].estimate, rows[0].p


def _planted_texts(
    model: RegressionModel, targets: Sequence[str], sides: Sequence[Sequence[str]], levels: Sequence[float],
    generator: np.random.Generator,
) -> Iterator[tuple[DocumentTable, ContextReader]]:  # fmt: skip
    """Deal the clusters to two groups; yield the text with each difference planted in the second, and its reader."""
    import pandas as pd

    corpus = model.reader.corpus
    codes = np.unique(model.complete_clusters, return_inverse=True)[1]
    if codes.max(initial=0) < 3:
        raise ParameterError("Limits of detection need at least four clusters to deal to two groups.")
    is_second = generator.permutation(int(codes.max()) + 1) % 2 == 1
    cells = np.full((2, len(model.ids)), None, object)
    cells[:, model.complete] = np.where(is_second[codes], "second", "first"), codes.astype(str)
    covariates = pd.DataFrame({"group": cells[0], "cluster": cells[1]})
    lengths = np.diff(corpus.lines[corpus.documents])
    positions = _Positions(corpus, targets, sides, model.reader.window, np.repeat(cells[0] == "second", lengths))
    draws = positions.draw(generator)
    for ratio in levels:
        tokens = positions.plant(ratio, *draws)
        planted = replace(corpus, tokens=tokens, counts=np.bincount(tokens, minlength=len(corpus.words)))
        reader = copy.copy(model.reader)
        reader.corpus = planted
        yield DocumentTable(planted, covariates, model.ids), reader


class _Positions:
    """Words of A and B near the targets in the second group.

    Attributes:
        near_a: number of words of A near the targets.
        near_b: positions of words of B near them.
        pool: all words of A of the text, each as often as it occurs.
    """

    def __init__(
        self, corpus: TokenCorpus, targets: Sequence[str], sides: Sequence[Sequence[str]], window: int, second: Flags
    ) -> None:
        self._tokens = np.asarray(corpus.tokens)
        index = {word: row for row, word in enumerate(corpus.words)}
        is_target, is_a, is_b = (
            np.isin(self._tokens, [index[word] for word in words]) for words in (targets, *sides)
        )  # fmt: skip
        places = np.flatnonzero(is_target)
        line = np.searchsorted(corpus.lines, places, "right")
        steps = np.zeros(len(self._tokens) + 1, np.int64)  # +1 where a window begins, −1 behind its end
        np.add.at(steps, np.maximum(places - window, corpus.lines[line - 1]), 1)
        np.add.at(steps, np.minimum(places + window + 1, corpus.lines[line]), -1)
        near = (np.cumsum(steps)[:-1] > 0) & second
        self.near_a = int((near & is_a).sum())
        self.near_b = np.flatnonzero(near & is_b)
        self.pool = self._tokens[is_a]

    def draw(self, generator: np.random.Generator) -> tuple[Floats, NDArray[np.uint32]]:
        """Draw the order in which words of B give way, and the words of A that take their places."""
        return generator.random(len(self.near_b)), generator.choice(self.pool, len(self.near_b))

    def plant(self, odds: float, order: Floats, replacements: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Multiply the odds of A near the targets.

        Each word of B gives way with the probability q that solves (A + qB) / (B − qB) = odds · A / B, so that counts
        vary as in a text in which the odds are what they are. Without a word of A near the targets, as if ½ were there.
        """
        before, count = max(self.near_a, 0.5), len(self.near_b)
        chosen = order < (odds - 1) * before / max(count + odds * before, 1.0)
        tokens = self._tokens.copy()
        tokens[self.near_b[chosen]] = replacements[chosen]
        return tokens
