"""`audit`: from vectors to one result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from biasgauge import registry
from biasgauge.applications import TaskResult
from biasgauge.applications.tasks.result import as_task
from biasgauge.auditing.answers import answer_stereotypes, answer_tests
from biasgauge.auditing.bias import measure_bias
from biasgauge.auditing.change import measure_change
from biasgauge.auditing.explorer import explore
from biasgauge.auditing.extrinsic import POINTS, track
from biasgauge.auditing.measurable import judge
from biasgauge.auditing.model_summary import summarize
from biasgauge.auditing.nulls import measure_nulls
from biasgauge.auditing.reliability import measure_reliability
from biasgauge.auditing.replicates import measure_all, spread_of
from biasgauge.auditing.result import AuditResult
from biasgauge.auditing.robustness import measure_robustness
from biasgauge.auditing.shared_scores import SharedScores
from biasgauge.auditing.tracking import answer_points
from biasgauge.auditing.uncertainty import KINDS, measure_uncertainty
from biasgauge.auditing.verdicts import Rules
from biasgauge.embeddings import load_default, load_default_replicates, load_models
from biasgauge.errors import ParameterError
from biasgauge.inputs import LexiconLike, ModelsLike, VectorsLike
from biasgauge.lexicons import Lexicon, lexicon
from biasgauge.seed_words import seed_cards
from biasgauge.stats.threads import on_one_thread

if TYPE_CHECKING:
    from biasgauge._io.source import Progress
    from biasgauge.embeddings import Embedding
    from biasgauge.scores import Association


def audit(
    vectors: ModelsLike | None = None,
    *,
    before: VectorsLike | None = None,
    lexicons: Iterable[LexiconLike] | None = None,
    language: str = "en",
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    limit: int | None = None,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    points: object = None,
    tasks: Iterable[object] = (),
    random_state: int = 0,
    progress: Progress | None = None,
) -> AuditResult:
    """Say what can be measured with these vectors, what the bias is, and what is odd about them.

    Args:
        vectors: an `Embedding` or anything `load` takes, or a list of them (replicates); when None the shipped vectors,
            and the shipped replicates to see what another seed does.
        before: the vectors before something was done to them; the audit then also says what that did. Takes one model.
        lexicons: names or paths of lexicons to look at; all shipped ones of `language` by default.
        language: which shipped lexicons, when `lexicons` is None.
        min_coverage: share of a set's words that must be found for the set to count as measurable.
        case_fallback: look a word up in lower case, then capitalized, when it is not there as written.
        limit: read only the first so many rows of each file.
        rules: thresholds of the verdicts.
        points: a table with a row for each embedding that was measured and applied: a file or a data frame whose
            columns have their usual names (weat, gap; test, metric, method; name; seed), or a result of `correlate`.
            The audit then also says whether the intrinsic number tracks the extrinsic one.
        tasks: results of `extrinsic`, or files of their JSON, to show their gaps.
        random_state: seed of intervals and of p-values that are not exact.
        progress: called with (done, total): reading is the first half.

    Raises:
        ParameterError: an argument cannot be used.
        EmbeddingFormatError: a vector file is not what it should be.
        LexiconError: a lexicon is unknown, or its file is not what it should be.
        InputError: the points or a task are not what they should be; names the line.
    """
    if not 0 <= min_coverage <= 1:
        raise ParameterError(f"The 'min_coverage' parameter of audit must be between 0 and 1. Got {min_coverage!r}.")
    models = [load_default(limit)] if vectors is None else load_models(vectors, limit, progress=_reading(progress))
    replicates = load_default_replicates() if vectors is None else models if len(models) > 1 else []
    chosen = _lexicons(lexicons, language)
    earlier = _earlier(before, models, limit)
    tracked = None if points is None else track(points, random_state=random_state)
    applied = tuple(map(as_task, (tasks,) if isinstance(tasks, (str, os.PathLike, TaskResult)) else tasks))
    asked: dict[str, Any] = {
        "min_coverage": min_coverage,
        "case_fallback": case_fallback,
        "random_state": random_state,
    }
    scores = SharedScores(
        (*models, *(one for one in replicates if all(one is not model for model in models))),
        tuple(chosen),
        case_fallback,
    )

    def bias() -> tuple[tuple[Association, ...], tuple[Association, ...]]:
        found = tuple(one for which in chosen for model in models for one in measure_bias(model, which, **asked))
        return found, found if replicates is models else tuple(measure_all(replicates, chosen, **asked))

    kinds = ("stereotypes",) if lexicons is None else KINDS
    parts = _together(
        {
            "bias": bias,
            "explorer": lambda: explore(scores, replicates, language=language),
            "reliability": lambda: measure_reliability(
                replicates or models,
                scores,
                language=language,
                min_coverage=min_coverage,
                random_state=random_state,
            ),
            "uncertainty": lambda: tuple(measure_uncertainty(models, chosen, kinds=kinds, **asked)),
            "seeds": lambda: seed_cards(models, chosen, language=language, **asked),
            "robustness": lambda: measure_robustness(models[0], language=language, **asked),
            "change": lambda: None if earlier is None else measure_change(earlier, models[0], chosen, **asked),
        },
        progress,
    )
    found, replicated = parts.pop("bias")
    answers = answer_tests(
        models,
        chosen,
        found,
        replicated,
        rules=rules,
        scores=scores,
        min_coverage=min_coverage,
        random_state=random_state,
    )
    tracking = () if tracked is None else (answer_points(tracked, rules),)
    return AuditResult(
        models=tuple(summarize(model) for model in models),
        verdicts=answers + answer_stereotypes(parts["uncertainty"]) + tracking,
        extrinsic=tracked,
        tasks=applied,
        lexicons=tuple(
            judge(model, one, min_coverage=min_coverage, case_fallback=case_fallback)
            for one in chosen
            for model in models
        ),
        bias=found,
        nulls=measure_nulls(found, random_state=random_state),
        replicates=tuple(model.name for model in replicates),
        spread=spread_of(replicated),
        settings={
            "lexicons": [one.name for one in chosen],
            "language": language,
            "min_coverage": min_coverage,
            "case_fallback": case_fallback,
            "limit": limit,
            "shipped": vectors is None,
            "before": None if earlier is None else earlier.name,
            "points": None if tracked is None else tracked.settings.get("points", POINTS),
            "rules": asdict(rules),
            "random_state": random_state,
        },
        **parts,
    )


def _earlier(before: VectorsLike | None, models: Sequence[Embedding], limit: int | None) -> Embedding | None:
    """The vectors before, which one model can be compared with."""
    if before is None:
        return None
    found = load_models(before, limit)
    if len(found) != 1 or len(models) != 1:
        raise ParameterError("Before and after are one model each: give one 'before' and one 'vectors' to audit.")
    return found[0]


def _reading(progress: Progress | None) -> Progress | None:
    """Reading is the first half of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(done, 2 * total)


