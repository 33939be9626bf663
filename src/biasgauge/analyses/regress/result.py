"""`EmbeddingRegression`: what `regress` returns, its sentences, tables and charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge._version import __version__
from biasgauge.analyses.regress.detection import ODDS, RegressionLimits, planted_limits
from biasgauge.analyses.regress.model import RegressionModel
from biasgauge.analyses.regress.neighbors import NearestWords, Neighbors, nearest_words, neighbor_ratios
from biasgauge.analyses.regress.readings import ROWS, AssociationReading, read_axis, read_counts
from biasgauge.analyses.regress.rows import TargetCount, TermEffect, TermNorm
from biasgauge.analyses.regress.typical_contexts import TypicalContexts, typical_contexts
from biasgauge.audits import Verdict
from biasgauge.core import DEFAULT_POLICY, REPORTED, Decision, Floats, JsonMapping, WordPolicy, WordsLike
from biasgauge.errors import ParameterError
from biasgauge.results import (
    Chart,
    Column,
    Listing,
    RecordTable,
    Result,
    Summary,
    Table,
    Tone,
    chart_of_rows,
    counted,
    level_text,
    number_text,
    words_text,
)
from biasgauge.stats import on_one_thread

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.io import Progress

_NORM_COLUMNS = (
    "term",
    Column("squared norm", "number", 3, source="norm2"),
    Column("bias", "number", 3, source="norm2_bias"),
    Column("corrected", "number", 3, source="norm2_corrected"),
    Column("corrected for clusters", "estimate", 3, source="estimate"),
    Column("p", "p"),
    Column("occurrences", "count", source="n"),
)


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingRegression(Result):
    """The use of target words by covariates of documents, in three readings of the same occurrences.

    Attributes:
        formula: the formula.
        targets: target words and their occurrences.
        terms: the full regression: squared norm of the coefficient of each term.
        axis_terms: projection on the axis from B to A; empty without attribute lists. In JSON `axis`.
        background_terms: the same, of occurrences less the mean of all words of their documents. In JSON
            `axis_background`.
        count_terms: log odds of A against B near the targets, from counts; empty without attribute lists. In JSON
            `counts`.
        verdicts: may it be said that the targets differ by a term? One per term.
        speakers: reading that the verdict on each term rests on: "norm", "axis" or "counts".
        attributes: of both readings of the association, words of A and B, words that are lost, and why there is none.
        transform: dimensions of the transformation, its recovery of known vectors, and how it was made.
        settings: everything that decides the numbers.
        warnings: limitations of the text and the lists.
        model: what all readings are computed from; not in files.
    """

    tables: ClassVar[tuple[str, ...]] = ("terms",)
    renamed: ClassVar[Mapping[str, str]] = {
        "axis_terms": "axis", "background_terms": "axis_background", "count_terms": "counts",
    }  # fmt: skip
    hidden: ClassVar[frozenset[str]] = frozenset({"model"})

    formula: str
    targets: tuple[TargetCount, ...]
    terms: tuple[TermNorm, ...]
    axis_terms: tuple[TermEffect, ...]
    count_terms: tuple[TermEffect, ...]
    verdicts: tuple[Verdict, ...]
    speakers: Mapping[str, str]
    attributes: JsonMapping
    transform: JsonMapping
    settings: JsonMapping
    background_terms: tuple[TermEffect, ...] = ()
    warnings: tuple[str, ...] = ()
    model: RegressionModel | None = None

    @property
    def coefficients(self) -> pd.DataFrame:
        """Coefficients: a row per column of the design, a column per dimension."""
        import pandas as pd

        model = self._computed
        return pd.DataFrame(model.coefficients, index=list(model.design.columns))

    @property
    def decision(self) -> Decision:
        """Decision on the first term; `verdicts` has all."""
        return self.verdicts[0].decision

    @property
    def _computed(self) -> RegressionModel:
        if self.model is None:
            raise ParameterError("A result that was read from a file holds its numbers alone; run regress again.")
        return self.model

    @property
    def _level(self) -> float:
        return float(self.settings["level"])

    def predict(self, values: Mapping[str, Any] | None = None, **more: Any) -> Floats:  # noqa: ANN401 - covariates
        """Embedding of the targets at chosen values of covariates; over the others it is a mean over occurrences.

        Raises:
            ParameterError: a covariate or a value is not in the data.
        """
        model = self._computed
        embedding: Floats = model.design.row({**(values or {}), **more}) @ model.coefficients
        return embedding

    def axis(self, a: WordsLike, b: WordsLike, *, policy: WordPolicy = DEFAULT_POLICY) -> AssociationReading:
        """Regress the projection of occurrences on the axis from B to A: one number each, ordinary least squares.

        Args:
            a: words at the positive end.
            b: words at the negative end.
            policy: how words are looked up in the vectors, and how many must be there.

        Raises:
            ParameterError: the vectors have too few words of A or B, or a word is in both.
        """
        with on_one_thread():
            return read_axis(self._computed, a, b, policy, self._level)

    def counts(self, a: WordsLike, b: WordsLike) -> AssociationReading:
        """Regress the log odds ratio of A against B near the targets, from counts alone.

        Args:
            a: words of the first group.
            b: words of the second group.

        Raises:
            ParameterError: a word is in both.
        """
        with on_one_thread():
            return read_counts(self._computed, [target.word for target in self.targets], a, b, self._level)

    def nearest(
        self, values: Mapping[str, Any], *, candidates: WordsLike | None = None, most: int = 20, resamples: int = 500,
        random_state: int = 0,
    ) -> NearestWords:  # fmt: skip
        """Words nearest to the embedding of the targets at chosen values of covariates.

        Args:
            values: values of covariates.
            candidates: words that may be neighbors; by default as in `neighbors`.
            most: how many.
            resamples: bootstrap samples of clusters.
            random_state: seed of the bootstrap.

        Raises:
            ParameterError: a covariate or a value is not in the data.
        """
        with on_one_thread():
            return nearest_words(
                self._computed, values, candidates=candidates, most=most, resamples=resamples,
                random_state=random_state, level=self._level,
            )  # fmt: skip

    def neighbors(
        self, first: Mapping[str, Any], second: Mapping[str, Any], *, candidates: WordsLike | None = None,
        most: int = 20, resamples: int = 500, random_state: int = 0,
    ) -> Neighbors:  # fmt: skip
        """Words that are near the targets at the first values of covariates rather than at the second.

        Args:
            first: values of covariates.
            second: the values that they are compared with.
            candidates: words that may be neighbors; by default the words of the text, without the targets, that have
                vectors and occur at least ten times.
            most: nearest words of each side.
            resamples: bootstrap samples of clusters.
            random_state: seed of the bootstrap.

        Raises:
            ParameterError: a covariate or a value is not in the data.
        """
        with on_one_thread():
            return neighbor_ratios(
                self._computed, first, second, candidates=candidates, most=most, resamples=resamples,
                random_state=random_state, level=self._level,
            )  # fmt: skip

    def detection(
        self, a: WordsLike, b: WordsLike, *, odds: Sequence[float] = ODDS, draws: int = 20, permutations: int = 199,
        random_state: int = 0, progress: Progress | None = None,
    ) -> RegressionLimits:  # fmt: skip
        """Estimate the smallest difference between two halves of this text that each reading detects.

        Clusters are dealt to two groups at random, and differences of known size are planted around the targets.

        Args:
            a: words of the first group.
            b: words of the second group.
            odds: planted ratios of the odds of A against B between the groups, 1 among them.
            draws: random halves.
            permutations: draws of the test of each norm.
            random_state: seed.
            progress: called with (done, total).

        Raises:
            ParameterError: odds are impossible, or there are too few clusters or words to plant with.
        """
        return planted_limits(
            self, self._computed, a, b, odds=odds, draws=draws, permutations=permutations, random_state=random_state,
            progress=progress,
        )  # fmt: skip

    def contexts(self, values: Mapping[str, Any], *, most: int = 10, text: bool = False) -> TypicalContexts:
        """Occurrences whose embeddings are nearest to that of the targets at chosen values of covariates.

        Args:
            values: values of covariates; occurrences are those of documents that have these values of factors.
            most: how many.
            text: whether to show the words around each; otherwise documents and positions alone.

        Raises:
            ParameterError: a covariate or a value is not in the data.
        """
        words = [target.word for target in self.targets]
        with on_one_thread():
            return typical_contexts(self._computed, words, values, most=most, show_text=text)

    def summary(self) -> Summary:
        """The verdicts first, then the three readings side by side."""
        first = self.verdicts[0] if len(self.verdicts) == 1 else None
        listings = (Listing("Methods paragraph", regression_methods(self)),)
        summary = replace(super().summary(), tables=tuple(t for t in self._tables() if t.rows), listings=listings)
        return summary if first is None else replace(summary, mark=first.decision, tone=first.style.tone)

    def derived(self) -> JsonMapping:
        """The answers in words."""
        return {
            "decision": self.decision, "headline": self._headline(), "methods": regression_methods(self),
            "sentences": [verdict.sentence for verdict in self.verdicts],
        }  # fmt: skip

    def _title(self) -> str:
        return f"Embedding regression: {self.formula}"

    def _headline(self) -> str:
        if len(self.verdicts) == 1:
            (verdict,) = self.verdicts
            answer = verdict.claim or f"{verdict.title[:1].lower()}{verdict.title[1:]}"
            decision = verdict.decision.replace("-", " ").capitalize()
            return f"{decision}: {answer}{'' if answer.endswith('?') else '.'}"
        reported = [verdict for verdict in self.verdicts if verdict.decision in REPORTED]
        names = f": {words_text([verdict.question for verdict in reported])}" if reported else ""
        return f"{len(reported)} of {len(self.verdicts)} differences may be reported{names}."

    def _sentences(self) -> Sequence[str]:
        sentences = [verdict.sentence for verdict in self.verdicts]
        if self.axis_terms:
            sentences.append(
                "Projection and counts are both tested and adjusted for each other; of a term the one with the smaller "
                "p answers."
            )
        else:
            sentences.append("The embedding regression says whether the targets are used differently, not in what way.")
        if self.count_terms and self.axis_terms:
            agree = sum(
                (count.estimate or 0) * (axis.estimate or 0) > 0
                for count, axis in zip(self.count_terms, self.axis_terms, strict=True)
            )
            sentences.append(f"Counts and projection have the same direction in {agree} of {len(self.terms)} terms.")
        cluster = self.settings["cluster"]
        clusters = "documents" if cluster is None else f"clusters of documents ({cluster})"
        sentences.append(f"Errors generalize over {self.settings['clusters']:,} {clusters}.")
        return sentences

    def _side_by_side(self) -> Table:
        """The decision on each term, and the three readings."""
        tones: dict[str, Tone] = {verdict.decision: verdict.style.tone for verdict in self.verdicts}
        readings = (Column(name, "estimate", 3) for name in ("norm", "projection", "counts"))
        effects = [{row.term: row.interval for row in rows} for rows in (self.axis_terms, self.count_terms)]
        rows = [
            (norm.term, verdict.decision, norm.estimate, *(found.get(norm.term) for found in effects))
            for norm, verdict in zip(self.terms, self.verdicts, strict=True)
        ]
        note = "Norms are squared and corrected for clusters; a positive projection or log odds ratio leans to A."
        columns = ("term", Column("decision", "mark", tones=tones), *readings)
        return Table.of("verdicts", "Verdicts, and the readings side by side", columns, rows, note=note)

    def _tables(self) -> Iterator[Table]:
        if self.axis_terms or self.count_terms:
            yield self._side_by_side()
        yield RecordTable("terms", "Embedding regression: squared norms", _NORM_COLUMNS).fill(self)
        yield RecordTable("axis_terms", "Projection on the axis from B to A", ROWS).fill(self)
        title = "Projection relative to the mean of all words of the documents"
        yield RecordTable("background_terms", title, ROWS).fill(self)
        yield RecordTable("count_terms", "Log odds ratio of A against B, from counts", ROWS).fill(self)
        targets = (
            "word", Column("occurrences", "count"), Column("documents", "count"),
            Column("without vectors", "count"), Column("incomplete", "count"),
        )  # fmt: skip
        yield RecordTable("targets", "Target words", targets).fill(self)

    def _charts(self) -> Sequence[Chart]:
        charts = []
        for name, title, rows, axis in (
            ("axis", "Projection on the axis", self.axis_terms, "← B · difference of the projection · A →"),
            ("counts", "Log odds from counts", self.count_terms, "← B · difference of log odds · A →"),
        ):
            drawn = [
                {"what": row.term, "effect": row.estimate, "low": row.low, "high": row.high}
                for row in rows
                if row.low is not None
            ]
            if drawn:
                charts.append(chart_of_rows(name, title, "Each term with its interval.", axis, drawn, number="effect"))
        drawn = [
            {"what": row.term, "norm": row.estimate.value, "low": row.low, "high": row.high}
            for row in self.terms
            if row.low is not None
        ]
        if drawn and not charts:
            axis = "squared norm, corrected for clusters"
            charts.append(chart_of_rows("norms", "Squared norms", "Each term.", axis, drawn, number="norm"))
        return charts


def regression_methods(result: EmbeddingRegression) -> str:
    """Methods section of a regression, made from its settings."""
    settings = result.settings
    words = words_text([target.word for target in result.targets], 5)
    n = sum(target.occurrences for target in result.targets)
    covariates = result.formula.partition("~")[2].strip()
    recovery = result.transform.get("recovery")
    source = (
        "the transformation matrix given to the program"
        if recovery is None
        else f"a transformation matrix estimated on {result.transform['tokens']:,} tokens (cosine with held-out "
        f"vectors {number_text(recovery['cosine'])})"
    )
    draws = f"p by {result.terms[0].p_method or 'permutation'} ({settings['permutations']:,} draws)"
    embedding = (
        f"We embedded {counted(n, 'occurrence')} of {words} à la carte (Khodak et al. 2018; Rodriguez, Spirling & "
        f"Stewart 2023) with biasgauge {__version__}: {source} times the mean of the {settings['vectors']} vectors "
        f"of the words within {settings['window']} words."
    )
    regression = (
        f"Embeddings were regressed on {covariates}; squared norms of coefficients are corrected for their bias (Green "
        f"et al. 2025), with {level_text(settings['level'])} jackknife intervals over clusters and {draws}."
    )
    sentences = [embedding, regression]
    if result.axis_terms or result.count_terms:
        sentences.append(
            "The association was read from the projection of each occurrence on the axis between the attribute lists, "
            "and from counts of their words near the targets (logistic regression of log odds ratios), both with "
            "cluster-robust errors (CR2, Satterthwaite's degrees of freedom)."
        )
    if len(result.verdicts) > 1:
        sentences.append("p-values were adjusted for all terms and readings (Holm).")
    return " ".join(sentences)
