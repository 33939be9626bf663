"""Headers that promise more than their file holds are refused before memory is taken for what they promise."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from biasgauge.errors import InputError
from biasgauge.vectors.encoders import load_model

MOST_GROWTH = 200 * 2**20
"""Bytes of memory that refusing files of some kilobytes may take."""


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def header(*fields: bytes, tensors: bytes = b"", count: int = 0, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, count, len(fields)) + b"".join(fields) + tensors


def array(kind: int, length: int, content: bytes = b"") -> bytes:
    return text(b"tokens") + struct.pack("<IIQ", 9, kind, length) + content


def tensor(name: bytes, *shape: int) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, 0)


@pytest.fixture(scope="module")
def sound(repository: Path) -> bytes:
    """A whole GGUF file of a model of one layer."""
    pytest.importorskip("gguf")
    sys.path.insert(0, str(repository / "scripts"))
    try:
        from fuzz_models import _gguf as sound_gguf
    finally:
        sys.path.pop(0)
    return sound_gguf("gguf").seeds[0]


def with_setting(content: bytes, name: bytes, number: int) -> bytes:
    mark = name + struct.pack("<I", 4)
    start = content.index(mark) + len(mark)
    return content[:start] + struct.pack("<I", number) + content[start + 4 :]


HEADERS = {
    "texts without end": (header(array(8, 2**40)), "promises 1,099,511,627,776 values"),
    "numbers without end": (header(array(4, 2**62)), "more than the file holds"),
    "arrays in arrays": (header(array(9, 2**20)), "array of values of the type 9"),
    "a long name": (header(struct.pack("<Q", 2**63) + bytes(9)), "ends in the middle of its header"),
    "many fields": (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**50), "more than any model has"),
    "many tensors": (b"GGUF" + struct.pack("<IQQ", 3, 2**50, 0), "more than any model has"),
    "small fields": (header(*[text(b"k") + struct.pack("<IB", 0, 1)] * 300_000), "300,000 fields or tensors"),
    "empty texts": (header(array(8, 2**20, bytes(2**23))), "more than a model of 8,388,6.. bytes needs"),
    "many small values": (header(array(0, 2**21 + 1, bytes(2**21 + 1))), "header of more than 2,097,152 values"),
    "a large tensor": (header(tensors=tensor(b"t", 2**20, 2**20), count=1), "promises 1,099,511,627,776 weights"),
    "many dimensions": (
        header(tensors=text(b"t") + struct.pack("<I", 2**31) + bytes(24), count=1),
        "tensor of 2,147,483,648 dim",
    ),
    "an unknown type": (header(text(b"x") + struct.pack("<I", 77)), "unknown type 77"),
    "the other order of bytes": (b"GGUF" + struct.pack(">IQQ", 3, 0, 2**12), "more than the file holds"),
    "no header": (b"GGUF", "ends in the middle of its header"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_of_gguf(name: str, tmp_path: Path) -> None:
    content, sentence = HEADERS[name]
    (tmp_path / "x.gguf").write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        load_model(tmp_path / "x.gguf")


SETTINGS = {
    b"llama.block_count": 2**31,
    b"llama.embedding_length": 2**31,
    b"llama.attention.head_count": 0,
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_gguf_fit_its_tensors(name: bytes, sound: bytes, tmp_path: Path) -> None:
    """Two billion layers were made before the weights were looked at."""
    (tmp_path / "x.gguf").write_bytes(with_setting(sound, name, SETTINGS[name]))
    with pytest.raises(InputError, match=r"its tensors do not fit its settings"):
        load_model(tmp_path / "x.gguf", kind="causal")


PROGRAM = """
import resource, sys
from pathlib import Path
from biasgauge.errors import InputError
from biasgauge.vectors.encoders import load_model
def refused(path):
    try:
        load_model(path)
    except InputError:
        return
    sys.exit(f"{path} was read")
refused(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    refused(path)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.fuzz
def test_refusing_takes_little_memory(sound: bytes, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    contents = [*(content for content, _ in HEADERS.values()), *(with_setting(sound, *one) for one in SETTINGS.items())]
    paths = []
    for number, content in enumerate(contents):
        paths.append(tmp_path / f"{number}.gguf")
        paths[-1].write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, paths)], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < MOST_GROWTH


@pytest.mark.parametrize(
    "changes",
    [{"num_hidden_layers": 10**9}, {"hidden_size": 10**6}, {"vocab_size": 10**9}, {"num_hidden_layers": 10**5}],
)
def test_a_model_much_larger_than_its_weights_is_not_made(changes: dict[str, int], tiny: Path, tmp_path: Path) -> None:
    for file in tiny.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, **changes}))
    with pytest.raises(InputError, match=r"the weights do not fit config\.json, whose model has"):
        load_model(tmp_path)
