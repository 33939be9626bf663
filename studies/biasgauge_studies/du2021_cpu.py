"""Replicates of algorithms that no GPU kernel trains, such as CBOW, and what a run on a GPU keeps of their scores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import biasgauge as bg
from biasgauge_studies.du2021_features import MODELS, features
from biasgauge_studies.du2021_scorers import scores_on_cpu
from biasgauge_studies.du2021_tally import Tally, write_block
from biasgauge_studies.du2021_texts import MIN_COUNT, WORD2VEC, Text


def train_on_cpu(
    out: Path,
    inputs: Mapping[str, Path],
    *,
    algorithm: str = "cbow",
    texts: Sequence[str] = ("novels",),
    seeds: int = 8,
    dim: int = 300,
) -> None:
    """Train replicates by this package, score all words, and write blocks as du2021_gpu.py does."""
    log: dict[str, dict[str, object]] = {"blocks": {}}
    for name in texts:
        text = Text.read(inputs["texts"] / "carry" / f"{name}.npz")
        words = (inputs["texts"] / f"{name}.words.txt").read_text(encoding="utf-8").split("\n")
        corpus = bg.text.open_corpus(inputs["texts"] / "corpora" / name)
        with TemporaryDirectory(dir=out) as folder:
            settings: dict[str, Any] = {**WORD2VEC, "dim": dim, "min_count": MIN_COUNT}
            models = bg.train(corpus, out=folder, algorithm=algorithm, seeds=range(1, seeds + 1), **settings)
            tally = Tally(text, seeds)
            first: list[np.ndarray] = []
            checksums = []
            for number, model in enumerate(models.load()):
                vectors = np.stack([model[word] for word in words]).astype(np.float32)
                checksums.append(hashlib.sha256(vectors.tobytes()).hexdigest())
                first += [vectors] if len(first) < MODELS else []
                tally.add(number, scores_on_cpu(vectors, text.more["first"], text.more["second"]))
            losses = [list(model.losses) for model in models.models]
        block = f"{algorithm}_{name}"
        write_block(out, block, features(first) | tally.arrays(whole=True))
        log["blocks"][block] = {
            "algorithm": algorithm, "dim": dim, "subwords": "", "text": name, "settings": WORD2VEC,
            "sha256": checksums, "losses": losses, "words": text.size, "tokens": int(text.counts.sum()),
            "pairs": text.more["pair_numbers"].tolist(),
        }  # fmt: skip
        (out / "log.json").write_text(json.dumps(log, indent=1))
