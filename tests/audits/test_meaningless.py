"""Lists that mean nothing: how often they would be found, and the smallest contrast that matters, by simulation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.measurement import Measured, matched, measure
from biasgauge.audits.parts.null_lists import (
    LIST,
    NULLS,
    ErrorRate,
    chance_band,
    chance_contrasts,
    error_rates,
    smallest_contrast,
)
from biasgauge.audits.subjects import Subject
from biasgauge.core import WordPolicy
from biasgauge.lexicons import parse_lexicon, queries_from_lexicons
from biasgauge.stats import clopper_pearson

if TYPE_CHECKING:
    from biasgauge.lexicons import Lexicon

DIM = 40
WORDS = tuple(f"w{number}" for number in range(2_000))


def isotropic(seed: int, name: str = "isotropic") -> bg.Embedding:
    return bg.Embedding(WORDS, np.random.default_rng(seed).standard_normal((len(WORDS), DIM)), name=name)


def random_test(random: np.random.Generator, name: str, size: int = 8, family: str = "") -> Lexicon:
    drawn = random.choice(WORDS, (4, size), replace=False).tolist()
    content = {role: {"name": f"set {role}", "words": words} for role, words in zip("xyab", drawn, strict=True)}
    about = {"name": name, "kind": "test", "language": "en", **({"family": family} if family else {})}
    return parse_lexicon({**about, **content}, path=f"{name}.toml")


def put(lexicons: list[Lexicon], *models: bg.Embedding) -> list[Measured]:
    subject = Subject(models[0].name, models)
    asked = [measure(question, subject, WordPolicy(0.8, "exact"), 0) for question in queries_from_lexicons(lexicons)]
    assert all(isinstance(one, Measured) for one in asked)
    return [one for one in asked if isinstance(one, Measured)]


def test_error_rates_on_isotropic_vectors_are_at_most_alpha() -> None:
    random = np.random.default_rng(3)
    asked = [random_test(random, f"t{number}", family="one" if number < 2 else "two") for number in range(4)]
    found = error_rates(put(asked, isotropic(1)), 0.05, 0)
    assert [one.null for one in found] == [null for null in NULLS if null != "near"]  # no word is near another
    for one in found:
        assert one.rate == one.found / one.audits
        share = clopper_pearson(one.found, one.audits)
        assert (one.low, one.high) == (share.low, share.high)
        assert one.rate <= 0.05 + 3 * (0.05 * 0.95 / one.audits) ** 0.5
        assert ErrorRate.from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_error_rates_on_replicates_are_at_most_alpha() -> None:
    random, base = np.random.default_rng(3), isotropic(1).vectors
    models = [
        bg.Embedding(WORDS, base + 0.5 * np.random.default_rng(seed).standard_normal(base.shape), name=f"run {seed}")
        for seed in range(4)
    ]
    for one in error_rates(put([random_test(random, "one")], *models), 0.05, 0):
        assert one.rate <= 0.05 + 3 * (0.05 * 0.95 / one.audits) ** 0.5


def test_error_rates_hold_where_topics_lean_alike() -> None:
    """Targets of two topics, attributes of one pool: relabeled, WEAT's own p would reject in a third of cases."""
    random = np.random.default_rng(5)
    rows = random.standard_normal((len(WORDS), DIM))
    topics = 1.5 * random.standard_normal((2, DIM))
    rows[:8] += topics[0]
    rows[8:16] += topics[1]
    sets = {"x": WORDS[:8], "y": WORDS[8:16], "a": WORDS[16:24], "b": WORDS[24:32]}
    content = {role: {"name": role, "words": list(words)} for role, words in sets.items()}
    asked = parse_lexicon({"name": "topics", "kind": "test", "language": "en", **content}, path="topics.toml")
    found = {one.null: one for one in error_rates(put([asked], bg.Embedding(WORDS, rows, name="topics")), 0.05, 0)}
    for null in ("relabeled", "matched"):
        assert found[null].rate <= 0.05 + 3 * (0.05 * 0.95 / found[null].audits) ** 0.5


