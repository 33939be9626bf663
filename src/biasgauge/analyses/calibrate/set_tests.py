"""Association tests on sets of carriers: what they say at each dose, and how often they say it of nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from biasgauge import registry
from biasgauge.analyses.calibrate.parts import Point, Rate, SetCurve
from biasgauge.analyses.calibrate.readings import Readings
from biasgauge.core import Estimate, Floats, Record
from biasgauge.metrics import SetTest
from biasgauge.stats import Side, blank_margin, detection_between, holm, mean_estimate, wilson
from biasgauge.vectors import Embedding

ALPHA = 0.05
LIMIT_OF_BLANK = "{}, beyond the limit of blank of the other texts"
TARGETS, ATTRIBUTES, CONTRAST, BOTH = (
    "weat, p over targets",
    "weat, p over attributes",
    "weat, interval of the contrast",
    "weat, all three",
)

_ONE_SET = ("x", "y", "a")
"""Roles of tests that have two groups of ends, and one set of words that may lean to them."""


@dataclass(frozen=True)
class SetLimit(Record):
    """What an association test on sets of so many words can tell from nothing.

    Attributes:
        test: its name.
        words: words in a set of targets: carriers of a dose, against as many blanks where the test has two sets.
        side: doses that lean to the first or the second end.
        blank: limit of blank of its value: 5 % of blank sets lie beyond it, on the side to which doses move it.
        detection: limit of detection, as a dose, between doses that were planted; undefined where none reaches it.
        doses: doses of this side, from 0 on, counted.
        means: mean of the test's value at these.
        sds: standard deviation over sets.
    """

    test: str
    words: int
    side: Side
    blank: float | None
    detection: Estimate
    doses: tuple[float, ...]
    means: tuple[float, ...]
    sds: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class SetValues:
    """Values of tests on sets of carriers: (test, size, level) to draws × sets, and p-values of WEAT likewise.

    `blanks` are how many different words are blanks in some text, and how many there are in one; `elsewhere` how many
    are blanks in some other text than each.
    """

    levels: Floats
    counted: Mapping[float, float]
    values: Mapping[tuple[str, int, float], Floats]
    found: Mapping[tuple[str, int, float], Floats]
    independent: Mapping[int, int]
    blanks: tuple[int, float]
    elsewhere: tuple[int, ...]


def carrier_sets(
    readings: Readings, size: int, level: float, draw: int, random: np.random.Generator
) -> tuple[list[str], list[str]] | None:
    """So many carriers of a dose in one planted text, and as many blanks; None where there are too few."""
    names = np.array(readings.words[: readings.carriers], dtype=object)
    blanks = names[readings.levels[:, draw] == 0]
    pool = names[readings.levels[:, draw] == level]
    if len(pool) < size or len(blanks) < size * (2 if level == 0 else 1):
        return None
    chosen = random.choice(pool, size, replace=False)
    rest = blanks[~np.isin(blanks.astype(str), chosen.astype(str))] if level == 0 else blanks
    return list(chosen), list(random.choice(rest, size, replace=False))


def set_values(
    readings: Readings, tests: Sequence[str], sizes: Sequence[int], *, sets: int = 10, random_state: int = 0
) -> SetValues:
    """Run every test on random sets of every size and dose, in every model."""
    random = np.random.default_rng([random_state, 13])
    levels = np.unique(readings.levels)
    chosen: Mapping[str, SetTest] = {name: registry.get("association_test", name) for name in tests}
    values: dict[tuple[str, int, float], list[tuple[int, float]]] = {}
    found: dict[tuple[str, int, float], list[tuple[int, float]]] = {}
    for draw, _, vectors in readings.runs():
        for size in sizes:
            for level in levels.tolist():
                for _ in range(sets):
                    words = carrier_sets(readings, size, level, draw, random)
                    if words is None:
                        break
                    for name, value, decisions in _run(chosen, vectors, readings.ends, *words):
                        values.setdefault((name, size, level), []).append((draw, value))
                        for rule, passes in decisions.items():
                            found.setdefault((rule, size, level), []).append((draw, passes))
    draws = readings.levels.shape[1]
    blanks = [int((readings.levels[:, draw] == 0).sum()) for draw in range(draws)]
    return SetValues(
        levels,
        {level: float(readings.doses[readings.levels == level].mean()) for level in levels.tolist()},
        {key: np.array(rows, np.float64) for key, rows in values.items()},
        {key: np.array(rows, np.float64) for key, rows in found.items()},
        {size: max(1, sum(count // (2 * size) for count in blanks)) for size in sizes},
        (int((readings.levels == 0).any(axis=1).sum()), float(np.mean(blanks))),
        tuple(int((np.delete(readings.levels, draw, axis=1) == 0).any(axis=1).sum()) for draw in range(draws)),
    )


def _run(
    tests: Mapping[str, SetTest],
    vectors: Embedding,
    ends: tuple[tuple[str, ...], tuple[str, ...]],
    carriers: Sequence[str],
    blanks: Sequence[str],
) -> Iterator[tuple[str, float, dict[str, float]]]:
    """Value of each test, and what WEAT's tests decide."""
    first, second = ([word for word in words if word in vectors] for words in ends)
    both = min(len(first), len(second))
    sets = {
        "targets": _rows(vectors, carriers), "blanks": _rows(vectors, blanks),
        "first": _rows(vectors, first), "second": _rows(vectors, second),
    }  # fmt: skip
    for name, test in tests.items():
        if test.sets == _ONE_SET:
            roles = {"x": sets["first"][:both], "y": sets["second"][:both], "a": sets["targets"]}
        else:
            roles = {"x": sets["targets"], "y": sets["blanks"], "a": sets["first"], "b": sets["second"]}
        settings: dict[str, Any] = {"alternative": "two-sided", "samples": 1000} if name == "weat" else {}
        result: Any = test.function(**{role: roles[role] for role in test.sets}, interval=None, **settings)
        if result.value is not None:
            yield name, float(result.value), _decisions(result) if name == "weat" else {}


