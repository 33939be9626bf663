"""`align` turns one model to another; `mean_embedding` averages several, turned to each other first.

Training from another seed gives other axes: replicates can be compared only after a rotation, which changes no length
and no cosine within a model. For two models that is orthogonal Procrustes on the words that both have (Hamilton,
Leskovec & Jurafsky, ACL 2016): the rotation Q that minimizes ‖A Q − B‖ is U Vᵀ of the singular value decomposition of
AᵀB (Schönemann, *Psychometrika* 31, 1966). AᵀB is summed in double precision over blocks of rows, so that 16-bit and
memory-mapped vectors are fine and memory is that of a block. For several models it is generalized Procrustes (Gower
1975; ten Berge 1977): each in turn to the sum of the others until they come no nearer, from a symmetric start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, compress
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from biasgauge.core import (
    Floats,
    JsonObject,
    ModelsLike,
    Places,
    Vectors,
    VectorsLike,
    distinct_words,
    row_cosines,
    row_lengths,
    take_rows,
    unit_rows,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Result, Summary
from biasgauge.stats import on_one_thread
from biasgauge.vectors.embedding import Embedding, JointVocabulary
from biasgauge.vectors.loading import load, load_models

ROWS = 1024
"""Rows in a block: two of them, in double precision, fit the cache for any usual number of dimensions."""

_SAFE = {4: (1e-15, 1e15), 8: (1e-140, 1e140)}
"""Lengths between which a product of two vectors is sound in numbers of so many bytes."""


class Rotation(NamedTuple):
    """The best rotation Q, the sum of the products of A Q with B, and the rank of AᵀB.

    Where the rank is below the dimensions, Q is one of many that fit as well.
    """

    matrix: Floats
    overlap: float
    rank: int


@dataclass(frozen=True, eq=False)
class Side:
    """Some rows of one model, in the order of the other side's, as they enter an alignment.

    With `unit`, rows are divided by their lengths first (zero rows stay zero); then `center` is subtracted.
    """

    vectors: Vectors
    rows: Places
    unit: bool = False
    center: Floats | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def block(self, span: slice, dtype: DTypeLike = np.float64) -> Vectors:
        """Some of the rows, as they enter the alignment."""
        stored = take_rows(self.vectors, self.rows[span])
        if not self.unit and self.center is None:
            return stored.astype(dtype, copy=False)
        wide = stored.astype(np.float64)
        if self.unit:
            wide = np.nan_to_num(unit_rows(wide, rescale=True))
        if self.center is not None:
            wide = wide - self.center
        return wide.astype(dtype, copy=False)

    def parts(self) -> list[slice]:
        """Slices that cover the rows, a block each."""
        return [slice(start, min(start + ROWS, len(self))) for start in range(0, len(self), ROWS)]

    def centered(self) -> Side:
        """The same rows less their mean."""
        total = np.zeros(self.vectors.shape[1])
        for span in self.parts():
            total += self.block(span).sum(axis=0)
        return replace(self, center=total / max(len(self), 1))

    def squares(self) -> float:
        """Sum of the squares of all numbers."""
        return float(sum(float(np.square(self.block(span)).sum()) for span in self.parts()))


def check_dimensions(models: Sequence[Embedding]) -> None:
    """Refuse models that no rotation can bring together: those that differ in their dimensions."""
    for model in models[1:]:
        if model.dim != models[0].dim:
            raise ParameterError(
                f"Models to align must have one number of dimensions. Got {models[0].dim} for {models[0].name!r} and "
                f"{model.dim} for {model.name!r}."
            )


def cross_product(a: Side, b: Side) -> Floats:
    """AᵀB in double precision."""
    total = np.zeros((a.vectors.shape[1], b.vectors.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):  # `best_rotation` refuses what overflowed
        for span in a.parts():
            total += a.block(span).T @ b.block(span)
    return total


def best_rotation(cross: Floats) -> Rotation:
    """Find Q from AᵀB, whose products must be finite."""
    if not np.isfinite(cross).all():
        raise ParameterError("These vectors are too long to be aligned: their products overflow; use unit=True.")
    left, values, right = np.linalg.svd(cross)
    least = values.max(initial=0) * len(values) * np.finfo(np.float64).eps
    return Rotation(left @ right, float(values.sum()), int(np.count_nonzero(values > least)))


def align_sides(
    models: Sequence[Embedding], rows: Iterable[Places], *, unit: bool, center: bool
) -> tuple[Side, Side, Rotation]:
    """Prepare rows of two models, and find the rotation that brings the first nearest to the second."""
    a, b = (Side(model.vectors, model_rows, unit) for model, model_rows in zip(models, rows, strict=True))
    if center:
        a, b = a.centered(), b.centered()
    rotation = best_rotation(cross_product(a, b))
    if not rotation.rank:
        raise ParameterError(
            f"There is nothing to align {models[0].name!r} and {models[1].name!r} on: they share {len(a):,} words, "
            "none of them with a direction in both."
        )
    return a, b, rotation


def cosines(
    a: Side, b: Side, rotation: Floats, selected: Places, lengths: tuple[Floats, Floats] | None = None
) -> Floats:
    """cos(a Q, b) of selected rows, in [−1, 1]; NaN where either is zero and so has no direction.

    Computed in the precision of the vectors (at least single); rows so long or short that it cannot hold their products
    are computed again from unit vectors. `lengths` are those of all rows of either side, where they are known.

    The last bits of a product depend on its shape and on the position in it. So a block is multiplied whole, or not at
    all where none of its rows is selected: a row's cosine is the same whatever others are.
    """
    single = a.center is None and max(a.vectors.itemsize, b.vectors.itemsize) <= 4
    dtype = np.dtype(np.float32 if single else np.float64)
    turn = rotation.astype(dtype)
    low, high = _SAFE[dtype.itemsize]
    values = np.full(len(a), np.nan)
    occupied = np.bincount(selected // ROWS, minlength=-(-len(a) // ROWS))
    for span in compress(a.parts(), occupied):
        if lengths is None:
            sizes = [row_lengths(side.block(span), rescale=True) for side in (a, b)]
        else:
            sizes = [side_lengths[span] for side_lengths in lengths]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            products = np.einsum("ij,ij->i", a.block(span, dtype) @ turn, b.block(span, dtype))
            values[span] = products / sizes[0] / sizes[1]
        # Products of vectors outside of these lengths over- or underflow in this precision.
        sound = np.logical_and.reduce([(size > low) & (size < high) for size in sizes])
        if not sound.all():
            again = np.flatnonzero(~sound)
            left, right = (unit_rows(side.block(span)[again].astype(np.float64), rescale=True) for side in (a, b))
            values[span.start + again] = np.einsum("ij,ij->i", left @ rotation, right)
    return np.asarray(np.clip(values[selected], -1, 1))


_TOLERANCE = 1e-12
"""Relative gain of a round in the models' overlap below which they count as aligned."""

