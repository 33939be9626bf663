"""`bayes`: vectors and a lexicon, or distances, to the posterior of the model of cosine distances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.analyses.posterior.estimates import Estimate, contrasts, posterior_means
from biasgauge.analyses.posterior.fit import Sampler, fit
from biasgauge.analyses.posterior.model import VARIANTS, Normal, Priors, ScalePrior, Variant, priors_of
from biasgauge.analyses.posterior.posterior import Posterior
from biasgauge.analyses.posterior.predictive import check_predictions, check_simulated
from biasgauge.analyses.posterior.table import DistancesLike, DistanceTable, Duplicates, cells_of
from biasgauge.core import JsonObject, as_pandas, check_choice, check_number
from biasgauge.errors import ParameterError
from biasgauge.stats import Credible, IntervalKind
from biasgauge.vectors import each_model

if TYPE_CHECKING:
    from biasgauge.analyses.posterior.nuts import CustomModel
    from biasgauge.core import LexiconLike, WordsLike

_PREDICTIVE_STREAM = 9


@each_model
def bayes(  # noqa: PLR0913 - settings, each with a name and a default
    vectors: DistancesLike,
    lexicon: LexiconLike | None = None,
    *,
    variant: Variant | CustomModel = "per-connection",
    priors: Priors | Mapping[str, str | Normal | ScalePrior] | None = None,
    interval: IntervalKind = "hpdi",
    prob: float = 0.89,
    draws: int = 4_000,
    duplicates: Duplicates = "drop",
    human: WordsLike | None = "default",
    neutral: WordsLike | None = "default",
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    rope: float | None = None,
    sampler: Sampler = "auto",
    random_state: int = 0,
) -> Posterior:
    """How far protected words lie from the attributes of stereotypes, beside control words, with uncertainty.

    Args:
        vectors: an `Embedding` or anything `load` takes, with a lexicon; or distances: a `DistanceTable`, or a data
            frame with the columns of the authors' files. A list of models or views gives a `ByModel`: each by itself.
        lexicon: a lexicon of kind "stereotypes" or "test"; only with vectors.
        variant: "per-connection" is the model behind the published figures; "single-sigma", "intercept", "student" and
            "crossed" are others (`model`); a function that states your own model in PyMC is sampled too
            (`nuts.sample_custom`).
        priors: what is believed beforehand; those of the variant by default. A mapping changes some of them, as in
            {"group": "normal(1, 0.5)", "between": "halfnormal(0.2)"}.
        interval: "hpdi", or "percentile" as in the published figures.
        prob: probability inside the intervals.
        draws: how many draws.
        duplicates: "drop" counts repeated rows once, "keep" as often as they stand there, as published.
        human: control words about people; those of the lexicon by default, None for none.
        neutral: control words about nothing in particular; as `human`.
        min_coverage: share of each set of words that must be found.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
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
    found = {"min_coverage": min_coverage, "case_fallback": case_fallback}
    table = table_of(vectors, lexicon, duplicates=duplicates, human=human, neutral=neutral, **found)
    settings: JsonObject = {
        "variant": named, "interval": interval, "prob": prob, "draws": draws, "duplicates": table.duplicates,
        **found, "sampler": sampler, "random_state": random_state,
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
    asked = {name: settings[name] for name in ("draws", "sampler", "random_state")}
    draws, diagnostics, chosen, undefined, simulated = fit(table, variant, priors, **asked, stream=stream)
    random = np.random.default_rng([settings["random_state"], stream, _PREDICTIVE_STREAM])
    predictive = None
    if draws.connections and simulated is None:
        predictive = check_predictions(draws, table, random)
    elif simulated is not None:
        predictive = check_simulated(table, simulated, random)
    width = default_rope(table) if rope is None else float(rope)
    numbers = posterior_means(draws.group, credible) + posterior_means(draws.word, credible)
    labels = zip(draws.labels(table.words), numbers, strict=True)
    rows = [Estimate(connection=name, word=word, **own) for (name, word), own in labels]
    about: dict[str, Any] = {"level": credible.prob, "method": credible.kind}
    rows += [Estimate(connection=name, value=None, reason=reason, **about) for name, reason in undefined.items()]
    groups, words = (tuple(row for row in rows if (row.word is None) == whole) for whole in (True, False))
    return Posterior(
        name=table.name, variant=settings["variant"], sampler=chosen, groups=groups, words=words,
        contrasts=contrasts(draws, table.words, credible, width), predictive=predictive, diagnostics=diagnostics,
        credible=credible, priors=priors, rope=width, distances=table.to_dict(),
        coverage=None if table.coverage is None else table.coverage.to_dict(), table=table, draws=draws,
        settings={**settings, "rope": width},
    )  # fmt: skip


def default_rope(table: DistanceTable) -> float:
    """A tenth of the standard deviation of distances within (connection, word): half of what is called a small effect.

    Source: Kruschke, "Rejecting or accepting parameter values in Bayesian estimation", AMPPS 1 (2018).
    """
    cells = cells_of(table)
    spare = sum(cell.spare for cell in cells)
    return 0.1 * float(np.sqrt(sum(cell.within for cell in cells) / spare)) if spare else 0.0


def table_of(vectors: DistancesLike, lexicon: LexiconLike | None, **asked: Any) -> DistanceTable:  # noqa: ANN401
    """Distances: a table or a frame as it is, vectors through a lexicon."""
    frame = None if isinstance(vectors, DistanceTable) else as_pandas(vectors)
    if (isinstance(vectors, DistanceTable) or frame is not None) and lexicon is not None:
        raise ParameterError("A table of distances needs no lexicon: its rows say how words are connected.")
    if isinstance(vectors, DistanceTable):
        return vectors
    if frame is not None:
        from biasgauge.analyses.posterior.distances_csv import distances_from_frame

        return distances_from_frame(frame, duplicates=asked["duplicates"])
    if lexicon is None:
        raise ParameterError(
            "Vectors need a lexicon that says which words to compare, as in bayes(vectors, 'religion'); a file of "
            "distances is read by read_distances."
        )
    from biasgauge.analyses.posterior.vector_distances import distances

    return distances(vectors, lexicon, **asked)
