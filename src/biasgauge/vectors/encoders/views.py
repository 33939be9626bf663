"""`Views` of one model, each an `Embedding` with its layer, pooling, template and context as facets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, SupportsIndex, overload

import numpy as np

from biasgauge.core import Singles
from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    import pandas as pd

FACETS = ("checkpoint", "layer", "pooling", "template", "context")
"""Facets by which views may differ, in the order of tables."""

Level = str | int


class Views(list[Embedding]):
    """Embeddings of the same words by checkpoint, layer, pooling, template and context: a list of models.

    Use it as a list of models: `bg.score(views, …)`, `bg.audit(views)`. `facets` lists the levels, `select` returns one
    view, `subset` some, `averaged` means over some facets.

    Attributes:
        warnings: remarks on their making.
    """

    def __init__(self, members: Iterable[Embedding], warnings: Sequence[str] = ()) -> None:
        super().__init__(members)
        self.warnings = tuple(warnings)
        seen: set[tuple[Level, ...]] = set()
        for view in self:
            if set(view.facets) != set(FACETS):
                raise ParameterError(
                    f"A view must state its {', '.join(FACETS)}. Got {dict(view.facets)} ({view.name})."
                )
            levels = tuple(view.facets[name] for name in FACETS)
            if levels in seen:
                raise ParameterError(f"No two views may be of the same levels. Got {dict(view.facets)} twice.")
            seen.add(levels)

    @property
    def facets(self) -> Mapping[str, tuple[Level, ...]]:
        """Levels of each facet, in the order in which they occur."""
        return MappingProxyType({name: tuple(dict.fromkeys(view.facets[name] for view in self)) for name in FACETS})

    def select(self, **levels: Level) -> Embedding:
        """The one view with these levels: `views.select(layer=3, pooling="mean", template="This is {}.")`.

        Raises:
            ParameterError: there is none, or more than one.
        """
        chosen = self.subset(**levels)
        if len(chosen) == 1:
            return chosen[0]
        open_facets = {name: values for name, values in chosen.facets.items() if len(values) > 1}
        raise ParameterError(
            f"These levels leave {len(chosen):,} views; name one level of "
            f"{' and '.join(f'{name} ({_listed(values)})' for name, values in open_facets.items())}, or use subset."
        )

    def subset(self, **levels: Level | Iterable[Level]) -> Views:
        """All views with these levels; of a facet, one level or several.

        Raises:
            ParameterError: there is no such facet, or no such level.
        """
        wanted: dict[str, tuple[Level, ...]] = {}
        existing = self.facets
        for name, named in levels.items():
            if name not in existing:
                raise ParameterError(f"Views have no facet {name!r}; they have {', '.join(FACETS)}.")
            wanted[name] = (named,) if isinstance(named, (str, int)) else tuple(named)
            for level in wanted[name]:
                if level not in existing[name]:
                    raise ParameterError(f"No view has the {name} {level!r}; there are {_listed(existing[name])}.")
        members = (view for view in self if all(view.facets[name] in values for name, values in wanted.items()))
        return Views(members, self.warnings)

    def averaged(self, *over: str) -> Views:
        """Means over all levels of some facets, such as ("context",): static vectors from contextual ones.

        With `pooling="mean"` and natural contexts this is the static embedding of Bommasani et al. 2020: the mean over
        contexts of the mean over a word's pieces at one layer. A word that some of the views lack is averaged over the
        others.

        Raises:
            ParameterError: there is no such facet.
        """
        for name in over:
            if name not in FACETS:
                raise ParameterError(f"Views have no facet {name!r}; they have {', '.join(FACETS)}.")
        groups: dict[tuple[Level, ...], list[Embedding]] = {}
        for view in self:
            groups.setdefault(tuple(view.facets[name] for name in FACETS if name not in over), []).append(view)
        return Views((_average_views(members, over) for members in groups.values()), self.warnings)

    def to_frame(self) -> pd.DataFrame:
        """One row per view: its levels, name, words and dimensions."""
        import pandas as pd

        return pd.DataFrame([{**view.facets, "name": view.name, "words": len(view), "dim": view.dim} for view in self])

    def to_numpy(self, words: Sequence[str] | None = None) -> Singles:
        """Vectors as checkpoint × layer × pooling × template × context × word × dimension; NaN where there is none.

        Raises:
            ParameterError: checkpoints differ in their dimensions.
        """
        facets = self.facets
        if len({view.dim for view in self}) > 1:
            raise ParameterError("Views of different dimensions make no array; choose one checkpoint by subset.")
        listed = tuple(dict.fromkeys(word for view in self for word in view.words)) if words is None else tuple(words)
        shape = (*(len(facets[name]) for name in FACETS), len(listed), self[0].dim)
        array = np.full(shape, np.nan, np.float32)
        for view in self:
            index = tuple(facets[name].index(view.facets[name]) for name in FACETS)
            rows = [(column, view.index[word]) for column, word in enumerate(listed) if word in view.index]
            if rows:
                columns, sources = np.array(rows).T
                array[index][columns] = view.vectors[sources]
        return array

    @overload
    def __getitem__(self, index: SupportsIndex) -> Embedding: ...
    @overload
    def __getitem__(self, index: slice) -> Views: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Embedding | Views:
        if isinstance(index, slice):
            return Views(super().__getitem__(index), self.warnings)
        return super().__getitem__(index)

    def __repr__(self) -> str:
        sizes = " × ".join(
            f"{len(levels)} {name}{'s' * (len(levels) != 1)}" for name, levels in self.facets.items() if len(levels) > 1
        )
        return f"<Views: {sizes or '1 view'}, {len(self[0]) if self else 0:,} words>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{name}</th><td>{escape(_listed(levels))}</td></tr>" for name, levels in self.facets.items()
        )
        return f"<p>{escape(repr(self))}</p><table>{rows}</table>"


def view_name(facets: Mapping[str, Level]) -> str:
    """Name of a view: "MiniLM, layer 3, mean, This is {}.", or "context 2" in the place of a template."""
    setting = str(facets["template"]) if not facets["context"] else f"context {facets['context']}"
    return f"{facets['checkpoint']}, layer {facets['layer']}, {facets['pooling']}, {setting}"


def _average_views(members: Sequence[Embedding], over: Sequence[str]) -> Embedding:
    """Average several views into one."""
    words = tuple(dict.fromkeys(word for view in members for word in view.words))
    row_of = {word: row for row, word in enumerate(words)}
    total, counts = np.zeros((len(words), members[0].dim)), np.zeros(len(words))
    for view in members:
        rows = np.array([row_of[word] for word in view.words], np.intp)
        total[rows] += view.vectors
        counts[rows] += 1
    facets = dict(members[0].facets)
    for name in over:
        levels = len({view.facets[name] for view in members})
        facets[name] = f"mean of {levels}" if levels > 1 else facets[name]
    dropped = {word: reason for view in members for word, reason in view.dropped.items() if word not in row_of}
    return replace(
        members[0], words=words, vectors=(total / counts[:, None]).astype(np.float32), name=view_name(facets),
        dropped=MappingProxyType(dropped), facets=MappingProxyType(facets),
    )  # fmt: skip


def _listed(levels: Sequence[Level]) -> str:
    shown = [str(level) for level in levels[:8]]
    return ", ".join(shown) + (f" … ({len(levels)} in all)" if len(levels) > len(shown) else "")
