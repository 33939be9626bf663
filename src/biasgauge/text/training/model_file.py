"""A trained model on disk: its vectors, and beside them its recipe, which is written last and says they are whole."""

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
        recipe: how it was made.
        words: how many words it has.
        seconds: how long its training took, when it was trained.
        losses: mean loss of each epoch, as the trainer reported it.
        reused: whether it was there already.
        remark: why it was trained again although its files were there.
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
        """As plain data; a remark only where there is one."""
        shape = super().to_dict() | {"seconds": round(self.seconds, 3)}
        shape["recipe"]["deterministic"] = self.recipe.deterministic
        return shape if self.remark else {name: value for name, value in shape.items() if name != "remark"}


def write_model(
    folder: Path, recipe: Recipe, text: TrainingText, fit: Fit, seconds: float, *, device: str = "cpu"
) -> TrainedModel:
    """Check what the trainer reports against the recipe, then write the vectors, then the recipe.

    Raises:
        InputError: the vectors are not finite: the learning rate is too high for this text.
        InternalError: the trainer did something else than the recipe says.
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
    about = {
        "recipe": recipe.to_dict(),
        "digest": recipe.digest,
        "file": {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)},
        "words": len(words),
        "tokens": fit.tokens,
        "losses": list(fit.losses),
        "untrained": [words[place] for place in fit.untrained],
        "seconds": round(seconds, 3),
        "device": device,
        "corpus": text.corpus.to_dict(),
        "versions": {"biasgauge": __version__, "numba": version("numba"), "numpy": np.__version__},
    }
    write_text(path.with_suffix(".json"), manifest_text(about, indent=1))
    return TrainedModel(path, recipe, len(words), seconds, fit.losses)


def find_model(folder: Path, recipe: Recipe) -> TrainedModel | str | None:
    """Look for a recipe's model: the model, or what is wrong with its files, or None where there are none."""
    path = folder / f"{recipe.name}.safetensors"
    beside = path.with_suffix(".json")
    if not beside.exists():
        return None
    try:
        about = read_record(beside, again="trained again")
        if about["digest"] != recipe.digest:
            return f"{beside.name} belongs to another recipe; trained again"
        if not path.is_file():
            return f"{path.name} was gone; trained again"
        if path.stat().st_size != about["file"]["bytes"] or file_sha256(path) != about["file"]["sha256"]:
            return f"{path.name} was damaged; trained again"
        return TrainedModel(
            path, recipe, int(about["words"]), float(about["seconds"]), tuple(map(float, about["losses"])), reused=True
        )
    except (InputError, ValueError, KeyError, TypeError, OverflowError):
        return f"{beside.name} was damaged; trained again"
