"""`align` turns one model to another; `mean_embedding` averages several, turned to each other first.

Training from another seed gives other axes: replicates can be compared only after a rotation, which changes no length
and no cosine within a model. For two models that is orthogonal Procrustes on the words that both have (Hamilton,
Leskovec & Jurafsky, ACL 2016), for several generalized Procrustes (Gower 1975; ten Berge 1977): each in turn to the sum
of the others until they come no nearer, from a start that favors no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from biasgauge.core import Floats, JsonObject, ModelsLike, VectorsLike, distinct_words
from biasgauge.errors import ParameterError
from biasgauge.results import Result, Summary
from biasgauge.stats import on_one_thread
from biasgauge.vectors.embedding import Embedding, JointVocabulary
from biasgauge.vectors.loading import load, load_models
from biasgauge.vectors.procrustes import Side, align_sides, best_rotation, check_dimensions, cross_product

_SETTLED = 1e-12
"""What a round adds to the models' overlap, relative to it, below which they count as aligned."""

_MOST_ROUNDS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Alignment(Result):
    """How to turn one model towards another: `apply` does it.

    Attributes:
        moving: name of the model that is turned.
        fixed: name of the model that it is turned to.
        words: the shared words that decided the rotation.
        rotation: Q, dimensions × dimensions; a row vector becomes `vector @ rotation`.
        residual: ‖s A Q − B‖ (Frobenius) over the shared words, as prepared; 0 when nothing but a rotation differs.
        fit: share of B's squared length that is met, 1 − residual² / ‖B‖²; 1 is perfect, 0 no better than nothing.
        rank: rank of AᵀB; below the number of dimensions the rotation is one of many, and says little.
        scale: s, the factor besides the rotation; 1 unless it was asked for.
        unit: vectors are scaled to length 1 first.
        moving_center: is subtracted before the rotation; None when centering was not asked for.
        fixed_center: is added after it; None likewise.
        lost: words asked for that did not take part, with the reason.
    """

    abridged: ClassVar[bool] = True

    moving: str
    fixed: str
    words: tuple[str, ...]
    rotation: Floats
    residual: float
    fit: float
    rank: int
    scale: float = 1.0
    unit: bool = False
    moving_center: Floats | None = None
    fixed_center: Floats | None = None
    lost: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def apply(self, vectors: VectorsLike) -> Embedding:
        """Turn every vector of a model: s (v − center) Q + the fixed model's center.

        The model is usually the one that was aligned; another in the same axes will do. Half precision becomes single.

        Raises:
            ParameterError: it has another number of dimensions.
        """
        embedding = load(vectors)
        if embedding.dim != len(self.rotation):
            raise ParameterError(
                f"This alignment turns vectors of {len(self.rotation)} dimensions. Got {embedding.dim} in "
                f"{embedding.name!r}."
            )
        side = Side(embedding.vectors, np.arange(len(embedding)), self.unit, self.moving_center)
        turned = np.empty(embedding.vectors.shape, np.result_type(embedding.vectors.dtype, np.float32))
        turn = self.scale * self.rotation
        with on_one_thread():
            for part in side.parts():
                turned[part] = side.block(part) @ turn + (0 if self.fixed_center is None else self.fixed_center)
        return replace(embedding, vectors=turned, format="memory")

    def to_dict(self) -> JsonObject:
        """One JSON-ready object, without the words and the matrix."""
        names = {"moving": self.moving, "fixed": self.fixed}
        sizes = {"shared": len(self.words), "dimensions": len(self.rotation)}
        numbers = {name: getattr(self, name) for name in ("rank", "residual", "fit", "scale", "unit")}
        return {**names, **sizes, **numbers, "center": self.moving_center is not None, "lost": dict(self.lost)}

    def summary(self) -> Summary:
        """How well the two fit, and on how many words that rests."""
        return Summary(
            title=f"Alignment of {self.moving} to {self.fixed}",
            headline=(
                f"{self.moving!r} to {self.fixed!r}: {len(self.words):,} shared words, fit {self.fit:.3f}, "
                f"rank {self.rank} of {len(self.rotation)}"
            ),
            sentences=tuple(f"{word}: {why}" for word, why in self.lost.items()),
        )


