"""The report is its parts, and its sentence says what they say."""

from __future__ import annotations

import json

import numpy as np
import pytest

from biasgauge.analyses.robustness.analogy_search import analogy_report
from biasgauge.analyses.robustness.explained import similarity_explained
from biasgauge.analyses.robustness.pair_generator import generate_pairs
from biasgauge.core import WordPolicy
from biasgauge.vectors import Embedding, analogy_accuracy, load_default


def test_the_report_is_its_parts() -> None:
    model = load_default(2_000)
    asked = {
        "family": [("man", "woman", "king", "queen"), ("he", "she", "his", "her")],
        "gram-plural": [("day", "days", "year", "years"), ("year", "years", "day", "days"), ("day", "days", "Zo", "x")],
    }
    found = analogy_report(model, questions=asked, top=5)
    alone = similarity_explained(
        model, {"family": [("man", "woman"), ("he", "she")], "gram-plural": [("day", "days"), ("year", "years")]},
        policy=WordPolicy(case="fallback"),
    )  # fmt: skip
    assert found.explained.to_dict() == alone.to_dict()
    assert found.explained.condition().explained.n == 2
    assert found.generated.pairs == generate_pairs(model, ("man", "woman"), top=5).pairs
    ways = [(one.method, one.exclude_inputs) for one in found.accuracy]
    assert ways == [("3cosadd", True), ("3cosadd", False), ("3cosmul", True), ("3cosmul", False)]
    expected = analogy_accuracy(model, asked, method="3cosmul", exclude_inputs=False)
    assert found.accuracy[3].to_dict() == expected.to_dict()
    told = json.loads(json.dumps(found.to_dict()))
    assert sorted(told) == ["accuracy", "explained", "generated", "model", "verdicts"]
    assert told["accuracy"][0]["name"] == "total"
    assert told["accuracy"][0]["lost"] == expected.total.lost
    assert found.to_frame().equals(alone.to_frame())
    assert found._repr_html_().count("<table") == 2 + len(found.accuracy)  # one for each of its parts


def test_words_of_the_user_take_the_place_of_the_questions() -> None:
    found = analogy_report(
        load_default(2_000), words=["people", "city"], questions=[("he", "she", "his", "her")], top=2
    )
    assert {one.x for one in found.explained.answers} == {"people", "city"}


def test_the_sentence_says_what_was_found() -> None:
    model = load_default(2_000)
    found = analogy_report(model, questions=[("day", "days", "year", "years"), ("he", "she", "his", "her")], top=2)
    near = found.explained.condition().explained
    assert near.value is not None
    assert (
        f"the nearest neighbor of x for {100 * near.value:.1f} % of 2 words (95 % interval" in found.summary().headline
    )
    assert found.verdicts[0] == found.summary().headline
    pair, alone = found.explained.condition().correct.value, found.explained.nearest_correct.value
    assert f"the pair finds {100 * (pair or 0):.1f} %;" in found.verdicts[1]
    assert found.verdicts[1].endswith(f"is the listed answer for {100 * (alone or 0):.1f} %.")
    right = [one.total.value for one in found.accuracy[:2]]
    assert f"{100 * (right[0] or 0):.1f} % are answered rightly" in found.verdicts[2]
    assert f"{100 * (right[1] or 0):.1f} % when they are not" in found.verdicts[2]
    lost = analogy_report(Embedding(("a", "b", "c"), np.eye(3)), questions=[("a", "b", "c", "a")])
    assert lost.summary().headline == (
        "“man is to x as woman is to …?” is undefined: man: not in the vocabulary; woman: not in the vocabulary."
    )
    assert lost.verdicts[0] == lost.summary().headline
    assert lost.generated.reason == "man: not in the vocabulary; woman: not in the vocabulary"


@pytest.mark.slow
def test_the_google_set_on_the_shipped_vectors() -> None:
    found = analogy_report(load_default())
    near = found.explained.condition().explained
    assert near.value is not None
    assert near.value > 0.5
    assert found.explained.condition(exclude_inputs=False).itself.value == pytest.approx(1, abs=0.01)