def _together(parts: Mapping[str, Callable[[], Any]], progress: Progress | None) -> dict[str, Any]:
    """Do independent parts at the same time, as many as there are cores; none depends on another or on the order.

    Products stay on one thread throughout: a part that sees to it for itself would undo it for its neighbor, since
    the limit is the whole process's.
    """
    with on_one_thread(), ThreadPoolExecutor(max(1, min(len(parts), os.cpu_count() or 1))) as threads:
        running = {name: threads.submit(part) for name, part in parts.items()}
        found = {}
        for done, (name, one) in enumerate(running.items(), 1):
            found[name] = one.result()
            if progress is not None:
                progress(len(parts) + done, 2 * len(parts))
    return found


def _lexicons(chosen: Iterable[LexiconLike] | None, language: str) -> list[Lexicon]:
    if chosen is not None:
        return [lexicon(one) for one in chosen]
    shipped = [
        one
        for one in registry.everything("lexicon").values()
        if one.language == language and one.kind != "translations"
    ]
    if not shipped:
        known = sorted({one.language for one in registry.everything("lexicon").values()})
        raise ParameterError(
            f"The 'language' parameter of audit must be a language of the shipped lexicons ({', '.join(known)}). "
            f"Got {language!r}; for another language name your own lexicons."
        )
    return shipped
