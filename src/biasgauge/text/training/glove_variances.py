"""Variances of GloVe vectors that we train, from the co-occurrences at hand: GloVe-V.

With the context vectors v_j and all biases held fixed, the vector of word i is the weighted least-squares fit of
log X_ij − b_i − b̃_j to v_j over the words j that occur near it, with the weights f(X_ij) of training. Its covariance is

    σ²_i (Σ_j f_ij v_j v_jᵀ)⁻¹,   σ²_i = Σ_j f_ij (log X_ij − b_i − b̃_j − w_i · v_j)² / (n_i − D),

where n_i is the number of those words and D that of dimensions; a word with n_i ≤ D has none (Vallebueno et al., EMNLP
2024, METHODS 13).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgauge.core import Floats, Singles
from biasgauge.errors import ParameterError
from biasgauge.text.training.algorithms import GloveSettings
from biasgauge.text.training.cooccurrence import Cooccurrence
from biasgauge.text.training.glove import descend, first_weights, shuffled
from biasgauge.text.training.lanes import padded
from biasgauge.vectors import Embedding, VectorVariances


class GloveVariances(VectorVariances):
    """Vectors of words as words (not the sums with their vectors as contexts), and the covariance of each."""

    def __init__(
        self, words: Sequence[str], cells: Cooccurrence, settings: GloveSettings, weights: Singles, name: str = "GloVe"
    ) -> None:
        if len(words) != cells.size:
            raise ParameterError(f"There are {len(words):,} words for {cells.size:,} rows of co-occurrences.")
        dim, size = settings.dim, cells.size
        self.embedding = Embedding(tuple(words), weights[:size, :dim].copy(), name=name)
        self._cells = cells
        self._settings = settings
        self._contexts = weights[size:, :dim].copy()
        biases = weights[:, 2 * padded(dim)].astype(np.float64)
        self._biases, self._context_biases = biases[:size], biases[size:]

    def covariance(self, word: str) -> Floats | None:
        """Covariance matrix of a word's vector; None where it has no more co-occurring words than dimensions."""
        row = self.embedding.index[word]
        cells = slice(int(self._cells.starts[row]), int(self._cells.starts[row + 1]))
        columns, counts = self._cells.columns[cells], self._cells.values[cells].astype(np.float64)
        dim = self.embedding.dim
        if len(columns) <= dim:
            return None
        contexts = self._contexts[columns].astype(np.float64)
        weights = np.minimum(1.0, (counts / self._settings.x_max) ** self._settings.alpha)
        fitted = contexts @ self.embedding.vectors[row].astype(np.float64)
        residuals = np.log(counts) - self._biases[row] - self._context_biases[columns] - fitted
        scale = float(weights @ residuals**2) / (len(columns) - dim)
        precision = (contexts * weights[:, None]).T @ contexts
        if np.linalg.matrix_rank(precision, hermitian=True) < dim:
            return None
        return np.asarray(scale * np.linalg.inv(precision))


def glove_with_variances(
    words: Sequence[str], cells: Cooccurrence, settings: GloveSettings, *, seed: int = 0, threads: int = 1
) -> GloveVariances:
    """Train GloVe on co-occurrences as `train` does, and keep what the covariances need.

    Args:
        words: the word of each row of the co-occurrences.
        cells: what `count_cooccurrences` counted.
        settings: those of GloVe.
        seed: decides the first vectors and the order of the cells.
        threads: as in `train_glove`.

    Raises:
        ParameterError: there are no cells, or a setting is impossible.
    """
    if not len(cells):
        raise ParameterError("The 'cells' must not be empty: there is nothing to learn from.")
    visits = shuffled(cells, x_max=float(settings.x_max), alpha=float(settings.alpha), seed=seed, memory=2**31)
    weights = first_weights(2 * cells.size, settings.dim, seed)
    descend(weights, settings.dim, visits, iterations=settings.epochs, eta=settings.eta, threads=threads)
    return GloveVariances(words, cells, settings, weights)
