"""`seeds` as a user calls it: cards, lost words, replicates, hostile input."""

from __future__ import annotations

import json

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.seeds import seeds
from biasgauge.analyses.seeds.word_pairs import compound_spellings
from biasgauge.core import WordPolicy
from biasgauge.errors import LexiconError, ParameterError

MEN = ["he", "man", "his", "boy", "father", "son"]
WOMEN = ["she", "woman", "her", "girl", "mother", "daughter"]
ANY = [f"w{row}" for row in range(6)]
OTHER = [f"w{row}" for row in range(6, 12)]


def without(model: bg.Embedding, *words: str) -> bg.Embedding:
    return bg.Embedding(
        tuple(word for word in model.words if word not in words),
        np.stack([model[word] for word in model.words if word not in words]),
        name=model.name,
    )


def test_planted_sets_are_fit_and_random_ones_are_not(model: bg.Embedding) -> None:
    good = seeds(model, MEN, WOMEN)[0]
    assert good.verdict == "no objection"
    assert good.held_out.value is not None
    assert good.held_out.value > 0.8
    noise = bg.Embedding(model.words, np.random.default_rng(0).normal(size=(len(model), 100)))
    bad = seeds(noise, ANY, OTHER)[0]
    # The subspace is made from the seeds, so that any few words look far apart; held-out ones do not.
    assert bad.coherence.value is not None
    assert bad.coherence.value > 0.9
    assert bad.held_out.value is not None
    assert bad.held_out.value < 0.1
    assert bad.verdict == "unfit"
    assert bad.advice[0].sentence.startswith("the subspace does not separate the sets")


def test_the_shape_of_the_json(model: bg.Embedding) -> None:
    found = json.loads(json.dumps(seeds(model, MEN, WOMEN).to_dict(), allow_nan=False))
    (pair,) = found["pairs"]
    contract = {"a", "b", "coherence", "coherence_published", "similarity", "explained_variance"}
    assert contract | {"explained_variance_shuffled", "coverage", "advice", "coherence_interval"} <= pair.keys()
    assert pair["coverage"] == {"asked": 12, "found": 12, "lost": {}}
    assert pair["coherence_interval"].keys() >= {"low", "high", "level", "method"}
    assert len(pair["explained_variance"]) == len(pair["explained_variance_shuffled"]) == 6
    assert pair["coherence_published"] == 1
    assert {one["word"] for one in pair["influence"]} == {*MEN, *WOMEN}
    assert found["settings"]["method"] == "mean-difference"


def test_the_jackknife_over_seeds(model: bg.Embedding) -> None:
    card = seeds(model, MEN, WOMEN, shuffles=0)[0]
    by_word = {one.word: one for one in card.influence}
    parts = [np.array([by_word[word].without for word in words]) for words in (MEN, WOMEN)]
    spread = sum(5 / 6 * ((one - one.mean()) ** 2).sum() for one in parts) ** 0.5
    assert card.coherence.value is not None
    assert card.coherence.low == pytest.approx(card.coherence.value - 2.5705818366147395 * spread)  # t, 5 df
    for word, one in by_word.items():
        rest = seeds(model, [w for w in MEN if w != word], [w for w in WOMEN if w != word], shuffles=0)[0].coherence
        assert rest.value is not None
        assert one.without == pytest.approx(rest.value, abs=1e-12)
        assert one.change == pytest.approx(rest.value - card.coherence.value, abs=1e-12)
    changes = [abs(one.change) for one in card.influence if one.change is not None]
    assert changes == sorted(changes, reverse=True)


def test_similarity_by_hand(model: bg.Embedding) -> None:
    a, b = (np.mean([model[word] for word in words], axis=0) for words in (MEN, WOMEN))
    expected = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    assert seeds(model, MEN, WOMEN, shuffles=0)[0].similarity.value == pytest.approx(expected)
    a, b = (np.mean([model[word] / np.linalg.norm(model[word]) for word in words], axis=0) for words in (MEN, WOMEN))
    expected = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    assert seeds(model, MEN, WOMEN, shuffles=0, unit=True)[0].similarity.value == pytest.approx(expected)