def _rows(vectors: Embedding, words: Sequence[str]) -> Floats:
    rows: Floats = vectors.vectors[vectors.lookup(words).rows].astype(np.float64)
    return rows


def _decisions(result: Any) -> dict[str, float]:  # noqa: ANN401 - of WEAT
    targets, attributes = result.p_value < ALPHA, result.p_attributes < ALPHA
    contrast = bool(result.contrast.excludes(0.0))
    return {
        TARGETS: float(targets), ATTRIBUTES: float(attributes), CONTRAST: float(contrast),
        BOTH: float(targets and attributes and contrast),
    }  # fmt: skip


def set_limits(of: SetValues, *, level: float = 0.95, random_state: int = 0) -> tuple[SetLimit, ...]:
    """Limits of blank and of detection of every test and size, to both sides."""
    limits = []
    for name, size in dict.fromkeys((name, size) for name, size, _ in of.values):
        for side in get_args(Side):
            sign = 1.0 if side == "first" else -1.0
            doses = [dose for dose in sorted(of.levels.tolist(), key=abs) if dose * sign >= 0]
            columns = [of.values.get((name, size, dose)) for dose in doses]
            if columns[0] is None or len(columns) < 2 or any(column is None for column in columns[1:]):
                continue
            rows = [column for column in columns if column is not None]
            counted = np.abs([of.counted[dose] for dose in doses])
            counted[0] = 0.0
            limit = detection_between(
                counted, rows, words=of.blanks[0], part=_part(of, name, size), level=level, random_state=random_state
            )
            limits.append(
                SetLimit(
                    name, size, side, limit.blank, limit.detection, tuple(counted.tolist()), limit.means, limit.sds
                )
            )
    return tuple(limits)


