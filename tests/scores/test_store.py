"""The store of scores: what goes in comes out, in whole or in part, and damage is told in one sentence."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.core import WordPolicy
from biasgauge.errors import InputError, ParameterError
from biasgauge.scores import MANIFEST, REASONS, ScoreStore, engine, score, score_to_store
from biasgauge.scores.tensor import ModelScores
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from biasgauge.scores import ScoreTensor

PAIRS = [("he", "she"), ("king", "queen"), ("nil", "he")]
ASKED: dict[str, Any] = {"pairs": PAIRS, "words": ["nurse", "unheard", "doctor", "nil", "Teacher"], "k": 3}


def models(people: Embedding, count: int = 3) -> list[Embedding]:
    random = np.random.default_rng(0)
    return [
        Embedding(
            people.words[: 8 - number],
            (people.vectors + number * random.normal(size=people.vectors.shape).astype(np.float32))[: 8 - number],
            name=f"model {number}",
        )
        for number in range(count)
    ]


def assert_same(one: ScoreTensor, other: ScoreTensor) -> None:
    assert (one.measures, one.pairs, one.words, one.models) == (other.measures, other.pairs, other.words, other.models)
    assert one.values.dtype == other.values.dtype == np.float32
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.undefined, other.undefined)


def test_what_goes_in_comes_out(people: Embedding, tmp_path: Path) -> None:
    plain = score(models(people), **ASKED)
    assert_same(score(models(people), **ASKED, store=tmp_path / "store"), plain)
    store = ScoreStore.open(tmp_path / "store")
    assert_same(store.read(), plain)
    assert (store.measures, store.pairs, store.words, store.models) == (
        plain.measures,
        plain.pairs,
        plain.words,
        plain.models,
    )
    assert len(plain.count_undefined()) > 2
    for place, name in enumerate(plain.models):
        one = store.model_scores(name)
        np.testing.assert_array_equal(one.values, plain.values[..., place])
        np.testing.assert_array_equal(one.undefined(), plain.undefined[..., place])
    with pytest.raises(ParameterError, match="'nobody'"):
        store.model_scores("nobody")
    kept = dict(store.read().provenance)
    kept["models"] = {name: {k: v for k, v in about.items() if k != "sha256"} for name, about in kept["models"].items()}
    assert kept == plain.provenance


@pytest.mark.parametrize(
    "asked",
    [
        {"word": ["Teacher", "nurse"]},
        {"pair": [PAIRS[2], PAIRS[0]]},
        {"measure": ["nbm"]},
        {"model": ["model 2", "model 0"]},
        {"measure": ["ripa", "dbwa"], "pair": PAIRS[::-1], "word": ["nil", "doctor", "unheard"], "model": ["model 1"]},
        {"word": []},
    ],
)
def test_partial_reads_are_selections_of_the_whole(asked: dict[str, Any], people: Embedding, tmp_path: Path) -> None:
    whole = score(models(people), **ASKED, store=tmp_path / "store")
    store = ScoreStore.open(tmp_path / "store")
    assert_same(store.read(**asked), whole.select(**asked))
    assert_same(store.read(**{axis: iter(labels) for axis, labels in asked.items()}), whole.select(**asked))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"word": ["nurses"]}, "There is no word 'nurses'."),
        ({"model": ["model 9"]}, "There is no model 'model 9'."),
        ({"model": "model 1"}, "Labels of the axis 'model' must come in a list. Got the string 'model 1'."),
        ({"model": ["model 1"] * 2}, "The labels of the axis 'model' of a ScoreTensor must differ from each other."),
    ],
)
def test_labels_that_are_not_there(asked: dict[str, Any], sentence: str, people: Embedding, tmp_path: Path) -> None:
    score(models(people), **ASKED, store=tmp_path / "store")
    with pytest.raises(ParameterError) as refusal:
        ScoreStore.open(tmp_path / "store").read(**asked)
    assert str(refusal.value) == sentence


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one with every model that is computed."""
    calls: list[int] = []
    original = engine.compute

    def counted(task: engine.ScoringTask, **settings: Any) -> Any:  # noqa: ANN401 - passed on
        calls.append(len(task.rows))
        return original(task, **settings)

    monkeypatch.setattr(engine, "compute", counted)
    return calls