def test_replicates_are_averaged_number_by_number(replicates: list[bg.Embedding]) -> None:
    whole = seeds(replicates, MEN, WOMEN, shuffles=0)[0]
    singles = [seeds(one, MEN, WOMEN, shuffles=0)[0] for one in replicates]
    for name in ("coherence", "held_out", "similarity"):
        values = np.array([getattr(one, name).value for one in singles])
        assert getattr(whole, name).value == pytest.approx(values.mean(), abs=1e-12)
    assert whole.coherence.over == "models"
    assert (whole.models, whole.of_models) == (4, 4)
    by_word = [{one.word: one.change for one in card.influence} for card in singles]
    for one in whole.influence:
        assert one.change == pytest.approx(np.mean([changes[one.word] for changes in by_word]), abs=1e-12)


def test_seeds_left_out_in_some_models_only(replicates: list[bg.Embedding]) -> None:
    some = seeds(replicates, MEN, WOMEN, shuffles=0, leave_one_out=2)[0]
    two = seeds(replicates[:2], MEN, WOMEN, shuffles=0)[0]
    assert some.held_out == two.held_out
    assert some.influence == two.influence
    assert some.coherence == seeds(replicates, MEN, WOMEN, shuffles=0)[0].coherence
    none = seeds(replicates, MEN, WOMEN, shuffles=0, leave_one_out=False)[0]
    assert none.influence == ()
    assert none.held_out.reason == "no seed was left out"


def test_duplicates_count_once(model: bg.Embedding) -> None:
    once, twice = seeds(model, pairs=[(MEN, WOMEN), ([*MEN, "he"], WOMEN)], shuffles=0)
    assert once.coherence == twice.coherence
    assert once.similarity == twice.similarity
    assert twice.coherence_published.value != once.coherence_published.value
    assert "a2 has duplicates, which count once: he" in [one.sentence for one in twice.advice]


def test_models_that_lack_a_seed_take_no_part(replicates: list[bg.Embedding]) -> None:
    models = [replicates[0], without(replicates[1], "he"), *replicates[2:]]
    found = seeds(models, MEN, WOMEN, shuffles=0)[0]
    expected = seeds([models[0], *models[2:]], MEN, WOMEN, shuffles=0)[0]
    assert found.coherence == expected.coherence
    assert (found.models, found.of_models) == (3, 4)
    assert found.coverage.lost == {}
    assert "only 3 of 4 models have all seeds" in [one.sentence for one in found.advice]


def test_a_seed_that_most_models_lack_is_lost(replicates: list[bg.Embedding]) -> None:
    models = [replicates[0], *(without(one, "he") for one in replicates[1:])]
    found = seeds(models, MEN, WOMEN, shuffles=0)[0]
    expected = seeds(replicates, MEN[1:], WOMEN, shuffles=0)[0]
    assert found.coverage.lost == {"a": ("he",)}
    assert found.models == 4
    assert found.similarity.value == pytest.approx(expected.similarity.value)
    assert found.pairing.pairs == 5  # she has lost her partner
    assert "1 of 12 seeds are lost: he" in [one.sentence for one in found.advice]


def test_too_few_seeds_found(model: bg.Embedding) -> None:
    few = seeds(model, [*MEN, "a1", "b1"], WOMEN)[0]
    assert few.verdict == "unfit"
    assert few.reason == "fewer than 80 % of the words found: a 6 of 8"
    assert (few.coherence.value, few.coherence.low, few.coherence.reason) == (None, None, few.reason)
    assert few.to_dict()["coherence"] is None
    assert few.to_dict()["coherence_reason"] == few.reason
    assert seeds(model, [*MEN, "a1", "b1"], WOMEN, policy=WordPolicy(0.7))[0].coherence.value is not None
    gone = seeds(model, ["a1", "b1"], WOMEN, policy=WordPolicy(0))[0]
    assert gone.reason == "no seed of a was found"
    assert gone.models == 0


def test_models_without_a_common_seed(model: bg.Embedding) -> None:
    halves = [without(model, "he"), bg.Embedding(without(model, "she").words, without(model, "she").vectors, name="b")]
    assert seeds(halves, MEN, WOMEN)[0].reason == "none of the 2 models has all seeds"


