"""Association tests on an embedding: word sets in, a labeled result with coverage out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np

from biasgauge import registry
from biasgauge._version import __version__
from biasgauge.association.result import AssociationResult
from biasgauge.association.weat import WeatResult
from biasgauge.embeddings import Coverage, Embedding, Lookup, load
from biasgauge.errors import ParameterError
from biasgauge.inputs import LexiconLike, VectorsLike, WordsLike
from biasgauge.lexicons import AssociationTest, WordSet, lexicon, words_of
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.scores.trimming import Trimming, as_published, balanced, check_trimming
from biasgauge.stats.bootstrap import Resampling, not_estimated
from biasgauge.stats.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd

ROLES = ("x", "y", "a", "b")


@runtime_checkable
class WefeQuery(Protocol):
    """What WEFE calls a query: two sets of targets and two of attributes, with their names."""

    target_sets: list[list[str]]
    attribute_sets: list[list[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Association(Result):
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
    def interval(self) -> Estimate | None:
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

    @property
    def estimate(self) -> Estimate:
        """The number with its interval."""
        ends = self.interval
        low, high, level = (None, None, 0.95) if ends is None else (ends.low, ends.high, ends.level)
        return Estimate(value=self.value, low=low, high=high, level=level, reason=self.reason)

    def to_frame(self) -> pd.DataFrame:
        """One row: the number, its interval, and whatever else the test found."""
        ends = self.estimate
        return super().to_frame().assign(low=ends.low, high=ends.high, level=ends.level)

    def summary(self) -> Summary:
        """The number with its interval, and which words it rests on."""
        name = f"{self.test} {self.name} on {self.model}"
        lost = self.coverage.lost
        sets = [
            (role, label, len(self.coverage.sets[role].words), self.coverage.sets[role].asked, lost.get(role, ()))
            for role, label in self.sets.items()
        ]
        counts = Column("found", "count"), Column("of", "count")
        return Summary(
            title=name,
            headline=f"{name}: undefined: {self.reason}" if self.value is None else f"{name}: {self._reading()}",
            sentences=self._sentences(),
            tables=(
                Table.of(
                    "sets",
                    "Words that the test rests on",
                    ["set", "stands for", *counts, Column("not in the vocabulary", "words")],
                    sets,
                ),
            ),
        )

    def _reading(self) -> str:
        """The number in words."""
        return _with_interval(f"{self.value:.4f}", self.interval)

    def _sentences(self) -> tuple[str, ...]:
        """What else to know."""
        return ()


@dataclass(frozen=True, eq=False, repr=False)
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
    def p_interval(self) -> Estimate | None:
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

    def _reading(self) -> str:
        size = _with_interval(f"effect size {self.value:.4f}", self.interval)
        p, spread = self.p_value, self.p_interval
        if p is None:
            return size
        drawn = self.p_method == "monte-carlo" and spread is not None
        within = f", 95 % interval [{spread.low:.2g}, {spread.high:.2g}]" if drawn and spread is not None else ""
        return f"{size}, p = {p:.4g} ({self.p_method}, {self.alternative}{within})"

    def _sentences(self) -> tuple[str, ...]:
        if self.value is None or self.statistic is None:
            return ()
        x, y, a, b = (self.sets[role] for role in ROLES)
        return (
            f"A positive effect: {x} is more associated with {a} than {y} is, and {y} with {b}.",
            f"Test statistic {self.statistic:.4f}.",
        )


def _with_interval(number: str, ends: Estimate | None) -> str:
    if ends is None or ends.low is None or ends.high is None:
        return f"{number}, without an interval" if ends is None or not ends.reason else f"{number}, {ends.reason}"
    what = f"{ends.level:.0%}, {ends.method}, over {ends.over}"
    return f"{number} [{ends.low:.4f}, {ends.high:.4f}] ({what})"


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
    found = association_test(
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
    check_trimming(trimming, kind)
    name, sets, counterparts = _sets(test, {"x": x, "y": y, "a": a, "b": b}, chosen.sets)
    words = {role: members.words for role, members in sets.items()}
    coverage = model.coverage(words, case_fallback=case_fallback, directions=True)
    _refuse_shared(model, coverage)
    if trimming == "balanced" and counterparts:
        coverage = balanced(coverage, counterparts)
    reason = coverage.shortfall(min_coverage)
    if trimming == "as_published":
        coverage = as_published(coverage, words)
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
    kept = Weat if kind == "weat" else Association
    return kept(kind, name, model.name, labels, result, coverage, recorded)


def _sets(
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
    sets = [*query.target_sets, *query.attribute_sets]
    if len(query.target_sets) != 2 or len(query.attribute_sets) != 2:
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
