"""Lost words of a test in a language with grammatical gender: both forms go, or as published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.core import WordPolicy
from biasgauge.lexicons import AssociationTest, lexicon, parse_lexicon
from biasgauge.metrics.weat import weat as weat_of_arrays

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


TEST = "weat_es_gender"
FEMININE_ART = ("poetisa", "bailarina", "actora", "fotógrafa")  # METHODS: the last four, which the released code drops


def named(name: str = TEST) -> AssociationTest:
    found = lexicon(name)
    assert isinstance(found, AssociationTest)
    return found


def model(without: Sequence[str] = (), words: Sequence[str] = (), seed: int = 3) -> bg.Embedding:
    """Random vectors, the masculine forms moved towards the male terms by grammar alone."""
    test = named()
    known = [word for word in words or test.words if word not in without]
    vectors = np.random.default_rng(seed).standard_normal((len(known), 12))
    masculine = {pair[0] for pair in test.counterparts} | set(test.a.words)
    vectors[[at for at, word in enumerate(known) if word in masculine], 0] += 3
    return bg.Embedding(words=tuple(known), vectors=vectors, name="made")


def forms(result: bg.scores.Weat, role: str) -> tuple[int, int]:
    """How many masculine and feminine forms of a set count."""
    pairs = named().counterparts
    kept = set(result.coverage.sets[role].words)
    return sum(first in kept for first, _ in pairs), sum(second in kept for _, second in pairs)


def by_hand(embedding: bg.Embedding, *words: Iterable[str]) -> float | None:
    """WEAT of the words named, without any look-up of ours."""
    at = {word: row for row, word in enumerate(embedding.words)}
    sets = [np.array([embedding.vectors[at[word]] for word in members]) for members in words]
    return weat_of_arrays(*sets, interval=None).effect_size


def test_every_target_of_the_spanish_gender_test_has_its_counterpart() -> None:
    test = named()
    paired = [word for pair in test.counterparts for word in pair]
    assert len(paired) == len(set(paired)) == 28  # 6 + 6 science, 8 + 8 art forms
    assert set(paired) == {*test.x.words, *test.y.words}
    assert [first for first, _ in test.counterparts] == [*test.x.words[:6], *test.y.words[:8]]
    assert [second for _, second in test.counterparts] == [*test.x.words[6:], *test.y.words[8:]]


def test_lost_words_take_their_counterparts_with_them() -> None:
    lost = ("astrónoma", "bióloga", "biólogo", "pintor", "actora")
    found = bg.weat(model(lost), TEST, min_coverage=0.5, interval=None)
    assert forms(found, "x") == (4, 4)
    assert forms(found, "y") == (6, 6)
    assert found.settings["counterparts"] == "balance"
    reasons = found.to_dict()["coverage"]["reasons"]
    assert reasons == {
        "astrónomo": "its counterpart 'astrónoma' was lost",
        "pintora": "its counterpart 'pintor' was lost",
        "actor": "its counterpart 'actora' was lost",
    }
    gone = {*lost, *reasons}
    kept = {role: [word for word in words if word not in gone] for role, words in named().sets.items()}
    expected = by_hand(model(lost), kept["x"], kept["y"], *(dict.fromkeys(kept[role]) for role in "ab"))
    assert found.effect_size == pytest.approx(expected, rel=1e-12)
    assert set(found.associations) == {*kept["x"], *kept["y"]}


def test_without_trimming_only_the_lost_words_go() -> None:
    found = bg.weat(model(("astrónoma", "pintor")), TEST, policy=WordPolicy(counterparts="keep"), interval=None)
    assert forms(found, "x") == (6, 5)
    assert forms(found, "y") == (7, 8)
    assert found.settings["counterparts"] == "keep"


def test_the_released_trimming_drops_the_last_four_feminine_art_words() -> None:
    embedding, test = model(), named()
    found = bg.weat(embedding, TEST, policy=WordPolicy(counterparts="as-published"), interval=None)
    assert forms(found, "x") == (6, 6)
    assert forms(found, "y") == (8, 4)
    assert found.coverage.lost == {"y": FEMININE_ART}
    expected = by_hand(embedding, test.x.words, test.y.words[:12], test.a.words, test.b.words)  # hermano twice, too
    assert found.effect_size == pytest.approx(expected, rel=1e-12)
    assert found.settings["counterparts"] == "as-published"


def test_grammar_alone_is_a_bias_as_published_and_none_when_balanced() -> None:
    for rule in ("balance", "as-published"):
        policy = WordPolicy(counterparts=rule)
        found = [bg.weat(model(seed=seed), TEST, policy=policy, interval=None) for seed in range(40)]
        values = np.array([one.effect_size for one in found], float)
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        significant = abs(np.mean(values)) > 4 * error
        assert significant == (rule == "as-published"), (rule, np.mean(values), error)


def test_the_migrant_test_loses_its_last_names_and_terms_as_published() -> None:
    test = named("weat_es_migrant")
    embedding = model(words=test.words)
    found = bg.weat(embedding, test, policy=WordPolicy(counterparts="as-published"), interval=None)
    assert found.coverage.lost == {"y": test.y.words[-5:], "b": test.b.words[-5:]}
    whole = bg.weat(embedding, test, interval=None)
    assert not whole.coverage.lost
    assert "counterparts" not in whole.settings  # nothing there to balance


def test_a_set_that_balance_leaves_too_small_is_undefined() -> None:
    found = bg.weat(model(("astrónoma", "bióloga", "física")), TEST, interval=None)
    assert found.value is None
    assert found.reason == "fewer than 80 % of the words found: x 6 of 12"


def test_bad_rules_are_refused() -> None:
    with pytest.raises(bg.ParameterError, match=r"'counterparts'"):
        bg.weat(model(), TEST, policy=WordPolicy(counterparts="last"))  # type: ignore[arg-type]
    with pytest.raises(bg.ParameterError, match="'mac'"):
        bg.association_test(model(), TEST, kind="mac", policy=WordPolicy(counterparts="as-published"))


def test_counterparts_of_a_file_must_be_in_one_set() -> None:
    data = named().to_dict()
    assert parse_lexicon(data) == named()
    data["counterparts"] = [["científico", "pintora"]]
    with pytest.raises(bg.errors.LexiconError, match="'pintora'"):
        parse_lexicon(data)
