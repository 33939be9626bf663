"""Results under their names.

    results/index.json       every result: its state (there, failed or blocked), its cell, where it lies
    results/models.json      every model of the study: where it lies
    results/NAME/…           copies of an analysis, a task, the page

What is large (models, corpora, scores) stays where it is, and the index says where. Copies are made anew by every run,
each file whole or not at all and the index last: `results/` is what the last run had, of whichever study. What an
earlier run put there and this one has not is removed; its cells are kept, so that running that study again brings it
back at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel

from biasgauge.errors import InputError
from biasgauge.io import parse_json, utf8

if TYPE_CHECKING:
    from biasgauge.study.result import CellRun
    from biasgauge.study.store import CellStore

INDEX, MODELS = "results/index.json", "results/models.json"
MODEL = "model.safetensors"
_COPIED = frozenset({"result.json", "page.html"})
"""An outcome with one of these files is small, and for people."""
_THERE = ("done", "reused")


class Entry(BaseModel):
    """One result of the index: its state (there, failed or blocked), its cell, where it lies."""

    state: str = ""
    step: str = ""
    key: str = ""
    folder: str | None = None
    files: list[str] = []


class Index(BaseModel):
    """`results/index.json`."""

    study: str
    results: dict[str, Entry]


def publish_results(
    name: str, results: Mapping[str, str], models: Mapping[str, str], cells: Sequence[CellRun], store: CellStore
) -> dict[str, str]:
    """Copy what people want to see to `results/`; where each result that is there lies, as a path or URL.

    Args:
        name: of the study.
        results: what results are called, and the keys of their cells.
        models: the same of models.
        cells: what became of all cells.
        store: where outcomes are kept.

    Raises:
        InputError: the copies cannot be written.
    """
    try:
        return _publish(name, results, models, {cell.key: cell for cell in cells}, store)
    except OSError as problem:
        raise InputError(
            f"{store.url}: results cannot be copied there: {problem.strerror or problem}; cells are kept, so run the "
            "study again when that is mended"
        ) from problem


def _publish(
    name: str, results: Mapping[str, str], models: Mapping[str, str], cells: Mapping[str, CellRun], store: CellStore
) -> dict[str, str]:
    locations: dict[str, str] = {}
    index = Index(study=name, results={})
    for result, key in results.items():
        cell = cells[key]
        state = "there" if cell.state in _THERE else cell.state  # the same whether computed now or before
        entry = Entry(state=state, step=cell.step, key=key)
        if cell.state in _THERE:
            files = _files(key, store)
            copied = not _COPIED.isdisjoint(files)
            entry.folder, entry.files = f"results/{result}" if copied else _cell_folder(key), files
            locations[result] = f"{store.url}/results/{result}" if copied else store.location(key)
            for file in files if copied else ():
                store.write(f"results/{result}/{file}", store.read(f"{_cell_folder(key)}/{file}") or b"")
        index.results[result] = entry
    models_there = {
        model: {"key": key, "folder": _cell_folder(key), "file": MODEL}
        for model, key in models.items()
        if cells[key].state in _THERE
    }
    copies = _copies(index)
    for copy, (cell_key, file) in sorted(_copies(read_index(store)).items()):
        if copy not in copies and store.is_copy(copy, cell_key, file):
            store.remove(copy)
    store.write(MODELS, _json({"study": name, "models": models_there}))
    store.write(INDEX, _json(index.model_dump()))
    return locations


def read_index(store: CellStore) -> Index:
    """Index of the last run, of whichever study; empty where there is none, or somebody changed the file."""
    try:
        return Index.model_validate(parse_json(store.read(INDEX) or b""))
    except ValueError:  # no JSON, or another
        return Index(study="", results={})


def _copies(index: Index) -> dict[str, tuple[str, str]]:
    """Copies that an index names, each with the cell and the file that it is a copy of."""
    return {
        f"results/{result}/{file}": (entry.key, file)
        for result, entry in index.results.items()
        if entry.folder == f"results/{result}"
        for file in entry.files
    }


def _files(key: str, store: CellStore) -> list[str]:
    manifest = store.manifest(key)
    return [] if manifest is None else sorted(manifest["files"])


def _cell_folder(key: str) -> str:
    return f"cells/{key[:2]}/{key}/files"


def _json(content: object) -> bytes:
    return utf8(json.dumps(content, sort_keys=True, ensure_ascii=False, indent=1) + "\n")


def other_study(name: str, store: CellStore) -> str | None:
    """Name of another study whose results lie in `results/` and are about to be replaced."""
    study = read_index(store).study
    return study if study not in {"", name} else None
