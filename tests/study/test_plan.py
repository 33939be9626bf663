"""A plan is the same wherever and whenever it is made, and one change moves only what hangs on it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge import registry
from biasgauge.errors import InputError
from biasgauge.io.checksums import path_sha256
from biasgauge.lexicons import Lexicon, lexicon
from biasgauge.study import CellStore, Plan, plan_study, read_study, study_from
from biasgauge.study import files as study_files
from biasgauge.study.files import Checksums
from biasgauge.study.read import open_study
from biasgauge.study.settings import import_function
from biasgauge.study.step import analyses
from biasgauge.text.tokenizers import Tokenizer, tokenizer_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
tokenizer = "lower-whitespace"
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
# Mitigations, reliability and posteriors of changes count every shipped lexicon in their keys ("unasked"): a new or
# changed lexicon moves these keys and those of what follows them, and nothing else may.
GOLDEN = {
    "association": "e5cdf1bd192b",
    "balance": "4bb3df4dd09e",
    "bayes-change": "a57cca52f64e",
    "components": "76e477c4f2a5",
    "corpus": "f4af240d4ca0",
    "correlate": "33ce320e520e",
    "factors": "3565c813049f",
    "gather": "a088c1599d30",
    "mitigate": "4a92483c36a6",
    "points": "85b9f819e911",
    "reliability": "2044533d65ae",
    "report": "c93a0a093009",
    "score": "2fbb964cb381",
    "task": "3506f06d9791",
    "task-summary": "e465f7185ae1",
    "tensor": "18460a87c6dc",
    "train": "823917f33751",
    "vectors": "358748fce8b2",
    "vocabulary": "201db774c9fd",
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
        assert cell.files.keys() == cell.paths.keys()
        assert registry.get("study_step", cell.step).version == cell.version
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


def test_keys_are_frozen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change here means that every study in the world is computed again: raise the step's version on purpose."""
    monkeypatch.setattr(sys.modules["biasgauge.study.planning.builder"], "__version__", "1.0")
    monkeypatch.setattr(sys.modules["biasgauge.study.planning.corpora"], "tokenizer_named", of_version("1.0"))
    assert digest(plan_study(folder / "small.toml")) == GOLDEN


def of_version(version: str) -> Callable[[str], Tokenizer]:
    """The tokenizers, with other versions of what they depend on."""

    def named(name: str) -> Tokenizer:
        rule = tokenizer_named(name)
        return replace(rule, versions=dict.fromkeys(rule.versions, version))

    return named


