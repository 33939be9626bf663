"""Association tests on an embedding: word sets in, a labeled result with coverage out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias, cast, get_args, runtime_checkable

import numpy as np

from biasgauge import registry
from biasgauge.core import LexiconLike, VectorsLike, WordsLike, check_choice
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Stereotypes, WordSet, lexicon, words_of
from biasgauge.metrics import AssociationResult, MacChange, MacResult, WeatResult, mac_change_over_runs, mac_of_sets
from biasgauge.metrics import mac_change as mac_change_of
from biasgauge.results import share_text
from biasgauge.scores.word_set_results import Association, Weat
from biasgauge.stats import BCA, Resampling, not_estimated
from biasgauge.vectors import SEPARATE, Coverage, Lookup, load, separately_trained

Trimming = Literal["balanced", "none", "as_published"]
CASE_HINT = "; enough are found in another case: case_fallback=True (--case-fallback)"
CUT = "cut from the end of the longer set, as published"


@runtime_checkable
class WefeQuery(Protocol):
    """What WEFE calls a query: sets of targets and of attributes, as many as the test needs, with their names."""

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
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    trimming: Trimming = "balanced",
    interval: Resampling | None = Resampling(),  # noqa: B008 - frozen
    **settings: Any,  # noqa: ANN401 - those of biasgauge.metrics.weat, which says what is wrong with them
) -> Weat:
    """Word Embedding Association Test: do X and Y lean differently towards A and B?

    Args:
        vectors: an `Embedding` or anything `load` takes.
        test: a lexicon of kind "test", your own TOML, or a WEFE query; or give the four sets.
        x: words, a lexicon, or one of its sets ("weat7:x").
        y: as x.
        a: as x.
        b: as x.
        min_coverage: share of each set that must be found for the result to be defined.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        trimming: what else goes when words are lost. "balanced": the other form of a word, where the lexicon says which
            forms belong together (`counterparts`), so that masculine and feminine forms stay as many; "none": nothing;
            "as_published": as XWEAT's code has it, the last words of the longer of X and Y, and of A and B.
        interval: how to find the interval over words; None for none.
        settings: `alternative` ("greater", "less", "two-sided"), `ddof` (0 or 1), `max_exact`, `samples`, `ties`
            ("inclusive", or "strict" as XWEAT counts), `random_state`.

    Raises:
        ParameterError: an argument cannot be used, or a word is in both X and Y.
    """
    settings |= {"min_coverage": min_coverage, "case_fallback": case_fallback, "trimming": trimming}
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
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    trimming: Trimming = "balanced",
    interval: Resampling | None = Resampling(),  # noqa: B008 - frozen
    **settings: Any,  # noqa: ANN401 - those of the test, which says what is wrong with them
) -> Association:
    """Any association test of the room `association`, by its name in `kind`; arguments as in `weat`.

    A word that occurs twice in a set counts once. Where the test pairs the words of X and Y by position, a pair is
    left out as a whole when either of its words is lost.
    """
    chosen = registry.get("association_test", kind)
    model = load(vectors)
    check_choice(get_args(Trimming), trimming=trimming)
    if trimming == "as_published" and kind != "weat":
        raise ParameterError(f"The 'trimming' as published is that of WEAT; the test is {kind!r}.")
    name, sets, counterparts = sets_of_test(test, {"x": x, "y": y, "a": a, "b": b}, chosen.sets)
    words = {role: members.words for role, members in sets.items()}
    coverage = model.coverage(words, case_fallback=case_fallback, directions=True)
    if shared := set.intersection(*(set(coverage.sets[role].rows.tolist() if role in sets else ()) for role in "xy")):
        raise ParameterError(
            f"The word {model.words[min(shared)]!r} is in both target sets, X and Y, which a test of their difference "
            "cannot have; remove it from one."
        )
    if trimming == "balanced" and counterparts:
        coverage = _balanced(coverage, counterparts)
    reason = coverage.shortfall(min_coverage)
    if reason and not case_fallback and not model.coverage(words, case_fallback=True).shortfall(min_coverage):
        reason += CASE_HINT
    if trimming == "as_published":
        coverage = _as_published(coverage, words)
    paired = _paired(coverage, words) if chosen.paired else coverage
    recorded = {
        "kind": kind,
        "min_coverage": min_coverage,
        "case_fallback": case_fallback,
        **({"trimming": trimming} if counterparts or trimming == "as_published" else {}),
        "model_checksum": model.checksum,
        **settings,
    }
    labels = {role: members.name for role, members in sets.items()}
    if reason:
        rules = {key: settings[key] for key in ("alternative", "ddof", "ties") if kind == "weat" and key in settings}
        empty = WeatResult if kind == "weat" else AssociationResult
        result = empty(value=None, reason=reason, interval=not_estimated(interval, reason), **rules)
    else:
        arrays = {role: model.vectors[lookup.rows] for role, lookup in paired.sets.items()}
        result = chosen.function(**arrays, interval=interval, **settings)
    if kind == "weat":
        return Weat(kind, name, model.name, labels, cast("WeatResult", result), coverage, recorded)
    return Association(kind, name, model.name, labels, result, coverage, recorded)


def sets_of_test(
    test: TestLike | None, given: Mapping[str, WordsLike | None], needed: tuple[str, ...]
) -> tuple[str, dict[str, WordSet], tuple[tuple[str, str], ...]]:
    """The name of all sets, those that the test needs by role, and which forms belong together."""
    stated = [role for role, words in given.items() if words is not None]
    if test is not None and stated:
        raise ParameterError(
            f"An association test takes either a lexicon or sets. Got {test!r} and {', '.join(stated)}."
        )
    if test is None:
        missing = [role for role in needed if given[role] is None]
        if missing:
            raise ParameterError(
                f"The association test needs the sets {', '.join(needed)}. Missing: {', '.join(missing)}."
            )
        return "given words", {role: words_of(given[role]) for role in needed}, ()  # type: ignore[arg-type]
    if isinstance(test, WefeQuery):
        return (*_from_wefe(test, needed), ())
    named = lexicon(test)
    if not isinstance(named, AssociationTest):
        raise ParameterError(
            f"The lexicon {named.name!r} is of kind {named.kind!r}; an association test needs kind 'test'."
        )
    return named.name, {role: named.roles[role] for role in needed}, named.counterparts


def _from_wefe(query: WefeQuery, needed: tuple[str, ...]) -> tuple[str, dict[str, WordSet]]:
    """The sets of a query that a test needs; a query may have more of them than that."""
    sets: dict[str, WordSet] = {}
    for roles, members, names in (
        ("xy", query.target_sets, getattr(query, "target_sets_names", "xy")),
        ("ab", query.attribute_sets, getattr(query, "attribute_sets_names", "ab")),
    ):
        least = sum(role in needed for role in roles)
        if not least <= len(members) <= len(roles):
            what = "target" if roles == "xy" else "attribute"
            raise ParameterError(
                f"The association test needs {least} {what} set{'s' * (least != 1)} of a query. Got {len(members)}."
            )
        sets |= {
            role: WordSet(str(name), tuple(words))
            for role, name, words in zip(roles, names, members, strict=False)
            if role in needed
        }
    return "query", sets


def _paired(coverage: Coverage, words: Mapping[str, Sequence[str]]) -> Coverage:
    """Keep the pairs x[i], y[i] of which both words were found."""
    rows = {role: coverage.sets[role].row_of for role in ("x", "y")}
    kept = [pair for pair in zip(words["x"], words["y"], strict=True) if pair[0] in rows["x"] and pair[1] in rows["y"]]
    pairs = {}
    for end, role in enumerate(("x", "y")):
        members = tuple(pair[end] for pair in kept)
        pairs[role] = Lookup(
            members, np.array([rows[role][word] for word in members], np.intp), coverage.sets[role].lost
        )
    return Coverage.of({**coverage.sets, **pairs})


def _balanced(coverage: Coverage, counterparts: Sequence[tuple[str, str]]) -> Coverage:
    """Leave out the words whose counterpart was lost from the same set, with that reason.

    In a language with grammatical gender a masculine form lies near male words for that reason alone. A set with both
    forms of each word cancels that, until one form has no vector: its counterpart then has to go too.
    """
    sets = {}
    for role, lookup in coverage.sets.items():
        lost = {word: other for pair in counterparts for word, other in (pair, pair[::-1]) if other in lookup.lost}
        usable = np.array([word not in lost for word in lookup.words], bool)
        reasons = {word: f"its counterpart {lost[word]!r} was lost" for word in lookup.words if word in lost}
        kept = lookup.only(usable, "")
        sets[role] = Lookup(kept.words, kept.rows, MappingProxyType({**lookup.lost, **reasons}), lookup.respelled)
    return Coverage.of(sets)


def _as_published(coverage: Coverage, words: Mapping[str, Sequence[str]]) -> Coverage:
    """X and Y, then A and B, cut to the same length by dropping the last words; a word listed twice counts twice."""
    rows = {role: lookup.row_of for role, lookup in coverage.sets.items()}
    listed = {role: [word for word in words[role] if word in rows[role]] for role in coverage.sets}
    sets = {}
    for pair in ("x", "y"), ("a", "b"):
        least = min(len(listed[role]) for role in pair)
        for role in pair:
            kept, gone, lookup = listed[role][:least], listed[role][least:], coverage.sets[role]
            lost = {**lookup.lost, **{word: CUT for word in gone if word not in kept}}
            chosen = np.array([rows[role][word] for word in kept], np.intp)
            sets[role] = Lookup(tuple(kept), chosen, MappingProxyType(lost), lookup.respelled)
    return Coverage.of(sets)


def mac(
    vectors: VectorsLike,
    stereotypes: str | os.PathLike[str] | Stereotypes,
    *,
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    interval: Resampling | None = BCA,
) -> Association:
    """Mean average cosine distance of the protected words from every group's attributes; nearer to 1 is less biased.

    Targets are the lexicon's `eval_targets`, or all protected words where it names none.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        stereotypes: a lexicon of kind "stereotypes".
        min_coverage: share of each set that must be found for the result to be defined.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        interval: how to find the interval over words; None for none.
    """
    named = lexicon(stereotypes)
    if not isinstance(named, Stereotypes):
        raise ParameterError(f"The lexicon {named.name!r} is of kind {named.kind!r}; MAC needs kind 'stereotypes'.")
    model = load(vectors)
    protected = [word for group in named.groups for word in group.protected]
    sets = {"targets": tuple(named.eval_targets or protected)}
    sets |= {f"{group.name}.attributes": group.attributes for group in named.groups}
    coverage = model.coverage(sets, case_fallback=case_fallback, directions=True)
    short = coverage.short_of(min_coverage)
    arrays = {name: model.vectors[lookup.rows] for name, lookup in coverage.sets.items()}
    if short:
        reason = f"fewer than {share_text(min_coverage)} of the words found in {', '.join(short)}"
        result = MacResult(value=None, reason=reason, interval=not_estimated(interval, reason))
    else:
        targets = arrays.pop("targets")
        result = mac_of_sets(targets, list(arrays.values()), interval=interval)
    settings = {"min_coverage": min_coverage, "case_fallback": case_fallback, "model_checksum": model.checksum}
    return Association("mac", named.name, model.name, {name: name for name in sets}, result, coverage, settings)


def mac_change(
    before: VectorsLike,
    after: VectorsLike,
    stereotypes: str | os.PathLike[str] | Stereotypes,
    *,
    before_replicates: Sequence[VectorsLike] = (),
    after_replicates: Sequence[VectorsLike] = (),
    min_coverage: float = 0.8,
    case_fallback: bool = False,
) -> MacChange:
    """The paired t test of Manzini et al. between two embeddings, over (target, attribute set) means.

    It says how far the change would move with other words. Where the two were trained separately
    (`embeddings.separate_training`), other training runs move it too, and `warnings` says so: with replicates of both
    sides, the interval and p are over target words and training runs. Undefined, with the reason, when MAC is
    undefined on any.

    Args:
        before: an `Embedding` or anything `load` takes.
        after: the same after the change.
        stereotypes: a lexicon of kind "stereotypes".
        before_replicates: other training runs of the recipe of `before`; both sides need some, or neither.
        after_replicates: of that of `after`.
        min_coverage: share of each set that must be found for a MAC to be defined.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.

    Raises:
        ParameterError: the embeddings do not have the same words of the lexicon, or one side alone has replicates.
    """
    if bool(before_replicates) != bool(after_replicates):
        raise ParameterError("Replicates must be given of both sides, or of neither. Got those of one.")
    sides = [[load(run) for run in runs] for runs in ((before, *before_replicates), (after, *after_replicates))]
    results = [
        mac(vectors, stereotypes, min_coverage=min_coverage, case_fallback=case_fallback, interval=None)
        for vectors in (*sides[0], *sides[1])
    ]
    words = [{name: lookup.words for name, lookup in result.coverage.sets.items()} for result in results]
    if any(own != words[0] for own in words):
        raise ParameterError("The two embeddings must have the same words of the lexicon for a paired test.")
    macs = [cast("MacResult", result.result) for result in results]
    if before_replicates:
        return mac_change_over_runs(macs[: len(sides[0])], macs[len(sides[0]) :])
    warnings = (SEPARATE,) if separately_trained(sides[0][0], sides[1][0]) else ()
    return replace(mac_change_of(*macs), warnings=warnings)
