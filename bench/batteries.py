"""What correction for many questions costs, and what it promises: batteries of questions with a known answer.

    python bench/batteries.py     600 questions of each size and contrast, 3,600 without; 2,000 batteries of each kind

Questions are drawn from the shipped GloVe vectors as in bench/verdicts.py: X and Y are words of two topics, which five
questions share, A and B the halves of a topic of each question's own, so that nothing is there; a contrast of a known
size is planted along a random direction. Batteries of 1, 5, 14 and 30 questions are put together from such fives, a
family each. Every battery is judged by each rule: "alone" does not correct; "fdr" is Benjamini and Hochberg's; with
"familywise" families share alpha, and Holm's steps pass on what is left; with "families" each family has alpha.

false    share of batteries with any association found where none is
FDP      mean share of false ones among the associations found
miss     mean share of these whose interval misses the contrast
power    share of the associations that are found
absent   share of the contrasts of 0 that are shown to be too small to matter
small    in batteries whose contrasts are all just what matters: share with any claim that one is too small, and the
         mean share of these among the claims of either kind
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import numpy as np

from biasgauge.audits.verdict_rule import Corrected, corrected, corrected_equivalences
from biasgauge.audits.verdicts import Correction
from biasgauge.core import Floats
from biasgauge.core.geometry import unit_rows
from biasgauge.metrics import contrast_test, side_of_words
from biasgauge.stats import TableSide, contrast_estimate
from biasgauge.vectors import load_default

ALPHA = 0.05
MARGIN = 0.03
"""Smallest contrast that matters: about that of the shipped vectors."""
PLANTED = (0.0, MARGIN, 0.06, 0.12)
WORDS = (8, 25, 100)
QUESTIONS = (1, 5, 14, 30)
FAMILY = 5
RULES = ("alone", "fdr", "familywise", "families")
Question = tuple[float, float, float]
"""p of no contrast, p of a contrast beyond the margin, and p of the contrast that there is."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=600, help="drawn of each size and contrast")
    parser.add_argument("--batteries", type=int, default=2_000)
    parser.add_argument("--words", type=int, nargs="*", default=WORDS)
    asked = parser.parse_args()
    heads = "".join(f"{head:>7}" for head in ("false", "FDP", "miss", "power", "absent"))
    print(f"{'words':>6}{'planted':>9}{'true':>6}{'questions':>11}  {'rule':<12}{heads}")
    for words in asked.words:
        # Of the many questions without a contrast few have a p as small as alpha / 30.
        banks = {size: questions(words, size, asked.questions * (1 if size else 6) // FAMILY) for size in PLANTED}
        for size, share in ((0.06, 0.0), (0.06, 0.5), (0.12, 0.5)):
            for count in QUESTIONS:
                for rule in RULES:
                    shown = judged(banks, size, share, count, rule, asked.batteries)
                    numbers = "".join(f"{number:>7.3f}" for number in shown)
                    print(f"{words:>6}{size:>9.2f}{share:>6.1f}{count:>11}  {rule:<12}{numbers}", flush=True)
        for count in QUESTIONS:
            for rule in RULES:
                any_small, among = small(banks[MARGIN], count, rule, asked.batteries)
                print(f"{words:>6}{MARGIN:>9.2f}{'all':>6}{count:>11}  {rule:<12}  small {any_small:.3f}{among:>7.3f}")


def questions(words: int, size: float, fives: int) -> list[list[Question]]:
    """Families of questions with the same targets; a contrast of this size is planted in each."""
    model, random = load_default(), np.random.default_rng([words, round(1_000 * size)])
    units = unit_rows(np.asarray(model.vectors, np.float64), pairwise=True)
    groups = np.repeat([0, 1], words)
    signs = 1.0 - 2 * groups

    def topic(count: int) -> tuple[Floats, Floats]:
        """Words of a topic, and the mean of the larger number of words that they are drawn from."""
        near = units[np.argsort(-(units @ units[random.integers(len(units))]))[: 4 * count]]
        return random.choice(near, count, replace=False), near.mean(axis=0)

    def question(targets: Floats, between: Floats) -> Question:
        along = random.standard_normal(units.shape[1])
        along -= (
            along @ between / (between @ between) * between
        )  # topics that differ along it would add to the contrast
        along /= np.linalg.norm(along)
        # Of four blocks with cosines of ± pull² / (1 + pull²), once vectors have length 1 again.
        pull = (size / 4 / (1 - size / 4)) ** 0.5
        rows, columns = (unit_rows(side + pull * signs[:, None] * along) for side in (targets, topic(2 * words)[0]))
        sides = side_of_words(groups, rows @ rows.T, None), side_of_words(groups, columns @ columns.T, None)
        table = rows @ columns.T
        small = contrast_estimate(table, *sides).equivalence_p(MARGIN) or 1.0
        return p_value(table, *sides), small, p_value(table - size / 4 * np.outer(signs, signs), *sides)

    families = []
    for _ in range(fives):
        (x, x_mean), (y, y_mean) = topic(words), topic(words)
        families.append([question(np.vstack([x, y]), x_mean - y_mean) for _ in range(FAMILY)])
    return families


def p_value(table: Floats, rows: TableSide, columns: TableSide) -> float:
    """Largest of the three p; that of the contrast alone where it is above alpha already."""
    p = contrast_estimate(table, rows, columns).p or 1.0
    return p if p > ALPHA else contrast_test(table, rows, columns).p or 1.0


def battery(
    banks: Mapping[bool, list[list[Question]]], share: float, count: int, random: np.random.Generator
) -> tuple[dict[int, tuple[str, Question]], list[bool]]:
    """Questions by number with their family, and which of them have a contrast: each with chance `share`."""
    asked: dict[int, tuple[str, Question]] = {}
    there = (random.random(count) < share).tolist()
    for number in range(count):
        if number % FAMILY == 0:
            drawn = {known: bank[random.integers(len(bank))] for known, bank in banks.items()}
        asked[number] = str(number // FAMILY), drawn[there[number]][number % FAMILY]
    return asked, there


def claims(asked: Mapping[int, tuple[str, Question]], rule: str) -> tuple[dict[int, float], dict[int, float]]:
    """Questions in which an association is found, and in which it is too small to matter, with their k."""
    if rule == "families":
        parts = [
            [number for number, (family, _) in asked.items() if family == name]
            for name in {f for f, _ in asked.values()}
        ]
    else:
        parts = [[number] for number in asked] if rule == "alone" else [list(asked)]
    found: dict[int, float] = {}
    too_small: dict[int, float] = {}
    for part in parts:
        correction: Correction = "fdr" if rule == "fdr" else "familywise"
        p_values = {number: (asked[number][0], asked[number][1][0]) for number in part}
        equivalence = {number: (asked[number][0], asked[number][1][1]) for number in part}
        associations = corrected(p_values, ALPHA, correction)
        smalls = corrected_equivalences(equivalence, associations, ALPHA, correction)
        too_small |= _held(smalls)
        found |= _held(associations)
    return {number: k for number, k in found.items() if number not in too_small}, too_small


def _held(corrections: Mapping[int, Corrected]) -> dict[int, float]:
    return {number: one.k for number, one in corrections.items() if one.p <= ALPHA}


def judged(
    banks: Mapping[float, list[list[Question]]], size: float, share: float, count: int, rule: str, batteries: int
) -> tuple[float, ...]:
    """The columns of the table, for batteries of one kind."""
    random = np.random.default_rng([count, round(100 * share)])
    any_false, fdp, miss = [], [], []
    seen = planted = absent = 0
    for _ in range(batteries):
        asked, there = battery({False: banks[0.0], True: banks[size]}, share, count, random)
        found, too_small = claims(asked, rule)
        false = sum(not there[number] for number in found)
        any_false.append(false > 0)
        fdp.append(false / max(len(found), 1))
        missed = [asked[number][1][2] <= ALPHA / k for number, k in found.items()]
        miss.append(sum(missed) / max(len(missed), 1))
        absent += sum(not there[number] for number in too_small)
        planted += sum(there)
        seen += sum(there[number] for number in found)
    power = seen / planted if planted else float("nan")
    shown = absent / (count * batteries - planted)
    return float(np.mean(any_false)), float(np.mean(fdp)), float(np.mean(miss)), power, shown


def small(bank: list[list[Question]], count: int, rule: str, batteries: int) -> tuple[float, float]:
    """Share of batteries of contrasts as large as the margin with a claim of less, and mean share of such claims."""
    random = np.random.default_rng(count)
    any_false, among = [], []
    for _ in range(batteries):
        asked, _ = battery({True: bank}, 1.0, count, random)
        found, too_small = claims(asked, rule)
        any_false.append(bool(too_small))
        among.append(len(too_small) / max(len(found) + len(too_small), 1))
    return float(np.mean(any_false)), float(np.mean(among))


if __name__ == "__main__":
    main()
