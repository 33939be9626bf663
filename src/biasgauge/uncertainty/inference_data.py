"""Draws as ArviZ knows them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from biasgauge.errors import InputError
from biasgauge.uncertainty.posterior import Posterior


def to_inference_data(posterior: Posterior) -> Any:  # noqa: ANN401 - InferenceData, or DataTree in newer versions
    """Give the draws with named coordinates, and the observed distances.

    Raises:
        InputError: ArviZ is not installed.
    """
    draws, table = posterior.draws, posterior.table
    cells = [
        f"{draws.connections[connection]}: {table.words[word]}"
        for connection, word in zip(draws.cell_connection, draws.cell_word, strict=True)
    ]
    coords: dict[str, Any] = {"connection": list(draws.connections), "cell": cells, "row": np.arange(len(table))}
    dims: dict[str, list[str]] = {
        "group": ["connection"],
        "word": ["cell"],
        "between": ["connection"],
        "residual": ["connection"],
        "distance": ["row"],
    }
    if draws.freedom is not None:
        dims["freedom"] = ["connection"]
    if draws.attributes is not None:
        blocks = ["+".join(names) for names in draws.attributes.blocks]
        coords["block"] = blocks
        coords["effect"] = [
            f"{blocks[block]}: {table.attributes[attribute]}"
            for block, attribute in zip(draws.attributes.block, draws.attributes.attribute, strict=True)
        ]
        dims |= {"attribute": ["effect"], "attribute_sd": ["block"]}
    drawn = {name: draws.by_chain(values) for name, values in draws.parameters().items()}
    dims = {name: own for name, own in dims.items() if name in drawn or name == "distance"}
    return _from_dict({"posterior": drawn, "observed_data": {"distance": table.distance}}, coords, dims)


def _from_dict(groups: dict[str, Any], coords: dict[str, Any], dims: dict[str, list[str]]) -> Any:  # noqa: ANN401
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notices of ArviZ about its own future
        try:
            import arviz
        except ImportError as problem:
            raise InputError('InferenceData needs ArviZ: pip install "biasgauge[bayes]"') from problem
        if hasattr(arviz, "InferenceData"):
            return arviz.from_dict(**groups, coords=coords, dims=dims)
        return arviz.from_dict(groups, coords=coords, dims=dims)
