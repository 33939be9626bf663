"""`Mitigation`: settings, `fit`, `transform`, and the properties that tests hold it to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar, get_args, overload

import numpy as np

from biasgauge import registry
from biasgauge.core import Flags, Floats, Places, Vectors, VectorsLike, check_choice, check_number, row_lengths
from biasgauge.errors import ParameterError
from biasgauge.mitigation.subspace import mark_words
from biasgauge.stats import on_one_thread
from biasgauge.vectors import ROWS, Coverage, Embedding, load

Direction = Literal["debias", "overbias"]
Norms = Literal["kept", "unit"]
Progress: TypeAlias = "Callable[[int, int], None]"

_VANISHING = {4: 1e-5, 8: 1e-12}
"""Share of a vector's length below which the remainder is rounding alone, by bytes of its numbers."""


class AnchorVectors(NamedTuple):
    """New vectors of some words, each found for that word alone."""

    rows: Places
    vectors: Floats


@dataclass(kw_only=True, eq=False)
class Mitigation(ABC):
    """A change of vectors after training: `fit` finds it on an embedding, `transform` makes it, on a copy.

    Attributes:
        direction: "debias", or "overbias": the same change the other way, where there is one.
        strength: 0 leaves the vectors as they are, 1 is the whole method; between them vectors move part of the way.
            Overbias may go further than 1.
        norms: "kept" gives each vector its old length back, so that only directions change; "unit" scales every
            vector to length 1.
        coverage_: after `fit`: the words that the method asked for, found and lost.
        emptied_: after `transform`: words of which nothing was left; their vectors are zero.
    """

    name: ClassVar[str]
    """Name in commands."""
    summary: ClassVar[str]
    """One sentence."""
    source: ClassVar[str]
    """Paper and part of it."""
    inverse: ClassVar[bool]
    """True if there is an overbias."""
    rotation_equivariant: ClassVar[bool]
    """Rotating all vectors rotates the result and changes nothing else."""
    idempotent: ClassVar[bool]
    """At strength 1, a second `transform` changes nothing more."""
    most: ClassVar[float] = float("inf")
    """The largest strength of overbias."""

    direction: Direction = "debias"
    strength: float = 1.0
    norms: Norms = "kept"
    coverage_: Coverage | None = field(default=None, init=False, repr=False)
    emptied_: tuple[str, ...] = field(default=(), init=False, repr=False)
    _dim: int | None = field(default=None, init=False, repr=False)
    _specific: tuple[str, ...] = field(default=(), init=False, repr=False)
    _spared: Flags = field(init=False, repr=False)
    _progress: Progress | None = field(default=None, init=False, repr=False)

    def fit(self, vectors: VectorsLike) -> Self:
        """Find the change on an `Embedding` or anything `load` takes.

        Raises:
            ParameterError: a setting cannot be used, or the embedding lacks the words that the method needs.
        """
        self._check_settings()
        model = load(vectors)
        with on_one_thread():
            self._fit(model)
        self._dim = model.dim
        return self

    def transform(self, vectors: VectorsLike, *, progress: Progress | None = None) -> Embedding:
        """Make the change on a copy: the same words in the same order, in single precision or better.

        `progress` is called with (done, total) by the methods that take long.

        Raises:
            ParameterError: not fitted yet, or on vectors of other dimensions.
        """
        model = self._check_model(vectors)
        with on_one_thread():
            self._prepare(model)
            self._progress = progress
            return self._apply(model, self._anchor_vectors(model) if self.step else no_anchors(model))

    def _check_model(self, vectors: VectorsLike) -> Embedding:
        """The embedding, if this was fitted on its like."""
        model = load(vectors)
        if self._dim is None:
            raise ParameterError(f"{type(self).__name__} must be fitted before it can transform: call fit first.")
        if model.dim != self._dim:
            raise ParameterError(f"{type(self).__name__} was fitted on {self._dim} dimensions. Got {model.dim}.")
        return model

    def _apply(self, model: Embedding, anchors: AnchorVectors) -> Embedding:
        """The embedding with its blocks moved and the vectors that words have of their own put in."""
        moved = np.empty(model.vectors.shape, np.float64 if model.vectors.dtype == np.float64 else np.float32)
        emptied_blocks: list[Places] = []
        for start in range(0, len(model), ROWS):
            rows = slice(start, start + ROWS)
            block = model.vectors[rows].astype(moved.dtype, copy=False)
            new = self._block(block, rows) if self.step else block
            emptied_blocks.append(start + self._rescale(block, new, moved[rows]))
        old = model.vectors[anchors.rows].astype(np.float64)
        mixed = np.empty(old.shape)
        emptied = anchors.rows[self._rescale(old, old + self.step * (anchors.vectors - old), mixed)]
        moved[anchors.rows] = mixed
        left_empty = np.union1d(np.setdiff1d(np.concatenate([*emptied_blocks, emptied]), anchors.rows), emptied)
        self.emptied_ = tuple(model.words[row] for row in left_empty.tolist())
        return replace(model, vectors=self._finish(moved), name=f"{model.name} ({self.label})", lineage="")

    def fit_transform(self, vectors: VectorsLike) -> Embedding:
        """Fit on an embedding and change it."""
        model = load(vectors)
        return self.fit(model).transform(model)

    def get_params(self) -> dict[str, Any]:
        """Every setting by its name."""
        return {setting.name: getattr(self, setting.name) for setting in fields(self) if setting.init}

    @property
    def step(self) -> float:
        """Signed strength: negative for overbias."""
        return self.strength if self.direction == "debias" else -self.strength

    @property
    def label(self) -> str:
        """Name of the result."""
        return f"{self.name} {self.direction}" + ("" if self.strength == 1 else f" {self.strength:g}")

    @property
    def unit_norms(self) -> bool:
        """True if every vector of the result has length 1."""
        return self.norms == "unit"

    @abstractmethod
    def _fit(self, model: Embedding) -> None:
        """Find the change."""

    def _prepare(self, model: Embedding) -> None:
        """Look up what the blocks of this model need: by default the words that stay as they are."""
        self._spared = mark_words(model, self._specific)

    def _block(self, block: Vectors, part: slice) -> Vectors:
        """New vectors of a block of rows, `step` of the way; lengths are seen to afterwards."""
        del part
        return block

    def _anchor_vectors(self, model: Embedding) -> AnchorVectors:
        """Vectors at the end of the way for words that the blocks do not settle."""
        return no_anchors(model)

    def _finish(self, moved: Vectors) -> Vectors:
        """The last touch."""
        return moved

    def _rescale(self, old: Vectors, new: Vectors, out: Vectors) -> Places:
        """Write `new` with the lengths asked for; give the places of which nothing is left."""
        before, after = row_lengths(old), row_lengths(new)
        vanished = after <= _VANISHING[old.dtype.itemsize] * before
        after[vanished] = 1
        target = np.ones_like(before) if self.unit_norms else before
        factor = np.where(vanished, 0, target / after).astype(out.dtype)
        np.multiply(new, factor[:, None], out=out)
        return np.flatnonzero(vanished & (before > 0))

    def _check_settings(self) -> None:
        check_choice(get_args(Direction), direction=self.direction)
        check_choice(get_args(Norms), norms=self.norms)
        if self.direction == "overbias" and not self.inverse:
            raise ParameterError(f"{type(self).__name__} has no inverse: its direction can only be 'debias'.")
        check_number(0, 1.0 if self.direction == "debias" else self.most, strength=self.strength)


