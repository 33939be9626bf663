"""A plan is the same wherever and whenever it is made, and one change moves only what hangs on it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge._io.checksums import path_sha256
from biasgauge.errors import InputError
from biasgauge.lexicons import Lexicon, lexicon
from biasgauge.study import CellStore, Plan, plan_study, read_study, study_from
from biasgauge.study import files as study_files
from biasgauge.study.files import Checksums
from biasgauge.study.kind import kind_named, kind_names
from biasgauge.study.step import step_named, step_names

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = "he and she read art and math\nher son and his father dance\n" * 40
OTHER = "she likes math and he likes art\n" * 60
TEST = """\
name = "mine"
kind = "test"
title = "made for a test"
language = "en"
source = "made"
x = { name = "x", words = ["math"] }
y = { name = "y", words = ["art"] }
a = { name = "a", words = ["he", "his"] }
b = { name = "b", words = ["she", "her"] }
"""
STUDY = """\
[study]
name = "small"
seed = 3

[corpora.one]
path = "one.txt"
tokeniser = "lower-whitespace"
[corpora.two]
path = ["two.txt"]
[corpora.even]
from = "one"
balance = { test = "mine.toml", strength = 0.5 }

[models.sgns]
corpora = ["one", "even"]
seeds = 2
dim = 4
epochs = 1
[models.glove]
corpora = ["two"]
algorithm = "glove"
bootstrap = 2
dim = 4

[vectors.given]
path = "given*.txt"

[mitigations.hard]
of = ["sgns/one", "given"]
method = "hard"
settings = { norms = "kept" }
[mitigations.twice]
of = ["hard/given"]
method = "hard"

[scores.some]
of = ["sgns", "given"]
pairs = [["he", "she"], ["his", "her"]]
words = ["art", "math"]
measures = ["dbwa", "ripa"]
[scores.all]
of = ["glove"]
pairs = [["he", "she"]]
words = "full"
measures = "dbwa"

[analyses.trust]
kind = "reliability"
of = ["some"]
[analyses.what]
kind = "components"
of = ["all", "some/given"]
[analyses.lean]
kind = "weat"
of = ["sgns", "twice"]
settings = { test = "mine.toml" }
[analyses.moved]
kind = "bayes-change"
of = ["hard"]
settings = { lexicon = "mine.toml", human = "none", neutral = "none" }
[analyses.causes]
kind = "factors"
of = ["some/sgns"]

[tasks.texts]
task = "csv"
data = "data.csv"
of = ["hard/sgns"]
seeds = [5, 1]
settings = { epochs = 1 }
[analyses.points]
kind = "points"
of = ["texts"]
settings = { tests = ["mine.toml"] }
[analyses.track]
kind = "correlate"
of = ["points"]
settings = { x = "weat", y = "gap" }

[report]
title = "All of it"
"""
GOLDEN = {
    "association": "a6833c9c4a9c",
    "balance": "3db6276bc0eb",
    "bayes-change": "d106c96a4c1f",
    "components": "b953f64fa221",
    "corpus": "4a4cac99afe3",
    "correlate": "84552f71b8d0",
    "factors": "7c3194747c08",
    "gather": "84c5f0285503",
    "mitigate": "95e5698dce88",
    "points": "827a752073f4",
    "reliability": "b0c08a470c38",
    "report": "fdc7c271c0f6",
    "score": "c14aab23226f",
    "task": "1abf2dd15fed",
    "task-summary": "93e51dea0fd1",
    "tensor": "0573da057cda",
    "train": "9ae64fc7a8e9",
    "vectors": "358748fce8b2",
    "vocabulary": "5de53fc18129",
}


def fill(folder: Path) -> Path:
    """The study with the files that it names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {
        "one.txt": TEXT,
        "two.txt": OTHER,
        "mine.toml": TEST,
        "given1.txt": "he 1 0\nshe 0 1\n",
        "given2.txt": "he 1 1\nshe 0 1\n",
        "data.csv": "text,label,group,split\n",
        "small.toml": STUDY,
    }.items():
        (folder / name).write_text(content)
    return folder / "small.toml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("study") / "here").parent


@pytest.fixture(scope="module")
def plan(folder: Path) -> Plan:
    return plan_study(folder / "small.toml")


