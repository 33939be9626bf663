"""Two processes that score into one store at the same time: every model is there, each with its own scores."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.errors import InputError
from biasgauge.io.json_file import manifest_text
from biasgauge.scores import ScoreStore, score
from biasgauge.vectors import Embedding, save

if TYPE_CHECKING:
    from pathlib import Path

WORDS = tuple(f"w{number}" for number in range(60))
ASKED: dict[str, Any] = {
    "pairs": [("w0", "w1"), ("w2", "w3")],
    "words": list(WORDS[5:]),
    "measures": ["dbwa", "ripa"],
    "n_jobs": 1,
}
ROUNDS = 25

# A writer stays alive over all rounds: rounds of two imports each would rarely meet.
WRITER = """
import json, sys
from biasgauge.scores import score
asked = json.loads(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    store, models = json.loads(line)
    score(models, store=store, **asked)
    print("done", flush=True)
"""


def models_in(folder: Path, count: int) -> list[str]:
    random = np.random.default_rng(1)
    paths = []
    for number in range(count):
        vectors = random.normal(size=(len(WORDS), 8)).astype(np.float32)
        paths.append(str(save(Embedding(WORDS, vectors), folder / f"m{number}.safetensors")))
    return paths


def test_no_model_is_lost_and_none_has_the_scores_of_another(tmp_path: Path) -> None:
    models = models_in(tmp_path, 6)
    expected = {path: score(path, **ASKED).values for path in models}
    asked = json.dumps(ASKED)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, asked], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for number in range(ROUNDS):
            store = tmp_path / f"store{number}"
            # the first three, the last three, and one that both score
            for writer, own in zip(writers, (models[:4], models[3:]), strict=True):
                assert writer.stdin is not None
                writer.stdin.write(json.dumps([str(store), own]) + "\n")
                writer.stdin.flush()
            for writer in writers:
                assert writer.stdout is not None
                assert writer.stdout.readline() == "done\n", f"round {number}"
            kept = ScoreStore.open(store)
            assert sorted(kept.models) == [f"m{place}" for place in range(6)], f"round {number}"
            for place, path in enumerate(models):
                kept.check(f"m{place}")
                assert np.array_equal(kept.read(model=[f"m{place}"]).values, expected[path]), f"round {number}"
            assert not [path.name for path in store.iterdir() if path.name.startswith(".")]
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
            assert writer.stdin is not None
            assert writer.stdout is not None
            writer.stdin.close()
            writer.stdout.close()


def test_a_store_that_was_opened_before_another_wrote_goes_on_from_there(tmp_path: Path) -> None:
    first, second, third = models_in(tmp_path, 3)
    store = tmp_path / "store"
    score(first, store=store, **ASKED)
    old, stale = ScoreStore.open(store), ScoreStore.open(store)
    score(second, store=store, **ASKED)
    other = tmp_path / "other"
    score(third, store=other, **ASKED)
    kept = ScoreStore.open(other)
    old.append("m2", kept.model_scores("m2"), kept.provenance["models"]["m2"])
    assert ScoreStore.open(store).models == ("m0", "m1", "m2")
    with pytest.raises(InputError, match="process"):
        stale.append("m1", kept.model_scores("m2"), {"checksum": "another"})
    assert ScoreStore.open(store).models == ("m0", "m1", "m2")


def test_altered_scores_are_not_used(tmp_path: Path) -> None:
    """One flipped bit in a number moved a reliability from .96 to .11, and nothing was said."""
    (model,) = models_in(tmp_path, 1)
    store = tmp_path / "store"
    score(model, store=store, **ASKED)
    path = next(store.glob("*.scores.npy"))
    sound = path.read_bytes()
    for place in (len(sound) - 1, len(sound) // 2, 130):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0x40]) + sound[place + 1 :])
        for use in (lambda: ScoreStore.open(store).read(), lambda: ScoreStore.open(store).model_scores("m0")):
            with pytest.raises(InputError, match="scores"):
                use()
    path.write_bytes(sound)
    ScoreStore.open(store).read()


def test_an_altered_list_of_words_is_not_used(tmp_path: Path) -> None:
    """Scores had checksums, and the words that they belong to had none."""
    (model,) = models_in(tmp_path, 1)
    store = tmp_path / "store"
    score(model, store=store, **ASKED)
    text = (store / "store.json").read_text()
    (store / "store.json").write_text(text.replace('"w40"', '"w4p"'))
    for use in (lambda: ScoreStore.open(store), lambda: score(model, store=store, **ASKED)):
        with pytest.raises(InputError, match="checksum"):
            use()


@pytest.mark.parametrize(
    "damage", [{"words": [[]] * 55}, {"measures": [{}, 1]}, {"pairs": [["w0", []], ["w2", "w3"]]}, {"words": None}]
)
def test_labels_that_are_no_text(damage: dict[str, Any], tmp_path: Path) -> None:
    (model,) = models_in(tmp_path, 1)
    store = tmp_path / "store"
    score(model, store=store, **ASKED)
    content = json.loads((store / "store.json").read_text())
    (store / "store.json").write_text(manifest_text({**content, **damage}))
    with pytest.raises(InputError, match="labels are missing"):
        ScoreStore.open(store).read()


def test_stores_of_earlier_versions_open(tmp_path: Path) -> None:
    """Numbered files with checksums, and without any; there, nothing but type and shape can be compared."""
    (model,) = models_in(tmp_path, 1)
    store = tmp_path / "store"
    expected = score(model, store=store, **ASKED).values
    for name in ("scores", "words", "pairs"):
        next(store.glob(f"*.{name}.npy")).rename(store / f"0.{name}.npy")
    assert np.array_equal(ScoreStore.open(store).read().values, expected)
    assert np.array_equal(score(model, store=store, **ASKED).values, expected)
    manifest = json.loads((store / "store.json").read_text())
    del manifest["own_sha256"]
    del manifest["models"]["m0"]["sha256"]
    (store / "store.json").write_text(json.dumps(manifest))
    assert np.array_equal(ScoreStore.open(store).read().values, expected)


def test_reasons_that_nobody_knows_and_names_that_lead_away(tmp_path: Path) -> None:
    (model,) = models_in(tmp_path, 1)
    store = tmp_path / "store"
    score(model, store=store, **ASKED)
    manifest = json.loads((store / "store.json").read_text())
    del manifest["own_sha256"]
    path = next(store.glob("*.words.npy"))
    content = bytearray(path.read_bytes())
    content[-1] = 200
    path.write_bytes(content)
    del manifest["models"]["m0"]["sha256"]
    for name in ("scores", "words", "pairs"):
        next(store.glob(f"*.{name}.npy")).rename(store / f"0.{name}.npy")
    (store / "store.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="version"):
        ScoreStore.open(store).read()
    manifest["models"]["m0"]["sha256"] = {"scores": "../../etc/passwd", "words": 1, "pairs": None}
    (store / "store.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="damaged"):
        ScoreStore.open(store).read()
