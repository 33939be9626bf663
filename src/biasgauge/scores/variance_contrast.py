"""The contrast of an association test with the variance of its vectors as a further term: delta method.

The contrast is c = Σ L_ij (û_i − m_i) · (v̂_j − m_j) over target words i and attribute words j, with û = u / |u|, the
leverages L of the contrast, and m = 0, or the mean of words of such frequency in the contrast at equal frequency. Its
gradient in the vector u_i is

    g_i = (I − û_i û_iᵀ) Σ_j L_ij (v̂_j − m_j) / |u_i|,

and likewise for attributes; vectors of different words are independent given the contexts, so that the variance of c is
Σ_w g_wᵀ Cov_w g_w. It stands beside the variances over words, as the component "vectors". The spread over words holds a
part of it already, so that the interval is wider rather than narrower than it has to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np

from biasgauge.core import DEFAULT_POLICY, Floats, SimilarityTable, WordPolicy, WordsLike, resolve, unit_vectors
from biasgauge.errors import ParameterError
from biasgauge.metrics import contrast_of, table_sides
from biasgauge.scores.word_set_tests import TestLike, query_of_test
from biasgauge.stats import Contrast
from biasgauge.vectors import Embedding, VectorVariances

COMPONENT = "vectors"
_SETS = ("x", "y", "a", "b")


def contrast_with_variances(
    variances: VectorVariances,
    test: TestLike | None = None,
    *,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    policy: WordPolicy = DEFAULT_POLICY,
    level: float = 0.95,
) -> Contrast:
    """Contrast of an association test whose interval also holds the error of the vectors from one training run.

    `variances["vectors"]` is that term; `adjusted` is the contrast at equal word frequency, with its own. A word whose
    vector has no variance counts as out of vocabulary.

    Args:
        variances: vectors with their covariances: `load_variances`, or `glove_with_variances`.
        test: a lexicon of kind "test"; or give the four sets.
        x: words, or a lexicon, as in `weat`.
        y: as x.
        a: as x.
        b: as x.
        policy: how words are looked up, and how many of each set must be found.
        level: nominal coverage of the interval.

    Raises:
        ParameterError: too few of its words have a vector with a variance.
    """
    query = query_of_test(test, {"x": x, "y": y, "a": a, "b": b}, _SETS)
    whole = variances.embedding
    words = {whole.words[row] for group in resolve(query, whole, policy).sets.values() for row in group.rows[0]}
    covariances = {word: covariance for word in words if (covariance := variances.covariance(word)) is not None}
    unknown = words - covariances.keys()
    usable = [row for row, word in enumerate(whole.words) if word not in unknown]
    resolved = resolve(query, whole.take(np.array(usable, np.intp)) if unknown else whole, policy)
    if resolved.reason is not None:
        without = f"; {len(unknown)} of its words have no variance" if unknown else ""
        raise ParameterError(f"The contrast cannot be computed: {resolved.reason}{without}.")
    table = SimilarityTable(resolved)
    contrast = contrast_of(table, level=level).contrast
    adjusted = contrast.adjusted
    if adjusted is not None and adjusted.se is not None:
        adjusted = adjusted.with_variance(COMPONENT, _variance(table, covariances, centered=True))
    return replace(contrast.with_variance(COMPONENT, _variance(table, covariances, centered=False)), adjusted=adjusted)


def _variance(table: SimilarityTable, covariances: Mapping[str, Floats], *, centered: bool) -> float:
    """Variance of the contrast from that of the vectors: Σ_w g_wᵀ Cov_w g_w."""
    resolved = table.resolved
    model = cast("Embedding", resolved.models[0])
    sides = table_sides(table) if centered else table_sides(table, powers=0)
    pattern = np.asarray(table.weights, np.float64)
    rows_of_lists, columns_of_lists = (side.inverse[:size] for side, size in zip(sides, pattern.shape, strict=True))
    # From families of words to their forms: each form has an equal part of its family.
    leverages = table.targets.averaging.T @ rows_of_lists.T @ pattern @ columns_of_lists @ table.attributes.averaging
    places = [np.concatenate([group.rows[0] for group in groups]) for groups in (resolved.targets, resolved.attributes)]
    units = [unit_vectors(model, rows) for rows in places]
    means = model.frequency_means(resolved.query.language) if centered else None
    log = model.log_frequencies(resolved.query.language) if centered else None
    shifted = units
    if means is not None and log is not None:
        shifted = [side - means.at(log.values[rows]) for side, rows in zip(units, places, strict=True)]
    gradients: dict[str, Floats] = {}
    for number, weights in enumerate((leverages, leverages.T)):
        pulls = weights @ shifted[1 - number]
        pulls -= units[number] * (units[number] * pulls).sum(axis=1, keepdims=True)
        lengths = np.linalg.norm(np.asarray(model.vectors[places[number]], np.float64), axis=1)
        for row, pull, length in zip(places[number].tolist(), pulls, lengths, strict=True):
            word = model.words[row]
            gradients[word] = gradients.get(word, 0.0) + pull / length
    return float(sum(gradient @ covariances[word] @ gradient for word, gradient in gradients.items()))
