"""Nothing that comes from a file reaches the terminal as an order; limits of the machine are no defects of ours."""

from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.cli.entry import run
from biasgauge.errors import escape_control_characters
from biasgauge.results.encodings import escape_control_characters_in_json, shown_as
from biasgauge.vectors import Embedding, save

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = (
    *(chr(code) for code in range(32) if chr(code) not in "\t\n"),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
)
TITLE = "\x1b]0;owned\x07"


def test_every_order_is_shown_by_its_number() -> None:
    for order in ORDERS:
        shown = escape_control_characters(f"a{order}b")
        assert shown.isascii()
        assert shown.isprintable()
        assert shown == escape_control_characters(shown)
        assert (
            json.loads(escape_control_characters_in_json(json.dumps(f"a{order}b", ensure_ascii=False))) == f"a{order}b"
        )
    kept = "na\u00efve\tword\n\u200c\u0645\u06cc\u200d\u062e 中文 🙂"
    assert escape_control_characters(kept) == kept
    assert shown_as("\x1b[2J−", "ascii") == "\\x1b[2J-"


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """Words and a file name that would set the title, clear the screen and turn the line around."""
    random = np.random.default_rng(0)
    words = [f"he{TITLE}", "she\x9b2J", "nurse\u202e", "king", "queen", "man", "woman", "art", "math", "\x1b[31mred"]
    folder = tmp_path / f"mod{TITLE}els"
    folder.mkdir()
    return save(Embedding(tuple(words), random.normal(size=(10, 8)).astype(np.float32)), folder / "v.safetensors")


@pytest.mark.parametrize("form", ["", "--json", "--markdown", "--latex"])
def test_no_command_prints_orders(
    form: str, vectors: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    sets = {"--x": f"he{TITLE},king", "--y": "she\x9b2J,queen", "--a": "nurse\u202e,man", "--b": "\x1b[31mred,woman"}
    words = ["weat", str(vectors), *(part for pair in sets.items() for part in pair), *([form] if form else [])]
    run(words)
    run(["score", str(vectors), "--pairs", "king,queen", "--words", f"he{TITLE},art", *([form] if form else [])])
    run(["weat", str(vectors.with_name("no\x1b[2J\u202e")), "--test", "weat7"])
    run(["weat", str(vectors), "--test", "we\x1b[2Jat"])
    printed = capsys.readouterr()
    assert printed.out
    assert printed.err
    for text in (printed.out, printed.err):
        assert not [order for order in ORDERS if order in text]


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (MemoryError(), "there is not enough memory; ask for fewer words"),
        (
            ImportError("a.so: failed to map segment from shared object"),
            r"there is not enough memory \(a.so: failed to map",
        ),
        (MemoryError("Unable to allocate 9 GiB"), r"there is not enough memory \(Unable to allocate 9 GiB\); ask for"),
        (OSError(errno.ENOSPC, "No space left on device", "out/file"), "out/file: No space left on device; free some"),
        (OSError(errno.ENOSPC, "No space left on device"), r"No space left on device \(of the output, or of temporary"),
    ],
)
def test_limits_of_the_machine_are_the_users(
    problem: Exception, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import re

    def fail(*_arguments: object, **_settings: object) -> None:
        raise problem

    monkeypatch.setattr("biasgauge.cli.entry.app", fail)
    assert run(["audit"]) == 2
    said = capsys.readouterr().err
    assert re.match(f"biasgauge: {sentence}", said)
    assert said.count("\n") == 1
