"""`bayes`: vectors and a lexicon, or distances, to the posterior of the model of cosine distances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from biasgauge.errors import ParameterError
from biasgauge.stats.credible import Credible, IntervalKind
from biasgauge.uncertainty.fit import Sampler, fit
from biasgauge.uncertainty.model import Normal, Priors, ScalePrior, Variant, check_variant, priors_of
from biasgauge.uncertainty.posterior import Posterior, default_rope
from biasgauge.uncertainty.predictive import check_predictions, check_simulated
from biasgauge.uncertainty.table import DistancesLike, DistanceTable, Duplicates

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.inputs import LexiconLike, VectorsLike, WordsLike
    from biasgauge.uncertainty.custom_model import CustomModel

_PREDICTIVE_STREAM = 9


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
            frame with the columns of the authors' files.
        lexicon: a lexicon of kind "stereotypes" or "test"; only with vectors.
        variant: "per-connection" is the model behind the published figures; "single-sigma", "intercept", "student" and
            "crossed" are others (`model`); a function that states your own model in PyMC is sampled too
            (`custom_model`).
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
        check_variant(variant)
    credible = Credible(interval, prob)
    if rope is not None and not 0 <= rope < np.inf:
        raise ParameterError(f"The 'rope' parameter must be a number of at least 0. Got {rope!r}.")
    table = table_of(
        vectors,
        lexicon,
        duplicates=duplicates,
        human=human,
        neutral=neutral,
        min_coverage=min_coverage,
        case_fallback=case_fallback,
    )
    settings: dict[str, Any] = {
        "variant": named,
        "interval": interval,
        "prob": prob,
        "draws": draws,
        "duplicates": table.duplicates,
        "min_coverage": min_coverage,
        "case_fallback": case_fallback,
        "sampler": sampler,
        "random_state": random_state,
    }
    return posterior_of(table, variant, priors_of(named, priors), credible, rope, settings)


def posterior_of(
    table: DistanceTable,
    variant: str | CustomModel,
    priors: Priors,
    credible: Credible,
    rope: float | None,
    settings: dict[str, Any],
    stream: int = 0,
) -> Posterior:
    """Fit a variant to a table; `settings` hold draws, sampler and random_state."""
    fitted = fit(
        table,
        variant,
        priors,
        draws=settings["draws"],
        sampler=settings["sampler"],
        random_state=settings["random_state"],
        stream=stream,
    )
    predictive = None
    if fitted.draws.connections:
        random = np.random.default_rng([settings["random_state"], stream, _PREDICTIVE_STREAM])
        if fitted.simulated is None:
            predictive = check_predictions(fitted.draws, table, random)
        else:
            predictive = check_simulated(table, fitted.simulated, random)
    width = default_rope(table) if rope is None else float(rope)
    return Posterior(
        table=table,
        variant=settings["variant"],
        priors=priors,
        sampler=fitted.sampler,
        draws=fitted.draws,
        diagnostics=fitted.diagnostics,
        predictive=predictive,
        credible=credible,
        rope=width,
        undefined=fitted.undefined,
        settings={**settings, "rope": width},
    )


def table_of(vectors: DistancesLike, lexicon: LexiconLike | None, **asked: Any) -> DistanceTable:  # noqa: ANN401
    """Distances: a table or a frame as it is, vectors through a lexicon."""
    given = isinstance(vectors, DistanceTable) or (hasattr(vectors, "columns") and hasattr(vectors, "iloc"))
    if given and lexicon is not None:
        raise ParameterError("A table of distances needs no lexicon: its rows say how words are connected.")
    if isinstance(vectors, DistanceTable):
        return vectors
    if given:
        from biasgauge.uncertainty.distances_csv import distances_from_frame

        return distances_from_frame(cast("pd.DataFrame", vectors), duplicates=asked["duplicates"])
    if lexicon is None:
        raise ParameterError(
            "Vectors need a lexicon that says which words to compare, as in bayes(vectors, 'religion'); a file of "
            "distances is read by read_distances."
        )
    from biasgauge.uncertainty.vector_distances import distances

    return distances(cast("VectorsLike", vectors), lexicon, **asked)
