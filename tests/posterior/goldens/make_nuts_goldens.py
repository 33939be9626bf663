"""Posteriors by NUTS, as an oracle of the samplers of this package: every variant, stated in PyMC row by row.

    python tests/posterior/goldens/make_nuts_goldens.py

Writes nuts_goldens.json: the distances, and mean, sd, Monte Carlo error of the mean, 5.5 % and 94.5 % quantile of every
parameter. Needs the extra `bayes`. Nothing of biasgauge is imported: the models are written from their formulas. Made
with PyMC 5.28 and nutpie 0.16; 4 chains of 4,000 draws; no divergences.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import nutpie
import pymc as pm

statistics: Any = import_module("arviz_stats.base").array_stats
PATH = Path(__file__).with_name("nuts_goldens.json")
CONNECTIONS = ("associated", "different", "human")
NAMES = ("group", "theta", "between", "residual", "baseline", "freedom", "attribute", "attribute_sd")
VARIANTS = ("per-connection", "single-sigma", "intercept", "student", "crossed")


def rows() -> list[tuple[str, str, str, str, float]]:
    """Two groups of four words, two lists of attributes, one of control words; means, words and attributes differ."""
    random = np.random.default_rng(2023)
    words = {f"{group}{number}": group for group in "xy" for number in range(4)}
    lists = {"x": 5, "y": 4, "human": 12}
    center = {"associated": 0.82, "different": 0.88, "human": 0.94}
    own = {(word, connection): random.normal(0, 0.05) for word in words for connection in CONNECTIONS}
    theirs = {f"{name}-{at}": random.normal(0, 0.06) for name, size in lists.items() for at in range(size)}
    found = []
    for word, group in words.items():
        for name, size in lists.items():
            connection = "human" if name == "human" else ("associated" if name == group else "different")
            for at in range(size):
                mean = center[connection] + own[word, connection] + theirs[f"{name}-{at}"]
                value = mean + 0.05 * random.standard_t(5)
                found.append((word, f"{name}-{at}", name, connection, round(float(value), 6)))
    return found


def model_of(variant: str, data: list[tuple[str, str, str, str, float]]) -> pm.Model:
    words = sorted({row[0] for row in data})
    connection = np.array([CONNECTIONS.index(row[3]) for row in data])
    word = np.array([words.index(row[0]) for row in data])
    blocks = np.array([0 if row[3] != "human" else 1 for row in data])
    keys = sorted({(int(block), row[1]) for block, row in zip(blocks, data, strict=True)})
    effect_of = np.array([keys.index((int(block), row[1])) for block, row in zip(blocks, data, strict=True)])
    observed = np.array([row[4] for row in data])
    rate = 5.0 if variant == "intercept" else 2.0
    with pm.Model() as model:
        if variant == "intercept":
            baseline = pm.Normal("baseline", 1.0, 0.5)
            group = pm.Deterministic("group", baseline + pm.Normal("shift", 0.0, 0.2, shape=3))
        else:
            group = pm.Normal("group", 1.0, 0.3, shape=3)
        between = pm.Exponential("between", rate, shape=3)
        theta = pm.Deterministic("theta", group[:, None] + between[:, None] * pm.Normal("z", shape=(3, len(words))))
        mean = theta[connection, word]
        if variant == "crossed":
            spread = pm.Exponential("attribute_sd", 2.0, shape=2)
            which = np.array([block for block, _ in keys])
            effect = pm.Deterministic("attribute", spread[which] * pm.Normal("u", shape=len(keys)))
            mean = mean + effect[effect_of]
        if variant in {"single-sigma", "intercept"}:
            scale = pm.Exponential("residual", rate)
        else:
            residual = pm.Exponential("residual", rate, shape=3)
            scale = residual[connection]
        if variant == "student":
            freedom = pm.Deterministic("freedom", 1 + pm.Gamma("excess", 2.0, 0.1, shape=3))
            pm.StudentT("y", nu=freedom[connection], mu=mean, sigma=scale, observed=observed)
        else:
            pm.Normal("y", mean, scale, observed=observed)
    return model


def summary(trace: Any, name: str) -> list[list[float]]:  # noqa: ANN401 - an arviz trace
    values = np.asarray(trace.posterior[name])
    flat = values.reshape(*values.shape[:2], -1)
    found = []
    for at in range(flat.shape[2]):
        one = flat[:, :, at]
        low, high = np.quantile(one, [0.055, 0.945])
        numbers = (one.mean(), one.std(), float(statistics.mcse(one)), low, high)
        found.append([round(float(number), 7) for number in numbers])
    return found


def main() -> None:
    data = rows()
    goldens: dict[str, Any] = {
        "rows": data,
        "columns": ["mean", "sd", "mcse", "low_5_5", "high_94_5"],
        "posteriors": {},
    }
    for variant in VARIANTS:
        compiled = nutpie.compile_pymc_model(model_of(variant, data))
        trace = nutpie.sample(
            compiled, chains=4, cores=1, draws=4_000, tune=1_500, seed=1, target_accept=0.98, progress_bar=False
        )
        diverged = int(trace.sample_stats["diverging"].sum())
        names = [name for name in NAMES if name in trace.posterior]
        goldens["posteriors"][variant] = {name: summary(trace, name) for name in names}
        print(variant, "divergences:", diverged)  # noqa: T201 - says what it wrote
    PATH.write_text(json.dumps(goldens, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
