"""Readers of what biasgauge itself writes, for `scripts/fuzz.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from fuzz_target import Target, folder_of

if TYPE_CHECKING:
    from collections.abc import Callable

_CORPUS_FILES = ("tokens.npy", "lines.npy", "documents.npy", "counts.npy", "words.json")


def _unsigned() -> None:
    """Let the checksums that manifests have of themselves pass."""
    patch("biasgauge.io.json_file.has_valid_checksum", lambda _: True).start()


def _corpus(name: str) -> Target:
    from biasgauge.text import open_corpus, read_corpus
    from biasgauge.text.token_corpus import TokenCorpus

    file, _, signed = name.removeprefix("corpus-").partition(", ")
    if signed:
        _unsigned()
        patch.object(TokenCorpus, "content_checksum", lambda self: self.checksum).start()
    return folder_of(
        open_corpus, file, lambda folder: read_corpus(iter(["the cat sat", "the dog ran\nfar"]), out=folder)
    )


def _scores(name: str) -> Target:
    import numpy as np

    from biasgauge.scores import ScoreStore, score
    from biasgauge.vectors import Embedding

    def sound(folder: Path) -> None:
        model = Embedding(tuple("abcdef"), np.eye(6, 4, dtype=np.float32) + 1, name="m")
        score(model, pairs=[("a", "b")], words=["c", "d", "x"], measures="dbwa", store=folder)

    file, _, signed = name.removeprefix("scores-").partition(", ")
    pattern = file if file.endswith("json") else f"*.{file}"
    if signed:
        _unsigned()
    ignored = ["biasgauge.scores.store.check_digest"] if signed else []
    return folder_of(lambda folder: ScoreStore.open(folder).read(), pattern, sound, *ignored)


def _cells(name: str) -> Target:
    import numpy as np

    from biasgauge.text.training.cooccurrence import Cooccurrence

    counts = Cooccurrence(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([2, 2], np.float32))
    file, _, signed = name.removeprefix("cells-").partition(", ")
    ignored = ["biasgauge.text.training.cooccurrence.check_digest"] if signed else []
    if signed:
        _unsigned()
    return folder_of(Cooccurrence.open, file, counts.save, *ignored)


def _views(name: str) -> Target:
    import numpy as np

    from biasgauge.vectors import Embedding
    from biasgauge.vectors.encoders import open_views
    from biasgauge.vectors.encoders.view_files import save_views

    def sound(folder: Path) -> None:
        facets: dict[str, Any] = {"checkpoint": "c", "pooling": "mean", "template": "", "context": 0}
        numbers = np.eye(2, 3, dtype=np.float32)
        save_views([Embedding(("a", "b"), numbers, name=str(n), facets={**facets, "layer": n}) for n in (0, 1)], folder)

    file, _, signed = name.removeprefix("views-").partition(", ")
    ignored = ["biasgauge.vectors.encoders.view_files.check_digest"] if signed else []
    if signed:
        _unsigned()
    return folder_of(open_views, "views.json" if file == "views.json" else "0000*", sound, *ignored)


def _training(name: str) -> Target:
    """The recipe beside a model: who looks for finished models, and who looks for replicates."""
    from biasgauge.text.training import train
    from biasgauge.text.training.sweep import find_model
    from biasgauge.vectors.loading import lineage_of

    made: dict[str, Any] = {}

    def sound(folder: Path) -> None:
        texts = iter(["the cat sat on the mat"] * 20)
        done = train(texts, out=folder, algorithm="sgns", dim=4, epochs=1, min_count=1, n_jobs=1, seeds=1)
        made["recipe"], made["path"] = done.models[0].recipe, done.models[0].path

    def read(folder: Path) -> object:
        return find_model(folder, made["recipe"]), lineage_of(made["path"])

    if name.endswith("signed"):
        _unsigned()
    return folder_of(read, "*.safetensors" if name == "train-model" else "*.json", sound)


def _study_files(name: str) -> Target:
    """What a study keeps: cells with their manifests, failures, the index of results, checksums of large files."""
    from biasgauge.study.cell import Cell, CellRun, Failure
    from biasgauge.study.files import Checksums
    from biasgauge.study.run import publish_results, read_index
    from biasgauge.study.store import CellStore

    cell = Cell("step", 1, {"a": 1})

    def sound(folder: Path) -> None:
        store = CellStore(folder)
        with store.scratch() as scratch:
            (scratch / "outcome").mkdir()
            (scratch / "outcome" / "result.json").write_text('{"sentences": ["a"], "rows": [{"a": 1}]}')
            store.publish(cell, scratch / "outcome", 1.0)
        store.keep_failure(Failure("k", "label", "step", "error", "log"))
        run = CellRun("label", "step", cell.key, "done", 1.0, None)
        publish_results("study", {"result": cell.key}, {}, [run], store)
        (folder / "checksums.json").write_text('{"/a": ["stamp", "sum"]}')  # new files are not remembered
        store.close()

    def read(folder: Path) -> object:
        store = CellStore(folder)
        try:
            told = store.manifest(cell.key), store.is_intact(cell.key), store.seconds(cell.key), store.failures()
            return (
                told,
                read_index(store),
                Checksums(folder / "checksums.json").checksum(folder / "cells"),
                store.finished(),
            )
        finally:
            store.close()

    target = folder_of(read, name.removeprefix("study-"), sound)
    return Target(target.read, target.seeds, 0.5)


def _task_cache(_: str) -> Target:
    from biasgauge.applications.task_runs import CellCache

    key = {"task": "t", "seed": 1}
    return folder_of(
        lambda folder: CellCache(folder).read(key),
        "*.json",
        lambda folder: CellCache(folder).write(key, {"gap": 0.5, "metrics": [1, 2]}),
    )


def _preregistration(name: str) -> Target:
    from biasgauge.errors import InputError
    from biasgauge.study.preregistration import Preregistration, read_preregistration

    sound = Preregistration("s", "2026-01-01", "1.0", {"analyses.a.kind": "weat"}, {"weat7": "0a"}, ("a",))

    def read(path: Path) -> object:
        if name.endswith("signed"):
            try:
                content = json.loads(path.read_bytes())
                content["sha256"] = Preregistration.from_dict(content).sha256
                path.write_text(json.dumps(content))
            except (InputError, ValueError, TypeError, AttributeError, RecursionError, OSError):
                pass  # as it is, then
        return read_preregistration(path).summary()

    return Target(read, (json.dumps(sound.to_dict()).encode(),))


def _results(name: str) -> Target:
    """Results read back from their JSON, as studies, pages and users do."""
    import numpy as np

    from biasgauge import weat
    from biasgauge.audits.result import AuditResult
    from biasgauge.io.json_file import read_json_object
    from biasgauge.results.result import Stored
    from biasgauge.vectors import Embedding

    model = Embedding(tuple("abcdefgh"), np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32), name="m")
    tested = weat(model, x=["a", "b"], y=["c", "d"], a=["e", "f"], b=["g", "h"])
    if name == "result-audit":
        from biasgauge import audit

        whole = audit(model, lexicons=[_small_test()]).to_dict()
        return Target(lambda path: AuditResult.from_dict(read_json_object(path)), (json.dumps(whole).encode(),), 0.3)
    return Target(
        lambda path: Stored.from_dict(read_json_object(path)).summary(), (json.dumps(tested.to_dict()).encode(),)
    )


def _calibration(_: str) -> Target:
    from biasgauge.analyses.calibrate import DEFAULT_CALIBRATION, load_calibration

    content = json.loads(DEFAULT_CALIBRATION.read_bytes())
    short = {key: value[:2] if isinstance(value, list) else value for key, value in content.items()}
    return Target(load_calibration, (json.dumps(short).encode(),), 0.5)


def _small_test() -> Any:  # noqa: ANN401 - a lexicon
    from biasgauge.lexicons.parse import parse_lexicon

    sets = {
        role: {"name": role, "words": list(words)} for role, words in zip("xyab", ("ab", "cd", "ef", "gh"), strict=True)
    }
    return parse_lexicon({"name": "t", "kind": "test", **sets})


def _with_signed(start: str, files: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{start}-{file}{end}" for file in files for end in ("", ", signed"))


GROUPS: dict[tuple[str, ...], Callable[[str], Target]] = {
    _with_signed("corpus", ("corpus.json", *_CORPUS_FILES)): _corpus,
    _with_signed("scores", ("store.json", "scores.npy", "words.npy", "pairs.npy")): _scores,
    _with_signed("cells", ("cooccurrence.json", "starts.npy", "columns.npy", "values.npy")): _cells,
    _with_signed("views", ("views.json", "vectors")): _views,
    ("train-recipe", "train-recipe, signed", "train-model"): _training,
    tuple(f"study-{name}.json" for name in ("manifest", "run", "index", "checksums", "k")): _study_files,
    ("task-cache",): _task_cache,
    ("preregistration", "preregistration, signed"): _preregistration,
    ("result-stored", "result-audit"): _results,
    ("calibration",): _calibration,
}