def test_models_that_are_there_are_not_computed_again(people: Embedding, tmp_path: Path, computed: list[int]) -> None:
    store = tmp_path / "store"
    for count in (1, 1, 3, 2, 3):
        before = len(ScoreStore.open(store).models) if store.exists() else 0
        computed.clear()
        found = score(models(people, count), **ASKED, store=store)
        assert len(computed) == max(count - before, 0)
        assert_same(found, score(models(people, count), **ASKED))
    turned = score(models(people)[::-1], **ASKED, store=store)
    assert turned.models == ("model 2", "model 1", "model 0")
    assert_same(turned, score(models(people)[::-1], **ASKED))


def test_a_model_at_a_time_gives_the_same_bytes(people: Embedding, tmp_path: Path) -> None:
    score(models(people), **ASKED, store=tmp_path / "at once")
    for model in models(people):
        score(model, **ASKED, store=tmp_path / "one by one")
    files = {path.name: path.read_bytes() for path in (tmp_path / "at once").iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "one by one").iterdir()} == files


OTHER: dict[str, dict[str, Any]] = {
    "measures": {"measures": ["dbwa", "nbm"]},
    "pairs": {"pairs": PAIRS[:2]},
    "words": {"words": ["nurse", "doctor"]},
    "k": {"k": 2},
    "pool": {"pool": ["king", "queen", "nurse", "doctor"]},
    "case_fallback": {"policy": WordPolicy(case="fallback")},
    "as_published": {"as_published": "zhang2020", "measures": ["dbwa", "ripa"]},
}


@pytest.mark.parametrize("what", OTHER)
def test_other_settings_are_refused_by_name(what: str, people: Embedding, tmp_path: Path) -> None:
    base = {**ASKED, "measures": ["dbwa", "ripa"]} if what == "as_published" else ASKED
    score(people, **base, store=tmp_path / "store")
    before = (tmp_path / "store" / MANIFEST).read_bytes()
    with pytest.raises(
        InputError, match=rf"store: holds scores with other {what}; name another folder, or replace it \(--force\)$"
    ):
        score(people, **{**base, **OTHER[what]}, store=tmp_path / "store")
    assert (tmp_path / "store" / MANIFEST).read_bytes() == before


