"""`Posterior`: what the model of cosine distances says, with everything that decides it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from biasgauge.analyses.posterior.diagnostics import Diagnostics
from biasgauge.analyses.posterior.draws import Draws, inference_data, no_draws
from biasgauge.analyses.posterior.estimates import Contrast, Estimate, means_frame
from biasgauge.analyses.posterior.figures import posterior_charts, word_chart
from biasgauge.analyses.posterior.model import Priors
from biasgauge.analyses.posterior.predictive import PredictiveCheck
from biasgauge.analyses.posterior.table import NO_DISTANCES, DistanceTable
from biasgauge.core import JsonMapping, JsonObject, check_object
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, level_text, number_text, share_text
from biasgauge.stats import Credible

if TYPE_CHECKING:
    import pandas as pd

CAUTION = "the sampler's diagnostics failed, do not rely on these numbers"
_NOTHING = {"within_50": None, "within_89": None, "reason": "no connection could be fitted"}


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Result):
    """The posterior of the model of cosine distances.

    Its JSON holds neither the distances nor the draws. Read back, it has its numbers, its sentences and its tables;
    what needs draws or distances (predictions, figures of single words, `loo`, `plan_attributes`) says that there are
    none.

    Attributes:
        name: what tables and figures call it.
        variant: which model.
        sampler: how the draws were made.
        groups: mean distance of each connection; undefined ones at the end.
        words: mean distance of each protected word, for each connection.
        contrasts: differences between connections: of the groups, then of each word.
        predictive: observed beside predicted distances; None when nothing could be fitted.
        diagnostics: whether the draws can be trusted.
        credible: how intervals are taken.
        priors: what was believed beforehand.
        rope: half-width of the region of practical equivalence of contrasts.
        distances: what `table` holds, in numbers.
        coverage: how many words of each set the vectors had; None when the distances were given.
        table: the distances.
        draws: the draws.
        settings: everything that decides the result.
    """

    renamed: ClassVar[Mapping[str, str]] = {"predictive": "ppc", "credible": "interval"}
    hidden: ClassVar[frozenset[str]] = frozenset({"table", "draws", "settings"})

    name: str
    variant: str
    sampler: str
    groups: tuple[Estimate, ...]
    words: tuple[Estimate, ...]
    contrasts: tuple[Contrast, ...]
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
    def undefined(self) -> dict[str, str]:
        """Connections without a posterior, with the reason."""
        return {row.connection: str(row.reason) for row in self.groups if row.mean is None}

    @property
    def caution(self) -> str:
        """What every table and figure of this must say; empty when the draws can be trusted."""
        return "" if self.diagnostics.ok else f"{CAUTION}: {'; '.join(self.diagnostics.problems)}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know first: failed diagnostics, undefined connections, lost words, repeated rows."""
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
        about: dict[str, Any] = {"level": posterior.credible.prob, "method": posterior.credible.kind}
        rows: dict[str, Any] = {
            name: tuple(replace(row, **about) for row in getattr(posterior, name))
            for name in ("groups", "words", "contrasts")
        }
        return replace(posterior, **rows)

    def to_frame(self) -> pd.DataFrame:
        """Groups and words: connection, word ("*" for the group), mean, low, high, sd."""
        return means_frame((*self.groups, *self.words), self.caution)

    def contrasts_frame(self) -> pd.DataFrame:
        """One row a contrast."""
        return means_frame(self.contrasts, self.caution)

    def predictive_frame(self) -> pd.DataFrame:
        """Observed and predicted distance of each row, with the 50 % and 89 % intervals."""
        frame = means_frame(()) if self.predictive is None else self.predictive.to_frame(self.table)
        return frame.assign(caution=self.caution) if self.caution else frame

    def density_frame(self, bins: int = 60) -> pd.DataFrame:
        """Density of observed and of simulated distances."""
        frame = means_frame(()) if self.predictive is None else self.predictive.density_frame(self.table, bins)
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
        mean = Column(f"mean [{level_text(self.credible.prob)} {self.credible.kind}]", "estimate", 3)
        chances = [Column(name, "number", 3) for name in ("p(direction)", f"p(within ±{number_text(self.rope, 3)})")]
        groups = [(row.connection, row) for row in self.groups]
        words = [(row.connection, row.word, row) for row in self.words]
        differences = [
            (f"{row.a} − {row.b}", row, row.p_direction, row.p_equivalent) for row in self.contrasts if row.word is None
        ]
        sentences = [self.diagnostics.sentence(self.sampler)]
        if self.predictive is not None:
            half, most = (share_text(share) for share in (self.predictive.within_50, self.predictive.within_89))
            sentences.append(f"Predictive check: {half} within 50 %, {most} within 89 % of what the model expects.")
        rows = self.distances["rows"]
        return Summary(
            title=f"Distances of {self.name}",
            headline=f"{self.name}: {self.variant}, {rows:,} distances (1 unrelated, less is closer)",
            sentences=tuple(sentences),
            tables=(
                Table.of("groups", "Mean distance by connection", ["connection", mean], groups),
                Table.of("contrasts", "Differences", ["difference", mean, *chances], differences),
                Table.of("words", "Protected words", ["connection", "word", mean], words, most=12),
            ),
            charts=posterior_charts(self),
            warnings=self.warnings,
        )

    def figures(self, **choices: str) -> dict[str, Any]:
        """Its charts by name; of a protected `word`, its distances too.

        Raises:
            ParameterError: there is no such choice, or no such word.
        """
        if unknown := [name for name in choices if name != "word"]:
            raise ParameterError(f"Figures of Posterior leave word to choose. Got {unknown[0]!r}.")
        charts = [word_chart(self, word) for word in choices.values()]
        return super().figures() | {chart.name: chart.drawn() for chart in charts}
