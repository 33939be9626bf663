"""A score tensor on disk: one folder, one file per model, read in part through a memory map.

    STORE/
      store.json               labels, settings, which models are complete, and the checksums of their files
      0a1b2c….scores.npy       measures × pairs × words of a model, 32-bit
      0a1b2c….words.npy        why scores are undefined, by word: places in `REASONS`
      0a1b2c….pairs.npy        the same by measure and pair

A file is named by its checksum, which is that of the numbers in memory. A model counts once `store.json` names it, and
that file is replaced whole after the model's own files are: a killed process leaves every finished model and nothing
half-written. One process writes at a time, and goes on from what others have written; a file is compared with its
checksum when it is first used. Stores of earlier versions have their files numbered: 0.scores.npy.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from biasgauge._version import __version__
from biasgauge.core import JsonMapping, JsonObject
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import (
    LOCK,
    array_sha256,
    as_read_back,
    check_digest,
    is_occupied,
    make_folder,
    manifest_text,
    map_array,
    read_manifest,
    write_array,
    write_text,
    writer_lock,
)
from biasgauge.scores.tensor import REASONS, ModelScores, ScoreTensor, choose, describe
from biasgauge.vectors import by_reason

MANIFEST = "store.json"
ABSENT = "is not a score store ({}); `biasgauge score` makes one"
"""Error for a folder that is not a store, with the reason."""
_FORMAT = "biasgauge scores 1"
_LABELS = ("measures", "pairs", "words")
_DTYPES = {"scores": np.float32, "words": np.uint8, "pairs": np.uint8}
_AGAIN = "make the scores again"
_DIGITS = 16
_OURS = re.compile(rf"[0-9a-f]{{{_DIGITS}}}\.({'|'.join(_DTYPES)})\.npy")


class ScoreStore:
    """A folder of scores. `create` makes one, `open` reads one, `append` adds a model, `read` gives a tensor."""

    def __init__(self, folder: Path, manifest: JsonObject) -> None:
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
        """Provenance of these scores: settings and models."""
        return {**self._manifest["provenance"], "models": dict(self._manifest["models"])}

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        measures: tuple[str, ...],
        pairs: tuple[tuple[str, str], ...],
        words: tuple[str, ...],
        provenance: JsonMapping,
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
        # In this order: what another process puts there in between is its manifest.
        if is_occupied(folder) and not (folder / MANIFEST).exists():
            raise InputError(f"{folder}: exists and is not a score store; name another folder")
        make_folder(folder)
        with writer_lock(folder / LOCK):
            if (folder / MANIFEST).exists():
                existing = cls.open(folder)
                try:
                    return existing.must_match(manifest)
                except InputError:
                    if not replace:
                        raise
                    existing._remove_files()  # noqa: SLF001 - of the same class; the lock is held
            if is_occupied(folder):
                raise InputError(f"{folder}: exists and is not a score store; name another folder")
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
        manifest = read_manifest(folder / MANIFEST, _FORMAT, absent=ABSENT, again=_AGAIN)
        if not _is_complete(manifest):
            raise InputError(f"{folder / MANIFEST}: is damaged (labels are missing); {_AGAIN}")
        return cls(folder, manifest)

    def must_match(self, manifest: JsonMapping) -> Self:
        """Return this store if it has the labels and settings of `manifest`; say what differs otherwise."""
        expected = as_read_back({**manifest["provenance"], **{key: manifest[key] for key in _LABELS}})
        stored = {**self._manifest["provenance"], **{key: self._manifest[key] for key in _LABELS}}
        for key in (*_LABELS, *expected, *stored):
            if key not in stored or key not in expected or stored[key] != expected[key]:
                raise InputError(
                    f"{self.path}: holds scores with other {key}; name another folder, or replace it (--force)"
                )
        return self

    def clear(self) -> None:
        """Remove the files of this store, the list of its models first; whatever else is in the folder stays."""
        with writer_lock(self.path / LOCK):
            self._remove_files()

    def check(self, model: str) -> None:
        """Compare the files of a model with the checksums they were stored with; each is read once in a process.

        Raises:
            InputError: one is missing or damaged.
        """
        number = list(self._manifest["models"]).index(model)
        stored = self._checksums(number) or {}
        for name in _DTYPES:
            check_digest(self._file(number, name), stored.get(name), again=_AGAIN)

    def append(self, model: str, scores: ModelScores, provenance: JsonMapping) -> None:
        """Add a model to what is on the disk by now; it is there for good once this returns.

        Where another process has added the same model meanwhile, with the same vectors, its scores stay.

        Raises:
            ParameterError: the store has a model of this name, or the scores have another shape.
            InputError: another process has given the store other labels or settings.
        """
        shape = (len(self.measures), len(self.pairs), len(self.words))
        if scores.values.shape != shape:
            raise ParameterError(f"Scores for this store must have the shape {shape}. Got {scores.values.shape}.")
        if model in self._manifest["models"]:
            raise ParameterError(f"The store already has a model {model!r}.")
        with writer_lock(self.path / LOCK):
            self._catch_up()
            existing = self._manifest["models"].get(model)
            if existing is None:
                self._write(model, scores, provenance)
            elif existing.get("checksum") != provenance.get("checksum"):
                raise InputError(f"{self.path}: another process has added scores of other vectors named {model!r}")

    def replace(self, model: str, scores: ModelScores, provenance: JsonMapping) -> None:
        """Write the scores of a model that is here again, in the place of damaged ones."""
        with writer_lock(self.path / LOCK):
            self._catch_up()
            self._write(model, scores, provenance)

    def _catch_up(self) -> None:
        """Take up what other processes have written since this store was opened."""
        self._manifest = ScoreStore.open(self.path).must_match(self._manifest)._manifest  # noqa: SLF001 - same class

    def _write(self, model: str, scores: ModelScores, provenance: JsonMapping) -> None:
        arrays = {"scores": scores.values, "words": scores.word_reasons, "pairs": scores.pair_reasons}
        tables = {name: np.ascontiguousarray(table, _DTYPES[name]) for name, table in arrays.items()}
        digests = {name: array_sha256(table) for name, table in tables.items()}
        for name, table in tables.items():
            write_array(self.path / f"{digests[name][:_DIGITS]}.{name}.npy", table)
        self._manifest["models"][model] = {**provenance, "sha256": digests}
        self._write_manifest()
        self._sweep()

    def _sweep(self) -> None:
        """Remove files of ours that no model has: of scores that were replaced, or of a process that was killed."""
        numbers = range(len(self._manifest["models"]))
        in_use = {self._file(number, name).name for number in numbers for name in _DTYPES}
        for path in self.path.iterdir():
            if _OURS.fullmatch(path.name) and path.name not in in_use:
                path.unlink(missing_ok=True)

    def _remove_files(self) -> None:
        names = [self._file(number, name) for number in range(len(self.models)) for name in _DTYPES]
        (self.path / MANIFEST).unlink()
        for path in names:
            path.unlink(missing_ok=True)

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
        for index, number in enumerate(models):
            scores = self._model(number)
            selected = ModelScores(
                scores.values[np.ix_(measures, pairs, words)],
                scores.word_reasons[words],
                scores.pair_reasons[np.ix_(measures, pairs)],
            )
            values[..., index], undefined[..., index] = selected.values, selected.undefined()
        return ScoreTensor(values, undefined, **labels, provenance=self.provenance)

    def model_scores(self, model: str) -> ModelScores:
        """All scores of one model as `append` took them; they stay on disk until they are selected.

        Raises:
            ParameterError: there is no such model.
            InputError: a file is damaged.
        """
        indices, _ = choose(self, None, None, None, [model])
        return self._model(indices[3][0])

    def count_undefined(self) -> dict[str, int]:
        """Count undefined scores by reason, over all models; read one model at a time."""
        counts: Counter[str] = Counter()
        for number in range(len(self.models)):
            counts.update(by_reason(REASONS, self._model(number).undefined()))
        return {reason: counts[reason] for reason in REASONS if reason in counts}

    def to_dict(self) -> JsonObject:
        """Labels, shape, counts of undefined scores and provenance, without the scores."""
        return describe(self)

    def _model(self, number: int) -> ModelScores:
        """One model, compared with its checksums; its scores stay on disk until they are selected."""
        by_pair = (len(self.measures), len(self.pairs))
        shapes = {"scores": (*by_pair, len(self.words)), "words": (len(self.words),), "pairs": by_pair}
        stored = self._checksums(number)
        tables = []
        for name, shape in shapes.items():
            path = self._file(number, name)
            tables.append(map_array(path, _DTYPES[name], shape, again=_AGAIN))
            if stored is not None:
                check_digest(path, stored.get(name), again=_AGAIN)
        if any(codes.max(initial=0) >= len(REASONS) for codes in tables[1:]):
            raise InputError(f"{self.path}: gives a reason that this version does not know; {_AGAIN}")
        return ModelScores(*tables)

    def _checksums(self, number: int) -> Mapping[str, Any] | None:
        """Those of a model's tables; None where the store has none, as the first versions wrote it."""
        record = list(self._manifest["models"].values())[number]
        stored = record.get("sha256", {})
        return None if "sha256" not in record else stored if isinstance(stored, dict) else {}

    def _file(self, number: int, name: str) -> Path:
        """Path of a table of a model: under its checksum, or under the model's number as in earlier versions."""
        stored = self._checksums(number) or {}
        named = self.path / f"{str(stored.get(name, ''))[:_DIGITS]}.{name}.npy"
        numbered = self.path / f"{number}.{name}.npy"
        return named if _OURS.fullmatch(named.name) and (named.exists() or not numbered.exists()) else numbered

    def _write_manifest(self) -> None:
        write_text(self.path / MANIFEST, manifest_text(self._manifest))


def _is_complete(manifest: JsonMapping) -> bool:
    """Return true if labels, settings and models are there and have the right types."""
    labels = [manifest.get(key) for key in _LABELS]
    return (
        all(isinstance(names, list) for names in labels)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in manifest["pairs"])
        and all(isinstance(name, str) for name in chain(*manifest["pairs"], manifest["measures"], manifest["words"]))
        and isinstance(manifest.get("provenance"), dict)
        and isinstance(manifest.get("models"), dict)
        and all(isinstance(record, dict) for record in manifest["models"].values())
    )