def test_a_larger_alpha_is_found_more_often() -> None:
    """The simulation can find something: with alpha = .5 it does, in up to half of the audits."""
    asked = put([random_test(np.random.default_rng(3), "one")], isotropic(1))
    for one in error_rates(asked, 0.5, 0):
        assert 0.1 < one.rate <= 0.5 + 3 * (0.25 / one.audits) ** 0.5


def test_the_smallest_contrast_is_the_spread_of_unrelated_lists() -> None:
    """Independent cosines of isotropic vectors have variance 1 / DIM; a contrast of 4 × 64 of them 4 / (64 · DIM)."""
    vectors = isotropic(2)
    asked = put([random_test(np.random.default_rng(3), "one")], vectors)
    found = smallest_contrast(Subject("isotropic", (vectors,)), asked, 0)
    assert found == pytest.approx((4 / (LIST**2 * DIM)) ** 0.5, rel=0.1)
    assert smallest_contrast(Subject("isotropic", (vectors,)), asked, 0) == found


def test_a_small_vocabulary_has_a_smallest_contrast_too() -> None:
    few = bg.Embedding(WORDS[:40], np.random.default_rng(0).standard_normal((40, 5)), name="few")
    assert smallest_contrast(Subject("few", (few,)), [], 0) > 0


def test_random_lists_have_the_frequency_of_the_words_they_stand_for() -> None:
    random, places = np.random.default_rng(0), np.array([3, 50, 400, 1_500])
    drawn = np.stack([matched(places, len(WORDS), random) for _ in range(400)])
    assert not np.isin(drawn, places).any()
    for column, place in zip(drawn.T, places, strict=True):
        assert (column >= int(place / 1.5)).all()
        assert (column <= place * 1.5 + 20 + len(places)).all()
        assert len(set(column.tolist())) > 15
    assert drawn.max() < len(WORDS)


def test_chance_contrasts_are_those_of_random_attributes() -> None:
    """On isotropic vectors a contrast of given targets has the variance that its targets' means give."""
    vectors = isotropic(4)
    (one,) = put([random_test(np.random.default_rng(6), "one")], vectors)
    drawn = chance_contrasts(one, 0, draws=2_000)
    unit = {word: row / np.linalg.norm(row) for word, row in zip(WORDS, vectors.vectors, strict=True)}
    x, y = (np.mean([unit[word] for word in words.words], axis=0) for words in one.query.targets)
    expected = (2 * np.sum((x - y) ** 2) / DIM / 8) ** 0.5
    assert drawn.std() == pytest.approx(expected, rel=0.15)  # of 40 candidates for each word
    band = chance_band(one, 0)
    assert band is not None
    assert band.contrast == one.value
    assert sum(band.counts) == 500
    assert band.band == pytest.approx(1.96 * expected, rel=0.25)
    assert len(band.edges) == len(band.counts) + 1


def lean_question() -> list[bg.lexicons.Lexicon]:
    """Ten words along eight base pairs."""
    words = {"name": "list", "kind": "words", "language": "en", "words": list(WORDS[:10])}
    pairs = {"name": "p", "kind": "pairs", "language": "en", "pairs": [list(pair) for pair in PAIRS]}
    return [parse_lexicon(words, path="l.toml"), parse_lexicon(pairs, path="p.toml")]


PAIRS = [(WORDS[20 + n], WORDS[40 + n]) for n in range(8)]


def leans_of(vectors: bg.Embedding, words: tuple[str, ...]) -> np.ndarray:
    """The definition: mean cosine with the first words of the pairs less that with the second."""
    unit = {word: row / np.linalg.norm(row) for word, row in zip(vectors.words, vectors.vectors, strict=True)}
    direction = np.mean([unit[first] - unit[second] for first, second in PAIRS], axis=0)
    return np.array([unit[word] @ direction for word in words])


def test_a_question_along_pairs_has_random_words_alone() -> None:
    asked = put(lean_question(), isotropic(1))
    found = error_rates(asked, 0.05, 0)
    assert [one.null for one in found] == ["frequency"]
    assert found[0].rate <= 0.05 + 3 * (0.05 * 0.95 / found[0].audits) ** 0.5


