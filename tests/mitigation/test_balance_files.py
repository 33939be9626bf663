"""Tables, paragraphs, compressed files, kills and real text: what should stay is written, whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.errors import CorpusError, ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.mitigation import balancing_text
from biasgauge.mitigation.balancing import balance
from biasgauge.text.tokenizers import tokenizer_named

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SETS = {"x": ["he"], "y": ["she"], "a": ["career"], "b": ["home"]}
ALL: dict[str, Any] = {"degree": "max", "max_removed": 1}
TEXT = "he career\nshe home\nnothing\nshe career\nhe career\nlast"
LEFT = "nothing\nshe career\nlast"


@pytest.mark.parametrize("ending", ["", ".gz", ".xz", ".zst"])
def test_compressed_in_and_out(ending: str, tmp_path: Path) -> None:
    packers: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
        "": (bytes, bytes),
        ".gz": (gzip.compress, gzip.decompress),
        ".xz": (lzma.compress, lzma.decompress),
        ".zst": (zstandard.compress, _unpacked),
    }
    pack, unpack = packers[ending]
    path, out = tmp_path / "packed", tmp_path / f"out.txt{ending}"
    path.write_bytes(pack(TEXT.encode()))
    found = balance(path, SETS, out=out, **ALL)
    assert unpack(out.read_bytes()) == LEFT.encode()
    assert found.removed == 3
    written = out.read_bytes()
    balance(path, SETS, out=out, **ALL)
    assert out.read_bytes() == written
    assert not list(tmp_path.glob(".*"))


def _unpacked(content: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(content)


@pytest.mark.parametrize(
    ("name", "asked", "text", "left"),
    [
        (
            "a.tsv",
            {"field": "text"},
            "\nid\ttext\nhe\tcareer\n\n1\the career\r\n2\tshe\n \n3\tshe home\n4\tx",
            "\nid\ttext\nhe\tcareer\n\n2\tshe\n \n4\tx",
        ),
        ("a.tsv", {"field": 2}, "id\the career\n1\tx\n2\the career\n", "1\tx\n"),
        (
            "a.csv",
            {"field": "text"},
            '"i\nd",text\n1,"he\n\ncareer"\n\n2,"he ""x"""\n3,"she, home"\n"\n4",career he\n',
            '"i\nd",text\n\n2,"he ""x"""\n',
        ),
        ("a.csv", {"field": 1}, "\ufeffhe career,1\n  ,2\nx,3\n", "  ,2\nx,3\n"),
        (
            "a.jsonl",
            {"field": "t"},
            '{"t": "he career"}\n\n{"t": null, "u": "he career"}\n{"t": "she\\nhome"}\n{"t": "he\\u0000 career"}',
            '\n{"t": null, "u": "he career"}\n',
        ),
        (
            "book",
            {"layout": "paragraphs"},
            "\nhe\ncareer\n\n\nhe\n\ncareer\n \nshe has a\nhome",
            "\n\n\nhe\n\ncareer\n \n",
        ),
        ("wiki.train.tokens", {}, " \n = he career = \n \n she <unk> home \n x \n", " \n \n x \n"),
        ("a.txt", {"tokenizer": "whitespace"}, "\ufeffhe career\n\nshe home", "\n"),
        ("a.tsv", {"field": "text", "tokenizer": "whitespace"}, "\ufefftext\nhe career", "\ufefftext\n"),
        ("a.txt", {}, "he\rcareer\r\nhe\r\ncareer\r\n", "he\r\ncareer\r\n"),
    ],
)
def test_layouts(name: str, asked: dict[str, Any], text: str, left: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode())
    balance(path, SETS, out=tmp_path / "out", **ALL, **asked)
    assert (tmp_path / "out").read_bytes().decode() == left


@settings(deadline=None, max_examples=60)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(["he", "she", "career", "home", "\n", '"', ",", "\r\n", "x", "\t", "é"]), max_size=6),
        max_size=12,
    ),
    block=st.sampled_from([3, 20, 2**17]),
)
def test_rows_that_stay_are_the_rows_that_should(
    texts: list[list[str]], block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    rows = [[str(number), " ".join(words)] for number, words in enumerate(texts)]
    path = folder / "rows.csv"
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([["id", "text"], *rows])
    path.write_bytes(written.getvalue().encode())
    patched = pytest.MonkeyPatch()
    patched.setattr(balancing_text, "_BLOCK_BYTES", block)
    try:
        if not rows:
            with pytest.raises(CorpusError, match="holds no lines"):
                balance(path, SETS, out=folder / "out", field="text", **ALL)
            return
        found = balance(path, SETS, out=folder / "out", field="text", **ALL)
    finally:
        patched.undo()
    split = tokenizer_named("words").split
    pro = [{"he", "career"}, {"she", "home"}]
    stay = [row for row in rows if set(split(row[1])) & {"he", "she", "career", "home"} not in pro]
    with (folder / "out").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["id", "text"], *stay]
    assert (found.lines, found.removed) == (len(rows), len(rows) - len(stay))


