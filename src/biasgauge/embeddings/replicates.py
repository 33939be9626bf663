"""Several models at once: replicates, or models to compare."""

from __future__ import annotations

from collections import Counter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.embeddings.load import load
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge._io.source import Progress
    from biasgauge.embeddings.embedding import Embedding


def load_models(vectors: object, limit: int | None = None, *, progress: Progress | None = None) -> list[Embedding]:
    """Load one model, or every model of a list; each gets a name of its own.

    A file is named after itself, and by its whole path where two have the same name.

    Raises:
        ParameterError: the list is empty, or two models have one name.
    """
    given = vectors if isinstance(vectors, list) else [vectors]
    if not given:
        raise ParameterError("The 'vectors' parameter must hold at least one model. Got an empty list.")
    files = Counter(Path(one).name for one in given if isinstance(one, (str, PathLike)))
    models = [
        load(
            one,
            limit=limit,
            name=str(one) if isinstance(one, (str, PathLike)) and files[Path(one).name] > 1 else None,
            progress=progress,
        )
        for one in given
    ]
    for name, count in Counter(model.name for model in models).items():
        if count > 1:
            raise ParameterError(
                f"Every model needs a name of its own, or their results could not be told apart. Got {name!r} {count} "
                "times; use load(…, name=…)."
            )
    return models
