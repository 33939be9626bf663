"""`CorefModel`: a trained coreference model, on the vectors that it was trained on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.applications.classification.task import need_torch
from biasgauge.applications.coref.document import Document, Span
from biasgauge.applications.coref.features import Features, clusters_from_antecedents
from biasgauge.applications.coref.scores import all_sums
from biasgauge.applications.coref.settings import CorefSettings
from biasgauge.core import Floats, JsonObject, VectorsLike, device_named
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import atomic_file, file_sha256, make_folder, manifest_text, read_saved, write_text
from biasgauge.vectors import Embedding, load

if TYPE_CHECKING:
    from biasgauge.applications.coref.network import Ranking, SpanRanker

_FORMAT = "biasgauge coreference model 1"
_MANIFEST = "model.json"
_WEIGHTS_FILE = re.compile(r"weights-[0-9a-f]{12}\.safetensors")
_WORDS_AT_ONCE = 1_500
"""Short documents go through the network together, up to so many words."""


class CorefModel:
    """Finds which words of a text speak of the same thing.

    Attributes:
        features: the vectors, and how documents are turned into arrays with them.
        network: the weights.
        log: one entry for each epoch of training: loss and dev precision, recall and F1.
        record: coverage, documents and seed of its training.
    """

    def __init__(
        self,
        features: Features,
        network: SpanRanker,
        log: Sequence[JsonObject] = (),
        record: JsonObject | None = None,
    ) -> None:
        self.features, self.network, self.log, self.record = features, network, tuple(log), dict(record or {})

    @property
    def settings(self) -> CorefSettings:
        """Settings of the network and of its training."""
        return self.features.settings

    def predict(self, documents: Iterable[Document], *, n_jobs: int | None = None) -> list[Document]:
        """The documents with the clusters that the model finds in place of their own; things mentioned once are none.

        Args:
            documents: whose clusters do not matter.
            n_jobs: on a CPU, how many batches are worked on at a time, each by one thread, so that the number changes
                no bit; by default as many as PyTorch has threads.
        """
        import torch

        from biasgauge.applications.classification.cnn import fixed_threads

        jobs = 1 if self.network.device.type != "cpu" else n_jobs or torch.get_num_threads()
        self.network.eval()
        with fixed_threads(), ThreadPoolExecutor(jobs) as pool:
            apply = map if jobs == 1 else pool.map
            return [document for batch in apply(self._batch, _batches(documents)) for document in batch]

    def _batch(self, batch: list[Document]) -> list[Document]:
        """Some documents at once."""
        import torch

        texts = [document for document in batch if document.words]
        if not texts:
            return [document.with_clusters(()) for document in batch]
        with torch.inference_mode():
            clusters = _clusters(self.network(self.features.arrays(texts)), texts)
            return [document.with_clusters(next(clusters) if document.words else ()) for document in batch]

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write weights and settings to a folder; the vectors are not written, only their checksum.

        The JSON file names the weights and is written last, so that a crash leaves the old model or the new one.
        """
        from safetensors.torch import save_file

        target = Path(folder)
        make_folder(target)
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.network.state_dict().items()}
        with atomic_file(target / "weights.new.safetensors") as temporary:
            save_file(weights, temporary)
        digest = file_sha256(target / "weights.new.safetensors")
        name = f"weights-{digest[:12]}.safetensors"
        (target / "weights.new.safetensors").replace(target / name)
        vectors = self.features.vectors
        content = {
            "format": _FORMAT,
            "weights": name,
            "sha256": digest,
            "vectors": {"name": vectors.name, "dimensions": vectors.dim, "checksum": vectors.checksum},
            "settings": asdict(self.settings),
            "letters": self.features.letters,
            "genres": list(self.features.genres),
            "about": self.record,
            "log": list(self.log),
        }
        write_text(target / _MANIFEST, manifest_text(content, indent=1))
        for stale in target.iterdir():
            if _WEIGHTS_FILE.fullmatch(stale.name) and stale.name != name:
                stale.unlink()
        return target

    @classmethod
    def load(cls, folder: str | os.PathLike[str], vectors: VectorsLike, *, device: str = "cpu") -> CorefModel:
        """Read a model; `vectors` must be those that it was trained on.

        Raises:
            InputError: the folder holds no model, or a damaged one, or PyTorch is not installed.
            ParameterError: the vectors are others, or there is no such device.
        """
        need_torch()
        torch_device = device_named(device)
        content = _read_json(Path(folder) / _MANIFEST)
        try:
            settings = CorefSettings(**content["settings"])
            letters, genres, expected = content["letters"], content["genres"], content["vectors"]
            weights = Path(folder) / content["weights"]
            if (
                not _WEIGHTS_FILE.fullmatch(weights.name)
                or weights.parent != Path(folder)
                or (file_sha256(weights) != content["sha256"])
            ):
                raise InputError(
                    f"{weights}: is not the file that {_MANIFEST} beside it speaks of; save the model again"
                )
            checksum, vectors_name = (
                expected["checksum"],
                f"{expected['name']!r} with {expected['dimensions']} dimensions",
            )
            log, record = list(content["log"]), dict(content["about"])
            if not isinstance(letters, str) or not all(isinstance(genre, str) for genre in genres):
                raise InputError(f"{folder}: the model is damaged (letters and genres must be text); save it again")
        except (KeyError, TypeError, ValueError, OSError) as problem:
            raise InputError(f"{folder}: the model is damaged ({problem!r}); save it again") from problem
        embedding = vectors if isinstance(vectors, Embedding) else load(vectors)
        if embedding.checksum != checksum:
            raise ParameterError(
                f"The model in {folder} was trained on other vectors, {vectors_name}. Got {embedding.name!r}; load "
                "all words of those."
            )
        features = Features(embedding, settings, letters, genres)
        return cls(features, _load_network(weights, features).to(torch_device), log, record)


