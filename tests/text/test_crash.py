"""A process killed at any moment, a full disk, several processes at once: a whole corpus, or none."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from biasgauge.errors import CorpusError
from biasgauge.text import open_corpus, read_corpus, writer

if TYPE_CHECKING:
    from pathlib import Path

# Every step that touches the disk counts: half of a file written, before and after each flush, move, removal and new
# folder. For each step a child is killed there, then another makes the corpus; both are forked, to import once.
KILLED = """
import json, os, signal, sys
from pathlib import Path
from biasgauge.text import open_corpus, read_corpus, writer

folder = Path(sys.argv[1])
steps, limit = 0, 0


def step():
    global steps
    steps += 1
    if steps == limit:
        os.kill(os.getpid(), signal.SIGKILL)


def stepped(function):
    def run(*arguments, **settings):
        step()
        result = function(*arguments, **settings)
        step()
        return result
    return run


whole_write = writer._write_file


def half_first(path, blocks, *, durable):
    content = b"".join(bytes(block) for block in blocks)
    path.write_bytes(content[: len(content) // 2])
    step()
    whole_write(path, [content], durable=durable)


def child(out, last):
    global limit
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1]
    limit = last
    writer._BLOCK = 50
    writer._write_file = half_first
    writer._Spill.flush = stepped(writer._Spill.flush)
    for name in ("fsync", "rename", "unlink", "mkdir"):
        setattr(os, name, stepped(getattr(os, name)))
    read_corpus(folder / "text", out=out)
    (folder / f"{out.parent.name}.steps").write_text(str(steps))
    os._exit(0)


assert child(folder / "whole" / "corpus", 0) == 0
total = int((folder / "whole.steps").read_text())
seen = []
for number in range(1, total + 1):
    out = folder / str(number) / "corpus"
    assert child(out, number) == signal.SIGKILL, number
    if out.exists():
        open_corpus(out).check()
    seen.append(out.exists())
    assert child(out, 0) == 0, number
(folder / "report.json").write_text(json.dumps({"total": total, "seen": seen}))
"""


@pytest.mark.crash
@pytest.mark.skipif(not hasattr(os, "fork"), reason="NO FORK on this system: a kill cannot be planted at every step")
def test_killed_at_every_step_then_made_again(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("some words and\nsome more of them\n" * 20, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, check=False, timeout=600
    )
    assert run.returncode == 0, run.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole" / "corpus").iterdir()}
    assert len(whole) == 6
    # Six files: half of each, a flush twice; three spills of three blocks at least; the move; locks and folders.
    assert report["total"] >= 6 * 3 + 3 * 3 * 2 + 2
    assert report["seen"] == sorted(report["seen"])
    assert {True, False} == set(report["seen"])
    for number in range(1, report["total"] + 1):
        place = tmp_path / str(number)
        assert {path.name: path.read_bytes() for path in (place / "corpus").iterdir()} == whole, number
        left = {path.name for path in place.iterdir()} - {"corpus"}
        # After the move nothing but an unlocked lock can be left, and only where the corpus was there already.
        assert left <= ({".corpus.biasgauge.lock"} if report["seen"][number - 1] else set()), number


FULL = """
import resource, sys
from biasgauge.text import read_corpus
from biasgauge.errors import CorpusError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    read_corpus(sys.argv[1], out=sys.argv[2] or None)
except CorpusError as problem:
    sys.exit(str(problem))
"""


@pytest.mark.crash
@pytest.mark.parametrize("limit", [1_000, 9_000, 450_000], ids=lambda limit: f"{limit} bytes")
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "temporary"])
def test_full_disk_leaves_nothing(limit: int, tmp_path: Path, *, kept: bool) -> None:
    """The limits stop the words (about 4,000 bytes), and the tokens before and after they are renumbered."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    words = [f"w{chr(97 + place % 26)}{chr(97 + place // 26)}" for place in range(676)]
    text = tmp_path / "text"
    text.write_text("\n".join(" ".join(words) for _ in range(170)), encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    out = str(tmp_path / "out" / "corpus") if kept else ""
    ended = subprocess.run(
        [sys.executable, "-c", FULL, str(text), out, str(limit)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert ended.returncode == 1, ended.stderr
    sentence = "the corpus cannot be written: File too large; free some space, or name another folder"
    if kept:
        assert ended.stderr == f"{tmp_path / 'out' / 'corpus'}: {sentence}\n"
    else:
        assert ended.stderr.startswith(str(temporary / "biasgauge-corpus-"))
        assert ended.stderr.endswith(f": {sentence}\n")
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []


def test_no_temporary_folder_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(CorpusError, match="temporary"):
        read_corpus(iter(["a"]))


AT_ONCE = """
import sys, time
from biasgauge.text import read_corpus, writer
finish = writer.CorpusWriter.finish

def slow_finish(self, *arguments):
    time.sleep(0.3)
    finish(self, *arguments)
    print("made")

writer.CorpusWriter.finish = slow_finish
print(read_corpus(sys.argv[1], out=sys.argv[2]).checksum)
"""


@pytest.mark.crash
def test_processes_at_once_make_it_once(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("some words\n" * 1_000, encoding="utf-8")
    out = tmp_path / "corpus"
    started = [
        subprocess.Popen([sys.executable, "-c", AT_ONCE, str(text), str(out)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [process.communicate(timeout=600)[0].split() for process in started]
    assert [process.returncode for process in started] == [0] * 4
    assert sorted(line for lines in said for line in lines) == sorted([open_corpus(out).checksum] * 4 + ["made"])
    assert {path.name for path in tmp_path.iterdir()} == {"text", "corpus"}


def test_memory_does_not_grow_with_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgauge.text.corpus_reader.READ_BYTES", 2**12)
    monkeypatch.setattr(writer, "SPILL_NUMBERS", 2**12)
    peaks = []
    for size in (20_000, 80_000):
        path = tmp_path / str(size)
        path.write_text("a few words of text\n" * size, encoding="utf-8")
        tracemalloc.start()
        read_corpus(path, out=tmp_path / f"corpus {size}")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0] < 80_000 * 5 * 4, peaks  # less than the tokens alone
