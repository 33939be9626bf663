"""One model in a few numbers: size, lengths of its vectors, what was odd about its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasgauge.audit.result import ModelSummary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasgauge.embeddings import Embedding

_ROWS = 65_536
_UNIT_TOLERANCE = 1e-3
QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)


def summarise(model: Embedding) -> ModelSummary:
    """Measure the lengths of all vectors, a block at a time."""
    lengths = vector_lengths(model)
    quantiles = np.quantile(lengths, QUANTILES).tolist() if len(lengths) else []
    return ModelSummary(
        name=model.name,
        source=model.source,
        format=model.format,
        words=len(model),
        dim=model.dim,
        precision=model.vectors.dtype.name,
        checksum=model.checksum,
        length_quantiles=dict(zip(QUANTILES, quantiles, strict=False)),
        unit_length=bool(len(lengths)) and bool(np.allclose(lengths, 1.0, atol=_UNIT_TOLERANCE)),
        notices=model.notices,
    )


def vector_lengths(model: Embedding) -> NDArray[np.float64]:
    """Euclidean length of each vector, in double precision whatever the vectors are stored in."""
    lengths = np.empty(len(model))
    for start in range(0, len(model), _ROWS):
        block = model.vectors[start : start + _ROWS].astype(np.float64)
        lengths[start : start + len(block)] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return lengths
