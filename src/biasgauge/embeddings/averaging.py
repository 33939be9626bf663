"""`mean_embedding`: one model from several replicates, by averaging the vectors of each word.

Replicates have axes of their own, so vectors are turned to each other first: generalized Procrustes (Gower,
*Psychometrika* 40, 1975; ten Berge, *Psychometrika* 42, 1977). Each model in turn is rotated to the sum of the others,
round after round, until they come no nearer. That can end in any of several solutions that fit about as well, so it
starts from the leading eigenvectors of all cross-products, which favor no model: but for directions that hold next to
nothing besides noise, the order of the models does not matter, except that the result lies in the axes of the first.
Rounds need the cross-products alone and do not read the vectors again; memory holds models² × dimensions² numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.joint_vocabulary import JointVocabulary, check_dimensions
from biasgauge.embeddings.loading import load_models
from biasgauge.embeddings.procrustes import Side, best_rotation, cross_product
from biasgauge.errors import ParameterError
from biasgauge.inputs import ModelsLike
from biasgauge.stats.threads import on_one_thread

_SETTLED = 1e-12
"""What a round adds to the models' overlap, relative to it, below which they count as aligned."""

_MOST_ROUNDS = 1000


def mean_embedding(vectors: ModelsLike, *, aligned: bool = True, name: str | None = None) -> Embedding:
    """Average replicates, word by word, over the words that all of them have.

    Words that a model lacks are in the result's `dropped`, with the reason. A word's mean is short where the replicates
    disagree about it. Vectors are taken as they are: a model with longer vectors weighs more.

    Args:
        vectors: a list, each an `Embedding` or anything `load` takes.
        aligned: turn the models to each other first. False averages vectors in whatever axes they have, which means
            little unless the models share them; published for bootstrap models in "Badder Seeds".
        name: what tables call the result.

    Raises:
        ParameterError: the models share no word, differ in their dimensions, or do not settle.
    """
    loaded = load_models(list(vectors) if isinstance(vectors, tuple) else vectors)
    check_dimensions(loaded)
    joint = JointVocabulary.of(loaded)
    shared = joint.shared()
    if not len(shared):
        raise ParameterError("There is nothing to average: no word is in all models.")
    sides = [Side(model.vectors, rows[shared]) for model, rows in zip(loaded, joint.rows, strict=True)]
    how = "not aligned"
    with on_one_thread():
        if aligned:
            turns, rounds = _rotations(sides)
            how = f"generalized Procrustes, {rounds} rounds"
            mean = _mean(sides, [turn @ turns[0].T for turn in turns])
        else:
            mean = _mean(sides, None)
    present = set(shared.tolist())
    return Embedding(
        words=tuple(joint.words[place] for place in shared.tolist()),
        vectors=mean.astype(_precision(loaded)),
        name=name or f"mean of {len(loaded)} models",
        source=f"mean of {', '.join(model.name for model in loaded)} ({how})",
        dropped=MappingProxyType(
            {word: f"not in all {len(loaded)} models" for place, word in enumerate(joint.words) if place not in present}
        ),
    )


def _rotations(sides: Sequence[Side]) -> tuple[list[NDArray[np.float64]], int]:
    """Rotate every model to the others until they come no nearer; return the rotations and the rounds it took."""
    cross = {(i, j): cross_product(sides[i], sides[j]) for i, j in combinations(range(len(sides)), 2)}
    cross.update({(j, i): product.T for (i, j), product in cross.items()})
    turns = _start(cross, len(sides), sides[0].vectors.shape[1])
    for number in range(_MOST_ROUNDS):
        overlap, gained = 0.0, 0.0
        for i in range(len(sides)):
            others = [cross[i, j] @ turns[j] for j in range(len(sides)) if j != i]
            if others:
                goal = np.sum(others, axis=0)
                found = best_rotation(goal)
                gained += found.overlap - float(np.vdot(turns[i], goal))
                turns[i], overlap = found.matrix, overlap + found.overlap
        if gained <= _SETTLED * overlap:
            return turns, number
    raise ParameterError(
        f"The models could not be aligned: they still came nearer to each other after {_MOST_ROUNDS} rounds; they have "
        "too little in common to be averaged. aligned=False averages them as they are."
    )


def _start(cross: Mapping[tuple[int, int], NDArray[np.float64]], models: int, dim: int) -> list[NDArray[np.float64]]:
    """Rotations nearest to the leading eigenvectors of the matrix of all cross-products."""
    from scipy.linalg import eigh

    blocks = np.zeros((models, dim, models, dim))
    for (i, j), product in cross.items():
        blocks[i, :, j] = product
    size = models * dim
    matrix = blocks.reshape(size, size)
    if not np.isfinite(matrix).all():
        raise ParameterError("These vectors are too long to be aligned: their products overflow.")
    _, leading = eigh(matrix, subset_by_index=[size - dim, size - 1], overwrite_a=True, check_finite=False)
    return [best_rotation(block).matrix for block in leading.reshape(models, dim, dim)]


def _mean(sides: Sequence[Side], turns: Sequence[NDArray[np.float64]] | None) -> NDArray[np.float64]:
    total = np.zeros((len(sides[0]), sides[0].vectors.shape[1]))
    for number, side in enumerate(sides):
        for part in side.parts():
            block = side.block(part)
            total[part] += block if turns is None else block @ turns[number]
    total /= len(sides)
    return total


def _precision(models: Sequence[Embedding]) -> np.dtype[Any]:
    return np.dtype(np.result_type(np.float32, *(model.vectors.dtype for model in models)))
