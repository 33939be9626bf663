"""`train` removes nothing that is not its own; two of them in one folder take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.errors import InputError
from biasgauge.scores import score
from biasgauge.text import TokenCorpus, read_corpus
from biasgauge.text.training import train
from biasgauge.vectors import load, save

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL: dict[str, Any] = {"dim": 8, "epochs": 1, "min_count": 1, "n_jobs": 1}
DRIVER = """
import json, sys
from biasgauge.text import open_corpus
from biasgauge.text.training import train
train(open_corpus(sys.argv[1]), out=sys.argv[2], **json.loads(sys.argv[3]))
"""


@pytest.fixture
def corpus(tmp_path: Path) -> TokenCorpus:
    (tmp_path / "text.txt").write_text("the cat sat on the mat\nthe dog ran to the log\n" * 200, encoding="utf-8")
    return read_corpus(tmp_path / "text.txt", out=tmp_path / "corpus")


@pytest.mark.parametrize("algorithm", ["sgns", "glove"])
def test_what_is_in_the_folder_stays(algorithm: str, corpus: TokenCorpus, tmp_path: Path) -> None:
    out = tmp_path / "models"
    mine = {
        ".shared/thesis.txt": "mine",
        ".notes.part": "mine",
        ".download.bin.part": "mine",
        ".biasgauge-notes/thesis.txt": "mine",
        ".biasgauge-counts-mine/thesis.txt": "mine",
        "readme": "mine",
    }
    for name, text in mine.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    train(corpus, out=out, algorithm=algorithm, seeds=2, **SMALL)
    train(corpus, out=out, algorithm=algorithm, seeds=3, **SMALL)
    hidden = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert {name: (out / name).read_text() for name in mine} == mine
    assert len(hidden - set(mine)) == 6
    assert all(name.endswith((".json", ".safetensors")) for name in hidden - set(mine))


def test_a_trained_model_is_what_its_recipe_says(corpus: TokenCorpus, tmp_path: Path) -> None:
    """Vectors were compared with their checksum when they were trained again, and never when they were used."""
    (model,) = train(corpus, out=tmp_path / "models", algorithm="sgns", seeds=1, **SMALL).models
    beside = model.path.with_suffix(".json")
    vectors, recipe = model.path.read_bytes(), beside.read_text()
    uses: tuple[Callable[[], object], ...] = (
        lambda: load(model.path),
        model.load,
        lambda: score(str(model.path), pairs=[("cat", "dog")], words=["mat", "log"], measures="dbwa"),
    )
    model.path.write_bytes(vectors[:-3] + bytes([vectors[-3] ^ 0x40]) + vectors[-2:])
    for use in uses:
        with pytest.raises(InputError, match="checksum"):
            use()
    model.path.write_bytes(vectors)
    beside.write_text(recipe.replace('"window": 5', '"window": 6'))
    for use in uses:
        with pytest.raises(InputError, match="checksum"):
            use()
    beside.write_text(recipe)
    for use in uses:
        use()
    # another format of the same model, and vectors that somebody has changed and says so
    text = save(load(model.path), model.path.with_suffix(".txt"))
    assert load(text).lineage == load(model.path).lineage
    beside.unlink()
    model.path.write_bytes(vectors[:-3] + bytes([vectors[-3] ^ 0x40]) + vectors[-2:])
    load(model.path)


KILLED = """
import os, signal, sys
from biasgauge.text import open_corpus
from biasgauge.text.training import sweep, train
sweep.write_model = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
train(open_corpus(sys.argv[1]), out=sys.argv[2], algorithm="glove", seeds=2, dim=8, epochs=1, min_count=1, n_jobs=1)
"""


@pytest.mark.crash
def test_what_was_counted_before_a_kill_is_not_counted_again(
    corpus: TokenCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "models"
    assert subprocess.run([sys.executable, "-c", KILLED, str(corpus.path), str(out)], check=False).returncode < 0
    (counts,) = out.glob(".biasgauge-counts-*")
    # a folder of an earlier run with other settings, which nobody will ask for again
    counts.with_name(".biasgauge-counts-0123456789abcdef").mkdir()

    def counted(*_: object, **__: object) -> None:
        raise AssertionError("counted again")

    train(corpus, out=tmp_path / "whole", algorithm="glove", seeds=2, **SMALL)
    monkeypatch.setattr("biasgauge.text.training.glove.count_cooccurrences", counted)
    train(corpus, out=out, algorithm="glove", seeds=2, **SMALL)
    vectors = [
        {path.name: path.read_bytes() for path in folder.glob("*.safetensors")} for folder in (out, tmp_path / "whole")
    ]
    assert vectors[0] == vectors[1]
    assert not [path.name for path in out.iterdir() if path.name.startswith(".")]


@pytest.mark.crash
def test_two_in_one_folder(corpus: TokenCorpus, tmp_path: Path) -> None:
    out, alone = tmp_path / "both", tmp_path / "alone"
    asked = [{**SMALL, "algorithm": "glove", "seeds": 4}, {**SMALL, "algorithm": "glove", "seeds": 4, "window": 3}]
    asked.append(asked[0])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(corpus.path), str(out), json.dumps(settings)],
            env={**os.environ, "NUMBA_NUM_THREADS": "1"},
        )
        for settings in asked
    ]
    assert [process.wait(600) for process in processes] == [0, 0, 0]
    for settings in asked[:2]:
        train(corpus, out=alone, **settings)
    vectors = [
        {path.name: path.read_bytes() for path in sorted(folder.glob("*.safetensors"))} for folder in (out, alone)
    ]
    assert vectors[0] == vectors[1]
    assert len(vectors[0]) == 8
    assert sorted(path.name for path in out.iterdir() if path.name.startswith(".")) == []
