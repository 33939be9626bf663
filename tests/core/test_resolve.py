"""Words of a query in models: which are found, which are lost and why, and what goes with them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.core import (
    Query,
    SimilarityTable,
    WordPolicy,
    WordSet,
    resolve,
    resolve_sets,
    shortfall,
    word_families,
)

SETS = {"x": ["x1", "x2", "x3"], "y": ["y1", "y2", "y3"], "a": ["a1", "a2"], "b": ["b1", "b2"]}
WORDS = tuple(word for words in SETS.values() for word in words)


def model(*missing: str, seed: int = 0, words: tuple[str, ...] = WORDS, zero: str = "") -> bg.Embedding:
    there = tuple(word for word in words if word not in missing)
    vectors = np.random.default_rng(seed).normal(size=(len(words), 7))
    rows = vectors[[words.index(word) for word in there]]
    if zero:
        rows[there.index(zero)] = 0
    return bg.Embedding(there, rows, name=f"model {seed}")


def test_rows_words_and_labels_of_one_model() -> None:
    found = resolve(Query.from_sets(SETS), model())
    assert found.reason is None
    assert found.sets["y"].words == ("y1", "y2", "y3")
    assert found.sets["y"].rows.tolist() == [[3, 4, 5]]
    assert found.query.labels == {"x": "X", "y": "Y", "a": "A", "b": "B"}
    assert found.share == 1.0


def test_a_word_counts_where_every_model_has_it_with_a_direction() -> None:
    models = [model("x2"), model(seed=1, zero="y1"), model(seed=2)]
    found = resolve(Query.from_sets(SETS), models, WordPolicy(min_coverage=0.5))
    assert found.sets["x"].words == ("x1", "x3")
    assert found.sets["x"].rows.shape == (3, 2)
    assert found.sets["x"].lost == {"x2": "not in the vocabulary (model 0)"}
    assert found.sets["y"].lost == {"y1": "its vector is zero (model 1)"}
    assert [models[1].words[row] for row in found.sets["x"].rows[1]] == ["x1", "x3"]


def test_too_few_words_are_a_reason_that_names_the_sets() -> None:
    found = resolve(Query.from_sets(SETS), model("x1", "b2"))
    assert found.reason == "fewer than 80 % of the words found: x 2 of 3, b 1 of 2"
    with pytest.raises(bg.ParameterError, match="cannot be measured"):
        SimilarityTable(found)
    assert resolve(Query.from_sets(SETS), model("x1", "b2"), WordPolicy(min_coverage=0.5)).reason is None
    assert shortfall(resolve_sets({"none": []}, [model()]), 0.0) is not None


def test_a_word_listed_twice_counts_once() -> None:
    found = resolve(Query.from_sets({**SETS, "x": ["x1", "x1", "x2", "absent"]}), model(), WordPolicy(min_coverage=0.5))
    assert found.sets["x"].words == ("x1", "x2")
    assert found.sets["x"].asked == 3


@pytest.mark.parametrize("case", ["auto", "exact", "fallback"])
@pytest.mark.parametrize("cased", [False, True])
def test_auto_falls_back_where_no_vocabulary_has_a_capital_letter(case: str, *, cased: bool) -> None:
    words = (*WORDS, "Berlin") if cased else WORDS
    query = Query.from_sets({**SETS, "x": ["X1", "X2", "X3"]})
    found = resolve(query, model(words=words), WordPolicy(case=case))  # type: ignore[arg-type]  # one of its choices
    falls_back = case == "fallback" or (case == "auto" and not cased)
    assert found.case_fallback is falls_back
    assert (found.reason is None) is falls_back
    assert found.sets["x"].respelled == ({"X1": "x1", "X2": "x2", "X3": "x3"} if falls_back else {})
    if not falls_back:
        assert found.reason is not None
        assert "--case-fallback" in found.reason


def test_one_cased_vocabulary_among_several_keeps_the_case_of_all() -> None:
    cased = model(words=(*WORDS, "Berlin"))
    assert not WordPolicy().uses_fallback([model(), cased])
    assert WordPolicy().uses_fallback([model(), model(seed=1)])
    assert not WordPolicy().uses_fallback([])


COUNTERPARTS = [("x1", "x2"), ("a1", "a2")]


def test_a_counterpart_goes_with_a_lost_word_of_the_same_set() -> None:
    query = Query.from_sets(SETS, counterparts=COUNTERPARTS)
    policy = WordPolicy(min_coverage=0.3)
    found = resolve(query, model("x2"), policy)
    assert found.sets["x"].words == ("x3",)
    assert found.sets["x"].lost["x1"] == "its counterpart 'x2' was lost"
    assert found.sets["a"].words == ("a1", "a2")
    kept = resolve(query, model("x2"), WordPolicy(min_coverage=0.3, counterparts="keep"))
    assert kept.sets["x"].words == ("x1", "x3")


def test_as_published_cuts_the_longer_set_from_its_end() -> None:
    policy = WordPolicy(min_coverage=0.3, counterparts="as-published")
    found = resolve(Query.from_sets(SETS, counterparts=COUNTERPARTS), model("x1", "b1"), policy)
    assert [found.sets[role].words for role in "xyab"] == [("x2", "x3"), ("y1", "y2"), ("a1",), ("b2",)]
    assert "as published" in found.sets["y"].lost["y3"]


def test_paired_words_go_together_and_unequal_lists_cannot_be_paired() -> None:
    found = resolve(Query.from_sets(SETS), model("y2"), WordPolicy(min_coverage=0.5))
    sets, reason = found.paired_sets()
    assert reason is None
    assert (sets["x"].words, sets["y"].words) == (("x1", "x3"), ("y1", "y3"))
    unequal = resolve(Query.from_sets({**SETS, "x": ["x1", "x2"]}), model())
    assert "2 and 3 words" in (unequal.paired_sets()[1] or "")
    vectors, reason = unequal.vectors("xyab", paired=True)
    assert reason is not None
    assert vectors["x"].shape == (2, 7)


def test_a_word_in_both_target_sets_is_named() -> None:
    assert resolve(Query.from_sets({**SETS, "y": ["y1", "x2", "y3"]}), model()).shared_target == "x2"
    assert resolve(Query.from_sets(SETS), model()).shared_target is None


def test_similarities_are_cosines_and_their_contrast_is_weats() -> None:
    models = [model(), model(seed=1)]
    table = SimilarityTable(resolve(Query.from_sets(SETS), models))
    assert table.values.shape == (2, 6, 4)
    for number, (row, target), (column, attribute) in product(
        range(2), enumerate(table.target_words), enumerate(table.attribute_words)
    ):
        first, second = models[number][target], models[number][attribute]
        cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
        assert table.values[number, row, column] == pytest.approx(cosine, abs=1e-12)
    each = [bg.weat(one, **SETS, interval=None).contrast.value for one in models]  # type: ignore[arg-type]
    assert table.contrast == pytest.approx(np.mean(each))


def test_base_pairs_are_columns_of_differences() -> None:
    pairs = [("a1", "b1"), ("a2", "absent"), ("a2", "b2")]
    query = Query(
        name="along pairs", kind="lean", targets=(WordSet("X", ("x1", "x2")),),
        attributes=(WordSet("first", ("a1", "a2", "a2")), WordSet("second", ("b1", "absent", "b2"))),
        weights=((1.0,),), pairs=tuple(pairs),
    )  # fmt: skip
    found = resolve(query, model(), WordPolicy(min_coverage=0.6))
    assert found.pairs == (("a1", "b1"), ("a2", "b2"))
    assert found.sets["base pairs"].lost == {"a2–absent": "absent: not in the vocabulary"}
    table = SimilarityTable(found)
    whole = SimilarityTable(resolve(Query.from_sets({**SETS, "x": ["x1", "x2"]}), model()))
    expected = whole.values[0, :2, :2] - whole.values[0, :2, 2:]
    assert table.values[0] == pytest.approx(expected)
    assert table.attribute_words == ("a1–b1", "a2–b2")
    assert resolve(query, model()).reason == "fewer than 80 % of the words found: base pairs 2 of 3"


def test_queries_of_lexicons() -> None:
    weat7 = Query.from_lexicon("weat7")
    assert (weat7.kind, weat7.target_keys, weat7.attribute_keys) == ("test", ("x", "y"), ("a", "b"))
    assert Query.from_lexicon("occ16", pairs="du2021").kind == "lean"
    with pytest.raises(bg.ParameterError, match="asks none by itself"):
        Query.from_lexicon("occ16")
    with pytest.raises(bg.BiasgaugeError, match="no lexicon"):
        Query.from_lexicon("weat_seven")


@pytest.mark.parametrize("bad", [{"min_coverage": 1.2}, {"case": "lower"}, {"counterparts": "drop"}])
def test_a_policy_that_cannot_be_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(bg.ParameterError, match=next(iter(bad))):
        WordPolicy(**bad)  # type: ignore[arg-type]  # the mistake


def test_the_share_of_words_is_stated_once() -> None:
    assert WordPolicy().with_min_coverage(0.5).min_coverage == 0.5
    assert WordPolicy(0.5).with_min_coverage(None).min_coverage == 0.5
    with pytest.raises(bg.ParameterError, match="once"):
        WordPolicy(0.5).with_min_coverage(0.6)
    assert WordPolicy.from_options(None, None) == WordPolicy()
    assert WordPolicy.from_options(0.5, case_fallback=False) == WordPolicy(0.5, "exact")


def test_forms_of_one_lemma_are_one_family() -> None:
    words = ["nurse", "Nurses", "nursing", "man", "men", "woman", "better", "good", "zzxq"]
    families = word_families(words)
    assert families[0] == families[1] == families[2] == "nurse"
    assert families[3] == families[4] != families[5]
    assert families[6] == families[7]
    assert families[8] == "zzxq"
    assert word_families(["Mann", "mann", "Männer"], "de") == ("Mann", "Mann", "Männer")


def test_plurals_that_the_dictionary_lacks_are_of_the_family_of_their_singular() -> None:
    assert word_families(["imam", "imams", "dervishes", "dervish"]) == ("imam", "imam", "dervishes", "dervishes")
    names = ("Carlo", "Carlos", "abyss", "imams", "her", "hers")
    assert word_families(names) == names
    assert word_families(["imam", "imams"], "de") == ("imam", "imams")  # an English ending


def test_words_of_one_vector_are_one_observation() -> None:
    """A pruned vocabulary gives words the vector of another: listing such a word again adds nothing."""
    models = [model(), model(seed=1)]
    pruned = []
    for whole in models:
        vectors = whole.vectors.copy()
        vectors[WORDS.index("x3")] = vectors[WORDS.index("x1")]
        vectors[WORDS.index("y1")] = vectors[WORDS.index("x2")]  # of another list: both stay
        pruned.append(bg.Embedding(whole.words, vectors, name=whole.name))
    table = SimilarityTable(resolve(Query.from_sets(SETS), pruned))
    assert table.target_words == ("x1/x3", "x2", "y1", "y2", "y3")
    shorter = SimilarityTable(resolve(Query.from_sets({**SETS, "x": ["x1", "x2"]}), pruned))
    assert table.values == pytest.approx(shorter.values, abs=1e-15)
    one_model = SimilarityTable(resolve(Query.from_sets(SETS), [pruned[0], models[1]]))
    assert len(one_model.target_words) == 6  # apart in one model, and so two observations
