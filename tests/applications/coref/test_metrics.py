"""MUC, B³ and CEAFφ4: against the reference scorer's cases, slow loops, brute force, and swapped."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.applications.coref.scores import METRICS, RATES, all_sums, conll_rates, document_sums, rates

if TYPE_CHECKING:
    from biasgauge.applications.coref.document import Clusters

MUC, B3, CEAF = "muc", "b_cubed", "ceaf_e"
KEY_A = "a bc def"
KEY_BIG = "12345 67 89ABC"
# Key, response, and (recall, precision) of each metric, as conll/reference-coreference-scorers gives them in
# test/TestCases.README and test/CorefMetricTestConfig.pm. Where it leaves CEAFφ4 open, it was worked out by hand:
# A10: a–a 1, bc–b 2/3, def–d 2/4, together 13/6 of 3 and of 6 things. A11: def–abcdef 6/9 of 3 and of 1.
# A12: a–a 1, bc–c 2/3, def–d 2/4 of 3 and of 7. A13: def–axycdez 4/10 (bc 2/9, a 2/8) of 3 and of 1.
# B1: cde–de 4/5, ab–bcx 2/5, of 2 and of 2. C1: the same and fg–fg 1, of 3 and of 3.
CASES: dict[str, tuple[str, str, dict[str, tuple[float, float]]]] = {
    "A1": (KEY_A, "a bc def", {MUC: (1, 1), B3: (1, 1), CEAF: (1, 1)}),
    "A2": (KEY_A, "a de", {MUC: (1 / 3, 1), B3: (7 / 18, 1), CEAF: (0.6, 0.9)}),
    "A3": (KEY_A, "a bcx defy z", {MUC: (1, 3 / 5), B3: (1, 55 / 108), CEAF: (0.88571, 0.66429)}),
    "A4": (KEY_A, "a bcx dy z", {MUC: (1 / 3, 1 / 3), B3: (5 / 9, 17 / 42), CEAF: (0.73333, 0.55)}),
    "A5": (KEY_A, "a bcxB dy z", {MUC: (1 / 3, 1 / 4), B3: (5 / 9, 5 / 16), CEAF: (0.68889, 0.51667)}),
    "A6": (KEY_A, "a bcx dy Bz", {MUC: (1 / 3, 1 / 4), B3: (5 / 9, 17 / 48), CEAF: (0.73333, 0.55)}),
    "A7, b twice": (KEY_A, "a bcxb dy z", {MUC: (1 / 3, 1 / 3), B3: (5 / 9, 17 / 42), CEAF: (0.73333, 0.55)}),
    "A8, b again": (KEY_A, "a bcx dy bz", {MUC: (1 / 3, 1 / 3), B3: (5 / 9, 17 / 42), CEAF: (0.73333, 0.55)}),
    "A9, ten b": (KEY_A, "a bcx dy bbbbbbbbbbz", {MUC: (1 / 3, 1 / 3), B3: (5 / 9, 17 / 42), CEAF: (0.73333, 0.55)}),
    "A10": (KEY_A, "a b c d e f", {MUC: (0, 0), B3: (3 / 6, 1), CEAF: (13 / 18, 13 / 36)}),
    "A11": (KEY_A, "abcdef", {MUC: (1, 3 / 5), B3: (1, 7 / 18), CEAF: (2 / 9, 2 / 3)}),
    "A12": (KEY_A, "a x y c d e z", {MUC: (0, 0), B3: (13 / 36, 4 / 7), CEAF: (13 / 18, 13 / 42)}),
    "A13": (KEY_A, "axycdez", {MUC: (1 / 3, 1 / 6), B3: (17 / 36, 6 / 49), CEAF: (0.4 / 3, 0.4)}),
    "B1": ("ab cde", "bcx de", {CEAF: (0.6, 0.6)}),
    "C1": ("ab cde fg", "bcx de fg", {CEAF: (2.2 / 3, 2.2 / 3)}),
    "D1": (KEY_BIG, "12345 6789ABC", {MUC: (1, 9 / 10), B3: (1, 16 / 21)}),
    "E1": (KEY_BIG, "1234589ABC 67", {MUC: (1, 9 / 10), B3: (1, 7 / 12)}),
    "F1": ("ABCD", "AB CD", {MUC: (2 / 3, 1)}),
    "G1": ("AB CD", "ABCD", {MUC: (1, 2 / 3)}),
    "H1": ("ABCD", "ABCD", {MUC: (1, 1)}),
    "I1": ("ABCD", "AB CD", {MUC: (2 / 3, 1)}),
    "J1": ("ABC", "AC", {MUC: (1 / 2, 1)}),
    "K1": ("BCDEGHJ", "ABC DEF GHI", {MUC: (3 / 6, 3 / 6)}),
    "L1": ("ABC DEFG", "AB CD FGH", {MUC: (2 / 5, 2 / 4)}),
    "M1": ("abcdef", "abcdef", {MUC: (1, 1), B3: (1, 1), CEAF: (1, 1)}),
    "M2": ("abcdef", "a b c d e f", {MUC: (0, 0)}),
    "M5": ("abcdef", "a b c x y z", {MUC: (0, 0)}),
    "N1": ("a b c d e f", "a b c d e f", {MUC: (0, 0), B3: (1, 1), CEAF: (1, 1)}),
    "N4": ("a b c d e f", "a b c x y z", {MUC: (0, 0)}),
}


def clusters(text: str) -> Clusters:
    """One-word mentions, one a letter; the word is the letter's number."""
    return tuple(tuple((ord(letter), ord(letter)) for letter in part) for part in text.split())


