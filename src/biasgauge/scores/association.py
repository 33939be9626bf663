"""Association tests on an embedding: word sets in, a labelled result with coverage out."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from biasgauge._version import __version__
from biasgauge.association import TESTS, AssociationResult, Interval, Resampling
from biasgauge.association.intervals import undefined_interval
from biasgauge.association.weat import WeatResult
from biasgauge.embeddings import Coverage, Lookup, load
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, WordSet, lexicon, words_of
from biasgauge.scores.trimming import as_published, balanced, check_trimming

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from biasgauge.embeddings import Embedding
    from biasgauge.scores.trimming import Trimming

ROLES = ("x", "y", "a", "b")


@runtime_checkable
class WefeQuery(Protocol):
    """What WEFE calls a query: two sets of targets and two of attributes, with their names."""

    target_sets: list[list[str]]
    attribute_sets: list[list[str]]


@dataclass(frozen=True)
class Association:
    """The outcome of an association test on one model.

    Attributes:
        test: which test, e.g. "weat" or "mac".
        name: the lexicon, or "given words".
        model: the model's name.
        sets: what each set stands for.
        result: the numbers.
        coverage: which words were found and which were lost.
        settings: everything that decides the result.
    """

    test: str
    name: str
    model: str
    sets: Mapping[str, str]
    result: AssociationResult
    coverage: Coverage
    settings: Mapping[str, Any]

    @property
    def value(self) -> float | None:
        """The test's number; None when it is undefined."""
        return self.result.value

    @property
    def reason(self) -> str | None:
        """Why it is undefined; None when it is not."""
        return self.result.reason

    @property
    def interval(self) -> Interval | None:
        """How far the number would move with other words of the same kind."""
        return self.result.interval

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "test": self.test,
            "name": self.name,
            "model": self.model,
            "sets": dict(self.sets),
            **self.result.to_dict(),
            "coverage": self.coverage.to_dict(),
            "settings": dict(self.settings),
            "version": __version__,
        }

    def _repr_html_(self) -> str:
        shown = "undefined: " + escape(self.reason or "") if self.value is None else f"{self.value:.3f}"
        ends = self.interval
        spread = "" if ends is None or ends.low is None else f" [{ends.low:.3f}, {ends.high:.3f}]"
        return f"<p>{escape(self.test)} {escape(self.name)} on {escape(self.model)}: <b>{shown}</b>{spread}</p>"


@dataclass(frozen=True)
class Weat(Association):
    """The outcome of a WEAT: positive when X leans to A and Y to B."""

    @property
    def weat(self) -> WeatResult:
        """The numbers, by their type."""
        if not isinstance(self.result, WeatResult):
            raise TypeError("the result of a Weat is a WeatResult")
        return self.result

    @property
    def effect_size(self) -> float | None:
        """Difference of the mean associations in standard deviations; None when undefined."""
        return self.weat.effect_size

    @property
    def statistic(self) -> float | None:
        """Sum of the associations of X less that of Y."""
        return self.weat.statistic

    @property
    def p_value(self) -> float | None:
        """Share of splits of X and Y at least as extreme as this one."""
        return self.weat.p_value

    @property
    def p_method(self) -> str | None:
        """How p was found: "exact" over all splits, or "monte-carlo"."""
        return self.weat.p_method

    @property
    def p_interval(self) -> Interval | None:
        """Where p itself may lie; a point when it is exact."""
        return self.weat.p_interval

    @property
    def alternative(self) -> str:
        """Which splits count as extreme."""
        return self.weat.alternative

    @property
    def associations(self) -> dict[str, float]:
        """How much closer each target word is to A than to B."""
        words = (*self.coverage.sets["x"].words, *self.coverage.sets["y"].words)
        found = (*self.weat.x_associations, *self.weat.y_associations)
        return dict(zip(words, found, strict=True)) if found else {}


