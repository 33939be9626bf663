"""`train_coref`: a coreference model on frozen vectors."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.applications.coref.conll import Problems, read_conll
from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.features import Features, coverage
from biasgauge.applications.coref.metrics import all_sums, conll_rates
from biasgauge.applications.coref.model import CorefModel
from biasgauge.applications.coref.settings import CorefSettings
from biasgauge.applications.text.classification import need_torch
from biasgauge.embeddings import Embedding, load
from biasgauge.errors import InputError, ParameterError
from biasgauge.inputs import VectorsLike
from biasgauge.scores.engine import device_named

if TYPE_CHECKING:
    import torch

    Given = str | os.PathLike[str] | Document | Iterable[str | os.PathLike[str] | Document]


def train_coref(
    vectors: VectorsLike,
    train_files: Given,
    dev_files: Given,
    settings: CorefSettings | None = None,
    *,
    device: str = "cpu",
    random_state: int = 0,
    minutes: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    problems: Problems = "error",
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> CorefModel:
    """Train the span-ranking model of Lee et al. 2017; give the model of the epoch with the best dev CoNLL F1.

    What is mentioned once is left out of the training and the dev documents: nothing refers to it. On the CPU the same
    seed gives the same model, on one thread; a GPU sums in no fixed order.

    Args:
        vectors: a path, or anything `load` takes; they stay as they are.
        train_files: CoNLL files, folders or tar archives, or documents.
        dev_files: the same, to choose the epoch by.
        settings: sizes and how to train.
        device: "cpu", "cuda", "cuda:1".
        random_state: seed of weights, dropout, order and cuts.
        minutes: stop after so long, at the end of the last whole epoch; if there is none, of what was seen.
        folder: keep the best model and where training stands here after each epoch, and go on from there.
        problems: as in `read_conll`.
        progress: called with each epoch's entry of the log.

    Raises:
        CorpusError: a file is not what it should be.
        InputError: PyTorch is not installed, the folder belongs to another training, or the loss is no longer a number.
        ParameterError: no document has a cluster, the vectors have none of the words, or an argument cannot be used.
    """
    need_torch()
    where = device_named("torch" if device == "cpu" else device)
    chosen = settings or CorefSettings()
    train = _documents(train_files, problems, "training")
    dev = _documents(dev_files, problems, "dev")
    embedding = vectors if isinstance(vectors, Embedding) else load(vectors)
    features = Features.of(embedding, chosen, train)
    about = {
        "coverage": coverage(features, train, "training").to_dict(),
        "documents": {"training": len(train), "dev": len(dev)},
        "random_state": random_state,
    }
    key = {
        "settings": asdict(chosen),
        "random_state": random_state,
        "vectors": embedding.checksum,
        "documents": documents_digest([*train, *dev]),
    }
    import torch

    from biasgauge.applications.text.cnn_training import fixed_threads

    with torch.random.fork_rng(devices=[where] if where.type == "cuda" else []), fixed_threads():
        run = _Run(features, train, dev, where, random_state, minutes)
        run.keep_in(None if folder is None else Path(folder), key, about)
        return run.train(progress)


class _Run:
    """One training, epoch by epoch."""

    def __init__(
        self,
        features: Features,
        train: list[Document],
        dev: list[Document],
        where: torch.device,
        random_state: int,
        minutes: float | None,
    ) -> None:
        import torch

        from biasgauge.applications.coref.network import SpanRanker

        settings = features.settings
        self.settings, self.features, self.dev, self.training = settings, features, dev, train
        self.random_state = random_state
        self.deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
        torch.manual_seed(random_state)
        self.network = SpanRanker(settings, features.vectors.dim, features.alphabet, len(features.genres)).to(where)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
            self.optimizer, mode="max", factor=settings.plateau, patience=settings.plateau_patience
        )
        self.log: list[dict[str, Any]] = []
        self.best: dict[str, torch.Tensor] = {}
        self.folder: Path | None = None

    def keep_in(self, folder: Path | None, key: dict[str, Any], about: dict[str, Any]) -> None:
        """Write to a folder after each epoch; first go on from what it holds."""
        from biasgauge.applications.coref.checkpoint import read_state

        self.folder, self.key, self.about = folder, key, about
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        state = read_state(folder, self.network, self.optimizer, key)
        if state is not None:
            self.log = state["log"]
            self.plateau.load_state_dict(state["plateau"])
            best = CorefModel.load(folder, self.features.vectors)
            self.best = best.network.state_dict()

    def train(self, progress: Callable[[dict[str, Any]], None] | None) -> CorefModel:
        """Epochs until the settings or the time say stop."""
        while not self._finished():
            start = time.monotonic()
            loss, whole = self._epoch(len(self.log))
            if not whole and self.log:
                break
            entry = {"epoch": len(self.log), "loss": loss, "whole": whole, **self._dev_rates()}
            entry["learning_rate"] = self.optimizer.param_groups[0]["lr"]
            entry["seconds"] = round(time.monotonic() - start, 2)
            better = all(entry["dev_f1"] > one["dev_f1"] for one in self.log)
            self.log.append(entry)
            self.plateau.step(entry["dev_f1"])
            if better:
                self.best = {name: one.detach().clone() for name, one in self.network.state_dict().items()}
            self._keep(better=better)
            if progress is not None:
                progress(entry)
            if not whole:
                break
        self.network.load_state_dict(self.best)
        return self._model()

    def _finished(self) -> bool:
        """Out of epochs, of patience, or of time: an epoch that would not end in time is not begun."""
        if not self.log:
            return False
        rates = [one["dev_f1"] for one in self.log]
        since = len(rates) - 1 - rates.index(max(rates))
        late = time.monotonic() + self.log[-1]["seconds"] > self.deadline
        return late or len(rates) >= self.settings.epochs or since >= self.settings.patience

    def _epoch(self, number: int) -> tuple[float, bool]:
        """One pass over the training documents: mean loss, and whether it came to its end."""
        import torch

        from biasgauge.applications.coref.network import antecedent_loss

        random = np.random.default_rng([self.random_state, number])
        torch.manual_seed(int(random.integers(2**62)))
        self.network.train()
        losses = []
        for place in random.permutation(len(self.training)).tolist():
            arrays = self.features.arrays([_cut(self.training[place], self.settings.max_sentences, random)])
            loss = antecedent_loss(self.network(arrays))
            losses.append(loss.detach())
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
            self.optimizer.step()
            if time.monotonic() > self.deadline:
                break
        mean = float(torch.stack(losses).mean())
        if not math.isfinite(mean):
            raise InputError(f"The loss of epoch {number} is {mean}; try a smaller learning_rate.")
        return mean, len(losses) == len(self.training)

    def _dev_rates(self) -> dict[str, float]:
        found = self._model().predict(self.dev)
        sums = all_sums([one.clusters for one in self.dev], [one.clusters for one in found]).sum(axis=0)
        rates = np.nan_to_num(conll_rates(sums)).tolist()
        return dict(zip(("dev_precision", "dev_recall", "dev_f1"), rates, strict=True))

    def _model(self) -> CorefModel:
        return CorefModel(self.features, self.network, self.log, self.about)

    def _keep(self, *, better: bool) -> None:
        if self.folder is None:
            return
        from biasgauge.applications.coref.checkpoint import write_state

        if better:
            self._model().save(self.folder)
        state = {
            "epoch": len(self.log),
            "log": self.log,
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            "plateau": self.plateau.state_dict(),
        }
        write_state(self.folder, self.network, self.optimizer, state, self.key)


def _cut(document: Document, most: int, random: np.random.Generator) -> Document:
    """At most so many sentences, from a random one on."""
    spare = len(document.sentences) - most
    return document if spare <= 0 else document.sentences_from(int(random.integers(spare + 1)), most)


def _documents(given: Given, problems: Problems, what: str) -> list[Document]:
    """Documents with at least one word, without what is mentioned once."""
    each = [given] if isinstance(given, (str, os.PathLike, Document)) else list(given)
    found = []
    for one in each:
        found += [one] if isinstance(one, Document) else read_conll(one, problems=problems)
    kept = [document.without_singletons() for document in found if document.words]
    if not any(document.clusters for document in kept):
        raise ParameterError(
            f"None of the {len(found):,} {what} documents mentions anything twice; "
            "coreference needs documents with clusters."
        )
    return kept


def documents_digest(documents: list[Document]) -> str:
    """SHA-256 of everything that a model sees of documents."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(repr((document.sentences, document.clusters, document.speakers, document.genre)).encode())
    return digest.hexdigest()
