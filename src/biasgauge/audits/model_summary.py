"""One model in a few numbers: size, lengths of its vectors, what was odd about its file."""

from __future__ import annotations

import numpy as np

from biasgauge.audits.result import ModelSummary
from biasgauge.core import all_lengths
from biasgauge.vectors import Embedding

_UNIT_TOLERANCE = 1e-3
QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)


def summarize(model: Embedding) -> ModelSummary:
    """Measure the lengths of all vectors, a block at a time."""
    lengths = all_lengths(model.vectors)
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
