"""`CorefModel`: a trained coreference model, on the vectors that it was trained on; `train_coref` trains one."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.applications.classification.task import need_torch
from biasgauge.applications.coref.conll import Problems, read_conll
from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.features import CorefSettings, Features, clusters_from_antecedents, word_coverage
from biasgauge.applications.coref.scores import all_sums
from biasgauge.core import Floats, JsonMapping, JsonObject, VectorsLike, device_named
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import atomic_file, file_sha256, make_folder, manifest_text, read_saved, write_text
from biasgauge.vectors import Embedding, load

if TYPE_CHECKING:
    import torch

    from biasgauge.applications.coref.network import SpanRanker

DocumentSources = str | os.PathLike[str] | Document | Iterable[str | os.PathLike[str] | Document]
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
            return [document for batch in apply(self._predict_batch, _batches(documents)) for document in batch]

    def _predict_batch(self, batch: list[Document]) -> list[Document]:
        """Some documents at once: every mention with its best antecedent."""
        import torch

        texts = [document for document in batch if document.words]
        if not texts:
            return [document.with_clusters(()) for document in batch]
        with torch.inference_mode():
            ranking = self.network(self.features.arrays(texts))
            back = ranking.scores.argmax(dim=1).cpu().numpy()
        counts = iter(ranking.counts)
        predicted, mention, word = [], 0, 0
        for document in batch:
            count = next(counts) if document.words else 0
            members = slice(mention, mention + count)
            spans = list(zip(*((ends[members] - word).tolist() for ends in (ranking.first, ranking.last)), strict=True))
            clusters = clusters_from_antecedents(back[members]) if count else []
            predicted.append(document.with_clusters([spans[index] for index in cluster] for cluster in clusters))
            mention, word = mention + count, word + len(document.words)
        return predicted

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write weights and settings to a folder; the vectors are not written, only their checksum.

        The JSON file names the weights and is written last, so that a crash leaves the old model or the new one.
        """
        vectors = self.features.vectors
        content = {
            "format": _FORMAT,
            "vectors": {"name": vectors.name, "dimensions": vectors.dim, "checksum": vectors.checksum},
            "settings": asdict(self.settings),
            "letters": self.features.letters,
            "genres": list(self.features.genres),
            "about": self.record,
            "log": list(self.log),
        }
        return write_tensors(Path(folder), "weights", self.network.state_dict(), _MANIFEST, content, indent=1)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], vectors: VectorsLike, *, device: str = "cpu") -> CorefModel:
        """Read a model; `vectors` must be those that it was trained on.

        Raises:
            InputError: the folder holds no model, or a damaged one, or PyTorch is not installed.
            ParameterError: the vectors are others, or there is no such device.
        """
        need_torch()
        torch_device = device_named(device)
        manifest = Path(folder) / _MANIFEST
        content = read_saved(manifest, again="save the model again")
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise InputError(f"{manifest}: is not a coreference model of biasgauge")
        try:
            settings = CorefSettings(**content["settings"])
            letters, genres, expected = content["letters"], content["genres"], content["vectors"]
            weights = Path(folder) / content["weights"]
            named = _WEIGHTS_FILE.fullmatch(weights.name) and weights.parent == Path(folder)
            if not named or file_sha256(weights) != content["sha256"]:
                raise InputError(
                    f"{weights}: is not the file that {_MANIFEST} beside it speaks of; save the model again"
                )
            checksum = expected["checksum"]
            vectors_name = f"{expected['name']!r} with {expected['dimensions']} dimensions"
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
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from biasgauge.applications.coref.network import SpanRanker

    try:
        tensors = {name: tensor.float() for name, tensor in load_file(weights).items()}
        layers = max(1, min(features.settings.hidden_layers, len(tensors)))  # of more, none could be in the file
        settings = replace(features.settings, hidden_layers=layers)
        with torch.device("meta"):
            network = SpanRanker(settings, features.vectors.dim, features.alphabet, len(features.genres))
        network.load_state_dict(tensors, assign=True)
    except (SafetensorError, RuntimeError, ValueError, TypeError, OverflowError, MemoryError) as problem:
        raise InputError(
            f"{weights}: the weights do not fit the settings of {_MANIFEST}; save the model again"
        ) from problem
    return network


def write_tensors(
    folder: Path,
    kind: str,
    tensors: Mapping[str, torch.Tensor],
    manifest: str,
    content: JsonMapping,
    indent: int | None = None,
) -> Path:
    """Write tensors to KIND-CHECKSUM.safetensors, then the JSON file that names it; remove the one that it replaces."""
    from safetensors.torch import save_file

    make_folder(folder)
    new = folder / f"{kind}.new.safetensors"
    with atomic_file(new) as temporary:
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, temporary)
    digest = file_sha256(new)
    name = f"{kind}-{digest[:12]}.safetensors"
    new.replace(folder / name)
    write_text(folder / manifest, manifest_text({**content, kind: name, "sha256": digest}, indent=indent))
    for stale in folder.iterdir():
        if re.fullmatch(rf"{kind}-[0-9a-f]{{4,12}}\.safetensors", stale.name) and stale.name != name:
            stale.unlink()
    return folder


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


def train_coref(
    vectors: VectorsLike,
    train_files: DocumentSources,
    dev_files: DocumentSources,
    settings: CorefSettings | None = None,
    *,
    device: str = "cpu",
    random_state: int = 0,
    minutes: float | None = None,
    folder: str | os.PathLike[str] | None = None,
    problems: Problems = "error",
    progress: Callable[[JsonObject], None] | None = None,
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
    torch_device = device_named(device)
    chosen = settings or CorefSettings()
    train = _read_documents(train_files, problems, "training")
    dev = _read_documents(dev_files, problems, "dev")
    embedding = vectors if isinstance(vectors, Embedding) else load(vectors)
    features = Features.of(embedding, chosen, train)
    record = {
        "coverage": word_coverage(features, train, "training"),
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

    from biasgauge.applications.classification.cnn import fixed_threads
    from biasgauge.applications.coref.training_run import TrainingRun

    with torch.random.fork_rng(devices=[torch_device] if torch_device.type == "cuda" else []), fixed_threads():
        run = TrainingRun(features, train, dev, torch_device, random_state, minutes)
        run.keep_in(None if folder is None else Path(folder), key, record)
        return run.train(progress)


def _read_documents(sources: DocumentSources, problems: Problems, role: str) -> list[Document]:
    """Documents with at least one word, without what is mentioned once."""
    documents = []
    for source in [sources] if isinstance(sources, (str, os.PathLike, Document)) else sources:
        documents += [source] if isinstance(source, Document) else read_conll(source, problems=problems)
    usable = [document.without_singletons() for document in documents if document.words]
    if not any(document.clusters for document in usable):
        raise ParameterError(
            f"None of the {len(documents):,} {role} documents mentions anything twice; "
            "coreference needs documents with clusters."
        )
    return usable


def documents_digest(documents: list[Document]) -> str:
    """SHA-256 of everything that a model sees of documents."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(repr((document.sentences, document.clusters, document.speakers, document.genre)).encode())
    return digest.hexdigest()
