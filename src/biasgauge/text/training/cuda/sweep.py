"""A sweep on a GPU: groups of models that fit side by side, their training in step, their files."""

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
from biasgauge.text.training.algorithms import Fit, algorithm
from biasgauge.text.training.cuda.device import Buffer, Device
from biasgauge.text.training.cuda.kernels import LONGEST, Kernel, glove_row, kernel_of, padded, shape_of
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
from biasgauge.text.training.glove import PIECE, fit_from_weights, refuse_cost, shuffled
from biasgauge.text.training.model_file import TrainedModel, write_model
from biasgauge.text.training.negative_sampling import BLOCK, TABLES, Reading
from biasgauge.text.training.random_stream import stream
from biasgauge.text.training.text import TrainingText
from biasgauge.text.training.word2vec import SharedParts, fit_from_parts

if TYPE_CHECKING:
    from biasgauge.text.training.algorithms import Recipe

USABLE_SHARE = 0.92
"""Share of the free memory that models may use; the remainder is for the compiled kernels and for CuPy."""


@dataclass(frozen=True, eq=False)
class _Source:
    """A training text: the data that the trainer prepared, and its tables for the device."""

    text: TrainingText
    prepared: Any
    tables: dict[str, NDArray[Any]]

    @classmethod
    def build(cls, recipe: Recipe, text: TrainingText, prepared: Any) -> _Source:  # noqa: ANN401 - the trainer's own
        if recipe.algorithm == "glove":
            return cls(text, prepared, {})
        subwords: dict[str, NDArray[Any]] = {}
        if isinstance(prepared, SharedParts):
            subwords = {"starts": prepared.starts, "parts": prepared.parts.astype(np.int32)}
        read: Reading = prepared.read if isinstance(prepared, SharedParts) else prepared
        tables: dict[str, Any] = dict(zip(read._fields, read, strict=True))  # the arrays themselves: texts share them
        return cls(text, prepared, tables | subwords)

    @property
    def rows(self) -> int:
        """Number of words, and of fastText's n-grams."""
        grams = len(self.prepared.grams) if isinstance(self.prepared, SharedParts) else 0
        return len(self.text.vocabulary.words) + grams

    def bytes_of_model(self, recipe: Recipe) -> int:
        """Bytes of the device's memory that one replicate takes."""
        words, dim = len(self.text.vocabulary.words), recipe.settings.dim
        if recipe.algorithm == "glove":
            return 2 * words * glove_row(dim) * 4 + len(self.prepared) * 16
        return (self.rows + words) * padded(dim) * 4 + 4 * LONGEST


@dataclass(frozen=True)
class SideBySide:
    """Models that are trained together: their indices among the recipes, their memory with that of their texts."""

    indices: tuple[int, ...]
    size: int


def plan_sides(recipes: Sequence[Recipe], sources: dict[str, _Source], free: int) -> list[SideBySide]:
    """Put recipes of one algorithm and the same settings side by side, as many as fit, in their order.

    Raises:
        InputError: one model alone does not fit.
    """
    available = int(free * USABLE_SHARE)
    sides: list[SideBySide] = []
    copied: set[int] = set()
    for index, recipe in enumerate(recipes):
        source = sources[recipe.text_digest]
        size = source.bytes_of_model(recipe)
        tables = {id(table): table.nbytes for table in source.tables.values()}
        last = recipes[index - 1] if index else None
        alike = last is not None and (last.algorithm, last.settings) == (recipe.algorithm, recipe.settings)
        # Tables that an earlier model of the group reads are on the device already.
        together = size + sum(table_size for table, table_size in tables.items() if table not in copied)
        if alike and sides[-1].size + together <= available:
            sides[-1] = SideBySide((*sides[-1].indices, index), sides[-1].size + together)
            copied |= tables.keys()
            continue
        alone = size + sum(tables.values())
        if alone > available:
            raise InputError(
                f"One model would take about {readable_size(alone)} of the GPU's memory, of which "
                f"{readable_size(free)} are free. Raise min_count, lower dim, or train on the CPU."
            )
        sides.append(SideBySide((index,), alone))
        copied = set(tables)
    return sides


