"""Numbers that Zhang, Sneyd and Stevenson (2020) printed, from a part of the vectors that they used.

Their vectors are GoogleNews-vectors-negative300; the part at hand has 31,927 words, of which 13,421 with the lengths
they had. DB/WA needs directions only, RIPA needs lengths. All 320 professions are there with their lengths, so is every
end of nine of the ten base pairs, and (king, queen). What cannot be reached, and why:

- (mary, john) in lower case: neither word is in the part. John and Mary are, but they are other vectors: κ = .85 where
  .90 was printed for mary and john. Whatever rests on all ten pairs (Fleiss' κ, the share of professions on whose
  direction all agree, means over pairs) can therefore be bounded or compared, not reproduced.
- NBM: its neighbors are 26,145 gender-neutral words among the 50,000 most frequent, most of which are not there.
- Table 4 and Table 5: 204 of 320 plurals and 35 of 58 traits are there; capitalized and upper-case forms hardly.
- The likeness of homemaker and computer_programmer (.4980): computer_programmer is not there.

In the paper a positive score is female; here it is male, since pairs are (male, female): its signs are turned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.lexicons import lexicon
from biasgauge.scores import ScoreTensor, score
from biasgauge.vectors import Embedding, load

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

pytestmark = pytest.mark.shared

PAIRS = [("he", "she"), ("his", "her"), ("man", "woman"), ("himself", "herself"), ("son", "daughter"),
         ("father", "mother"), ("guy", "gal"), ("boy", "girl"), ("male", "female")]  # fmt: skip
JOHN_MARY = ("John", "Mary")
ROYAL = ("king", "queen")

# Table 6, first row: Cohen's κ of the directions by DB/WA and by RIPA over the 320 professions.
TABLE_6 = dict(zip(PAIRS, (0.69, 0.86, 0.64, 0.82, 0.79, 0.92, 0.85, 0.89, 0.96), strict=True))
TABLE_6_MARY_JOHN = 0.90

# Table 3: Cohen's κ of the directions by a pair and by its capitalized form, (DB/WA, RIPA).
TABLE_3 = {
    ("he", "she"): (0.65, 0.80),
    ("his", "her"): (0.53, 0.56),
    ("man", "woman"): (0.56, 0.58),
    ("son", "daughter"): (0.28, 0.27),
    ("father", "mother"): (0.40, 0.31),
    ("boy", "girl"): (0.49, 0.49),
    ("male", "female"): (0.38, 0.35),
}

PRINTED = 0.005 + 1e-9
"""A number printed with two decimals may be this far from what was computed."""


@pytest.fixture(scope="module")
def file(shared_data: Path) -> Path:
    return shared_data / "googlenews_subset_union" / "googlenews_union_31927x300.npz"


@pytest.fixture(scope="module")
def google(file: Path) -> Embedding:
    return load(file, name="google")


@pytest.fixture(scope="module")
def with_lengths(file: Path) -> frozenset[str]:
    """Words whose vectors have the length that they have in the original."""
    with np.load(file, allow_pickle=False) as archive:
        return frozenset(archive["words"][archive["raw_norm"]].tolist())


@pytest.fixture(scope="module")
def professions() -> tuple[str, ...]:
    return lexicon("occ16").words


@pytest.fixture(scope="module")
def scores(google: Embedding, professions: tuple[str, ...]) -> ScoreTensor:
    capitalized = [(first.capitalize(), second.capitalize()) for first, second in TABLE_3]
    pairs = [*PAIRS, JOHN_MARY, ROYAL, *capitalized]
    return score(google, pairs=pairs, words=professions, measures=["dbwa", "ripa"])


def female(scores: ScoreTensor, measure: str, pair: tuple[str, str]) -> NDArray[np.bool_]:
    """Direction of each profession as they drew it: above zero in their sign is female, zero is male."""
    one = scores.select(measure=[measure], pair=[pair])
    assert one.count_undefined() == {}
    return np.asarray(-one.values.ravel() > 0)


def cohen(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Cohen's κ from the four cells of the table of two raters."""
    both = int(np.sum(one & other))
    only_one = int(np.sum(one & ~other))
    only_other = int(np.sum(~one & other))
    neither = int(np.sum(~one & ~other))
    total = both + only_one + only_other + neither
    observed = (both + neither) / total
    by_chance = ((both + only_one) * (both + only_other) + (neither + only_other) * (neither + only_one)) / total**2
    return (observed - by_chance) / (1 - by_chance)


def fleiss(ratings: NDArray[np.bool_]) -> float:
    """Fleiss' κ of items × raters with two categories, from its definition."""
    items, raters = ratings.shape
    agreement = 0.0
    shares = [0.0, 0.0]
    for row in ratings.tolist():
        counts = [row.count(False), row.count(True)]
        agreement += sum(count * (count - 1) for count in counts) / (raters * (raters - 1)) / items
        shares = [share + count / (items * raters) for share, count in zip(shares, counts, strict=True)]
    by_chance = sum(share**2 for share in shares)
    return (agreement - by_chance) / (1 - by_chance)


def test_the_two_kappas_on_tables_from_textbooks() -> None:
    # 20 and 15 agreements of 50, 5 and 10 disagreements: κ = .4.
    one = np.array([True] * 20 + [True] * 5 + [False] * 10 + [False] * 15)
    other = np.array([True] * 20 + [False] * 5 + [True] * 10 + [False] * 15)
    assert cohen(one, other) == pytest.approx(0.4)
    # Three raters on four items, votes 3:0, 3:0, 2:1, 0:3: agreement 5/6, chance (8² + 4²)/12² = 5/9, κ = 5/8.
    votes = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0], [0, 0, 0]], bool)
    assert fleiss(votes) == pytest.approx(5 / 8)


