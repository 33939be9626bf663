"""Training: a planted rule, the same model again, going on after a stop, and input that cannot be used."""

# ruff: noqa: ANN401 - a module that is a fixture has no useful type

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from biasgauge.applications.classification import task as classification
from biasgauge.applications.coref import (
    CorefModel,
    CorefSettings,
    Document,
    evaluate_coref,
    score_coref,
    train_coref,
    training_run,
    write_conll,
)
from biasgauge.errors import InputError, ParameterError
from biasgauge.io.json_file import manifest_text
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from pathlib import Path


def same_weights(one: CorefModel, other: CorefModel) -> bool:
    mine, theirs = one.network.state_dict(), other.network.state_dict()
    return mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_a_planted_rule_is_learned(learned: CorefModel, planted: Any) -> None:
    found = evaluate_coref(learned, planted.stories(60, 3), resamples=200)
    assert (found.conll_f1 or 0) >= 0.9
    # the rule is about gender: with vectors that say the opposite, the other person is meant
    swapped = {"she": "he", "he": "she"}
    turned = [
        replace(one, sentences=(one.sentences[0], tuple(swapped.get(word, word) for word in one.sentences[1])))
        for one in planted.stories(60, 3)
    ]
    assert (
        score_coref(
            planted.stories(60, 3),
            [
                one.with_clusters(other.clusters)
                for one, other in zip(planted.stories(60, 3), learned.predict(turned), strict=True)
            ],
            resamples=50,
        )
        .score("muc", "recall")
        .value
        or 0
    ) <= 0.1
    best = max(learned.log, key=lambda entry: entry["dev_f1"])
    again = evaluate_coref(learned, planted.stories(30, 2), resamples=50)
    assert again.conll_f1 == pytest.approx(best["dev_f1"])


def test_saved_and_loaded_it_says_the_same(learned: CorefModel, planted: Any, tmp_path: Path) -> None:
    documents = planted.stories(40, 8)
    learned.save(tmp_path / "model")
    learned.save(tmp_path / "model")
    assert len(list((tmp_path / "model").iterdir())) == 2
    loaded = CorefModel.load(tmp_path / "model", planted.vectors())
    assert same_weights(loaded, learned)
    assert loaded.predict(documents) == learned.predict(documents)
    assert (loaded.settings, loaded.log, loaded.record) == (learned.settings, learned.log, learned.record)
    with pytest.raises(ParameterError, match="'planted'"):
        CorefModel.load(tmp_path / "model", planted.vectors(seed=1))
    (weights,) = (tmp_path / "model").glob("*.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="beside"):
        CorefModel.load(tmp_path / "model", planted.vectors())
    weights.unlink()
    with pytest.raises(InputError, match="the model is damaged"):
        CorefModel.load(tmp_path / "model", planted.vectors())
    with pytest.raises(InputError, match="cannot be read"):
        CorefModel.load(tmp_path, planted.vectors())
    (tmp_path / "model.json").write_text("[]")
    with pytest.raises(InputError, match="coreference"):
        CorefModel.load(tmp_path, planted.vectors())


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ({"settings": {"lstm_size": 10**9}}, "the weights do not fit"),  # would take all memory there is
        ({"settings": {"hidden_layers": 10**9}}, "the weights do not fit"),
        ({"settings": {"hidden_layers": "2"}}, "hidden_layers"),
        ({"letters": 5}, "letters and genres must be text"),
        ({"letters": ["ab"]}, "letters and genres must be text"),
        ({"genres": [[]]}, "letters and genres must be text"),
        ({"vectors": []}, "the model is damaged"),
        ({"log": 1}, "the model is damaged"),
        ({"weights": 1}, "the model is damaged"),
    ],
)
def test_what_it_says_of_itself_is_not_trusted(
    damage: dict[str, Any], sentence: str, learned: CorefModel, planted: Any, tmp_path: Path
) -> None:
    learned.save(tmp_path)
    content = json.loads((tmp_path / "model.json").read_text())
    changed = {**content, **damage}
    if "settings" in damage:
        changed["settings"] = {**content["settings"], **damage["settings"]}
    (tmp_path / "model.json").write_text(manifest_text(changed))
    with pytest.raises(InputError, match=sentence):
        CorefModel.load(tmp_path, planted.vectors())


