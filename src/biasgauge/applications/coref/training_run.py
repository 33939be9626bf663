"""One training of a coreference model, epoch by epoch, on PyTorch; kept on disk so that it goes on after a kill.

Weights and Adam's moments lie in one safetensors file, everything else in a JSON file that names it and is written
last. Every epoch draws its random numbers from its own seed, so nothing else has to be kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.features import Features
from biasgauge.applications.coref.model import CorefModel, prediction_sums, write_tensors
from biasgauge.applications.coref.network import SpanRanker, antecedent_loss
from biasgauge.applications.coref.scores import conll_rates
from biasgauge.core import JsonObject
from biasgauge.errors import InputError
from biasgauge.io import as_read_back, check_digest, make_folder, read_record

_MANIFEST = "training.json"
_DAMAGE = (InputError, ValueError, TypeError, KeyError, OSError, AttributeError, RuntimeError)
_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


class TrainingRun:
    """One training, epoch by epoch."""

    def __init__(
        self,
        features: Features,
        train: list[Document],
        dev: list[Document],
        device: torch.device,
        random_state: int,
        minutes: float | None,
    ) -> None:
        settings = features.settings
        self.settings, self.features, self.dev, self.training = settings, features, dev, train
        self.random_state = random_state
        self.deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
        torch.manual_seed(random_state)
        self.network = SpanRanker(settings, features.vectors.dim, features.alphabet, len(features.genres)).to(device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)
        self.plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
            self.optimizer, mode="max", factor=settings.plateau, patience=settings.plateau_patience
        )
        self.log: list[JsonObject] = []
        self.best: dict[str, torch.Tensor] = {}
        self.folder: Path | None = None

    def keep_in(self, folder: Path | None, key: JsonObject, record: JsonObject) -> None:
        """Write to a folder after each epoch; first go on from what it holds."""
        self.folder, self.record, self.key = folder, record, as_read_back(key)
        if folder is not None:
            make_folder(folder)
            if (folder / _MANIFEST).is_file():
                self._read_state(folder)

    def train(self, progress: Callable[[JsonObject], None] | None) -> CorefModel:
        """Epochs until the settings or the time say stop."""
        while not self._finished():
            start = time.monotonic()
            loss, complete = self._epoch(len(self.log))
            if not complete and self.log:
                break
            rates = np.nan_to_num(conll_rates(prediction_sums(self._model(), self.dev).sum(axis=0))).tolist()
            entry = {"epoch": len(self.log), "loss": loss, "whole": complete}
            entry |= dict(zip(("dev_precision", "dev_recall", "dev_f1"), rates, strict=True))
            entry["learning_rate"] = self.optimizer.param_groups[0]["lr"]
            entry["seconds"] = round(time.monotonic() - start, 2)
            better = all(entry["dev_f1"] > earlier["dev_f1"] for earlier in self.log)
            self.log.append(entry)
            self.plateau.step(entry["dev_f1"])
            if better:
                self.best = {name: weights.detach().clone() for name, weights in self.network.state_dict().items()}
            if self.folder is not None:
                if better:
                    self._model().save(self.folder)
                self._write_state(self.folder)
            if progress is not None:
                progress(entry)
            if not complete:
                break
        self.network.load_state_dict(self.best)
        return self._model()

    def _finished(self) -> bool:
        """Out of epochs, of patience, or of time: an epoch that would not end in time is not begun."""
        if not self.log:
            return False
        rates = [entry["dev_f1"] for entry in self.log]
        since = len(rates) - 1 - rates.index(max(rates))
        late = time.monotonic() + self.log[-1]["seconds"] > self.deadline
        return late or len(rates) >= self.settings.epochs or since >= self.settings.patience

    def _epoch(self, number: int) -> tuple[float, bool]:
        """One pass over the training documents: mean loss, and whether it came to its end."""
        random = np.random.default_rng([self.random_state, number])
        torch.manual_seed(int(random.integers(2**62)))
        self.network.train()
        losses = []
        for index in random.permutation(len(self.training)).tolist():
            arrays = self.features.arrays([_random_stretch(self.training[index], self.settings.max_sentences, random)])
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

    def _model(self) -> CorefModel:
        return CorefModel(self.features, self.network, self.log, self.record)

    def _write_state(self, folder: Path) -> None:
        tensors = {f"network.{name}": weights for name, weights in self.network.state_dict().items()}
        for number, state in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{number}.{name}": state[name] for name in _MOMENTS}
        content = {
            "key": self.key,
            "epoch": len(self.log),
            "log": self.log,
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            "plateau": self.plateau.state_dict(),
        }
        write_tensors(folder, "training", tensors, _MANIFEST, content)

    def _read_state(self, folder: Path) -> None:
        """Go on where the training in a folder stood, if it has the same data, vectors, settings and seed."""
        again = "empty the folder to train anew"
        try:
            content = read_record(folder / _MANIFEST, again=again)
            key = dict(content["key"])
            name = Path(str(content.get("training", content.get("tensors")))).name  # "tensors": of earlier versions
            if "sha256" in content:  # trainings begun by earlier versions have none
                check_digest(folder / name, content["sha256"], again=again)
            tensors = load_file(folder / name)
            if key == self.key:
                self._restore(content, tensors)
        except (*_DAMAGE, SafetensorError) as problem:
            raise InputError(f"{folder / _MANIFEST}: is damaged ({problem}); {again}") from problem
        if key != self.key:
            differing = ", ".join(sorted(name for name in self.key if key.get(name) != self.key[name]))
            raise InputError(
                f"{folder}: holds a training with other {differing}; name another folder or empty this one"
            )
        self.best = CorefModel.load(folder, self.features.vectors).network.state_dict()

    def _restore(self, content: JsonObject, tensors: dict[str, torch.Tensor]) -> None:
        """Set weights, moments, learning rate and log as they were."""
        plateau, log = dict(content["plateau"]), list(content["log"])
        kinds = [{name: type(value) for name, value in state.items()} for state in (plateau, self.plateau.state_dict())]
        if kinds[0] != kinds[1]:
            raise ValueError("the schedule of the learning rate is another")
        if not log or not all(math.isfinite(entry["dev_f1"]) and entry["seconds"] >= 0 for entry in log):
            raise ValueError("its log has no rates")
        network = {name[8:]: weights for name, weights in tensors.items() if name.startswith("network.")}
        self.network.load_state_dict(network)
        state = self.optimizer.state_dict()
        state["state"] = {
            number: {name: tensors[f"adam.{number}.{name}"] for name in _MOMENTS}
            for number in state["param_groups"][0]["params"]
            if f"adam.{number}.step" in tensors
        }
        state["param_groups"][0]["lr"] = float(content["learning_rate"])
        self.optimizer.load_state_dict(state)
        self.plateau.load_state_dict(plateau)
        self.log = log


def _random_stretch(document: Document, most: int, random: np.random.Generator) -> Document:
    """At most so many sentences, from a random one on."""
    spare = len(document.sentences) - most
    return document if spare <= 0 else document.sentences_from(int(random.integers(spare + 1)), most)
