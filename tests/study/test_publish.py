from __future__ import annotations

import errno
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.errors import InputError
from biasgauge.study.engine import CellRuns, run_cells
from biasgauge.study.run import publish_results, read_index
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.study.cell import Cell

RESULT = {"result": True}


@pytest.fixture(params=["folder", "memory URL"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> CellStore:
    return CellStore(tmp_path / "store" if request.param == "folder" else f"memory://{tmp_path}/store")


def run(cells: list[Cell], store: CellStore) -> CellRuns:
    return run_cells(cells, store, workers=0)


def read(store: CellStore, name: str) -> Any:  # noqa: ANN401 - JSON
    content = store.read(name)
    return None if content is None else json.loads(content)


def test_results_are_copied_and_what_is_large_is_pointed_at(make_cell: Callable[..., Cell], store: CellStore) -> None:
    model, analysis = make_cell("model"), make_cell("analysis", settings=RESULT)
    ran = run([model, analysis], store)
    names = {"trust/sgns/wiki": analysis.key, "scores": model.key}
    places = publish_results("mine", names, {"sgns/wiki/seed0": model.key}, ran.cells, store)
    inside = f"cells/{model.key[:2]}/{model.key}/files"
    assert places["trust/sgns/wiki"] == f"{store.url}/results/trust/sgns/wiki"
    assert places["scores"].endswith(inside)
    assert read(store, "results/trust/sgns/wiki/result.json") == {"text": "analysis"}
    assert read(store, "results/trust/sgns/wiki/more/about.json") == {"length": 8}
    assert store.read("results/scores/text.txt") is None
    index = read(store, "results/index.json")
    assert index["study"] == "mine"
    assert index["results"]["scores"] == {
        "state": "there", "step": "join-texts", "key": model.key, "folder": inside,
        "files": ["more/about.json", "padding.bin", "text.txt"],
    }  # fmt: skip
    assert read(store, "results/models.json")["models"] == {
        "sgns/wiki/seed0": {"key": model.key, "folder": inside, "file": "model.safetensors"}
    }


def test_copies_of_what_is_a_result_no_more_are_removed(make_cell: Callable[..., Cell], store: CellStore) -> None:
    old, kept = make_cell("old", settings=RESULT), make_cell("kept", settings=RESULT)
    cells = run([old, kept], store).cells
    publish_results("mine", {"a/b": old.key, "a": kept.key}, {}, cells, store)
    publish_results("mine", {"a": kept.key}, {}, cells, store)
    assert store.read("results/a/b/result.json") is None
    assert read(store, "results/a/result.json") == {"text": "kept"}
    assert read_index(store).study == "mine"
    publish_results("another", {"c": old.key}, {}, cells, store)  # `results/` is what the last run had
    assert store.read("results/a/result.json") is None
    assert read(store, "results/c/result.json") == {"text": "old"}


def test_a_result_that_failed_is_told_and_its_old_copy_removed(
    make_cell: Callable[..., Cell], store: CellStore, tmp_path: Path
) -> None:
    before = make_cell("before", settings=RESULT)
    publish_results("mine", {"a": before.key}, {}, run([before], store).cells, store)
    (tmp_path / "broken").touch()
    after = make_cell("after", settings=RESULT, paths={"broken": tmp_path / "broken"})
    behind = make_cell("behind", [after], settings=RESULT)
    cells = run([after, behind], store).cells
    assert publish_results("mine", {"a": after.key, "b": behind.key}, {"m": after.key}, cells, store) == {}
    index = read(store, "results/index.json")["results"]
    assert [index[name]["state"] for name in "ab"] == ["failed", "blocked"]
    assert store.read("results/a/result.json") is None
    assert read(store, "results/models.json")["models"] == {}


@pytest.mark.parametrize("content", [b"", b"[]", b'{"study": "mine", "results": {"x": 1}}', b'{"study": "mine"}'])
def test_nothing_is_removed_on_the_word_of_a_damaged_index(
    make_cell: Callable[..., Cell], store: CellStore, content: bytes
) -> None:
    cell = make_cell("a", settings=RESULT)
    cells = run([cell], store).cells
    store.write("results/index.json", content)
    publish_results("mine", {"a": cell.key}, {}, cells, store)
    assert read(store, "results/index.json")["results"]["a"]["state"] == "there"


def test_an_index_cannot_have_files_outside_results_removed(make_cell: Callable[..., Cell], store: CellStore) -> None:
    cell = make_cell("a", settings=RESULT)
    cells = run([cell], store).cells
    store.write("precious.txt", b"mine")
    entry = {"folder": "results/..", "files": ["precious.txt"]}
    store.write("results/index.json", json.dumps({"study": "mine", "results": {"..": entry}}).encode())
    publish_results("mine", {"a": cell.key}, {}, cells, store)
    assert store.read("precious.txt") == b"mine"


def test_an_index_cannot_have_a_users_file_in_results_removed(make_cell: Callable[..., Cell], tmp_path: Path) -> None:
    """Only a copy of a cell's own file goes, byte by byte, whatever the index says."""
    store = CellStore(tmp_path / "store")
    cell, old = make_cell("a", settings=RESULT), make_cell("old", settings=RESULT)
    cells = run([cell, old], store).cells
    for name in ("thesis.txt", "result.json"):
        store.write(f"results/notes/{name}", b"mine")
    entry = {"folder": "results/notes", "key": old.key, "files": ["thesis.txt", "result.json"]}
    store.write("results/index.json", json.dumps({"study": "mine", "results": {"notes": entry}}).encode())
    publish_results("mine", {"a": cell.key}, {}, cells, store)
    assert store.read("results/notes/thesis.txt") == store.read("results/notes/result.json") == b"mine"


def test_links_in_results_are_neither_written_through_nor_removed_through(
    make_cell: Callable[..., Cell], tmp_path: Path
) -> None:
    store = CellStore(tmp_path / "store")
    cell, old = make_cell("a", settings=RESULT), make_cell("old", settings=RESULT)
    cells = run([cell, old], store).cells
    publish_results("mine", {"old": old.key}, {}, cells, store)
    precious = tmp_path / "precious"
    precious.mkdir()
    copy = (tmp_path / "store/results/old/result.json").read_bytes()
    (precious / "result.json").write_bytes(copy)
    shutil.rmtree(tmp_path / "store/results/old")
    (tmp_path / "store/results/old").symlink_to(precious, target_is_directory=True)
    publish_results("mine", {"a": cell.key}, {}, cells, store)
    assert (precious / "result.json").read_bytes() == copy
    (precious / "result.json").write_text("mine")
    with pytest.raises(InputError, match="remove"):
        publish_results("mine", {"old": old.key}, {}, cells, store)
    assert (precious / "result.json").read_text() == "mine"


def test_a_full_disk_while_results_are_copied_is_one_sentence(
    make_cell: Callable[..., Cell], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = CellStore(tmp_path / "store")
    cell = make_cell("a", settings=RESULT)
    cells = run([cell], store).cells

    def full(_name: str, _content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "write", full)
    with pytest.raises(InputError, match="results"):
        publish_results("mine", {"a": cell.key}, {}, cells, store)
