"""A sweep on a GPU: which models fit side by side, their training in step, their files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.errors import InputError, ParameterError
from biasgauge.io import readable_size
from biasgauge.text import TokenCorpus
from biasgauge.text.training.algorithms import Fit, algorithm
from biasgauge.text.training.cuda.device import Buffer, Device
from biasgauge.text.training.cuda.kernels import LONGEST, Kernel, glove_row, kernel_of, padded
from biasgauge.text.training.cuda.shapes import shape_of
from biasgauge.text.training.cuda.together import (
    DeviceText,
    GloveGroup,
    Group,
    NegativeSamplingGroup,
    Reader,
    Slices,
    Visitor,
    run_group,
)  # fmt: skip
from biasgauge.text.training.glove.algorithm import fit_of_weights
from biasgauge.text.training.glove.descent import PIECE, refuse_cost, shuffled
from biasgauge.text.training.model_file import TrainedModel, write_model
from biasgauge.text.training.negative_sampling import BLOCK, TABLES, Reading
from biasgauge.text.training.random_stream import stream
from biasgauge.text.training.text import TrainingText
from biasgauge.text.training.word2vec import SharedParts, fit_of_parts

if TYPE_CHECKING:
    from biasgauge.text.training.algorithms import Recipe

ROOM = 0.92
"""Share of the free memory that is planned with; the rest is for the compiled kernels and for CuPy."""


@dataclass(frozen=True, eq=False)
class _Source:
    """A text that is trained on: what the trainer prepared, and its tables for the device."""

    text: TrainingText
    prepared: Any
    tables: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, recipe: Recipe, text: TrainingText, prepared: Any) -> _Source:  # noqa: ANN401 - the trainer's own
        if recipe.algorithm == "glove":
            return cls(text, prepared, {})
        extra: dict[str, NDArray[Any]] = {}
        if isinstance(prepared, SharedParts):
            extra = {"starts": prepared.starts, "parts": prepared.parts.astype(np.int32)}
        read: Reading = prepared.read if isinstance(prepared, SharedParts) else prepared
        tables: dict[str, Any] = dict(zip(read._fields, read, strict=True))  # the arrays themselves: texts share them
        return cls(text, prepared, tables | extra)

    @property
    def rows(self) -> int:
        """Words, and fastText's n-grams."""
        grams = len(self.prepared.grams) if isinstance(self.prepared, SharedParts) else 0
        return len(self.text.vocabulary.words) + grams

    def bytes_of_model(self, recipe: Recipe) -> int:
        """What one replicate takes of the device's memory."""
        words, dim = len(self.text.vocabulary.words), recipe.settings.dim
        if recipe.algorithm == "glove":
            return 2 * words * glove_row(dim) * 4 + len(self.prepared) * 16
        return (self.rows + words) * padded(dim) * 4 + 4 * LONGEST


@dataclass(frozen=True)
class Side:
    """Models that are trained side by side: their places among the recipes, their memory with that of their texts."""

    places: tuple[int, ...]
    size: int


def plan_sides(recipes: Sequence[Recipe], sources: dict[str, _Source], free: int) -> list[Side]:
    """Put recipes of one algorithm and the same settings side by side, as many as fit, in their order.

    Raises:
        InputError: one model alone does not fit.
    """
    room = int(free * ROOM)
    sides: list[Side] = []
    seen: set[int] = set()
    for place, recipe in enumerate(recipes):
        source = sources[recipe.text_digest]
        own = source.bytes_of_model(recipe)
        tables = {id(table): table.nbytes for table in source.tables.values()}
        last = recipes[place - 1] if place else None
        alike = last is not None and (last.algorithm, last.settings) == (recipe.algorithm, recipe.settings)
        together = own + sum(size for table, size in tables.items() if table not in seen)
        if alike and sides[-1].size + together <= room:
            sides[-1] = Side((*sides[-1].places, place), sides[-1].size + together)
            seen |= tables.keys()
            continue
        alone = own + sum(tables.values())
        if alone > room:
            raise InputError(
                f"One model would take about {readable_size(alone)} of the GPU's memory, of which "
                f"{readable_size(free)} are free. Raise min_count, lower dim, or train on the CPU."
            )
        sides.append(Side((place,), alone))
        seen = set(tables)
    return sides


