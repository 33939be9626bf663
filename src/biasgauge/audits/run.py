"""`audit`: from vectors to one result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from biasgauge.analyses.seeds import seed_cards
from biasgauge.applications import TaskResult, as_task
from biasgauge.audits.answers import answer, unasked
from biasgauge.audits.bias import measure_bias
from biasgauge.audits.breakdown import break_down
from biasgauge.audits.calibrated import calibrated_scores, chosen_calibration, in_planted_units
from biasgauge.audits.change import answer_change, contrast_changes, measure_change
from biasgauge.audits.chosen_lexicons import chosen_lexicons
from biasgauge.audits.encoder import curves_of, last_layer_first
from biasgauge.audits.explorer import explore
from biasgauge.audits.extrinsic import POINTS, track
from biasgauge.audits.meaningless import chance_band, error_rates
from biasgauge.audits.measurable import judge
from biasgauge.audits.model_summary import summarize
from biasgauge.audits.not_measured import NotMeasured
from biasgauge.audits.questions import QueryOutcome, measure
from biasgauge.audits.reliability import EMPTY as RELIABILITY
from biasgauge.audits.reliability import measure_reliability
from biasgauge.audits.replicates import spread_of
from biasgauge.audits.result import AuditResult, SubjectSummary
from biasgauge.audits.robustness import EMPTY as ROBUSTNESS
from biasgauge.audits.robustness import measure_robustness
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.subjects import Subject, subjects_of
from biasgauge.audits.text_side import measure_text
from biasgauge.audits.tracking import answer_points
from biasgauge.audits.uncertainty import measure_uncertainty
from biasgauge.audits.verdicts import Rules
from biasgauge.core import LexiconLike, ModelsLike, Query, VectorsLike, WordPolicy, check_number
from biasgauge.errors import ParameterError
from biasgauge.lexicons import QUERY_KINDS, Language, Pairs, lexicons_without_query, queries_from_lexicons
from biasgauge.stats import on_one_thread
from biasgauge.vectors import DEFAULT_NAME, load_default, load_default_replicates, load_models

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import Calibration
    from biasgauge.io import Progress
    from biasgauge.vectors import Embedding

MOST_POSTERIORS = 8
"""Lexicons up to which tests have a posterior too, which takes a second each; stereotypes always have one."""
READING, CHANCE = "reading", "chance lists"
STAGES = {
    "measured": "testing",
    "others": "testing",
    "bias": "testing",
    "earlier": "testing",
    "explorer": "scoring",
    "reliability": "reliability",
    "uncertainty": "posteriors",
    "seeds": "word lists",
    "robustness": "robustness",
    "change": "before and after",
    "specifications": "layers and templates",
}
"""What each part of the work is called while one waits for it."""
UNASKED = "it was not asked for: only the lexicons that were given are measured"


def audit(  # noqa: PLR0913 - settings are keyword arguments
    vectors: ModelsLike | None = None,
    *,
    before: VectorsLike | None = None,
    lexicons: Iterable[LexiconLike] | None = None,
    language: str | os.PathLike[str] | Language | None = None,
    min_coverage: float = 0.8,
    case_fallback: bool | None = None,
    limit: int | None = None,
    replicates: bool = False,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    points: object = None,
    tasks: Iterable[object] = (),
    corpus: object = None,
    calibration: Calibration | str | os.PathLike[str] | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
    stage: Callable[[str], None] | None = None,
) -> AuditResult:
    """Say which associations may be reported about these vectors, what can be measured, and what is odd about them.

    Args:
        vectors: an `Embedding` or anything `load` takes, or a list of them. Models whose recipes differ by random seed
            or sample alone are replicates and are asked together; any other model is asked by itself. When None, the
            shipped replicates, with the shipped GloVe vectors for a second opinion.
        before: the vectors before something was done to them; the audit then also says what that did. Takes one model.
        lexicons: names or paths of lexicons: nothing else is then asked. Tests and stereotypes ask a question each;
            lists of words are measured along the base pairs that are given with them. By default all shipped tests and
            stereotypes of `language`.
        language: code of a language whose lexicons are asked when `lexicons` is None, or the file of a language of
            your own, whose lists lie beside it; English by default. Given lexicons must be of one language.
        min_coverage: share of a set's words that must be found for the set to count as measurable.
        case_fallback: look a word up in lower case, then capitalized, when it is not there as written; None: where the
            whole vocabulary is in lower case.
        limit: read only the first so many rows of each file.
        replicates: all of `vectors` are replicates, although no recipe lies beside them to say so.
        rules: thresholds of the verdicts.
        points: a table with a row for each embedding that was measured and applied: a file or a data frame whose
            columns have their usual names (weat, gap; test, metric, method; name; seed), or a result of `correlate`.
            The audit then also says whether the intrinsic number tracks the extrinsic one.
        tasks: results of `extrinsic`, or files of their JSON, to show their gaps.
        corpus: the text that the vectors were trained on: a tokenized corpus, its folder, or a text file. The audit
            then also shows what the text itself says about each test, from counts, beside what the vectors say.
        calibration: what `calibrate` gave for vectors of this recipe and text, or its JSON file: contrasts and scores
            are then also told as planted odds ratios, beside the limit of detection. The shipped replicates have one
            of their own.
        random_state: seed of everything that is drawn.
        progress: called with (done, total): reading is the first half.
        stage: called with what is being done, such as "reading" or "reliability", as each begins.

    Raises:
        ParameterError: an argument cannot be used, or lexicons are of several languages.
        EmbeddingFormatError: a vector file is not what it should be.
        LexiconError: a lexicon is unknown, or its file is not what it should be.
        InputError: the points or a task are not what they should be; names the line.
    """
    check_number(0, 1, min_coverage=min_coverage)
    chosen, spoken = chosen_lexicons(lexicons, language)
    say = stage or _nobody
    say(READING)
    models = load_default_replicates() if vectors is None else load_models(vectors, limit, progress=_reading(progress))
    models = last_layer_first(models)
    subjects = subjects_of(models, replicates=replicates)
    second = (Subject(DEFAULT_NAME, (load_default(limit),)),) if vectors is None else ()
    lower = all(model.lower_case for model in models)
    fallback = lower if case_fallback is None else case_fallback
    earlier = _earlier(before, models, limit)
    tracked = None if points is None else track(points, random_state=random_state)
    applied = tuple(map(as_task, (tasks,) if isinstance(tasks, (str, os.PathLike, TaskResult)) else tasks))
    gauge = chosen_calibration(calibration, shipped=vectors is None)
    policy = WordPolicy(min_coverage, "fallback" if fallback else "exact")
    asked: dict[str, Any] = {"min_coverage": min_coverage, "case_fallback": fallback, "random_state": random_state}
    scores = SharedScores(
        (*models, *(model for subject in second for model in subject.models)), tuple(chosen), fallback, language=spoken
    )
    everything = lexicons is None
    given_pairs = [] if everything else [given for given in chosen if isinstance(given, Pairs)]
    questions = list(
        queries_from_lexicons([lexicon for lexicon in chosen if lexicon.kind in QUERY_KINDS] if everything else chosen)
    )
    gathered = [model for subject in subjects if subject.replicated for model in subject.models]
    trained = [model for subject in subjects if subject.replicated and not subject.viewed for model in subject.models]
    first = [subject.models[0] for subject in subjects]
    # A transformer has dozens of views, whose curve is drawn; one by one they would fill the page.
    single = [model for subject in subjects for model in (subject.models[:1] if subject.viewed else subject.models)]
    parts = _together(
        {
            "measured": lambda: _measured(questions, subjects, policy, random_state),
            "others": lambda: _measured(questions, second, policy, random_state),
            "bias": lambda: tuple(
                row for which in chosen for model in single for row in measure_bias(model, which, policy, random_state)
            ),
            "explorer": lambda: explore(scores, gathered, lists=given_pairs) if everything or given_pairs else None,
            "reliability": lambda: (
                measure_reliability(gathered or models, scores, min_coverage=min_coverage, random_state=random_state)
                if everything
                else NotMeasured(UNASKED, RELIABILITY)
            ),
            "uncertainty": lambda: tuple(
                measure_uncertainty(
                    first, chosen, kinds=QUERY_KINDS if len(chosen) <= MOST_POSTERIORS else QUERY_KINDS[1:], **asked
                )
            ),
            "seeds": lambda: seed_cards(
                list(subjects[0].models), chosen, language=spoken if everything else None, **asked
            ),
            "robustness": lambda: (
                measure_robustness(models[0], language=spoken, **asked)
                if everything
                else NotMeasured(UNASKED, ROBUSTNESS)
            ),
            "specifications": lambda: curves_of(subjects, chosen, policy, random_state),
            "change": lambda: (
                None
                if earlier is None
                else measure_change(earlier, models[0], chosen, policy=policy, random_state=random_state)
            ),
            **(
                {}
                if earlier is None
                else {"earlier": lambda: _measured(questions, subjects_of([earlier]), policy, random_state)}
            ),
        },
        progress,
        say,
    )
    say(CHANCE)
    measured, others, bias = (parts.pop(name) for name in ("measured", "others", "bias"))
    verdicts = answer(
        measured,
        others,
        rules=rules,
        scores=scores,
        policy=policy,
        random_state=random_state,
    )
    nothing = () if everything else tuple(unasked(list(lexicons_without_query(chosen)), subjects))
    contrasts = () if earlier is None else contrast_changes(parts.pop("earlier"), measured, rules)
    changed = () if earlier is None else (answer_change(parts["change"], contrasts),)
    tracking = () if tracked is None else (answer_points(tracked, rules),)
    return AuditResult(
        models=tuple(summarize(model) for model in (*models, *(subject.models[0] for subject in second))),
        subjects=(
            *(_about(subject, "audited") for subject in subjects),
            *(_about(subject, "second opinion") for subject in second),
        ),
        verdicts=(*changed, *in_planted_units(verdicts, chosen, gauge), *nothing, *tracking),
        contrasts=contrasts,
        error_rates=error_rates(measured, rules.alpha, random_state),
        chance=tuple(filter(None, (chance_band(measurement, random_state) for measurement in measured))),
        breakdowns=tuple(break_down(measurement, scores) for measurement in measured),
        date=_today(),
        extrinsic=tracked,
        tasks=applied,
        text=None if corpus is None else measure_text(corpus, chosen, bias, **asked),
        calibration=(
            None
            if gauge is None or spoken.lacks("base_pairs", "scored_words")
            else calibrated_scores(gauge, scores.of_lists(gathered or models))
        ),
        lexicons=tuple(judge(subject.models[0], lexicon, policy) for lexicon in chosen for subject in subjects),
        bias=bias,
        spread=spread_of(row for row in bias if any(row.model == model.name for model in trained)),
        settings={
            "lexicons": [lexicon.name for lexicon in chosen],
            "language": spoken.name,
            "min_coverage": min_coverage,
            "case_fallback": fallback,
            "lower_case": lower,
            "limit": limit,
            "shipped": vectors is None,
            "before": None if earlier is None else earlier.name,
            "points": None if tracked is None else tracked.settings.get("points", POINTS),
            "rules": asdict(rules),
            "random_state": random_state,
        },
        **parts,
    )


def _today() -> str:
    """The day, or that of SOURCE_DATE_EPOCH, with which builds are made the same bytes on every day."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), tz=UTC) if epoch.isdigit() else datetime.now().astimezone()
    return now.date().isoformat()