def _load_network(weights: Path, features: Features) -> SpanRanker:
    """The weights of a file in a network of the sizes that the settings say.

    Memory is taken for what the file holds, never for what the settings claim.

    Raises:
        InputError: they do not fit each other.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from biasgauge.applications.coref.network import SpanRanker

    try:
        tensors = {name: tensor.float() for name, tensor in load_file(weights).items()}
        layers = max(1, min(features.settings.hidden_layers, len(tensors)))  # of more, none could be in the file
        with torch.device("meta"):
            network = SpanRanker(
                replace(features.settings, hidden_layers=layers), features.vectors.dim, features.alphabet,
                len(features.genres),
            )  # fmt: skip
        network.load_state_dict(tensors, assign=True)
    except (SafetensorError, RuntimeError, ValueError, TypeError, OverflowError, MemoryError) as problem:
        raise InputError(
            f"{weights}: the weights do not fit the settings of {_MANIFEST}; save the model again"
        ) from problem
    return network


def prediction_sums(model: CorefModel, documents: list[Document]) -> Floats:
    """Sums that a model's clusters add to the metrics: documents × METRICS × SUMS."""
    predicted = model.predict(documents)
    return all_sums([document.clusters for document in documents], [document.clusters for document in predicted])


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    words = 0
    for document in documents:
        if batch and words + len(document.words) > _WORDS_AT_ONCE:
            yield batch
            batch, words = [], 0
        batch.append(document)
        words += len(document.words)
    if batch:
        yield batch


def _clusters(ranking: Ranking, documents: list[Document]) -> Iterator[list[list[Span]]]:
    """Clusters of each document: every mention with its best antecedent."""
    back = ranking.scores.argmax(dim=1).cpu().numpy()
    mention = word = 0
    for document, count in zip(documents, ranking.counts, strict=True):
        first, last = (ends[mention : mention + count] - word for ends in (ranking.first, ranking.last))
        spans = list(zip(first.tolist(), last.tolist(), strict=True))
        yield [
            [spans[member] for member in cluster]
            for cluster in clusters_from_antecedents(back[mention : mention + count])
        ]
        mention += count
        word += len(document.words)


def _read_json(path: Path) -> JsonObject:
    content = read_saved(path, again="save the model again")
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise InputError(f"{path}: is not a coreference model of biasgauge")
    return content
