"""What tables and figures call a model: by its recipe, or by its file without folder and ending."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from biasgauge.vectors.lineage import recipe_beside

ALGORITHMS = {"sgns": "SGNS", "cbow": "CBOW", "fasttext": "fastText", "glove": "GloVe"}
_ENDINGS = re.compile(r"(\.(txt|vec|bin|npz|npy|safetensors|w2v|model|magnitude|gz|zst|xz|bz2|zip))+$", re.IGNORECASE)


def model_label(path: Path) -> str:
    """A model's name: "SGNS 100d, seed 3" where a recipe lies beside its file, else "GoogleNews-vectors"."""
    recipe = recipe_beside(path) or {}
    settings = recipe.get("settings")
    dimensions = settings.get("dim") if isinstance(settings, dict) else None
    if not recipe or dimensions is None:
        return _ENDINGS.sub("", path.name) or path.name
    sample = recipe.get("sample")
    drawn = "" if sample is None else f", sample {sample}"
    return f"{ALGORITHMS.get(recipe['algorithm'], recipe['algorithm'])} {dimensions}d, seed {recipe['seed']}{drawn}"


def model_labels(paths: Sequence[Path]) -> list[str]:
    """A name of its own for every file: where two would be called alike, with file or folder behind it, or a number."""
    labels = [model_label(path) for path in paths]
    for more in (
        lambda path: _ENDINGS.sub("", path.name),
        lambda path: path.resolve().parent.name,
        lambda path: path.name,
    ):
        counts = Counter(labels)
        labels = [
            label if counts[label] == 1 or more(path) in {"", label} else f"{label} ({more(path)})"
            for label, path in zip(labels, paths, strict=True)
        ]
    files: dict[str, list[Path]] = {}
    for label, path in zip(labels, paths, strict=True):
        same = files.setdefault(label, [])
        same += [] if path in same else [path]
    numbers = [files[label].index(path) + 1 for label, path in zip(labels, paths, strict=True)]
    return [f"{label} ({number})" if number > 1 else label for label, number in zip(labels, numbers, strict=True)]