def test_the_version_of_what_a_tokenizer_depends_on_counts(
    folder: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keys(plan)
    monkeypatch.setattr(sys.modules["biasgauge.study.planning.corpora"], "tokenizer_named", of_version("0.0"))
    after = keys(plan_study(folder / "small.toml"))
    assert {name for name, key in before.items() if after[name] != key} == below(plan, {"corpus: read two"})


def test_another_version_of_the_package_moves_what_tells_it(
    folder: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keys(plan)
    monkeypatch.setattr(sys.modules["biasgauge.study.planning.builder"], "__version__", "0.0")
    after = keys(plan_study(folder / "small.toml"))
    telling = {name for name in before if name.startswith(("score: ", "association: ", "report: "))}
    assert {name for name, key in before.items() if after[name] != key} == below(plan, telling)


def unasked(table: str, name: str, of: str, read: str, **more: object) -> Any:  # noqa: ANN401 - of pytest
    """A table that reads a word list although no setting of it says so."""
    kind = "kind" if table == "analyses" else "task" if table == "tasks" else "method"
    return pytest.param(table, {kind: name, "of": [of], **more}, read, id=f"{name}-{read}")


UNASKED = [
    unasked("analyses", "reliability", "scored", "du2021_queries"),
    unasked("analyses", "reliability", "scored", "weat1", settings={"queries": "weat1"}),
    unasked("analyses", "robustness", "given", "occ18"),
    unasked("analyses", "audit", "given", "weat7"),
    unasked("analyses", "mitigation-effect", "mended", "weat7"),
    unasked("analyses", "bayes", "given", "human", settings={"lexicon": "weat7"}),
    unasked("analyses", "bayes-change", "mended", "neutral", settings={"lexicon": "weat7"}),
    unasked("analyses", "seeds", "given", "bolukbasi2016", settings={"pairs": "bolukbasi2016"}),
    unasked("analyses", "seeds", "given", "seed_bank", settings={"paper": "bolukbasi"}),
    unasked("mitigations", "hard", "given", "bolukbasi2016"),
    unasked("mitigations", "hard", "given", "equalize"),
    unasked("mitigations", "double_hard", "given", "gender_specific"),
    unasked("mitigations", "half_sibling", "given", "gender_specific"),
    unasked("mitigations", "attract_repel", "given", "weat7"),
    unasked("mitigations", "multiclass_hard", "given", "religion"),
    unasked("mitigations", "ran", "given", "gender_specific"),
    unasked("mitigations", "hard", "given", "animals", settings={"specific": "animals"}),
    unasked("tasks", "csv", "given", "bolukbasi2016", data="data.csv", settings={"group_words": "bolukbasi2016"}),
]


@pytest.mark.parametrize(("section", "table", "read"), UNASKED)
def test_a_word_list_that_is_read_unasked_counts(
    folder: Path, section: str, table: dict[str, Any], read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cells() -> set[str]:
        content: dict[str, Any] = {
            "study": {"name": "a"},
            "vectors": {"given": {"path": "given1.txt"}},
            "mitigations": {"mended": {"method": "hard", "of": ["given"], "settings": {"strength": 0.5}}},
            "scores": {"scored": {"of": ["given"], "pairs": [["he", "she"]], "words": ["art"]}},
        }
        content.setdefault(section, {})["this"] = table
        plan = plan_study(study_from(content, folder=folder))
        labeled = {one.key for one in plan.cells if one.label.startswith(("this", "mitigate this", "train this"))}
        return labeled - {one.key for one in plan.cells if one.step == "gather"}

    def edited(name: object) -> Lexicon:
        return lexicon("weat9" if name == read else name)  # type: ignore[arg-type]  # what the rooms hand over

    before = cells()
    assert before
    for module in ("biasgauge.study.settings", "biasgauge.applications.classification.texts"):
        if module in sys.modules:  # the second only where there is a task
            monkeypatch.setattr(sys.modules[module], "lexicon", edited)
    assert not before & cells()


@pytest.mark.parametrize(
    ("section", "table"),
    [
        ("mitigations", {"method": "hard", "of": ["given"], "settings": {"specific": "words.toml"}}),
        ("mitigations", {"method": "attract_repel", "of": ["given"], "settings": {"repel": [["art", "he"]],
                                                                                  "lexicon": "words.toml"}}),
        ("analyses", {"kind": "bayes", "of": ["given"], "settings": {"lexicon": "words.toml"}}),
        ("analyses", {"kind": "bayes", "of": ["given"], "settings": {"lexicon": "weat7", "human": "words.toml"}}),
        ("analyses", {"kind": "seeds", "of": ["given"], "settings": {"pairs": "words.toml"}}),
        ("analyses", {"kind": "quality", "of": ["given"], "settings": {"benchmarks": "rated.tsv"}}),
        ("tasks", {"task": "csv", "of": ["given"], "data": "data.csv", "settings": {"group_words": "words.toml"}}),
    ],
)  # fmt: skip
def test_what_a_file_in_any_setting_holds_counts_and_what_a_lexicon_is_called_does_not(
    tmp_path: Path, section: str, table: dict[str, Any]
) -> None:
    fill(tmp_path)
    text = json.dumps(table)
    content = {"study": {"name": "a"}, "vectors": {"given": {"path": "given1.txt"}}}

    def cells(name: str, words: str) -> list[str]:
        (tmp_path / f"{name}.toml").write_text(words)
        (tmp_path / f"{name}.tsv").write_text("art\tmath\t1\n" + "she\the\t2\n" * (words != TEST))
        told = json.loads(text.replace("words.toml", f"{name}.toml").replace("rated.tsv", f"{name}.tsv"))
        study = study_from({**content, section: {"this": told}}, folder=tmp_path)
        return [one.key for one in plan_study(study).cells if one.files and one.step != "vectors"]

    first = cells("words", TEST)
    assert first
    assert (cells("other", TEST) == first) == ("rated.tsv" not in text)  # results tell what a benchmark is called
    assert not set(cells("words", TEST.replace("her", "woman"))) & set(first)


@pytest.mark.parametrize("name", ["file", "name", "set"])
def test_a_table_of_a_user_is_no_mark_of_a_file(folder: Path, name: str) -> None:
    content = {
        "study": {"name": "a"},
        "vectors": {"given": {"path": "given1.txt"}},
        "scores": {"s": {"of": ["given"], "pairs": [["he", "she"]], "words": ["art"]}},
        "analyses": {"r": {"kind": "reliability", "of": ["s"], "settings": {"lists": {name: ["doctor", "nurse"]}}}},
    }
    plan = plan_study(study_from(content, folder=folder))
    cell = next(one for one in plan.cells if one.step == "reliability")
    assert cell.settings["settings"]["lists"] == {name: ["doctor", "nurse"]}


@pytest.mark.parametrize(
    "tables",
    [
        '[corpora.c]\npath = "."\n',
        '[corpora.c]\npath = ["one.txt", "out*"]\nlayout = "lines"\n',
        '[tasks.t]\ntask = "csv"\ndata = "."\nof = ["v"]\n',
        '[tasks.t]\ntask = "hatecheck-en"\ndata = "data.csv"\nof = ["v"]\nsettings = { train_data = "../" }\n',
    ],
)
def test_a_study_does_not_read_its_own_outcomes(tmp_path: Path, tables: str) -> None:
    study = fill(tmp_path / "own")
    (tmp_path / "own" / "outside").mkdir()
    study.write_text(f'[study]\nname = "a"\n[vectors.v]\npath = "given1.txt"\n{tables}')
    elsewhere = CellStore(tmp_path.with_name(f"{tmp_path.name}-elsewhere"))
    allowed = open_study(study, allow=[tmp_path])
    assert plan_study(allowed, elsewhere).cells
    with pytest.raises(InputError, match="outcomes") as told:
        plan_study(allowed, CellStore(tmp_path / "own" / "out"))
    assert "\n" not in str(told.value)


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
    monkeypatch.setattr("biasgauge.io.checksums.time", SimpleNamespace(time=lambda: time.time() + 10))
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
    assert Checksums(tmp_path / "memory.json").checksum(tmp_path / "text") == hashlib.sha256(b"some").hexdigest()


def test_other_content_of_the_same_size_and_time_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `cp -p` leaves it; and, while a file may yet change within the clock's tick, whatever its times are."""
    text, memory = tmp_path / "text", tmp_path / "memory.json"
    text.write_text("some")
    stamp = text.stat().st_mtime_ns

    def changed(content: str) -> str:
        time.sleep(0.02)  # the clock of the files goes on
        text.write_text(content)
        os.utime(text, ns=(stamp, stamp))
        checksums = Checksums(memory)
        found = checksums.checksum(text)
        checksums.keep()
        return found

    monkeypatch.setattr("biasgauge.io.checksums.time", SimpleNamespace(time=lambda: time.time() + 10))
    assert changed("some") != changed("same")
    monkeypatch.setattr(study_files, "file_stamp", lambda _: ("same times", False))
    assert changed("some") != changed("same")
    monkeypatch.setattr(study_files, "file_stamp", lambda _: ("same times", True))  # long ago: it is remembered
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
    found = after.seconds
    assert [found[one.key] for one in trained] == [1000.0] * 4
    assert set(found) == {one.key for one in trained}  # nothing is known of the others
    states = [one["state"] for one in after.to_dict()["cells"]]
    assert states.count("there") == 2
    assert len(after.to_frame()) == len(after.cells)


def test_patterns_and_folders(tmp_path: Path) -> None:
    def corpus(path: object, **more: str) -> Iterator[list[str]]:
        content = {"study": {"name": "a"}, "corpora": {"c": {"path": path, **more}}}
        for cell in plan_study(study_from(content, folder=tmp_path)).cells:
            yield [Path(place).name for place in cell.paths.values()]

    (tmp_path / "texts").mkdir()
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / "texts" / name).write_text("some words\n")
    assert list(corpus("texts/*.txt")) == [["a.txt", "b.txt"]]
    assert list(corpus(f"{tmp_path}/texts/*.txt")) == [["a.txt", "b.txt"]]
    assert list(corpus(["texts/b.txt", "texts/a.txt"])) == [["b.txt", "a.txt"]]
    assert list(corpus("texts")) == [["texts"]]
    with pytest.raises(InputError, match="files of 'c' are of several layouts"):
        list(corpus("texts/*"))
    assert list(corpus("texts/*", layout="lines")) == [["a.txt", "b.txt", "c.csv"]]


def test_every_kind_has_a_step_and_every_step_says_what_it_does() -> None:
    assert all(step.about for step in registry.everything("study_step").values())
    assert {
        "reliability", "components", "decision", "factors", "weat", "mac", "posterior", "bayes", "bayes-change",
        "robustness", "seeds", "stability", "quality", "mitigation-effect", "audit", "points", "correlate",
    } <= set(analyses())  # fmt: skip


def test_models_of_files_have_different_names(tmp_path: Path) -> None:
    names = ["x.1.txt", "x.2.txt", "x-0.txt", "x-1.txt", "y.txt"]
    for name in names:
        (tmp_path / name).write_text(f"he 1 {len(name)}\n")
    content = {"study": {"name": "a"}, "vectors": {"v": {"path": names}}}
    models = plan_study(study_from(content, folder=tmp_path)).models
    assert list(models) == ["v/x-2", "v/x-3", "v/x-0", "v/x-1", "v/y"]


def test_a_column_by_its_number_may_be_text(tmp_path: Path) -> None:
    (tmp_path / "tweets.tsv").write_text("1\the and she\n2\tart and math\n")

    def corpus_key(field: str) -> str:
        study = tmp_path / "s.toml"
        corpus = f'[corpora.tweets]\npath = "tweets.tsv"\nfield = {field}\n'
        study.write_text(f'[study]\nname = "s"\n\n{corpus}\n[models.sgns]\nmin_count = 1\n')
        return next(cell.key for cell in plan_study(study).cells if cell.step == "corpus")

    assert corpus_key('"2"') == corpus_key("2")
    assert corpus_key('"1"') != corpus_key("2")


def test_what_every_kind_refers_to_is_there() -> None:
    added = registry.added("study_step")
    for analysis in analyses().values():
        assert analysis.kind.settings or analysis.step.name in added, analysis.kind.name
        if analysis.kind.result:
            import_function(analysis.kind.result)
