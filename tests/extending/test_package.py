"""A package of somebody else's that adds to all fifteen groups, installed into an environment of its own.

It is then used from Python, from the command, in a study file (its step as `kind`) and by the audit.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Any

import pytest

from biasgauge import registry

PACKAGE = Path(__file__).parents[2] / "examples" / "bias-extras"
ADDED = {
    "measure": "distance",
    "association_test": "centroids",
    "mitigation": "centered",
    "vector_format": "pipes",
    "likelihood_measure": "worst-token",
    "encoder": "random",
    "corpus_reader": "dialogue",
    "task": "word-choice",
    "data_set": "reviews",
    "lexicon": "weather",
    "word_source": "beginnings",
    "verdict_rule": "large-effect",
    "audit_part": "frequency",
    "study_step": "longest-words",
    "paper": "doe2024",
}
VECTORS = "random:weather+du2021+occ18"
COMMANDS = {
    "score": ["score", VECTORS, "--words", "weather", "--measures", "distance", "--out", "scores"],
    "weat": ["weat", "vectors.pipes", "--test", "weather", "--kind", "centroids"],
    "mitigate": ["mitigate", "vectors.pipes", "--method", "centered", "--out", "changed.txt"],
    "train": ["train", "talk.dialogue", "--dim", "4", "--epochs", "1", "--min-count", "1", "--out", "models"],
    "task": ["extrinsic", "word-choice", "--vectors", "vectors.pipes", "--data", "choices.csv"],
    "data_set": ["extrinsic", "reviews", "--vectors", "vectors.pipes", "--data", "reviews.tsv"],
    "lexicons": ["lexicons", "show", "weather"],
    "reproduce": ["reproduce", "doe2024"],
    "audit": ["audit", VECTORS, "--lexicon", "weather", "--out", "audit"],
    "study": ["study", "run", "extras.toml", "--workers", "1"],
}
RUN_COMMANDS = """
import contextlib, io, json, sys
from biasgauge.cli.entry import run
printed = {}
if __name__ == "__main__":
    for name, command in json.loads(sys.argv[1]).items():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = run([*command, "--json", "--quiet"])
        assert code == 0, (command, code, out.getvalue())
        printed[name] = json.loads(out.getvalue())
    print(json.dumps(printed))
"""
USE_API = """
import json
from pathlib import Path
import biasgauge as bg
audit = bg.audit("vectors.pipes", lexicons=["weather"])
print(json.dumps({
    "added": {group: bg.registry.added(group) for group in bg.registry.groups()},
    "format": bg.load("vectors.pipes").format,
    "needs": bg.registry.get("likelihood_measure", "worst-token").needs,
    "encoded": bg.load("random:weather").format,
    "scores": bg.score("vectors.pipes", pairs=[("day", "night")], words="weather", measures="distance").values.tolist(),
    "centroids": bg.association_test("vectors.pipes", "weather", kind="centroids").to_dict()["value"],
    "mean": float(abs(bg.mitigate("vectors.pipes", "centered", norms="unit").vectors.mean())),
    "documents": len(bg.text.read_corpus("talk.dialogue").documents) - 1,
    "task": bg.extrinsic("word-choice", "vectors.pipes", "choices.csv").metrics[0].value,
    "data_set": sorted(bg.registry.get("data_set", "reviews").load(Path("reviews.tsv")).parts),
    "lexicon": bg.lexicon("weather").words,
    "built": bg.lexicons.build({"kind": "words", "lists": {"words": {
        "size": 3, "source": {"name": "beginnings", "letters": "un"}}}}).lexicon.words,
    "paper": bg.reproduce("doe2024").rows[0].agrees,
    "audit_part": audit.to_dict()["frequency"]["rows"],
    "evidence": [item.rule for item in audit.verdicts[0].evidence],
}))
"""
STUDY = """
[study]
name = "extras"

[corpora.talk]
path = "talk.dialogue"

[models.small]
dim = 4
epochs = 1
min_count = 1

[vectors.made]
path = "random:weather+du2021"

[vectors.piped]
path = "vectors.pipes"

[mitigations.middle]
of = ["piped"]
method = "centered"

[scores.warmth]
of = ["made"]
pairs = "du2021"
words = "weather"
measures = ["distance"]

[analyses.axes]
kind = "centroids"
of = ["piped", "middle"]
settings = { test = "weather" }

[analyses.longest]
kind = "longest-words"
of = ["piped"]
settings = { count = 2 }

[analyses.verdicts]
kind = "audit"
of = ["piped"]
settings = { lexicons = ["weather"] }

[tasks.choice]
task = "word-choice"
data = "choices.csv"
of = ["piped"]

[tasks.reviews]
task = "reviews"
data = "reviews.tsv"
of = ["piped"]
settings = { epochs = 1 }

