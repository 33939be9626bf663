"""Comparisons of groups of models: numbers that are known, words that one group lacks, and what cannot be compared."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge import registry
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, lexicon
from biasgauge.vectors import Embedding, Frequencies
from biasgauge.vectors.loading import replicate_path

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.analyses.compare import Comparison

X, Y = [f"x{n}" for n in range(8)], [f"y{n}" for n in range(8)]
A, B = [f"a{n}" for n in range(8)], [f"b{n}" for n in range(8)]
SETS: dict[str, Any] = {"x": X, "y": Y, "a": A, "b": B}


def model(seed: int, lean: float = 0.0, *, without: tuple[str, ...] = (), name: str = "") -> Embedding:
    """Vectors in which X points to A, and Y to B, by `lean`; the same words in all seeds, with noise of their own."""
    shared, own = np.random.default_rng(0), np.random.default_rng([1, seed])
    axis = np.zeros(20)
    axis[0] = 1.0
    vectors = {}
    for words, direction in ((X, lean), (Y, -lean), (A, 1.0), (B, -1.0)):
        for word in words:
            vectors[word] = 0.4 * shared.standard_normal(20) + 0.08 * own.standard_normal(20) + direction * axis
    kept = {word: vector for word, vector in vectors.items() if word not in without}
    return bg.load(kept, name=name or f"seed {seed} lean {lean}")


def groups(first: float, second: float, count: int = 4) -> dict[str, list[Embedding]]:
    return {
        "early": [model(seed, first) for seed in range(count)],
        "late": [model(100 + seed, second) for seed in range(count)],
    }


def frequent(seed: int, pull: float, *, known: bool = True) -> Embedding:
    """Words without meaning in order of frequency, X and A frequent, Y and B rare; frequent words point one way."""
    random = np.random.default_rng([2, seed])
    words = [f"w{n}" for n in range(3_000)]
    words[20:820:50], words[500:2_900:150] = [*X, *A], [*Y, *B]
    vectors = random.standard_normal((len(words), 30))
    vectors[:, 0] += np.linspace(pull, -pull, len(words))
    counts = (1e6 / np.arange(1, len(words) + 1)).astype(int)
    return Embedding(tuple(words), vectors, name=f"{seed} {pull}", frequencies=Frequencies(counts) if known else None)


def test_a_difference_of_frequency_alone_is_explained_by_it() -> None:
    def compare(*, known: bool, measure: Any = "contrast") -> Comparison:  # noqa: ANN401 - a literal
        names = (("early", 0.5, 0), ("late", 3.0, 10))
        given = {name: [frequent(seed + start, pull, known=known) for seed in range(6)] for name, pull, start in names}
        return bg.compare(given, **SETS, measure=measure, replicates="texts")

    found = compare(known=True)
    (row,) = found.differences
    assert row.p is not None
    assert row.p < 0.01  # as it is
    assert row.adjusted is not None
    assert row.p_adjusted == row.p_equal_frequency
    assert row.frequency == "explains"
    assert not row.adjusted.excludes()
    assert (found.difference, found.adjusted) == (row.value, row.adjusted)
    assert "explained by word frequency" in found.verdicts[0].sentence
    assert found.decision not in {"report", "report-with-care"}
    evidence = found.verdicts[0].evidence[0].observed
    assert isinstance(evidence, dict)
    assert evidence["adjusted_low"] == row.adjusted.low
    assert evidence["p"] == row.p_equal_frequency
    assert evidence["p_unadjusted"] == row.p
    unknown = compare(known=False)
    assert unknown.differences[0].adjusted is None
    assert unknown.differences[0].frequency is None
    assert unknown.decision == "report-with-care"
    assert "unknown whether word frequency explains it" in unknown.verdicts[0].sentence
    sized = compare(known=True, measure="effect_size")
    assert sized.differences[0].adjusted is None
    assert "d is not adjusted for it" in sized.verdicts[0].sentence
    again = type(found).from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.differences[0].adjusted is not None
    assert again.differences[0].adjusted.high == row.adjusted.high


def test_a_part_of_a_file_knows_the_frequencies_of_the_whole(tmp_path: Path) -> None:
    order = bg.vectors.load_default_replicates()[:4]
    words = [word for name in ("weat7",) for word in lexicon(name).words]
    whole = bg.compare({"first": order[:2], "second": order[2:]}, "weat7")
    parts = {name: [bg.vectors.save(model, tmp_path / f"{name}{at}.vec") for at, model in enumerate(models)]
             for name, models in (("first", order[:2]), ("second", order[2:]))}  # fmt: skip
    files = bg.compare(parts, "weat7")
    assert len(words) < 40
    assert files.differences[0].adjusted is not None
    assert whole.differences[0].adjusted is not None
    assert files.differences[0].adjusted.value == pytest.approx(whole.differences[0].adjusted.value, abs=1e-3)


def test_the_difference_is_that_of_the_contrasts_of_weat() -> None:
    given = groups(0.2, 0.6)
    found = bg.compare(given, **SETS)
    means = [np.mean([bg.weat(one, **SETS, interval=None).contrast.value for one in each]) for each in given.values()]
    (row,) = found.differences
    assert (row.first, row.second) == ("early", "late")
    assert row.value == pytest.approx(means[1] - means[0])
    assert [one.value for one in found.contrasts] == pytest.approx(means)
    assert row.p is not None
    assert row.p < 0.001
    assert row.words_with == 1.0
    assert "higher in late than in early" in found.summary().headline
    assert row.to_dict()["difference"] == row.value
    effects = [np.mean([bg.weat(one, **SETS, interval=None).effect_size for one in each]) for each in given.values()]
    sized = bg.compare(given, **SETS, measure="effect_size")
    assert sized.differences[0].value == pytest.approx(effects[1] - effects[0])


def test_a_lean_that_both_have_is_no_difference() -> None:
    found = bg.compare(groups(0.5, 0.5), **SETS)
    (row,) = found.differences
    assert row.excludes() is False
    assert all(one.excludes() for one in found.contrasts)
    assert found.decision == "inconclusive"
    assert "not even in these files is a difference shown" in found.summary().headline


def test_every_two_groups_are_compared_and_adjusted_together() -> None:
    three = {**groups(0.0, 0.5), "other": [model(200 + seed, 0.5) for seed in range(3)]}
    found = bg.compare(three, **SETS)
    assert [(row.first, row.second) for row in found.differences] == list(combinations(three, 2))
    assert [row.excludes() for row in found.differences] == [True, True, False]
    assert [row.p_adjusted for row in found.differences] == bg.stats.holm([row.p for row in found.differences])
    assert found.trends == ()


def test_an_order_has_a_trend() -> None:
    leans = {1990: 0.6, 1950: 0.2, 1970: 0.4, 1960: 0.3}
    given = {f"{year}s": [model(year + seed, lean) for seed in range(3)] for year, lean in leans.items()}
    found = bg.compare(given, **SETS, positions=list(leans))
    assert [group.name for group in found.groups] == ["1950s", "1960s", "1970s", "1990s"]
    (trend,), (difference,) = found.trends, found.differences
    means = [float(row.value or 0) for row in found.contrasts]
    slope, _ = np.polyfit([1950, 1960, 1970, 1990], means, 1)
    assert trend.value == pytest.approx(slope)
    assert trend.excludes()
    assert trend.other_texts.excludes()
    assert (difference.first, difference.second) == ("1950s", "1990s")
    assert difference.value == pytest.approx(means[3] - means[0])
    assert "rises" in found.summary().headline
    named = bg.compare(given, **SETS, positions={name: float(name[:4]) for name in given})
    assert named.trends[0].value == pytest.approx(slope)
    steps = bg.compare(given, **SETS, order=["1950s", "1960s", "1970s", "1990s"])
    assert steps.trends[0].value == pytest.approx(np.polyfit(range(4), means, 1)[0])
    middle = found.lines[1]
    assert middle.value == pytest.approx(np.mean(means))
    assert middle.low == middle.high == pytest.approx(middle.value)


def test_words_that_one_group_lacks_are_left_out_of_both() -> None:
    given = groups(0.2, 0.6)
    given["late"][1] = model(101, 0.6, without=("x0", "b3"))
    found = bg.compare(given, **SETS)
    shorter: dict[str, Any] = {"x": X[1:], "y": Y, "a": A, "b": [word for word in B if word != "b3"]}
    assert found.differences[0].value == pytest.approx(bg.compare(groups(0.2, 0.6), **shorter).differences[0].value)
    coverage = found.coverage["given words"]
    assert coverage["lost"] == {"x": ["x0"], "b": ["b3"]}
    assert coverage["reasons"]["x0"] == "not in every model of late"
    assert coverage["found"] == coverage["asked"] - 2


def test_one_model_a_group_warns() -> None:
    found = bg.compare(groups(0.2, 0.6, 1), **SETS)
    assert any("intervals are for other words only" in warning for warning in found.warnings)
    (row,) = found.differences
    assert row.bounded
    assert row.these_words.low is None
    assert row.these_words.reason
    assert row.p_these_words is None


def test_bootstrap_samples_are_not_taken_for_independent_texts() -> None:
    given = groups(0.2, 0.6)
    seeds, samples, texts = (
        bg.compare(given, **SETS, replicates=kind).differences[0] for kind in ("seeds", "samples", "texts")
    )
    width = [(row.these_words.high or 0) - (row.these_words.low or 0) for row in (seeds, samples, texts)]
    assert width[1] == pytest.approx(2 * width[0])  # of four models
    assert width[2] == pytest.approx(width[0])


def test_recipes_say_what_sets_models_apart(tmp_path: Path) -> None:
    from biasgauge.text import planted_corpus

    for name, lines in (("first", 600), ("second", 700)):
        planted_corpus([-0.8, 0.0, 0.8], lines=lines).write(tmp_path / f"{name}.txt")
        counts: dict[str, dict[str, Any]] = {"seeds": {"seeds": 2}, "samples": {"bootstrap": 2, "seeds": 2}}
        for kind, count in counts.items():
            bg.train(tmp_path / f"{name}.txt", out=tmp_path / name / kind, dim=8, epochs=1, min_count=1, **count)
    words = [
        word for word in bg.load(next((tmp_path / "first" / "seeds").glob("*.safetensors"))).words if word.isalpha()
    ][:16]
    sets: dict[str, Any] = {role: words[4 * place : 4 * place + 4] for place, role in enumerate("xyab")}
    for kind in ("seeds", "samples"):
        folders = {name: sorted((tmp_path / name / kind).glob("*.safetensors")) for name in ("first", "second")}
        found = bg.compare(folders, **sets)
        assert [group.replicates for group in found.groups] == [kind, kind]
        assert [len(group.models) for group in found.groups] == ([2, 2] if kind == "seeds" else [4, 4])
        assert found.differences[0].these_words.bounded
        assert ("random seeds answer only whether the same files" in found.verdicts[0].sentence) is (kind == "seeds")
        assert all(group.tokens for group in found.groups)


def test_the_result_comes_back_from_its_json() -> None:
    given = {**groups(0.0, 0.5), "other": [model(200 + seed, 0.5) for seed in range(3)]}
    found = bg.compare(given, **SETS, order=True)
    content = json.loads(json.dumps(found.to_dict()))
    again = bg.analyses.compare.Comparison.from_dict(content)
    assert again.to_dict() == found.to_dict()
    assert again.summary().headline == found.summary().headline == content["headline"]
    assert set(found.figures()) == {"trends", "differences"}
    assert set(bg.compare(groups(0.0, 0.5), **SETS).figures()) == {"differences", "groups"}
    frame = found.to_frame()
    assert list(frame["part"]) == ["differences", "trends"]
    assert frame["these_words_low"].notna().all()


def test_p_and_interval_agree_and_speak_of_other_words_as_of_these() -> None:
    for seed in range(12):
        given = {
            name: [model(1000 * seed + 100 * place + one, 0.3 + 0.02 * place) for one in range(2)]
            for place, name in enumerate(("one", "two"))
        }
        (row,) = bg.compare(given, **SETS, level=0.9).differences
        assert row.p is not None
        assert (row.p < 0.1) is row.excludes()
        assert row.p >= (row.p_these_words or 0.0)
        assert (row.low or 0) <= (row.these_words.low or 0) < (row.these_words.high or 0) <= (row.high or 0)


def test_shipped_replicates_are_no_different_from_each_other() -> None:
    """A placebo: one text, four seeds, split two and two in all three ways; every English test that can be measured."""
    replicates = bg.vectors.load_default_replicates()
    assert len(replicates) == 4
    named = map(lexicon, registry.names("lexicon"))
    tests = [one.name for one in named if isinstance(one, AssociationTest) and one.language == "en"]
    rejected, of_these = [], []
    for other in (1, 2, 3):
        own = (0, other)
        parts = {
            "one": [replicates[place] for place in own],
            "two": [replicates[place] for place in range(4) if place not in own],
        }
        found = bg.compare(parts, tests)
        rejected += [row.p is not None and row.p < 0.05 for row in found.differences]
        of_these += [row.p_these_words is not None and row.p_these_words < 0.05 for row in found.differences]
    assert len(rejected) >= 100
    assert np.mean(rejected) <= 0.05
    assert np.mean(of_these) <= 0.05 + 3 * (0.05 * 0.95 / len(of_these)) ** 0.5


@pytest.mark.parametrize(
    ("given", "settings", "sentence"),
    [
        ({"only": [model(1)]}, SETS, "at least two named groups of models"),
        ([model(1), model(2)], SETS, "at least two named groups of models"),
        ({"one": [model(1)], "two": []}, SETS, "The group 'two' has no models"),
        ({"one": [model(1)], "two": [model(1, name="again")]}, SETS, "have the same vectors"),
        ({"one": [model(1)], "two": [model(2)]}, {}, "Missing: x, y, a, b"),
        ({"one": [model(1)], "two": [model(2)]}, {**SETS, "test": "weat7"}, "either lexicons or sets"),
        ({"one": [model(1)], "two": [model(2)]}, {"test": "weat7"}, "Nothing can be compared: weat7"),
        ({"one": [model(1)], "two": [model(2)]}, {"test": ["weat7", "weat_es_gender"]}, "compared in one language"),
        ({"one": [model(1)], "two": [model(2)]}, {"test": "occ16"}, "No lexicon asks a question"),
        ({"one": [model(1)], "two": [model(2)]}, {**SETS, "y": X}, "'x0' is in both target sets"),
        ({"one": [model(1)], "two": [model(2)]}, {**SETS, "positions": [1]}, "a number for each of the 2 groups"),
        ({"one": [model(1)], "two": [model(2)]}, {**SETS, "positions": [1, 1]}, "a position of its own"),
        ({"one": [model(1)], "two": [model(2)]}, {**SETS, "order": ["one"]}, "must name every group once"),
        ({"one": [model(1)], "two": [model(2)]}, {**SETS, "order": True, "positions": [1, 2]}, "not both"),
        ({"one": [model(1)], "two": [model(2)]}, {**SETS, "measure": "d"}, "must be one of contrast, effect_size"),
        ({"one": [model(1)], "two": [model(2)]}, {**SETS, "level": 2}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(given: Any, settings: Any, sentence: str) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=sentence) as caught:
        bg.compare(given, **settings)
    assert "\n" not in str(caught.value)


def test_files_are_read_for_their_words_only() -> None:
    paths = {"one": [replicate_path(0), replicate_path(1)], "two": [replicate_path(2), replicate_path(3)]}
    found = bg.compare(paths, "weat7")
    in_memory = bg.vectors.load_default_replicates()
    whole = bg.compare({"one": in_memory[:2], "two": in_memory[2:4]}, "weat7")
    assert found.differences[0].value == whole.differences[0].value
    assert [group.models[0] for group in found.groups] == [
        "sgns-64d-enwiki-seed0",
        "sgns-64d-enwiki-seed2",
    ]


def test_models_of_other_dimensions_are_doubted() -> None:
    found = bg.compare(
        {"glove": bg.vectors.load_default(), "wiki": bg.vectors.load_default_replicates()[:3]},
        ["occ16", "du2021"],
    )
    assert any("differ in dimensions (glove 100, wiki 64)" in warning for warning in found.warnings)
    assert any(warning.startswith("glove has a single model") for warning in found.warnings)
    assert found.differences[0].question == "occ16"
