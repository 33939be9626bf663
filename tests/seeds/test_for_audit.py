"""Cards for the sets that an audit rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.analyses.seeds import seed_cards, seeds

if TYPE_CHECKING:
    import biasgauge as bg


def test_tests_pairs_and_the_bank_each_once(replicates: list[bg.Embedding]) -> None:
    found = seed_cards(replicates, ["weat7", "weat8", "du2021", "occ16"])
    assert found is not None
    names = [(card.a, card.b) for card in found]
    assert names[:2] == [("weat7:math", "weat7:arts"), ("weat7:male terms", "weat7:female terms")]
    assert ("du2021:male", "du2021:female") in names
    assert ("definitional_female-Bolukbasi_et_al_2016", "definitional_male-Bolukbasi_et_al_2016") in names
    assert not any("occ16" in name for pair in names for name in pair)
    words = [(frozenset(one.coverage.sets["a"].words), frozenset(one.coverage.lost)) for one in found]
    assert len(words) == len(found)
    pair = next(card for card in found if card.a == "weat7:male terms")
    (expected,) = [
        card for card in seeds(replicates, pairs="weat7", shuffles=100, leave_one_out=2) if card.a == "weat7:male terms"
    ]
    assert pair.to_dict() | {"coherence_published": 0, "coherence_published_interval": 0} == expected.to_dict() | {
        "coherence_published": 0,
        "coherence_published_interval": 0,
    }


def test_other_languages_have_no_bank(model: bg.Embedding) -> None:
    found = seed_cards(model, ["xweat1_es"], language="es")
    assert found is not None
    assert len(found) == 2
    assert seed_cards(model, ["occ16"], language="es") is None
