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
from biasgauge.text.training.algorithms import TrainedVectors
from biasgauge.text.training.cuda.device import Buffer, Device
from biasgauge.text.training.cuda.kernels import LONGEST, glove_row, kernel_of, padded, shape_of
from biasgauge.text.training.cuda.together import (
    DeviceText,
    GloveGroup,
    NegativeSamplingGroup,
    Reader,
    ReplicateGroup,
    Slices,
    Visitor,
    run_group,
)
from biasgauge.text.training.glove import PIECE, fit_from_weights, refuse_cost, shuffled
from biasgauge.text.training.negative_sampling import BLOCK, TABLES
from biasgauge.text.training.random_stream import stream
from biasgauge.text.training.sweep import Prepare, SweepProgress, TrainedModel, TrainingText, write_model
from biasgauge.text.training.word2vec import fit_from_inputs

if TYPE_CHECKING:
    from biasgauge.text.training.algorithms import Recipe

USABLE_SHARE = 0.92
"""Share of the free memory that models may use; the remainder is for the compiled kernels and for CuPy."""


@dataclass(frozen=True, eq=False)
class _PreparedText:
    """A training text with the data that its trainer prepared: GloVe's cells, or the tables of the other algorithms."""

    text: TrainingText
    prepared: Any
    tables: dict[str, NDArray[Any]]

    @classmethod
    def build(cls, recipe: Recipe, text: TrainingText, prepared: Any) -> _PreparedText:  # noqa: ANN401 - the trainer's own
        if recipe.algorithm == "glove":
            return cls(text, prepared, {})
        tables: dict[str, Any] = prepared.read._asdict()  # the arrays themselves: texts share them
        if recipe.algorithm == "fasttext":
            tables |= {"starts": prepared.starts, "parts": prepared.parts.astype(np.int32)}
        return cls(text, prepared, tables)

    def bytes_of_model(self, recipe: Recipe) -> int:
        """Bytes of the device's memory that one replicate takes."""
        words, dim = len(self.text.vocabulary.words), recipe.settings.dim
        if recipe.algorithm == "glove":
            return 2 * words * glove_row(dim) * 4 + len(self.prepared) * 16
        return (2 * words + len(self.prepared.grams)) * padded(dim) * 4 + 4 * LONGEST


@dataclass(frozen=True)
class SideBySide:
    """Models that are trained together: their indices among the recipes, their memory with that of their texts."""

    indices: tuple[int, ...]
    size: int


def plan_sides(recipes: Sequence[Recipe], texts: Sequence[_PreparedText], free: int) -> list[SideBySide]:
    """Put recipes of one algorithm and the same settings side by side, as many as fit, in their order.

    Raises:
        InputError: one model alone does not fit.
    """
    available = int(free * USABLE_SHARE)
    sides: list[SideBySide] = []
    copied: set[int] = set()
    for index, (recipe, text) in enumerate(zip(recipes, texts, strict=True)):
        size = text.bytes_of_model(recipe)
        tables = {id(table): table.nbytes for table in text.tables.values()}
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


def plan_sentence(sides: Sequence[SideBySide], name: str, free: int) -> str:
    """Describe the plan in one sentence."""
    count = sum(len(side.indices) for side in sides)
    most = max(len(side.indices) for side in sides)
    models = "1 model" if count == 1 else f"{count:,} models side by side"
    if len(sides) > 1:
        models = f"{count:,} models in {len(sides)} groups of at most {most}"
    largest = readable_size(max(side.size for side in sides))
    return f"{models} on {name}: {largest} of the {readable_size(free)} free there"


def train_on_device(
    device: Device, folder: Path, recipes: Sequence[Recipe], prepare: Prepare, report: SweepProgress,
    say: Callable[[str], None] | None,
) -> list[TrainedModel]:  # fmt: skip
    """Plan, then train one group after the other; `prepare` makes the data that replicates of a text share."""
    if not all(recipe.deterministic for recipe in recipes):
        raise ParameterError("On a GPU every model is trained in one order: n_jobs_per_model must be 1.")
    by_digest: dict[str, _PreparedText] = {}
    for recipe in recipes:
        report(0, 0.0)
        if recipe.text_digest not in by_digest:
            by_digest[recipe.text_digest] = _PreparedText.build(recipe, *prepare(recipe))
    texts = [by_digest[recipe.text_digest] for recipe in recipes]
    free = device.free_memory()
    sides = plan_sides(recipes, texts, free)
    if say is not None:
        say(plan_sentence(sides, device.name, free))
    models: dict[int, TrainedModel] = {}
    for side in sides:
        models |= _train_side(device, folder, {index: (recipes[index], texts[index]) for index in side.indices}, report)
    return [models[index] for index in range(len(recipes))]


