"""`posterior`: the contrast of an association test or of stereotypes, as one crossed hierarchical model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np

from biasgauge.analyses.posterior.contrast_model import ContrastFit, fit_contrast
from biasgauge.analyses.posterior.estimates import Diagnostics, PosteriorMean, posterior_means
from biasgauge.analyses.posterior.priors import DEFAULT_CONTRAST_PRIORS, ContrastPriors, ContrastPriorsLike, with_parts
from biasgauge.analyses.posterior.sources import compared_words, table_of
from biasgauge.analyses.posterior.table import ASSOCIATED, CONNECTIONS, DIFFERENT, DistancesLike, DistanceTable
from biasgauge.core import (
    DEFAULT_POLICY,
    Fields,
    Floats,
    Integers,
    JsonMapping,
    LexiconLike,
    Places,
    Query,
    Record,
    Resolved,
    SimilarityTable,
    WordPolicy,
    WordSet,
    as_pandas,
    check_choice,
    check_number,
    check_whole,
    resolve,
    word_families,
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
from biasgauge.vectors import Coverage, Embedding, each_view, load_models

NO_FREQUENCIES = "the frequencies of its words are not known"
_NO_SPREAD = 1e-10
_PRIOR_FACTORS = (0.5, 2.0)
_ADJUSTED_STREAM = 1


@dataclass(frozen=True)
class CellMean(Record):
    """Mean similarity of one group of targets with one group of attributes, in these models and for these words.

    Attributes:
        targets: the group of targets.
        attributes: the group of attributes.
        mean: observed mean cosine.
        n: number of targets; forms of one lemma count once.
        k: number of attributes.
    """

    targets: str
    attributes: str
    mean: float
    n: int
    k: int


@dataclass(frozen=True, kw_only=True)
class ContrastMean(PosteriorMean):
    """Posterior of a contrast.

    Attributes:
        p_direction: probability of its median's sign, in [.5, 1]; .5 says nothing.
        p_equivalent: probability that it is no larger than `smallest` either way; None without a `smallest`.
    """

    hidden: ClassVar[frozenset[str]] = PosteriorMean.hidden | {"word"}

    p_direction: float | None = None
    p_equivalent: float | None = None


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
        adjusted: the contrast at equal frequency; undefined, with the reason, where frequencies are not known.
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
            sentence += f", of lying within ±{number_text(self.smallest, 3)} {number_text(contrast.p_equivalent)}"
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
    models too. Where frequencies of words are known, `adjusted` is the contrast at equal frequency: log frequency and
    its square, of targets and of attributes, enter with each other and with the groups (`contrast_model`).

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
        table = _read_table(table_of(vectors, lexicon), between or (ASSOCIATED, DIFFERENT))
    elif lexicon is None:
        raise ParameterError("Vectors need a lexicon that asks a question, as in posterior(vectors, 'weat7').")
    else:
        table = _look_up(load_models(vectors if isinstance(vectors, list) else [vectors]), lexicon, between, policy)
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
        (numbers,) = posterior_means(fit.contrast[:, None], credible, smallest or 0.0)
        return {**numbers, "p_equivalent": None if smallest is None else numbers["p_equivalent"]}

    fit = table.fit(believed, draws, [random_state])
    adjusted, diagnostics = ContrastMean(value=None, reason=NO_FREQUENCIES), fit.diagnostics
    if table.log_frequencies is not None:
        at_equal_frequency = table.fit(believed, draws, [random_state, _ADJUSTED_STREAM], adjusted=True)
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


class _Table(NamedTuple):
    """Similarities of a question and the contrast that answers it, or why there is none.

    Attributes:
        name: of the question and of the model.
        values: models × targets × attributes.
        groups: group of each target, and of each attribute.
        families: word family of each target, and of each attribute.
        names: of the groups of targets, and of those of attributes.
        weights: groups of targets × groups of attributes.
        log_frequencies: of targets and of attributes; None where one is not known.
        coverage: words asked for and found.
        lookup: settings by which they were looked up.
        reason: why the question cannot be answered.
    """

    name: str
    values: Floats = np.empty((1, 0, 0))
    groups: tuple[Integers, Integers] = (np.empty(0, np.intp), np.empty(0, np.intp))
    families: tuple[Integers, Integers] = (np.empty(0, np.intp), np.empty(0, np.intp))
    names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    weights: Floats = np.empty((0, 0))
    log_frequencies: tuple[Floats, Floats] | None = None
    coverage: JsonMapping | None = None
    lookup: JsonMapping = {}  # noqa: RUF012 - never changed
    reason: str | None = None

    def sizes(self) -> list[list[int]]:
        """Number of word families in each group of targets, and of attributes."""
        return [
            [len(np.unique(families[groups == group])) for group in range(len(names))]
            for groups, families, names in zip(self.groups, self.families, self.names, strict=True)
        ]

    def without_unused(self) -> _Table:
        """Drop groups of attributes that have no weight in the contrast."""
        used = np.asarray(self.weights.any(axis=0))
        columns = used[self.groups[1]]
        frequencies = self.log_frequencies
        return self._replace(
            values=self.values[:, :, columns],
            groups=(self.groups[0], (np.cumsum(used) - 1)[self.groups[1][columns]]),
            families=(self.families[0], self.families[1][columns]),
            names=(self.names[0], tuple(name for name, flag in zip(self.names[1], used, strict=True) if flag)),
            weights=self.weights[:, used],
            log_frequencies=None if frequencies is None else (frequencies[0], frequencies[1][columns]),
        )

    def unusable(self) -> str | None:
        """Say why there is no posterior: a list of one word, a gap, or nothing varies; None where there is one."""
        for names, sizes in zip(self.names, self.sizes(), strict=True):
            for name, size in zip(names, sizes, strict=True):
                if size < 2:
                    return f"{name!r} has a single word, so that nothing is known of others like it"
        if np.isnan(self.values).any():
            return "not every word has a similarity with every attribute"
        centered = self.values - self.values.mean(axis=1, keepdims=True)
        centered = centered - centered.mean(axis=2, keepdims=True)
        return "similarities do not vary beyond the means of words" if centered.std() < _NO_SPREAD else None

    def fit(self, priors: ContrastPriors, draws: int, seeds: list[int], *, adjusted: bool = False) -> ContrastFit:
        """Draw from the posterior of the contrast, at equal frequency where `adjusted`."""
        return fit_contrast(
            self.values, *self.groups, self.weights, families=self.families, priors=priors, draws=draws,
            log_frequencies=self.log_frequencies if adjusted else None, random=np.random.default_rng(seeds),
        )  # fmt: skip

    def cells(self) -> tuple[CellMean, ...]:
        """Observed means of the cells, over models."""
        mean, sizes = self.values.mean(axis=0), self.sizes()
        return tuple(
            CellMean(target, attribute, float(mean[self.groups[0] == i][:, self.groups[1] == j].mean()), sizes[0][i],
                     sizes[1][j])
            for i, target in enumerate(self.names[0])
            for j, attribute in enumerate(self.names[1])
        )  # fmt: skip


def _look_up(
    models: list[Embedding], lexicon: LexiconLike, between: tuple[str, str] | None, policy: WordPolicy
) -> _Table:
    """Similarities of the words of a lexicon in some models."""
    query = Query.from_lexicon(lexicon)
    if between is not None:
        controls = compared_words(lexicon).controls
        if missing := [name for name in between if name not in {ASSOCIATED, DIFFERENT, *controls}]:
            raise ParameterError(f"The lexicon {query.name!r} has no control words {missing[0]!r}.")
        added = [name for name in between if name in controls]
        query = replace(
            query,
            attributes=(*query.attributes, *(WordSet(name, controls[name]) for name in added)),
            roles=(*query.target_keys, *query.attribute_keys, *added),
            weights=tuple(map(tuple, connection_weights(between, len(query.targets), added).tolist())),
        )
    resolved = resolve(query, models, policy)
    name = models[0].name if len(models) == 1 else f"{len(models)} models"
    coverage = Coverage.from_resolved(resolved.sets).to_dict()
    described = _Table(f"{query.name}, {name}", coverage=coverage, lookup=policy.settings(models))
    if resolved.reason is not None:
        return described._replace(reason=resolved.reason)
    table = SimilarityTable(resolved)
    words = table.target_words, table.attribute_words
    if shared := sorted(set(words[0]) & set(words[1])):
        reason = f"{shared[0]!r} is both a target and an attribute, and no word is compared with itself"
        return described._replace(reason=reason)
    families = [np.unique(word_families(side, query.language), return_inverse=True)[1] for side in words]
    return described._replace(
        values=table.values,
        groups=(table.target_groups, table.attribute_groups),
        families=(families[0], families[1]),
        names=(tuple(group.name for group in query.targets), tuple(group.name for group in query.attributes)),
        weights=np.asarray(query.weights, np.float64),
        log_frequencies=_log_frequencies(resolved),
    ).without_unused()


def _log_frequencies(resolved: Resolved) -> tuple[Floats, Floats] | None:
    """Log10 frequency of each target and of each attribute, averaged over models; None where one is not known.

    A rank r enters as −log10 r, which is that of a frequency up to a constant, by Zipf's law.
    """
    sides = []
    for keys in (resolved.query.target_keys, resolved.query.attribute_keys):
        by_model = []
        for index, model in enumerate(resolved.models):
            values = [resolved.frequencies(key, index) for key in keys]
            if any(known is None or (known <= 0).any() for known in values):
                return None
            sign = -1.0 if getattr(getattr(model, "frequencies", None), "kind", "counts") == "ranks" else 1.0
            by_model.append(sign * np.log10(np.concatenate([known for known in values if known is not None])))
        sides.append(np.mean(by_model, axis=0))
    return sides[0], sides[1]


def _read_table(table: DistanceTable, between: tuple[str, str]) -> _Table:
    """Similarities of a table of distances; the groups of its words are told by the lists of associated attributes."""
    groups, lists = protected_groups(table)
    controls = [name for name in between if name not in {ASSOCIATED, DIFFERENT}]
    stereotypes = table.rows_of([ASSOCIATED, DIFFERENT])
    columns = [stereotypes & np.isin(table.source, sorted(sources)) for sources in lists]
    columns += [table.rows_of([control]) for control in controls]
    blocks = []
    for rows in columns:
        attributes, attribute = np.unique(table.attribute[rows], return_inverse=True)
        block = np.full((len(table.words), len(attributes)), np.nan)
        block[table.word[rows], attribute] = 1 - table.distance[rows]
        blocks.append(block)
    values = np.concatenate(blocks, axis=1)
    names = [" + ".join(table.lists[index] for index in sorted(sources)) for sources in lists]
    return _Table(
        name=table.name,
        values=values[None],
        groups=(groups, np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])),
        families=(np.arange(values.shape[0]), np.arange(values.shape[1])),
        names=(tuple(names), (*names, *controls)),
        weights=connection_weights(between, len(lists), controls),
        coverage=None if table.coverage is None else table.coverage.to_dict(),
        lookup=table.lookup,
    ).without_unused()


def connection_weights(between: tuple[str, str], groups: int, controls: list[str]) -> Floats:
    """Weights of the first connection less the second: groups × (their own attributes, then lists of control words)."""
    own = np.eye(groups)
    means = {ASSOCIATED: own / groups, DIFFERENT: (1 - own) / max(1, groups * (groups - 1))}
    width = groups + len(controls)
    weights = []
    for connection in between:
        pattern = np.zeros((groups, width))
        if connection in means:
            pattern[:, :groups] = means[connection]
        else:
            pattern[:, groups + controls.index(connection)] = 1 / groups
        weights.append(pattern)
    return np.asarray(weights[0] - weights[1])


def protected_groups(table: DistanceTable) -> tuple[Places, list[frozenset[int]]]:
    """Group of each of the table's words, by the lists that its associated attributes come from, and those lists.

    Raises:
        ParameterError: a word has no associated attribute, so that its group is not known; or groups share a list.
    """
    sources_of: list[frozenset[int]] = []
    associated = table.rows_of([ASSOCIATED])
    for index, word in enumerate(table.words):
        sources_of.append(frozenset(table.source[associated & (table.word == index)].tolist()))
        if not sources_of[-1]:
            raise ParameterError(f"{word!r} has no associated attribute, so that its group is not known.")
    lists = list(dict.fromkeys(sources_of))
    for first, second in combinations(lists, 2):
        if shared := first & second:
            name = table.lists[min(shared)]
            raise ParameterError(f"The attributes of {name!r} are associated with several groups of protected words.")
    return np.array([lists.index(sources) for sources in sources_of], np.intp), lists