def test_chance_along_pairs_is_that_of_random_targets() -> None:
    """The mean of ten words has a tenth of the variance of the leans of single words, around their mean."""
    vectors = isotropic(4)
    (one,) = put(lean_question(), vectors)
    leans = leans_of(vectors, WORDS[60:400])
    drawn = chance_contrasts(one, 0, draws=4_000)
    assert drawn.std() == pytest.approx((leans.var() / 10) ** 0.5, rel=0.15)
    assert drawn.mean() == pytest.approx(0, abs=4 * (leans.var() / 10 / 4_000) ** 0.5)
    band = chance_band(one, 0)
    assert band is not None
    own = leans_of(vectors, WORDS[:10]).mean() - one.random_leans.mean()
    assert band.contrast == pytest.approx(own)
    assert one.random_leans.mean() == pytest.approx(leans.mean(), abs=4 * (leans.var() / 100) ** 0.5)


def leaning(everyone: float, listed: float) -> bg.Embedding:
    """Vectors in which first words of pairs lie to one side, all words lean there a little, and those listed more."""
    random = np.random.default_rng(5)
    rows = random.standard_normal((len(WORDS), DIM)) / DIM**0.5
    side = np.zeros(DIM)
    side[0] = 1.0
    rows += everyone * side
    rows[:10] += listed * side
    for first, second in PAIRS:
        rows[WORDS.index(first)] += side
        rows[WORDS.index(second)] -= side
    return bg.Embedding(WORDS, rows, name="leaning")


@pytest.mark.parametrize(("everyone", "listed"), [(0.5, 0.0), (0.0, 0.5), (0.5, 0.8), (0.9, -0.45)])
def test_a_lean_is_counted_from_words_of_like_frequency(everyone: float, listed: float) -> None:
    """The lean of the whole vocabulary is that of its corpus, not of these words; less than it is the other side."""
    vectors = leaning(everyone, listed)
    (one,) = put(lean_question(), vectors)
    assert one.random_leans.mean() == pytest.approx(leans_of(vectors, WORDS[60:]).mean(), abs=0.05)
    assert one.value == pytest.approx(leans_of(vectors, WORDS[:10]).mean() - one.random_leans.mean())
    (verdict,) = bg.audit(vectors, lexicons=lean_question()).verdicts
    assert verdict.observed("association")["contrast"] == pytest.approx(one.value)
    if listed:
        assert verdict.decision == "report-with-care"
        assert np.sign(one.value) == np.sign(listed)
        assert "more than words of like frequency do" in verdict.claim
        assert verdict.observed("random words")["mean"] == pytest.approx(one.random_leans.mean())
    else:
        assert verdict.decision in {"inconclusive", "no-association-shown"}


def test_a_vocabulary_without_other_words_cannot_say_what_random_words_give() -> None:
    many = leaning(0.0, 0.8)
    tiny = bg.Embedding(
        (*WORDS[:10], *WORDS[20:28], *WORDS[40:48]), many.vectors[[*range(10), *range(20, 28), *range(40, 48)]]
    )
    (verdict,) = bg.audit(tiny, lexicons=lean_question()).verdicts
    piece = next(piece for piece in verdict.evidence if piece.rule == "random words")
    assert piece.passes is None
    assert piece.reason.startswith("unknown whether any words lean as much: the vocabulary has fewer than 20")
    assert verdict.observed("association")["contrast"] == pytest.approx(leans_of(tiny, WORDS[:10]).mean())
    assert verdict.decision == "report-with-care"


@pytest.mark.slow
@pytest.mark.calibration
def test_whole_audits_of_isotropic_vectors_find_something_as_seldom_as_promised() -> None:
    """Audits of three random tests each, every one with vectors and lists of its own."""
    hits, audits = 0, 200
    for seed in range(audits):
        random = np.random.default_rng([seed, 1])
        asked = [random_test(random, f"t{number}") for number in range(3)]
        result = bg.audit(isotropic(seed), lexicons=asked)
        hits += any(verdict.evidence[0].passes for verdict in result.verdicts)
    assert hits / audits <= 0.05 + 3 * (0.05 * 0.95 / audits) ** 0.5
