"""A whole study of real steps, small: the same bytes in this process, in worker processes and on Dask."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasgauge.errors import InputError, ParameterError
from biasgauge.study import read_study, run_study, study_from

STUDY = """
[study]
name = "small"

[corpora.text]
path = "text.txt"

[models.sgns]
algorithm = "sgns"
seeds = 2
dim = 8
epochs = 1
min_count = 1

[scores.all]
of = ["sgns"]
pairs = "du2021"
words = "full"
measures = ["dbwa", "ripa"]

[analyses.parts]
kind = "stability"
of = ["sgns"]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    lines = ["he is a doctor and his son is a king", "she is a nurse and her daughter is a queen"]
    (tmp_path / "text.txt").write_text("\n".join(lines * 40) + "\n")
    (tmp_path / "small.toml").write_text(STUDY)
    return tmp_path / "small.toml"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in {"run.json", "checksums.json"}
    }


def test_a_study_has_the_same_bytes_on_every_engine(study: Path, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    pytest.importorskip("distributed")
    told: list[tuple[int, int]] = []
    here = run_study(study, workers=0, progress=lambda done, total: told.append((done, total)))
    assert here.failures == ()
    assert here.out == str(tmp_path / "small-study")
    assert here.done == len(here.cells) == len(told)
    local = run_study(read_study(study), out=tmp_path / "local", workers=1)
    dask = run_study(study, out=f"file://{tmp_path}/dask", scheduler="local", workers=1)
    wanted = contents(tmp_path / "small-study")
    assert any(name.endswith("model.safetensors") for name in wanted)
    assert contents(tmp_path / "local") == wanted
    assert contents(tmp_path / "dask") == wanted
    assert (local.done, dask.done) == (here.done, here.done)
    again = run_study(study)
    assert again.reused == len(again.cells) == here.done
    assert contents(tmp_path / "small-study") == wanted

    assert here.results
    for place in here.results.values():
        assert Path(place).is_dir()
    table = here.to_frame()
    assert list(table["state"]) == ["done"] * here.done
    content = json.loads(json.dumps(here.to_dict()))
    assert content["done"] == here.done
    assert content["results"] == dict(here.results)
    assert {"label", "step", "key", "state", "seconds", "error"} == set(content["cells"][0])
    assert f"{here.done} computed now" in here._repr_html_()


@pytest.mark.parametrize(("name", "value"), [("workers", -1), ("workers", 1.5), ("memory", 0), ("memory", True)])
def test_impossible_budgets_are_refused(study: Path, name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter must be a whole number"):
        run_study(study, **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("budget", [{"workers": 3}, {"memory": 10**9}])
def test_a_budget_is_not_for_a_cluster_of_others(study: Path, budget: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match="cluster"):
        run_study(study, scheduler="tcp://127.0.0.1:9", **budget)  # type: ignore[arg-type]


def test_a_study_without_a_file_needs_a_folder(study: Path) -> None:
    content = {"study": {"name": "x"}, "corpora": {"text": {"path": "text.txt"}}}
    with pytest.raises(ParameterError, match="'out'"):
        run_study(study_from(content, folder=study.parent))


def test_a_file_in_the_place_of_the_folder_is_named(study: Path) -> None:
    with pytest.raises(InputError, match="outcomes"):
        run_study(study, out=study)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths in a study start from its file, not from here."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