class DeviceSweep:
    """As `sweep._Sweep`, for a GPU."""

    def __init__(
        self, corpus: TokenCorpus, folder: Path, recipes: Sequence[Recipe],
        progress: Callable[[int, int], None] | None, say: Callable[[str], None] | None, device: Device,
    ) -> None:  # fmt: skip
        self._folder, self._recipes, self._device = folder, recipes, device
        self._progress, self._say, self._corpus = progress, say, corpus
        self._efforts = [algorithm(recipe.algorithm).effort * recipe.settings.epochs * 1000 for recipe in recipes]
        self._done = [0.0] * len(recipes)

    def run(self, prepare: Callable[[TokenCorpus, Recipe, Path], tuple[TrainingText, Any]]) -> list[TrainedModel]:
        """Plan, then train one group after the other; `prepare` makes what replicates of a text share."""
        for recipe in self._recipes:
            if not recipe.deterministic:
                raise ParameterError("On a GPU every model is trained in one order: n_jobs_per_model must be 1.")
        sources: dict[str, _Source] = {}
        self._report()
        for recipe in self._recipes:
            if recipe.text_digest not in sources:
                sources[recipe.text_digest] = _Source.of(recipe, *prepare(self._corpus, recipe, self._folder))
                self._report()
        free = self._device.free_memory()
        sides = plan_sides(self._recipes, sources, free)
        if self._say is not None and sides:
            self._say(plan_sentence(sides, self._device.name, free))
        models: dict[int, TrainedModel] = {}
        for side in sides:
            models |= self._train(side, sources)
        return [models[place] for place in range(len(self._recipes))]

    def _train(self, side: Side, sources: dict[str, _Source]) -> dict[int, TrainedModel]:
        started = time.monotonic()
        recipes = [self._recipes[place] for place in side.places]
        own = [sources[recipe.text_digest] for recipe in recipes]
        group = _group(self._device, recipes, own)

        def report() -> None:
            for place, recipe, source, course in zip(side.places, recipes, own, group.courses, strict=True):
                if recipe.algorithm == "glove" and course.losses:
                    refuse_cost(course.losses[-1], recipe.settings.eta, len(course.losses))  # type: ignore[union-attr]
                steps = len(source.prepared) if recipe.algorithm == "glove" else source.text.tokens
                self._done[place] = self._efforts[place] * course.done / (recipe.settings.epochs * max(1, steps))
            self._report()

        run_group(group, report)
        seconds = (time.monotonic() - started) / len(recipes)
        models: dict[int, TrainedModel] = {}
        problem: InputError | None = None
        for number, (place, recipe, source) in enumerate(zip(side.places, recipes, own, strict=True)):
            fit = _fit(group, number, recipe, source)
            try:
                models[place] = write_model(self._folder, recipe, source.text, fit, seconds, device=self._device.name)
            except InputError as wrong:  # this one diverged; the others are as good as they are
                problem = problem or wrong
            self._report()
        if problem is not None:
            raise problem
        return models

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(int(sum(self._done)), int(sum(self._efforts)))


def plan_sentence(sides: Sequence[Side], name: str, free: int) -> str:
    """What the plan is, in one sentence."""
    count = sum(len(side.places) for side in sides)
    most = max(len(side.places) for side in sides)
    how = "1 model" if count == 1 else f"{count:,} models side by side"
    if len(sides) > 1:
        how = f"{count:,} models in {len(sides)} groups of at most {most}"
    return f"{how} on {name}: {readable_size(max(side.size for side in sides))} of the {readable_size(free)} free there"


def _group(device: Device, recipes: Sequence[Recipe], sources: Sequence[_Source]) -> Group:
    name, settings = recipes[0].algorithm, recipes[0].settings
    shape = shape_of(name, asdict(settings), len(recipes), device)
    kernel = kernel_of(name, asdict(settings), shape)
    _check_room(device, kernel)
    if name == "glove":
        given: Any = settings
        visitors = (_visitor(recipe, source) for recipe, source in zip(recipes, sources, strict=True))
        return GloveGroup(
            device, kernel, visitors, dim=settings.dim, eta=given.eta, epochs=settings.epochs, piece=PIECE
        )
    return NegativeSamplingGroup(
        device, kernel, list(_readers(device, recipes, sources)), dim=settings.dim, alpha=settings.alpha,
        min_alpha=getattr(settings, "min_alpha", 0.0), tables=TABLES,
    )  # fmt: skip


def _check_room(device: Device, kernel: Kernel) -> None:
    needed = device.program(kernel).shared_bytes
    if needed > device.shared_memory:
        raise InputError(
            f"With this dim, window and so many negatives a model needs {readable_size(needed)} of the GPU's shared "
            f"memory, which has {readable_size(device.shared_memory)}. Lower one of them, or train on the CPU."
        )


def _readers(device: Device, recipes: Sequence[Recipe], sources: Sequence[_Source]) -> Iterator[Reader]:
    known: dict[int, Buffer] = {}
    texts: dict[int, DeviceText] = {}
    for recipe, source in zip(recipes, sources, strict=True):
        if id(source) not in texts:
            texts[id(source)] = DeviceText.of(device, source.tables, known)
        text, epochs = source.text, recipe.settings.epochs
        edges = [0, *(last for _, last in text.blocks(0, len(text.order), BLOCK))]
        yield Reader(
            texts[id(source)],
            Slices(np.array(edges, np.int64), epochs),
            first_state=int(stream("initial vectors", recipe.seed)[0]),
            state=int(stream("epochs of thread 0", recipe.seed)[0]),
            input_rows=source.rows,
            total=epochs * max(1, text.tokens),
        )


def _visitor(recipe: Recipe, source: _Source) -> Visitor:
    settings: Any = recipe.settings
    cells = shuffled(
        source.prepared, x_max=float(settings.x_max), alpha=float(settings.alpha), seed=recipe.seed, memory=2**31
    )
    rows = 2 * source.prepared.size
    return Visitor(cells, len(cells), rows, int(stream("first weights", recipe.seed)[0]))


def _fit(group: Group, number: int, recipe: Recipe, source: _Source) -> Fit:
    course, dim = group.courses[number], recipe.settings.dim
    losses, tokens = tuple(course.losses), recipe.settings.epochs * source.text.tokens
    if isinstance(group, GloveGroup):
        return fit_of_weights(group.weights(number), source.prepared, dim, losses, tokens=tokens)
    inputs = group.inputs(number)
    if isinstance(source.prepared, SharedParts):
        settings: Any = recipe.settings
        return fit_of_parts(inputs, source.prepared, settings, losses, course.done)
    return Fit(np.ascontiguousarray(inputs[:, :dim]), losses, course.done)
