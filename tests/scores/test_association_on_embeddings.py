"""Association tests on an embedding: labels, lost words, refusals; the arithmetic is tested with its own room."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge import registry
from biasgauge.core import Query, SimilarityTable, WordPolicy, resolve
from biasgauge.errors import ParameterError
from biasgauge.metrics import contrast_of
from biasgauge.metrics.weat import weat as weat_of_arrays
from biasgauge.results.wording import number_text, p_phrase
from biasgauge.vectors import Frequencies

if TYPE_CHECKING:
    from pathlib import Path

TESTS = registry.everything("association_test")

SETS: dict[str, Any] = {"x": ["x1", "x2", "x3"], "y": ["y1", "y2", "y3"], "a": ["a1", "a2"], "b": ["b1", "b2"]}


def model(*missing: str, extra: tuple[str, ...] = ()) -> bg.Embedding:
    """Words with fixed random vectors; `missing` are left out, the others keep their vectors."""
    words = [word for members in SETS.values() for word in members]
    vectors = np.random.default_rng(5).standard_normal((len(words) + len(extra), 6))
    kept = [row for row, word in enumerate(words) if word not in missing]
    rows = [*kept, *range(len(words), len(words) + len(extra))]
    return bg.Embedding(tuple([words[row] for row in kept] + list(extra)), vectors[rows], name="toy")


def arrays(embedding: bg.Embedding, **sets: list[str]) -> dict[str, Any]:
    return {role: np.array([embedding[word] for word in words]) for role, words in sets.items()}


def test_the_labeled_result_is_that_of_the_arrays() -> None:
    vectors = model()
    expected = weat_of_arrays(**arrays(vectors, **SETS), alternative="two-sided", ddof=1)
    found = bg.weat(vectors, alternative="two-sided", ddof=1, **SETS)
    assert found.effect_size == expected.effect_size
    assert (found.statistic, found.p_value, found.p_method) == (expected.statistic, expected.p_value, "exact")
    assert found.interval == expected.interval
    assert found.associations["y2"] == expected.y_associations[1]
    assert list(found.associations) == [*SETS["x"], *SETS["y"]]


def test_a_lexicon_a_toml_and_a_query_mean_the_same(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    parts = [f'[{role}]\nname = "{role} set"\nwords = {json.dumps(words)}\n' for role, words in SETS.items()]
    path.write_text('kind = "test"\n' + "".join(parts))

    @dataclass
    class Query:
        target_sets: list[list[str]] = field(default_factory=lambda: [SETS["x"], SETS["y"]])
        attribute_sets: list[list[str]] = field(default_factory=lambda: [SETS["a"], SETS["b"]])

    results = [bg.weat(model(), **SETS), bg.weat(model(), path), bg.weat(model(), Query())]
    assert len({result.effect_size for result in results}) == 1
    assert results[1].sets["x"] == "x set"


@pytest.mark.parametrize("kind", sorted(TESTS))
def test_every_test_runs_and_states_interval_coverage_and_settings(kind: str) -> None:
    found = bg.association_test(model("a2"), kind=kind, min_coverage=0.5, **SETS)
    needed = TESTS[kind].sets
    lost = {"a": ["a2"]} if "a" in needed else {}
    shape = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert shape["coverage"]["lost"] == lost
    assert shape["settings"]["kind"] == kind
    if found.value is None:
        assert found.reason
    else:
        expected = TESTS[kind].function(
            **arrays(model(), **{role: SETS[role] for role in needed} | ({"a": ["a1"]} if "a" in needed else {}))
        )
        assert found.value == expected.value


def test_too_few_words_make_it_undefined_with_the_counts() -> None:
    found = bg.weat(model("x1", "b2"), **SETS)
    assert found.effect_size is None
    assert found.p_value is None
    assert found.reason == "fewer than 80 % of the words found: x 2 of 3, b 1 of 2"
    assert found.coverage.lost == {"x": ("x1",), "b": ("b2",)}
    assert found.interval is not None
    assert (found.interval.low, found.interval.reason) == (None, found.reason)


def test_losing_words_changes_coverage_not_silently_the_meaning() -> None:
    """PEERS: dropping words made an embedding look less biased because aggregates skip nan."""
    whole = bg.weat(model(), **SETS)
    part = bg.weat(model("x1"), min_coverage=0.6, **SETS)
    assert part.coverage.found == whole.coverage.found - 1
    by_hand = weat_of_arrays(**arrays(model(), x=["x2", "x3"], y=SETS["y"], a=SETS["a"], b=SETS["b"]))
    assert part.effect_size == by_hand.effect_size


def test_a_repeated_word_counts_once() -> None:
    """PEERS: duplicates counted as lost."""
    twice = {**SETS, "x": ["x1", "x1", "x2", "x3"]}
    assert bg.weat(model(), **twice).effect_size == bg.weat(model(), **SETS).effect_size
    assert bg.weat(model(), **twice).coverage.lost == {}


def test_pairs_stay_pairs_when_a_word_is_lost() -> None:
    """PEERS: RIPA paired by index after dropping, so the wrong words were paired."""
    found = bg.association_test(model("x1"), kind="set_ripa", min_coverage=0.6, x=SETS["x"], y=SETS["y"], a=SETS["a"])
    by_hand = TESTS["set_ripa"].function(**arrays(model(), x=["x2", "x3"], y=["y2", "y3"], a=SETS["a"]))
    assert found.value == by_hand.value


def test_a_word_in_both_target_sets_is_refused_by_name() -> None:
    shared = {**SETS, "y": ["y1", "x2"]}
    with pytest.raises(bg.ParameterError, match="target"):
        bg.weat(model(), **shared)


def test_a_word_in_both_target_sets_under_another_case_is_refused_too() -> None:
    shared = {**SETS, "y": ["y1", "y2", "X1"]}
    with pytest.raises(bg.ParameterError, match=r"(?i)'x1' is in both"):
        bg.weat(model(), policy=WordPolicy(case="fallback"), **shared)


def test_two_unnamed_models_are_not_averaged() -> None:
    with pytest.raises(bg.ParameterError, match="choose"):
        bg.weat([model(), model()], **SETS)  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"test": "occ16"}, "'occ16' is of kind 'words'; an association test needs kind 'test'"),
        ({"test": "weat7", "x": ["a"]}, "takes either a lexicon or sets"),
        ({"x": ["x1"], "y": ["y1"], "a": ["a1"]}, "or the sets x, y, a, b. Missing: b"),
        ({"test": "weat7", "kind": "wheat"}, "must be one of ect, mac,"),
        ({"test": "weat7", "ddof": 2}, "The 'ddof' parameter must be one of 0, 1"),
    ],
)
def test_impossible_arguments_get_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(bg.ParameterError, match=sentence):
        bg.association_test(bg.vectors.load_default(), **arguments)


def test_direct_bias_by_hand() -> None:
    vectors = bg.Embedding(
        ("he", "she", "along", "across", "half"),
        np.array([[1.0, 0], [-1, 0], [3, 0], [0, 5], [1, 1]]),
    )
    found = bg.scores.direct_bias(vectors, pairs=[("he", "she")], words=["along", "across", "half"])
    assert found.words == pytest.approx({"along": 1.0, "across": 0.0, "half": 2**-0.5})
    assert found.mean.value == pytest.approx((1 + 2**-0.5) / 3)
    strict = bg.scores.direct_bias(vectors, pairs=[("he", "she")], words=["half"], c=2)
    assert strict.mean.value == pytest.approx(0.5)
    lost = bg.scores.direct_bias(vectors, pairs=[("he", "she")], words=["half", "nowhere"])
    assert (lost.mean.value, lost.mean.reason) == (None, "fewer than 80 % found of: words")


def test_direct_bias_leaves_out_words_without_direction_and_counts_the_others() -> None:
    vectors = bg.Embedding(
        ("he", "she", "along", "half", "nothing"), np.array([[1.0, 0], [-1, 0], [3, 0], [1, 1], [0, 0]])
    )
    asked = partial(
        bg.scores.direct_bias, vectors, pairs=[("he", "she")], words=["along", "half", "nothing"], interval=None
    )
    found = asked(policy=WordPolicy(0.5))
    assert found.words == pytest.approx({"along": 1.0, "half": 2**-0.5})
    assert found.mean.value == pytest.approx((1 + 2**-0.5) / 2)
    assert found.mean.n == 2
    assert list(found.coverage.sets["words"].lost) == ["nothing"]
    undefined = asked()
    assert (undefined.mean.value, undefined.mean.reason) == (None, "fewer than 80 % found of: words")


def test_indirect_bias_by_hand() -> None:
    vectors = bg.Embedding(("he", "she", "u", "v"), np.array([[1.0, 0, 0], [-1, 0, 0], [1, 1, 0], [1, 0, 1]]))
    # cos(u, v) = 1/2, all of it along the direction: across it, (0, 1, 0) and (0, 0, 1) are at right angles.
    assert bg.scores.indirect_bias(vectors, "u", "v", pairs=[("he", "she")]) == pytest.approx(1.0)
    with pytest.raises(bg.ParameterError, match="vocabulary"):
        bg.scores.indirect_bias(vectors, "u", "w", pairs=[("he", "she")])


def test_mac_of_stereotypes_and_its_change() -> None:
    religion = bg.lexicon("religion")
    vectors = bg.vectors.load_default()
    found = bg.scores.mac(vectors, "religion")
    groups = [words for name, words in religion.sets.items() if name.endswith("attributes")]
    targets = [word for name, words in religion.sets.items() if name.endswith("protected") for word in words]

    def unit(word: str) -> np.ndarray:
        vector = vectors[word].astype(np.float64)
        return np.asarray(vector / np.linalg.norm(vector))

    by_hand = np.mean([[np.mean([1 - unit(t) @ unit(w) for w in words]) for words in groups] for t in targets])
    assert found.value == pytest.approx(by_hand, abs=1e-12)
    other = bg.Embedding(vectors.words, vectors.vectors.astype(np.float32) + np.float32(0.01), name="shifted")
    change = bg.scores.mac_change(vectors, other, "religion")
    assert change.df == 44  # 15 targets × 3 sets − 1, as in Manzini et al.
    assert bg.scores.mac_change(vectors, vectors, "religion").t is None
    with pytest.raises(bg.ParameterError, match="must have the same words"):
        bg.scores.mac_change(
            vectors, vectors.subset([*targets, *groups[0]]), "religion", policy=WordPolicy(min_coverage=0)
        )


@pytest.mark.shared
def test_weat_7_on_google_news_is_the_published_number(shared_data: Path) -> None:
    path = shared_data / "googlenews_subset_union" / "googlenews_union_31927x300.npz"
    assert bg.weat(path, "weat7").effect_size == pytest.approx(0.9981, abs=5e-5)  # the authors' distances, ddof 0
    assert bg.weat(path, "weat7", ddof=1).effect_size == pytest.approx(0.9664, abs=5e-5)


def test_the_frame_and_the_summary_hold_the_numbers() -> None:
    found = bg.weat(model("x3"), min_coverage=0.5, **SETS)
    row = found.to_frame().iloc[0]
    assert found.interval is not None
    assert (row["effect_size"], row["p_value"]) == (found.effect_size, found.p_value)
    assert (row["low"], row["high"]) == (found.interval.low, found.interval.high)
    assert repr(found).startswith("<Weat: WEAT given words on toy: contrast ")
    sets = {cells[0]: cells[2:] for cells in found.summary().tables[0].rows}
    assert sets["x"] == (2, 3, ("x3",))
    # Words that were typed have no name but that of their place.
    first = found.summary().sentences[0]
    assert first == "A positive contrast: X is more associated with A than Y is, and Y with B."
    assert found.summary().sentences[-1] == f"Test statistic {number_text(found.statistic, 4)}."
    undefined = bg.weat(model("x1", "x2", "x3"), **SETS)
    assert "undefined: " in undefined.summary().headline
    assert undefined.summary().sentences == ()
    assert undefined.to_frame()["effect_size"].tolist() == [None]


def test_weat_leads_with_the_contrast_and_its_largest_two_sided_p() -> None:
    found = bg.weat(bg.vectors.load_default(), "weat7", alternative="greater")
    assert found.contrast is not None
    assert found.p_contrast is not None
    lead = f"contrast {number_text(found.contrast.value, 4)} [{number_text(found.contrast.low, 4)}"
    assert lead in found.summary().headline
    assert f"{p_phrase(found.p_contrast)} (two-sided, largest of three)" in found.summary().headline
    assert found.p_contrast >= max(found.p_value, found.p_attributes)  # one-sided, here
    (published,) = (text for text in found.summary().sentences if text.startswith("As published"))
    assert f"effect size d {number_text(found.effect_size, 4)}" in published
    assert f"{p_phrase(found.p_value)} over targets alone (exact, one-sided, greater)" in published


@pytest.mark.parametrize("wrong", [{"foo": 1}, {"alternative": "up"}, {"ddof": 2}, {"ties": "no"}])
def test_a_wrong_setting_is_refused_where_the_test_is_undefined(wrong: dict[str, Any]) -> None:
    few = {"he": [1.0, 0.0], "she": [0.0, 1.0]}
    assert bg.weat(few, "weat7").value is None
    with pytest.raises(bg.ParameterError, match=next(iter(wrong))):
        bg.weat(few, "weat7", **wrong)


def test_a_change_of_mac_between_training_runs_warns_or_has_them_in_its_interval() -> None:
    runs = bg.vectors.load_default_replicates()
    alone = bg.scores.mac_change(runs[0], runs[1], "gender")
    assert len(alone.warnings) == 1
    assert "trained separately" in alone.warnings[0]
    assert alone.to_dict()["warnings"] == list(alone.warnings)
    assert not bg.scores.mac_change(runs[0], bg.Embedding(runs[0].words, 2 * runs[0].vectors), "gender").warnings
    both = bg.scores.mac_change(runs[0], runs[2], "gender", before_replicates=runs[1:2], after_replicates=runs[3:])
    macs = [bg.scores.mac(run, "gender", interval=None).value for run in runs]
    assert both.value == pytest.approx(np.mean(macs[:2]) - np.mean(macs[2:]))  # type: ignore[arg-type]
    assert both.interval is not None
    assert both.interval.over == "target words and training runs"
    assert not both.warnings
    with pytest.raises(bg.ParameterError, match="neither"):
        bg.scores.mac_change(runs[0], runs[2], "gender", before_replicates=runs[1:2])


def test_a_query_has_as_many_sets_as_its_test_needs() -> None:
    @dataclass
    class OneAttributeSet:
        target_sets: list[list[str]]
        attribute_sets: list[list[str]]

    query = OneAttributeSet([SETS["x"], SETS["y"]], [SETS["a"]])
    for kind in ("rnd", "ect"):
        expected = bg.scores.association_test(model(), kind=kind, x=SETS["x"], y=SETS["y"], a=SETS["a"])
        found = bg.scores.association_test(model(), query, kind=kind)
        assert found.value == expected.value
        assert found.value is not None
    with pytest.raises(ParameterError, match="attribute"):
        bg.weat(model(), query)
    one_target = OneAttributeSet([SETS["x"]], [SETS["a"], SETS["b"]])
    axis = bg.scores.association_test(model(), one_target, kind="semaxis")
    assert (
        axis.value == bg.scores.association_test(model(), kind="semaxis", x=SETS["x"], a=SETS["a"], b=SETS["b"]).value
    )
    with pytest.raises(ParameterError, match="target"):
        bg.weat(model(), OneAttributeSet([SETS["x"]] * 3, [SETS["a"], SETS["b"]]))


def test_an_undefined_test_says_when_another_case_would_do() -> None:
    words = ("Math", "Algebra", "Poetry", "Dance", "He", "Him", "She", "Her")
    matrix = np.random.default_rng(0).standard_normal((len(words), 5)).astype(np.float32)
    capitals = bg.Embedding(words, matrix)
    sets: dict[str, Any] = {
        "x": ["math", "algebra"], "y": ["poetry", "dance"], "a": ["he", "him"], "b": ["she", "her"],
    }  # fmt: skip
    undefined = bg.weat(capitals, **sets)
    assert undefined.value is None
    assert str(undefined.reason).endswith("--case-fallback (audit: --case-fallback yes)")
    assert bg.weat(capitals, **sets, policy=WordPolicy(case="fallback")).value is not None
    hopeless = bg.weat(capitals, **{**sets, "x": ["zzz", "yyy"]})
    assert "another case" not in str(hopeless.reason)


@pytest.mark.parametrize(
    ("kind", "setting", "sentence"),
    [("weat", "sample", "did you mean 'samples'"), ("set_ripa", "ddof", "unit_words"), ("same", "ddof", "no settings")],
)
def test_a_setting_that_the_test_does_not_have_is_refused(kind: str, setting: str, sentence: str) -> None:
    with pytest.raises(ParameterError, match=rf"no setting '{setting}'.*{sentence}"):
        bg.association_test(model(), kind=kind, **{**SETS, setting: 1})


def frequent_and_rare(*, known: bool = True) -> bg.Embedding:
    """Words without meaning, most frequent first; X and A are frequent, Y and B rarer, and frequent words are alike."""
    random = np.random.default_rng(4)
    words = [f"w{n}" for n in range(3_000)]
    words[20:820:40], words[510:2_900:120] = (
        [f"{side}{n}" for side in sides for n in range(10)] for sides in ("xa", "yb")
    )
    vectors = random.standard_normal((len(words), 30))
    vectors[:, 0] += np.linspace(6.0, -6.0, len(words))
    ranks = np.arange(1, len(words) + 1)
    return bg.Embedding(tuple(words), vectors, frequencies=Frequencies(ranks, "ranks") if known else None)


SETS_BY_FREQUENCY: dict[str, Any] = {role: [f"{role}{n}" for n in range(10)] for role in "xyab"}


def test_a_contrast_of_frequency_alone_is_explained_by_it() -> None:
    model = frequent_and_rare()
    found = bg.weat(model, **SETS_BY_FREQUENCY)
    resolved = resolve(Query.from_sets(SETS_BY_FREQUENCY), model)
    test = contrast_of(SimilarityTable(resolved))
    assert test.adjusted is not None
    assert found.p_contrast == test.p
    assert found.p_contrast < 0.05 < found.p_equal_frequency == test.adjusted.p
    assert found.frequency == "explains"
    summary = found.summary()
    assert "explained by word frequency" in summary.headline
    assert any(line.startswith("At equal word frequency") for line in summary.sentences)
    shape = json.loads(json.dumps(found.to_dict()))
    assert shape["frequency"] == "explains"
    assert shape["contrast"]["adjusted"]["low"] == test.adjusted.contrast.low
    assert found.to_frame()["p_equal_frequency"].item() == test.adjusted.p


def test_without_frequencies_nothing_is_said_of_them() -> None:
    found = bg.weat(frequent_and_rare(known=False), **SETS_BY_FREQUENCY)
    assert found.p_contrast < 0.05
    assert (found.p_equal_frequency, found.frequency) == (None, None)
    assert any("At equal word frequency it is undefined" in line for line in found.summary().sentences)
