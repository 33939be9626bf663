"""`train_coref`: a coreference model on frozen vectors."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

from biasgauge.applications.classification.task import need_torch
from biasgauge.applications.coref.conll import Problems, read_conll
from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.features import Features, coverage
from biasgauge.applications.coref.model import CorefModel
from biasgauge.applications.coref.settings import CorefSettings
from biasgauge.core import JsonObject, VectorsLike, device_named
from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding, load

DocumentSources = str | os.PathLike[str] | Document | Iterable[str | os.PathLike[str] | Document]


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