def _part(of: SetValues, name: str, size: int) -> float:
    """Which part of a text's blanks the value of a test rests on, where that is one set of words."""
    return size / of.blanks[1] if registry.get("association_test", name).sets == _ONE_SET else 0.0


def set_curves(of: SetValues, *, level: float = 0.95) -> tuple[SetCurve, ...]:
    """Every test and size against the dose."""
    curves = []
    for name, size in dict.fromkeys((name, size) for name, size, _ in of.values):
        rows = {dose: of.values[name, size, dose] for dose in of.levels.tolist() if (name, size, dose) in of.values}
        texts = {
            dose: np.array([own[own[:, 0] == draw, 1].mean() for draw in np.unique(own[:, 0])])
            for dose, own in rows.items()
        }
        points = tuple(
            Point(dose, of.counted[dose], mean_estimate(means, level=level)) for dose, means in texts.items()
        )
        doses = np.concatenate([np.full(len(own), of.counted[dose]) for dose, own in rows.items()])
        values = np.concatenate([own[:, 1] for own in rows.values()])
        varies = np.ptp(doses) > 0 and np.ptp(values) > 0
        r = float(np.corrcoef(doses, values)[0, 1]) if varies else None
        several = min(map(len, texts.values())) > 1
        curves.append(SetCurve(name, size, points, r, _monotone(list(texts.values())) if several else None))
    return tuple(curves)


def _monotone(texts: Sequence[Floats]) -> bool:
    """Whether no step goes against the whole way from the lowest to the highest dose (paired t, one-sided, Holm)."""
    from scipy.stats import ttest_rel

    up = 1.0 if texts[-1].mean() >= texts[0].mean() else -1.0
    p_values: list[float | None] = []
    for low, high in pairwise(texts):
        if len(low) == len(high) and np.ptp((high - low) * up) > 0:
            p_values.append(float(ttest_rel(high * up, low * up, alternative="less").pvalue))
    return not any(p is not None and p < ALPHA for p in holm(p_values))


def blank_rates(of: SetValues, *, level: float = 0.95) -> tuple[Rate, ...]:
    """How often each test lies beyond the limit of blank that the other texts set, by size and dose.

    At dose 0 that is meant to be 5 %; it is looked for on the side to which doses to the first end move the test.
    Nothing where only one text was planted.
    """
    rows = []
    for name, size in dict.fromkeys((name, size) for name, size, _ in of.values):
        blanks = of.values.get((name, size, 0.0))
        if blanks is None or len(of.elsewhere) < 2:
            continue
        for dose in of.levels.tolist():
            own = of.values.get((name, size, dose))
            far = of.values.get((name, size, float(of.levels.max() if dose >= 0 else of.levels.min())))
            if own is None or far is None:
                continue
            up = 1.0 if far[:, 1].mean() >= blanks[:, 1].mean() else -1.0
            beyond = []
            for draw in np.unique(own[:, 0]).astype(int).tolist():
                rest = blanks[blanks[:, 0] != draw]
                margin = blank_margin(rest, of.elsewhere[draw], _part(of, name, size))
                beyond.append((own[own[:, 0] == draw, 1] - rest[:, 1].mean()) * up > margin)
            passes = np.concatenate(beyond)
            share = wilson(float(passes.mean()), of.independent[size], level, over="sets of carriers")
            rows.append(Rate(LIMIT_OF_BLANK.format(name), size, dose, share, len(passes)))
    return tuple(rows)


def rates(of: SetValues, *, level: float = 0.95) -> tuple[Rate, ...]:
    """How often WEAT's tests find something, by size and dose."""
    rows = []
    for (name, size, dose), decisions in sorted(of.found.items(), key=lambda item: item[0]):
        share = wilson(float(decisions[:, 1].mean()), of.independent[size], level, over="sets of carriers")
        rows.append(Rate(name, size, dose, share, len(decisions)))
    return tuple(rows)
