"""Small things that are missing, each as a test that fails until it is there: where to begin with this code.

Take one, write what its docstring says, remove its `xfail` line (a test that passes unexpectedly is an error, so you
will not forget), move the test beside the others of its room, and add a fragment to changelog.d/. CONTRIBUTING.md says
the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasgauge as bg

pytestmark = pytest.mark.good_first_issue


@pytest.fixture
def vectors() -> bg.Embedding:
    matrix = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    return bg.Embedding(("he", "she", "man", "woman", "nurse", "engineer", "poet", "judge"), matrix)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="a mistyped choice gets the list and no guess")
def test_a_mistyped_choice_is_guessed(vectors: bg.Embedding) -> None:
    """Names of lexicons and measures are guessed when they are mistyped; values of other parameters are not.

    Where: `check_choice` in src/biasgauge/core/inputs.py; `did_you_mean` in src/biasgauge/core/spelling.py makes the
    words. Tests: tests/test_checks.py.
    """
    with pytest.raises(bg.ParameterError) as problem:
        bg.scores.direct_bias(vectors, pairs=[("he", "she")], words=["nurse"], method="mean-diference")  # type: ignore[arg-type]  # mistyped
    assert "did you mean 'mean-difference'?" in str(problem.value)


@pytest.mark.xfail(strict=True, raises=TypeError, reason="indirect_bias has no case_fallback")
def test_indirect_bias_looks_words_up_in_another_case(vectors: bg.Embedding) -> None:
    """`direct_bias` takes `case_fallback`, `indirect_bias` beside it does not: names such as John are lost with GloVe.

    Where: `indirect_bias` in src/biasgauge/scores/direction.py; do as `direct_bias` does. Tests: those of direct bias
    in tests/scores/.
    """
    usual = bg.scores.indirect_bias(vectors, "nurse", "poet", pairs=[("he", "she")])
    settings: dict[str, Any] = {"pairs": [("He", "She")], "case_fallback": True}
    assert bg.scores.indirect_bias(vectors, "Nurse", "Poet", **settings) == usual


@pytest.mark.xfail(strict=True, raises=KeyError, reason="values of single words come without the words")
def test_an_association_test_names_the_words_of_its_scores(vectors: bg.Embedding) -> None:
    """SemAxis and NAS give a number for each word of X, as a bare list: nobody knows whose it is once words are lost.

    Where: `Association.to_dict` in src/biasgauge/scores/word_set_results.py: put `"by_word"` beside `"scores"`, a
    mapping of the words that were found (`self.coverage.sets["x"].words`) to their scores. Keys of JSON may be added,
    never changed. Tests: tests/scores/.
    """
    words = ["nurse", "nobody", "engineer", "poet", "judge"]
    found = bg.association_test(vectors, kind="semaxis", x=words, a=["he", "man"], b=["she", "woman"]).to_dict()
    assert found["by_word"] == dict(zip(["nurse", "engineer", "poet", "judge"], found["scores"], strict=True))


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="two of two are told as 'all 2'")
def test_two_of_two_are_both() -> None:
    """Verdicts say "all 2 measures give the same direction"; a reader expects "both measures".

    Where: `Evidence.directions` in src/biasgauge/audits/verdicts.py. Search tests/ and docs/ for "all 2" afterwards.
    Tests: tests/audits/test_verdicts.py.
    """
    reason = bg.audits.Evidence.directions("measures", 2, 2, 1.0, "bias").reason
    assert reason == "both measures give the same direction"
