"""SEAT and CEAT: association tests of words in sentences, with words as the sample and sentences nested in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import numpy as np

from biasgauge._version import __version__
from biasgauge.core import (
    DEFAULT_POLICY,
    TEST_ROLES,
    Estimate,
    Flags,
    Floats,
    JsonMapping,
    JsonObject,
    Query,
    Record,
    WordPolicy,
    WordsLike,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import shared_words
from biasgauge.metrics import (
    PublishedCeat,
    WeatResult,
    contextual_weat,
    published_ceat,
    unit_contexts,
    weat_from_similarities,
)
from biasgauge.results import Column, RecordTable, Result, p_text, share_text
from biasgauge.scores.word_set_results import estimate_of_result
from biasgauge.scores.word_set_tests import TestLike, query_of_test
from biasgauge.stats import BCA, Resampling, icc
from biasgauge.vectors import NOT_THERE, Embedding

Sentences = Literal["template", "context"]


@dataclass(frozen=True)
class PublishedSeat(Record):
    """SEAT as published: every sentence counts as a word of its own.

    Attributes:
        effect_size: d over sentences, ddof 1.
        p_value: over splits of sentences, as if those of one word were independent.
        sentences: how many there are of targets.
    """

    effect_size: float | None
    p_value: float | None
    sentences: int


@dataclass(frozen=True)
class ContextualTest(Record):
    """The test on one layer and pooling of one checkpoint.

    Attributes:
        checkpoint, layer, pooling: of the views.
        sentences: how many templates or contexts each word was averaged over, at most.
        result: effect size, contrast and p over words.
        agreement: ICC(1,1) of the target words' associations over sentences: how far a single sentence tells a word's.
        published: as the paper's code has it; None unless asked for.
    """

    checkpoint: str
    layer: int | str
    pooling: str
    sentences: int
    result: WeatResult
    agreement: Estimate
    published: PublishedSeat | PublishedCeat | None = None

    @property
    def effect_size(self) -> Estimate:
        """Effect size d with its interval over words."""
        return estimate_of_result(self.result)

    def to_dict(self) -> JsonObject:
        """One JSON-ready object, the numbers of the test beside the labels."""
        shape = super().to_dict()
        return {**shape, **shape.pop("result")}


@dataclass(frozen=True, eq=False, repr=False)
class ContextualTests(Result):
    """One association test over all layers and poolings.

    Attributes:
        test: "seat" or "ceat".
        name: the lexicon, or "given words".
        sets: what each set stands for.
        rows: one for each checkpoint, layer and pooling.
        lost: words without a vector, by set, with the reason.
        settings: everything that decides the result.
        warnings: what to know before reading it.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"rows": tuple[JsonObject, ...]}
    tables: ClassVar[tuple[str, ...]] = ("rows",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "rows",
            "By layer and pooling",
            (
                "checkpoint",
                Column("layer"),
                "pooling",
                Column("d [{level}]", "estimate", source="effect_size"),
                Column("contrast (cosine)", "estimate", 4, source="result.contrast"),
                Column("p over words", "p", source="result.p_value"),
                Column("p over attributes", "p", source="result.p_attributes"),
                Column("agreement of sentences", "estimate", source="agreement"),
                Column("d as published", "number", source=lambda row: row.published and row.published.effect_size),
                Column("p as published", "p", source=lambda row: row.published and row.published.p_value),
            ),
            drop_empty=True,
            name="tests",
        ),
    )

    test: str
    name: str
    sets: Mapping[str, str]
    rows: tuple[ContextualTest, ...]
    lost: Mapping[str, Mapping[str, str]]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def derived(self) -> JsonMapping:
        """The version."""
        return {"version": __version__}

    def _title(self) -> str:
        return f"{self.test.upper()} {self.name}"

    def _headline(self) -> str:
        """Outcome of the test by layer and pooling, and how often its sign turns."""
        defined = [row.result for row in self.rows if row.result.value is not None]
        if not defined:
            return f"{self._title()}: undefined: {self.rows[0].result.reason if self.rows else 'there are no views'}"
        if len(defined) == 1:
            p = defined[0].p_value
            p_stated = "undefined" if p is None else p_text(p)
            return f"{self._title()}: effect size {defined[0].value:.2f}, p {p_stated} over words"
        positive = sum((result.value or 0) > 0 for result in defined)
        significant = sum((result.p_value or 1.0) < 0.05 for result in defined)
        return (
            f"{self._title()}: positive in {positive} of {len(defined)} layers and poolings, p < .05 over words in "
            f"{significant} (not corrected for their number)"
        )


