"""Tasks seed by seed are what `extrinsic` gives at once; points and their correlation follow; an audit has its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.correlate.embedding_points import Variant, points_from_results
from biasgauge.applications.classification.texts import group_words
from biasgauge.lexicons import lexicon
from biasgauge.study import CellStore, Plan, plan_study
from biasgauge.study.engine import run_cell
from biasgauge.study.step import Job
from biasgauge.study.steps.measurements import _task_settings as task_settings

TINY: dict[str, Any] = {"filters": 4, "widths": [1], "batch": 16, "learning_rate": 0.05, "epochs": 2}
WORDS = list(dict.fromkeys([*lexicon("weat7").words, "good", "bad"]))
STUDY = """
[study]
name = "tasks"
[vectors.given]
path = ["given1.txt", "given2.txt", "given3.txt"]
[mitigations.part]
of = ["given"]
method = "attract_repel"
settings = { epochs = 1, strength = 0.5, direction = "debias" }
[tasks.texts]
task = "csv"
data = "texts.csv"
of = ["given", "part"]
seeds = [4, 1]
settings = { filters = 4, widths = [1], batch = 16, learning_rate = 0.05, epochs = 2, resamples = 1000 }
[analyses.points]
kind = "points"
of = ["texts"]
settings = { tests = ["weat7"] }
[analyses.track]
kind = "correlate"
of = ["points"]
[analyses.track.settings]
x = "weat"
y = "gap"
by = ["metric", "of", "a"]
seed_column = "seed"
unit = "variant"
resamples = 1000
[report]
"""


class Done:
    """A study with all cells computed."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder
        (folder / "study.toml").write_text(text)
        self.store = CellStore(folder / "out")
        self.plan: Plan = plan_study(folder / "study.toml", self.store)
        for cell in self.plan.cells:
            ran = run_cell(cell, self.store)
            assert ran.failure is None, (cell.label, ran.failure)

    def place(self, name: str) -> Path:
        return self.store.folder({**self.plan.results, **self.plan.models}[name], self.folder)

    def result(self, name: str) -> Any:  # noqa: ANN401 - JSON
        return json.loads((self.place(name) / "result.json").read_bytes())


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("tasks")
    random = np.random.default_rng(1)
    for which in (1, 2, 3):
        rows = [f"{word} {' '.join(f'{one:.4f}' for one in random.normal(size=6))}" for word in WORDS]
        (folder / f"given{which}.txt").write_text("\n".join(rows) + "\n")
    rows = ["text,label,group,split"]
    for at in range(160):
        label, group, split = at % 2, "mf"[at // 2 % 2], ("train", "train", "dev", "test")[at // 4 % 4]
        words = [*random.choice(WORDS[:12], 3), ("good", "bad")[label ^ int(random.random() < 0.2)]]
        rows.append(f"{' '.join(words)},{label},{group},{split}")
    (folder / "texts.csv").write_text("\n".join([*rows, ""]))
    return Done(folder, STUDY)


def plain(content: object) -> Any:  # noqa: ANN401 - JSON
    return json.loads(json.dumps(content))


def test_seeds_trained_apart_are_summarized_as_if_trained_together(done: Done) -> None:
    for group in ("given", "part/given"):
        found = done.result(f"texts/{group}")
        assert found["kind"] == "csv"
        for one in found["models"]:
            model = bg.load(done.place(one["model"]) / "model.safetensors", name=one["model"])
            direct = bg.extrinsic("csv", model, done.folder / "texts.csv", seeds=[4, 1], resamples=1000, **TINY)
            assert one["result"] == plain(direct.to_dict())


def test_words_of_groups_may_be_a_file(done: Done, tmp_path: Path) -> None:
    text = 'name = "mine"\nkind = "pairs"\ntitle = "made"\nlanguage = "en"\nsource = "made"\npairs = [["he", "she"]]\n'
    (done.folder / "mine.toml").write_text(text)
    study = STUDY.replace("filters = 4", 'group_words = "mine.toml", filters = 4')
    (done.folder / "words.toml").write_text(study)
    cell = next(one for one in plan_study(done.folder / "words.toml").cells if one.step == "task")
    paths = {name: Path(path) for name, path in cell.paths.items()}
    told = task_settings(Job(cell.settings, {}, paths, tmp_path))
    assert list(group_words(told["group_words"]).values()) == [{"he"}, {"she"}]


def test_points_have_a_version_for_every_model_and_are_correlated(done: Done) -> None:
    pairs = []
    versions: tuple[tuple[str, dict[str, Any]], ...] = (
        ("given", {}),
        ("part/given", {"method": "attract_repel", "direction": "debias", "strength": 0.5}),
    )
    for group, about in versions:
        for one in done.result(f"texts/{group}")["models"]:
            path = done.folder / f"{one['model'].replace('/', '-')}.json"
            path.write_text(json.dumps(one["result"]))
            model = bg.load(done.place(one["model"]) / "model.safetensors", name=one["model"])
            pairs.append((Variant(model, "given", name=one["model"], **about), path))
    direct = points_from_results(pairs, ["weat7"], random_state=0)
    assert done.result("points") == plain(direct.to_dict())
    table = done.folder / "points.csv"
    direct.save(table)
    assert len((done.place("points") / "table.csv").read_text().splitlines()) == len(table.read_text().splitlines())
    track = bg.correlate(
        table, "weat", "gap", ["metric", "of", "a"], seed_column="seed", unit="variant", resamples=1000
    )
    assert done.result("track/points") == plain(track.to_dict())
    summary = json.loads((done.place("report") / "summary.json").read_bytes())
    assert [(one["part"], one["kind"]) for one in summary["results"]] == [
        ("tasks", "csv"), ("tasks", "csv"), ("analyses", "points"), ("analyses", "correlate"),
    ]  # fmt: skip


def test_another_number_of_resamples_trains_nothing_again(done: Done) -> None:
    (done.folder / "study.toml").write_text(
        STUDY.replace("resamples = 1000 }\n[analyses.points]", "resamples = 1500 }\n[analyses.points]")
    )
    after = plan_study(done.folder / "study.toml", done.store)
    left = {one.step for one in after.cells if one.key not in after.finished}
    assert left == {"task-summary", "gather", "points", "correlate", "report"}


@pytest.mark.slow
def test_an_audit_is_that_of_its_function_with_its_page(tmp_path: Path) -> None:
    study = '[study]\nname = "a"\n[vectors.glove]\ndefault = "glove"\n[analyses.all]\nkind = "audit"\nof = ["glove"]\n'
    found = Done(tmp_path, f'{study}settings = {{ lexicons = ["weat7"], rules = {{ alpha = 0.01 }} }}\n')
    model = bg.load(found.place("glove") / "model.safetensors", name="glove")
    direct = bg.audit([model], lexicons=["weat7"], rules=bg.audits.Rules(alpha=0.01)).to_dict()
    told = found.result("all/glove")
    for one in (*told["models"], *direct["models"]):
        one.pop("source")
        one.pop("format")
    assert told == plain(direct)
    assert "weat7" in (found.place("all/glove") / "page.html").read_text()
