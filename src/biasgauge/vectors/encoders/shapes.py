"""How many layers a model has and how its words can be pooled, without loading its weights: what plans need to know."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from biasgauge import registry
from biasgauge.vectors.encoders.encoding import encoder_of
from biasgauge.vectors.encoders.hidden_states import poolings_of
from biasgauge.vectors.encoders.loading import model_parts


@dataclass(frozen=True)
class ModelShape:
    """What can be asked of a model.

    Attributes:
        name: what tables call it.
        layers: the number of its last layer.
        poolings: those that it has.
        dim: numbers of a vector, 0 where that is not known before the first word is encoded.
    """

    name: str
    layers: int
    poolings: tuple[str, ...]
    dim: int = 0


def model_shape(source: str | os.PathLike[str]) -> ModelShape:
    """The shape of the model of a folder or a GGUF file, or of "NAME:SOURCE" of a registered encoder.

    Raises:
        InputError: it cannot be used.
        ParameterError: a registered encoder does not encode words in sentences.
    """
    text = os.fspath(source)
    name = text.partition(":")[0]
    if name in registry.names("encoder") and not Path(text).exists():
        encoder = encoder_of(text)
        return ModelShape(encoder.name, encoder.layers, tuple(encoder.poolings))
    path = Path(text)
    stamps = [file.stat().st_mtime_ns for file in sorted(path.glob("*")) if file.is_file()] if path.is_dir() else []
    return _on_disk(path, tuple(stamps))


@cache
def _on_disk(path: Path, _stamps: tuple[int, ...]) -> ModelShape:
    """As above; read again only where a file of the folder was written to."""
    name, whole, tokenizer = model_parts(path)
    config = whole.get_text_config()
    return ModelShape(name, int(config.num_hidden_layers), poolings_of(tokenizer), int(config.hidden_size))
