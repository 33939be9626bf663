"""Association tests on an embedding: word sets in, a labeled result with coverage out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np

from biasgauge import registry
from biasgauge.core import (
    DEFAULT_POLICY,
    TEST_ROLES,
    Floats,
    LexiconLike,
    Query,
    Resolved,
    SimilarityTable,
    VectorsLike,
    WordPolicy,
    WordSet,
    WordsLike,
    did_you_mean,
    resolve,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Stereotypes, treatment, words_of
from biasgauge.metrics import AssociationResult, SetTest, WeatResult, contrast_of
from biasgauge.scores.word_set_results import Association, Weat
from biasgauge.stats import Resampling, not_estimated
from biasgauge.vectors import Coverage, Embedding, load


@runtime_checkable
class WefeQuery(Protocol):
    """Query of WEFE: sets of targets and of attributes, as many as the test needs, with their names."""

    target_sets: list[list[str]]
    attribute_sets: list[list[str]]


TestLike: TypeAlias = "LexiconLike | WefeQuery"
"""A lexicon of kind "test", its name or its file, or a query of WEFE."""


def weat(
    vectors: VectorsLike,
    test: TestLike | None = None,
    *,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    min_coverage: float | None = None,
    policy: WordPolicy = DEFAULT_POLICY,
    interval: Resampling | None = Resampling(),  # noqa: B008 - frozen
    **settings: Any,  # noqa: ANN401 - those of biasgauge.metrics.weat, which says what is wrong with them
) -> Weat:
    """Word Embedding Association Test: are X and Y associated differently with A and B?

    With s(w) = mean cosine of w with A − mean cosine of w with B, the effect size is
    d = (mean of s over X − mean of s over Y) / standard deviation of s over X and Y together.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        test: a lexicon of kind "test", your own TOML, or a WEFE query; or give the four sets.
        x: words, a lexicon, or one of its sets ("weat7:x").
        y: as x.
        a: as x.
        b: as x.
        min_coverage: short for `policy=WordPolicy(min_coverage=…)`.
        policy: how words are looked up, and how many must be found for the result to be defined.
        interval: how to find the interval over words; None for none.
        settings: `alternative` ("greater", "less", "two-sided"), `ddof` (0 or 1), `max_exact`, `samples`, `ties`
            ("inclusive", or "strict" as XWEAT counts), `random_state`.

    Raises:
        ParameterError: an argument cannot be used, or a word is in both X and Y.
    """
    settings |= {"min_coverage": min_coverage, "policy": policy}
    return cast("Weat", association_test(vectors, test, x=x, y=y, a=a, b=b, interval=interval, **settings))


def association_test(
    vectors: VectorsLike,
    test: TestLike | None = None,
    *,
    kind: str = "weat",
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    min_coverage: float | None = None,
    policy: WordPolicy = DEFAULT_POLICY,
    interval: Resampling | None = Resampling(),  # noqa: B008 - frozen
    **settings: Any,  # noqa: ANN401 - those of the test, which says what is wrong with them
) -> Association:
    """Any registered association test, by its name in `kind`; arguments as in `weat`.

    "mac" takes a lexicon of stereotypes, too, with any number of groups. A word that occurs twice in a set counts once.
    Where the test pairs the words of X and Y by position, a pair is left out as a whole when either of its words is out
    of vocabulary; lists of unequal length cannot be paired.
    """
    chosen = registry.get("association_test", kind)
    _check_settings(chosen, settings)
    model = load(vectors)
    policy = policy.with_min_coverage(min_coverage)
    if policy.counterparts == "as-published" and kind != "weat":
        raise ParameterError(f"The 'counterparts' rule as published is that of WEAT; the test is {kind!r}.")
    if kind == "mac" and (stereotypes := _stereotypes(test)) is not None and (x, y, a, b) == (None,) * 4:
        from biasgauge.scores.stereotype_distances import mac  # imported here: an audit of one test has no use for it

        return mac(model, stereotypes, policy=policy, interval=interval)
    query = query_of_test(test, {"x": x, "y": y, "a": a, "b": b}, chosen.sets)
    resolved = resolve(query, model, policy)
    if resolved.shared_target is not None:
        raise ParameterError(
            f"The word {resolved.shared_target!r} is in both target sets, X and Y, which a test of their difference "
            "cannot have; remove it from one."
        )
    arrays, unpaired = resolved.vectors(chosen.sets, paired=chosen.paired)
    reason = resolved.reason or unpaired
    if reason:
        chosen.function(**_small_sets(chosen), interval=None, **settings)  # refuses what a defined test would refuse
        result = _undefined(kind, reason, interval, settings)
    else:
        result = _with_contrast(chosen.function(**arrays, interval=interval, **settings), resolved)
    return _association(kind, resolved, model, result, settings)


def _stereotypes(test: TestLike | None) -> Stereotypes | None:
    """The lexicon of a test where it is one of stereotypes."""
    named = None if test is None or isinstance(test, WefeQuery) else treatment(test)
    return named if isinstance(named, Stereotypes) else None


def _check_settings(test: SetTest, settings: Iterable[str]) -> None:
    parameters = signature(test.function).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    known = [name for name in parameters if name not in (*test.sets, "interval")]
    for name in settings:
        if name not in known:
            hint = did_you_mean(name, known) or "."
            choice = f"its settings are {', '.join(known)}" if known else "it takes no settings"
            raise ParameterError(f"The association test {test.name!r} has no setting {name!r}; {choice}{hint}")


def _small_sets(test: SetTest) -> dict[str, Floats]:
    """Two small vectors for each set of a test."""
    return {role: np.array([[1.0, place], [place, 1.0]]) for place, role in enumerate(test.sets, start=2)}


def _with_contrast(result: AssociationResult, resolved: Resolved) -> AssociationResult:
    """Return the result of WEAT with the contrast of families of words, as it is and at equal word frequency."""
    if not isinstance(result, WeatResult) or result.contrast is None:
        return result
    level = result.contrast.level
    test = contrast_of(SimilarityTable(resolved), level=level)
    return replace(
        result,
        contrast=test.contrast,
        p_contrast=test.p,
        p_equal_frequency=None if test.adjusted is None else test.adjusted.p,
        frequency=test.frequency_effect(1 - level),
    )


def _undefined(kind: str, reason: str, interval: Resampling | None, settings: Mapping[str, Any]) -> AssociationResult:
    rules = {key: settings[key] for key in ("alternative", "ddof", "ties") if kind == "weat" and key in settings}
    empty = WeatResult if kind == "weat" else AssociationResult
    return empty(value=None, reason=reason, interval=not_estimated(interval, reason), **rules)


def _association(
    kind: str,
    resolved: Resolved,
    model: Embedding,
    result: AssociationResult,
    settings: Mapping[str, Any],
    number: int = 0,
) -> Association:
    """Numbers of a test with the words and the settings that they rest on."""
    query, policy = resolved.query, resolved.policy
    balanced = bool(query.counterparts) or policy.counterparts == "as-published"
    recorded = {
        "kind": kind,
        "min_coverage": policy.min_coverage,
        "case_fallback": resolved.case_fallback,
        **({"counterparts": policy.counterparts} if balanced else {}),
        "model_checksum": model.checksum,
        **settings,
    }
    kind_of_result = Weat if kind == "weat" else Association
    coverage = Coverage.from_resolved(resolved.sets, number)
    circular = _circular(query, model)
    return kind_of_result(kind, query.name, model.name, query.labels, result, coverage, recorded, circular)  # type: ignore[arg-type]


def _circular(query: Query, model: Embedding) -> str:
    """Sentence on lists that were made from this model or its text, or may be; empty where no list says so."""
    if not any(lexicon.made for lexicon in query.sources):
        return ""
    from biasgauge.lexicons import circularity

    answer = circularity(query, [model])
    return "" if answer is None or answer.passes else answer.reason


def weat_of_resolved(resolved: Resolved, model: int = 0, interval: Resampling | None = None, **settings: Any) -> Weat:  # noqa: ANN401 - those of biasgauge.metrics.weat
    """WEAT of a query that was resolved already, in one of its models; settings as in `weat`."""
    embedding = cast("Embedding", resolved.models[model])
    arrays, _ = resolved.vectors(TEST_ROLES, model=model)
    if resolved.reason is None:
        result = registry.get("association_test", "weat").function(**arrays, interval=interval, **settings)
        result = _with_contrast(result, resolved.in_model(model))
    else:
        result = _undefined("weat", resolved.reason, interval, settings)
    return cast("Weat", _association("weat", resolved, embedding, result, settings, model))


def query_of_test(test: TestLike | None, given: Mapping[str, WordsLike | None], roles: Sequence[str]) -> Query:
    """Build the query of an association test from a lexicon, a query of WEFE, or words given by role.

    Raises:
        ParameterError: both a lexicon and words are given, a set is missing, or the lexicon is of another kind.
    """
    stated = [role for role, words in given.items() if words is not None]
    if test is not None and stated:
        raise ParameterError(
            f"An association test takes either a lexicon or sets. Got {test!r} and {', '.join(stated)}."
        )
    if test is None:
        missing = [role for role in roles if given[role] is None]
        if missing:
            raise ParameterError(
                f"The association test needs a lexicon (test='weat7', --test weat7), or the sets {', '.join(roles)}. "
                f"Missing: {', '.join(missing)}."
            )
        return Query.from_sets({role: words_of(given[role]) for role in roles})  # type: ignore[arg-type]
    if isinstance(test, WefeQuery):
        return Query.from_sets(_sets_from_wefe(test, roles), name="query")
    named = treatment(test)
    if not isinstance(named, AssociationTest):
        raise ParameterError(
            f"The lexicon {named.name!r} is of kind {named.kind!r}; an association test needs kind 'test'"
            + (", or the kind mac." if isinstance(named, Stereotypes) else ".")
        )
    sets = {role: named.roles[role] for role in roles}
    return replace(Query.from_sets(sets, name=named.name, counterparts=named.counterparts), lexicon=named)


def _sets_from_wefe(query: WefeQuery, needed: Sequence[str]) -> dict[str, WordSet]:
    """Sets of a query of WEFE that a test needs; the query may have more of them than that."""
    sets: dict[str, WordSet] = {}
    for roles, members, names in (
        ("xy", query.target_sets, getattr(query, "target_sets_names", "xy")),
        ("ab", query.attribute_sets, getattr(query, "attribute_sets_names", "ab")),
    ):
        least = sum(role in needed for role in roles)
        if not least <= len(members) <= len(roles):
            group = "target" if roles == "xy" else "attribute"
            raise ParameterError(
                f"The association test needs {least} {group} set{'s' * (least != 1)} of a query. Got {len(members)}."
            )
        sets |= {
            role: WordSet(str(name), tuple(words))
            for role, name, words in zip(roles, names, members, strict=False)
            if role in needed
        }
    return sets
