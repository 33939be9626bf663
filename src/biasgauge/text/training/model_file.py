"""A trained model on disk: its vectors, and beside them its recipe, written last: the model is then whole."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasgauge._version import __version__
from biasgauge.core import JsonObject, Record
from biasgauge.errors import InputError, InternalError
from biasgauge.io import file_sha256, manifest_text, read_record, write_text
from biasgauge.text.training.algorithms import Recipe
from biasgauge.vectors import Embedding, load, save

if TYPE_CHECKING:
    from biasgauge.text.training.algorithms import Fit
    from biasgauge.text.training.text import TrainingText


@dataclass(frozen=True)
class TrainedModel(Record):
    """One model of a sweep.

    Attributes:
        path: the file with the vectors; the recipe lies beside it, ending in `.json`.
        recipe: its recipe.
        words: size of its vocabulary.
        seconds: time of its training, when it was trained.
        losses: mean loss of each epoch, as the trainer reported it.
        reused: whether it was in the folder already.
        remark: reason for training again although its files were there.
    """

    path: Path
    recipe: Recipe
    words: int
    seconds: float
    losses: tuple[float, ...]
    reused: bool = False
    remark: str | None = None

    def load(self) -> Embedding:
        """Open the vectors."""
        return load(self.path, name=self.path.stem)

    def to_dict(self) -> JsonObject:
        """One JSON-ready object; a remark only where there is one."""
        shape = super().to_dict() | {"seconds": round(self.seconds, 3)}
        shape["recipe"]["deterministic"] = self.recipe.deterministic
        return shape if self.remark else {name: value for name, value in shape.items() if name != "remark"}


def write_model(
    folder: Path, recipe: Recipe, text: TrainingText, fit: Fit, seconds: float, *, device: str = "cpu"
) -> TrainedModel:
    """Check the trainer's report against the recipe, then write the vectors, then the recipe.

    Raises:
        InputError: the vectors are not finite: the learning rate is too high for this text.
        InternalError: the trainer departed from the recipe.
    """
    words = text.vocabulary.words
    epochs = recipe.settings.epochs
    if fit.vectors.shape != (len(words), recipe.settings.dim) or len(fit.losses) != epochs:
        raise InternalError(
            f"The trainer made {fit.vectors.shape} vectors in {len(fit.losses)} epochs; the recipe asks for "
            f"{(len(words), recipe.settings.dim)} in {epochs}."
        )
    if fit.tokens != epochs * text.tokens:
        raise InternalError(f"The trainer read {fit.tokens:,} tokens; {epochs} epochs have {epochs * text.tokens:,}.")
    with np.errstate(over="ignore"):
        vectors = fit.vectors.astype(recipe.precision, copy=False)
    if not np.isfinite(vectors).all():
        raise InputError(f"Training {recipe.name} diverged: its vectors are not finite. Lower the learning rate.")
    path = folder / f"{recipe.name}.safetensors"
    model = Embedding(words=words, vectors=vectors, name=path.stem)
    save(model, path, counts=text.vocabulary.counts, subwords=fit.subwords if recipe.subwords else None)
    record = {
        "recipe": recipe.to_dict(),
        "digest": recipe.digest,
        "file": {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)},
        "words": len(words),
        "tokens": fit.tokens,
        "losses": list(fit.losses),
        "untrained": [words[row] for row in fit.untrained],
        "seconds": round(seconds, 3),
        "device": device,
        "corpus": text.corpus.to_dict(),
        "versions": {"biasgauge": __version__, "numba": version("numba"), "numpy": np.__version__},
    }
    write_text(path.with_suffix(".json"), manifest_text(record, indent=1))
    return TrainedModel(path, recipe, len(words), seconds, fit.losses)


def find_model(folder: Path, recipe: Recipe) -> TrainedModel | str | None:
    """Find a recipe's model: the model, or the problem with its files, or None where there are none."""
    path = folder / f"{recipe.name}.safetensors"
    recipe_path = path.with_suffix(".json")
    if not recipe_path.exists():
        return None
    try:
        record = read_record(recipe_path, again="trained again")
        if record["digest"] != recipe.digest:
            return f"{recipe_path.name} belongs to another recipe; trained again"
        if not path.is_file():
            return f"{path.name} was gone; trained again"
        if path.stat().st_size != record["file"]["bytes"] or file_sha256(path) != record["file"]["sha256"]:
            return f"{path.name} was damaged; trained again"
        return TrainedModel(
            path,
            recipe,
            int(record["words"]),
            float(record["seconds"]),
            tuple(map(float, record["losses"])),
            reused=True,
        )
    except (InputError, ValueError, KeyError, TypeError, OverflowError):
        return f"{recipe_path.name} was damaged; trained again"
