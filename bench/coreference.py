"""Coreference: documents a second, on all threads and on one, and against first layers over whole pairs.

    python bench/coreference.py [--words 500] [--documents 8] [--dimensions 300] [--threads 2]

All with the published sizes and random weights, in one run. "Whole pairs" is what the formula says: a layer over
[span, antecedent, their product, distance] for every pair; ours adds up one layer for each part and computes those of
single spans once. The floor is the bare product that no arrangement avoids: pairs × span × hidden units.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import torch
from timing import best

from biasgauge.applications.coref import CorefModel, CorefSettings, Document
from biasgauge.applications.coref.features import Features, antecedent_pairs
from biasgauge.applications.coref.network import SpanRanker, antecedent_loss
from biasgauge.vectors import Embedding

SENTENCE = 20
VOCABULARY = 5_000


def documents(count: int, words: int, vocabulary: tuple[str, ...]) -> list[Document]:
    random = np.random.default_rng(0)
    found = []
    for number in range(count):
        drawn = random.choice(vocabulary, words).tolist()
        sentences = tuple(tuple(drawn[at : at + SENTENCE]) for at in range(0, words, SENTENCE))
        places = random.choice(words, words // 10, replace=False)
        clusters = tuple(tuple((int(at), int(at)) for at in places[start::10]) for start in range(10))
        found.append(Document(f"d{number}", sentences, clusters))
    return found


def whole_pairs(ranker: SpanRanker, spans: torch.Tensor, mention: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    own, theirs, product = (part.weight for part in ranker.pair_parts)
    weights: Any = torch.cat([own, theirs, product], dim=1)  # type: ignore[list-item]
    found: torch.Tensor = torch.cat([spans[mention], spans[other], spans[mention] * spans[other]], dim=1) @ weights.T
    return ranker.pair(found)  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--words", type=int, default=500)
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random = np.random.default_rng(1)
    vocabulary = tuple(f"{'abcdefgh'[row % 8] * (row % 5 + 1)}{row}" for row in range(VOCABULARY))
    vectors = Embedding(vocabulary, random.standard_normal((VOCABULARY, options.dimensions), np.float32))
    settings = CorefSettings()
    texts = documents(options.documents, options.words, vocabulary)
    features = Features.of(vectors, settings, texts)
    ranker = SpanRanker(settings, vectors.dim, features.alphabet, 0)
    model = CorefModel(features, ranker)
    together = best(lambda: model.predict(texts, n_jobs=options.threads)) / len(texts)
    alone = best(lambda: model.predict(texts[:1], n_jobs=1))
    arrays = features.arrays(texts[:1])

    def step() -> None:
        ranker.train()
        antecedent_loss(ranker(arrays)).backward()  # type: ignore[no-untyped-call]

    training = best(step, 2)
    ranker.eval()
    kept = ranker(arrays).counts
    mention, back = (torch.from_numpy(one) for one in antecedent_pairs(kept, settings.max_antecedents))
    spans = torch.randn(sum(kept), 4 * settings.lstm_size + vectors.dim + settings.char_filters + settings.feature_size)
    with torch.inference_mode():
        ours = best(lambda: ranker.pair_scores(spans, mention, mention - back, {}))
        whole = best(lambda: whole_pairs(ranker, spans, mention, mention - back))
        left, right = torch.randn(len(mention), spans.shape[1]), torch.randn(spans.shape[1], settings.hidden_size)
        floor = best(lambda: left @ right)
    print(f"{options.words} words, {sum(kept)} mentions, {len(mention):,} pairs, {options.threads} threads")
    print(f"{'documents, all threads':28}{together * 1e3:8.1f} ms {1 / together:8.1f} documents a second")
    print(f"{'a document, one thread':28}{alone * 1e3:8.1f} ms {1 / alone:8.1f} documents a second")
    print(f"{'training step':28}{training * 1e3:8.1f} ms {training / alone:8.1f} × a document, one thread")
    print(f"{'pairs, ours':28}{ours * 1e3:8.1f} ms {ours / floor:8.1f} × the floor")
    print(f"{'pairs, whole':28}{whole * 1e3:8.1f} ms {whole / ours:8.1f} × ours")


if __name__ == "__main__":
    main()