[report]
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment that has the package, and sees what the tests themselves see."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home / "venv", with_pip=False)
    python = home / "venv" / "bin" / "python"
    (folder,) = (home / "venv" / "lib").glob("python*/site-packages")
    parents = [path for path in site.getsitepackages() if Path(path).is_dir()]
    (folder / "parent.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in parents))
    shutil.copytree(PACKAGE, home / "package")  # building leaves files behind
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "--quiet")
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", *offline, str(home / "package")]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return python


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files for the package to read."""
    folder = tmp_path_factory.mktemp("work")
    roles = tomllib.loads((PACKAGE / "src/bias_extras/word_lists/weather.toml").read_text())
    rows = [f"{word}|{warm}|{early}|{number}"
            for (role, warm, early) in (("x", 1, 0.5), ("y", -1, -0.5), ("a", 0.5, 1), ("b", -0.5, -1))
            for number, word in enumerate(roles[role]["words"])]  # fmt: skip
    (folder / "vectors.pipes").write_text("\n".join(["pipes", *rows, ""]))
    (folder / "talk.dialogue").write_text("A: sun and snow\nB: snow and sun\n\nA: the day and the night\n" * 20)
    (folder / "choices.csv").write_text("sun,heat,ice,heat\nsnow,heat,ice,ice\nsun,ice,heat,ice\n")
    texts = [f"{'ab'[at % 2]}\t{('bad', 'good')[at // 2 % 2]}\t{('ice', 'sun')[at // 2 % 2]} day" for at in range(80)]
    (folder / "reviews.tsv").write_text("\n".join(texts) + "\n")
    (folder / "extras.toml").write_text(STUDY)
    (folder / "commands.py").write_text(RUN_COMMANDS)
    (folder / "api.py").write_text(USE_API)
    return folder


def ran(python: Path, folder: Path, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    """What a program of the environment prints as JSON."""
    done = subprocess.run(
        [str(python), *arguments], cwd=folder, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_package_adds_to_every_group() -> None:
    points = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["entry-points"]
    assert set(points) == {f"biasgauge.{group}" for group in registry.groups()}
    assert set(ADDED) == set(registry.groups())
    assert not any(name in registry.names(group) for group, name in ADDED.items())  # not in this environment


def test_python(python: Path, folder: Path) -> None:
    found = ran(python, folder, "api.py")
    task_and_data_set = {"task": ["reviews", "word-choice"]}
    assert found["added"] == {group: task_and_data_set.get(group, [name]) for group, name in ADDED.items()}
    assert (found["format"], found["encoded"], found["needs"]) == ("pipes", "random", "causal")
    assert [row[0] > 0 for row in found["scores"][0][0]] == [True] * 4 + [False] * 4 + [True] * 4 + [False] * 4
    assert 0.3 < found["centroids"] < 1
    assert found["mean"] < 1
    assert found["documents"] == 21
    assert found["task"] == pytest.approx(2 / 3)
    assert found["data_set"] == ["dev", "test", "train"]
    assert found["lexicon"][0] == "summer"
    assert found["built"][0] == "under"
    assert found["paper"] is True
    assert found["audit_part"][0]["lexicon"] == "weather"
    assert found["evidence"][0] == "association"
    assert found["evidence"][-1] == "large-effect"


@pytest.fixture(scope="module")
def printed(python: Path, folder: Path) -> dict[str, Any]:
    """What each command prints."""
    content: dict[str, Any] = ran(python, folder, "commands.py", json.dumps(COMMANDS))
    return content


def test_commands(printed: dict[str, Any]) -> None:
    assert printed["score"]["measures"] == ["distance"]
    assert printed["score"]["undefined"] == {}
    assert printed["weat"]["value"] == pytest.approx(printed["weat"]["interval"]["high"], abs=0.5)
    assert printed["mitigate"]["method"] == "centered"
    assert printed["mitigate"]["changed"] == 16
    assert printed["train"]["models"]
    assert printed["task"]["metrics"][0]["value"] == pytest.approx(2 / 3)
    assert printed["data_set"]["task"] == "reviews"
    assert printed["reproduce"]["rows"][0]["as_published"] == 3.0


def test_the_audit(printed: dict[str, Any]) -> None:
    verdict, *_ = printed["audit"]["verdicts"]
    evidence = {item["rule"]: item for item in verdict["evidence"]}
    assert verdict["question"] == "weather"
    assert evidence["association"]["observed"]["contrast"] > 0
    if evidence["association"]["passes"]:  # where none is found, nothing else is asked
        assert evidence["large-effect"]["threshold"] == 0.05


def test_a_study(printed: dict[str, Any], folder: Path) -> None:
    assert printed["study"]["failed"] == 0
    results = folder / "extras-study" / "results"
    (longest,) = json.loads((results / "longest/piped/result.json").read_text())["models"]
    assert longest["result"] == {"words": ["midnight", "evening"]}
    (axes,) = json.loads((results / "axes/piped/result.json").read_text())["models"]
    assert axes["result"]["value"] == pytest.approx(printed["weat"]["value"])
    verdict, *_ = json.loads((results / "verdicts/piped/result.json").read_text())["verdicts"]
    assert "large-effect" in [item["rule"] for item in verdict["evidence"]]
    steps = {cell["step"] for cell in printed["study"]["cells"]}
    assert {"longest-words", "corpus", "train", "vectors", "mitigate", "score", "task"} <= steps
    assert (results / "report/page.html").stat().st_size > 1000