def keys(plan: Plan) -> dict[str, str]:
    """Key by step and label."""
    found = {f"{one.step}: {one.label}": one.key for one in plan.cells}
    assert len(found) == len(plan.cells)
    return found


def planned(folder: Path, text: str) -> Plan:
    (folder / "changed.toml").write_text(text)
    return plan_study(folder / "changed.toml")


def below(plan: Plan, roots: set[str]) -> set[str]:
    """Names of cells and of all that read what they make, at first or second hand."""
    names = {key: name for name, key in keys(plan).items()}
    found = set(roots)
    for cell in plan.cells:  # inputs come first
        if any(names[key] in found for key in cell.inputs.values()):
            found.add(names[cell.key])
    return found


def test_every_cell_comes_after_what_it_reads_and_occurs_once(plan: Plan) -> None:
    seen: set[str] = set()
    for cell in plan.cells:
        assert set(cell.inputs.values()) <= seen
        assert cell.key not in seen
        assert cell.files.keys() == cell.places.keys()
        assert step_named(cell.step).version == cell.version
        seen.add(cell.key)
    assert set(plan.results.values()) | set(plan.models.values()) <= seen


def test_names_of_results_and_models(plan: Plan) -> None:
    assert list(plan.results) == [
        "texts/hard/sgns/one", "trust/sgns/one", "trust/sgns/even", "trust/given",
        "what/all/glove/two", "what/some/given", "lean/sgns/one", "lean/sgns/even", "lean/twice/hard/given",
        "moved/hard/sgns/one", "moved/hard/given", "causes", "points", "track/points", "report",
    ]  # fmt: skip
    assert list(plan.models)[:6] == [
        "sgns/one/seed3", "sgns/one/seed4", "sgns/even/seed3", "sgns/even/seed4",
        "glove/two/sample0-seed3", "glove/two/sample1-seed3",
    ]  # fmt: skip
    assert [name for name in plan.models if "given" in name] == [
        "given/given1", "given/given2", "hard/given/given1", "hard/given/given2",
        "twice/hard/given/given1", "twice/hard/given/given2",
    ]  # fmt: skip


def test_what_cells_of_a_result_read(plan: Plan) -> None:
    cells = {one.key: one for one in plan.cells}
    trust = cells[plan.results["trust/sgns/one"]]
    assert [cells[key].step for key in trust.inputs.values()] == ["tensor"]
    moved = cells[cells[plan.results["moved/hard/given"]].inputs["model1"]]
    assert moved.inputs == {"before": plan.models["given/given2"], "after": plan.models["hard/given/given2"]}
    points = cells[plan.results["points"]]
    assert points.settings["versions"][0] == {
        "embedding": "sgns/one", "method": "hard", "direction": "debias", "strength": 1.0,
        "name": "hard/sgns/one/seed3",
    }  # fmt: skip
    report = cells[plan.results["report"]]
    assert set(report.inputs.values()) == set(plan.results.values()) - {plan.results["report"]}


def digest(plan: Plan) -> dict[str, str]:
    """One short hash for each step: of the keys of all its cells."""
    found: dict[str, str] = {}
    for name in sorted({one.step for one in plan.cells}):
        together = "".join(one.key for one in plan.cells if one.step == name)
        found[name] = hashlib.sha256(together.encode()).hexdigest()[:12]
    return found


def test_keys_are_frozen(plan: Plan) -> None:
    """A change here means that every study in the world is computed again: raise the step's version on purpose."""
    assert digest(plan) == GOLDEN


