"""What reading and measuring do to the machine, as Python itself reports it: no connection, no program, no pickle."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# Everything is imported and used once before the hook looks: libraries may load what they need.
WATCHED = """
import json, sys
from pathlib import Path
from biasgauge.cli.entry import run
folder = Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
import fuzz_files, fuzz_readers, fuzz_stores, fuzz_vectors
groups = [*fuzz_files.GROUPS, *fuzz_vectors.GROUPS, *fuzz_stores.GROUPS]
names = [name for group in groups for name in group]
targets = [fuzz_readers.target_of(name) for name in names if "signed" not in name and name != "result-audit"]
def read_all():
    for target in targets:
        for seed in target.seeds:
            pickled = b"\\x80\\x04cos\\nsystem\\n"
            for changed in (seed, seed[: len(seed) // 2], seed.replace(b"a", b"[["), pickled):
                (folder / "input").write_bytes(changed)
                try:
                    target.read(folder / "input")
                except Exception:
                    pass
read_all()
from biasgauge.vectors.loading import DEFAULT_PATH
def run_all(turn):
    vectors, text, points, study = DEFAULT_PATH, folder / "text.txt", folder / "points.csv", folder / "study.toml"
    given = ["--x", "he,him", "--y", "she,her", "--a", "office,salary", "--b", "home,family", "--max-removed", "1"]
    for words in (
        ["weat", vectors, "--test", "weat7"],
        ["score", vectors, "--pairs", "bolukbasi2016", "--words", "occ16", "--out", f"store{turn}"],
        ["reliability", f"store{turn}"],
        ["audit", vectors, "--lexicon", "weat7", "--lexicon", "occ16", "--out", f"page{turn}"],
        ["robustness", vectors, "--measures", "dbwa", "--forms", "none", "--pair-forms", "none", "--truths", "none"],
        ["lexicons", "quality", vectors, "--pairs", "weat7", "--shuffles", "5"],
        ["posterior", vectors, "--lexicon", "religion", "--draws", "100"],
        ["bayes", vectors, "--lexicon", "religion", "--draws", "100"],
        ["correlate", points, "--x", "x", "--y", "y"],
        ["mitigate", vectors, "--out", f"v{turn}.safetensors"],
        ["compare", "--group", f"one={vectors}", "--group", f"two=v{turn}.safetensors", "--test", "weat7"],
        ["train", text, "--dim", "4", "--epochs", "1", "--min-count", "1", "--out", f"models{turn}"],
        ["corpus-bias", text, "--words", "office,home", "--a", "he,his", "--b", "she,her"],
        ["balance", text, *given, "--out", f"text{turn}.txt"],
        ["study", "run", study, "--workers", "0", "--out", f"study{turn}"],
        ["simulate-null", "--simulations", "50"],
        ["lexicons", "check", "weat7"],
    ):
        if code := run([*map(str, words), "--quiet", "--json"]):
            sys.exit(f"{words} left with {code}")
run_all(1)
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "pickle.", "marshal.load",
             "ctypes.dlopen", "ctypes.dlsym", "urllib.", "ftplib.", "smtplib.", "webbrowser.", "os.startfile")
seen = []
def hook(event, arguments):
    if event.startswith(FORBIDDEN) and event != "socket.gethostname":  # locks say on which machine they are held
        seen.append([event, repr(arguments)[:200]])
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        written.append(str(arguments[0]))
written = []
sys.addaudithook(hook)
read_all()
run_all(2)
(folder / "seen.json").write_text(json.dumps({"seen": seen, "written": written}))
"""

STUDY = """
study = { name = "small" }
vectors = { shipped = { default = "glove", limit = 4000 } }
corpora = { mine = { path = "text.txt" } }
models = { sgns = { algorithm = "sgns", seeds = 1, dim = 4, min_count = 1 } }
analyses = { test = { kind = "weat", of = ["shipped"], settings = { test = "weat7" } } }
report = { title = "small" }
"""


@pytest.mark.crash
def test_reading_and_measuring_open_nothing_and_start_nothing(tmp_path: Path, repository: Path) -> None:
    lines = ["he took his salary to the office", "she took her family home", "he went home to his family", "she left"]
    (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in lines * 40), encoding="utf-8")
    (tmp_path / "points.csv").write_text("x,y\n1,2\n2,1\n3,5\n4,4\n", encoding="utf-8")
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    arguments = [str(tmp_path), str(repository / "scripts")]
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads((tmp_path / "seen.json").read_text())
    assert told["seen"] == []
    places = [str(tmp_path / path) for path in told["written"] if not path.isdecimal()]  # a number is a handle
    elsewhere = [path for path in places if not path.startswith(("/tmp", str(tmp_path), "/dev/null"))]  # noqa: S108 - where temporary files go
    assert [path for path in elsewhere if "__pycache__" not in path] == []
