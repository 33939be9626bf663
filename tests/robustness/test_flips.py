"""`flips` against directions that were planted, and on the shipped vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from biasgauge.analyses.robustness import Flip, Flips, flips
from biasgauge.analyses.robustness.flipped import UNCLEAR
from biasgauge.errors import ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.scores import score
from biasgauge.vectors import load, load_default

if TYPE_CHECKING:
    from biasgauge.vectors import Embedding

PAIRS = [("he", "she"), ("man", "woman"), ("boy", "girl")]


@pytest.fixture(scope="module")
def found(planted: Embedding) -> Flips:
    return flips(
        planted,
        concepts={"jobs": ["nurse", "surgeon", "poet", "judge", "gone"]},
        pairs=[*PAIRS, ("no", "yes")],
        measures=["dbwa", "ripa"],
        forms=["plural", "capitalized"],
    )


def by_change(found: Flips) -> dict[tuple[str, str], Flip]:
    return {(row.choice, row.new): row for row in found.rows}


def test_words_that_flip_are_those_that_were_planted(found: Flips) -> None:
    rows = by_change(found)
    assert {change: row.words for change, row in rows.items()} == {
        ("pair", "man~woman"): ("poet",),
        ("pair", "boy~girl"): ("surgeon", "poet"),
        ("measure", "ripa"): (),
        ("form", "plural"): ("nurse",),
        ("form", "capitalized"): (),
    }
    assert rows["pair", "boy~girl"].share.value == 0.5
    assert (rows["form", "plural"].share.value, rows["form", "plural"].share.n) == (0.5, 2)


def test_what_is_lost_is_named(found: Flips) -> None:
    assert found.lost_pairs == ("no~yes",)
    assert found.lost_words == {"jobs": ("gone",)}
    row = by_change(found)["form", "capitalized"]
    assert (row.before, row.after, row.outcome, row.share.n) == (None, None, None, 1)
    assert found.baseline == {"measure": "dbwa", "pair": "he~she", "form": "as given"}


def test_conclusions_are_those_of_a_t_test(found: Flips, planted: Embedding) -> None:
    assert {row.before for row in found.rows} == {UNCLEAR, None}  # four words, three of them +: p is above .05
    rows = by_change(found)
    for choice, words, pair in (
        (("pair", "boy~girl"), ["nurse", "surgeon", "poet", "judge"], ("boy", "girl")),
        (("form", "plural"), ["nurses", "surgeons"], ("he", "she")),
    ):
        scores = score(planted, pairs=[pair], words=words, measures="dbwa").to_numpy().ravel().astype(float)
        test = ttest_1samp(scores, 0)
        lean = UNCLEAR if test.pvalue >= 0.05 else f"leans to {pair[0] if test.statistic > 0 else pair[1]}"
        assert rows[choice].after == lean
    assert rows["form", "plural"].outcome == "appears"
    assert (
        "jobs has no clear lean (DB/WA, he~she): the lean holds under 3 of 4 alternative choices." in found.headlines[0]
    )


def test_a_reversed_conclusion() -> None:
    """Twenty words lean to the first pair's first end and the second pair's second end, and to neither of the third."""
    random = np.random.default_rng(0)
    words = [f"w{letter}" for letter in "abcdefghijklmnopqrst"]
    ends = {"he": (2, 1, 0, 0), "she": (2, -1, 0, 0), "man": (0, 0, 1, 2), "woman": (0, 0, -1, 2), "x": (1, 1, 1, 1)}
    rows = np.column_stack(
        [random.normal(size=20), 1 + 0.1 * random.random(20), -1 - 0.1 * random.random(20), random.normal(size=20)]
    )
    model = load(([*ends, *words], np.array([*ends.values(), *rows])))
    found = flips(model, concepts={"all": words}, pairs=[("he", "she"), ("man", "woman"), ("he", "x")],
                  measures="dbwa", forms=())  # fmt: skip
    first, second = found.rows
    assert (first.before, first.after, first.outcome) == ("leans to he", "leans to woman", "reversed")
    assert first.share.value == 1
    assert len(first.words) == 20
    scores = score(model, pairs=[("he", "x")], words=words, measures="dbwa").values.ravel()
    clear = ttest_1samp(scores, 0).pvalue < 0.05
    assert second.outcome == ("lost" if not clear else "holds" if scores.mean() > 0 else "reversed")
    assert "1 reverses it (man~woman)" in found.headlines[0]


def test_the_shipped_vectors() -> None:
    vectors = load_default()
    found = flips(vectors, n_jobs=1)
    rows = [row for row in found.rows if row.concept == "occ16" and row.choice == "pair"]
    assert len(rows) == 9
    words = [word for word in lexicon("occ16").words if word in vectors]
    scores = score(vectors, pairs=[("he", "she"), ("guy", "gal")], words=words, measures="dbwa").values[0, :, :, 0]
    (row,) = (row for row in rows if row.new == "guy~gal")
    assert row.share.value == pytest.approx(np.mean(scores[0] * scores[1] < 0))
    test = ttest_1samp(scores[0].astype(float), 0)
    assert (row.before == "leans to he") == bool(test.statistic > 0 and test.pvalue < 0.05)
    shown = found.to_dict()
    assert {"concept", "conclusion", "choice", "from", "to", "share", "share_interval"} <= shown["flips"][0].keys()
    assert len(found.to_frame()) == len(found.rows)
    assert len(found.headlines) == 8


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"pairs": [("no", "yes")]}, "no pair of given pairs with both its ends"),
        ({"concepts": {}}, "at least one set of words"),
        ({"concepts": 3}, "The 'concepts' must be"),
        ({"level": 0}, "must lie between 0 and 1"),
    ],
)
def test_mistakes_get_a_sentence(planted: Embedding, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        flips(planted, **{"concepts": {"jobs": ["nurse"]}, "pairs": PAIRS, "measures": "dbwa", **settings})