class DeviceSweep:
    """As `sweep._Sweep`, for a GPU."""

    def __init__(
        self, folder: Path, recipes: Sequence[Recipe], progress: Callable[[int, int], None] | None,
        say: Callable[[str], None] | None, device: Device,
    ) -> None:  # fmt: skip
        self._folder, self._recipes, self._device = folder, recipes, device
        self._progress, self._say = progress, say
        self._efforts = [algorithm(recipe.algorithm).effort * recipe.settings.epochs * 1000 for recipe in recipes]
        self._done = [0.0] * len(recipes)

    def run(self, prepare: Callable[[Recipe], tuple[TrainingText, Any]]) -> list[TrainedModel]:
        """Plan, then train one group after the other; `prepare` makes the data that replicates of a text share."""
        for recipe in self._recipes:
            if not recipe.deterministic:
                raise ParameterError("On a GPU every model is trained in one order: n_jobs_per_model must be 1.")
        sources: dict[str, _Source] = {}
        self._report()
        for recipe in self._recipes:
            if recipe.text_digest not in sources:
                sources[recipe.text_digest] = _Source.build(recipe, *prepare(recipe))
                self._report()
        free = self._device.free_memory()
        sides = plan_sides(self._recipes, sources, free)
        if self._say is not None and sides:
            self._say(plan_sentence(sides, self._device.name, free))
        models: dict[int, TrainedModel] = {}
        for side in sides:
            models |= self._train(side, sources)
        return [models[index] for index in range(len(self._recipes))]

    def _train(self, side: SideBySide, sources: dict[str, _Source]) -> dict[int, TrainedModel]:
        started = time.monotonic()
        recipes = [self._recipes[index] for index in side.indices]
        texts = [sources[recipe.text_digest] for recipe in recipes]
        group = _build_group(self._device, recipes, texts)

        def report() -> None:
            for index, recipe, source, course in zip(side.indices, recipes, texts, group.courses, strict=True):
                if recipe.algorithm == "glove" and course.losses:
                    refuse_cost(course.losses[-1], recipe.settings.eta, len(course.losses))  # type: ignore[union-attr]
                steps = len(source.prepared) if recipe.algorithm == "glove" else source.text.tokens
                self._done[index] = self._efforts[index] * course.done / (recipe.settings.epochs * max(1, steps))
            self._report()

        run_group(group, report)
        seconds = (time.monotonic() - started) / len(recipes)
        models: dict[int, TrainedModel] = {}
        problem: InputError | None = None
        for number, (index, recipe, source) in enumerate(zip(side.indices, recipes, texts, strict=True)):
            fit = _fit(group, number, recipe, source)
            try:
                models[index] = write_model(self._folder, recipe, source.text, fit, seconds, device=self._device.name)
            except InputError as error:  # this one diverged; the other models are sound
                problem = problem or error
            self._report()
        if problem is not None:
            raise problem
        return models

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(int(sum(self._done)), int(sum(self._efforts)))


def plan_sentence(sides: Sequence[SideBySide], name: str, free: int) -> str:
    """Describe the plan in one sentence."""
    count = sum(len(side.indices) for side in sides)
    most = max(len(side.indices) for side in sides)
    models = "1 model" if count == 1 else f"{count:,} models side by side"
    if len(sides) > 1:
        models = f"{count:,} models in {len(sides)} groups of at most {most}"
    return (
        f"{models} on {name}: {readable_size(max(side.size for side in sides))} of the {readable_size(free)} free there"
    )


def _build_group(device: Device, recipes: Sequence[Recipe], sources: Sequence[_Source]) -> Group:
    name, settings = recipes[0].algorithm, recipes[0].settings
    shape = shape_of(name, asdict(settings), len(recipes), device)
    kernel = kernel_of(name, asdict(settings), shape)
    _check_shared_memory(device, kernel)
    if name == "glove":
        glove: Any = settings
        visitors = (_visitor(recipe, source) for recipe, source in zip(recipes, sources, strict=True))
        return GloveGroup(
            device, kernel, visitors, dim=settings.dim, eta=glove.eta, epochs=settings.epochs, piece=PIECE
        )
    return NegativeSamplingGroup(
        device, kernel, list(_readers(device, recipes, sources)), dim=settings.dim, alpha=settings.alpha,
        min_alpha=getattr(settings, "min_alpha", 0.0), tables=TABLES,
    )  # fmt: skip


def _check_shared_memory(device: Device, kernel: Kernel) -> None:
    needed = device.program(kernel).shared_bytes
    if needed > device.shared_memory:
        raise InputError(
            f"With this dim, window and so many negatives a model needs {readable_size(needed)} of the GPU's shared "
            f"memory, which has {readable_size(device.shared_memory)}. Lower one of them, or train on the CPU."
        )


def _readers(device: Device, recipes: Sequence[Recipe], sources: Sequence[_Source]) -> Iterator[Reader]:
    on_device: dict[int, Buffer] = {}
    texts: dict[int, DeviceText] = {}
    for recipe, source in zip(recipes, sources, strict=True):
        if id(source) not in texts:
            texts[id(source)] = DeviceText.of(device, source.tables, on_device)
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
        return fit_from_weights(group.weights(number), source.prepared, dim, losses, tokens=tokens)
    inputs = group.inputs(number)
    if isinstance(source.prepared, SharedParts):
        settings: Any = recipe.settings
        return fit_from_parts(inputs, source.prepared, settings, losses, course.done)
    return Fit(np.ascontiguousarray(inputs[:, :dim]), losses, course.done)
