"""`bayes`: vectors and a lexicon, or distances, to the `Posterior` of the model of cosine distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from biasgauge.analyses.posterior.connections import (
    MEAN,
    P_DIRECTION,
    ConnectionContrast,
    MeanDistance,
    contrasts,
    labeled_means,
    means_frame,
)
from biasgauge.analyses.posterior.draws import Draws, Sampler, fit, inference_data, no_draws
from biasgauge.analyses.posterior.estimates import Diagnostics
from biasgauge.analyses.posterior.figures import posterior_charts, word_chart
from biasgauge.analyses.posterior.predictive import PredictiveCheck, check_predictions, check_simulated
from biasgauge.analyses.posterior.priors import VARIANTS, Priors, PriorsLike, Variant, priors_of
from biasgauge.analyses.posterior.sources import table_of
from biasgauge.analyses.posterior.table import NO_DISTANCES, DistancesLike, DistanceTable, Duplicates, cells_of
from biasgauge.core import EXACT_POLICY, JsonMapping, JsonObject, WordPolicy, check_choice, check_number, check_object
from biasgauge.errors import ParameterError
from biasgauge.results import Chart, Column, RecordTable, Result, Summary, number_text, share_text
from biasgauge.stats import Credible, IntervalKind
from biasgauge.vectors import each_model

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.analyses.posterior.nuts import CustomModel
    from biasgauge.core import LexiconLike, WordsLike

CAUTION = "the sampler's diagnostics failed, do not rely on these numbers"
_PREDICTIVE_STREAM = 9
_NOTHING = {"within_50": None, "within_89": None, "reason": "no connection could be fitted"}


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Result):
    """The posterior of the model of cosine distances.

    Its JSON holds neither the distances nor the draws. Read back, it has its numbers, its sentences and its tables;
    predictions, figures of single words, `loo` and `plan_attributes` need draws or distances and raise an error.

    Attributes:
        name: in tables and figures.
        variant: which model.
        sampler: that made the draws.
        groups: mean distance of each connection; undefined ones at the end.
        words: mean distance of each protected word, for each connection.
        contrasts: differences between connections: of the groups, then of each word.
        predictive: observed beside predicted distances; None when nothing could be fitted.
        diagnostics: of the sampler.
        credible: kind and probability of the intervals.
        priors: of all parameters.
        rope: half-width of the region of practical equivalence of contrasts.
        distances: counts and means of `table`.
        coverage: how many words of each set the vectors had; None when the distances were given.
        table: the distances.
        draws: the draws.
        settings: everything that decides the result.
    """

    renamed: ClassVar[Mapping[str, str]] = {"predictive": "ppc", "credible": "interval"}
    hidden: ClassVar[frozenset[str]] = frozenset({"table", "draws", "settings"})
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("groups", "Mean distance by connection", ("connection", MEAN)),
        RecordTable("words", "Protected words", ("connection", "word", MEAN), most=12),
    )

    name: str
    variant: str
    sampler: str
    groups: tuple[MeanDistance, ...]
    words: tuple[MeanDistance, ...]
    contrasts: tuple[ConnectionContrast, ...]
    predictive: PredictiveCheck | None
    diagnostics: Diagnostics
    credible: Credible
    priors: Priors
    rope: float
    distances: JsonMapping
    coverage: JsonMapping | None = None
    table: DistanceTable = NO_DISTANCES
    draws: Draws = field(default_factory=no_draws)
    settings: JsonMapping = field(default_factory=dict)

    @property
    def group_contrasts(self) -> tuple[ConnectionContrast, ...]:
        """Differences between connections, of the groups alone."""
        return tuple(row for row in self.contrasts if row.word is None)

    @property
    def undefined(self) -> dict[str, str]:
        """Connections without a posterior, with the reason."""
        return {row.connection: str(row.reason) for row in self.groups if row.mean is None}

    @property
    def caution(self) -> str:
        """Caution that every table and figure carries; empty when the draws can be trusted."""
        return "" if self.diagnostics.ok else f"{CAUTION}: {'; '.join(self.diagnostics.problems)}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Failed diagnostics, undefined connections, lost words, repeated rows."""
        warnings = [self.caution] if self.caution else []
        warnings += [f"{name} is undefined: {reason}" for name, reason in self.undefined.items()]
        warnings += [f"lost from {name}: {', '.join(words)}" for name, words in self.distances["lost"].items()]
        if repeated := self.distances["repeated_rows"]:
            once = self.distances["duplicates"] == "drop"
            done = "counted once" if once else "counted as often as they stand there"
            warnings.append(f"{repeated:,} rows repeat others exactly and are {done}")
        return tuple(warnings)

    def to_dict(self) -> JsonObject:
        """One JSON-ready object, without the distances and the draws."""
        shape = super().to_dict()
        if self.predictive is None:
            shape["ppc"] = dict(_NOTHING)
        if self.coverage is None:
            del shape["coverage"]
        return shape

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The posterior of which `to_dict` made `content`, without distances and draws."""
        check_object(cls, content)
        predicted = content.get("ppc")
        posterior = super().from_dict({**content, "ppc": None if predicted == _NOTHING else predicted})
        kind: dict[str, Any] = {"level": posterior.credible.prob, "method": posterior.credible.kind}
        rows: dict[str, Any] = {
            name: tuple(replace(row, **kind) for row in getattr(posterior, name))
            for name in ("groups", "words", "contrasts")
        }
        return replace(posterior, **rows)

    def to_frame(self) -> pd.DataFrame:
        """Groups and words: connection, word ("*" for the group), mean, low, high, sd."""
        return means_frame((*self.groups, *self.words), self.caution)

    def contrasts_frame(self) -> pd.DataFrame:
        """One row per contrast."""
        return means_frame(self.contrasts, self.caution)

    def predictive_frame(self) -> pd.DataFrame:
        """Observed and predicted distance of each row, with the 50 % and 89 % intervals."""
        return self._with_caution(None if self.predictive is None else self.predictive.to_frame(self.table))

    def density_frame(self, bins: int = 60) -> pd.DataFrame:
        """Density of observed and of simulated distances."""
        return self._with_caution(None if self.predictive is None else self.predictive.density_frame(self.table, bins))

    def _with_caution(self, frame: pd.DataFrame | None) -> pd.DataFrame:
        frame = means_frame(()) if frame is None else frame
        return frame.assign(caution=self.caution) if self.caution else frame

    def word_frame(self, word: str) -> pd.DataFrame:
        """The distances of one protected word, nearest first: figures 6 and 7 of the paper.

        Raises:
            ParameterError: there is no such word.
        """
        frame = self.table.of_word(word).to_frame()
        return frame.sort_values("cosine_distance", kind="stable").reset_index(drop=True)

    def to_inference_data(self) -> Any:  # noqa: ANN401 - an arviz object, from an optional library
        """The draws as ArviZ knows them (needs the extra `bayes`)."""
        return inference_data(self.draws, self.table)

    def summary(self) -> Summary:
        """Mean distance of each connection and word, differences between connections, and whether to trust them."""
        within = Column(f"p(within ±{number_text(self.rope, 3)})", "number", 3, source="p_equivalent")
        difference = Column("difference", source=lambda row: f"{row.a} − {row.b}")
        columns = (difference, MEAN, P_DIRECTION, within)
        contrasts = RecordTable("group_contrasts", "Differences", columns, name="contrasts").fill(self)
        summary = super().summary()
        return replace(summary, tables=(summary.tables[0], contrasts, *summary.tables[1:]))

    def _title(self) -> str:
        return f"Distances of {self.name}"

    def _headline(self) -> str:
        return f"{self.name}: {self.variant}, {self.distances['rows']:,} distances (1 unrelated, less is closer)"

    def _sentences(self) -> list[str]:
        sentences = [self.diagnostics.sentence(self.sampler)]
        if self.predictive is not None:
            half, most = (share_text(share) for share in (self.predictive.within_50, self.predictive.within_89))
            sentences.append(f"Predictive check: {half} within 50 %, {most} within 89 % of what the model expects.")
        return sentences

    def _charts(self) -> tuple[Chart, ...]:
        return posterior_charts(self)

    def figures(self, **choices: str) -> dict[str, Any]:
        """Its charts by name; of a protected `word`, its distances too.

        Raises:
            ParameterError: there is no such choice, or no such word.
        """
        if unknown := [name for name in choices if name != "word"]:
            raise ParameterError(f"Figures of Posterior leave word to choose. Got {unknown[0]!r}.")
        charts = [word_chart(self, word) for word in choices.values()]
        return super().figures() | {chart.name: chart.drawn() for chart in charts}


@each_model
def bayes(  # noqa: PLR0913 - settings, each with a name and a default
    vectors: DistancesLike,
    lexicon: LexiconLike | None = None,
    *,
    variant: Variant | CustomModel = "per-connection",
    priors: PriorsLike = None,
    interval: IntervalKind = "hpdi",
    prob: float = 0.89,
    draws: int = 4_000,
    duplicates: Duplicates = "drop",
    human: WordsLike | None = "default",
    neutral: WordsLike | None = "default",
    policy: WordPolicy = EXACT_POLICY,
    rope: float | None = None,
    sampler: Sampler = "auto",
    random_state: int = 0,
) -> Posterior:
    """Posterior of the mean cosine distances between protected words, attributes of stereotypes and control words.

    A distance is 1 − cosine: 1 means unrelated, less means closer; in [0, 2]. The model is stated in `priors`.

    Args:
        vectors: an `Embedding` or anything `load` takes, with a lexicon; or distances: a `DistanceTable`, or a data
            frame with the columns of the authors' files. A list of models or views gives a `ByModel`: each by itself.
        lexicon: a lexicon of kind "stereotypes" or "test"; only with vectors.
        variant: "per-connection" is the model behind the published figures; "single-sigma", "intercept", "student" and
            "crossed" are others (`priors`); a function that states your own model in PyMC is sampled too
            (`nuts.sample_custom`).
        priors: prior distributions; those of the variant by default. A mapping changes some of them, as in
            {"group": "normal(1, 0.5)", "between": "halfnormal(0.2)"}.
        interval: "hpdi", or "percentile" as in the published figures.
        prob: probability inside the intervals.
        draws: number of draws.
        duplicates: "drop" counts repeated rows once, "keep" as often as they stand there, as published.
        human: control words about people; those of the lexicon by default, None for none.
        neutral: control words about nothing in particular; as `human`.
        policy: how words are looked up, and how many of each set must be found; by default as they are written.
        rope: half-width of the region of practical equivalence; a tenth of the residual standard deviation by default.
        sampler: "auto" takes the fastest; "nuts" needs the extra `bayes`.
        random_state: seed; the same seed gives the same draws.

    Raises:
        ParameterError: an argument cannot be used.
        InputError: the distances do not say what they should, or a library is missing.
    """
    named = variant if isinstance(variant, str) else getattr(variant, "__name__", "custom")
    if isinstance(variant, str):
        check_choice(VARIANTS, variant=variant)
    if rope is not None:
        check_number(0, rope=rope)
    credible = Credible(interval, prob)
    table = table_of(vectors, lexicon, duplicates=duplicates, human=human, neutral=neutral, policy=policy)
    settings: JsonObject = {
        "variant": named, "interval": interval, "prob": prob, "draws": draws, "duplicates": table.duplicates,
        **(table.lookup or policy.settings()), "sampler": sampler, "random_state": random_state,
    }  # fmt: skip
    return posterior_of(table, variant, priors_of(named, priors), credible, rope, settings)


def posterior_of(
    table: DistanceTable,
    variant: str | CustomModel,
    priors: Priors,
    credible: Credible,
    rope: float | None,
    settings: JsonObject,
    stream: int = 0,
) -> Posterior:
    """Fit a variant to a table; `settings` hold draws, sampler and random_state."""
    sampling = {name: settings[name] for name in ("draws", "sampler", "random_state")}
    draws, diagnostics, sampler, undefined, simulated = fit(table, variant, priors, **sampling, stream=stream)
    random = np.random.default_rng([settings["random_state"], stream, _PREDICTIVE_STREAM])
    predictive = None
    if draws.connections and simulated is None:
        predictive = check_predictions(draws, table, random)
    elif simulated is not None:
        predictive = check_simulated(table, simulated, random)
    width = default_rope(table) if rope is None else float(rope)
    rows = labeled_means(MeanDistance, draws, table.words, credible, undefined)
    return Posterior(
        name=table.name, variant=settings["variant"], sampler=sampler,
        groups=tuple(row for row in rows if row.word is None), words=tuple(row for row in rows if row.word is not None),
        contrasts=contrasts(draws, table.words, credible, width), predictive=predictive, diagnostics=diagnostics,
        credible=credible, priors=priors, rope=width, distances=table.to_dict(),
        coverage=None if table.coverage is None else table.coverage.to_dict(), table=table, draws=draws,
        settings={**settings, "rope": width},
    )  # fmt: skip


def default_rope(table: DistanceTable) -> float:
    """A tenth of the standard deviation of distances within (connection, word): half of a small effect.

    Source: Kruschke, "Rejecting or accepting parameter values in Bayesian estimation", AMPPS 1 (2018).
    """
    cells = cells_of(table)
    freedom = sum(cell.df_within for cell in cells)
    return 0.1 * float(np.sqrt(sum(cell.within for cell in cells) / freedom)) if freedom else 0.0
