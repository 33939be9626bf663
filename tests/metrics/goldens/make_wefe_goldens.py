"""Prints the numbers that WEFE 1.0.1 gives on small made-up vectors, as `wefe_goldens.json` holds them.

WEFE needs numpy below 2, so this runs in an environment of its own:

    python3.11 -m venv wefe && wefe/bin/pip install wefe==1.0.1
    wefe/bin/python make_wefe_goldens.py > wefe_goldens.json

The vectors are drawn by `vectors()`; the test draws them again.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

SIZES = {"x": 6, "y": 6, "a": 7, "b": 5}
DIMENSIONS = 12


def vectors(seed: int) -> dict[str, Any]:
    """Four sets of vectors with some structure: the first coordinate leans X to A and Y to B."""
    random = np.random.RandomState(seed)  # its stream is frozen for good, whatever the numpy version
    lean = {"x": 0.8, "y": -0.8, "a": 1.0, "b": -1.0}
    sets = {}
    for name, words in SIZES.items():
        table = random.normal(size=(words, DIMENSIONS))
        table[:, 0] += lean[name]
        sets[name] = table
    return sets


def goldens(seed: int) -> dict[str, float]:
    """WEFE's value of each metric on the vectors of one seed."""
    from gensim.models import KeyedVectors
    from wefe.metrics import ECT, MAC, RIPA, RND, RNSB, WEAT  # type: ignore[import-not-found]
    from wefe.query import Query  # type: ignore[import-not-found]
    from wefe.word_embedding_model import WordEmbeddingModel  # type: ignore[import-not-found]

    sets = vectors(seed)
    names = {name: [f"{name}{row}" for row in range(len(table))] for name, table in sets.items()}
    keyed = KeyedVectors(DIMENSIONS, dtype=np.float64)
    keyed.add_vectors([word for name in sets for word in names[name]], np.concatenate(list(sets.values())))
    model = WordEmbeddingModel(keyed, "made-up")
    both = Query([names["x"], names["y"]], [names["a"], names["b"]], ["X", "Y"], ["A", "B"])
    one = Query([names["x"], names["y"]], [names["a"]], ["X", "Y"], ["A"])
    fitted: dict[str, Any] = {"holdout": False, "n_iterations": 1, "random_state": 0}
    exact = {"tol": 1e-12, "max_iter": 100_000}
    return {
        "weat": float(WEAT().run_query(both, model)["weat"]),
        "effect_size": float(WEAT().run_query(both, model)["effect_size"]),
        "mac": float(MAC().run_query(both, model)["mac"]),
        "rnd": float(RND().run_query(one, model)["rnd"]),
        "rnd_unit": float(RND().run_query(one, model, normalize=True)["rnd"]),
        "rnd_cosine": float(RND().run_query(one, model, distance="cos")["rnd"]),
        "ect": float(ECT().run_query(one, model)["ect"]),
        "ripa": float(RIPA().run_query(one, model)["ripa"]),
        "rnsb_free": float(
            RNSB().run_query(both, model, estimator_params={"solver": "lbfgs", **exact}, **fitted)["rnsb"]
        ),
        "rnsb_penalized": float(
            RNSB().run_query(both, model, estimator_params={"solver": "liblinear", **exact}, **fitted)["rnsb"]
        ),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps({str(seed): goldens(seed) for seed in range(3)}, indent=2) + "\n")
