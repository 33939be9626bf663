"""Words in both of two sets: which, and how far apart the two can be at most."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.lexicons import seed_bank, shared_words


@pytest.mark.parametrize(("a", "b"), [("abcd", "bcde"), ("abc", "cdefg"), ("abcdef", "ab"), ("ab", "cd"), ("ab", "ba")])
def test_no_contrast_exceeds_the_bound_and_one_reaches_it(a: str, b: str) -> None:
    """Reference: every assignment of 0 and 1 to the words; the extremes of a linear function lie at corners."""
    words = sorted({*a, *b})
    reached = max(
        abs(np.mean([score[word] for word in a]) - np.mean([score[word] for word in b]))
        for values in product((0, 1), repeat=len(words))
        for score in [dict(zip(words, values, strict=True))]
    )
    assert shared_words(a, b).most_apart == pytest.approx(reached)


def test_words_count_once_and_keep_their_order() -> None:
    shared = shared_words(["she", "he", "she"], ["he", "she", "her", "her"])
    assert shared.words == ("she", "he")
    assert shared.sizes == (2, 3)
    assert shared_words(["he"], ["she"]).sentence == ""


def test_black_and_white_names_differ_in_one() -> None:
    sets = seed_bank("published").bank.sets
    shared = shared_words(sets["names_black-Garg_et_al_2018"], sets["names_white-Garg_et_al_2018"])
    assert len(shared.words) == 19
    assert shared.most_apart == pytest.approx(0.05)
    assert "share 19 words" in shared.sentence
    assert "at most 0.05" in shared.sentence


def test_the_coherence_of_such_sets_cannot_exceed_it() -> None:
    vectors = bg.vectors.load_default()
    (card,) = bg.seeds(vectors, pairs=[("names_black-Garg_et_al_2018", "names_white-Garg_et_al_2018")])
    assert card.coherence.value is not None
    assert card.coherence.value <= 0.05
    assert card.verdict == "unfit"
    assert any("share 19 words" in advice.sentence for advice in card.advice)


def test_tests_and_subspaces_warn() -> None:
    rng = np.random.default_rng(0)
    vectors = bg.Embedding(tuple("abcdefgh"), rng.normal(size=(8, 5)))
    found = bg.weat(vectors, x=["a", "b"], y=["c", "d"], a=["e", "f"], b=["f", "g"])
    assert found.to_dict()["warnings"] == list(found.warnings)
    assert "share 1 word (f)" in found.warnings[0]
    assert "share 1 word (f)" in " ".join(found.summary().warnings)
    assert bg.weat(vectors, x=["a", "b"], y=["c", "d"], a=["e", "f"], b=["g", "h"]).warnings == ()
    space = bg.analyses.seeds.bias_subspace(vectors, ["a", "b", "c"], ["b", "d", "e"])
    assert "share 1 word (b)" in space.to_dict()["warnings"][0]