def _train_side(
    device: Device, folder: Path, side: dict[int, tuple[Recipe, _PreparedText]], report: SweepProgress
) -> dict[int, TrainedModel]:
    """Train the models of a group together, and write each; the first that diverged is an error in the end."""
    started = time.monotonic()
    group = _build_group(device, *zip(*side.values(), strict=True))

    def report_all() -> None:
        for (index, (recipe, source)), course in zip(side.items(), group.courses, strict=True):
            is_glove = recipe.algorithm == "glove"
            if is_glove and course.losses:
                refuse_cost(course.losses[-1], recipe.settings.eta, len(course.losses))  # type: ignore[union-attr]
            steps = len(source.prepared) if is_glove else source.text.tokens
            report(index, course.done / (recipe.settings.epochs * max(1, steps)))

    run_group(group, report_all)
    seconds = (time.monotonic() - started) / len(side)
    models: dict[int, TrainedModel] = {}
    problem: InputError | None = None
    for number, (index, (recipe, source)) in enumerate(side.items()):
        fit = _fit(group, number, recipe, source)
        try:
            models[index] = write_model(folder, recipe, source.text, fit, seconds, device=device.name)
        except InputError as error:  # this one diverged; the other models are sound
            problem = problem or error
        report(index, 1.0)
    if problem is not None:
        raise problem
    return models


def _build_group(device: Device, recipes: Sequence[Recipe], texts: Sequence[_PreparedText]) -> ReplicateGroup:
    name, settings = recipes[0].algorithm, recipes[0].settings
    shape = shape_of(name, asdict(settings), len(recipes), device)
    kernel = kernel_of(name, asdict(settings), shape)
    needed = device.program(kernel).shared_bytes
    if needed > device.shared_memory:
        raise InputError(
            f"With this dim, window and so many negatives a model needs {readable_size(needed)} of the GPU's shared "
            f"memory, which has {readable_size(device.shared_memory)}. Lower one of them, or train on the CPU."
        )
    if name == "glove":
        glove: Any = settings
        visitors = (_visitor(recipe, text) for recipe, text in zip(recipes, texts, strict=True))
        return GloveGroup(
            device, kernel, visitors, dim=settings.dim, eta=glove.eta, epochs=settings.epochs, piece=PIECE
        )
    return NegativeSamplingGroup(
        device, kernel, list(_readers(device, recipes, texts)), dim=settings.dim, alpha=settings.alpha,
        min_alpha=getattr(settings, "min_alpha", 0.0), tables=TABLES,
    )  # fmt: skip


def _readers(device: Device, recipes: Sequence[Recipe], sources: Sequence[_PreparedText]) -> Iterator[Reader]:
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
            input_rows=len(text.vocabulary.words) + len(source.prepared.grams),
            total=epochs * max(1, text.tokens),
        )


def _visitor(recipe: Recipe, source: _PreparedText) -> Visitor:
    settings: Any = recipe.settings
    cells = shuffled(
        source.prepared, x_max=float(settings.x_max), alpha=float(settings.alpha), seed=recipe.seed, memory=2**31
    )
    return Visitor(cells, len(cells), 2 * source.prepared.size, int(stream("first weights", recipe.seed)[0]))


def _fit(group: ReplicateGroup, number: int, recipe: Recipe, source: _PreparedText) -> TrainedVectors:
    course, settings = group.courses[number], recipe.settings
    losses = tuple(course.losses)
    if isinstance(group, GloveGroup):
        tokens = settings.epochs * source.text.tokens
        return fit_from_weights(group.rows(number), source.prepared, settings.dim, losses, tokens=tokens)
    return fit_from_inputs(group.rows(number), source.prepared, settings, losses, course.done)  # type: ignore[arg-type]
