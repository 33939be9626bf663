"""Lists that mean nothing: how often they would be found, and the smallest contrast that matters, by simulation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import norm

import biasgauge as bg
from biasgauge.audits.measurement import LikeFrequency, Measured, Tabulated, measure, tabulate
from biasgauge.audits.parts.false_alarms import (
    ErrorRate,
    error_rates,
    false_alarm_warnings,
    false_alarms,
    frequency_factor,
    property_at_fault,
)
from biasgauge.audits.parts.null_lists import (
    LIST,
    NULLS,
    TELESCOPE,
    Null,
    chance_band,
    chance_contrasts,
    null_tables,
    smallest_contrast,
)
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdicts import Rules
from biasgauge.core import Query, WordPolicy
from biasgauge.lexicons import lexicon, parse_lexicon, queries_from_lexicons
from biasgauge.stats import clopper_pearson, contrast_parts
from biasgauge.vectors import Frequencies

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
    found = error_rates(put(asked, isotropic(1)), Rules(), 0)
    assert [one.null for one in found] == [null for null in NULLS if null not in ("near", "sizes")]  # no word is near
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
    for one in error_rates(put([random_test(random, "one")], *models), Rules(), 0):
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
    found = {one.null: one for one in error_rates(put([asked], bg.Embedding(WORDS, rows, name="topics")), Rules(), 0)}
    for null in ("relabeled", "matched"):
        assert found[null].rate <= 0.05 + 3 * (0.05 * 0.95 / found[null].audits) ** 0.5


def test_a_larger_alpha_is_found_more_often() -> None:
    """The simulation can find something: with alpha = .5 it does, in up to half of the audits."""
    asked = put([random_test(np.random.default_rng(3), "one")], isotropic(1))
    for one in error_rates(asked, Rules(alpha=0.5), 0):
        assert 0.1 < one.rate <= 0.5 + 3 * (0.25 / one.audits) ** 0.5


def by_frequency() -> tuple[bg.Embedding, Lexicon]:
    """Words of unknown frequency, of which frequent ones lie to one side; X and A are frequent, Y and B rare."""
    rows = np.random.default_rng(1).standard_normal((len(WORDS), DIM))
    rows[:, 0] += np.linspace(6.0, -6.0, len(WORDS))
    ends = {"x": WORDS[:12], "y": WORDS[1_500:1_512], "a": WORDS[20:32], "b": WORDS[1_600:1_612]}
    content = {role: {"name": f"set {role}", "words": list(words)} for role, words in ends.items()}
    return bg.Embedding(WORDS, rows, name="sided"), parse_lexicon(
        {"name": "frequent", "kind": "test", "language": "en", **content}, path="frequent.toml"
    )


def test_lists_that_differ_in_frequency_are_named_with_what_to_do() -> None:
    """Nothing is known of frequencies, so that nothing holds them constant: random words of theirs differ too."""
    vectors, frequent = by_frequency()
    balanced = random_test(np.random.default_rng(4), "balanced")
    asked = put([frequent, balanced], vectors)
    found = {one.null: one for one in error_rates(asked, Rules(), 0)}
    first, second = found["frequency"].questions
    assert (first.question, first.found, first.fails) == ("frequent", 100, True)
    assert "differ in word frequency (by a factor of" in first.why
    assert "similar frequency" in first.advice
    assert "vectors with word counts" in first.advice
    assert not second.fails
    worst = false_alarms(tuple(found.values()))
    assert worst is not None
    assert (worst.kind, worst.above) == ("frequency", "interval")
    assert worst.rate == max(one.rate for one in found.values())
    assert (worst.low, worst.high) == (clopper_pearson(100, 100).low, 1.0)
    assert worst.kinds["relabeled"]["found"] == found["relabeled"].found
    above, named = false_alarm_warnings(tuple(found.values()))
    assert "100.0 % [96.4,\u00a0100.0] of audits of lists that mean nothing" in above
    assert "more than the 5 % promised" in above
    assert named.startswith("frequent in sided: its lists differ in word frequency")


def test_the_page_warns_of_false_alarms_and_json_has_them() -> None:
    vectors, frequent = by_frequency()
    result = bg.audit(vectors, lexicons=[frequent])
    content = result.to_dict()["false_alarms"]
    assert content["kind"] == "frequency"
    assert content["rate"] == content["kinds"]["frequency"]["rate"] == 1.0
    assert content["above"] == "interval"
    assert any("lists that mean nothing find an association in sided" in note for note in result.summary().warnings)
    assert result.summary().caveat.startswith(
        "Warning: False alarms: 100.0 % [96.4,\u00a0100.0] of audits of lists that mean"
    )
    assert "Frequent in sided: its lists differ in word frequency" in result.summary().caveat
    tile = result.summary().tiles[-1]
    assert (tile.value, tile.tone) == ("100.0\u00a0%", "bad")
    assert "[96.4,\u00a0100.0]" in tile.label
    assert "more than the 5 % promised" in tile.label.replace("\u00a0", " ")
    assert "at most 100.0 % [96.4,\u00a0100.0] found an association" in result.methods
    again = bg.audits.AuditResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again.false_alarms == result.false_alarms
    assert again.warnings == result.warnings


def rate(found: int, audits: int, null: Any = "matched", **more: Any) -> ErrorRate:  # noqa: ANN401
    share = clopper_pearson(found, audits)
    return ErrorRate("v", null, NULLS[null], audits, found, found / audits, share.low, share.high, 0.05, **more)


@pytest.mark.parametrize(("found", "above"), [(4, ""), (5, ""), (7, "estimate"), (10, "estimate"), (12, "interval")])
def test_a_rate_is_above_what_is_promised_by_its_interval_or_by_itself(found: int, above: str) -> None:
    """Exact intervals of 10 and of 12 in 100 begin at 4.9 and 6.4 %."""
    worst = false_alarms((rate(1, 100), rate(found, 100, "near"), rate(0, 100, "relabeled")))
    assert worst is not None
    assert (worst.kind, worst.above) == ("near", above)
    assert bool(false_alarm_warnings((rate(found, 100),))) == (above == "interval")
    assert false_alarms(()) is None


def test_lists_of_unequal_size_are_drawn_without_a_difference_in_frequency() -> None:
    random = np.random.default_rng(0)
    words = [WORDS[:4], WORDS[1_000:1_020], WORDS[1_100:1_110], WORDS[1_200:1_210]]
    content = {role: {"name": role, "words": list(one)} for role, one in zip("xyab", words, strict=True)}
    unequal = parse_lexicon({"name": "unequal", "kind": "test", "language": "en", **content}, path="unequal.toml")
    (asked,) = put([unequal], isotropic(1))
    found = {one.null: one for one in error_rates([asked], Rules(), 0)}
    assert found["sizes"].rate <= 0.05 + 3 * (0.05 * 0.95 / 100) ** 0.5
    assert property_at_fault(asked, "sizes")[0] == "its lists are of unequal size (4 and 20 words)"
    for drawn in null_tables(asked, "sizes", 3, random):
        table, rows, columns = drawn.complete()
        assert table.shape == (1, 24, 20)
        assert (rows.sizes.tolist(), columns.sizes.tolist()) == ([4, 20], [10, 10])
    ranks = [np.log10(np.arange(first, first + count) + 1).mean() for first, count in ((0, 4), (1_000, 20))]
    assert frequency_factor(asked) == pytest.approx(10 ** (ranks[1] - ranks[0]))


def test_each_group_of_near_words_has_a_word_of_its_own_however_long_the_lists() -> None:
    """Lists of 60 words, each an observation by itself, are 240 groups of one word."""
    random = np.random.default_rng(0)
    words = np.split(random.permutation(WORDS)[:240], 4)
    content = {role: {"name": role, "words": one.tolist()} for role, one in zip("xyab", words, strict=True)}
    (asked,) = put([parse_lexicon({"name": "long", "kind": "test", "language": "en", **content}, path="l.toml")],
                   isotropic(1))  # fmt: skip
    assert sum(map(sum, asked.test.contrast.effective)) > 200
    for drawn in null_tables(asked, "near", 3, random):
        table, _, _ = drawn.complete()
        assert len(np.unique(table.round(9), axis=1)[0]) > 100  # 120 targets, of which few are drawn twice


@pytest.mark.parametrize("null", ["relabeled", "matched", "frequency", "near"])
def test_no_p_of_a_meaningless_table_is_below_its_floor(null: Null) -> None:
    """The floor spares the tables that cannot be found anything in; margins are those of the complete table."""
    random = np.random.default_rng(1)
    (asked,) = put([random_test(random, "t0")], isotropic(2))
    weights, values = asked.query.weights, []
    for drawn in null_tables(asked, null, 40, random):
        table, rows, columns = drawn.complete()
        np.testing.assert_allclose(drawn.by_row, table @ columns.inverse.T, atol=1e-12)
        np.testing.assert_allclose(drawn.by_column, rows.inverse @ table, atol=1e-12)
        p = float(contrast_parts(table[None], rows, columns, weights).p[0])
        values.append((drawn.p_floor(weights), p))
    assert all(floor <= p for floor, p in values)
    assert sum(floor > 0.05 for floor, _ in values) > 20


def test_primary_questions_have_a_rate_of_their_own() -> None:
    random = np.random.default_rng(3)
    asked = put([random_test(random, f"t{number}") for number in range(3)], isotropic(1))
    found = error_rates(asked, Rules(primary=("t1",)), 0, audits=20)
    assert [one.together for one in found] == ["primary", "others"] * (len(found) // 2)
    assert [[question.question for question in one.questions] for one in found[:2]] == [["t1"], ["t0", "t2"]]
    for one in found[::2]:  # a single question is not corrected
        assert one.found == one.questions[0].found


def test_the_shortest_lists_are_simulated_where_all_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = put([random_test(np.random.default_rng(3), "long", 20), random_test(np.random.default_rng(4), "short")],
                isotropic(1))  # fmt: skip
    monkeypatch.setattr("biasgauge.audits.parts.false_alarms.MOST_SIMILARITIES", 1_000)
    found = error_rates(asked, Rules(), 0, audits=10)
    assert {question.question for one in found for question in one.questions} == {"short"}


def test_the_smallest_contrast_is_what_short_lists_detect_in_a_third_of_cases() -> None:
    """Independent cosines of isotropic vectors have variance 1 / DIM; a contrast of 4 × 64 of them 4 / (64 · DIM).

    A normal estimate with that standard error around the smallest contrast is significant at .05 with power 1 / 3.
    """
    vectors = isotropic(2)
    asked = put([random_test(np.random.default_rng(3), "one")], vectors)
    found = smallest_contrast(Subject("isotropic", (vectors,)), asked, 0)
    error = (4 / (LIST**2 * DIM)) ** 0.5
    power = norm.sf(norm.isf(0.025) - found / error) + norm.cdf(-norm.isf(0.025) - found / error)
    assert power == pytest.approx(1 / 3, abs=0.02)
    draws = np.random.default_rng(1).normal(TELESCOPE, 1, 100_000)
    assert np.mean(np.abs(draws) > norm.isf(0.025)) == pytest.approx(1 / 3, abs=0.01)
    assert smallest_contrast(Subject("isotropic", (vectors,)), asked, 0) == found
    assert smallest_contrast(Subject("isotropic", (vectors,)), asked, 1) == pytest.approx(found, rel=0.01)


def test_the_smallest_contrast_is_that_of_drawn_lists() -> None:
    """Contrasts of 40,000 lists of words that differ in how far they are spread along each axis."""
    random = np.random.default_rng(4)
    vectors = bg.Embedding(WORDS, random.standard_normal((len(WORDS), DIM)) * np.geomspace(1, 0.1, DIM) + 0.1)
    asked = put([random_test(np.random.default_rng(3), "one")], vectors)
    units = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    means = units[random.integers(0, len(WORDS), (40_000, 4, LIST))].mean(axis=2)
    contrasts = ((means[:, 0] - means[:, 1]) * (means[:, 2] - means[:, 3])).sum(axis=1)
    found = smallest_contrast(Subject("spread", (vectors,)), asked, 0)
    assert found == pytest.approx(TELESCOPE * contrasts.std(), rel=0.03)


def test_a_small_vocabulary_has_a_smallest_contrast_too() -> None:
    few = bg.Embedding(WORDS[:40], np.random.default_rng(0).standard_normal((40, 5)), name="few")
    assert smallest_contrast(Subject("few", (few,)), [], 0) > 0


def test_random_lists_have_the_frequency_of_the_words_they_stand_for() -> None:
    random, places = np.random.default_rng(0), np.array([3, 50, 400, 1_500])
    words = LikeFrequency.of(isotropic(0), "en")
    drawn = np.stack([words.draw(places, random) for _ in range(400)])
    assert not np.isin(drawn, places).any()
    for column, place in zip(drawn.T, places, strict=True):
        assert (column >= int(place / 1.5)).all()
        assert (column <= place * 1.5 + 20 + len(places)).all()
        assert len(set(column.tolist())) > 15
    assert drawn.max() < len(WORDS)


def test_a_lean_is_counted_from_words_that_are_spelled_alike() -> None:
    """Names, with a capital, lean to one side: random common words do not lean beside other common words."""
    random = np.random.default_rng(4)
    letters = ["".join(letters) for letters in random.choice(list("bcdfghjklmnpqrst"), (2_000, 9))]
    words = tuple(dict.fromkeys(word.capitalize() if number % 2 else word for number, word in enumerate(letters)))
    rows = random.standard_normal((len(words), DIM))
    rows[1::2, 0] += 3.0
    rows[[40, 42, 44, 46, 48], 0] += 8.0
    rows[[50, 52, 54, 56, 58], 0] -= 8.0
    ends = [(words[row], words[row + 10]) for row in (40, 42, 44, 46, 48)]
    vectors = bg.Embedding(words, rows, name="cased", frequencies=Frequencies(np.arange(1, len(words) + 1), "ranks"))
    subject = Subject("cased", (vectors,))
    pairs = parse_lexicon(
        {"name": "ends", "kind": "pairs", "language": "en", "pairs": [list(pair) for pair in ends]}, path="ends.toml"
    )
    found = 0
    for draw in range(200):
        listed = tuple(random.choice(words[100::2], 25, replace=False))
        words_lexicon = {"name": "l", "kind": "words", "language": "en", "words": list(listed)}
        query = Query.from_lexicon(parse_lexicon(words_lexicon, path="l.toml"), pairs)
        outcome = measure(query, subject, WordPolicy(case="exact"), draw)
        assert isinstance(outcome, Measured)
        found += outcome.p <= 0.05
    assert found <= 200 * (0.05 + 2 * (0.05 * 0.95 / 200) ** 0.5)


def test_long_lists_along_base_pairs_have_the_error_of_the_words_they_are_counted_from() -> None:
    """The variance of the mean of random words is a part of that of the contrast."""
    vectors = isotropic(4)
    (one,) = put(lean_question(), vectors)
    leans = one.random_leans
    contrast = one.test.decisive.contrast
    assert contrast.variances["random words"] == pytest.approx(leans.var(ddof=1) / len(leans))
    assert contrast.se is not None
    assert contrast.se**2 > contrast.variances["random words"] + 0.5 * contrast.variances["targets"]


def test_like_frequency_is_by_counts_where_a_file_is_in_another_order() -> None:
    """The same vectors in alphabetical order: random words have the frequencies of the words they stand for."""
    shipped = bg.vectors.load_default()
    order = np.argsort(shipped.words)
    known = shipped.frequencies
    assert known is not None
    alphabetical = bg.Embedding(
        tuple(shipped.words[row] for row in order), shipped.vectors[order], name="a–z", frequencies=known.select(order)
    )
    query = Query.from_lexicon("occ16", "du2021")
    found = [tabulate(query, Subject(model.name, (model,)), WordPolicy()) for model in (shipped, alphabetical)]
    smallest, baselines = [], []
    for outcome in found:
        assert isinstance(outcome, Tabulated)
        tests = put([lexicon("weat7")], outcome.subject.models[0])
        smallest.append(smallest_contrast(outcome.subject, tests, 0))
        baselines.append(outcome.random_leans.mean())
    assert smallest[1] == pytest.approx(smallest[0], rel=1e-12)
    assert baselines[1] == pytest.approx(baselines[0], rel=1e-12)
    places = np.arange(0, len(order), 97)
    drawn = LikeFrequency.of(alphabetical, "en").draw(places, np.random.default_rng(0))
    rank = np.empty(len(order), int)
    rank[np.argsort(known.select(order).values)] = np.arange(len(order))  # the most frequent word has rank 0
    assert (rank[drawn] >= (rank[places] / 1.5).astype(int)).all()
    assert (rank[drawn] <= rank[places] * 1.5 + 20 + len(places)).all()


def test_chance_contrasts_of_few_frequencies_hold_constant_what_there_is_of_each_draw() -> None:
    """With three counts, words of some draws have all of them, of others two or one: as many powers as each has."""
    random = np.random.default_rng(6)
    counts = random.choice([10, 11, 12], len(WORDS), p=[0.96, 0.02, 0.02])
    rows = random.standard_normal((len(WORDS), DIM))
    model = bg.Embedding(WORDS, rows, frequencies=Frequencies(counts, "counts"))
    (one,) = put([random_test(random, "few", 12)], model)
    assert np.isfinite(chance_contrasts(one, 0, draws=100)).all()


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
    found = error_rates(asked, Rules(), 0)
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
