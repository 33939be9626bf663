"""Coreference as a downstream task: a model for each seed, judged on held-out documents and on WinoBias."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge.applications.coref.conll import ENDING, read_conll
from biasgauge.applications.coref.document import Document, held_out
from biasgauge.applications.coref.features import Features, coverage
from biasgauge.applications.coref.model import prediction_sums
from biasgauge.applications.coref.settings import CorefSettings
from biasgauge.applications.coref.task_summary import summarize
from biasgauge.applications.coref.training import documents_digest, train_coref
from biasgauge.applications.coref.winobias_pairs import is_winobias, paired_sums, read_winobias
from biasgauge.applications.tasks.result import TaskSummary
from biasgauge.applications.text.classification import need_torch
from biasgauge.applications.text.vectors import LITTLE
from biasgauge.core import JsonObject, VectorsLike
from biasgauge.results import share_text
from biasgauge.stats import Resampling
from biasgauge.vectors import load

TASK_SETTINGS = frozenset({field.name for field in fields(CorefSettings)} | {"device", "winobias"})
_PARTS = ("train", "dev", "test")


class CorefTask:
    """Coreference with documents and vectors read; further settings are those of `CorefSettings`.

    `data` is a folder with CoNLL files or tar archives of them, in subfolders train, dev and test or all together (then
    every tenth document is held out for dev, and every tenth for test), and with the files of WinoBias, unless
    `winobias` names their folder. On a GPU (`device`) the same seed gives about the same model.
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
        self.test = [document.without_singletons() for document in test]
        sentences = [sentence for both in self.pairs.values() for side in both for sentence in side]
        everything = [*self.train_on, *self.dev, *self.test, *sentences]
        self.sentences = documents_digest(sentences)
        words = {word for document in everything for word in document.words}
        self.vectors = load(vectors, words=words | {word.lower() for word in words})
        known = coverage(Features(self.vectors, self.chosen, "", ()), everything, "task's")
        self.vectors_name, self.vectors_checksum = self.vectors.name, self.vectors.checksum
        self.data_checksum, self.coverage = documents_digest(everything), known.to_dict()
        self.settings = {**asdict(self.chosen), "device": device}
        sizes = {"train": len(self.train_on), "dev": len(self.dev), "test": len(self.test)}
        self.recorded = {"documents": sizes, "winobias": {name: len(pro) for name, (pro, _) in self.pairs.items()}}
        odd = [(document.name, notice) for document in everything for notice in document.notices]
        notes = [f"{name}: {notice}" for name, notice in odd if "full stops" not in notice]
        share = known.found_tokens / known.asked_tokens
        if share < LITTLE:
            notes.append(
                f"only {share_text(share)} of the running words have a vector, so results say little about the vectors"
            )
        self.warnings = tuple(notes)

    def train(self, seed: int, progress: Callable[[int, int], None] | None = None) -> JsonObject:
        """Train with one seed; what test documents and sentences of WinoBias add to the sums of the metrics."""

        def told(entry: JsonObject) -> None:
            if progress is not None:
                progress(entry["epoch"] + 1, self.chosen.epochs)

        how: dict[str, Any] = {"device": self.device, "random_state": seed, "progress": told}
        model = train_coref(self.vectors, self.train_on, self.dev, self.chosen, **how)
        log = [{name: value for name, value in entry.items() if name != "seconds"} for entry in model.log]
        return {
            "test": prediction_sums(model, self.test).tolist(),
            "winobias": {name: paired_sums(model, both).tolist() for name, both in self.pairs.items()},
            "log": log,
        }

    def summarize(self, outcomes: dict[int, JsonObject], how: Resampling) -> TaskSummary:
        """Metrics and gaps over seeds."""
        test = np.array([outcome["test"] for outcome in outcomes.values()])
        pairs = {name: np.array([outcome["winobias"][name] for outcome in outcomes.values()]) for name in self.pairs}
        logs = {seed: outcome["log"] for seed, outcome in outcomes.items()}
        return summarize(test, pairs, logs, how, self.sentences)


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
