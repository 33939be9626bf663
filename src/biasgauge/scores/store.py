"""A score tensor on disk: one folder, one file a model, read in part through a memory map.

    STORE/
      store.json         labels, settings, and which models are complete
      0.scores.npy       measures × pairs × words of the first model, 32-bit
      0.words.npy        why scores are undefined, by word: places in `REASONS`
      0.pairs.npy        the same by measure and pair

A model counts once `store.json` names it, and that file is replaced whole after the model's own files are: a killed
process leaves every finished model and nothing half-written.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from biasgauge._io.atomic import atomic_file, write_text
from biasgauge._io.checksums import file_sha256
from biasgauge._io.manifests import map_array, read_manifest
from biasgauge._version import __version__
from biasgauge.arrays import Codes, Singles
from biasgauge.embeddings.coverage import by_reason
from biasgauge.errors import InputError, ParameterError
from biasgauge.scores.tensor import NO_NUMBER, REASONS, ScoreTensor, choose, describe

MANIFEST = "store.json"
_FORMAT = "biasgauge scores 1"
_LABELS = ("measures", "pairs", "words")
_DTYPES = {"scores": np.float32, "words": np.uint8, "pairs": np.uint8}
_AGAIN = "make the scores again"


@dataclass(frozen=True)
class ModelScores:
    """Scores of one model (measures × pairs × words, NaN where undefined), and why some are: places in `REASONS`.

    Those of measures × pairs outweigh those of words.
    """

    values: Singles
    word_reasons: Codes
    pair_reasons: Codes

    def undefined(self) -> Codes:
        """Reasons for every score: measures × pairs × words."""
        by_pair = self.pair_reasons[:, :, None]
        reasons: Codes = np.where(by_pair, by_pair, self.word_reasons)
        reasons[(reasons == 0) & np.isnan(self.values)] = NO_NUMBER
        return reasons


class ScoreStore:
    """A folder of scores. `create` makes one, `open` reads one, `append` adds a model, `read` gives a tensor."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.path = folder
        self._manifest = manifest

    @property
    def measures(self) -> tuple[str, ...]:
        """Labels of the measures."""
        return tuple(self._manifest["measures"])

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Labels of the pairs."""
        return tuple((first, second) for first, second in self._manifest["pairs"])

    @property
    def words(self) -> tuple[str, ...]:
        """Labels of the words."""
        return tuple(self._manifest["words"])

    @property
    def models(self) -> tuple[str, ...]:
        """Labels of the models that are complete."""
        return tuple(self._manifest["models"])

    @property
    def provenance(self) -> Mapping[str, Any]:
        """How these scores came about."""
        return {**self._manifest["provenance"], "models": dict(self._manifest["models"])}

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        measures: tuple[str, ...],
        pairs: tuple[tuple[str, str], ...],
        words: tuple[str, ...],
        provenance: Mapping[str, Any],
        replace: bool = False,
    ) -> ScoreStore:
        """Make an empty store, or open the one that is there if it has the same labels and settings.

        With `replace`, a store with other labels or settings makes room for this one.

        Raises:
            InputError: another store is there, or something else.
        """
        folder = Path(path)
        manifest = {
            "format": _FORMAT,
            "version": __version__,
            "measures": list(measures),
            "pairs": [list(pair) for pair in pairs],
            "words": list(words),
            "provenance": dict(provenance),
            "models": {},
        }
        if (folder / MANIFEST).exists():
            there = cls.open(folder)
            if not replace:
                return there.must_match(manifest)
            try:
                return there.must_match(manifest)
            except InputError:
                there.clear()
        if folder.exists() and (not folder.is_dir() or any(item.suffix != ".part" for item in folder.iterdir())):
            raise InputError(f"{folder}: exists and is not a score store; name another folder")
        folder.mkdir(parents=True, exist_ok=True)
        store = cls(folder, manifest)
        store._write_manifest()
        return store

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ScoreStore:
        """Open a store.

        Raises:
            InputError: there is none, or it is damaged.
        """
        folder = Path(path)
        absent = "is not a score store ({}); `biasgauge score` makes one"
        manifest = read_manifest(folder / MANIFEST, _FORMAT, absent=absent, again=_AGAIN)
        if not _is_whole(manifest):
            raise InputError(f"{folder / MANIFEST}: is damaged (labels are missing); {_AGAIN}")
        return cls(folder, manifest)

    def must_match(self, manifest: Mapping[str, Any]) -> Self:
        """Return this store if it has the labels and settings of `manifest`; say what differs otherwise."""
        asked = json.loads(json.dumps({**manifest["provenance"], **{key: manifest[key] for key in _LABELS}}))
        here = {**self._manifest["provenance"], **{key: self._manifest[key] for key in _LABELS}}
        for key in (*_LABELS, *asked, *here):
            if key not in here or key not in asked or here[key] != asked[key]:
                raise InputError(
                    f"{self.path}: holds scores with other {key}; name another folder, or replace it (--force)"
                )
        return self

    def clear(self) -> None:
        """Remove the files of this store, the list of its models first; whatever else is in the folder stays."""
        (self.path / MANIFEST).unlink()
        for number in range(len(self.models)):
            for name in _DTYPES:
                self._file(number, name).unlink(missing_ok=True)

    def check(self, model: str) -> None:
        """Read the files of a model in full and compare them with the checksums they were stored with.

        Raises:
            InputError: one is missing or damaged.
        """
        number = list(self._manifest["models"]).index(model)
        stored = self._manifest["models"][model].get("sha256", {})
        for name in _DTYPES:
            if self._digest(number, name) != stored.get(name):
                path = self._file(number, name)
                raise InputError(f"{path}: is damaged (its checksum differs); {_AGAIN}")

    def append(self, model: str, scores: ModelScores, provenance: Mapping[str, Any]) -> None:
        """Add a model; it is there for good once this returns."""
        shape = (len(self.measures), len(self.pairs), len(self.words))
        if scores.values.shape != shape:
            raise ParameterError(f"Scores for this store must have the shape {shape}. Got {scores.values.shape}.")
        if model in self._manifest["models"]:
            raise ParameterError(f"The store already has a model {model!r}.")
        self._write(len(self._manifest["models"]), model, scores, provenance)

    def replace(self, model: str, scores: ModelScores, provenance: Mapping[str, Any]) -> None:
        """Write the scores of a model that is here again, in the place of damaged ones."""
        self._write(list(self._manifest["models"]).index(model), model, scores, provenance)

    def _write(self, number: int, model: str, scores: ModelScores, provenance: Mapping[str, Any]) -> None:
        tables = {"scores": scores.values, "words": scores.word_reasons, "pairs": scores.pair_reasons}
        for name, table in tables.items():
            with atomic_file(self._file(number, name)) as part, part.open("wb") as file:
                np.save(file, np.ascontiguousarray(table, _DTYPES[name]), allow_pickle=False)
        digests = {name: self._digest(number, name) for name in tables}
        self._manifest["models"][model] = {**provenance, "sha256": digests}
        self._write_manifest()

    def read(
        self,
        *,
        measure: Iterable[str] | None = None,
        pair: Iterable[tuple[str, str]] | None = None,
        word: Iterable[str] | None = None,
        model: Iterable[str] | None = None,
    ) -> ScoreTensor:
        """Read some labels of each axis (None: all) into one tensor; nothing else is read from the disk.

        Raises:
            ParameterError: a label is not there.
            InputError: there is no model yet, or a file is damaged.
        """
        if not self.models:
            raise InputError(f"{self.path}: holds no model yet")
        (measures, pairs, words, models), labels = choose(self, measure, pair, word, model)
        shape = (len(measures), len(pairs), len(words), len(models))
        values, undefined = np.empty(shape, np.float32), np.empty(shape, np.uint8)
        for place, number in enumerate(models):
            scores = self._model(number)
            part = ModelScores(
                scores.values[np.ix_(measures, pairs, words)],
                scores.word_reasons[words],
                scores.pair_reasons[np.ix_(measures, pairs)],
            )
            values[..., place], undefined[..., place] = part.values, part.undefined()
        return ScoreTensor(values, undefined, **labels, provenance=self.provenance)

    def model_scores(self, model: str) -> ModelScores:
        """All scores of one model as `append` took them; they stay on disk until they are selected.

        Raises:
            ParameterError: there is no such model.
            InputError: a file is damaged.
        """
        places, _ = choose(self, None, None, None, [model])
        return self._model(places[3][0])

    def count_undefined(self) -> dict[str, int]:
        """How many scores are undefined, by reason, over all models; read one model at a time."""
        counts: Counter[str] = Counter()
        for number in range(len(self.models)):
            counts.update(by_reason(REASONS, self._model(number).undefined()))
        return {reason: counts[reason] for reason in REASONS if reason in counts}

    def to_dict(self) -> dict[str, Any]:
        """Labels, shape, counts of undefined scores and provenance, without the scores."""
        return describe(self)

    def _model(self, number: int) -> ModelScores:
        """One model, whose scores stay on disk until they are selected."""
        by_pair = (len(self.measures), len(self.pairs))
        shapes = {"scores": (*by_pair, len(self.words)), "words": (len(self.words),), "pairs": by_pair}
        tables = (
            map_array(self._file(number, name), _DTYPES[name], shape, again=_AGAIN) for name, shape in shapes.items()
        )
        return ModelScores(*tables)

    def _digest(self, number: int, name: str) -> str:
        path = self._file(number, name)
        try:
            return file_sha256(path)
        except OSError as problem:
            raise InputError(f"{path}: cannot be read ({problem.strerror}); {_AGAIN}") from problem

    def _file(self, number: int, name: str) -> Path:
        return self.path / f"{number}.{name}.npy"

    def _write_manifest(self) -> None:
        write_text(self.path / MANIFEST, json.dumps(self._manifest, ensure_ascii=False))


def _is_whole(manifest: Mapping[str, Any]) -> bool:
    """Whether the labels, settings and models are there, and of the kind that they should be."""
    labels = [manifest.get(key) for key in _LABELS]
    return (
        all(isinstance(names, list) for names in labels)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in manifest["pairs"])
        and isinstance(manifest.get("provenance"), dict)
        and isinstance(manifest.get("models"), dict)
        and all(isinstance(about, dict) for about in manifest["models"].values())
    )
