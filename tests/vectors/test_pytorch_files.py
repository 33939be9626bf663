"""PyTorch's files: `torch.save` writes them, `torch.load` is the oracle."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.errors import EmbeddingFormatError
from biasgauge.vectors import load

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("the", "naïve", "日本")
MATRIX = torch.tensor([[0.5, -1.25], [3, 1024], [-7, 0.25]])
layer_of: Any = torch.nn.Embedding.from_pretrained  # torch leaves it untyped


def write(folder: Path, value: Any, words: tuple[str, ...] = WORDS) -> Path:  # noqa: ANN401 - whatever torch saves
    torch.save(value, folder / "weights.pt")
    (folder / "weights.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    return folder / "weights.pt"


class Tagger(torch.nn.Module):
    """A network with an embedding and another matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = layer_of(MATRIX)
        self.output = torch.nn.Linear(2, 3)


VALUES: dict[str, Any] = {
    "tensor": MATRIX,
    "parameter": torch.nn.Parameter(MATRIX),
    "state dict": layer_of(MATRIX).state_dict(),
    "state dict of a network": Tagger().state_dict(),
    "checkpoint": {"epoch": 3, "state_dict": Tagger().state_dict()},
    "module": layer_of(MATRIX),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_torch_saves_is_read(name: str, tmp_path: Path) -> None:
    found = load(write(tmp_path, VALUES[name]))
    assert (found.format, found.name, found.words) == ("pytorch", "weights", WORDS)
    np.testing.assert_array_equal(found.vectors, MATRIX.numpy())
    assert isinstance(found.vectors.base, np.memmap)
    assert load(tmp_path / "weights.pt", words=["日本"]).vectors.tolist() == [[-7, 0.25]]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_precisions(dtype: torch.dtype, tmp_path: Path) -> None:
    path = write(tmp_path, {"weight": MATRIX.to(dtype)})
    expected = torch.load(path, weights_only=True)["weight"].double().numpy()
    np.testing.assert_array_equal(load(path).vectors, expected)


def test_a_part_of_a_storage(tmp_path: Path) -> None:
    np.testing.assert_array_equal(load(write(tmp_path, MATRIX[1:], WORDS[1:])).vectors, MATRIX[1:].numpy())
    with pytest.raises(EmbeddingFormatError, match="row by row"):
        load(write(tmp_path, MATRIX.T, WORDS[:2]))
    with pytest.raises(EmbeddingFormatError, match="row by row"):
        load(write(tmp_path, MATRIX[:, :1]))


@given(rows=st.integers(1, 6), dim=st.integers(1, 4))
def test_there_and_back(rows: int, dim: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    matrix = torch.randn(rows, dim, generator=torch.Generator().manual_seed(rows))
    words = tuple(f"w{row}" for row in range(rows))
    found = load(write(tmp_path_factory.mktemp("torch"), {"weight": matrix}, words))
    assert found.words == words
    np.testing.assert_array_equal(found.vectors, matrix.numpy())


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, "should name one matrix"),
        ({"a": MATRIX, "b": MATRIX.clone()}, "found a, b"),
        ({"bias": torch.ones(3)}, "found none"),
        ({"weight": torch.ones(3, 2, dtype=torch.int64)}, "LongStorage"),
        (torch.nn.Linear(2, 3), "'torch.nn.modules.linear.Linear'.*torch.save\\(model.state_dict"),
        ({"weight": MATRIX[:2]}, "3 words for 2 vectors"),
        ({"weight": torch.ones(0, 2)}, "no rows"),
    ],
)
def test_other_files_are_refused_in_one_sentence(value: Any, sentence: str, tmp_path: Path) -> None:  # noqa: ANN401
    with pytest.raises(EmbeddingFormatError, match=sentence):
        load(write(tmp_path, value))


def test_files_of_early_versions_are_refused(tmp_path: Path) -> None:
    torch.save({"weight": MATRIX}, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    with pytest.raises(EmbeddingFormatError, match=r"PyTorch before 1\.6"):
        load(tmp_path / "old.pt")


def test_dicts_in_many_places_are_no_bomb(tmp_path: Path) -> None:
    value: Any = {"weight": MATRIX}
    for _ in range(12):
        value = {f"{number}": value for number in range(100)}
    np.testing.assert_array_equal(load(write(tmp_path, value)).vectors, MATRIX.numpy())


def test_compressed_members_and_damage(tmp_path: Path) -> None:
    path = write(tmp_path, {"weight": MATRIX})
    members: dict[str, bytes] = {}
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def rewritten(**changed: bytes) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, changed.get(name.rpartition("/")[2], content))
        return packed.getvalue()

    path.write_bytes(rewritten())
    np.testing.assert_array_equal(load(path).vectors, MATRIX.numpy())
    path.write_bytes(rewritten(**{"0": bytes(8)}))
    with pytest.raises(EmbeddingFormatError, match="more than the archive holds"):
        load(path)
    path.write_bytes(rewritten(byteorder=b"big"))
    with pytest.raises(EmbeddingFormatError, match="byte order"):
        load(path)
    content = rewritten()
    for length in range(8, len(content), 5):
        path.write_bytes(content[:length])
        with pytest.raises(EmbeddingFormatError):
            load(path)
