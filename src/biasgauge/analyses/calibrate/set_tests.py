"""Association tests on sets of carriers: values at each dose, limits, and rates of detection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from biasgauge import registry
from biasgauge.analyses.calibrate.readings import Readings
from biasgauge.analyses.calibrate.rows import CalibrationLimit, DetectionRate, DosePoint, SetCurve
from biasgauge.core import Floats
from biasgauge.metrics import SetTest
from biasgauge.stats import Side, blank_margin, detection_between, holm, mean_estimate, wilson
from biasgauge.vectors import Embedding

ALPHA = 0.05
LIMIT_OF_BLANK = "{}, beyond the limit of blank of the other texts"
TARGETS, ATTRIBUTES, CONTRAST, ALL_THREE = (
    "weat, p over targets",
    "weat, p over attributes",
    "weat, interval of the contrast",
    "weat, all three",
)
_ONE_SET = ("x", "y", "a")
"""Roles of tests that have two groups of ends, and one set of words that may lean to them."""
Cell = tuple[str, int, float]
"""Test, number of words and dose."""


@dataclass(frozen=True, eq=False)
class SetValues:
    """Values of tests on random sets of carriers.

    Attributes:
        levels: the intended doses.
        counted: mean counted dose of each.
        values: for each cell, sets × (draw, value of the test).
        decisions: for each cell, sets × (draw, whether WEAT's rule is significant).
        independent: for each size, number of sets of blanks that share no word.
        blanks: number of different words that are blanks in some text, and mean number of blanks of a text.
        blanks_elsewhere: for each text, number of words that are blanks in some other text.
    """

    levels: Floats
    counted: Mapping[float, float]
    values: Mapping[Cell, Floats]
    decisions: Mapping[Cell, Floats]
    independent: Mapping[int, int]
    blanks: tuple[int, float]
    blanks_elsewhere: tuple[int, ...]

    def tests(self) -> Iterator[tuple[str, int, dict[float, Floats]]]:
        """Yield tests and sizes with their values by dose."""
        for name, size in dict.fromkeys((name, size) for name, size, _ in self.values):
            by_dose = {dose: self.values.get((name, size, dose)) for dose in self.levels.tolist()}
            yield name, size, {dose: rows for dose, rows in by_dose.items() if rows is not None}

    def share_of_blanks(self, name: str, size: int) -> float:
        """Share of a text's blanks that the value of a test rests on, where that is one set of words; else 0."""
        return size / self.blanks[1] if registry.get("association_test", name).sets == _ONE_SET else 0.0


def carrier_sets(
    readings: Readings, size: int, level: float, draw: int, random: np.random.Generator
) -> tuple[list[str], list[str]] | None:
    """Draw carriers of a dose in one planted text, and as many blanks; None where there are too few."""
    names = np.array(readings.words[: readings.carriers], dtype=object)
    blanks = names[readings.levels[:, draw] == 0]
    pool = names[readings.levels[:, draw] == level]
    if len(pool) < size or len(blanks) < size * (2 if level == 0 else 1):
        return None
    carriers = random.choice(pool, size, replace=False)
    unused = blanks[~np.isin(blanks.astype(str), carriers.astype(str))] if level == 0 else blanks
    return list(carriers), list(random.choice(unused, size, replace=False))


def run_set_tests(
    readings: Readings, tests: Sequence[str], sizes: Sequence[int], *, sets: int = 10, random_state: int = 0
) -> SetValues:
    """Run every test on random sets of every size and dose, in every model."""
    random = np.random.default_rng([random_state, 13])
    levels = np.unique(readings.levels)
    functions: Mapping[str, SetTest] = {name: registry.get("association_test", name) for name in tests}
    values: dict[Cell, list[tuple[int, float]]] = {}
    decisions: dict[Cell, list[tuple[int, float]]] = {}
    for draw, _, vectors in readings.runs():
        for size in sizes:
            for level in levels.tolist():
                for _ in range(sets):
                    words = carrier_sets(readings, size, level, draw, random)
                    if words is None:
                        break
                    for name, value, significant in _run_tests(functions, vectors, readings.ends, *words):
                        values.setdefault((name, size, level), []).append((draw, value))
                        for rule, is_significant in significant.items():
                            decisions.setdefault((rule, size, level), []).append((draw, is_significant))
    blank = readings.levels == 0  # carriers × draws
    counts = blank.sum(axis=0).tolist()
    elsewhere = (np.delete(blank, draw, axis=1).any(axis=1).sum() for draw in range(blank.shape[1]))
    return SetValues(
        levels=levels,
        counted={level: float(readings.doses[readings.levels == level].mean()) for level in levels.tolist()},
        values={cell: np.array(rows, np.float64) for cell, rows in values.items()},
        decisions={cell: np.array(rows, np.float64) for cell, rows in decisions.items()},
        independent={size: max(1, sum(count // (2 * size) for count in counts)) for size in sizes},
        blanks=(int(blank.any(axis=1).sum()), float(np.mean(counts))),
        blanks_elsewhere=tuple(map(int, elsewhere)),
    )


def _run_tests(
    tests: Mapping[str, SetTest], vectors: Embedding, ends: Sequence[Sequence[str]], *word_sets: Sequence[str]
) -> Iterator[tuple[str, float, dict[str, float]]]:
    """Yield each test with its value and, of WEAT, whether each rule is significant."""
    targets, controls, first, second = (
        vectors.vectors[vectors.lookup([word for word in words if word in vectors]).rows].astype(np.float64)
        for words in (*word_sets, *ends)
    )
    n_pairs = min(len(first), len(second))
    for name, test in tests.items():
        if test.sets == _ONE_SET:
            roles = {"x": first[:n_pairs], "y": second[:n_pairs], "a": targets}
        else:
            roles = {"x": targets, "y": controls, "a": first, "b": second}
        settings: dict[str, Any] = {"alternative": "two-sided", "samples": 1000} if name == "weat" else {}
        result: Any = test.function(**{role: roles[role] for role in test.sets}, interval=None, **settings)
        significant: dict[str, float] = {}
        if name == "weat" and result.value is not None:
            p_values = {TARGETS: result.p_value, ATTRIBUTES: result.p_attributes}
            significant = {rule: float(p < ALPHA) for rule, p in p_values.items()}
            significant[CONTRAST] = float(bool(result.contrast.excludes(0.0)))
            significant[ALL_THREE] = min(significant.values())
        if result.value is not None:
            yield name, float(result.value), significant


def set_limits(values: SetValues, *, level: float = 0.95, random_state: int = 0) -> list[CalibrationLimit]:
    """Limits of blank and of detection of every test and size, to both sides; none where a dose has no values."""
    limits = []
    for name, size, by_dose in values.tests():
        for side in get_args(Side):
            sign = 1.0 if side == "first" else -1.0
            doses = [dose for dose in sorted(values.levels.tolist(), key=abs) if dose * sign >= 0]
            if len(doses) < 2 or not set(doses) <= by_dose.keys():
                continue
            counted = np.abs([values.counted[dose] for dose in doses])
            counted[0] = 0.0
            limit = detection_between(
                counted, [by_dose[dose] for dose in doses], words=values.blanks[0],
                part=values.share_of_blanks(name, size), level=level, random_state=random_state,
            )  # fmt: skip
            limits.append(CalibrationLimit("test", name, size, side, limit.blank, limit.detection))
    return limits


def set_curves(values: SetValues, *, level: float = 0.95) -> tuple[SetCurve, ...]:
    """Dose–response curve of every test and size."""
    curves = []
    for name, size, by_dose in values.tests():
        means, points = [], []
        for dose, rows in by_dose.items():
            means.append(np.array([rows[rows[:, 0] == draw, 1].mean() for draw in np.unique(rows[:, 0])]))
            points.append(DosePoint(dose, values.counted[dose], mean_estimate(means[-1], level=level)))
        doses = np.concatenate([np.full(len(rows), values.counted[dose]) for dose, rows in by_dose.items()])
        set_values = np.concatenate([rows[:, 1] for rows in by_dose.values()])
        varies = np.ptp(doses) > 0 and np.ptp(set_values) > 0
        r = float(np.corrcoef(doses, set_values)[0, 1]) if varies else None
        monotone = _is_monotone(means) if min(map(len, means)) > 1 else None
        curves.append(SetCurve(name, size, tuple(points), r, monotone))
    return tuple(curves)


def _is_monotone(text_means: Sequence[Floats]) -> bool:
    """Test that no step between doses goes against the overall trend (paired t, one-sided, Holm)."""
    from scipy.stats import ttest_rel

    sign = 1.0 if text_means[-1].mean() >= text_means[0].mean() else -1.0
    p_values: list[float | None] = []
    for low, high in pairwise(text_means):
        if len(low) == len(high) and np.ptp((high - low) * sign) > 0:
            p_values.append(float(ttest_rel(high * sign, low * sign, alternative="less").pvalue))
    return not any(p is not None and p < ALPHA for p in holm(p_values))


def blank_rates(values: SetValues, *, level: float = 0.95) -> tuple[DetectionRate, ...]:
    """Share of sets beyond the limit of blank that the other texts set, by test, size and dose.

    Nominally 5 % at dose 0, on the side to which doses of the first end move the test. None with a single text.
    """
    rates = []
    for name, size, by_dose in values.tests():
        blanks = by_dose.get(0.0)
        for dose, rows in by_dose.items():
            extreme = by_dose.get(float(values.levels.max() if dose >= 0 else values.levels.min()))
            if blanks is None or extreme is None or len(values.blanks_elsewhere) < 2:
                continue
            sign = 1.0 if extreme[:, 1].mean() >= blanks[:, 1].mean() else -1.0
            beyond = []
            for draw in np.unique(rows[:, 0]).astype(int).tolist():
                other_blanks = blanks[blanks[:, 0] != draw]
                margin = blank_margin(other_blanks, values.blanks_elsewhere[draw], values.share_of_blanks(name, size))
                beyond.append((rows[rows[:, 0] == draw, 1] - other_blanks[:, 1].mean()) * sign > margin)
            is_beyond = np.concatenate(beyond)
            rates.append(_rate(values, LIMIT_OF_BLANK.format(name), size, dose, is_beyond, level))
    return tuple(rates)


def weat_rates(values: SetValues, *, level: float = 0.95) -> tuple[DetectionRate, ...]:
    """Share of sets at which WEAT's rules are significant, by size and dose."""
    cells = sorted(values.decisions.items(), key=lambda item: item[0])
    return tuple(_rate(values, *cell, decisions[:, 1], level) for cell, decisions in cells)


def _rate(values: SetValues, name: str, size: int, dose: float, detected: Any, level: float) -> DetectionRate:  # noqa: ANN401 - an array of flags
    share = wilson(float(detected.mean()), values.independent[size], level, over="sets of carriers")
    return DetectionRate(name, size, dose, share, len(detected))