def seat(
    views: Sequence[Embedding],
    test: TestLike | None = None,
    *,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    as_published: bool = False,
    policy: WordPolicy = DEFAULT_POLICY,
    interval: Resampling | None = BCA,
    **settings: Any,  # noqa: ANN401 - those of biasgauge.metrics.weat
) -> ContextualTests:
    """Sentence Encoder Association Test: WEAT on words in templates, d with ddof 1, by layer and pooling.

    Each word is averaged over its templates, and p splits words, two-sided by default. With one template this is WEAT
    on the vectors of the sentences. Source: May et al., NAACL 2019.

    Args:
        views: what `encode` gives with templates; for the sentence vectors of the paper with `pooling="sentence"` or
            "cls".
        test: a lexicon of kind "test", or give the four sets.
        x: words, a lexicon, or one of its sets.
        y: as x.
        a: as x.
        b: as x.
        as_published: also d and p with every sentence counted as a word of its own, as the paper has it.
        policy: how words are looked up, and the share of each set that must have vectors.
        interval: how to find the interval of d over words; None for none.
        settings: `alternative`, `ddof`, `max_exact`, `samples`, `random_state`, as in `weat`.

    Raises:
        ParameterError: an argument cannot be used.
    """
    query = query_of_test(test, {"x": x, "y": y, "a": a, "b": b}, TEST_ROLES)
    published = _published_seat if as_published else None
    return _run("seat", "template", views, query, policy, interval, settings, published)


def ceat(
    views: Sequence[Embedding],
    test: TestLike | None = None,
    *,
    as_published: bool = False,
    draws: int = 1_000,
    policy: WordPolicy = DEFAULT_POLICY,
    interval: Resampling | None = BCA,
    random_state: int = 0,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    **settings: Any,  # noqa: ANN401 - those of biasgauge.metrics.weat
) -> ContextualTests:
    """Contextualized Embedding Association Test: WEAT on words in natural contexts, by layer and pooling.

    Words are the sample and contexts are nested in them: each word is averaged over its contexts, and p splits words,
    two-sided by default. However many contexts there are, a null in which single words lean is rejected at the level of
    the test; as published it is rejected nearly always (`metrics.ceat` says why). Arguments are those of `seat`, on
    views that `encode` gives with `contexts`; `as_published` adds the combined effect size and p of the paper's code,
    from as many `draws` of a random context of each word, with the seed `random_state`.
    Source: Guo & Caliskan, AIES 2021.

    Raises:
        ParameterError: an argument cannot be used.
    """

    def published(sets: Mapping[str, Floats]) -> PublishedCeat:
        return published_ceat(**sets, draws=draws, random_state=random_state)

    query = query_of_test(test, {"x": x, "y": y, "a": a, "b": b}, TEST_ROLES)
    settings = {**settings, "random_state": random_state}
    return _run("ceat", "context", views, query, policy, interval, settings, published if as_published else None)


