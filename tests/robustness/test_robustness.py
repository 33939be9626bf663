"""`robustness` on an embedding whose flips are known because they were planted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from biasgauge.analyses.robustness import RobustnessResult, robustness
from biasgauge.analyses.robustness.plan import NO_WORD
from biasgauge.core import WordPolicy
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.vectors import load, load_default

if TYPE_CHECKING:
    from biasgauge.vectors import Embedding

PAIRS = [("he", "she"), ("man", "woman"), ("boy", "girl")]
WORDS = ["nurse", "surgeon", "poet", "judge", "gone"]
TRUTH = {"jobs": (["surgeon", "poet", "judge"], ["nurse"])}
SETTINGS: dict[str, Any] = {
    "pairs": PAIRS,
    "words": WORDS,
    "truths": TRUTH,
    "measures": ["dbwa", "ripa"],
    "forms": ["plural", "capitalized", "upper"],
}


@pytest.fixture(scope="module")
def found(planted: Embedding) -> RobustnessResult:
    return robustness(planted, **SETTINGS)


def test_base_pairs(found: RobustnessResult) -> None:
    """Directions are nurse −−−, surgeon ++−, poet +−−, judge +++: two of four words are unanimous.

    Fleiss by hand: agreements 1, 1/3, 1/3, 1: mean 2/3; 6 of 12 ratings are +: chance 1/2; κ = 1/3.
    """
    for one in found.base_pairs:
        assert one.kappa.value == pytest.approx(1 / 3)
        assert one.unanimous.value == 0.5
        assert (one.kappa.n, one.kappa.k, one.undirected) == (4, 3, 0)
    assert [one.measure for one in found.base_pairs] == ["dbwa", "ripa"]


def test_every_two_pairs_with_the_words_that_flip(found: RobustnessResult) -> None:
    flipped = {(one.pair, one.against): one.flipped for one in found.pairwise if one.measure == "dbwa"}
    assert flipped == {
        (("he", "she"), "man~woman"): ("poet",),
        (("he", "she"), "boy~girl"): ("surgeon", "poet"),
        (("man", "woman"), "boy~girl"): ("surgeon",),
    }
    signs = {"he~she": [-1, 1, 1, 1], "man~woman": [-1, 1, -1, 1], "boy~girl": [-1, -1, -1, 1]}
    for one in found.pairwise:
        assert one.kappa.value == pytest.approx(cohen_kappa_score(signs["~".join(one.pair)], signs[one.against]))


def test_word_forms_with_the_words_that_flip(found: RobustnessResult) -> None:
    rows = {(one.against, one.pair[0]): one for one in found.word_forms if one.measure == "ripa"}
    assert rows["plural", "he"].flipped == ("nurse",)
    assert rows["plural", "man"].flipped == ()
    assert rows["plural", "he"].same.value == 0.5
    assert rows["plural", "man"].kappa.value == 1
    assert rows["capitalized", "boy"].flipped == ("poet",)
    assert rows["upper", "he"].flipped == ("judge",)
    assert rows["upper", "he"].kappa.value is None, "one word is too few"
    assert len(found.word_forms) == 2 * 3 * 3


def test_forms_that_are_not_there_are_named(found: RobustnessResult) -> None:
    lost = {one.name: dict(one.lost) for one in found.forms}
    assert lost["plural"] == {
        "gone": NO_WORD,
        "poet": "poets is not in the vocabulary",
        "judge": "judges is not in the vocabulary",
    }
    assert {word for word in WORDS if word not in found.forms[1].found} == set(lost["capitalized"])
    shown = found.to_dict()
    assert shown["lost_pair_forms"]["capitalized"]["he~she"] == (
        "he: He is not in the vocabulary; she: She is not in the vocabulary"
    )
    assert "no pair has the form 'capitalized' in the vocabulary" in found.warnings
    assert all(row["reason"].startswith("he: He is not") for row in shown["pair_forms"] if row["pair"] == "he~she")
    assert shown["coverage"]["lost"] == {"words": ["gone"]}


def test_correspondence(found: RobustnessResult) -> None:
    rows = {one.pair[0]: one for one in found.correspondence if one.measure == "dbwa"}
    assert {name: (one.same.value, one.flipped) for name, one in rows.items()} == {
        "he": (1.0, ()),
        "man": (0.75, ("poet",)),
        "boy": (0.5, ("surgeon", "poet")),
    }
    assert rows["he"].kappa.value == 1
    assert rows["man"].kappa.value == pytest.approx(cohen_kappa_score([1, 1, 1, -1], [1, -1, 1, -1]))
    assert rows["man"].to_dict()["accuracy"] == 0.75


def test_means_over_pairs(found: RobustnessResult) -> None:
    means = {(one.part, one.measure, one.against): one.kappa for one in found.means}
    expected = np.mean([one.kappa.value for one in found.correspondence if one.measure == "ripa"])
    assert means["correspondence", "ripa", "jobs"].value == pytest.approx(expected)
    assert means["pair_forms", "dbwa", "capitalized"].reason == "no pair has a kappa"
    assert means["between_measures", "dbwa", "ripa"].value == 1


def test_difference_vectors(found: RobustnessResult) -> None:
    np.testing.assert_allclose(found.cosines, np.eye(3), atol=1e-12)  # each pair has an axis of its own
    assert found.mean_cosine == pytest.approx(0, abs=1e-12)


def test_json_is_the_contract(found: RobustnessResult) -> None:
    shown = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {"measure", "kappa", "unanimous", "changed_by_one_sd"} <= shown["base_pairs"][0].keys()
    for part, key in (("word_forms", "form"), ("correspondence", "truth"), ("between_measures", "other")):
        assert shown[part]
        for row in shown[part]:
            assert {"measure", key, "pair", "kappa", "n", "kappa_interval"} <= row.keys()
            assert (row["kappa"] is None) == ("reason" in row)
    assert shown["analogies"] is None
    assert shown["settings"]["measures"] == ["dbwa", "ripa"]


def test_the_frame_holds_every_number(found: RobustnessResult) -> None:
    frame = found.to_frame()
    assert len(frame) == 2 * 3 + 2 * sum(len(getattr(found, part)) for part in (
        "pairwise", "pair_forms", "word_forms", "correspondence", "between_measures")) + len(found.means) + len(
        found.similarity) + 2 * 2  # fmt: skip
    assert (frame["value"].notna() | frame["reason"].notna()).all()
    assert "Fleiss" in found._repr_html_()


def test_scores_of_a_word_and_its_forms(found: RobustnessResult, planted: Embedding) -> None:
    frame = found.word_scores("nurse").set_index(["measure", "pair", "form"])
    assert set(frame["spelling"]) == {"nurse", "nurses"}
    ripa = planted["nurses"] @ (planted["he"] - planted["she"]) / np.linalg.norm(planted["he"] - planted["she"])
    assert frame.loc[("ripa", "he~she", "plural"), "score"] == pytest.approx(ripa)
    with pytest.raises(KeyError, match="gander"):
        found.word_scores("gander")


def test_a_truth_of_which_too_little_is_there_is_undefined(planted: Embedding) -> None:
    truths = {"jobs": (["surgeon", "a", "b"], ["nurse"])}
    found = robustness(planted, **{**SETTINGS, "truths": truths})
    assert {one.kappa.value for one in found.correspondence} == {None}
    reason = "fewer than 80 % of the words of the truth jobs found: 2 of 4"
    assert {one.kappa.reason for one in found.correspondence} == {reason}
    assert any(warning.startswith(reason) for warning in found.warnings)
    lowered = robustness(planted, **{**SETTINGS, "truths": truths}, policy=WordPolicy(0.5))
    assert {one.same.value for one in lowered.correspondence if one.pair[0] == "he"} == {1.0}
    assert lowered.base_pairs[0].kappa.value == pytest.approx(1 / 3)


def test_words_of_which_too_few_are_there_are_undefined(planted: Embedding) -> None:
    found = robustness(planted, **SETTINGS, policy=WordPolicy(0.9))
    assert found.base_pairs[0].kappa.value is None
    assert found.base_pairs[0].to_dict()["reason"] == "fewer than 90 % of the words found: 4 of 5"
    assert found.correspondence[0].kappa.value == 1


def test_a_lost_pair_is_left_out_and_named(planted: Embedding) -> None:
    found = robustness(planted, **{**SETTINGS, "pairs": [*PAIRS, ("king", "queen")]})
    assert found.base_pairs[0].kappa.value == pytest.approx(1 / 3)
    reason = "an end of the pair is not in the vocabulary"
    rows = [
        one for one in (*found.pairwise, *found.between_measures) if "king~queen" in (one.against, "~".join(one.pair))
    ]
    assert len(rows) == 2 * 3 + 1
    assert {one.kappa.reason for one in rows} == {reason}
    assert f"the pair king~queen is left out: {reason}" in found.warnings
    assert np.isnan(found.cosines[3]).all()


def test_reasons_lie_where_the_trouble_is(planted: Embedding) -> None:
    """A lost word and a lost pair have reasons of their own; NBM has too few neighbors, DB/WA needs none."""
    settings = {
        **SETTINGS,
        "words": ["gone", *WORDS[:4]],
        "pairs": [*PAIRS, ("king", "queen")],
        "measures": ["dbwa", "nbm"],
    }
    found = robustness(planted, **settings)
    reasons = {("~".join(one.pair), one.measure): one.kappa.reason for one in found.correspondence}
    assert reasons["king~queen", "dbwa"] == "an end of the pair is not in the vocabulary"
    assert reasons["he~she", "dbwa"] is None
    assert reasons["he~she", "nbm"] == "fewer than k neighbors exist"
    assert {one.kappa.reason for one in found.between_measures if one.pair[0] == "he"} == {
        "fewer than k neighbors exist"
    }
    assert "the pair he~she is left out of nbm: fewer than k neighbors exist" in found.warnings
    assert found.base_pairs[1].kappa.value is None


def test_without_usual_words_there_is_a_warning() -> None:
    words = ["he1", "she1", "nurse1", "judge1", "poet1"]
    model = load((words, np.random.default_rng(0).normal(size=(5, 3))))
    found = robustness(model, pairs=[("he1", "she1")], words=words[2:], measures="dbwa", truths={}, forms=())
    assert any(warning.startswith("no frequent word is made of letters alone") for warning in found.warnings)
    assert found.reference[0].words == 3


def test_a_score_of_zero_is_no_direction_and_reported() -> None:
    """Four neighbors of "even", two on each side: NBM is 0."""
    words = ("he", "she", "even", "odd", "na", "nb", "nc", "nd")
    vectors = np.array(
        [[1, 1, 0], [1, -1, 0], [0, 0.0, 1], [0, 1, 1], [0, 0.1, 1], [0, 0.2, 1], [0, -0.1, 1], [0, -0.2, 1]]
    )
    model = load((words, vectors))
    settings: dict[str, Any] = {
        "pairs": [("he", "she")], "words": ["even", "odd"], "measures": ["nbm"], "k": 4, "forms": (), "pair_forms": (),
        "pool": ["na", "nb", "nc", "nd", "even"], "truths": {"t": (["even", "odd"], ["na", "nb"])},
        "policy": WordPolicy(0),
    }  # fmt: skip
    ours = robustness(model, **settings)
    assert ours.base_pairs[0].undirected == 1
    assert "even" in ours.correspondence[0].undirected
    assert "even" not in ours.correspondence[0].flipped
    published = robustness(model, **settings, as_published=True)
    assert published.correspondence[0].undirected == ()
    assert published.correspondence[0].measure == "nbm_zhang2020"


def test_as_published(planted: Embedding) -> None:
    found = robustness(planted, **SETTINGS, as_published=True)
    row = found.base_pairs[0].to_dict()
    assert row["magnitude_as_published"] == pytest.approx(1 - row["changed_by_one_sd"])
    assert all(one.with_itself for one in found.similarity)
    assert all(len(one.found) == 0 for one in found.forms), "no word has all three forms"


def test_own_truths_for_pairs_whose_ends_have_no_names(planted: Embedding) -> None:
    without = robustness(planted, **{**SETTINGS, "truths": None})
    assert without.correspondence == ()
    assert without.warnings[0].startswith("no truths: the ends of the pairs are called first and second")


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"resamples": 0}, ParameterError, "'resamples'"),
        ({"level": 95}, ParameterError, "must lie between 0 and 1. Got 95"),
        ({"truths": "bsri"}, ParameterError, "a set of words for each end of the pairs, first and second"),
        ({"truths": {"t": (["nurse"], ["nurse"])}}, ParameterError, "'nurse' on both"),
        ({"truths": {"t": ["nurse"]}}, ParameterError, "must be two sets of words"),
        ({"truths": 3}, ParameterError, "The 'truths' must be"),
        ({"measures": ["weat"]}, ParameterError, "must be one of dbwa"),
        ({"words": "occ17"}, LexiconError, "occ17"),
        ({"frequent": 0}, ParameterError, "'frequent'"),
    ],
)
def test_mistakes_get_a_sentence(
    planted: Embedding, settings: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        robustness(planted, **{**SETTINGS, **settings})


def test_the_shipped_vectors_do_not_depend_on_threads() -> None:
    vectors = load_default()
    one, two = (robustness(vectors, frequent=3_000, n_jobs=jobs, random_state=4).to_dict() for jobs in (1, 2))
    assert one == two
    assert {row["truth"] for row in one["correspondence"]} == {"bsri", "animals"}
    assert one["settings"]["pool_words"] > 2_000
    said = [sentence.split(" (")[0].split(":")[0] for sentence in one["verdicts"]]
    assert said == [
        "Another base pair, DB/WA", "Another base pair, RIPA", "Another base pair, NBM",
        "Another form of the words, plural", "Against known directions, bsri", "Against known directions, animals",
        "Another measure, ripa", "Another measure, nbm",
    ]  # fmt: skip
    other = robustness(vectors, frequent=3_000, random_state=5).to_dict()
    assert other["means"] != one["means"]
    assert other["base_pairs"] == one["base_pairs"]