def test_a_single_altered_sign_of_what_it_says_is_found(learned: CorefModel, planted: Any, tmp_path: Path) -> None:
    """Another letter in the alphabet moved the predictions, and nothing was said."""
    learned.save(tmp_path)
    text = (tmp_path / "model.json").read_text()
    (letters,) = re.findall(r'"letters": "([^"]*)"', text)
    (tmp_path / "model.json").write_text(text.replace(letters, letters[1:] + letters[:1]))
    with pytest.raises(InputError, match="checksum"):
        CorefModel.load(tmp_path, planted.vectors())


def test_weights_that_are_none_with_a_right_checksum(learned: CorefModel, planted: Any, tmp_path: Path) -> None:
    learned.save(tmp_path)
    (weights,) = tmp_path.glob("*.safetensors")
    content = json.loads((tmp_path / "model.json").read_text())
    for hostile in (b"", b"\xff" * 50, weights.read_bytes()[:-4]):
        weights.write_bytes(hostile)
        content["sha256"] = hashlib.sha256(hostile).hexdigest()
        (tmp_path / "model.json").write_text(manifest_text(content))
        with pytest.raises(InputError, match="the weights do not fit"):
            CorefModel.load(tmp_path, planted.vectors())


def test_documents_beside_it_do_not_matter(learned: CorefModel, planted: Any) -> None:
    empty = Document("empty", ())
    one_word = Document("short", (("she",),))
    strange = Document("strange", (("Ünknown", "wörds", "zzz"), ("!",)))
    documents = [empty, *planted.stories(5, 11), one_word, strange, empty, *planted.stories(3, 12)]
    together = learned.predict(documents)
    assert together == [learned.predict([one])[0] for one in documents]
    assert [one.words for one in together] == [one.words for one in documents]
    assert [together[at].clusters for at in (0, 6, 8)] == [(), (), ()]
    assert learned.predict([]) == []
    many = planted.stories(300, 13)
    assert learned.predict(many, n_jobs=1) == learned.predict(many, n_jobs=3)


def test_a_seed_decides_everything(planted: Any) -> None:
    settings = replace(planted.SMALL, epochs=2)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    models = [
        train_coref(planted.vectors(), planted.stories(8, 1), planted.stories(4, 2), settings, random_state=seed)
        for seed in (0, 0, 1)
    ]
    assert same_weights(models[0], models[1])
    assert not same_weights(models[0], models[2])
    assert torch.equal(torch.get_rng_state(), before)


