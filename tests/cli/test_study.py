"""`biasgauge study` as a user meets it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.cli.study import memory_bytes
from biasgauge.errors import ParameterError
from biasgauge.results import duration_text

STUDY = """\
[study]
name = "small"
seed = 3

[vectors.glove]
default = "glove"

[vectors.own]
path = "own.txt"

[analyses.science]
kind = "weat"
of = ["glove", "own"]
settings = { test = "weat7", interval = { resamples = 200 } }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    words = [word for words in bg.lexicon("weat7").sets.values() for word in words]
    bg.save(bg.vectors.load_default().subset(words), tmp_path / "own.txt")
    file = tmp_path / "small.toml"
    file.write_text(STUDY)
    return file


def asked(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert run(["study", *words, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_plan_computes_nothing_and_run_computes_each_cell_once(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned = asked(capsys, "plan", str(study))
    assert run(["study", "show", str(study)]) == 0
    assert "Nothing of this study has been run in" in capsys.readouterr().out
    assert not study.with_name("small-study").exists()  # who only looks makes no folder
    assert {cell["state"] for cell in planned["cells"]} == {"to do"}
    assert planned["missing"] == ["science/glove", "science/own"]
    assert planned["settings"]["seed"] == 3

    first = asked(capsys, "run", str(study), "--workers", "0")
    assert (first["done"], first["reused"], first["failed"], first["blocked"]) == (4, 0, 0, 0)
    assert [cell["key"] for cell in first["cells"]] == [cell["key"] for cell in planned["cells"]]
    assert {"label", "step", "key", "state", "seconds", "error"} <= first["cells"][0].keys()
    again = asked(capsys, "run", str(study), "--workers", "0")
    assert (again["done"], again["reused"]) == (0, 4)
    assert {cell["state"] for cell in asked(capsys, "plan", str(study))["cells"]} == {"there"}


def test_results_are_where_they_are_said_to_be(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "run", str(study), "--workers", "0")
    assert found["out"] == str(study.parent / "small-study")
    assert found["results"] == asked(capsys, "show", str(study))["results"]
    result = json.loads((Path(found["results"]["science/glove"]) / "result.json").read_text())
    how = bg.stats.Resampling(resamples=200, random_state=3)
    expected = bg.weat(bg.vectors.load_default(), "weat7", interval=how)
    assert expected.interval is not None
    (model,) = result["models"]
    assert model["result"]["effect_size"] == expected.effect_size
    assert model["result"]["interval"]["low"] == expected.interval.low


def test_results_that_are_shown_are_those_of_the_settings(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other settings and another study wrote to `results/` after it: its own numbers lie in its cells."""
    asked(capsys, "run", str(study), "--workers", "0")
    before = asked(capsys, "show", str(study))["results"]["science/glove"]
    other = study.with_name("other.toml")
    other.write_text(STUDY.replace('"small"', '"other"').replace("weat7", "weat6b").replace(', "own"', ""))
    ran = asked(capsys, "run", str(other), "--workers", "0", "--out", str(study.with_name("small-study")))
    assert any("results of the study 'small'" in one and "were replaced" in one for one in ran["warnings"])
    after = asked(capsys, "show", str(study))["results"]["science/glove"]
    names = [json.loads(Path(one, "result.json").read_text())["models"][0]["result"]["name"] for one in (after,)]
    assert names == ["weat7"]
    assert before != after
    assert not Path(before, "..", "own", "result.json").exists()
    again = asked(capsys, "run", str(study), "--workers", "0")
    assert again["done"] == 0
    assert asked(capsys, "show", str(study))["results"]["science/glove"] == before


def test_another_setting_computes_only_what_hangs_on_it(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked(capsys, "run", str(study), "--workers", "0")
    study.write_text(STUDY.replace('"weat7"', '"weat7", alternative = "less"'))
    changed = asked(capsys, "run", str(study), "--workers", "0")
    assert {cell["label"]: cell["state"] for cell in changed["cells"]} == {
        "load glove": "reused",
        "load own": "reused",
        "science/glove": "done",
        "science/own": "done",
    }


def test_a_failed_cell_is_told_with_its_log_and_the_rest_goes_on(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study.with_name("own.txt").write_text("math 0.1 0.2\npoetry 0.1 zero\n")
    assert run(["study", "run", str(study), "--workers", "0"]) == 1
    shown = capsys.readouterr()
    assert "4 cells: 2 computed now, 0 were there, 1 failed, 1 wait for those that failed." in shown.out
    told = " ".join(shown.out.split())
    assert "load own: " in told
    assert "own.txt, line 2: " in told
    log = Path(next(line for line in shown.out.splitlines() if line.endswith(".json")).rpartition(" ")[2])
    assert "Traceback" in json.loads(log.read_text())["log"]
    planned, _, said = shown.err.partition("\n")
    assert planned.startswith("4 cells, 0 of them there already.")
    assert said == (
        "biasgauge: 1 cell failed, and 1 that need them were not tried; correct what the errors say, then run with "
        "--retry-failed\n"
    )
    assert run(["study", "show", str(study)]) == 0
    told = capsys.readouterr().out
    assert str(log) in told
    assert "science/own" in told.split("Not there yet")[1]
    assert "1 cell failed in an earlier run" in _shown(capsys, "plan", str(study))
    page = study.with_name("so-far.html")
    _shown(capsys, "show", str(study), "--page", str(page))
    text = page.read_text()
    assert "1 cell failed" in text
    assert "Not computed: science/own." in text
    assert "science: weat" in text


def test_failed_cells_are_tried_again_when_asked(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study.with_name("own.txt").write_text("math 0.1 0.2\npoetry 0.1 zero\n")
    first = asked(capsys, "run", str(study), "--workers", "0", code=1)
    log = study.parent / "small-study" / "failed" / f"{first['failures'][0]['key']}.json"
    log.write_text(log.read_text().replace("Traceback", "what was there"))
    again = asked(capsys, "run", str(study), "--workers", "0", code=1)
    assert (again["done"], again["reused"], again["failed"], again["blocked"]) == (0, 2, 1, 1)
    assert "what was there" in log.read_text()
    asked(capsys, "run", str(study), "--workers", "0", "--retry-failed", code=1)
    assert "Traceback" in log.read_text()


def _shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["study", *words]) == 0
    return capsys.readouterr().out


def test_a_plan_of_many_cells_is_a_short_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "text.txt").write_text("he works and she sings\n" * 50)
    file = tmp_path / "many.toml"
    file.write_text(
        '[study]\nname = "many"\n[corpora.text]\npath = "text.txt"\n[models.sgns]\nseeds = 300\n'
        '[scores.jobs]\nof = ["sgns"]\npairs = "du2021"\nwords = "occ16"\n'
        '[analyses.trust]\nkind = "reliability"\nof = ["jobs"]\n'
    )
    shown = _shown(capsys, "plan", str(file))
    table = shown.split("\n\n")[1].splitlines()
    assert len(table) < 10
    assert all(len(line) <= 80 for line in table)
    assert any("train" in line and "300" in line and "train sgns …" in line for line in table)
    assert "0 of them there already" in shown
    lines = _shown(capsys, "plan", str(file), "--cells").splitlines()
    assert len(lines) == 1 + len(asked(capsys, "plan", str(file))["cells"])


def test_init_writes_a_study_that_can_be_planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "new.toml"
    assert run(["study", "init", str(file)]) == 0
    assert str(file) in capsys.readouterr().out
    assert tomllib.loads(file.read_text())["study"]["name"] == "my-study"
    assert "trust/shipped" in asked(capsys, "plan", str(file))["missing"]
    before = file.read_bytes()
    assert run(["study", "init", str(file)]) == 2
    assert capsys.readouterr().err == f"biasgauge: {file}: is there already; name another file\n"
    assert file.read_bytes() == before


def test_all_that_is_commented_in_the_new_study_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "new.toml"
    assert run(["study", "init", str(file)]) == 0
    capsys.readouterr()
    (tmp_path / "corpus.txt").write_text("he works and she sings\n")
    lines = file.read_text().split("# --- what is asked")[0].splitlines()
    study, rest = lines[:7], lines[7:]
    text = "\n".join([*study, *(line.removeprefix("# ") for line in rest if not line.startswith("# ---"))])
    file.write_text(text + '\n[analyses.all]\nkind = "weat"\nof = ["sgns", "hard"]\nsettings = { test = "weat7" }\n')
    found = asked(capsys, "plan", str(file))
    assert found["missing"] == ["all/sgns/mine", "all/hard/shipped"]


@pytest.mark.parametrize(
    ("change", "words", "expected"),
    [
        (("kind =", "kidn ="), (), "small.toml, line 12: "),
        (("[analyses", "[analysis"), (), "there is no table [analysis]; did you mean 'analyses'?"),
        (('"own.txt"', '"nowhere.txt"'), (), "small.toml, line 9: there is no file 'nowhere.txt'"),
        (("weat7", "weat77"), (), "weat7"),
        (("", ""), ("--memory", "lots"), "--memory must be a size"),
        (("", ""), ("--workers", "-1"), "at least 0. Got -1"),
        (("", ""), ("--seed", "4"), "[study] seed = 4"),
    ],
)
def test_a_mistake_is_exit_code_2_and_nothing_is_run(
    study: Path,
    change: tuple[str, str],
    words: tuple[str, ...],
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study.write_text(STUDY.replace(*change))
    assert run(["study", "run", str(study), *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("biasgauge: ")
    assert expected in shown.err
    assert not (study.parent / "small-study").exists()


def test_a_study_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("plan", "run", "show"):
        assert run(["study", command, str(tmp_path / "nowhere.toml")]) == 2
        assert "nowhere.toml" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("16GB", 16 * 10**9), ("1.5g", 1_500_000_000), ("512MiB", 512 * 2**20), ("1000", 1000), (" 2 TB ", 2 * 10**12)],
)
def test_memory_is_told_as_people_write_it(text: str, expected: int) -> None:
    assert memory_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "much", "0", "0.5", "9" * 400 + "TB", "-3GB", "nan"])
def test_memory_that_is_no_size(text: str) -> None:
    with pytest.raises(ParameterError, match="--memory must be"):
        memory_bytes(text)


def test_times_are_told_as_people_say_them() -> None:
    assert [duration_text(one) for one in (0, 0.2, 59, 600, 9000)] == ["0 s", "< 1 s", "59 s", "10 min", "2.5 h"]
