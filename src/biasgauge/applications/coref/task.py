"""Coreference as a downstream task: a model for each seed, judged on held-out documents and on WinoBias."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge.applications.coref.conll import read_conll
from biasgauge.applications.coref.conll_files import ENDING
from biasgauge.applications.coref.document import Document, held_out
from biasgauge.applications.coref.features import Features, WordCoverage, coverage
from biasgauge.applications.coref.metrics import all_sums
from biasgauge.applications.coref.settings import CorefSettings
from biasgauge.applications.coref.task_summary import summarize
from biasgauge.applications.coref.training import documents_digest, train_coref
from biasgauge.applications.coref.winobias_pairs import is_winobias, paired_sums, read_winobias
from biasgauge.applications.tasks.result import TaskSummary
from biasgauge.applications.text.classification import need_torch
from biasgauge.applications.text.vectors import LITTLE
from biasgauge.embeddings import load
from biasgauge.inputs import VectorsLike
from biasgauge.stats.bootstrap import Resampling

TASK_SETTINGS = frozenset({one.name for one in fields(CorefSettings)} | {"device", "winobias"})
_PARTS = ("train", "dev", "test")


class CorefTask:
    """Coreference with documents and vectors read.

    Args:
        data: a folder with CoNLL files or tar archives of them, in subfolders train, dev and test or all together (then
            every tenth document is held out for dev, and every tenth for test), and with the files of WinoBias.
        vectors: a path, or anything `load` takes; only words of the documents are read.
        winobias: folder of WinoBias, where it is not in `data`.
        device: "cpu", "cuda", "cuda:1"; on a GPU the same seed gives about the same model.
        settings: of `CorefSettings`.
    """

    def __init__(
        self,
        data: Path,
        vectors: VectorsLike,
        *,
        winobias: str | os.PathLike[str] | None = None,
        device: str = "cpu",
        **settings: Any,  # noqa: ANN401 - those of the model
    ) -> None:
        need_torch()
        self.chosen = CorefSettings(**settings)
        self.device = device
        self.pairs = read_winobias(data if winobias is None else winobias, ("test",))
        self.train_on, self.dev, test = _documents(data)
        self.test = [one.without_singletons() for one in test]
        sentences = [one for two in self.pairs.values() for side in two for one in side]
        everything = [*self.train_on, *self.dev, *self.test, *sentences]
        self.sentences = documents_digest(sentences)
        words = {word for one in everything for word in one.words}
        self.vectors = load(vectors, words=words | {word.lower() for word in words})
        features = Features(self.vectors, self.chosen, "", ())
        found = coverage(features, everything, "task's")
        self.vectors_name, self.vectors_checksum = self.vectors.name, self.vectors.checksum
        self.data_checksum = documents_digest(everything)
        self.coverage = found.to_dict()
        self.settings = {**asdict(self.chosen), "device": device}
        sizes = {"train": len(self.train_on), "dev": len(self.dev), "test": len(self.test)}
        self.recorded = {"documents": sizes, "winobias": {name: len(one) for name, (one, _) in self.pairs.items()}}
        notices = (
            f"{one.name}: {notice}" for one in everything for notice in one.notices if "full stops" not in notice
        )
        self.warnings = (*notices, *_about_coverage(found))

    def train(self, seed: int, progress: Callable[[int, int], None] | None = None) -> dict[str, Any]:
        """Train with one seed; what test documents and sentences of WinoBias add to the sums of the metrics."""

        def told(entry: dict[str, Any]) -> None:
            if progress is not None:
                progress(entry["epoch"] + 1, self.chosen.epochs)

        model = train_coref(
            self.vectors,
            self.train_on,
            self.dev,
            self.chosen,
            device=self.device,
            random_state=seed,
            progress=told,
        )
        found = model.predict(self.test)
        log = [{name: value for name, value in entry.items() if name != "seconds"} for entry in model.log]
        return {
            "test": all_sums([one.clusters for one in self.test], [one.clusters for one in found]).tolist(),
            "winobias": {name: paired_sums(model, both).tolist() for name, both in self.pairs.items()},
            "log": log,
        }

    def summarize(self, outcomes: dict[int, dict[str, Any]], how: Resampling) -> TaskSummary:
        """Metrics and gaps over seeds."""
        test = np.array([one["test"] for one in outcomes.values()])
        pairs = {name: np.array([one["winobias"][name] for one in outcomes.values()]) for name in self.pairs}
        logs = {seed: one["log"] for seed, one in outcomes.items()}
        return summarize(test, pairs, logs, how, self.sentences)


def _about_coverage(found: WordCoverage) -> list[str]:
    share = found.found_tokens / found.asked_tokens
    if share >= LITTLE:
        return []
    return [f"only {share:.0%} of the running words have a vector, so results say little about the vectors"]


def _documents(data: Path) -> tuple[list[Document], list[Document], list[Document]]:
    """Training, dev and test documents of a folder."""
    parts = [data / name for name in _PARTS]
    if parts[0].is_dir():
        train, dev, test = (read_conll(part, problems="mend") if part.is_dir() else None for part in parts)
        return held_out(train or [], dev, test)
    if not data.is_dir():
        return held_out(read_conll(data, problems="mend"))
    files = [
        path
        for path in sorted(data.rglob(f"*{ENDING}*"))
        if path.is_file() and not is_winobias(path) and (path.name.endswith(ENDING) or ".tar" in path.suffixes)
    ]
    return held_out(read_conll(files, problems="mend"))
