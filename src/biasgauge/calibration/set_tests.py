"""Association tests on sets of carriers: what they say at each dose, and how often they say it of nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from biasgauge import registry
from biasgauge.arrays import Floats
from biasgauge.association.set_test import SetTest
from biasgauge.calibration.parts import Rate
from biasgauge.calibration.readings import Readings
from biasgauge.embeddings import Embedding
from biasgauge.results import Record
from biasgauge.stats import Estimate, wilson
from biasgauge.stats.detection import Side
from biasgauge.stats.detection_between import detection_between

ALPHA = 0.05
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

    `blanks` are how many different words are blanks in some text, and how many there are in one.
    """

    levels: Floats
    counted: Mapping[float, float]
    values: Mapping[tuple[str, int, float], Floats]
    found: Mapping[tuple[str, int, float], Floats]
    independent: Mapping[int, int]
    blanks: tuple[int, float]


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
            given = {"x": sets["first"][:both], "y": sets["second"][:both], "a": sets["targets"]}
        else:
            given = {"x": sets["targets"], "y": sets["blanks"], "a": sets["first"], "b": sets["second"]}
        settings: dict[str, Any] = {"alternative": "two-sided", "samples": 1000} if name == "weat" else {}
        result: Any = test.function(**{role: given[role] for role in test.sets}, interval=None, **settings)
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
            one_set = registry.get("association_test", name).sets == _ONE_SET
            found = detection_between(
                counted, rows, words=of.blanks[0], part=size / of.blanks[1] if one_set else 0.0, level=level,
                random_state=random_state,
            )  # fmt: skip
            limits.append(
                SetLimit(
                    name,
                    size,
                    side,
                    found.blank,
                    found.detection,
                    tuple(counted.tolist()),
                    found.means,
                    found.sds,
                )
            )
    return tuple(limits)


def rates(of: SetValues, *, level: float = 0.95) -> tuple[Rate, ...]:
    """How often WEAT's tests find something, by size and dose."""
    rows = []
    for (name, size, dose), found in sorted(of.found.items(), key=lambda item: (item[0][0], item[0][1], item[0][2])):
        share = wilson(float(found[:, 1].mean()), of.independent[size], level, over="sets of carriers")
        rows.append(Rate(name, size, dose, share, len(found)))
    return tuple(rows)