def _measured(
    queries: Sequence[Query], subjects: Sequence[Subject], policy: WordPolicy, random_state: int
) -> list[QueryOutcome]:
    return [measure(query, subject, policy, random_state) for query in queries for subject in subjects]


def _about(subject: Subject, role: Literal["audited", "second opinion"]) -> SubjectSummary:
    names = tuple(model.name for model in subject.models)
    return SubjectSummary(subject.name, names, role, views=subject.viewed, shared=subject.shared)


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


def _nobody(stage: str) -> None:
    """Who is told about stages when nobody asked."""


def _together(
    parts: Mapping[str, Callable[[], Any]], progress: Progress | None, say: Callable[[str], None]
) -> dict[str, Any]:
    """Do independent parts at the same time, as many as there are cores; none depends on another or on the order.

    Products stay on one thread throughout: a part that sees to it for itself would undo it for its neighbor, since
    the limit is the whole process's.
    """
    with on_one_thread():
        threads = ThreadPoolExecutor(max(1, min(len(parts), os.cpu_count() or 1)))
        try:
            running = {name: threads.submit(part) for name, part in parts.items()}
            found = {}
            for done, (name, part) in enumerate(running.items(), 1):
                say(STAGES[name])
                found[name] = part.result()
                if progress is not None:
                    progress(len(parts) + done, 2 * len(parts) + 1)  # chance lists and verdicts are still to come
        finally:  # without waiting: whoever interrupts an audit waits for no part of it
            threads.shutdown(wait=False, cancel_futures=True)
    return found
