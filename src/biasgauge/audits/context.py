"""`AuditContext`: everything that the parts of an audit measure with, computed once for all of them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

from biasgauge.audits.measurement import Measured, QueryOutcome, measure
from biasgauge.audits.part import measure_part
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.subjects import Subject, subjects_of
from biasgauge.audits.verdicts import Rules
from biasgauge.core import DEFAULT_POLICY, JsonObject, LexiconLike, Query, VectorsLike, WordPolicy, nearest
from biasgauge.errors import ParameterError
from biasgauge.lexicons import (
    DEFAULT_LANGUAGE,
    QUERY_KINDS,
    Language,
    Lexicon,
    language_of,
    languages,
    lexicon,
    lexicons_in_language,
    queries_from_lexicons,
)
from biasgauge.stats import on_one_thread
from biasgauge.vectors import load_models

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import Calibration
    from biasgauge.audits.part import AuditPart
    from biasgauge.io import Progress
    from biasgauge.results import Result
    from biasgauge.vectors import Embedding

MOST_NAMED, MOST_LISTED = 3, 10
"""Names of questions near one that is unknown, and names of questions, that an error lists."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditContext:
    """Arguments of an audit, and what its parts share.

    Attributes:
        models: all models, audited together or one by one.
        subjects: groups of models that are measured together: replicates, views of one transformer, or one model.
        second_opinions: other vectors whose contrasts are shown beside, and never evidence.
        lexicons: lexicons of the audit.
        queries: every question that is asked: of the lexicons; without names, of the battery of the language.
        published: questions of published tests, measured beside those of a battery and not judged.
        language: language of the lexicons.
        policy: how words are looked up, with its rule for case decided.
        rules: thresholds of the verdicts.
        scores: scores of words on the base pairs of the language.
        random_state: random seed.
        whole_battery: whether no lexicons were named, so that every part is wanted.
        before: the vectors before a change; None where there was none.
        options: what else was given to `audit`, by name: points, tasks, corpus.
        calibration: of vectors of this recipe and text.
        parts: parts of the audit, by name, in their order.
    """

    models: tuple[Embedding, ...]
    subjects: tuple[Subject, ...]
    second_opinions: tuple[Subject, ...]
    lexicons: tuple[Lexicon, ...]
    queries: tuple[Query, ...]
    language: Language
    policy: WordPolicy
    scores: SharedScores
    whole_battery: bool
    published: tuple[Query, ...] = ()
    rules: Rules = field(default_factory=Rules)
    random_state: int = 0
    before: Embedding | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    calibration: Calibration | None = None
    parts: Mapping[str, AuditPart] = field(default_factory=dict)
    _results: dict[str, Result | None] = field(default_factory=dict)
    _locks: Mapping[str, RLock] = field(default_factory=lambda: defaultdict(RLock))
    _outcomes: dict[tuple[tuple[Query, ...], tuple[Subject, ...]], list[QueryOutcome]] = field(default_factory=dict)
    _smallest: dict[Subject, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def replicates(self) -> list[Embedding]:
        """Models that have replicates, or views in their place."""
        return [model for subject in self.subjects if subject.replicated for model in subject.models]

    @property
    def outcomes(self) -> list[QueryOutcome]:
        """Every query measured on every subject."""
        return self._measure_once(self.subjects)

    @property
    def published_outcomes(self) -> list[QueryOutcome]:
        """Every published test beside a battery, measured on every subject."""
        return self._measure_once(self.subjects, self.published)

    @property
    def second_outcomes(self) -> list[QueryOutcome]:
        """Every query measured on the second opinions."""
        return self._measure_once(self.second_opinions)

    def _measure_once(
        self, subjects: tuple[Subject, ...], queries: tuple[Query, ...] | None = None
    ) -> list[QueryOutcome]:
        """Measure queries on some subjects; the first thread that asks computes, the others wait."""
        key = self.queries if queries is None else queries, subjects
        with self._lock:
            if key not in self._outcomes:
                self._outcomes[key] = self.measure(subjects, queries)
            return self._outcomes[key]

    def measure(self, subjects: Sequence[Subject], queries: Sequence[Query] | None = None) -> list[QueryOutcome]:
        """Measure queries, by default every question that is asked, on some subjects."""
        return [
            measure(query, subject, self.policy, self.random_state)
            for query in (self.queries if queries is None else queries)
            for subject in subjects
        ]

    def smallest_contrast(self, subject: Subject) -> float:
        """Return the smallest contrast that matters in a subject: of the rules, or by the measure of its vectors."""
        from biasgauge.audits.parts.null_lists import smallest_contrast

        if self.rules.smallest is not None:
            return self.rules.smallest
        measured = [outcome for outcome in self.outcomes if outcome.subject is subject]
        with self._lock:
            if subject not in self._smallest:
                usable = [outcome for outcome in measured if isinstance(outcome, Measured)]
                self._smallest[subject] = smallest_contrast(subject, usable, self.random_state)
            return self._smallest[subject]

    def settings(self) -> JsonObject:
        """Everything that decides the result, as the JSON of the audit has it."""
        points = self.options.get("points")
        return {
            "lexicons": [lexicon.name for lexicon in self.lexicons],
            "published": [query.name for query in self.published],
            "language": self.language.name,
            "min_coverage": self.policy.min_coverage,
            "case_fallback": self.policy.case == "fallback",
            "lower_case": all(model.lower_case for model in self.models),
            "limit": self.options.get("limit"),
            "shipped": self.options.get("shipped", False),
            "before": None if self.before is None else self.before.name,
            "points": None if points is None else self.result_of("extrinsic").source,
            "rules": asdict(self.rules),
            "random_state": self.random_state,
        }

    def result_of(self, name: str) -> Any:  # noqa: ANN401 - each part has a class of its own
        """Return the result of a part, measured by the first thread that asks; None where the part does not apply.

        Raises:
            ParameterError: there is no such part, or parts wait for each other.
        """
        if name not in self.parts:
            raise ParameterError(f"This audit has no part {name!r}; its parts are {', '.join(self.parts)}.")
        with self._locks[name]:
            if name not in self._results:
                self._results[name] = _WAITING
                self._results[name] = measure_part(self.parts[name], self)
            if self._results[name] is _WAITING:
                raise ParameterError(f"The part {name!r} of the audit waits for itself.")
            return self._results[name]


_WAITING: Any = object()
"""Stands for the result of a part while it is being measured."""


def select_lexicons(
    lexicons: Iterable[LexiconLike] | LexiconLike | None, language: str | os.PathLike[str] | Language | None
) -> tuple[list[Lexicon], Language]:
    """The lexicons to ask, and the record of the one language that they are in.

    Raises:
        ParameterError: lexicons are in several languages, or there is none in the language.
    """
    requested = None if language is None else language_of(language)
    if lexicons is not None:
        references = [lexicons] if isinstance(lexicons, (str, os.PathLike, Lexicon)) else lexicons
        selected = [lexicon(reference) for reference in references]
        codes = sorted({lexicon.language for lexicon in selected} | ({requested.name} if requested else set()))
        if len(codes) > 1:
            raise ParameterError(
                f"An audit asks in one language. Got lexicons in {' and '.join(codes)}; audit each by itself."
            )
        return selected, requested or language_of(codes[0] if codes else DEFAULT_LANGUAGE)
    language_record = requested or language_of(DEFAULT_LANGUAGE)
    inside = [lexicon for lexicon in lexicons_in_language(language_record) if lexicon.battery or not lexicon.on_request]
    if not inside:
        names = ", ".join(record.name for record in languages())
        raise ParameterError(
            f"The 'language' parameter of audit must be a language of the shipped lexicons ({names}), or the "
            f"file of one of your own (`biasgauge lexicons check {language_record.name}` says where its template is). "
            f"Got {language_record.name!r}; or name your own lexicons."
        )
    if not any(lexicon.kind in QUERY_KINDS for lexicon in inside):
        raise ParameterError(
            f"The language {language_record.name!r} has no association test and no stereotypes to ask about: name your "
            "own lexicons."
        )
    return inside, language_record


def build_context(
    models: Sequence[Embedding],
    *,
    lexicons: Iterable[LexiconLike] | None = None,
    language: str | os.PathLike[str] | Language | None = None,
    policy: WordPolicy = DEFAULT_POLICY,
    replicates: bool = False,
    second_opinions: tuple[Subject, ...] = (),
    rules: Rules = Rules(),  # noqa: B008 - frozen
    **further: Any,  # noqa: ANN401 - further fields of a context
) -> AuditContext:
    """Build the context of an audit of some models; arguments as in `audit`, `further` are fields of the context."""
    selected, language_record = select_lexicons(lexicons, language)
    asking, published = selected, []
    if lexicons is None:
        offered = [lexicon for lexicon in selected if lexicon.kind in QUERY_KINDS]
        asking = [lexicon for lexicon in offered if lexicon.battery] or offered
        published = [lexicon for lexicon in offered if lexicon not in asking]
    fallback = policy.uses_fallback(models)
    scored = (*models, *(model for subject in second_opinions for model in subject.models))
    queries = tuple(queries_from_lexicons(asking))
    primary = rules.primary
    if not primary and lexicons is not None and len({id(query.lexicon) for query in queries}) == 1:
        primary = tuple(query.name for query in queries)
    return AuditContext(
        models=tuple(models),
        subjects=subjects_of(models, replicates=replicates),
        second_opinions=second_opinions,
        lexicons=tuple(selected),
        queries=queries,
        language=language_record,
        policy=policy.decided(models),
        scores=SharedScores(scored, tuple(selected), fallback, language=language_record),
        whole_battery=lexicons is None,
        published=tuple(queries_from_lexicons(published)),
        rules=replace(rules, primary=primary_questions(primary, queries)),
        **further,
    )


def primary_questions(names: Sequence[str], queries: Sequence[Query]) -> tuple[str, ...]:
    """Return the names of the questions that `names` are of: a question's own, or that of its lexicon for all of it.

    Raises:
        ParameterError: no question has one of the names.
    """
    by_name: dict[str, dict[str, None]] = {}
    for query in queries:
        lexicon_name = query.name if query.lexicon is None else query.lexicon.name
        for name in (query.name, lexicon_name):
            by_name.setdefault(name, {})[query.name] = None
    if unknown := [name for name in names if name not in by_name]:
        asked = ", ".join(map(repr, unknown))
        similar = list(dict.fromkeys(match for name in unknown for match in nearest(name, by_name, MOST_NAMED)))
        advice = f"nearest: {', '.join(similar)}" if similar else f"there are: {_first_names(list(by_name))}"
        raise ParameterError(f"Primary questions must be among those that the audit asks. Got {asked}; {advice}.")
    return tuple(dict.fromkeys(question for name in names for question in by_name[name]))


def _first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_LISTED]) + (", …" if len(names) > MOST_LISTED else "")