def weat(
    vectors: object,
    test: str | os.PathLike[str] | AssociationTest | WefeQuery | None = None,
    *,
    x: object = None,
    y: object = None,
    a: object = None,
    b: object = None,
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    trimming: Trimming = "balanced",
    interval: Resampling | None = Resampling(),  # noqa: B008 - frozen
    **settings: Any,  # noqa: ANN401 - those of biasgauge.association.weat, which says what is wrong with them
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
        case_fallback: look words up in lower case, then capitalised, when they are not there as written.
        trimming: what else goes when words are lost. "balanced": the other form of a word, where the lexicon says which
            forms belong together (`counterparts`), so that masculine and feminine forms stay as many; "none": nothing;
            "as_published": as XWEAT's code has it, the last words of the longer of X and Y, and of A and B.
        interval: how to find the interval over words; None for none.
        settings: `alternative` ("greater", "less", "two-sided"), `ddof` (0 or 1), `max_exact`, `samples`, `ties`
            ("inclusive", or "strict" as XWEAT counts), `random_state`.

    Raises:
        ParameterError: an argument cannot be used, or a word is in both X and Y.
    """
    found = association(
        vectors,
        test,
        kind="weat",
        x=x,
        y=y,
        a=a,
        b=b,
        min_coverage=min_coverage,
        case_fallback=case_fallback,
        trimming=trimming,
        interval=interval,
        **settings,
    )
    return cast("Weat", found)


def association(
    vectors: object,
    test: str | os.PathLike[str] | AssociationTest | WefeQuery | None = None,
    *,
    kind: str = "weat",
    x: object = None,
    y: object = None,
    a: object = None,
    b: object = None,
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
    if kind not in TESTS:
        raise ParameterError(f"The 'kind' of an association test must be one of {', '.join(TESTS)}. Got {kind!r}.")
    model = load(vectors)
    check_trimming(trimming, kind)
    name, sets, counterparts = _sets(test, {"x": x, "y": y, "a": a, "b": b}, TESTS[kind].sets)
    words = {role: one.words for role, one in sets.items()}
    coverage = model.coverage(words, case_fallback=case_fallback, directions=True)
    _refuse_shared(model, coverage)
    if trimming == "balanced" and counterparts:
        coverage = balanced(coverage, counterparts)
    reason = coverage.shortfall(min_coverage)
    if trimming == "as_published":
        coverage = as_published(coverage, words)
    chosen = _paired(coverage, words) if TESTS[kind].paired else coverage
    recorded = {
        "kind": kind,
        "min_coverage": min_coverage,
        "case_fallback": case_fallback,
        **({"trimming": trimming} if counterparts or trimming == "as_published" else {}),
        "model_checksum": model.checksum,
        **settings,
    }
    labels = {role: one.name for role, one in sets.items()}
    if reason:
        rules = {key: settings[key] for key in ("alternative", "ddof", "ties") if kind == "weat" and key in settings}
        empty = WeatResult if kind == "weat" else AssociationResult
        result = empty(value=None, reason=reason, interval=undefined_interval(interval, reason), **rules)
    else:
        arrays = {role: model.vectors[one.rows] for role, one in chosen.sets.items()}
        result = TESTS[kind].function(**arrays, interval=interval, **settings)
    kept = Weat if kind == "weat" else Association
    return kept(kind, name, model.name, labels, result, coverage, recorded)


def _sets(
    test: object, given: Mapping[str, object], needed: tuple[str, ...]
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
    named = lexicon(test)  # type: ignore[arg-type]  # lexicon says what is wrong with it
    if not isinstance(named, AssociationTest):
        raise ParameterError(
            f"The lexicon {named.name!r} is of kind {named.kind!r}; an association test needs kind 'test'."
        )
    return named.name, {role: named.roles[role] for role in needed}, named.counterparts


def _from_wefe(query: WefeQuery, needed: tuple[str, ...]) -> tuple[str, dict[str, WordSet]]:
    sets = [*query.target_sets, *query.attribute_sets]
    if len(query.target_sets) != 2 or len(query.attribute_sets) != 2:  # noqa: PLR2004 - X, Y and A, B
        raise ParameterError(
            "A query needs two target and two attribute sets. "
            f"Got {len(query.target_sets)} and {len(query.attribute_sets)}."
        )
    names = [*getattr(query, "target_sets_names", "xy"), *getattr(query, "attribute_sets_names", "ab")]
    found = {role: WordSet(str(names[place]), tuple(sets[place])) for place, role in enumerate(ROLES)}
    return "query", {role: found[role] for role in needed}


def _refuse_shared(model: Embedding, coverage: Coverage) -> None:
    if not {"x", "y"} <= coverage.sets.keys():
        return
    shared = set(coverage.sets["x"].rows.tolist()) & set(coverage.sets["y"].rows.tolist())
    if shared:
        word = model.words[min(shared)]
        raise ParameterError(
            f"The word {word!r} is in both target sets, X and Y, which a test of their difference cannot have; remove "
            "it from one."
        )


def _paired(coverage: Coverage, words: Mapping[str, Sequence[str]]) -> Coverage:
    """Keep the pairs x[i], y[i] of which both words were found."""
    rows = {role: dict(zip(coverage.sets[role].words, coverage.sets[role].rows, strict=True)) for role in ("x", "y")}
    kept = [
        (first, second)
        for first, second in zip(words["x"], words["y"], strict=True)
        if first in rows["x"] and second in rows["y"]
    ]
    pairs = {
        role: Lookup(
            tuple(pair[end] for pair in kept),
            np.array([rows[role][pair[end]] for pair in kept], np.intp),
            coverage.sets[role].lost,
        )
        for end, role in enumerate(("x", "y"))
    }
    return Coverage.of({**coverage.sets, **pairs})