def test_store_of_another_version(people: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    score(people, **ASKED, store=tmp_path / "store")
    monkeypatch.setattr(sys.modules["biasgauge.scores.scoring"], "__version__", "99")
    with pytest.raises(InputError, match="version"):
        score(people, **ASKED, store=tmp_path / "store")


def test_scoring_into_a_store_without_reading_it_back(people: Embedding, tmp_path: Path, computed: list[int]) -> None:
    plain = score(models(people), **ASKED)
    assert_same(
        score_to_store(tmp_path / "store", models(people, 2), **ASKED).read(), plain.select(model=plain.models[:2])
    )
    computed.clear()
    assert_same(score_to_store(tmp_path / "store", models(people), **ASKED).read(), plain)
    assert len(computed) == 1


def test_a_store_is_removed_and_what_else_is_there_stays(people: Embedding, tmp_path: Path) -> None:
    store = score_to_store(tmp_path / "store", models(people, 2), **ASKED)
    (tmp_path / "store" / "notes.txt").write_text("mine")
    store.clear()
    assert [path.name for path in (tmp_path / "store").rglob("*") if path.is_file()] == ["notes.txt"]


def test_a_record_without_checksum_is_other_vectors(people: Embedding, tmp_path: Path) -> None:
    score(people, **ASKED, store=tmp_path / "store")
    _whole(tmp_path / "store" / MANIFEST, models={"people": {}})
    with pytest.raises(InputError, match="'people'"):
        score(people, **ASKED, store=tmp_path / "store")


def test_other_vectors_under_the_same_name_are_refused(people: Embedding, tmp_path: Path) -> None:
    score(people, **ASKED, store=tmp_path / "store")
    changed = Embedding(people.words, people.vectors * np.float32(1.5), name="people")
    with pytest.raises(InputError, match="'people'"):
        score(changed, **ASKED, store=tmp_path / "store")


def _cut(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 0x40
    path.write_bytes(bytes(content))


def _objects(path: Path) -> None:
    np.save(path, np.array([pickle.loads, print], dtype=object), allow_pickle=True)


def _whole(path: Path, **changes: object) -> None:
    content = {**json.loads(path.read_text()), **changes}
    del content["own_sha256"]  # as somebody would who knows what is checked
    path.write_text(json.dumps(content), encoding="utf-8")


DAMAGES: list[tuple[str, str, Callable[[Path], object]]] = [
    *[
        (f"{name} {how}", f"*.{name}.npy", damage)
        for name in ("scores", "words", "pairs")
        for how, damage in (
            ("gone", lambda path: path.unlink()),
            ("empty", lambda path: path.write_bytes(b"")),
            ("without its end", lambda path: _cut(path, 0.97)),
            ("cut in the header", lambda path: _cut(path, 0.1)),
            ("text", lambda path: path.write_text("not an array at all")),
            ("of another shape", lambda path: np.save(path, np.zeros((2, 2), np.float32))),
            ("of another type", lambda path: np.save(path, np.zeros((3, 3, 5), np.float64))),
            ("of objects", _objects),
            ("a folder", lambda path: (path.unlink(), path.mkdir())),
        )
    ],
    ("manifest empty", MANIFEST, lambda path: path.write_bytes(b"")),
    ("manifest cut", MANIFEST, lambda path: _cut(path, 0.5)),
    ("manifest no text", MANIFEST, lambda path: path.write_bytes(b"\xff\xfe\x00")),
    ("manifest a list", MANIFEST, lambda path: path.write_text("[]")),
    ("manifest a word", MANIFEST, lambda path: path.write_text('"format"')),
    ("manifest without format", MANIFEST, lambda path: path.write_text("{}")),
    ("manifest of another format", MANIFEST, lambda path: _whole(path, format="biasgauge scores 2")),
    ("manifest without labels", MANIFEST, lambda path: path.write_text('{"format": "biasgauge scores 1"}')),
    ("manifest with half pairs", MANIFEST, lambda path: _whole(path, pairs=[["he"], ["king"], ["nil"]])),
    ("manifest with models as a list", MANIFEST, lambda path: _whole(path, models=["people"])),
    ("manifest with a model without record", MANIFEST, lambda path: _whole(path, models={"people": None})),
    ("manifest with words as text", MANIFEST, lambda path: _whole(path, words="nurse")),
    ("manifest without provenance", MANIFEST, lambda path: _whole(path, provenance=None)),
    ("manifest gone", MANIFEST, lambda path: path.unlink()),
]


@pytest.mark.parametrize(("name", "damage"), [case[1:] for case in DAMAGES], ids=[case[0] for case in DAMAGES])
def test_damage_is_told_in_one_sentence(
    name: str, damage: Callable[[Path], object], people: Embedding, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    score(people, **ASKED, store=store)
    name = next(store.glob(name)).name
    damage(store / name)
    with pytest.raises(InputError) as refusal:
        ScoreStore.open(store).read()
    assert "\n" not in str(refusal.value)
    assert str(store / name) in str(refusal.value) or (not (store / name).exists() and str(store) in str(refusal.value))


@pytest.mark.parametrize("name", ["*.scores.npy", "*.words.npy", "*.pairs.npy"])
@pytest.mark.parametrize("gone", [False, True])
def test_scores_that_changed_on_disk_are_found_and_computed_again(
    name: str, people: Embedding, tmp_path: Path, *, gone: bool
) -> None:
    store = tmp_path / "store"
    sound = score(people, **ASKED, store=store)
    ScoreStore.open(store).check("people")
    name = next(store.glob(name)).name
    if gone:
        (store / name).unlink()
    else:
        _flip(store / name)
    reason = "cannot be read" if gone else r"is damaged \(its checksum differs\)"
    with pytest.raises(InputError, match=rf"{re.escape(name)}: {reason}"):
        ScoreStore.open(store).check("people")
    again = score(people, **ASKED, store=store)
    assert again.values.tobytes() == sound.values.tobytes()
    assert again.undefined.tobytes() == sound.undefined.tobytes()
    assert name in ScoreStore.open(store).provenance["models"]["people"]["recomputed"]
    ScoreStore.open(store).check("people")


def test_places_that_are_no_store(people: Embedding, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        ScoreStore.open(tmp_path / "nowhere")
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(InputError, match="file: is not a score store"):
        ScoreStore.open(file)
    with pytest.raises(InputError, match="file: exists and is not a score store"):
        score(people, **ASKED, store=file)
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="full: exists and is not a score store"):
        score(people, **ASKED, store=full)
    assert [item.name for item in full.iterdir()] == ["thesis.txt"]


def test_folders_that_may_become_a_store(people: Embedding, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / ".store.json.0a1b2c3d.part").write_text("killed while the first file was written")
    for name in ("empty", "left", "a/new/one"):
        assert_same(score(people, **ASKED, store=tmp_path / name), score(people, **ASKED))


def test_store_without_models(tmp_path: Path) -> None:
    store = ScoreStore.create(tmp_path / "store", measures=("dbwa",), pairs=(("a", "b"),), words=("c",), provenance={})
    assert store.models == ()
    with pytest.raises(InputError, match="holds no model yet"):
        ScoreStore.open(tmp_path / "store").read()


def made_store(path: Path, words: Sequence[str], pairs: int, names: Sequence[str]) -> ScoreStore:
    """A store filled with numbers that tell their place."""
    store = ScoreStore.create(
        path,
        measures=("dbwa", "ripa", "nbm"),
        pairs=tuple((f"first {number}", f"second {number}") for number in range(pairs)),
        words=tuple(words),
        provenance={"k": 1},
    )
    values = np.arange(3 * pairs * len(words), dtype=np.float32).reshape(3, pairs, len(words))
    for number, name in enumerate(names):
        word_reasons = np.arange(len(words), dtype=np.uint8) % 2
        store.append(name, ModelScores(values + number, word_reasons, np.zeros((3, pairs), np.uint8)), {})
    return store


def test_appending_what_does_not_fit(tmp_path: Path) -> None:
    store = made_store(tmp_path / "store", ["a", "b"], 2, ["one"])
    reasons = np.zeros(2, np.uint8), np.zeros((3, 2), np.uint8)
    with pytest.raises(ParameterError, match=r"must have the shape \(3, 2, 2\)\. Got \(3, 2, 1\)\.$"):
        store.append("two", ModelScores(np.zeros((3, 2, 1), np.float32), *reasons), {})
    with pytest.raises(ParameterError, match="'one'"):
        store.append("one", ModelScores(np.zeros((3, 2, 2), np.float32), *reasons), {})
    assert ScoreStore.open(tmp_path / "store").models == ("one",)


def test_reasons_of_pairs_outweigh_those_of_words() -> None:
    scores = ModelScores(np.zeros((1, 2, 2), np.float32), np.array([0, 1], np.uint8), np.array([[0, 4]], np.uint8))
    assert [[REASONS[place] for place in row] for row in scores.undefined()[0]] == [
        ["", REASONS[1]],
        [REASONS[4], REASONS[4]],
    ]


def test_reading_one_word_does_not_load_the_rest(tmp_path: Path) -> None:
    words = [f"word {number}" for number in range(8_000)]
    made_store(tmp_path / "store", words, 100, ["one", "two", "three", "four"])
    size = sum(path.stat().st_size for path in (tmp_path / "store").iterdir())
    assert size > 35 * 2**20
    store = ScoreStore.open(tmp_path / "store")
    tracemalloc.start()
    found = store.read(word=["word 77", "word 4000"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**21
    flat = np.arange(3 * 100 * 8_000, dtype=np.float32).reshape(3, 100, 8_000)
    for number in range(4):
        np.testing.assert_array_equal(found.values[..., number], flat[:, :, [77, 4_000]] + number)
    np.testing.assert_array_equal(found.undefined[:, :, 0], 1)
    np.testing.assert_array_equal(found.undefined[:, :, 1], 0)


def test_words_of_any_script_and_models_with_awkward_names(tmp_path: Path) -> None:
    names = ["../escape", "a/b", "naïve 日本", "0", ""]
    words = ["日本", "über", 'quo"te', "new\\line", "\u2028"]
    made_store(tmp_path / "store", words, 1, names)
    store = ScoreStore.open(tmp_path / "store")
    assert store.words == tuple(words)
    assert store.models == tuple(names)
    for number, name in enumerate(names):
        assert store.read(model=[name]).values[0, 0, 0, 0] == number
    assert [item.name for item in tmp_path.iterdir()] == ["store"]


def test_a_moved_store_stays_readable(people: Embedding, tmp_path: Path) -> None:
    whole = score(people, **ASKED, store=tmp_path / "store")
    shutil.move(tmp_path / "store", tmp_path / "moved")
    assert_same(ScoreStore.open(tmp_path / "moved").read(), whole)