def run_parts(
    context: AuditContext, progress: Progress | None = None, announce: Callable[[str], None] | None = None
) -> dict[str, Result]:
    """Measure the parts of an audit, as many at a time as there are cores; those that do not apply are left out.

    Products of matrices stay on one thread throughout: the limit is the whole process's, so that a part which set it
    for itself would undo it for its neighbor.
    """
    results: dict[str, Result] = {}
    parts = context.parts
    with on_one_thread():
        threads = ThreadPoolExecutor(max(1, min(len(parts), os.cpu_count() or 1)))
        try:
            running = {name: threads.submit(context.result_of, name) for name in parts}
            for done, (name, part) in enumerate(parts.items(), 1):
                if announce is not None:
                    announce(getattr(part, "stage", "") or part.title)
                result = running[name].result()
                if result is not None:
                    results[name] = result
                if progress is not None:
                    progress(len(parts) + done, 2 * len(parts) + 1)  # the verdicts are still to come
        finally:  # without waiting: whoever interrupts an audit waits for no part of it
            threads.shutdown(wait=False, cancel_futures=True)
    return results


def load_before(before: VectorsLike | None, models: Sequence[Embedding], limit: int | None) -> Embedding | None:
    """Load the vectors before a change; None where there was none.

    Raises:
        ParameterError: they, or the vectors after it, are several models.
    """
    if before is None:
        return None
    earlier = load_models(before, limit)
    if len(earlier) != 1 or len(models) != 1:
        raise ParameterError("Before and after are one model each: give one 'before' and one 'vectors' to audit.")
    return earlier[0]


def load_calibration_for(
    calibration: Calibration | str | os.PathLike[str] | None, *, shipped: bool
) -> Calibration | None:
    """Load the calibration that was given; for the replicates that ship, theirs."""
    if calibration is None and not shipped:
        return None
    from biasgauge.analyses.calibrate import Calibration, load_calibration, load_default_calibration

    if calibration is None:
        return load_default_calibration()
    return calibration if isinstance(calibration, Calibration) else load_calibration(calibration)


def first_half(progress: Progress | None) -> Progress | None:
    """Return progress of reading, which is the first half of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(done, 2 * total)