_MOST_ROUNDS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Alignment(Result):
    """Rotation of one model towards another: `apply` carries it out.

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
    json_types: ClassVar[Mapping[str, Any]] = {"shared": int, "dimensions": int, "center": bool}

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
            for span in side.parts():
                turned[span] = side.block(span) @ turn + (0 if self.fixed_center is None else self.fixed_center)
        return replace(embedding, vectors=turned, format="memory")

    def to_dict(self) -> JsonObject:
        """One JSON-ready object, without the words and the matrix."""
        names = {"moving": self.moving, "fixed": self.fixed}
        sizes = {"shared": len(self.words), "dimensions": len(self.rotation)}
        numbers = {name: getattr(self, name) for name in ("rank", "residual", "fit", "scale", "unit")}
        return {**names, **sizes, **numbers, "center": self.moving_center is not None, "lost": dict(self.lost)}

    def summary(self) -> Summary:
        """Fit, number of shared words, and words that did not take part."""
        headline = f"{self.moving!r} to {self.fixed!r}: {len(self.words):,} shared words, fit {self.fit:.3f}"
        return Summary(
            title=f"Alignment of {self.moving} to {self.fixed}",
            headline=f"{headline}, rank {self.rank} of {len(self.rotation)}",
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
    indices, lost = joint.shared(), {}
    if words is not None:
        chosen_words = distinct_words(words, "words", "align")
        indices = joint.places(chosen_words)
        shared = (indices >= 0) & (joint.rows[:, indices] >= 0).all(axis=0)
        lost = {
            word: f"not in {' nor in '.join(repr(model.name) for model in models if word not in model)}"
            for word, both in zip(chosen_words, shared, strict=True)
            if not both
        }
        indices = indices[shared]
    with on_one_thread():
        a, b, best = align_sides(models, joint.rows[:, indices], unit=unit, center=center)
        factor = best.overlap / a.squares() if scale else 1.0
        turn = factor * best.matrix
        residual = sum(float(np.square(a.block(span) @ turn - b.block(span)).sum()) for span in a.parts())
    return Alignment(
        moving=models[0].name,
        fixed=models[1].name,
        words=tuple(joint.words[index] for index in indices.tolist()),
        rotation=best.matrix,
        residual=residual**0.5,
        fit=1 - residual / b.squares(),
        rank=best.rank,
        scale=factor,
        unit=unit,
        moving_center=a.center,
        fixed_center=b.center,
        lost=MappingProxyType(lost),
    )


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
    step = "not aligned"
    mean = np.zeros((len(shared), loaded[0].dim))
    with on_one_thread():
        turns: list[Floats] | None = None
        if aligned:
            turns, rounds = _rotations(sides)
            step = f"generalized Procrustes, {rounds} rounds"
        for number, side in enumerate(sides):
            # All models are turned into the axes of the first: Qᵢ Q₀ᵀ.
            turn = None if turns is None else turns[number] @ turns[0].T
            for span in side.parts():
                mean[span] += side.block(span) if turn is None else side.block(span) @ turn
        mean /= len(sides)
    present = set(shared.tolist())
    return Embedding(
        words=tuple(joint.words[index] for index in shared.tolist()),
        vectors=mean.astype(np.result_type(np.float32, *(model.vectors.dtype for model in loaded))),
        name=name or f"mean of {len(loaded)} models",
        source=f"mean of {', '.join(model.name for model in loaded)} ({step})",
        dropped=MappingProxyType(
            {word: f"not in all {len(loaded)} models" for index, word in enumerate(joint.words) if index not in present}
        ),
    )


def _rotations(sides: Sequence[Side]) -> tuple[list[Floats], int]:
    """Rotate every model to the sum of the others until the overlap no longer grows; return rotations and rounds."""
    cross = {(i, j): cross_product(sides[i], sides[j]) for i, j in combinations(range(len(sides)), 2)}
    cross.update({(j, i): product.T for (i, j), product in cross.items()})
    turns = _start(cross, len(sides), sides[0].vectors.shape[1])
    for number in range(_MOST_ROUNDS):
        overlap, gained = 0.0, 0.0
        for i in range(len(sides)):
            # Aᵢᵀ Σⱼ Aⱼ Qⱼ over the other models: its nearest rotation maximizes the overlap of model i with them.
            products = [cross[i, j] @ turns[j] for j in range(len(sides)) if j != i]
            if products:
                goal = np.sum(products, axis=0)
                best = best_rotation(goal)
                gained += best.overlap - float(np.vdot(turns[i], goal))
                turns[i], overlap = best.matrix, overlap + best.overlap
        if gained <= _TOLERANCE * overlap:
            return turns, number
    raise ParameterError(
        f"The models could not be aligned: they still came nearer to each other after {_MOST_ROUNDS} rounds; they have "
        "too little in common to be averaged. aligned=False averages them as they are."
    )


def _start(cross: Mapping[tuple[int, int], Floats], models: int, dim: int) -> list[Floats]:
    """Rotations nearest to the leading eigenvectors of the block matrix of all cross-products, which favor no model."""
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
    return [best_rotation(square).matrix for square in leading.reshape(models, dim, dim)]


MADE_FROM = 0.99
"""Median cosine of held-out words with what a linear map of the other model predicts, from which one was made from the
other. Shipped mitigation methods reach .999, two seeds of the shipped replicates .969, aligned or not."""
_WORDS = 4_000

SEPARATE = (
    "before and after were trained separately: intervals and p speak of other words, not of another training run, and "
    "two runs of one recipe differ at p < .05 in a sixth of cases or more; replicates of both sides would tell"
)


def separately_trained(before: Embedding, after: Embedding) -> bool:
    """Tell whether neither of two models was made from the other.

    One was made from the other where at least half of the shared words have the same vector, or where a linear map
    (least squares) from half of the shared words predicts the others: median cosine of at least `MADE_FROM`, without
    the two directions in which it errs most, for a change of some words in a direction of bias is not linear. With too
    few shared words for a map (fewer than four per dimension), the median cosine of the same words must be above .5.
    """
    words = [word for word in before.words if word in after.index]
    words = words[:: max(1, len(words) // max(_WORDS, 8 * max(before.dim, after.dim)))]
    first, second = (
        unit_rows(np.asarray(model.vectors[model.lookup(words).rows], np.float64)) for model in (before, after)
    )
    defined = np.isfinite(first).all(axis=1) & np.isfinite(second).all(axis=1)
    first, second = first[defined], second[defined]
    if before.dim == after.dim and len(first) and np.median(np.abs(first - second).max(axis=1)) < 1e-6:
        return False
    if len(first) < 4 * max(before.dim, after.dim):
        return before.dim != after.dim or _median_cosine(first, second) < 0.5
    linear_map = np.linalg.lstsq(first[::2], second[::2], rcond=None)[0]
    predicted, actual = first[1::2] @ linear_map, second[1::2]
    errs_most = np.linalg.svd(actual - predicted, full_matrices=False)[2][:2]
    return _median_cosine(*(rows - rows @ errs_most.T @ errs_most for rows in (predicted, actual))) < MADE_FROM


def _median_cosine(first: Floats, second: Floats) -> float:
    cosines = row_cosines(first, second)
    cosines = cosines[np.isfinite(cosines)]
    return float(np.median(cosines)) if len(cosines) else 0.0
