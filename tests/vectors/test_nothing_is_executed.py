"""Nothing from data is executed: Python's audit hooks look on while every format reads sound and hostile files."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# A first reading, of a trap in seven, loads what the readers need; the hook looks on at the second, of everything.
WATCHED = """
import json, pickle, pickletools, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import fuzz_files, fuzz_readers, fuzz_vectors
folder, mark = Path(sys.argv[1]), Path(sys.argv[1]) / "executed"
class Trap:
    def __reduce__(self):
        return exec, (f"open({str(mark)!r}, 'w')",)
class System:
    def __reduce__(self):
        import os
        return os.system, (f"touch {mark}",)
traps = [pickle.dumps(value, protocol) for protocol in range(6) for made in (Trap(), System())
         for value in (made, [made], {"a": made}, {"a": [1.0, made]}, (["a"], [made]))]
by_hand = [b"cos\\nsystem\\n(S'touch %s'\\ntR." % bytes(mark), b"(S'touch %s'\\nios\\nsystem\\n." % bytes(mark),
           b"(cos\\nsystem\\nS'touch %s'\\no." % bytes(mark)]
VECTORS = (*fuzz_files._VECTORS, *fuzz_vectors.NAMES)
FILES = [name for names in fuzz_files.GROUPS for name in names]
targets = [fuzz_readers.target_of(name) for name in (VECTORS if sys.argv[3] == "vectors" else FILES)]
def read_all(every=1):
    refused = 0
    for target in targets:
        broken = [seed.replace(b"a", b"cos\\nsystem\\n") for seed in target.seeds]
        for content in (*target.seeds, *traps[::every], *by_hand, *broken):
            (folder / "input").write_bytes(content)
            try:
                target.read(folder / "input")
            except Exception as problem:
                refused += 1
    return refused
read_all(every=7)
FORBIDDEN = ("exec", "import", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "subprocess.",
             "socket.", "pickle.", "marshal.", "ctypes.", "code.", "cpython.run", "urllib.", "webbrowser.")
seen = []
sys.addaudithook(lambda event, arguments: event.startswith(FORBIDDEN) and seen.append([event, repr(arguments)[:200]]))
refused = read_all()
print(json.dumps({"seen": seen, "refused": refused, "traps": len(targets) * (len(traps) + len(by_hand)),
                  "executed": mark.exists()}))
"""


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", ["vectors", "files"])
def test_reading_executes_nothing(kind: str, tmp_path: Path, repository: Path) -> None:
    """Vectors in every format; and texts, tables, word lists, studies and whatever else users bring."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path), str(repository / "scripts"), kind],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    outcome = json.loads(done.stdout.splitlines()[-1])
    assert outcome["seen"] == []
    assert not outcome["executed"]
    if kind == "vectors":  # a pickle of protocol 0 is a text like another
        assert outcome["refused"] >= outcome["traps"]
