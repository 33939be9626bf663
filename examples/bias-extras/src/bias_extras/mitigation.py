"""A mitigation: take the mean vector out, which carries frequency more than meaning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasgauge.mitigation import Mitigation

if TYPE_CHECKING:
    from biasgauge.core.arrays import Vectors
    from biasgauge.vectors import Embedding


@dataclass(kw_only=True, eq=False)
class Centered(Mitigation):
    """Vectors without their mean. Further fields of the class would be settings."""

    name: ClassVar[str] = "centered"
    summary: ClassVar[str] = "Subtracts the mean of all vectors."
    source: ClassVar[str] = "Mu and Viswanath 2018, the first step"
    inverse: ClassVar[bool] = True
    rotation_equivariant: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False

    _mean: Vectors = field(init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        """Find the change."""
        self._mean = np.asarray(model.vectors, np.float64).mean(axis=0)

    def _block(self, block: Vectors, part: slice) -> Vectors:  # noqa: ARG002 - which rows these are
        """Some vectors, `step` of the way; biasgauge sees to their lengths."""
        return np.asarray(block - self.step * self._mean, block.dtype)
