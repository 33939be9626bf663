"""One measurement under many lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasgauge.core.inputs import WordsLike

import json

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.seeds import seed_choice
from biasgauge.core import WordPolicy
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import seed_bank


@pytest.fixture(scope="module")
def models() -> list[bg.Embedding]:
    return bg.vectors.load_default_replicates()[:3]


def cosine(model: bg.Embedding, words: list[str], target: list[str]) -> float:
    a, b = (np.mean([model[word].astype(np.float64) for word in one], axis=0) for one in (words, target))
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def test_values_are_cosines_of_mean_vectors(models: list[bg.Embedding]) -> None:
    found = seed_choice(models, "female", ["nasty", "evil"], policy=WordPolicy(case="exact"))
    sets = seed_bank().bank.sets
    by_set = {one.set: one for one in found.lists}
    words = list(dict.fromkeys(sets["female_1-Caliskan_et_al_2017"]))
    values = np.array([cosine(model, words, ["nasty", "evil"]) for model in models])
    one = by_set["female_1-Caliskan_et_al_2017"]
    assert one.value == pytest.approx(values.mean())
    assert one.method == "t over models"
    left = [cosine(models[0], [w for w in words if w != word], ["nasty", "evil"]) for word in words]
    most = int(np.argmax(np.abs(np.array(left) - values[0])))
    assert one.most_influential == words[most]
    assert one.value_without == pytest.approx(left[most])
    assert by_set["female_names_1-Caliskan_et_al_2017"].reason is not None  # capitals, and no case fallback
    names = seed_choice(models, ["female_names_1-Caliskan_et_al_2017"], ["nasty", "evil"]).lists[0]
    assert names.found == names.asked  # by default, since the vocabulary has no capitals
    defined = [one.value for one in found.lists if one.value is not None]
    assert defined == sorted(defined, reverse=True)
    assert found.spread == pytest.approx(np.std(defined, ddof=1))
    assert found.range == (min(defined), max(defined))
    assert "male_1-Caliskan_et_al_2017" not in by_set


def test_spread_of_lists_beside_that_of_models(models: list[bg.Embedding]) -> None:
    ids = ["female_1-Caliskan_et_al_2017", "female_2-Caliskan_et_al_2017", "female-Manzini_et_al_2019"]
    found = seed_choice(models, ids, "weat5:b")
    sets = seed_bank().bank.sets
    target = list(bg.lexicon("weat5").sets["b"])
    table = np.array([[cosine(model, list(dict.fromkeys(sets[one])), target) for model in models] for one in ids])
    within = table.var(axis=1, ddof=1).mean()
    between = table.mean(axis=1).var(ddof=1)
    assert found.replicate_spread == pytest.approx(within**0.5)
    assert found.list_share == pytest.approx((between - within / 3) / (between - within / 3 + within))
    assert found.category == "given sets"
    json.dumps(found.to_dict(), allow_nan=False)
    assert "Manzini" in found._repr_html_()


def test_a_string_is_one_word_and_not_its_letters(models: list[bg.Embedding]) -> None:
    # The published figure averaged the vectors of the letters u, n, p, l, e, a, s, a, n, t, n, e, s, s.
    found = seed_choice(models[0], ["female_1-Caliskan_et_al_2017"], "evil")
    words = list(seed_bank().bank.sets["female_1-Caliskan_et_al_2017"])
    assert found.target == "evil"
    assert found.lists[0].value == pytest.approx(cosine(models[0], words, ["evil"]))
    assert found.spread is None


@pytest.mark.parametrize(
    ("category", "target", "sentence"),
    [
        ("femal", ["evil"], "did you mean 'female'"),
        (["female_1-Caliskan"], ["evil"], "There is no seed set 'female_1-Caliskan'; did you mean"),
        ("female", "zzzzz", "no model has a word of it"),
        ("female", [], "found none"),
    ],
)
def test_bad_input(models: list[bg.Embedding], category: str, target: WordsLike, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        seed_choice(models, category, target)


def test_an_unknown_set_of_a_lexicon(models: list[bg.Embedding]) -> None:
    with pytest.raises(LexiconError, match="has no set"):
        seed_choice(models, "female", "weat7:none")
