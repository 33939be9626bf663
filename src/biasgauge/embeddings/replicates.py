"""Several models at once: replicates, or models to compare."""

from __future__ import annotations

from collections import Counter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.embeddings.embedding import Embedding
from biasgauge.embeddings.load import load
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge._io.source import Progress


def named_models(vectors: object) -> dict[str, object]:
    """Give every model of a list, or the one that is given, a name of its own, without loading it.

    A file is named after itself, and by its whole path where two have the same name.

    Raises:
        ParameterError: the list is empty, or two models have one name.
    """
    given = vectors if isinstance(vectors, list) else [vectors]
    if not given:
        raise ParameterError("The 'vectors' parameter must hold at least one model. Got an empty list.")
    files = Counter(Path(one).name for one in given if isinstance(one, (str, PathLike)))
    named: dict[str, object] = {}
    for one in given:
        if isinstance(one, (str, PathLike)):
            name = Path(one).name if files[Path(one).name] == 1 else str(one)
        else:
            name = one.name if isinstance(one, Embedding) else "memory"
        if name in named:
            raise ParameterError(
                f"Every model needs a name of its own, or their results could not be told apart. Got {name!r} twice; "
                "use load(…, name=…)."
            )
        named[name] = one
    return named


def load_models(vectors: object, limit: int | None = None, *, progress: Progress | None = None) -> list[Embedding]:
    """Load one model, or every model of a list; each gets a name of its own, as `named_models` says."""
    return [load(one, limit=limit, name=name, progress=progress) for name, one in named_models(vectors).items()]
