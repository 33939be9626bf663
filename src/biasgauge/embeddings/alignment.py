"""`align`: turn one model so that its words lie as near as can be to those of another.

Training from another seed gives other axes: vectors of two replicates can be compared only after a rotation. The best
one is orthogonal Procrustes on the words that both have (Hamilton, Leskovec & Jurafsky, ACL 2016; Schönemann 1966).
Rotations change no length and no cosine within a model, so no bias score that depends on those alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.joint_vocabulary import JointVocabulary, check_dimensions
from biasgauge.embeddings.load import load
from biasgauge.embeddings.procrustes import Side, best_rotation, cross_product, on_one_thread
from biasgauge.embeddings.word_arguments import distinct_words
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Alignment:
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
        moving_centre: is subtracted before the rotation; None when centring was not asked for.
        fixed_centre: is added after it; None likewise.
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
    moving_centre: NDArray[np.float64] | None = None
    fixed_centre: NDArray[np.float64] | None = None
    lost: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def apply(self, embedding: Embedding) -> Embedding:
        """Turn every vector of a model: s (v − centre) Q + the fixed model's centre.

        The model is usually the one that was aligned; another in the same axes will do. Half precision becomes single.

        Raises:
            ParameterError: it has another number of dimensions.
        """
        if embedding.dim != len(self.rotation):
            raise ParameterError(
                f"This alignment turns vectors of {len(self.rotation)} dimensions. Got {embedding.dim} in "
                f"{embedding.name!r}."
            )
        side = Side(embedding.vectors, np.arange(len(embedding)), self.unit, self.moving_centre)
        turned = np.empty(embedding.vectors.shape, np.result_type(embedding.vectors.dtype, np.float32))
        turn = self.scale * self.rotation
        with on_one_thread():
            for part in side.parts():
                turned[part] = side.block(part) @ turn + (0 if self.fixed_centre is None else self.fixed_centre)
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
            "centre": self.moving_centre is not None,
            "lost": dict(self.lost),
        }

    def __repr__(self) -> str:
        return (
            f"<Alignment of {self.moving!r} to {self.fixed!r}: {len(self.words):,} shared words, fit {self.fit:.3f}, "
            f"rank {self.rank} of {len(self.rotation)}>"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"


def align(
    moving: object,
    fixed: object,
    *,
    words: Iterable[str] | None = None,
    centre: bool = False,
    unit: bool = False,
    scale: bool = False,
) -> Alignment:
    """Find the rotation that brings one model nearest to another over the words that both have.

    Args:
        moving: the model to turn: an `Embedding` or anything `load` takes.
        fixed: the model to turn it to.
        words: use these words alone, say those whose meaning is known not to differ; all shared words when None.
        centre: subtract from each model the mean of the shared words first (after `unit`).
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
            word: f"not in {' nor in '.join(repr(one.name) for one in models if word not in one)}"
            for word, both in zip(asked, held, strict=True)
            if not both
        }
        places = places[held]
    a, b = (Side(model.vectors, rows[places], unit) for model, rows in zip(models, joint.rows, strict=True))
    if centre:
        a, b = a.centred(), b.centred()
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
        moving_centre=a.centre,
        fixed_centre=b.centre,
        lost=MappingProxyType(lost),
    )


def _squares(side: Side) -> float:
    return float(sum(float(np.square(side.block(part)).sum()) for part in side.parts()))


def _residual(a: Side, b: Side, turn: NDArray[np.float64]) -> float:
    return float(sum(float(np.square(a.block(part) @ turn - b.block(part)).sum()) for part in a.parts()))
