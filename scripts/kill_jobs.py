"""The jobs that `scripts/kill_test.py` and `scripts/fault_test.py` disturb: small ones, each of which writes."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = "the man met a doctor and he left\nthe woman met a nurse and she stayed\nthe cat sat on the mat\n" * 40
WORDS = tuple(f"w{number}" for number in range(60))
TEST = """
name = "own"
kind = "test"
x = { name = "x", words = ["w0", "w1", "w2", "w3"] }
y = { name = "y", words = ["w4", "w5", "w6", "w7"] }
a = { name = "a", words = ["w8", "w9", "w10", "w11"] }
b = { name = "b", words = ["w12", "w13", "w14", "w15"] }
"""
PAIRS = """
name = "own-pairs"
kind = "pairs"
pairs = [["w0", "w1"], ["w2", "w3"], ["w4", "w5"]]
"""
STUDY = """
[study]
name = "small"
[corpora.text]
path = "text.txt"
[models.sgns]
algorithm = "sgns"
seeds = 2
dim = 8
epochs = 1
min_count = 1
[vectors.given]
path = ["m0.safetensors", "m1.safetensors"]
[scores.some]
of = ["given"]
pairs = "pairs.toml"
words = ["w20", "w21", "w22"]
measures = ["dbwa"]
[analyses.one]
kind = "weat"
of = ["given"]
settings = { test = "test.toml" }
"""


def prepare(folder: Path) -> None:
    """What jobs read."""
    import numpy as np

    from biasgauge.vectors import Embedding, save

    (folder / "text.txt").write_text(TEXT, encoding="utf-8")
    for name, text in (("test.toml", TEST), ("pairs.toml", PAIRS), ("study.toml", STUDY)):
        (folder / name).write_text(text, encoding="utf-8")
    for seed in range(3):
        vectors = np.random.default_rng(seed).normal(size=(len(WORDS), 8)).astype(np.float32)
        save(Embedding(WORDS, vectors), folder / f"m{seed}.safetensors")
    random = np.random.default_rng(3)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(60)]
    lines = [f"{' '.join(random.choice(words, 8))} {('he', 'she')[number % 2]}" for number in range(1500)]
    (folder / "planted.txt").write_text("\n".join(lines), encoding="utf-8")


def corpus(given: Path, out: Path) -> None:
    """Tokenize a text."""
    from biasgauge.text import read_corpus

    read_corpus(given / "text.txt", out=out / "corpus")


def documents(given: Path, out: Path) -> None:  # noqa: ARG001 - the records are in memory
    """Tokenize a table of documents with covariates."""
    from biasgauge.text import read_documents

    records = [{"text": f"{WORDS[number % 8]} {WORDS[number % 5]}", "x": number} for number in range(400)]
    read_documents(records, ["x"], out=out / "documents")


def train(given: Path, out: Path) -> None:
    """Train four models, two of them on shared counts."""
    from biasgauge.text.training import train

    small: dict[str, Any] = {"dim": 8, "epochs": 1, "min_count": 1, "n_jobs": 1, "seeds": 2}
    train(given / "text.txt", out=out / "models", algorithm=["sgns", "glove"], **small)


def score(given: Path, out: Path) -> None:
    """Score three models into one store."""
    from biasgauge.scores import score

    models = [given / f"m{seed}.safetensors" for seed in range(3)]
    score(models, pairs=[("w0", "w1"), ("w2", "w3")], words=list(WORDS[5:]), k=3, n_jobs=1, store=out / "store")


def study_processes(given: Path, out: Path) -> None:
    """Run a study of several cells on two processes."""
    _study(given, out, workers=2)


def study_dask(given: Path, out: Path) -> None:
    """The same on Dask."""
    _study(given, out, workers=2, scheduler="local")


def study_here(given: Path, out: Path) -> None:
    """The same in this process."""
    _study(given, out, workers=0)


def _study(given: Path, out: Path, **how: Any) -> None:  # noqa: ANN401 - those of run_study
    from biasgauge.errors import InputError
    from biasgauge.study import run_study

    done = run_study(given / "study.toml", out=out / "study", **how)
    if done.failures:
        told = InputError if all(failure.transient for failure in done.failures) else RuntimeError
        raise told(done.failures[0].error)


def balance(given: Path, out: Path) -> None:
    """Balance a text, plain and compressed."""
    from biasgauge.mitigation import balance

    sets = {"x": ["doctor"], "y": ["nurse"], "a": ["man", "he"], "b": ["woman", "she"]}
    for name in ("balanced.txt", "balanced.txt.gz", "balanced.txt.zst"):
        balance(given / "text.txt", sets, out=out / name, degree="max", max_removed=1.0)


def mitigate(given: Path, out: Path) -> None:
    """Debias vectors, in three formats."""
    from biasgauge.mitigation import mitigate_to_file

    for name in ("hard.safetensors", "hard.bin", "hard.txt.gz"):
        mitigate_to_file(given / "m0.safetensors", out=out / name, lexicon=given / "pairs.toml", equalize=None)


def encode(given: Path, out: Path) -> None:
    """Encode words with a tiny model made on the spot."""
    from biasgauge.vectors.encoders import encode_to_folder

    encode_to_folder(given / "bert", ["he", "she", "nurse", "man"], out / "views", ["{}", "this is {}"])


def prepare_model(folder: Path) -> None:
    """A transformer of one layer."""
    import torch
    from tests.encoders.conftest import small_bert, wordpieces

    torch.set_num_threads(1)
    if not (folder / "bert").is_dir():
        small_bert().save_pretrained(folder / "bert")
        wordpieces().save_pretrained(folder / "bert")


def calibrate(given: Path, out: Path) -> None:
    """Plant known bias in a text and train on it."""
    from biasgauge import calibrate

    calibrate(
        given / "planted.txt", {"dim": 4, "epochs": 1, "min_count": 1}, pairs=[("he", "she")], doses=[-1.5, 0.0, 1.5],
        per_dose=6, blanks=12, plantings=2, seeds=1, shuffled=1, others=0, measures=["dbwa"], tests=["weat"],
        sizes=[4], out=out / "work", n_jobs=1,
    ).save(out / "calibration.json")  # fmt: skip


def audit(given: Path, out: Path) -> None:
    """Write the page of an audit and what lies beside it."""
    from biasgauge.cli.entry import run
    from biasgauge.errors import InputError

    models = [str(given / f"m{seed}.safetensors") for seed in range(2)]
    typed = ["--lexicon", str(given / "test.toml"), "--out", str(out / "page"), "--force", "--quiet"]
    with redirect_stdout(sys.stderr):
        code = run(["audit", *models, *typed])
    if code:
        raise (InputError if code == 2 else RuntimeError)(f"the audit ended with {code}")


def vectors(given: Path, out: Path) -> None:
    """Write vectors in other formats."""
    from biasgauge.vectors import load, save

    for name in ("copy.bin", "copy.txt", "copy.safetensors", "copy.bin.gz"):
        save(load(given / "m0.safetensors"), out / name)


def result(given: Path, out: Path) -> None:
    """Write a result as a page, with its JSON and its table."""
    from biasgauge import weat

    sets: dict[str, Any] = {name: list(WORDS[4 * place : 4 * place + 4]) for place, name in enumerate("xyab")}
    done = weat(given / "m0.safetensors", **sets)
    for name in ("weat.html", "weat.md", "weat.tex"):
        done.save(out / name)


JOBS: dict[str, Callable[[Path, Path], None]] = {
    "corpus": corpus,
    "documents": documents,
    "train": train,
    "score": score,
    "study-here": study_here,
    "study-processes": study_processes,
    "study-dask": study_dask,
    "balance": balance,
    "mitigate": mitigate,
    "encode": encode,
    "calibrate": calibrate,
    "audit": audit,
    "vectors": vectors,
    "result": result,
}
MANY_PROCESSES = frozenset({"study-processes", "study-dask"})
