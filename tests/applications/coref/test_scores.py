"""Scores over documents, paired gaps, and their resampling: by hand, by slow loops, by all swaps."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from biasgauge.applications.coref import Document, score_coref
from biasgauge.applications.coref.scores import all_sums, conll_rates
from biasgauge.applications.coref.winobias_pairs import PAIRED, paired_gaps, paired_values
from biasgauge.errors import ParameterError
from biasgauge.stats import Resampling, bootstrap_sums, swapped_sums_p

TEXT = (tuple("abcdefgh"),)
Clusters = list[list[tuple[int, int]]]


def document(*groups: str) -> Document:
    """One-word mentions by letter."""
    return Document("d", TEXT, tuple(tuple(("abcdefgh".index(one),) * 2 for one in group) for group in groups))


def test_scores_of_two_documents() -> None:
    found = score_coref([document("abc", "h"), document("de")], [document("ab"), document("de", "g")], resamples=500)
    # as in test_metrics: MUC 2/3 and 1, B³ 2/3 and 1, CEAF .9 and .9; h and g are mentioned once and left out
    assert found.score("muc", "recall").value == pytest.approx(2 / 3)
    assert found.score("ceaf_e", "precision").value == pytest.approx(0.9)
    assert found.conll_f1 == pytest.approx((0.8 + 0.8 + 0.9) / 3)
    assert (found.documents, found.clusters, found.found_clusters) == (2, 2, 2)
    interval = found.score()
    # samples are twice the first, one of each, or twice the second document
    alone = score_coref([document("abc")], [document("ab")], resamples=10).conll_f1
    assert interval.low == pytest.approx(alone)
    assert interval.high == pytest.approx(1)
    assert alone == pytest.approx((2 / 3 + 2 * (4 / 9) / (1 + 4 / 9) + 0.8) / 3)  # recall 1/2, 4/9, 4/5
    with_singletons = score_coref([document("abc", "h")], [document("abc", "h")], singletons=True, resamples=10)
    assert with_singletons.clusters == 2
    assert set(found.to_frame().columns) >= {"metric", "rate", "value", "low", "high", "reason"}
    assert "muc" in found._repr_html_()
    assert found.to_dict()["documents"] == 2


def test_undefined_scores_have_reasons() -> None:
    found = score_coref([document("abc")], [document()], resamples=20)
    assert found.score("conll", "precision").value is None
    assert found.score("conll", "precision").reason == "no mention was found in any document"
    assert found.conll_f1 == 0
    nothing = score_coref([document()], [document()], resamples=20)
    assert nothing.conll_f1 is None
    assert nothing.score().reason == "no document has a mention, and none was found"


def test_what_cannot_be_scored() -> None:
    with pytest.raises(ParameterError, match="must be the same texts in the same order"):
        score_coref([document("ab")], [], resamples=10)
    with pytest.raises(ParameterError, match="must be the same texts in the same order"):
        score_coref([document("ab")], [Document("d", (("x",),))], resamples=10)
    with pytest.raises(ParameterError, match="coreference"):
        score_coref([document("ab")], [document("ab")], resamples=10).score("lea")


def random_pairs(count: int, seed: int, shift: float = 0.0) -> Any:  # noqa: ANN401 - an array of sums
    """Sentences of one link each, found or not, with a wrong link at times: (pairs, 2, …)."""
    random = np.random.default_rng(seed)
    sides = []
    for side in range(2):
        found = []
        for _ in range(count):
            groups = ["ab"] if random.random() < 0.5 + shift * (1 - side) else []
            found.append(document(*groups, *(["cd"] if random.random() < 0.3 else [])))
        sides.append(all_sums([document("ab").clusters] * count, [one.clusters for one in found]))
    return np.stack(sides, axis=1)


def test_gaps_and_p_against_all_swaps() -> None:
    sums = random_pairs(9, 3, shift=0.4)
    how = Resampling("percentile", 0.95, 20_000, 0)
    rows = paired_gaps(sums, "test 1", ("pro", "anti"), how)
    assert [one.metric for one in rows] == list(PAIRED)
    totals = sums.sum(axis=0)
    linked = rows[-1]
    assert linked.first is not None
    assert linked.first.value == pytest.approx(100 * totals[0, 0, 0] / 9)
    assert rows[2].value == pytest.approx(100 * (conll_rates(totals[0])[2] - conll_rates(totals[1])[2]))
    for at, one in enumerate(rows):
        assert one.first is not None
        assert one.second is not None
        assert one.value == pytest.approx((one.first.value or 0) - (one.second.value or 0))
        extreme = total = 0
        for swaps in product((False, True), repeat=9):
            turned = np.where(np.array(swaps)[:, None, None, None], sums[:, ::-1], sums).sum(axis=0)
            gap = paired_values(turned[0])[at] - paired_values(turned[1])[at]
            if np.isfinite(gap):
                total += 1
                extreme += abs(gap) >= abs(one.value or 0) - 1e-9
        assert one.p_value == pytest.approx(extreme / total, abs=0.02)
        assert one.n == 9
    drawn = bootstrap_sums(sums, how)
    random = np.random.default_rng(1)
    slow = [sums[random.integers(0, 9, 9)].sum(axis=0) for _ in range(4000)]
    fast = np.sort(paired_values(drawn[:, 0])[:, 3] - paired_values(drawn[:, 1])[:, 3])
    by_loop = np.array([paired_values(one[0])[3] - paired_values(one[1])[3] for one in slow])
    assert linked.low == pytest.approx(np.quantile(fast, 0.025))
    assert np.quantile(by_loop, [0.1, 0.5, 0.9]).tolist() == pytest.approx(np.quantile(fast, [0.1, 0.5, 0.9]), abs=6)


@pytest.mark.calibration
def test_p_is_uniform_where_versions_do_not_differ() -> None:
    how = Resampling("percentile", 0.95, 200, 0)

    def linked(both: Any) -> Any:  # noqa: ANN401 - arrays
        return (paired_values(both[:, 0]) - paired_values(both[:, 1]))[:, 3:]

    chances = [float(swapped_sums_p(random_pairs(25, seed), linked, how)[0]) for seed in range(150)]
    # no more than .05 (+ 3 standard errors) below .05, and as many as that below a half, with ties on the large side
    assert np.mean(np.array(chances) <= 0.05) <= 0.05 + 3 * (0.05 * 0.95 / 150) ** 0.5
    assert np.mean(np.array(chances) <= 0.5) >= 0.3


def test_gaps_that_are_undefined() -> None:
    nothing = all_sums([document("ab").clusters] * 3, [()] * 3)
    rows = paired_gaps(
        np.stack([nothing, nothing], axis=1), "dev 1", ("pro", "anti"), Resampling("percentile", 0.95, 20, 0)
    )
    assert rows[0].value is None
    assert rows[0].reason == "nothing was found in the pro sentences"
    assert [one.value for one in rows[1:]] == [0, 0, 0]
    assert [one.p_value for one in rows[1:]] == [1, 1, 1]
