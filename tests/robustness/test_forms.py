"""Forms of words and pairs: which are found, and why the others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.analyses.robustness.forms import NOT_GIVEN, SAME, find_forms, find_pair_forms, spellers
from biasgauge.analyses.robustness.plan import ANOTHER_LOST, NO_WORD, RobustnessPlan
from biasgauge.errors import ParameterError
from biasgauge.vectors import load

if TYPE_CHECKING:
    from biasgauge.analyses.robustness.forms import FormsLike
    from biasgauge.vectors import Embedding


@pytest.fixture
def model() -> Embedding:
    words = ("he", "she", "He", "She", "man", "woman", "Man", "men", "mans", "sheep", "boss", "bosses", "Boss", "BOSS")
    return load((words, np.random.default_rng(0).normal(size=(len(words), 3))))


def test_every_word_is_found_or_lost_with_a_reason(model: Embedding) -> None:
    forms = spellers(["plural", "capitalized", "upper", "lower"])
    found = {name: find_forms(model, ["man", "sheep", "boss", "Boss"], name, spell) for name, spell in forms.items()}
    assert dict(found["plural"].found) == {"man": "men", "boss": "bosses"}
    assert dict(found["plural"].lost) == {"sheep": SAME, "Boss": "Bosses is not in the vocabulary"}
    assert dict(found["capitalized"].found) == {"man": "Man", "boss": "Boss"}
    assert dict(found["capitalized"].lost) == {"sheep": "Sheep is not in the vocabulary", "Boss": SAME}
    assert dict(found["upper"].found) == {"boss": "BOSS", "Boss": "BOSS"}
    assert dict(found["lower"].found) == {"Boss": "boss"}
    for one in found.values():
        assert set(one.found) | set(one.lost) == {"man", "sheep", "boss", "Boss"}
        assert one.to_dict()["asked"] == 4


def test_plurals_as_published_are_looked_up_with_s_then_es(model: Embedding) -> None:
    spell = spellers("plural", as_published=True)["plural"]
    found = find_forms(model, ["man", "boss", "sheep"], "plural", spell)
    assert dict(found.found) == {"man": "mans", "boss": "bosses"}
    assert dict(found.lost) == {"sheep": "sheeps and sheepes are not in the vocabulary"}


def test_the_user_s_own_forms(model: Embedding) -> None:
    given = {
        "listed": {"man": "men", "boss": "gone"},
        "pairs": [("man", "woman")],
        "computed": lambda word: word.title() if word == "man" else None,
        "upper": None,
    }
    forms = {name: find_forms(model, ["man", "boss"], name, spell) for name, spell in spellers(given).items()}
    assert dict(forms["listed"].found) == {"man": "men"}
    assert dict(forms["listed"].lost) == {"boss": "gone is not in the vocabulary"}
    assert dict(forms["pairs"].found) == {"man": "woman"}
    assert dict(forms["pairs"].lost) == {"boss": NOT_GIVEN}
    assert dict(forms["computed"].found) == {"man": "Man"}
    assert dict(forms["upper"].found) == {"boss": "BOSS"}


def test_pairs_need_both_ends(model: Embedding) -> None:
    spell = spellers("capitalized")["capitalized"]
    found = find_pair_forms(model, [("he", "she"), ("man", "woman")], "capitalized", spell)
    assert dict(found.found) == {("he", "she"): ("He", "She")}
    assert dict(found.lost) == {("man", "woman"): "woman: Woman is not in the vocabulary"}


@pytest.mark.parametrize(
    ("forms", "sentence"),
    [
        (["plurals"], "must be one of plural, capitalized, upper, lower"),
        ({"old": None}, "must be one of plural"),
        (3, "must be names"),
        ([3], "Got 3"),
    ],
)
def test_mistakes_get_a_sentence(forms: FormsLike, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        spellers(forms)


def test_a_form_that_is_no_word_gets_a_sentence(model: Embedding) -> None:
    spell = spellers({"odd": lambda _word: 3})["odd"]
    with pytest.raises(ParameterError, match="The form 'odd' of 'man' must be a word"):
        find_forms(model, ["man"], "odd", spell)


def test_as_published_a_word_counts_with_all_its_forms_only(model: Embedding) -> None:
    forms = ["plural", "capitalized", "upper"]
    plan = RobustnessPlan.build(model, [("he", "she")], ["man", "boss", "gone"], forms, (), as_published=True)
    assert [dict(one.found) for one in plan.forms] == [{"boss": "bosses"}, {"boss": "Boss"}, {"boss": "BOSS"}]
    assert dict(plan.forms[0].lost) == {"gone": NO_WORD, "man": ANOTHER_LOST}
    each = RobustnessPlan.build(model, [("he", "she")], ["man", "boss"], forms, ())
    assert [set(one.found) for one in each.forms] == [{"man", "boss"}, {"man", "boss"}, {"boss"}]