def test_a_row_that_is_wrong_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"t": "x"}\n{"t": 3}\n', encoding="utf-8")
    with pytest.raises(CorpusError, match=r"line 2.*number"):
        balance(path, SETS, out=tmp_path / "out", field="t")
    with pytest.raises(CorpusError, match=r"line 1.*object"):
        balance(path, SETS, out=tmp_path / "out")
    with pytest.raises(ParameterError, match="'field' parameter of read_corpus is for tables"):
        balance(path, SETS, out=tmp_path / "out", field="t", layout="lines")
    assert not (tmp_path / "out").exists()


KILLED = """
import os, signal, sys
from functools import partial
from pathlib import Path
from biasgauge.mitigation import balancing, balancing_text
from biasgauge.mitigation.balancing import balance

steps, at = 0, int(sys.argv[3])

def step():
    global steps
    steps += 1
    if steps == at:
        os.kill(os.getpid(), signal.SIGKILL)

def stepped(function):
    def run(*arguments):
        step()
        result = function(*arguments)
        step()
        return result
    return run

balancing.copy_without = partial(balancing.copy_without, block_bytes=64)
balancing_text._remaining_stretches = stepped(balancing_text._remaining_stretches)
os.fsync = stepped(os.fsync)
Path.replace = stepped(Path.replace)
sets = {"x": ["he"], "y": ["she"], "a": ["career"], "b": ["home"]}
balance(sys.argv[1], sets, out=sys.argv[2], degree="max", max_removed=1)
print(steps)
"""


@pytest.mark.crash
@pytest.mark.skipif(os.name != "posix", reason="NO SIGKILL on this system")
def test_killed_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path, out = tmp_path / "in", tmp_path / "out"
    path.write_text("he career\nsomething else\n" * 20, encoding="utf-8")

    def run(at: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", KILLED, str(path), str(out), str(at)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)

    whole = run(0)
    assert whole.returncode == 0, whole.stderr
    new, total = out.read_bytes(), int(whole.stdout)
    assert new == b"something else\n" * 20
    assert total >= 2 * (8 + 2)
    seen = []
    for at in (2, total // 2, total - 4, total - 3, total - 2, total):
        out.write_text("old", encoding="utf-8")
        assert run(at).returncode == -9
        seen.append(out.read_bytes())
        assert seen[-1] in {b"old", new}
    assert seen == sorted(seen)  # "old" sorts before "something": once the new file is there it stays
    assert {b"old", new} == set(seen)


def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    peaks = []
    for size in (60_000, 300_000):  # both more than a block
        path = tmp_path / str(size)
        path.write_text("a few words of text without any of theirs\n" * size, encoding="utf-8")
        tracemalloc.start()
        balance(path, SETS, out=tmp_path / "out")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0], peaks


@pytest.mark.shared
def test_real_text_against_a_slow_loop(shared_data: Path, tmp_path: Path) -> None:
    """A slice of Wikipedia, every line by the released rule and by ours, as plain loops have them."""
    with lzma.open(shared_data / "enwiki_sample" / "enwiki_short_articles_10M.txt.xz", "rb") as file:
        lines = [next(file) for _ in range(20_000)]
    path = tmp_path / "wiki.txt"
    path.write_bytes(b"".join(lines))
    sets = {role: set(words) for role, words in lexicon("weat6b").sets.items()}

    def held(line: bytes, split: Callable[[str], list[str]]) -> str:
        tokens = set(split(line.decode()))
        return "".join(role for role, words in sets.items() if words & tokens)

    for tokenizer in ("words", "whitespace"):
        number = Counter(held(line, tokenizer_named(tokenizer).split) for line in lines)
        found = balance(path, "weat6b", out=tmp_path / "out", tokenizer=tokenizer)
        assert [one.before for one in found.classes[:4]] == [
            number[sets_held] for sets_held in ("xa", "yb", "ya", "xb")
        ]
        assert found.classes[4].before == sum(count for sets_held, count in number.items() if len(sets_held) > 2)
        assert found.classes[0].after == found.classes[2].before  # pro 1 is as frequent as anti 1 now
        written = (tmp_path / "out").read_bytes().split(b"\n")[:-1]
        assert len(written) == len(lines) - found.removed
    of = [set(held(line, str.split)) for line in lines]
    pro = [1 if {"x", "a"} <= has else 2 if {"y", "b"} <= has else 0 for has in of]
    room = {1: sum({"y", "a"} <= has for has in of), 2: sum({"x", "b"} <= has for has in of), 0: len(lines)}
    stay = []
    for line, kind in zip(lines, pro, strict=True):
        room[kind] -= 1
        if room[kind] >= 0:
            stay.append(line)
    found = balance(path, "weat6b", out=tmp_path / "out", as_published=True)
    assert (tmp_path / "out").read_bytes() == b"".join(stay)
    assert found.removed == len(lines) - len(stay) > 100