partitions = st.lists(st.integers(0, 4), max_size=9).map(
    lambda groups: tuple(
        tuple((at, at) for at, group in enumerate(groups) if group == one) for one in sorted(set(groups) - {0})
    )
)


@pytest.mark.parametrize("name", CASES)
def test_cases_of_the_reference_scorer(name: str) -> None:
    key, response, expected = CASES[name]
    found = rates(document_sums(clusters(key), clusters(response)))
    for metric, (recall, precision) in expected.items():
        row = np.nan_to_num(found[METRICS.index(metric)])  # where nothing is defined the reference scorer prints 0
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0
        assert row.tolist() == pytest.approx([precision, recall, f1], abs=1e-5)


@given(partitions, partitions)
@settings(max_examples=150, deadline=None)
def test_against_slow_loops(gold: Clusters, found: Clusters) -> None:
    sums = document_sums(gold, found)
    for one, other, at in ((gold, found, 0), (found, gold, 2)):
        links = pieces = 0
        share = 0.0
        for cluster in one:
            parts = [set(cluster) & set(part) for part in other]
            alone = len(cluster) - sum(map(len, parts))
            links += len(cluster) - 1
            pieces += len([part for part in parts if part]) + alone - 1
            for mention in cluster:
                with_it = next((set(part) for part in other if mention in part), set())
                share += len(set(cluster) & with_it) / len(cluster)
        assert sums[0, at : at + 2].tolist() == [links - pieces, links]
        assert sums[1, at : at + 2].tolist() == pytest.approx([share, sum(map(len, one))])
    smaller, larger = sorted((gold, found), key=len)
    best = max(
        sum(2 * len(set(a) & set(b)) / (len(a) + len(b)) for a, b in zip(smaller, order, strict=False))
        for order in permutations(larger)
    )
    assert sums[2].tolist() == pytest.approx([best, len(gold), best, len(found)])


@given(partitions, partitions)
@settings(max_examples=60, deadline=None)
def test_roles_swap_precision_and_recall(gold: Clusters, found: Clusters) -> None:
    there, back = rates(document_sums(gold, found)), rates(document_sums(found, gold))
    np.testing.assert_allclose(there, back[:, [1, 0, 2]])


@given(partitions)
@settings(max_examples=60, deadline=None)
def test_what_agrees_with_itself_scores_1(gold: Clusters) -> None:
    wide = tuple(cluster for cluster in gold if len(cluster) > 1)
    found = rates(document_sums(wide, tuple(reversed(wide))))
    assert np.isnan(found).all() if not wide else np.allclose(found, 1)


def test_undefined_is_nan_and_one_empty_side_gives_f1_0() -> None:
    precision, recall, f1 = (RATES.index(one) for one in ("precision", "recall", "f1"))
    nothing_found = rates(document_sums(clusters("ab"), ()))
    assert np.isnan(nothing_found[:, precision]).all()
    assert (nothing_found[:, [recall, f1]] == 0).all()
    nothing_there = rates(document_sums((), clusters("ab")))
    assert np.isnan(nothing_there[:, recall]).all()
    assert (nothing_there[:, [precision, f1]] == 0).all()
    assert np.isnan(rates(document_sums((), ()))).all()


def test_documents_are_summed_before_dividing() -> None:
    sums = all_sums([clusters("abc"), clusters("de")], [clusters("ab"), clusters("de")])
    assert sums.shape == (2, len(METRICS), 4)
    total = sums.sum(axis=0)
    # by hand: MUC recall (1+1)/(2+1); B³ recall (4/3+2)/5; CEAF (4/5+1)/2; precisions 1, 1, 1.8/2
    assert rates(total)[:3, 1].tolist() == pytest.approx([2 / 3, 2 / 3, 0.9])
    assert conll_rates(total).tolist() == pytest.approx([2.9 / 3, (4 / 3 + 0.9) / 3, (0.8 + 0.8 + 0.9) / 3])
