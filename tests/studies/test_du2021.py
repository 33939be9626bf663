"""What the study on a GPU makes without Numba is what the trainers make."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gpu_training import sigmoid_tables
from tests.training.emulated_gpu import needs_compiler

import biasgauge as bg
from biasgauge import registry
from biasgauge.lexicons import pairs_of
from biasgauge.scores.engine import ScoringTask, compute
from biasgauge.stats import mean_squares
from biasgauge.text.training.algorithms import algorithm
from biasgauge.text.training.glove import shuffled
from biasgauge.text.training.negative_sampling import TABLES
from biasgauge.text.training.sweep import TrainingText, training_text
from biasgauge_studies import du2021_tally, du2021_texts

if TYPE_CHECKING:
    from biasgauge.text import TokenCorpus

ROOT = Path(__file__).parents[2]
torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def corpus() -> TokenCorpus:
    """The pairs among made-up words, by Zipf's law; a few words too rare for the vocabulary."""
    random = np.random.default_rng(5)
    words = [f"{first}{second}{third}" for first in "bdfgklmnpr" for second in "aeiou" for third in "bdfgklmn"]
    words = [word for pair in pairs_of("du2021").pairs for word in pair] + words
    chances = 1 / (np.arange(len(words)) + 2.7)
    lines = [" ".join(random.choice(words, size, p=chances / chances.sum())) for size in random.integers(1, 40, 700)]
    return bg.text.read_corpus(iter([*lines, "seldom once", " ".join(words), " ".join(words)]))


def text_of(corpus: TokenCorpus, folder: Path) -> tuple[Any, TrainingText]:
    texts: Any = du2021_texts
    (folder / "carry").mkdir()
    texts.pack_text(bg.text.vocabulary(corpus, min_count=5), corpus, folder / "carry" / "novels.npz", "novels")
    return texts, training_text(corpus, min_count=5)


def test_tables_and_parts_are_those_of_the_trainer(corpus: TokenCorpus, tmp_path: Path) -> None:
    texts, text = text_of(corpus, tmp_path)
    trained = algorithm("fasttext")
    prepared: Any = trained.trainer.prepare(text, trained.settings_from({}), tmp_path)
    made = texts.Text.read(tmp_path / "carry" / "novels.npz").tables("ngrams")
    for name in ("keep", "negative_keep", "negative_other"):
        np.testing.assert_array_equal(made[name], getattr(prepared.read, name))
    np.testing.assert_array_equal(made["parts"], prepared.parts)
    np.testing.assert_array_equal(made["starts"], prepared.starts)
    np.testing.assert_array_equal(sigmoid_tables(), TABLES)


def test_cells_and_their_order_are_those_of_glove(corpus: TokenCorpus, tmp_path: Path) -> None:
    texts, text = text_of(corpus, tmp_path)
    trained = algorithm("glove")
    counts: Any = trained.trainer.prepare(text, trained.settings_from({}), tmp_path / "counts")
    cells = texts.count_cells(texts.Text.read(tmp_path / "carry" / "novels.npz"), "cpu").numpy()
    orders = texts.orders_on("cpu", len(cells), [1, 3])
    for place, seed in enumerate((1, 3)):
        visits = shuffled(counts, x_max=100.0, alpha=0.75, seed=seed, memory=2**31)
        order = orders[place].numpy()
        np.testing.assert_array_equal(cells[order], visits.view(np.int32).reshape(-1, 4))
    assert len(cells) > 40_000  # more than one pile


def test_mean_squares_are_those_of_the_package() -> None:
    scores = np.random.default_rng(0).normal(size=(7, 23, 5)) + np.arange(23)[:, None] / 9
    found = du2021_tally.mean_squares(scores.sum(axis=2), scores.sum(axis=1), (scores**2).sum(axis=(1, 2)))
    wanted = mean_squares(scores)
    for ours, theirs in zip(found, (wanted.ms_rows, wanted.ms_columns, wanted.ms_error), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@needs_compiler
@pytest.mark.slow
def test_a_small_study_by_emulation(corpus: TokenCorpus, tmp_path: Path) -> None:
    """All jobs, one after the other; checksums are those of the CPU loops, scores those of the engine."""
    _, text = text_of(corpus, tmp_path)
    run = [sys.executable, "-m", "biasgauge_studies.du2021_gpu", "run", str(tmp_path), "--out", str(tmp_path / "out")]
    small = ["--seeds", "2", "--slots", "2", "--texts", "novels", "--epochs", "2", "--dim", "24", "--emulate"]
    path = os.pathsep.join(str(ROOT / folder) for folder in ("src", "studies"))
    subprocess.run([*run, *small], check=True, env={**os.environ, "PYTHONPATH": path})
    log = json.loads((tmp_path / "out" / "log.json").read_text())
    assert not log["problems"]
    assert len(log["blocks"]) == 8
    for name in ("sgns", "glove", "fasttext"):
        entry = algorithm(name)
        settings = entry.settings_from({"dim": 24, "epochs": 2})
        shared = entry.trainer.prepare(text, settings, tmp_path / name)
        for seed in (1, 2):
            fit = entry.trainer.train(text, settings, seed=seed, shared=shared, threads=1, progress=None)
            digest = hashlib.sha256(np.ascontiguousarray(fit.vectors).tobytes()).hexdigest()
            assert digest == log["blocks"][f"{name}_novels"]["sha256"][seed - 1]
    with zipfile.ZipFile(tmp_path / "out" / "scores_0.zip") as archive:
        block = np.load(io.BytesIO(archive.read("fasttext_novels.npz")))
    carried = np.load(tmp_path / "carry" / "novels.npz")
    measures = [registry.get("measure", name) for name in ("dbwa", "ripa", "nbm")]
    scores = compute(ScoringTask(fit.vectors, block["rows"], carried["first"], carried["second"], measures, 100))
    np.testing.assert_array_equal(np.rint(scores[2] * 100), block["nbm"][..., 1])
    for place in (0, 1):
        scale = block["scale"][place]
        np.testing.assert_allclose(block["linear"][place, ..., 1] * scale, scores[place], atol=0.51 * scale)