def test_sets_that_share_words(model: bg.Embedding) -> None:
    found = seeds(model, [*MEN, "she"], [*WOMEN, "he"])[0]
    assert found.advice[0].sentence.startswith("the two sets share 2 words (he, she), which cancel: ")
    assert found.advice[0].sentence.endswith(
        "sets of 7 and 7 words can differ by at most 0.71 of what sets without shared words can"
    )
    assert found.verdict == "doubtful"
    same = seeds(model, MEN, MEN[::-1])[0]
    assert same.coherence.value is None
    assert same.coherence.reason == "the two sets have one mean, so that nothing lies between them"
    assert same.verdict == "unfit"
    paired = seeds(model, MEN, MEN, method="pca")[0]
    assert paired.coherence.reason == "no pair by position has two different words"


def test_one_seed_a_set(model: bg.Embedding) -> None:
    found = seeds(model, ["he"], ["she"])[0]
    assert found.coherence.value is not None
    assert found.held_out.value is None
    assert found.held_out.reason == "a set has one seed"
    assert found.coherence.reason is not None
    assert "few seeds: a set of 1 says little about its category" in [one.sentence for one in found.advice]
    json.dumps(found.to_dict(), allow_nan=False)


def test_one_seed_drives_it() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(300, 20))
    vectors[0] = 60 * np.eye(20)[0]  # its vector is so long that the mean of its set is its own
    words = tuple(f"w{row}" for row in range(300))
    found = seeds((words, vectors), list(words[:5]), list(words[5:10]), shuffles=0)[0]
    assert found.influence[0].word == "w0"
    assert any(one.sentence.startswith("one seed drives it: without 'w0'") for one in found.advice)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Name two sets, 'a' and 'b', or 'pairs'"),
        ({"a": MEN}, "give both 'a' and 'b'"),
        ({"a": MEN, "b": []}, "at least one word, found none"),
        ({"a": MEN, "b": WOMEN, "pairs": "all"}, "Name two sets, 'a' and 'b', or 'pairs'"),
        ({"a": MEN, "b": WOMEN, "paper": "Garg"}, "chooses among the pairings of the seed bank"),
        ({"pairs": []}, "Got none"),
        ({"pairs": 3}, "Got int"),
        ({"pairs": [MEN]}, "as number 1"),
        ({"pairs": "weat7", "paper": "Garg"}, "'paper'"),
        ({"pairs": "occ16"}, "is of kind 'words', which sets no two sets against each other"),
        ({"paper": "Nobody"}, "No pairing of the seed bank is of a paper 'Nobody'"),
        ({"a": MEN, "b": WOMEN, "method": "weat"}, "must be one of mean-difference, pca"),
        ({"a": MEN, "b": WOMEN, "shuffles": -1}, "'shuffles' parameter must be a whole number of at least 0. Got -1"),
        (
            {"a": MEN, "b": WOMEN, "generated": 2, "generated_size": 1},
            "'generated_size' parameter must be a whole number of at least 2. Got 1",
        ),
        (
            {"a": MEN, "b": WOMEN, "leave_one_out": -1},
            "'leave_one_out' parameter must be a whole number of at least 0. Got -1",
        ),
        ({"a": MEN, "b": WOMEN, "generated": 1}, "must be 0, or at least 2. Got 1"),
        ({"a": MEN, "b": WOMEN, "level": 1}, "must lie between 0 and 1. Got 1"),
        ({"a": MEN, "b": ["she", 3]}, "word 2 must be a string"),
    ],
)
def test_bad_input_gets_one_sentence(model: bg.Embedding, arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence) as caught:
        seeds(model, **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_an_unknown_set_is_named(model: bg.Embedding) -> None:
    with pytest.raises(LexiconError, match="Caliskan_et_al"):
        seeds(model, MEN, "femle_1-Caliskan_et_al_2017")


def test_results_are_the_same_again_and_in_any_company(model: bg.Embedding) -> None:
    alone = seeds(model, MEN, WOMEN, random_state=3)[0].to_dict()
    again = seeds(model, MEN, WOMEN, random_state=3)[0].to_dict()
    assert alone == again
    company = seeds(model, pairs=[(ANY, OTHER), (MEN, WOMEN)], random_state=3)[1].to_dict()
    for name in ("coherence", "coherence_held_out", "similarity", "influence", "explained_variance", "coverage"):
        assert company[name] == alone[name]
    other = seeds(model, MEN, WOMEN, random_state=4)[0].to_dict()
    assert other["explained_variance_shuffled"] != alone["explained_variance_shuffled"]
    assert other["coherence"] == alone["coherence"]


def test_compounds_are_found_however_they_are_joined() -> None:
    assert compound_spellings("white collar job") == ("white_collar_job", "white-collar-job")
    assert compound_spellings("white_collar") == ("white-collar", "white collar")
    assert compound_spellings("plain") == compound_spellings("_x") == ()
    words = ("white_collar", "twin-brother", "a", "b", "c")
    model = bg.Embedding(words, np.random.default_rng(0).normal(size=(5, 3)))
    found = seeds(model, ["white collar", "a"], ["twin_brother", "b"])[0]
    assert found.coverage.lost == {}
    assert found.coverage.respelled == {"white collar": "white_collar", "twin_brother": "twin-brother"}


def test_two_spellings_of_one_vector_count_once() -> None:
    words = ("he", "she", "a", "b", "c")
    model = bg.Embedding(words, np.random.default_rng(0).normal(size=(5, 3)))
    found = seeds(model, ["He", "he", "a"], ["she", "b"], policy=WordPolicy(case="fallback"), shuffles=0)[0]
    assert {one.word for one in found.influence} == {"He", "a", "she", "b"}
    assert found.coherence == seeds(model, ["he", "a"], ["she", "b"], shuffles=0)[0].coherence


def test_a_zero_vector_is_lost() -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 3))
    vectors[0] = 0
    found = seeds((("z", "a", "b", "c", "d"), vectors), ["z", "a"], ["b", "c"], policy=WordPolicy(0.5))[0]
    assert found.coverage.to_dict()["reasons"] == {"z": "its vector is zero"}


