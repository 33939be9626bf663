"""`score`: what may be given for models, pairs, words, pools and measures, and what is recorded about it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge
from biasgauge import registry
from biasgauge.core import WordPolicy
from biasgauge.errors import BiasgaugeError, LexiconError, ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.metrics import Linear, Measure
from biasgauge.scores import AS_PUBLISHED, score
from biasgauge.vectors import Embedding, load_default

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from biasgauge.core.arrays import Floats
    from biasgauge.scores import ScoreTensor

PAIR = [("he", "she")]


def cosine(one: NDArray[Any], other: NDArray[Any]) -> float:
    one, other = one.astype(np.float64), other.astype(np.float64)
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def assert_same(one: ScoreTensor, other: ScoreTensor) -> None:
    assert (one.measures, one.pairs, one.words, one.models) == (other.measures, other.pairs, other.words, other.models)
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.undefined, other.undefined)


def test_scores_are_where_their_labels_say(people: Embedding) -> None:
    pairs = [("he", "she"), ("queen", "king")]
    words = ["nurse", "doctor", "king"]
    found = score(people, pairs=pairs, words=words, measures=["ripa", "dbwa"])
    assert (found.measures, found.pairs, found.words, found.models) == (
        ("ripa", "dbwa"),
        tuple(pairs),
        tuple(words),
        ("people",),
    )
    for p, (first, second) in enumerate(pairs):
        difference = (people[first] - people[second]).astype(np.float64)
        for w, word in enumerate(words):
            along = people[word] @ difference / np.linalg.norm(difference)
            nearer = cosine(people[word], people[first]) - cosine(people[word], people[second])
            assert found.values[:, p, w, 0] == pytest.approx([along, nearer], abs=1e-6)


@pytest.mark.parametrize("source", ["embedding", "dict", "pair", "file", "list"])
def test_any_vectors(source: str, people: Embedding, tmp_path: Path) -> None:
    path = tmp_path / "people"
    lines = [f"{word} {a:g} {b:g}\n" for word, (a, b) in zip(people.words, people.vectors, strict=True)]
    path.write_text(f"8 2\n{''.join(lines)}", encoding="utf-8")
    given: Any = {
        "embedding": people,
        "dict": dict(zip(people.words, people.vectors, strict=True)),
        "pair": (people.words, people.vectors),
        "file": path,
        "list": [people],
    }[source]
    found = score(given, pairs=PAIR, words=["king", "nurse"], k=3)
    np.testing.assert_array_equal(found.values, score(people, pairs=PAIR, words=["king", "nurse"], k=3).values)


def test_words_by_name_by_file_and_by_themselves(people: Embedding, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('kind = "words"\nwords = ["nurse", "king", "nurse"]\n', encoding="utf-8")
    given: tuple[Any, ...] = (own, str(own), lexicon(own), ["nurse", "king"], ("nurse", "king", "nurse"))
    for words in given:
        assert_same(
            score(people, pairs=PAIR, words=words, k=3), score(people, pairs=PAIR, words=["nurse", "king"], k=3)
        )
    named = score(people, pairs=PAIR, words="occ16", k=3)
    assert named.words == lexicon("occ16").words
    assert len(named.words) == 320
    assert named.reason("nbm", PAIR[0], "doctor", "people") == ""
    one_set = score(people, pairs=PAIR, words="weat7:x", k=3)
    assert one_set.words == tuple(lexicon("weat7").sets["x"])


def test_pairs_by_name_by_file_and_by_themselves(people: Embedding, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('kind = "pairs"\npairs = [["he", "she"], ["king", "queen"]]\n', encoding="utf-8")
    expected = score(people, pairs=[("he", "she"), ("king", "queen")], words=["nurse"], k=3)
    given: tuple[Any, ...] = (own, lexicon(own), [["he", "she"], ["king", "queen"], ["he", "she"]])
    for pairs in given:
        assert_same(score(people, pairs=pairs, words=["nurse"], k=3), expected)
    zhang = score(people, pairs="zhang2020", words=["nurse"], k=3)
    assert zhang.pairs[0] == ("he", "she")
    assert len(zhang.pairs) == 10
    np.testing.assert_array_equal(zhang.values[:, 0], expected.values[:, 0])
    assert zhang.count_undefined() == {"an end of the pair is not in the vocabulary": 3 * 9}


def test_full_is_every_word_of_every_model(people: Embedding) -> None:
    other = Embedding(("zebra", "she", "he"), np.array([[1, 2], [0, 1], [1, 0]], np.float32), name="other")
    found = score([people, other], pairs=PAIR, words="full", measures="dbwa")
    assert found.words == (*people.words, "zebra")
    assert found.reason("dbwa", PAIR[0], "zebra", "people") == "the word is not in the vocabulary"
    assert found.reason("dbwa", PAIR[0], "king", "other") == "the word is not in the vocabulary"
    assert found.reason("dbwa", PAIR[0], "nil", "people") == "the word's vector is zero"
    np.testing.assert_array_equal(np.isnan(found.values), found.undefined > 0)


def test_each_model_is_scored_by_its_own_vectors(people: Embedding) -> None:
    """Models differ in vocabulary, order of words, dimensions and precision."""
    random = np.random.default_rng(0)
    words = ("nurse", "she", "clerk", "he", "doctor", "queen")
    other = Embedding(words, random.normal(size=(6, 5)).astype(np.float16), name="other")
    asked = ["doctor", "nurse", "clerk", "king"]
    together = score([people, other], pairs=[*PAIR, ("king", "queen")], words=asked, k=2)
    assert together.models == ("people", "other")
    for model in (people, other):
        alone = score(model, pairs=[*PAIR, ("king", "queen")], words=asked, k=2)
        assert_same(together.select(model=[model.name]), alone)
        assert together.provenance["models"][model.name] == alone.provenance["models"][model.name]
    assert together.provenance["models"]["other"]["coverage"]["lost"] == {"words": ["king"], "first": ["king"]}
    assert together.provenance["models"]["people"]["coverage"]["lost"] == {"words": ["clerk"]}


def test_pool_as_words_and_as_lexicon(people: Embedding, tmp_path: Path) -> None:
    own = tmp_path / "pool.toml"
    own.write_text('kind = "words"\nwords = ["nurse", "queen", "king", "unheard"]\n', encoding="utf-8")
    given: tuple[Any, ...] = (own, ["king", "nurse", "queen", "king", "unheard"])
    for pool in given:
        found = score(people, pairs=PAIR, words=["doctor", "nurse"], measures="nbm", k=2, pool=pool)
        # doctor (3, 2): king and queen are nearest, one on each side; nurse (2, 3.5): queen, then king.
        np.testing.assert_array_equal(found.values.ravel(), [0, 0])
        assert found.provenance["models"]["people"]["coverage"]["lost"] == {"pool": ["unheard"]}
    nearest = score(people, pairs=PAIR, words=["doctor", "nurse"], measures="nbm", k=1, pool=own)
    np.testing.assert_array_equal(nearest.values.ravel(), [1, -1])
    too_few = score(people, pairs=PAIR, words=["doctor"], measures="nbm", k=3, pool=own)
    assert too_few.count_undefined() == {"fewer than k neighbors exist": 1}


def test_case_fallback(people: Embedding) -> None:
    asked = ["teacher", "KING", "Nurse", "DOCTORS"]
    strict = score(people, pairs=[("He", "SHE")], words=asked, k=3)
    assert strict.count_undefined() == {"an end of the pair is not in the vocabulary": 12}
    lenient = score(people, pairs=[("He", "SHE")], words=asked, k=3, policy=WordPolicy(case="fallback"))
    plain = score(people, pairs=PAIR, words=["Teacher", "king", "nurse"], k=3)
    np.testing.assert_array_equal(lenient.values[:, :, :3], plain.values)
    assert lenient.words == tuple(asked)
    assert lenient.count_undefined() == {"the word is not in the vocabulary": 3}
    assert lenient.provenance["case_fallback"] is True


def test_pool_with_spellings_of_one_word(people: Embedding) -> None:
    """Two spellings of one word are one neighbor."""
    found = score(
        people,
        pairs=PAIR,
        words=["doctor"],
        measures="nbm",
        k=2,
        pool=["king", "King", "KING"],
        policy=WordPolicy(case="fallback"),
    )
    assert found.count_undefined() == {"fewer than k neighbors exist": 1}


@pytest.mark.parametrize(("paper", "variants"), AS_PUBLISHED.items())
def test_as_published(paper: str, variants: dict[str, str], people: Embedding) -> None:
    asked = ["dbwa", "ripa", "nbm"]
    found = score(people, pairs=PAIR, words=["king", "nurse"], measures=asked, k=3, as_published=paper)
    expected = {
        "du2021": ("dbwa", "ripa_unit", "nbm_du2021"),  # METHODS: unit word vector, first hit dropped, tie is male
        "zhang2020": ("dbwa", "ripa", "nbm_zhang2020"),  # raw word vector, tie is male
    }[paper]
    assert found.measures == expected
    assert variants.items() <= dict(zip(asked, expected, strict=True)).items()
    assert_same(found, score(people, pairs=PAIR, words=["king", "nurse"], measures=expected, k=3))
    assert found.provenance["as_published"] == paper


class Distances(Measure):
    """How much nearer a word is to the first end, by distance: neither linear nor by neighbors."""

    def scores(self, words: Floats, first: Floats, second: Floats) -> Floats:
        to_first, to_second = (np.linalg.norm(words - ends[:, None], axis=2) for ends in (first, second))
        return np.asarray(to_second - to_first)


ABOUT: dict[str, Any] = {
    "summary": "", "low": -np.inf, "high": np.inf, "source": "", "scale_invariant": False,
    "word_scale_invariant": False,
}  # fmt: skip


def by_distances(model: Embedding, words: list[str], pairs: list[tuple[str, str]]) -> Floats:
    """The same from its definition, word by word."""

    def at(word: str) -> Floats:
        return np.asarray(model[word], np.float64)

    return np.array([[np.linalg.norm(at(w) - at(b)) - np.linalg.norm(at(w) - at(a)) for w in words] for a, b in pairs])


@pytest.mark.parametrize("device", ["cpu", "torch"])
def test_a_measure_of_ones_own(people: Embedding, device: str) -> None:
    words, pairs = ["king", "nurse"], [*PAIR, ("she", "he")]
    own = Distances(name="distances", **ABOUT)
    found = score(people, pairs=pairs, words=words, measures=[own, "dbwa"], device=device)
    assert found.measures == ("distances", "dbwa")
    assert found.count_undefined() == {}
    np.testing.assert_allclose(found.values[0, ..., 0], by_distances(people, words, pairs), rtol=1e-6)
    np.testing.assert_array_equal(found.values[0, -1], -found.values[0, 0])
    assert np.abs(found.values[0]).min() > 0


def test_a_linear_measure_of_ones_own_is_not_the_shipped_one(people: Embedding) -> None:
    shipped = registry.get("measure", "dbwa")
    assert isinstance(shipped, Linear)
    turned = replace(shipped, name="turned", direction=lambda first, second: second - first)
    found = score(people, pairs=PAIR, words=["king"], measures=[turned, "dbwa"])
    assert np.sign(found.values[0]) == -np.sign(found.values[1])


def test_a_registered_measure_is_found_by_its_name(people: Embedding, tmp_path: Path) -> None:
    registry.register(Distances(name="distances", **ABOUT))
    try:
        found = score(people, pairs=PAIR, words=["king"], measures="distances", store=tmp_path / "store")
    finally:
        registry.unregister("measure", "distances")
    np.testing.assert_allclose(found.values[0, ..., 0], by_distances(people, ["king"], PAIR), rtol=1e-6)
    with pytest.raises(ParameterError, match="'distances'"):
        score(people, pairs=PAIR, words=["king"], measures="distances")


def test_a_measure_that_computes_nothing_is_refused(people: Embedding) -> None:
    class Empty(Measure):
        pass

    with pytest.raises(ParameterError, match="'empty'"):
        score(people, pairs=PAIR, words=["king"], measures=Empty(name="empty", **ABOUT))


def test_a_measure_that_gives_another_shape_is_refused(people: Embedding) -> None:
    class Flat(Measure):
        def scores(self, words: Floats, first: Floats, second: Floats) -> Floats:  # noqa: ARG002 - the point
            return np.zeros(len(words))

    with pytest.raises(ParameterError, match="'flat'"):
        score(people, pairs=PAIR, words=["king"], measures=Flat(name="flat", **ABOUT))


def test_words_that_no_model_has(people: Embedding) -> None:
    found = score(people, pairs=PAIR, words=["unheard", "unseen"], k=3)
    assert found.count_undefined() == {"the word is not in the vocabulary": 6}
    assert found.provenance["models"]["people"]["coverage"]["lost"] == {"words": ["unheard", "unseen"]}


def test_model_without_words() -> None:
    empty = Embedding((), np.zeros((0, 3), np.float32))
    found = score(empty, pairs=PAIR, words=["king"])
    assert found.count_undefined() == {"an end of the pair is not in the vocabulary": 3}
    assert score(empty, pairs=PAIR, words="full").shape == (3, 1, 0, 1)


REFUSED: list[tuple[dict[str, Any], type[BiasgaugeError], str]] = [
    ({"measures": "weat"}, ParameterError, r"^A measure must be one of .*ripa_unit\. Got 'weat'\.$"),
    (
        {"measures": []},
        ParameterError,
        r"^The 'measures' parameter of score must name measures, each once\. Got \[\]\.$",
    ),
    ({"measures": ["nbm", "nbm"]}, ParameterError, "each once"),
    ({"measures": ["ripa", "ripa_unit"], "as_published": "du2021"}, ParameterError, "each once"),
    (
        {"as_published": "zhang"},
        ParameterError,
        r"^The 'as_published' parameter must be one of None, du2021, zhang2020\. Got 'zhang'\.$",
    ),
    ({"k": 0}, ParameterError, r"^The 'k' parameter must be a whole number of at least 1\. Got 0\.$"),
    ({"k": 2.5}, ParameterError, r"Got 2\.5\.$"),
    ({"k": True}, ParameterError, r"Got True\.$"),
    ({"n_jobs": 0}, ParameterError, r"^The 'n_jobs' parameter must be .* Got 0\.$"),
    ({"n_jobs": -2}, ParameterError, r"Got -2\.$"),
    ({"pairs": []}, ParameterError, "at least one pair"),
    ({"pairs": [("he",)]}, ParameterError, "pair 1 must be two words"),
    ({"pairs": "occ16"}, LexiconError, "holds words, but pairs are wanted here"),
    ({"pairs": "zhang2021"}, LexiconError, "zhang2020"),
    ({"words": []}, ParameterError, "at least one word"),
    ({"words": "kings"}, LexiconError, "given as a list"),
    ({"words": ["king", 3]}, ParameterError, "word 2 must be a string"),
    ({"words": 7}, ParameterError, "words must be a name"),
    ({"pool": []}, ParameterError, "at least one word"),
    ({"vectors": []}, ParameterError, "must hold at least one model"),
    ({"vectors": 7}, ParameterError, "Vectors must be a path"),
]


@pytest.mark.parametrize(("changed", "error", "sentence"), REFUSED)
def test_arguments_that_cannot_be_used(
    changed: dict[str, Any], error: type[BiasgaugeError], sentence: str, people: Embedding
) -> None:
    given = {"vectors": people, "pairs": PAIR, "words": ["king"], **changed}
    with pytest.raises(error, match=sentence) as refusal:
        score(given.pop("vectors"), **given)
    assert "\n" not in str(refusal.value)


def test_two_models_of_one_name(people: Embedding) -> None:
    with pytest.raises(ParameterError, match="'people'"):
        score([people, people], pairs=PAIR, words=["king"])


def test_threads_as_scikit_learn_has_them(people: Embedding) -> None:
    plain = score(people, pairs=PAIR, words="full", k=3)
    for n_jobs in (-1, 1, 2):
        assert_same(score(people, pairs=PAIR, words="full", k=3, n_jobs=n_jobs), plain)


def test_inputs_are_left_as_they_are() -> None:
    vectors = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    before = vectors.copy()
    words, pairs, pool = ["a", "b"], [["c", "d"]], list("efghi")
    score((list("abcdefghi"), vectors), pairs=pairs, words=words, pool=pool, k=2)
    np.testing.assert_array_equal(vectors, before)
    assert (words, pairs, pool) == (["a", "b"], [["c", "d"]], list("efghi"))


def test_provenance(people: Embedding) -> None:
    found = score(
        people,
        pairs="zhang2020",
        words="weat7:x",
        measures="nbm",
        k=2,
        pool=["king", "nurse", "queen"],
        policy=WordPolicy(case="fallback"),
    ).provenance
    assert found["version"] == biasgauge.__version__
    assert found["k"] == 2
    assert found["pool"] == ["king", "nurse", "queen"]
    assert found["case_fallback"] is True
    assert found["as_published"] is None
    assert found["pairs"] == {"name": "zhang2020", "checksum": lexicon("zhang2020").checksum}
    assert found["words"]["name"] == "weat7:x"
    about = found["models"]["people"]
    assert about["checksum"] == people.checksum
    assert about["source"] == "memory"
    assert about["coverage"]["asked"] > about["coverage"]["found"] > 0
    assert json.loads(json.dumps(found)) == found


def _changed(people: Embedding) -> dict[str, dict[str, Any]]:
    vectors = people.vectors.copy()
    vectors[2, 0] += np.float32(1e-6)
    return {
        "vector": {"vectors": Embedding(people.words, vectors, name="people")},
        "word of the model": {"vectors": Embedding((*people.words[:-1], "null"), people.vectors, name="people")},
        "word": {"words": ["king", "nurses"]},
        "order of words": {"words": ["nurse", "king"]},
        "pair": {"pairs": [("he", "her")]},
        "order of a pair": {"pairs": [("she", "he")]},
        "k": {"k": 4},
        "pool": {"pool": ["king", "queen", "nurse", "doctor"]},
        "case": {"policy": WordPolicy(case="fallback")},
        "as published": {"as_published": "du2021"},
    }


@pytest.mark.parametrize(
    "change",
    [
        "vector",
        "word of the model",
        "word",
        "order of words",
        "pair",
        "order of a pair",
        "k",
        "pool",
        "case",
        "as published",
    ],
)
def test_provenance_changes_with_whatever_changes(change: str, people: Embedding) -> None:
    given: dict[str, Any] = {"vectors": people, "pairs": PAIR, "words": ["king", "nurse"], "k": 3}
    same = score(given["vectors"], **{key: value for key, value in given.items() if key != "vectors"}).provenance
    again = score(given["vectors"], **{key: value for key, value in given.items() if key != "vectors"}).provenance
    assert same == again
    given |= _changed(people)[change]
    other = score(given.pop("vectors"), **given).provenance
    assert {key for key in same if same[key] != other[key]}, change


def test_how_words_are_given_does_not_change_their_checksum(people: Embedding, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('kind = "words"\nwords = ["nurse", "king"]\n', encoding="utf-8")
    listed = score(people, pairs=PAIR, words=["nurse", "king"]).provenance["words"]
    named = score(people, pairs=PAIR, words=own).provenance["words"]
    assert listed["checksum"] == named["checksum"]
    assert (listed["name"], named["name"]) == ("given words", "own")


def test_shipped_vectors_against_the_definitions() -> None:
    """Three words, four pairs and all measures on the vectors that ship, recomputed in double precision."""
    model = load_default()
    words, k = ["nurse", "engineer", "philosophy"], 100
    pairs = [("he", "she"), ("man", "woman"), ("king", "queen"), ("son", "daughter")]
    names = ["dbwa", "ripa", "ripa_unit", "nbm", "nbm_du2021", "nbm_zhang2020"]
    found = score(model, pairs=pairs, words=words, measures=names, k=k)
    table = model.vectors.astype(np.float64)
    unit = table / np.sqrt((table**2).sum(axis=1))[:, None]
    row = {word: model.words.index(word) for word in {*words, *(end for pair in pairs for end in pair)}}
    for w, word in enumerate(words):
        similar = unit @ unit[row[word]]
        similar[row[word]] = -2
        nearest = np.argsort(-similar, kind="stable")[:k]
        for p, (first, second) in enumerate(pairs):
            nearer = unit @ (unit[row[first]] - unit[row[second]])
            apart = table[row[first]] - table[row[second]]
            along = table[row[word]] @ apart / np.sqrt(apart @ apart)
            vote = np.sign(nearer[nearest]).mean()
            expected = [
                nearer[row[word]],
                along,
                along / np.sqrt(table[row[word]] @ table[row[word]]),
                vote,
                vote,
                vote,
            ]
            np.testing.assert_allclose(found.values[:, p, w, 0], expected, rtol=0, atol=1e-5)
    assert found.values[3, 0, 0, 0] < 0, "the neighbors of nurse lean to she"
    assert found.undefined.sum() == 0