def align(
    moving: VectorsLike,
    fixed: VectorsLike,
    *,
    words: Iterable[str] | None = None,
    center: bool = False,
    unit: bool = False,
    scale: bool = False,
) -> Alignment:
    """Find the rotation that brings one model nearest to another over the words that both have.

    Args:
        moving: the model to turn: an `Embedding` or anything `load` takes.
        fixed: the model to turn it to.
        words: use these words alone, say those whose meaning is known not to differ; all shared words when None.
        center: subtract from each model the mean of the shared words first (after `unit`).
        unit: scale vectors to length 1 first.
        scale: find the best factor besides the rotation.

    Raises:
        ParameterError: the models differ in their dimensions or share no word with a direction.
    """
    models = [load(moving), load(fixed)]
    check_dimensions(models)
    joint = JointVocabulary.of(models)
    places, lost = joint.shared(), {}
    if words is not None:
        asked = distinct_words(words, "words", "align")
        places = joint.places(asked)
        shared = (places >= 0) & (joint.rows[:, places] >= 0).all(axis=0)
        lost = {
            word: f"not in {' nor in '.join(repr(model.name) for model in models if word not in model)}"
            for word, both in zip(asked, shared, strict=True)
            if not both
        }
        places = places[shared]
    with on_one_thread():
        a, b, best = align_sides(models, joint.rows[:, places], unit=unit, center=center)
        factor = best.overlap / _squares(a) if scale else 1.0
        residual, size = _residual(a, b, factor * best.matrix), _squares(b)
    return Alignment(
        moving=models[0].name,
        fixed=models[1].name,
        words=tuple(joint.words[place] for place in places.tolist()),
        rotation=best.matrix,
        residual=residual**0.5,
        fit=1 - residual / size,
        rank=best.rank,
        scale=factor,
        unit=unit,
        moving_center=a.center,
        fixed_center=b.center,
        lost=MappingProxyType(lost),
    )


def _squares(side: Side) -> float:
    return float(sum(float(np.square(side.block(part)).sum()) for part in side.parts()))


def _residual(a: Side, b: Side, turn: Floats) -> float:
    return float(sum(float(np.square(a.block(part) @ turn - b.block(part)).sum()) for part in a.parts()))


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
        vectors=mean.astype(np.result_type(np.float32, *(model.vectors.dtype for model in loaded))),
        name=name or f"mean of {len(loaded)} models",
        source=f"mean of {', '.join(model.name for model in loaded)} ({how})",
        dropped=MappingProxyType(
            {word: f"not in all {len(loaded)} models" for place, word in enumerate(joint.words) if place not in present}
        ),
    )


def _rotations(sides: Sequence[Side]) -> tuple[list[Floats], int]:
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
                best = best_rotation(goal)
                gained += best.overlap - float(np.vdot(turns[i], goal))
                turns[i], overlap = best.matrix, overlap + best.overlap
        if gained <= _SETTLED * overlap:
            return turns, number
    raise ParameterError(
        f"The models could not be aligned: they still came nearer to each other after {_MOST_ROUNDS} rounds; they have "
        "too little in common to be averaged. aligned=False averages them as they are."
    )


def _start(cross: Mapping[tuple[int, int], Floats], models: int, dim: int) -> list[Floats]:
    """Rotations nearest to the leading eigenvectors of the matrix of all cross-products."""
    from scipy.linalg import eigh

    blocks = np.zeros((models, dim, models, dim))
    for (i, j), product in cross.items():
        blocks[i, :, j] = product
    size = models * dim
    matrix = blocks.reshape(size, size)
    if not np.isfinite(matrix).all():
        raise ParameterError("These vectors are too long to be aligned: their products overflow.")
    with on_one_thread():  # SciPy has a library for products of its own, which may have been loaded just now
        _, leading = eigh(matrix, subset_by_index=[size - dim, size - 1], overwrite_a=True, check_finite=False)
    return [best_rotation(block).matrix for block in leading.reshape(models, dim, dim)]


def _mean(sides: Sequence[Side], turns: Sequence[Floats] | None) -> Floats:
    total = np.zeros((len(sides[0]), sides[0].vectors.shape[1]))
    for number, side in enumerate(sides):
        for part in side.parts():
            block = side.block(part)
            total[part] += block if turns is None else block @ turns[number]
    total /= len(sides)
    return total