def test_a_word_list_that_is_read_unasked_counts(folder: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def edited(name: str) -> Lexicon:
        return lexicon("weat7" if name == "du2021_queries" else name)

    monkeypatch.setattr(sys.modules["biasgauge.study.kind"], "lexicon", edited)
    changed = digest(plan_study(folder / "small.toml"))
    assert {step for step, hashed in changed.items() if hashed != digest(plan)[step]} == {"reliability", "report"}


PLANNING = """
import json, sys
from biasgauge.study import plan_study
print(json.dumps([one.key for one in plan_study(sys.argv[1]).cells]))
"""


def test_keys_depend_on_no_place_time_name_of_folder_or_hash_seed(folder: Path, plan: Plan, tmp_path: Path) -> None:
    there = tmp_path / "quite [else] where"
    shutil.copytree(folder, there)
    for place in there.iterdir():
        os.utime(place, (1, 1))
    (there / "one.txt").rename(there / "uno.txt")
    (there / "small.toml").write_text(STUDY.replace('"one.txt"', '"uno.txt"'))
    for seed, name in (("1", "small.toml"), ("77", str(there / "small.toml"))):
        told = subprocess.run(
            [sys.executable, "-c", PLANNING, name], cwd=there, env=os.environ | {"PYTHONHASHSEED": seed}, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        assert (
            json.loads(told.stdout)[:-1] == [one.key for one in plan.cells][:-1]
        )  # but the page, which shows the file


def test_a_study_in_memory_has_the_same_cells(folder: Path, plan: Plan) -> None:
    study = study_from(read_study(folder / "small.toml").to_dict(), folder=folder)
    assert [one.key for one in plan_study(study).cells][:-1] == [one.key for one in plan.cells][:-1]


EVEN = {"balance: balance even"}
CHANGES = [
    ("seeds = 2", "seeds = 3", set()),
    ('"lower-whitespace"', '"words"', {f"corpus: read {one}" for one in ("one", "even")} | EVEN),
    ("strength = 0.5", "strength = 0.6", EVEN),
    ("dim = 4\nepochs = 1", "dim = 5\nepochs = 1", "train: train sgns"),
    ('algorithm = "glove"', 'algorithm = "glove"\nwindow = 3', "train: train glove"),
    ('norms = "kept"', 'norms = "unit"', "mitigate: mitigate hard"),
    ('["hard/given"]\n', '["hard/given"]\nsettings = { strength = 0.5 }\n', "mitigate: mitigate twice"),
    ('words = ["art", "math"]', 'words = ["art", "math", "son"]', "score: score some"),
    ('words = "full"\nmeasures = "dbwa"', 'words = "full"\nmeasures = "ripa"', "score: score all"),
    ('kind = "reliability"', 'kind = "reliability"\nsettings = { level = 0.9 }', "reliability: "),
    ('kind = "factors"', 'kind = "factors"\nsettings = { refits = 9 }', "factors: "),
    ('settings = { test = "mine.toml" }', 'settings = { test = "mine.toml", alternative = "less" }', "association: "),
    ('human = "none"', 'human = "none", draws = 500', "bayes-change: "),
    ("settings = { epochs = 1 }", "settings = { epochs = 2 }", ("task: ", "task-summary: ")),
    ("settings = { epochs = 1 }", "settings = { epochs = 1, resamples = 3000 }", "task-summary: "),
    ('tests = ["mine.toml"]', 'tests = ["mine.toml", "weat7"]', "points: "),
    ('y = "gap"', 'y = "weat_low"', "correlate: "),
    ('title = "All of it"', 'title = "Some of it"', "report: "),
    ("# remark", "", set()),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "start"), CHANGES)
def test_a_change_moves_exactly_what_hangs_on_it(
    folder: Path, plan: Plan, old: str, new: str, start: str | tuple[str, ...] | set[str]
) -> None:
    before = keys(plan)
    roots = start if isinstance(start, set) else {name for name in before if name.startswith(start)}
    assert roots or isinstance(start, set)
    after = keys(planned(folder, STUDY.replace(old, new) if old in STUDY else f"{STUDY}\n{old}\n"))
    moved = {name for name, key in before.items() if after.get(name) != key}
    expected = below(plan, roots | {"report: report"})  # the page shows the file
    if old == "seeds = 2":  # new models: only what puts replicates together moves
        whole = {"tensor: tensor some/sgns/one", "tensor: tensor some/sgns/even", "points: points", "factors: causes"}
        whole |= {name for name in before if name.startswith(("association: lean/sgns", "gather: moved/hard/sgns"))}
        whole |= {name for name in before if name.startswith("gather: texts")}
        expected = below(plan, whole | {"report: report"})
    assert moved == expected


@pytest.mark.parametrize(
    ("file", "content", "start"),
    [
        ("one.txt", TEXT + "more\n", {"corpus: read one", "balance: balance even"}),
        ("two.txt", OTHER + "more\n", {"corpus: read two"}),
        ("given2.txt", "he 1 1\nshe 0 2\n", {"vectors: load given given2"}),
        ("data.csv", "text,label,group,split\nx,1,a,train\n", ("task: ", "task-summary: ")),
        ("mine.toml", TEST.replace("her", "woman"), ("balance: ", "association: ", "bayes-change: ", "points: ")),
    ],
)
def test_a_changed_file_moves_exactly_what_reads_it(
    plan: Plan, tmp_path: Path, file: str, content: str, start: tuple[str, ...] | set[str]
) -> None:
    before = keys(plan)
    study = fill(tmp_path)
    (tmp_path / file).write_text(content)
    after = keys(plan_study(study))
    roots = start if isinstance(start, set) else {name for name in before if name.startswith(start)}
    assert {name for name, key in before.items() if after[name] != key} == below(plan, roots)


def test_what_a_table_is_called_decides_no_model(folder: Path, plan: Plan) -> None:
    renamed = STUDY.replace("models.sgns", "models.skip").replace('"sgns', '"skip').replace('/sgns"', '/skip"')
    after = planned(folder, renamed.replace("some/sgns", "some/skip"))
    for step in ("train", "mitigate", "score", "task"):
        assert [one.key for one in after.cells if one.step == step] == [
            one.key for one in plan.cells if one.step == step
        ]


NUMBERS = st.fixed_dictionaries(
    {
        "dim": st.integers(1, 9),
        "window": st.integers(1, 9),
        "alpha": st.sampled_from([0.01, 0.02]),
        "level": st.sampled_from([0.8, 0.9]),
        "k": st.integers(1, 3),
    }
)


@settings(max_examples=25, deadline=None)
@given(first=NUMBERS, second=NUMBERS)
def test_equal_settings_equal_keys_and_other_settings_other_keys(
    folder: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    def cells(given: dict[str, Any]) -> dict[str, str]:
        study = study_from(
            {
                "study": {"name": "a"},
                "corpora": {"one": {"path": "one.txt"}},
                "models": {"m": {name: given[name] for name in ("dim", "window", "alpha")}},
                "scores": {"s": {"of": ["m"], "pairs": [["he", "she"]], "words": ["art"], "k": given["k"]}},
                "analyses": {"r": {"kind": "reliability", "of": ["s"], "settings": {"level": given["level"]}}},
            },
            folder=folder,
        )
        return {one.step: one.key for one in plan_study(study).cells}

    one, other = cells(first), cells(second)
    trained = all(first[name] == second[name] for name in ("dim", "window", "alpha"))
    scored = trained and first["k"] == second["k"]
    same = {
        "corpus": True, "train": trained, "score": scored, "tensor": scored,
        "reliability": scored and first["level"] == second["level"],
    }  # fmt: skip
    assert {step: one[step] == other[step] for step in one} == same


def test_large_files_are_read_once(folder: Path, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in folder.iterdir():
        os.utime(place, (1, 1))
    read: list[str] = []

    def noted(path: Path) -> str:
        read.append(path.name)
        return path_sha256(path)

    monkeypatch.setattr(study_files, "path_sha256", noted)
    monkeypatch.setattr(study_files, "_SETTLED", -1.0)
    store = CellStore(tmp_path)
    first = plan_study(folder / "small.toml", store)
    assert {"one.txt", "two.txt", "data.csv"} <= set(read)
    read.clear()
    assert plan_study(folder / "small.toml", store).cells == first.cells
    assert read == []
    os.utime(folder / "two.txt", (2, 2))
    assert plan_study(folder / "small.toml", store).cells == first.cells
    assert read == ["two.txt"]
    assert [one.key for one in first.cells] == [one.key for one in plan.cells]


@pytest.mark.parametrize("damage", [b"", b"{", b'{"a": 3}', b"[]", b"\xff"])
def test_a_damaged_memory_of_checksums_costs_only_time(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "memory.json").write_bytes(damage)
    (tmp_path / "text").write_text("some")
    assert Checksums(tmp_path / "memory.json").of(tmp_path / "text") == hashlib.sha256(b"some").hexdigest()


def test_a_file_written_just_now_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second change within the clock's tick would keep size and time."""
    monkeypatch.setattr(study_files, "_SETTLED", 1e9)
    text, memory = tmp_path / "text", tmp_path / "memory.json"
    text.write_text("some")
    stamp = text.stat().st_mtime_ns

    def changed(content: str) -> str:
        text.write_text(content)
        os.utime(text, ns=(stamp, stamp))
        checksums = Checksums(memory)
        found = checksums.of(text)
        checksums.keep()
        return found

    assert changed("some") != changed("same")
    monkeypatch.setattr(study_files, "_SETTLED", -1.0)  # long ago: it is remembered
    assert changed("some") == changed("same")


def test_what_is_finished_and_how_long_it_took_is_told(folder: Path, plan: Plan, tmp_path: Path) -> None:
    store = CellStore(tmp_path)
    trained = [one for one in plan.cells if one.step == "train" and one.settings["algorithm"] == "sgns"]
    for cell in trained[:2]:
        with store.scratch() as scratch:
            (scratch / "out").mkdir()
            store.publish(cell, scratch / "out", 1000.0)
    after = plan_study(folder / "small.toml", store)
    assert after.finished == {one.key for one in trained[:2]}
    found = {one.key: one.seconds for one in after.cells}
    assert [found[one.key] for one in trained] == [1000.0] * 4
    others = [one for one in plan.cells if one not in trained]
    assert [found[one.key] for one in others] == [one.seconds for one in others]
    states = [one["state"] for one in after.to_dict()["cells"]]
    assert states.count("finished") == 2
    assert len(after.to_frame()) == len(after.cells)


def costs(text: Path, **recipe: Any) -> tuple[float, int]:  # noqa: ANN401 - settings of training
    content = {"study": {"name": "a"}, "corpora": {"c": {"path": str(text)}}, "models": {"m": recipe}}
    cell = next(one for one in plan_study(study_from(content)).cells if one.step == "train")
    return cell.seconds, cell.memory


def test_more_work_costs_more(tmp_path: Path) -> None:
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    small.write_bytes(b"word " * 200_000)
    large.write_bytes(b"word " * 800_000)
    least = costs(small, dim=50)
    assert costs(large, dim=50) > least
    for more in ({"dim": 200}, {"dim": 50, "epochs": 20}, {"dim": 50, "algorithm": "fasttext"}):
        assert costs(small, **more)[0] > least[0]
    ratio = (costs(large, dim=50, epochs=10)[0] - 0.05) / (costs(large, dim=50, epochs=5)[0] - 0.05)
    assert ratio == pytest.approx(2, rel=0.05)


def test_patterns_and_folders(tmp_path: Path) -> None:
    def corpus(path: object, **more: str) -> Iterator[list[str]]:
        content = {"study": {"name": "a"}, "corpora": {"c": {"path": path, **more}}}
        for cell in plan_study(study_from(content, folder=tmp_path)).cells:
            yield [Path(place).name for place in cell.places.values()]

    (tmp_path / "texts").mkdir()
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / "texts" / name).write_text("some words\n")
    assert list(corpus("texts/*.txt")) == [["a.txt", "b.txt"]]
    assert list(corpus(f"{tmp_path}/texts/*.txt")) == [["a.txt", "b.txt"]]
    assert list(corpus(["texts/b.txt", "texts/a.txt"])) == [["b.txt", "a.txt"]]
    assert list(corpus("texts")) == [["texts"]]
    with pytest.raises(InputError, match=r"several layouts \(csv, lines\)"):
        list(corpus("texts/*"))
    assert list(corpus("texts/*", layout="lines")) == [["a.txt", "b.txt", "c.csv"]]


def test_every_kind_has_a_step_and_every_step_says_what_it_does() -> None:
    assert {kind_named(name).step for name in kind_names()} <= set(step_names())
    assert all(step_named(name).about for name in step_names())
    assert {
        "reliability", "components", "decision", "factors", "weat", "mac", "bayes", "bayes-change", "robustness",
        "seeds", "stability", "quality", "mitigation-effect", "audit", "points", "correlate",
    } <= set(kind_names())  # fmt: skip
