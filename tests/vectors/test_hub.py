"""Names on the Hugging Face hub: refused unless a download is allowed, and then fetched by its library, here a fake."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.cli.entry import run
from biasgauge.errors import InputError, ParameterError
from biasgauge.vectors import convert, load, save

if TYPE_CHECKING:
    from pathlib import Path

MATRIX = np.array([[0.5, -1.25], [3, 1024]], np.float32)


class Hub(ModuleType):
    """The functions of `huggingface_hub` that are called, and with what."""

    def __init__(self, folder: Path) -> None:
        super().__init__("huggingface_hub")
        self.folder = folder
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def snapshot_download(self, name: str, **settings: Any) -> str:  # noqa: ANN401 - those of the library
        self.calls.append((name, settings))
        return str(self.folder)

    def hf_hub_download(self, name: str, file: str, **settings: Any) -> str:  # noqa: ANN401 - those of the library
        self.calls.append((f"{name}/{file}", settings))
        if file == "nowhere.bin":
            raise FileNotFoundError("404 Client Error\nsecond line")
        return str(self.folder / file)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    folder = tmp_path / "cache"
    folder.mkdir()
    save((["a", "b"], MATRIX), folder / "vectors.bin")
    from safetensors.numpy import save_file

    save_file({"embeddings": MATRIX}, folder / "model.safetensors")
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}}}))
    module = Hub(folder)
    monkeypatch.setitem(sys.modules, "huggingface_hub", module)
    return module


def test_nothing_is_fetched_unless_it_is_allowed(hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "biasgauge convert hub:o/m vectors.safetensors --allow-download"
    for attempt in (lambda: load("hub:o/m"), lambda: convert("hub:o/m", tmp_path / "v.bin")):
        with pytest.raises(ParameterError, match=f"opens no connection .* {command}"):
            attempt()
    for words in (["convert", "hub:o/m", str(tmp_path / "v.bin")], ["weat", "hub:o/m", "--test", "weat7"]):
        assert run(words) == 2
        assert "--allow-download" in " ".join(capsys.readouterr().err.split())
    assert hub.calls == []


def test_a_folder_of_static_embeddings(hub: Hub, tmp_path: Path) -> None:
    assert run(["convert", "hub:o/m@v1", str(tmp_path / "v.bin"), "--allow-download", "--quiet"]) == 0
    np.testing.assert_array_equal(load(tmp_path / "v.bin").vectors, MATRIX)
    ((name, settings),) = hub.calls
    assert (name, settings["revision"]) == ("o/m", "v1")
    assert all(pattern.endswith((".safetensors", "tokenizer.json")) for pattern in settings["allow_patterns"])


def test_one_file(hub: Hub, tmp_path: Path) -> None:
    convert("hub:o/m/vectors.bin", tmp_path / "v.npz", allow_download=True)
    np.testing.assert_array_equal(load(tmp_path / "v.npz").vectors, MATRIX)
    assert hub.calls == [("o/m/vectors.bin", {"revision": None})]


def test_refusals_of_the_hub_are_one_sentence(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^hub:o/m/nowhere.bin: the hub does not give it \(404 Client Error\)$"):
        convert("hub:o/m/nowhere.bin", tmp_path / "v.npz", allow_download=True)
    assert len(hub.calls) == 1


@pytest.mark.parametrize("name", ["hub:", "hub:m", "hub:o/m/../x", "hub:o/m@a b", "hub:../m"])
def test_other_names_are_refused(name: str, hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="is written hub:ORGANIZATION/NAME"):
        convert(name, tmp_path / "v.npz", allow_download=True)
    assert hub.calls == []
