"""`posterior`: the contrast of an association test or of stereotypes, as one crossed hierarchical model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from biasgauge.analyses.posterior.contrast_model import ADJUSTED_STREAM, ContrastFit
from biasgauge.analyses.posterior.contrast_table import CellMean, look_up_words, read_distance_table
from biasgauge.analyses.posterior.estimates import ContrastMean, Diagnostics, contrast_mean
from biasgauge.analyses.posterior.priors import DEFAULT_CONTRAST_PRIORS, ContrastPriorsLike, with_parts
from biasgauge.analyses.posterior.sources import table_of
from biasgauge.analyses.posterior.table import ASSOCIATED, CONNECTIONS, DIFFERENT, DistancesLike, DistanceTable
from biasgauge.core import (
    DEFAULT_POLICY,
    Fields,
    JsonMapping,
    LexiconLike,
    WordPolicy,
    as_pandas,
    check_choice,
    check_number,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.results import (
    Column,
    RecordTable,
    Result,
    Summary,
    Table,
    estimate_text,
    interval_text,
    level_text,
    number_text,
)
from biasgauge.stats import Credible, IntervalKind
from biasgauge.vectors import Embedding, each_view, load_models

NO_FREQUENCIES = "the frequencies of its words are not known"
_PRIOR_FACTORS = (0.5, 2.0)


@dataclass(frozen=True, kw_only=True)
class ContrastUnderPriors(ContrastMean):
    """Posterior of a contrast when all priors are so many times as wide."""

    factor: float


@dataclass(frozen=True, eq=False, repr=False)
class ContrastPosterior(Result):
    """Posterior of a contrast, from one crossed hierarchical model of all similarities.

    Attributes:
        name: of the query and the model.
        contrast: in units of the cosine; positive as the query claims, 0 no association. For WEAT in [-4, 4].
        adjusted: the contrast at equal frequency, of the similarities that a verdict of an audit rests on; undefined,
            with the reason, where frequencies are not known.
        smallest: the smallest contrast that matters, or None.
        cells: observed mean similarities of each group of targets with each group of attributes.
        prior_sensitivity: the contrast with all priors half and twice as wide.
        sds: posterior means of standard deviations: "residual", "lean" (target × group of attributes), "pairing"
            (attribute × group of targets), "target" and "attribute" where they do not cancel; of several models also
            "replicate contrast", which each model adds to every cell, and "replicate lean" and so on.
        over: what the interval generalizes over.
        diagnostics: of the sampler.
        credible: kind and probability of the intervals.
        coverage: words asked for and found; None when distances were given.
        settings: everything that decides the result.
    """

    renamed: ClassVar[Mapping[str, str]] = {"credible": "interval"}
    tables: ClassVar[tuple[str, ...]] = ("cells",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("cells", "Mean similarity", ("targets", "attributes", Column("mean", "number", 3), "n", "k")),
    )

    name: str
    contrast: ContrastMean
    adjusted: ContrastMean
    smallest: float | None
    cells: tuple[CellMean, ...]
    prior_sensitivity: tuple[ContrastUnderPriors, ...]
    sds: Mapping[str, float]
    over: str
    diagnostics: Diagnostics
    credible: Credible
    coverage: JsonMapping | None
    settings: JsonMapping

    @property
    def warnings(self) -> tuple[str, ...]:
        """Problems of the sampler; why there is no contrast."""
        return tuple(self.diagnostics.problems) if self.contrast.value is not None else (str(self.contrast.reason),)

    def summary(self) -> Summary:
        """The contrast, mean similarities by cell, and standard deviations of the effects."""
        summary = super().summary()
        columns = ["effect", Column("posterior mean", "number", 3)]
        spreads = Table.of("sds", "Standard deviations", columns, list(self.sds.items()))
        return replace(summary, tables=(*summary.tables, spreads) if self.sds else ())

    def _title(self) -> str:
        return f"Posterior of the contrast, {self.name}"

    def _headline(self) -> str:
        if self.contrast.value is None:
            return f"{self.name}: the contrast is undefined: {self.contrast.reason}"
        interval = f"{level_text(self.credible.prob)} {self.credible.kind}"
        return f"{self.name}: contrast {estimate_text(self.contrast, 3)} ({interval}), in units of the cosine"

    def _sentences(self) -> list[str]:
        if self.contrast.value is None:
            return []
        sentences = [self._probabilities("", self.contrast)]
        if self.adjusted.value is not None:
            sentences.append(
                self._probabilities(f"At equal frequency {estimate_text(self.adjusted, 3)}: ", self.adjusted)
            )
        ends = [interval_text(row.low, row.high, 3) for row in self.prior_sensitivity]
        sentences.append(f"With priors half and twice as wide the interval is {' and '.join(ends)}.")
        return [*sentences, f"The interval generalizes over {self.over}.", self.diagnostics.sentence("integrated")]

    def _probabilities(self, opening: str, contrast: ContrastMean) -> str:
        sentence = f"probability of the sign {number_text(contrast.p_direction)}"
        if self.smallest is not None:
            size = number_text(self.smallest, 3)
            sentence += f", of lying within ±{size} {number_text(contrast.p_equivalent)}"
            sentence += f", above {size} {number_text(contrast.p_above)}"
        sentence = f"{opening}{sentence}."
        return sentence[0].upper() + sentence[1:]


@each_view
def posterior(
    vectors: DistancesLike | list[Embedding],
    lexicon: LexiconLike | None = None,
    *,
    between: tuple[str, str] | None = None,
    smallest: float | None = None,
    priors: ContrastPriorsLike = None,
    interval: IntervalKind = "hpdi",
    prob: float = 0.89,
    draws: int = 4_000,
    policy: WordPolicy = DEFAULT_POLICY,
    random_state: int = 0,
) -> ContrastPosterior:
    """Posterior of the contrast of an association test or of stereotypes, as one crossed hierarchical model.

        cosine(w, a) = mean[group of w, group of a] + main effects of w and of a + lean[w, group of a]
                       + pairing[a, group of w] + residual
        contrast = sum over groups of weight × mean; for WEAT (XA − XB) − (YA − YB)

    All effects are Normal around 0 with one standard deviation each. What a word has with all attributes, or an
    attribute with all words, cancels in the contrast and is not modeled; leans and pairings do not cancel. The interval
    generalizes over target words *and* attributes, as that of `weat(...).contrast` does. Forms of one lemma are
    averaged to one observation. Of several models, each adds effects of its own, and the interval generalizes over
    models too. Where frequencies of words are known, `adjusted` is the contrast at equal frequency: of vectors less the
    mean vector of words of their frequency, with log frequency and its square, of targets and of attributes, entering
    with each other and with the groups (`contrast_model`).

    Args:
        vectors: an `Embedding` or anything `load` takes, or a list of replicates; of an encoder, each view by itself.
            Or distances: a `DistanceTable`, or a data frame with the columns of the authors' files.
        lexicon: a lexicon that asks one question: an association test, or stereotypes; only with vectors.
        between: connections to compare instead, the first less the second: "associated", "different", and the control
            words "human" and "neutral" (`bayes`); with distances ("associated", "different") by default.
        smallest: the smallest contrast that matters: `p_equivalent` is the probability of less.
        priors: of `cell` means (Normal(0, 0.3) by default), of the standard deviations of `effects` (Exponential(20)),
            of the `residual` (half-normal, 0.3) and of `replicates` (Exponential(40)); a mapping changes some of them.
        interval: "hpdi" or "percentile".
        prob: probability inside the intervals.
        draws: number of draws.
        policy: how words are looked up, and how many must be found.
        random_state: seed; the same seed gives the same draws.

    Raises:
        ParameterError: an argument cannot be used.
    """
    check_whole(1, draws=draws)
    check_whole(0, random_state=random_state)
    if smallest is not None:
        check_number(0, ends=False, smallest=smallest)
    if between is not None:
        for connection in between:
            check_choice(CONNECTIONS, between=connection)
    credible = Credible(interval, prob)
    believed = with_parts(DEFAULT_CONTRAST_PRIORS, priors)
    if not isinstance(vectors, list) and (isinstance(vectors, DistanceTable) or as_pandas(vectors) is not None):
        table = read_distance_table(table_of(vectors, lexicon), between or (ASSOCIATED, DIFFERENT))
    elif lexicon is None:
        raise ParameterError("Vectors need a lexicon that asks a question, as in posterior(vectors, 'weat7').")
    else:
        table = look_up_words(
            load_models(vectors if isinstance(vectors, list) else [vectors]), lexicon, between, policy
        )
    settings = {
        "interval": interval, "prob": prob, "draws": draws, "smallest": smallest, "between": between and list(between),
        **table.lookup, "random_state": random_state, "priors": believed.to_dict(),
    }  # fmt: skip
    reason = table.reason or table.unusable()
    undefined = ContrastMean(value=None, reason=reason)
    result = ContrastPosterior(
        name=table.name, contrast=undefined, adjusted=undefined, smallest=smallest, cells=(), prior_sensitivity=(),
        sds={}, over="", diagnostics=Diagnostics(None, "", None, "", problems=("nothing was sampled",)),
        credible=credible, coverage=table.coverage, settings=settings,
    )  # fmt: skip
    if reason:
        return result

    def summarize(fit: ContrastFit) -> Fields:
        return contrast_mean(fit.contrast, credible, smallest)

    fit = table.fit(believed, draws, [random_state])
    adjusted, diagnostics = ContrastMean(value=None, reason=NO_FREQUENCIES), fit.diagnostics
    if table.centered is not None:
        at_equal_frequency = table.fit(believed, draws, [random_state, ADJUSTED_STREAM], adjusted=True)
        adjusted = ContrastMean(**summarize(at_equal_frequency))
        problems = [f"at equal frequency: {problem}" for problem in at_equal_frequency.diagnostics.problems]
        diagnostics = replace(diagnostics, problems=(*diagnostics.problems, *problems))
    return replace(
        result,
        contrast=ContrastMean(**summarize(fit)),
        adjusted=adjusted,
        cells=table.cells(),
        prior_sensitivity=tuple(
            ContrastUnderPriors(factor=factor, **summarize(table.fit(believed.scaled(factor), draws, [random_state])))
            for factor in _PRIOR_FACTORS
        ),
        sds=dict(zip(fit.names, fit.sds.mean(axis=0).tolist(), strict=True)),
        over="targets and attributes" if len(table.values) == 1 else "targets, attributes and models",
        diagnostics=diagnostics,
    )