def test_lexicons_name_pairs_of_sets(model: bg.Embedding) -> None:
    assert [(card.a, card.b) for card in seeds(model, pairs="weat7")] == [
        ("weat7:math", "weat7:arts"),
        ("weat7:male terms", "weat7:female terms"),
    ]
    assert [(card.a, card.b) for card in seeds(model, pairs="du2021")] == [("du2021:male", "du2021:female")]
    of_bank = seeds(model, paper="Bolukbasi")
    assert [card.a for card in of_bank] == ["definitional_female-Bolukbasi_et_al_2016"]
    assert len(seeds(model, pairs="all", shuffles=0)) == 90


def test_frames_and_notebooks(model: bg.Embedding) -> None:
    result = seeds(model, pairs=[(MEN, WOMEN), (ANY, OTHER), (MEN, OTHER), (ANY, WOMEN), (["lost"], MEN)])
    assert len(result.verdicts) == 1 + sum(card.verdict == "unfit" for card in result)
    assert result.verdicts[-1] == ("a5 / b5: nothing can be measured: fewer than 80 % of the words found: a 0 of 1")
    assert result.verdicts[0].startswith("Of 5 pairs of word sets: ")
    frame = result.to_frame()
    assert frame["coherence"].notna().sum() == 4
    assert frame["coherence"][0] == result[0].coherence.value
    assert frame["most_influential"][0] == result[0].influence[0].word
    assert "unfit" in result[1]._repr_html_()
    assert "coherence" in result._repr_html_()
    relation = next(one for one in result.relations if (one.x, one.y) == ("similarity", "coherence"))
    assert relation.n == 4


def test_published_pairs_on_shipped_vectors() -> None:
    """Names of one language are told apart less well than career and family, as the papers found."""
    found = {
        card.a: card
        for card in seeds(bg.vectors.load_default(), pairs="all", policy=WordPolicy(case="fallback"), shuffles=0)
    }
    career, race = found["career-Caliskan_et_al_2017"], found["black-Manzini_et_al_2019"]
    assert career.held_out.value is not None
    assert race.held_out.value is not None
    assert career.held_out.value > 0.8 > race.held_out.value
