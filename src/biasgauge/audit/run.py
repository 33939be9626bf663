"""`audit`: from vectors to one result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.audit.bias import measure_bias
from biasgauge.audit.measurable import judge
from biasgauge.audit.model_summary import summarise
from biasgauge.audit.reliability import measure_reliability
from biasgauge.audit.replicates import measure_spread, spread_of
from biasgauge.audit.result import AuditResult
from biasgauge.audit.uncertainty import KINDS, measure_uncertainty
from biasgauge.embeddings import load_default, load_default_replicates, load_models
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Lexicon, lexicon, lexicon_names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from biasgauge._io.source import Progress


def audit(
    vectors: object = None,
    *,
    lexicons: Iterable[str | PathLike[str] | Lexicon] | None = None,
    language: str = "en",
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    limit: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> AuditResult:
    """Say what can be measured with these vectors, what the bias is, and what is odd about them.

    Args:
        vectors: an `Embedding` or anything `load` takes, or a list of them (replicates); when None the shipped vectors,
            and the shipped replicates to see what another seed does.
        lexicons: names or paths of lexicons to look at; all shipped ones of `language` by default.
        language: which shipped lexicons, when `lexicons` is None.
        min_coverage: share of a set's words that must be found for the set to count as measurable.
        case_fallback: look a word up in lower case, then capitalised, when it is not there as written.
        limit: read only the first so many rows of each file.
        random_state: seed of intervals and of p-values that are not exact.
        progress: called with (done, total) while a file is read.

    Raises:
        ParameterError: an argument cannot be used.
        EmbeddingFormatError: a vector file is not what it should be.
        LexiconError: a lexicon is unknown, or its file is not what it should be.
    """
    if not 0 <= min_coverage <= 1:
        raise ParameterError(f"The 'min_coverage' parameter of audit must be between 0 and 1. Got {min_coverage!r}.")
    models = [load_default(limit)] if vectors is None else load_models(vectors, limit, progress=progress)
    chosen = _lexicons(lexicons, language)
    bias = tuple(
        found
        for one in chosen
        for model in models
        for found in measure_bias(
            model, one, min_coverage=min_coverage, case_fallback=case_fallback, random_state=random_state
        )
    )
    if vectors is None:
        replicates = load_default_replicates()
        spread = measure_spread(
            replicates, chosen, min_coverage=min_coverage, case_fallback=case_fallback, random_state=random_state
        )
    else:
        replicates = models if len(models) > 1 else []
        spread = spread_of(bias) if replicates else ()
    return AuditResult(
        models=tuple(summarise(model) for model in models),
        verdicts=tuple(
            judge(model, one, min_coverage=min_coverage, case_fallback=case_fallback)
            for one in chosen
            for model in models
        ),
        bias=bias,
        replicates=tuple(model.name for model in replicates),
        spread=spread,
        reliability=measure_reliability(replicates or models, language=language, random_state=random_state),
        uncertainty=tuple(
            measure_uncertainty(
                models,
                chosen,
                kinds=("stereotypes",) if lexicons is None else KINDS,
                min_coverage=min_coverage,
                case_fallback=case_fallback,
                random_state=random_state,
            )
        ),
        settings={
            "lexicons": [one.name for one in chosen],
            "language": language,
            "min_coverage": min_coverage,
            "case_fallback": case_fallback,
            "limit": limit,
            "shipped": vectors is None,
            "random_state": random_state,
        },
    )


def _lexicons(chosen: Iterable[str | PathLike[str] | Lexicon] | None, language: str) -> list[Lexicon]:
    if chosen is not None:
        return [lexicon(one) for one in chosen]
    shipped = [one for one in map(lexicon, lexicon_names()) if one.language == language and one.kind != "translations"]
    if not shipped:
        known = sorted({lexicon(name).language for name in lexicon_names()})
        raise ParameterError(
            f"The 'language' parameter of audit must be a language of the shipped lexicons ({', '.join(known)}). "
            f"Got {language!r}; for another language name your own lexicons."
        )
    return shipped
