"""Analogies with words: gensim as the witness, planted relations, lost words, both directions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasgauge.analyses.robustness.analogy_search import analogies
from biasgauge.analyses.robustness.word_similarity import neighbor_ranks
from biasgauge.core import WordPolicy
from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding, load_default, solve_analogies

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.vectors.analogies import Method

ASKED = [("man", "king", "woman"), ("paris", "france", "rome"), ("good", "better", "bad"), ("he", "doctor", "she")]


def keyed(model: Embedding) -> KeyedVectors:
    found = KeyedVectors(model.dim)
    found.add_vectors(list(model.words), model.vectors.astype(np.float32))
    return found


def rotated(model: Embedding, seed: int) -> Embedding:
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(model.dim, model.dim)))[0]
    return Embedding(model.words, model.vectors.astype(np.float64) @ turn)


@pytest.fixture(scope="module")
def glove() -> Embedding:
    return load_default(8_000)


def test_answers_are_those_of_gensim(glove: Embedding) -> None:
    """gensim, too, keeps the inputs from being the answer, and can restrict the candidates."""
    peer = keyed(glove)
    for restrict in (None, 3_000):
        found = analogies(glove, ASKED, top=5, restrict=restrict).answers
        for (a, b, c), one in zip(ASKED, found, strict=True):
            expected = peer.most_similar(positive=[b, c], negative=[a], topn=5, restrict_vocab=restrict)
            assert [word for word, _ in one.answers] == [word for word, _ in expected]
            assert [score for _, score in one.answers] == pytest.approx([score for _, score in expected], abs=1e-5)


@pytest.mark.filterwarnings("ignore:Call to deprecated `init_sims`:DeprecationWarning")  # gensim calls it itself
def test_products_rank_as_those_of_gensim() -> None:
    """Its ε is .000001, not the .001 of Levy & Goldberg."""
    random = np.random.default_rng(5)
    model = Embedding(tuple(f"w{row}" for row in range(400)), random.normal(size=(400, 40)))
    peer = keyed(model)
    rows = np.array([random.choice(400, 3, replace=False) for _ in range(30)])
    found = solve_analogies(model, *rows.T, method="3cosmul", epsilon=1e-6, top=4)
    named = analogies(model, [[f"w{row}" for row in one] for one in rows], method="3cosmul", top=4)
    ours = solve_analogies(model, *rows.T, method="3cosmul", top=4)
    for place, (a, b, c) in enumerate(rows.tolist()):
        expected = peer.most_similar_cosmul(positive=[f"w{b}", f"w{c}"], negative=[f"w{a}"], topn=4)
        assert [f"w{row}" for row in found.ranked[place]] == [word for word, _ in expected]
        assert [word for word, _ in named.answers[place].answers] == [f"w{row}" for row in ours.ranked[place]]


def planted(effect: float) -> Embedding:
    """Twins that differ by one direction, and in 20 others by chance; `effect` is how much they differ by the first."""
    random = np.random.default_rng(0)
    middle = random.normal(size=(30, 21)) * np.r_[0, np.ones(20)]
    gender = np.eye(21)[0] * effect
    noise = random.normal(size=(2, 30, 21)) * 0.05
    words = [f"{side}{number}" for side in "mf" for number in range(30)]
    return Embedding(tuple(words), np.concatenate([middle + gender + noise[0], middle - gender + noise[1]]))


@pytest.mark.parametrize("method", ["3cosadd", "3cosmul"])
def test_a_relation_that_holds_is_found_both_ways(method: Method) -> None:
    model = planted(1.0)
    asked = [("m0", f"m{number}", "f0", f"f{number}") for number in range(1, 30)]
    found = analogies(model, asked, method=method)
    assert [one.answer for one in found.answers] == [words[3] for words in asked]
    back = analogies(model, [("m0", f"f{n}", "f0") for n in range(1, 30)], method=method, direction="reversed")
    assert [one.answer for one in back.answers] == [f"m{number}" for number in range(1, 30)]
    assert {(one.question.a, one.question.c, one.question.d) for one in back.answers} == {("f0", "m0", "")}


def test_without_exclusion_the_answer_is_b_where_the_pair_is_close() -> None:
    """A pair .05 apart cannot carry any word past its own vector to another, all of which are .5 away or more."""
    random = np.random.default_rng(1)
    words = random.normal(size=(40, 20))
    pair = random.normal(size=20)
    model = Embedding(
        ("a", "c", *(f"x{n}" for n in range(40))),
        np.concatenate([[pair, pair + 0.05 * np.linalg.norm(pair) / 20**0.5 * np.ones(20)], words]),
    )
    asked = [("a", f"x{number}", "c") for number in range(40)]
    assert [one.answer for one in analogies(model, asked, exclude_inputs=False).answers] == [b for _, b, _ in asked]
    assert all(one.answer != b for (_, b, _), one in zip(asked, analogies(model, asked).answers, strict=True))


def test_both_directions_stand_beside_each_other() -> None:
    model = planted(1.0)
    asked = [("m0", "m1", "f0"), ("m0", "m2", "f0")]
    both = analogies(model, asked, direction="both", top=2)
    assert [one.direction for one in both.answers] == ["stated", "reversed"] * 2
    for direction, part in (("stated", both.answers[::2]), ("reversed", both.answers[1::2])):
        assert part == analogies(model, asked, direction=direction, top=2).answers  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["3cosadd", "3cosmul"])
def test_turning_the_space_changes_nothing(glove: Embedding, method: Method) -> None:
    plain = analogies(glove, ASKED, method=method, top=10, direction="both")
    turned = analogies(rotated(glove, 3), ASKED, method=method, top=10, direction="both")
    for one, other in zip(plain.answers, turned.answers, strict=True):
        assert [word for word, _ in one.answers] == [word for word, _ in other.answers]
        assert [score for _, score in one.answers] == pytest.approx([score for _, score in other.answers], abs=1e-9)


def test_lost_words_are_named() -> None:
    model = Embedding(("a", "b", "c", "nil"), np.array([[1.0, 0], [0, 1], [1, 1], [0, 0]]))
    found = analogies(model, {"x": [("a", "b", "gone"), ("a", "nil", "b"), ("a", "b", "c"), ("A", "b", "c")]})
    assert [one.reason for one in found.answers] == [
        "gone: not in the vocabulary",
        "the vector of a, b or c is zero",
        "there is no candidate",
        "A: not in the vocabulary",
    ]
    assert [one.answer for one in found.answers] == [None] * 4
    assert found.undefined == 4
    frame = found.to_frame()
    assert frame["reason"].tolist() == [one.reason for one in found.answers]
    assert frame["score"].isna().all()
    assert "undefined: gone: not in the vocabulary" in found._repr_html_()
    assert analogies(model, [("A", "b", "c")], policy=WordPolicy(case="fallback"), exclude_inputs=False).undefined == 0


def test_tables_and_json_say_the_same(glove: Embedding) -> None:
    found = analogies(glove, [("man", "king", "woman", "queen")], top=3)
    frame = found.to_frame()
    assert frame["rank"].tolist() == [1, 2, 3]
    assert frame["answer"].tolist() == [word for word, _ in found.answers[0].answers]
    assert frame["d"].tolist() == ["queen"] * 3
    told = json.loads(json.dumps(found.to_dict()))
    assert [one["word"] for one in told["answers"][0]["answers"]] == frame["answer"].tolist()
    assert "man : king :: woman :" in found._repr_html_()


@pytest.mark.shared
def test_answers_of_google_news(shared_data: Path) -> None:
    """Zhang et al., section 7: the top solution for "man is to apple as woman is to ?" is "apples"."""
    model = next((shared_data / "googlenews_subset_union").glob("*.npz"))
    found = analogies(model, [("man", "apple", "woman"), ("man", "king", "woman")], direction="both")
    assert [one.answer for one in found.answers] == ["apples", "apples", "queen", "kings"]
    assert found.answers[2].answers[0][1] == pytest.approx(0.7118, abs=5e-5)  # known of these vectors


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_those_of_a_slow_count(seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors = random.integers(-2, 3, size=(50, 3)).astype(np.float32)  # many are equal, some zero
    directed = np.flatnonzero(vectors.any(axis=1))
    pool = np.arange(40)
    words, left_out = directed[:8], directed[3:5]
    answers = random.choice(directed, (8, 3))
    answers[0] = words[0], -1, words[0]
    leaves_out = np.array([True, False, True])
    found = neighbor_ranks(vectors, words, answers, pool, left_out, leaves_out, block_rows=7)

    def cosine(one: int, other: int) -> float:
        a, b = vectors[one].astype(float), vectors[other].astype(float)
        return round(float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))), 10)

    for place, word in enumerate(words.tolist()):
        others = [row for row in pool.tolist() if row in directed and row != word]
        for column, answer in enumerate(answers[place].tolist()):
            counted = [row for row in others if not (leaves_out[column] and row in left_out)]
            nearer = sum(answer >= 0 and cosine(word, row) > cosine(word, answer) for row in counted)
            assert found.ranks[place, column] == (-1 if answer < 0 else 0 if answer == word else nearer + 1)
        best = max((row for row in others if row not in left_out), key=lambda row: (cosine(word, row), -row))
        assert found.nearest[place] == best


def test_arguments_that_cannot_be_used(glove: Embedding) -> None:
    with pytest.raises(ParameterError, match="'direction'"):
        analogies(glove, ASKED, direction="back")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'restrict'"):
        analogies(glove, ASKED, restrict=0)
    with pytest.raises(ParameterError, match="three or four words each"):
        analogies(glove, [("a", "b")])