def no_anchors(model: Embedding) -> AnchorVectors:
    """No word has a vector of its own."""
    return AnchorVectors(np.empty(0, np.intp), np.empty((0, model.dim)))


def mitigation_method(name: str, **settings: Any) -> Mitigation:  # noqa: ANN401 - those of the method
    """A method with its settings, to `fit` and to `transform` with; its docstring says what it does.

    Raises:
        ParameterError: there is no method of that name, or it has no such setting.
    """
    kind = registry.get("mitigation", name)
    names = kind().get_params()
    for setting in settings:
        if setting not in names:
            raise ParameterError(f"The method {name!r} has no setting {setting!r}; it has {', '.join(names)}.")
    return kind(**settings)


EmbeddingList = TypeVar("EmbeddingList", bound=list[Embedding])


@overload
def mitigate(vectors: EmbeddingList, method: str = "hard", **settings: Any) -> EmbeddingList: ...  # noqa: ANN401 - as above
@overload
def mitigate(vectors: VectorsLike, method: str = "hard", **settings: Any) -> Embedding: ...  # noqa: ANN401 - as above
def mitigate(vectors: VectorsLike | EmbeddingList, method: str = "hard", **settings: Any) -> Embedding | EmbeddingList:
    """Debias (or overbias) vectors: fit a method on them and give the changed copy.

    Args:
        vectors: an `Embedding` or anything `load` takes; or a list of them, such as the views of a transformer, each of
            which is changed by itself.
        method: one of `registry.names("mitigation")`.
        settings: of the method: `direction`, `strength`, `norms` for all of them; see its class.

    Raises:
        ParameterError: a method or a setting is unknown or cannot be used.
    """
    if isinstance(vectors, list):
        return type(vectors)(mitigation_method(method, **settings).fit_transform(model) for model in vectors)
    return mitigation_method(method, **settings).fit_transform(vectors)
