"""With the package alone, without any extra: what needs one says which, in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import biasgauge as bg

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT = """
import contextlib, importlib.util, io, json, sys
MISSING = {"numba", "llvmlite", "nltk", "zstandard", "torch", "transformers", "vl_convert", "gensim", "spacy"}

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
usual = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in MISSING else usual(name, package)

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.results import save_figures

said = {}
for command in json.loads(sys.argv[1]):
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
        code = run(command)
    said[command[0]] = [code, told.getvalue()]
vectors = bg.vectors.load_default()
scores = bg.score(vectors, pairs="bolukbasi2016", words="occ18", measures="dbwa")
for name, action in {
    "save_figures": lambda: save_figures(bg.reliability(scores).figures(), "figures"),
    "to_gensim": vectors.to_gensim,
}.items():
    try:
        action()
    except bg.BiasgaugeError as problem:
        said[name] = [2, str(problem)]
print(json.dumps(said))
"""


def test_what_needs_an_extra_names_it(tmp_path: Path, small_replicates: list[bg.Embedding]) -> None:
    bg.save(small_replicates[0], tmp_path / "vectors.bin")
    (tmp_path / "text.txt").write_text("she is a nurse and he is a pilot\n" * 50)
    (tmp_path / "config.json").write_text("{}")
    works = [
        ["audit", "vectors.bin", "--lexicon", "weat7", "--out", "page", "--quiet"],
        ["lexicons", "list"],
    ]
    works += [["study", "init", "my.toml"]]
    commands = [
        *works,
        ["train", "text.txt", "--out", "models"],
        ["calibrate", "text.txt", "--out", "calibration.json"],
        ["encode", ".", "--words", "weat7", "--out", "views"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, json.dumps(commands)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    extras = {"train": "train", "calibrate": "train", "encode": "transformers", "save_figures": "figures"}
    for name, extra in extras.items():
        code, sentence = said[name]
        assert code == 2, (name, sentence)
        assert f'pip install "biasgauge[{extra}]"' in sentence, name
        assert len(sentence.strip().splitlines()) == 1
    for name in (command[0] for command in works):
        assert said[name] == [0, ""], name
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == [
        "config.json",
        "my.toml",
        "page",
        "text.txt",
        "vectors.bin",
    ]  # nothing was begun that could not be finished
    assert said["to_gensim"][1].endswith("pip install gensim")