def test_what_is_there(
    google: Embedding, with_lengths: frozenset[str], professions: tuple[str, ...], scores: ScoreTensor
) -> None:
    assert len(google) == 31_927
    assert len(with_lengths) == 13_421
    assert len(professions) == 320
    assert set(professions) <= with_lengths, "every profession can be scored by RIPA"
    assert {end for pair in scores.pairs for end in pair} <= with_lengths
    assert scores.count_undefined() == {}
    assert not {"mary", "john", "Herself", "Himself", "Gal", "computer_programmer"} & set(google.words)
    assert "surgeons" in google
    assert "surgeons" not in with_lengths, "DB/WA only"


def test_cosine_of_man_and_woman(google: Embedding) -> None:
    """.7664013; the DB/WA of man between man and woman is what is left to 1."""
    found = score(google, pairs=[("man", "woman")], words=["man", "woman"], measures="dbwa")
    assert found.values.ravel() == pytest.approx([1 - 0.7664013, 0.7664013 - 1], abs=1e-6)


def test_surgeon(google: Embedding) -> None:
    """RIPA −.1716 for (she, he) and .2694 for (woman, man); DB/WA −.0816, and .0104 in the plural; + is female."""
    pairs = [("he", "she"), ("man", "woman")]
    found = score(google, pairs=pairs, words=["surgeon", "surgeons"], measures=["ripa", "dbwa"])
    in_their_sign = -found.select(word=["surgeon"], measure=["ripa"]).values.ravel()
    assert in_their_sign == pytest.approx([-0.1716, 0.2694], abs=5e-5)
    in_their_sign = -found.select(pair=[("he", "she")], measure=["dbwa"]).values.ravel()
    assert in_their_sign == pytest.approx([-0.0816, 0.0104], abs=5e-5)


def test_directions_that_change_from_woman_and_man_to_queen_and_king(scores: ScoreTensor) -> None:
    changed = female(scores, "ripa", ("man", "woman")) != female(scores, "ripa", ROYAL)
    assert np.count_nonzero(changed) == 91
    assert 100 * changed.mean() == pytest.approx(28.4375)


@pytest.mark.parametrize(("pair", "printed"), TABLE_6.items())
def test_table_6(pair: tuple[str, str], printed: float, scores: ScoreTensor) -> None:
    assert cohen(female(scores, "dbwa", pair), female(scores, "ripa", pair)) == pytest.approx(printed, abs=PRINTED)


def test_table_6_of_mary_and_john_is_out_of_reach(google: Embedding, scores: ScoreTensor) -> None:
    """The vectors of the capitalized names are others; in lower case the score is undefined, with its reason."""
    found = score(google, pairs="zhang2020", words=["surgeon"], measures=["dbwa", "ripa"])
    assert found.count_undefined() == {"an end of the pair is not in the vocabulary": 2}
    assert np.isnan(found.select(pair=[("john", "mary")]).values).all()
    reached = cohen(female(scores, "dbwa", JOHN_MARY), female(scores, "ripa", JOHN_MARY))
    assert reached == pytest.approx(0.8485, abs=5e-5)
    assert reached != pytest.approx(TABLE_6_MARY_JOHN, abs=PRINTED)


@pytest.mark.parametrize(("pair", "printed"), TABLE_3.items())
@pytest.mark.parametrize("measure", ["dbwa", "ripa"])
def test_table_3(measure: str, pair: tuple[str, str], printed: tuple[float, float], scores: ScoreTensor) -> None:
    """Seven of ten pairs; Herself, Himself and Gal are not there, nor are mary and john."""
    first, second = pair
    found = cohen(female(scores, measure, pair), female(scores, measure, (first.capitalize(), second.capitalize())))
    assert found == pytest.approx(printed[("dbwa", "ripa").index(measure)], abs=PRINTED)


@pytest.mark.parametrize(
    ("measure", "printed", "nine", "with_names"),
    [("dbwa", 0.45, 0.4942, 0.4704), ("ripa", 0.42, 0.4670, 0.4495)],
)
def test_table_2_is_out_of_reach(
    measure: str, printed: float, nine: float, with_names: float, scores: ScoreTensor
) -> None:
    """Fleiss' κ of ten pairs needs mary and john: nine pairs agree more, and with John and Mary still a little more."""
    ratings = np.stack([female(scores, measure, pair) for pair in PAIRS], axis=1)
    assert fleiss(ratings) == pytest.approx(nine, abs=5e-5)
    ten = np.column_stack([ratings, female(scores, measure, JOHN_MARY)])
    assert fleiss(ten) == pytest.approx(with_names, abs=5e-5)
    assert printed + PRINTED < with_names < nine


@pytest.mark.parametrize(("measure", "printed", "nine"), [("dbwa", 25.9375, 34.6875), ("ripa", 24.0625, 32.1875)])
def test_share_of_professions_on_which_all_pairs_agree_is_bounded(
    measure: str, printed: float, nine: float, scores: ScoreTensor
) -> None:
    """83 and 77 of 320 with ten pairs; nine pairs agree on 111 and 103, which ten cannot exceed."""
    ratings = np.stack([female(scores, measure, pair) for pair in PAIRS], axis=1)
    share = 100 * float(np.mean(ratings.all(axis=1) | ~ratings.any(axis=1)))
    assert share == nine
    assert printed < share