def test_every_epoch_has_another_order(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def note(document: Document, most: int, random: np.random.Generator) -> Document:
        assert most == planted.SMALL.max_sentences
        assert isinstance(random, np.random.Generator)
        seen.append(document.name)
        return document

    monkeypatch.setattr(training_run, "_random_stretch", note)
    train_coref(planted.vectors(), planted.stories(8, 1), planted.stories(2, 2), replace(planted.SMALL, epochs=3))
    orders = [tuple(seen[start : start + 8]) for start in (0, 8, 16)]
    assert len(set(orders)) == 3
    assert len({frozenset(one) for one in orders}) == 1


class StopError(Exception):
    """A kill."""


def test_it_goes_on_where_it_stood(planted: Any, tmp_path: Path) -> None:
    settings = replace(planted.SMALL, epochs=4, max_sentences=1, plateau_patience=0)
    data = planted.vectors(), planted.stories(8, 1), planted.stories(4, 2)
    whole = train_coref(*data, settings)
    seen = []

    def stop(entry: dict[str, Any]) -> None:
        seen.append(entry["epoch"])
        if len(seen) in {1, 3}:
            raise StopError

    for _ in range(2):
        with pytest.raises(StopError):
            train_coref(*data, settings, folder=tmp_path / "run", progress=stop)
    resumed = train_coref(*data, settings, folder=tmp_path / "run", progress=stop)
    assert seen == [0, 1, 2, 3]
    assert resumed.log[1]["learning_rate"] > resumed.log[2]["learning_rate"]  # halved between two stops
    assert same_weights(resumed, whole)
    apart = [{name: value for name, value in entry.items() if name != "seconds"} for entry in whole.log]
    assert [{name: value for name, value in entry.items() if name != "seconds"} for entry in resumed.log] == apart
    finished = train_coref(*data, settings, folder=tmp_path / "run", progress=stop)
    assert same_weights(finished, whole)
    assert len(seen) == 4
    with pytest.raises(InputError, match="random_state"):
        train_coref(*data, settings, folder=tmp_path / "run", random_state=1)
    state = json.loads((tmp_path / "run" / "training.json").read_text())
    damages: tuple[dict[str, object], ...] = (
        {"plateau": {**state["plateau"], "patience": "many"}},
        {"plateau": []},
        {"log": [{}]},
        {"learning_rate": None},
        {"key": [1]},
    )
    for damage in damages:
        (tmp_path / "run" / "training.json").write_text(manifest_text({**state, **damage}))
        with pytest.raises(InputError, match="training"):
            train_coref(*data, settings, folder=tmp_path / "run")
    (tmp_path / "run" / "training.json").write_text("{")
    with pytest.raises(InputError, match="training"):
        train_coref(*data, settings, folder=tmp_path / "run")


def test_time_patience_and_the_learning_rate(planted: Any) -> None:
    data = planted.vectors(), planted.stories(6, 1), planted.stories(3, 2)
    rushed = train_coref(*data, planted.SMALL, minutes=0)
    assert [entry["whole"] for entry in rushed.log] == [False]
    assert rushed.predict(planted.stories(1, 3))
    # a learning rate so small that nothing is ever better than the first epoch
    idle = replace(planted.SMALL, epochs=20, patience=4, learning_rate=1e-7)
    log = train_coref(*data, idle).log
    assert [entry["dev_f1"] for entry in log] == [log[0]["dev_f1"]] * 5
    # halved after the third epoch without a better F1, which is the fourth epoch
    assert [entry["learning_rate"] for entry in log] == [1e-7] * 4 + [0.5e-7]


def test_files_and_their_problems(planted: Any, tmp_path: Path) -> None:
    named = [replace(one, name=f"d{at}") for at, one in enumerate(planted.stories(6, 1))]
    write_conll(named[:4], tmp_path / "train.conll")
    write_conll(named[4:], tmp_path / "dev.conll")
    settings = replace(planted.SMALL, epochs=1)
    model = train_coref(planted.vectors(), [tmp_path / "train.conll"], tmp_path / "dev.conll", settings)
    assert same_weights(model, train_coref(planted.vectors(), named[:4], named[4:], settings))
    assert model.record["documents"] == {"training": 4, "dev": 2}
    assert model.record["coverage"]["found_tokens"] == 48
    assert json.loads(json.dumps(model.record)) == json.loads(json.dumps(model.record | {}))


def test_what_cannot_be_trained_on(planted: Any) -> None:
    good = planted.stories(3, 1)
    bare = [one.with_clusters([]) for one in good]
    alone = [one.with_clusters([[(7, 7)]]) for one in good]
    for train, dev, what in ((bare, good, "3 training"), (good, alone, "3 dev"), ([], good, "0 training")):
        with pytest.raises(ParameterError, match=f"None of the {what} documents mentions anything twice"):
            train_coref(planted.vectors(), train, dev, planted.SMALL)
    foreign = Embedding(("hund", "katze"), np.eye(2, dtype=np.float32), name="german")
    with pytest.raises(ParameterError, match="'german'"):
        train_coref(foreign, good, good, planted.SMALL)
    with pytest.raises(ParameterError, match="'abacus'"):
        train_coref(planted.vectors(), good, good, planted.SMALL, device="abacus")
    with pytest.raises(InputError, match="learning_rate"):
        train_coref(planted.vectors(), planted.stories(20, 1), good, replace(planted.SMALL, learning_rate=1e30))
    # documents without clusters, or too short for a mention, are no reason to stop
    mixed = [*good, bare[0], Document("tiny", (("she",),)), Document("empty", ())]
    assert train_coref(planted.vectors(), mixed, mixed, replace(planted.SMALL, epochs=1)).log[0]["whole"]


def test_without_pytorch_one_sentence_says_how_to_get_it(
    planted: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(classification, "find_spec", lambda _: None)
    with pytest.raises(InputError, match="PyTorch"):
        train_coref(planted.vectors(), planted.stories(3, 1), planted.stories(3, 1))
    with pytest.raises(InputError, match="PyTorch"):
        CorefModel.load(tmp_path, planted.vectors())


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("dropout", 1.0, "at least 0 and below 1"),
        ("epochs", 0, "a whole number of at least 1"),
        ("plateau_patience", -1, "a whole number of at least 0"),
        ("spans_per_word", 0.0, "a number above 0"),
    ],
)
def test_settings_that_cannot_be(name: str, value: float, allowed: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter must be {allowed}"):
        CorefSettings(**{name: value})  # type: ignore[arg-type]
