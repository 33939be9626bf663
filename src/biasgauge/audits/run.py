"""`audit`: from vectors to one result. Each part is measured by itself; verdicts follow from the queries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from biasgauge.audits.answers import answer, verdicts_for_unusable_lexicons
from biasgauge.audits.context import (
    AuditContext,
    build_context,
    first_half,
    load_before,
    load_calibration_for,
    run_parts,
)
from biasgauge.audits.part import ShippedPart, ordered_parts
from biasgauge.audits.result import AuditResult, ModelSummary, SubjectSummary
from biasgauge.audits.subjects import Subject, last_layer_first
from biasgauge.audits.verdicts import Rules, Verdict
from biasgauge.core import DEFAULT_POLICY, LexiconLike, ModelsLike, VectorsLike, WordPolicy, today
from biasgauge.lexicons import Language
from biasgauge.vectors import DEFAULT_NAME, load_default, load_default_replicates, load_models

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import Calibration
    from biasgauge.io import Progress
    from biasgauge.results import Result

READING, VERDICTS = "reading", "verdicts"
"""Stages before and after those of the parts."""


def audit(  # noqa: PLR0913 - settings are keyword arguments
    vectors: ModelsLike | None = None,
    *,
    before: VectorsLike | None = None,
    lexicons: Iterable[LexiconLike] | None = None,
    language: str | os.PathLike[str] | Language | None = None,
    policy: WordPolicy = DEFAULT_POLICY,
    limit: int | None = None,
    replicates: bool = False,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    primary: str | Iterable[str] = (),
    points: object = None,
    tasks: Iterable[object] = (),
    corpus: object = None,
    calibration: Calibration | str | os.PathLike[str] | None = None,
    workbench: bool = False,
    random_state: int = 0,
    progress: Progress | None = None,
    stage: Callable[[str], None] | None = None,
) -> AuditResult:
    """Decide which associations may be reported about these vectors, and measure what that rests on.

    Args:
        vectors: an `Embedding` or anything `load` takes, or a list of them. Models whose recipes differ by random seed
            or sample alone are replicates and are measured together; any other model is measured by itself. When None,
            the shipped replicates, with the shipped GloVe vectors for a second opinion.
        before: the vectors before something was done to them; the audit then also says what that did. Takes one model.
        lexicons: names or paths of lexicons: nothing else is then measured. Tests and stereotypes ask a question each;
            lists of words are measured along the base pairs that are given with them. By default all shipped tests and
            stereotypes of `language`.
        language: code of a language whose lexicons are used when `lexicons` is None, or the file of a language of
            your own, whose lists lie beside it; English by default. Given lexicons must be of one language.
        policy: how words are looked up, and how many of each set must be found.
        limit: read only the first `limit` rows of each file.
        replicates: all of `vectors` are replicates, although no recipe lies beside them to say so.
        rules: thresholds of the verdicts.
        primary: names of the questions, or of their lexicons, that are judged apart from all others, at alpha; in the
            place of those of `rules`. A single lexicon is primary.
        points: a table with a row for each embedding that was measured and applied: a file or a data frame whose
            columns have their usual names (weat, gap; test, metric, method; name; seed), or a result of `correlate`.
            The audit then also says whether the intrinsic number tracks the extrinsic one.
        tasks: results of `extrinsic`, or files of their JSON, to show their gaps.
        corpus: the text that the vectors were trained on: a tokenized corpus, its folder, or a text file. The audit
            then also shows what the text itself says about each test, from counts, beside what the vectors say.
        calibration: result of `calibrate` for vectors of this recipe and text, or its JSON file: contrasts and scores
            are then also shown as planted odds ratios, beside the limit of detection. The shipped replicates have one
            of their own.
        workbench: make a workbench of the first model, too: a tab of the page, for the reader's own lists.
        random_state: seed of everything that is drawn.
        progress: called with (done, total): reading is the first half.
        stage: called with what is being done, such as "reading" or "reliability", as each begins.

    Raises:
        ParameterError: an argument cannot be used, or lexicons are of several languages.
        EmbeddingFormatError: a vector file is not what it should be.
        LexiconError: a lexicon is unknown, or its file is not what it should be.
        InputError: the points or a task are not what they should be; names the line.
    """
    announce = stage or _ignore_stage
    announce(READING)
    models = (
        load_default_replicates() if vectors is None else load_models(vectors, limit, progress=first_half(progress))
    )
    models = last_layer_first(models)
    rules = replace(rules, primary=primary) if primary else rules  # type: ignore[arg-type]  # any names become a tuple
    context = build_context(
        models,
        lexicons=lexicons,
        language=language,
        policy=policy,
        replicates=replicates,
        second_opinions=(Subject(DEFAULT_NAME, (load_default(limit),)),) if vectors is None else (),
        rules=rules,
        random_state=random_state,
        before=load_before(before, models, limit),
        options={"points": points, "tasks": tasks, "corpus": corpus, "limit": limit, "shipped": vectors is None},
        calibration=load_calibration_for(calibration, shipped=vectors is None),
        parts=ordered_parts(),
    )
    result = audit_from_context(context, progress, announce)
    if not workbench:
        return result
    from biasgauge.audits.browser.building import workbench_of_audit

    return replace(result, workbench=workbench_of_audit(context))


def audit_from_context(
    context: AuditContext, progress: Progress | None = None, announce: Callable[[str], None] | None = None
) -> AuditResult:
    """Measure the parts of an audit, and decide."""
    results = run_parts(context, progress, announce)
    if announce is not None:
        announce(VERDICTS)
    audited = [*context.models, *(subject.models[0] for subject in context.second_opinions)]
    return AuditResult(
        models=tuple(map(ModelSummary.from_model, audited)),
        subjects=(
            *(SubjectSummary.from_subject(subject, "audited") for subject in context.subjects),
            *(SubjectSummary.from_subject(subject, "second opinion") for subject in context.second_opinions),
        ),
        verdicts=_all_verdicts(results, context),
        date=today(),
        settings=context.settings(),
        parts=results,
    )


def _all_verdicts(results: Mapping[str, Result], context: AuditContext) -> tuple[Verdict, ...]:
    """Verdicts of the change first, then those on the queries, on lexicons without a query, and of other parts."""
    added = {
        name: part.verdicts(results[name], context)
        for name, part in context.parts.items()
        if name in results and isinstance(part, ShippedPart) and part.verdicts is not None
    }
    first = added.pop("change", ())
    unusable = () if context.whole_battery else verdicts_for_unusable_lexicons(context.lexicons, context.subjects)
    return (*first, *answer(context), *unusable, *(verdict for verdicts in added.values() for verdict in verdicts))


def _ignore_stage(stage: str) -> None:
    """Do nothing."""
