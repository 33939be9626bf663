"""`align`: turn one model so that its words lie as near as can be to those of another.

Training from another seed gives other axes: vectors of two replicates can be compared only after a rotation. The best
one is orthogonal Procrustes on the words that both have (Hamilton, Leskovec & Jurafsky, ACL 2016; Schönemann 1966).
Rotations change no length and no cosine within a model, so no bias score that depends on those alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.joint_vocabulary import JointVocabulary, check_dimensions
from biasgauge.embeddings.loading import load
from biasgauge.embeddings.procrustes import Side, best_rotation, cross_product
from biasgauge.errors import ParameterError
from biasgauge.inputs import VectorsLike, distinct_words
from biasgauge.results import Result, Summary
from biasgauge.stats.threads import on_one_thread


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

    moving: str
    fixed: str
    words: tuple[str, ...]
    rotation: NDArray[np.float64]
    residual: float
    fit: float
    rank: int
    scale: float = 1.0
    unit: bool = False
    moving_center: NDArray[np.float64] | None = None
    fixed_center: NDArray[np.float64] | None = None
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
        return Embedding(
            words=embedding.words,
            vectors=turned,
            name=embedding.name,
            source=embedding.source,
            format="memory",
            notices=embedding.notices,
            dropped=embedding.dropped,
        )

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object, without the words and the matrix."""
        return {
            "moving": self.moving,
            "fixed": self.fixed,
            "shared": len(self.words),
            "dimensions": len(self.rotation),
            "rank": self.rank,
            "residual": self.residual,
            "fit": self.fit,
            "scale": self.scale,
            "unit": self.unit,
            "center": self.moving_center is not None,
            "lost": dict(self.lost),
        }

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
        held = (places >= 0) & (joint.rows[:, places] >= 0).all(axis=0)
        lost = {
            word: f"not in {' nor in '.join(repr(model.name) for model in models if word not in model)}"
            for word, both in zip(asked, held, strict=True)
            if not both
        }
        places = places[held]
    a, b = (Side(model.vectors, rows[places], unit) for model, rows in zip(models, joint.rows, strict=True))
    if center:
        a, b = a.centered(), b.centered()
    with on_one_thread():
        found = best_rotation(cross_product(a, b))
        if not found.rank:
            raise ParameterError(
                f"There is nothing to align {models[0].name!r} and {models[1].name!r} on: they share "
                f"{len(places):,} words, none of them with a direction in both."
            )
        factor = found.overlap / _squares(a) if scale else 1.0
        residual, size = _residual(a, b, factor * found.matrix), _squares(b)
    return Alignment(
        moving=models[0].name,
        fixed=models[1].name,
        words=tuple(joint.words[place] for place in places.tolist()),
        rotation=found.matrix,
        residual=residual**0.5,
        fit=1 - residual / size,
        rank=found.rank,
        scale=factor,
        unit=unit,
        moving_center=a.center,
        fixed_center=b.center,
        lost=MappingProxyType(lost),
    )


def _squares(side: Side) -> float:
    return float(sum(float(np.square(side.block(part)).sum()) for part in side.parts()))


def _residual(a: Side, b: Side, turn: NDArray[np.float64]) -> float:
    return float(sum(float(np.square(a.block(part) @ turn - b.block(part)).sum()) for part in a.parts()))
