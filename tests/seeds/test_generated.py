"""Generated sets are nouns that belong together, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.reliability import word_properties
from biasgauge.analyses.seeds import generated_cloud, generated_sets, seeds
from biasgauge.errors import ParameterError


@pytest.fixture(scope="module")
def glove() -> bg.Embedding:
    return bg.vectors.load_default(6_000)


def test_sets_are_a_noun_and_its_nearest_nouns(glove: bg.Embedding) -> None:
    found = generated_sets(glove, sets=12, size=5, random_state=2)
    assert len(found) == 12
    table = word_properties()
    nouns = [word for word in glove.words if word in table and table[word].tag == "NOUN" and table[word].senses]
    nouns = [word for word in nouns if word.isalpha()]
    vectors = np.stack([glove[word] for word in nouns]).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for one in found:
        similarities = vectors @ vectors[nouns.index(one.words[0])]
        nearest = [nouns[row] for row in np.argsort(-similarities)[:5]]
        assert list(one.words) == nearest
    assert len({frozenset(one.words) for one in found}) == 12


def test_nouns_may_be_given(glove: bg.Embedding) -> None:
    """With the default's own nouns nothing changes; with others the sets are made of those."""
    table = word_properties()
    nouns = [word for word in glove.words if word in table and table[word].tag == "NOUN" and table[word].senses]
    assert generated_sets(glove, sets=6, nouns=nouns) == generated_sets(glove, sets=6)
    verbs = [word for word in glove.words if word in table and table[word].tag == "VERB"]
    found = generated_sets(glove, sets=6, nouns=verbs)
    assert {word for one in found for word in one.words} <= set(verbs)
    result = seeds(glove, ["he", "man"], ["she", "woman"], generated=6, nouns=verbs, shuffles=0)
    assert result.cloud is not None
    assert result.cloud.sets == found
    assert result.settings["nouns"] == "given words"


def test_sets_follow_the_seed(glove: bg.Embedding) -> None:
    assert generated_sets(glove, sets=6, random_state=1) == generated_sets(glove, sets=6, random_state=1)
    assert generated_sets(glove, sets=6, random_state=1) != generated_sets(glove, sets=6, random_state=2)


def test_sets_come_from_several_models(glove: bg.Embedding) -> None:
    noisy = bg.Embedding(glove.words, glove.vectors[::-1], name="other")
    assert {one.model for one in generated_sets([glove, noisy], sets=10)} == {glove.name, "other"}


def test_a_cloud_measures_every_pair_as_seeds_does(glove: bg.Embedding) -> None:
    cloud = generated_cloud(glove, sets=6, random_state=1)
    assert len(cloud.pairs) <= 15
    pairs = [(list(cloud.sets[one].words), list(cloud.sets[other].words)) for one, other in cloud.pairs]
    expected = seeds(glove, pairs=pairs, shuffles=0, leave_one_out=False)
    assert cloud.coherence.tolist() == pytest.approx([card.coherence.value for card in expected])
    assert cloud.similarity.tolist() == pytest.approx([card.similarity.value for card in expected])
    assert cloud.first_share.tolist() == pytest.approx([card.pairing.first.value for card in expected])
    assert cloud.coherence_published.tolist() == pytest.approx([card.coherence_published.value for card in expected])
    middle = float(np.median(cloud.coherence))
    assert cloud.share_below(middle) == pytest.approx((cloud.coherence < middle).mean())
    assert cloud.to_dict()["coherence"]["median"] == pytest.approx(middle)
    assert {one.of for one in cloud.relations} == {"generated"}


def test_pairs_that_share_a_word_are_left_out(glove: bg.Embedding) -> None:
    cloud = generated_cloud(glove, sets=30, size=8, random_state=0)
    for one, other in cloud.pairs:
        assert not set(cloud.sets[one].words) & set(cloud.sets[other].words)
    shared = sum(
        bool(set(a.words) & set(b.words)) for place, a in enumerate(cloud.sets) for b in cloud.sets[place + 1 :]
    )
    assert len(cloud.pairs) == 30 * 29 // 2 - shared
    assert shared  # or the test says nothing


def test_result_with_a_cloud(glove: bg.Embedding) -> None:
    found = seeds(glove, ["he", "man", "boy"], ["she", "woman", "girl"], generated=5, shuffles=0)
    assert found.cloud is not None
    assert len(found.to_dict()["generated"]["sets"]) == 5
    assert {one.of for one in found.relations} == {"generated"}  # one pair of gathered sets has none


@pytest.mark.parametrize(("sets", "size", "name"), [(0, 5, "sets"), (5, 1, "size")])
def test_numbers_too_small(glove: bg.Embedding, sets: int, size: int, name: str) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter must be a whole number"):
        generated_sets(glove, sets=sets, size=size)


def test_too_few_nouns() -> None:
    with pytest.raises(ParameterError, match="common"):
        generated_sets((("xq", "qx"), np.eye(2)))
