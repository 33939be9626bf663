"""CrowS-Pairs and StereoSet on SmolLM2-135M: numbers with their intervals, and scores by id so that a run goes on.

    python scripts/study_likelihood_smollm2.py MODEL.gguf SHARED_DATA OUT [--threads 1] [--part crows|stereoset]

Writes numbers and ids alone, never a sentence. On one core of a busy machine it takes most of an hour; finished parts
are kept in OUT and not repeated.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

import biasgauge as bg
from biasgauge.analyses.likelihood import read_clusters, score_clusters
from biasgauge.io.atomic import write_text

MEASURES = ["causal-sum", "causal-mean", "causal-word"]
STARTS = {"document": "<|endoftext|>", "speaker": "<|im_start|>"}


def main() -> None:
    """Score what is not scored yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--part", choices=["crows", "stereoset", "all"], default="all")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    asked.out.mkdir(parents=True, exist_ok=True)
    if asked.part != "stereoset":
        for name, token in STARTS.items():
            crows(asked, name, token)
    if asked.part != "crows":
        for measure in MEASURES[:2]:
            stereoset(asked, measure)


def crows(asked: argparse.Namespace, name: str, token: str) -> None:
    """All 1,508 pairs with one start token."""
    place = asked.out / f"crows_{name}.json"
    if place.exists():
        return
    model = bg.analyses.likelihood.language_model(asked.model, start=token)
    data = asked.data / "crows_pairs" / "crows_pairs_anonymized.csv"
    result = bg.analyses.likelihood.crows_pairs(data, model=model, measures=MEASURES, progress=told(f"CrowS, {name}"))
    result.scores_frame().to_csv(asked.out / f"crows_{name}_scores.csv", index=False)
    write_text(place, json.dumps(result.to_dict(), indent=1))
    print(result, flush=True)


def stereoset(asked: argparse.Namespace, measure: str) -> None:
    """Both splits, by one measure."""
    place = asked.out / f"stereoset_{measure}.json"
    if place.exists():
        return
    data = asked.data / "stereoset" / "dev.json.xz"
    clusters = read_clusters(data)
    global _model  # noqa: PLW0603 - both measures ask for the same probabilities, which the model remembers
    _model = _model or bg.analyses.likelihood.language_model(asked.model)
    scored = score_clusters(_model, clusters, measure, told(f"StereoSet, {measure}"))
    ids = [sentence for cluster in clusters for sentence in cluster.sentences]
    scores = scored.tables[measure][0, :, 0].tolist()
    result = bg.analyses.likelihood.stereoset(data, dict(zip(ids, scores, strict=True)))
    write_text(place, json.dumps(result.to_dict(), indent=1))
    print(result, flush=True)


_model: bg.analyses.likelihood.LanguageModel | None = None


def told(what: str) -> Callable[[int, int], None]:
    """Progress on stderr."""
    begun = time.monotonic()

    def tell(done: int, total: int) -> None:
        print(f"{what}: {done:,} of {total:,}, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)

    return tell


if __name__ == "__main__":
    main()
