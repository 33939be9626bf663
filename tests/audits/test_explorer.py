"""The explorer: what a page carries is what `score` gives, with Student's t intervals as SciPy computes them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import biasgauge as bg
from biasgauge.audits import shared_scores
from biasgauge.audits.explorer import LARGEST, Explorer, explore, pair_lists
from biasgauge.audits.shared_scores import MEASURES, SharedScores, page_words
from biasgauge.lexicons import Lexicon, language_of, pairs_of, parse_lexicon

PAIRS = pairs_of("du2021").pairs
ENDS = tuple(dict.fromkeys(word for pair in PAIRS for word in pair))
WORDS = ("nurse", "doctor", *(f"word{number}" for number in range(120)))


def model(seed: int, words: tuple[str, ...] = ENDS + WORDS, name: str | None = None) -> bg.Embedding:
    matrix = np.random.default_rng(seed).standard_normal((len(words), 12)).astype(np.float32)
    return bg.Embedding(words, matrix, name=name or f"seed {seed}")


def explored(first: bg.Embedding, replicates: list[bg.Embedding], most_words: int = 200) -> Explorer:
    models = (first, *(one for one in replicates if one is not first))
    return explore(SharedScores(models, (), most_words=most_words), replicates)


def own(**content: object) -> Lexicon:
    return parse_lexicon({"name": "own", **content}, path="own.toml")


def unpacked(text: str, shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.int16]]:
    """High bytes first, then low bytes, two hexadecimal digits each."""
    high, low = np.frombuffer(bytes.fromhex(text), np.uint8).reshape(2, -1).astype(np.uint16)
    return (256 * high + low).astype(np.int16).reshape(shape)


def test_a_page_carries_the_scores_to_within_half_a_step() -> None:
    found = explored(model(1), [])
    packed = json.loads(json.dumps(found.packed(), allow_nan=False))
    scores = bg.score(model(1), pairs="du2021", words=packed["words"], measures=list(MEASURES)).to_numpy()[..., 0]
    steps = unpacked(packed["scores"], scores.shape)
    scales = np.array(packed["scales"])[:, None, None]
    assert packed["measures"] == list(MEASURES)
    assert [tuple(pair) for pair in packed["pairs"]] == list(PAIRS)
    assert np.abs(steps * scales - scores).max() <= scales.max() * 0.501
    assert np.abs(steps.astype(int)).max() <= LARGEST


def test_undefined_scores_carry_their_reason() -> None:
    few = model(1, ENDS + WORDS[:2])  # 46 words: fewer than 100 neighbors exist
    zero = bg.Embedding(few.words, np.where(np.arange(len(few))[:, None] == len(ENDS), 0, few.vectors), name="zero")
    packed = explored(zero, []).packed()
    shape = (3, len(PAIRS), len(packed["words"]))
    steps = unpacked(packed["scores"], shape)
    nurse, doctor = (packed["words"].index(word) for word in ("nurse", "doctor"))
    reasons = [packed["reasons"][int(step) + 32_768] for step in (steps[2, 0, doctor], steps[0, 0, nurse])]
    assert reasons[0] == "fewer than k neighbors exist"
    assert "zero" in reasons[1]
    assert steps[0, 0, doctor] >= -LARGEST
    means = unpacked(packed["over_pairs"]["mean"], (3, len(packed["words"])))
    assert means[2, doctor] < -LARGEST


def test_replicates_are_averaged_pair_by_pair_and_over_pairs() -> None:
    replicates = [model(seed) for seed in (2, 3, 4)]
    found = explored(model(1), replicates)
    assert found.scores is not None
    assert found.by_pair is not None
    assert found.over_replicates is not None
    words = list(found.scores.words)
    scores = bg.score(replicates, pairs="du2021", words=words, measures=list(MEASURES)).to_numpy().astype(float)
    word = words.index("nurse")
    np.testing.assert_allclose(found.by_pair.mean, scores.mean(axis=3), atol=1e-6)
    one = scores[1, 5, word]
    low, high = stats.t.interval(0.95, 2, loc=one.mean(), scale=stats.sem(one))
    assert found.by_pair.mean[1, 5, word] - found.by_pair.reach[1, 5, word] == pytest.approx(low, abs=1e-5)
    over = scores[0, :, word].mean(axis=0)
    assert found.over_replicates.mean[0, word] == pytest.approx(over.mean(), abs=1e-6)
    assert found.over_replicates.reach[0, word] == pytest.approx(stats.t.ppf(0.975, 2) * stats.sem(over), abs=1e-6)
    assert high > low


def test_a_model_that_is_a_replicate_counts_once() -> None:
    models = [model(1), model(2)]
    found = explored(models[0], models)
    scores = bg.score(models, pairs="du2021", words=found.scores.words, measures=["dbwa"])  # type: ignore[union-attr]
    assert found.by_pair is not None
    assert found.by_pair.n.max() == 2
    np.testing.assert_allclose(found.by_pair.mean[0], scores.to_numpy()[0].mean(axis=2), atol=1e-6)


def test_a_word_that_replicates_lack_has_no_mean_over_them() -> None:
    found = explored(model(1), [model(2, ENDS + WORDS[1:]), model(3)])
    packed = found.packed()
    at = packed["words"].index("nurse")
    assert packed["models"][at] == 1
    assert unpacked(packed["over_replicates"]["reach"], (3, len(packed["words"])))[0, at] < -LARGEST
    assert packed["models"][packed["words"].index("doctor")] == 2


def test_the_spread_of_each_pair_is_that_of_the_words() -> None:
    found = explored(model(1), [])
    assert found.scores is not None
    mean, sd = found.packed()["spread"][1][7]
    values = found.scores.to_numpy()[1, 7, :, 0].astype(float)
    assert (mean, sd) == pytest.approx((values.mean(), values.std(ddof=1)), abs=1e-5)
    over = found.packed()["spread"][1][-1]
    assert over[0] == pytest.approx(found.scores.to_numpy()[1, :, :, 0].mean(), abs=1e-5)


def test_words_are_those_of_lists_that_fit_and_then_the_first() -> None:
    vectors = model(1, ("the", "of", "small1", "small2", *(f"large{n}" for n in range(9)), "Other"))
    lists = [own(kind="words", words=[f"large{n}" for n in range(9)]), own(kind="words", words=["small2", "lost"])]
    assert page_words(vectors, lists, 4) == ("small2", "the", "of", "small1")
    assert page_words(vectors, lists, 10)[:2] == ("small2", "large0")
    assert len(page_words(vectors, lists, 100)) == len(vectors)
    assert page_words(vectors, [own(kind="words", words=["other"])], 1, case_fallback=True) == ("Other",)


def test_another_language_gets_a_reason() -> None:
    found = explore(SharedScores((model(1),), (), language=language_of("tlh")), [])
    assert found.scores is None
    assert found.to_dict() == {
        "words": 0,
        "reason": "the language 'tlh' has no base pairs to score words along; name some in a file tlh.toml "
        "(`biasgauge lexicons check tlh` says where its template is)",
    }
    assert found.packed() == {}


def test_no_pair_gets_a_reason_and_a_lost_one_is_named() -> None:
    assert explored(model(1, ("he", "nurse")), []).reason == "no pair of du2021 has both its words in the vocabulary"
    found = explored(model(1, tuple(word for word in ENDS + WORDS if word != "niece")), [])
    assert found.lost_pairs == (("nephew", "niece"),)
    assert found.to_dict()["lost_pairs"] == [["nephew", "niece"]]
    assert len(found.packed()["pairs"]) == len(PAIRS) - 1


def test_neighbors_of_large_vocabularies_come_from_the_first_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_scores, "POOL", 120)
    vectors = model(1)
    found = explored(vectors, [])
    assert found.scores is not None
    assert found.pool == 120
    pooled = bg.score(vectors, pairs="du2021", words=["nurse"], measures="nbm", pool=list(vectors.words[:120]))
    nurse = found.scores.select(measure=["nbm"], word=["nurse"]).to_numpy()
    np.testing.assert_array_equal(nurse, pooled.to_numpy())


def test_the_audit_has_an_explorer_small_enough_for_a_page(
    shipped_audit: Callable[..., bg.audits.AuditResult],
) -> None:
    found = shipped_audit().explorer
    assert found is not None
    packed = found.packed()
    assert len(packed["words"]) == 2_500
    assert {"nurse", "math"} <= set(packed["words"])
    assert packed["replicates"] == 4
    assert len(zlib.compress(json.dumps(packed).encode(), 9)) * 4 / 3 < 1_200_000


def test_other_lists_of_pairs_are_offered_as_far_as_their_pairs_are_there() -> None:
    others = [pairs_of(name) for name in ("bolukbasi2016", "zhang2020", "animals")]
    found = pair_lists([("he", "she"), ("woman", "man"), ("man", "woman"), ("x", "y")], others)
    assert found["mean of Zhang et al. 2020 (2 of its 10 pairs)"] == [0, 2]
    assert all(len(places) > 1 for places in found.values())
    assert not any("du2021" in name for name in found)