def _run(
    test: str,
    sentences: Sentences,
    views: Sequence[Embedding],
    query: Query,
    policy: WordPolicy,
    interval: Resampling | None,
    settings: JsonMapping,
    published: Callable[[Mapping[str, Floats]], PublishedSeat | PublishedCeat] | None,
) -> ContextualTests:
    """Run the test on the views of each checkpoint, layer and pooling."""
    sets = {role: tuple(dict.fromkeys(words)) for role, words in query.sets.items()}
    settings = {"alternative": "two-sided", "ddof": 1, **settings}
    rows: list[ContextualTest] = []
    lost: dict[str, Mapping[str, str]] = {}
    for (checkpoint, layer, pooling), members in _grouped(views, sentences).items():
        arrays, missing = _arrays(members, sets, policy)
        lost |= missing
        short = [role for role in TEST_ROLES if len(arrays[role]) < max(policy.min_coverage * len(sets[role]), 1)]
        if short:
            reason = f"fewer than {share_text(policy.min_coverage)} of the words of {', '.join(short)} have vectors"
            rules = {key: settings[key] for key in ("alternative", "ddof", "ties") if key in settings}
            result = WeatResult.undefined(reason, interval, **rules)
            agreement = Estimate(value=None, reason=reason)
        else:
            x, y, a, b = (arrays[role] for role in TEST_ROLES)
            result = contextual_weat(x, y, a, b, interval=interval, **settings)
            agreement = _agreement(arrays, sentences)
        extra = None if published is None or result.value is None else published(arrays)
        rows.append(ContextualTest(checkpoint, layer, pooling, len(members), result, agreement, extra))
    level = 0.95 if interval is None else interval.level
    recorded = {"sentences": sentences, "min_coverage": policy.min_coverage, "level": level, **settings}
    warnings = []
    if any(row.sentences == 1 for row in rows):
        warnings.append(
            f"each word stands in one {sentences} alone: how far another would change the result is unknown"
        )
    if shared := shared_words(sets["a"], sets["b"]).sentence:
        warnings.append(f"{query.labels['a']} and {query.labels['b']}: {shared}")
    return ContextualTests(test, query.name, query.labels, tuple(rows), lost, recorded, tuple(warnings))


def _grouped(views: Sequence[Embedding], sentences: Sentences) -> dict[tuple[Any, ...], list[Embedding]]:
    """Views by checkpoint, layer and pooling; each holds one template or context of every word."""
    groups: dict[tuple[Any, ...], list[Embedding]] = {}
    for view in views:
        if not {"checkpoint", "layer", "pooling", sentences} <= set(view.facets):
            raise ParameterError(f"A test in context needs views, as encode gives them. Got {view.name!r}.")
        key = tuple(view.facets[name] for name in ("checkpoint", "layer", "pooling"))
        groups.setdefault(key, []).append(view)
    if not groups:
        raise ParameterError("A test in context needs at least one view. Got none.")
    if sentences == "context" and not any(view.facets["context"] for view in views):
        raise ParameterError("CEAT needs words in natural contexts: encode(…, contexts=draw_contexts(…)).")
    return groups


def _arrays(
    members: Sequence[Embedding], sets: Mapping[str, tuple[str, ...]], policy: WordPolicy
) -> tuple[dict[str, Floats], dict[str, Mapping[str, str]]]:
    """Unit vectors by set, words × sentences × dimensions, of words that have any; and those that have none."""
    arrays: dict[str, Floats] = {}
    lost: dict[str, Mapping[str, str]] = {}
    case_fallback = policy.uses_fallback(members)
    for role, words in sets.items():
        vectors = np.full((len(words), len(members), members[0].dim), np.nan)
        for column, view in enumerate(members):
            lookup = view.lookup(words, case_fallback=case_fallback)
            vectors[[words.index(word) for word in lookup.words], column] = view.vectors[lookup.rows]
        units = unit_contexts(vectors)
        has_vector: Flags = np.asarray(np.any(~np.isnan(units[:, :, 0]), axis=1))
        arrays[role] = units[has_vector]
        absent = [word for word, present in zip(words, has_vector, strict=True) if not present]
        if absent:
            lost[role] = {word: members[0].dropped.get(word, NOT_THERE) for word in absent}
    return arrays, lost


def _agreement(arrays: Mapping[str, Floats], sentences: Sentences) -> Estimate:
    """ICC(1,1) of the target words' associations over sentences."""
    lean = np.subtract(*(np.nanmean(arrays[role], axis=1).mean(axis=0) for role in "ab"))
    associations = np.concatenate([arrays["x"] @ lean, arrays["y"] @ lean])
    complete = associations[np.isfinite(associations).all(axis=1)]
    if complete.shape[1] < 2 or len(complete) < 2:
        return Estimate(value=None, reason=f"each word stands in one {sentences} alone")
    return cast("Estimate", icc(complete, form="1,1"))


def _published_seat(arrays: Mapping[str, Floats]) -> PublishedSeat:
    flat = {role: units[np.isfinite(units).all(axis=2)] for role, units in arrays.items()}
    tables = {targets + attributes: flat[targets] @ flat[attributes].T for targets in "xy" for attributes in "ab"}
    result = weat_from_similarities(*tables.values(), interval=None, ddof=1)
    return PublishedSeat(result.value, result.p_value, len(flat["x"]) + len(flat["y"]))
