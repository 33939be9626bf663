"""Text classification as a task: planted gaps come out, numbers are scikit-learn's, work is not repeated."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from biasgauge import registry
from biasgauge.applications import gaps
from biasgauge.applications.classification import task as classification
from biasgauge.applications.classification.task import TextClassification
from biasgauge.applications.task import Task
from biasgauge.applications.task_runs import CellCache, compare_tasks, extrinsic
from biasgauge.errors import InputError, ParameterError
from biasgauge.stats import Resampling
from biasgauge.vectors import Embedding, load_default, save

if TYPE_CHECKING:
    from pathlib import Path

HOW = Resampling("percentile", 0.95, 400, 0)
TINY: dict[str, Any] = {"filters": 8, "widths": (1, 2), "batch": 16, "learning_rate": 0.02, "epochs": 8}
WORDS = ("good", "bad", "odd", *(f"filler{letter}" for letter in "abcdefghijkl"))


@pytest.fixture(scope="module")
def vectors() -> Embedding:
    return Embedding(
        WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 8)).astype(np.float32), name="planted"
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of the positive test texts of group b carry a word that training never saw instead of the telling one."""
    random = np.random.default_rng(1)
    rows = []
    for at in range(480):
        label = at % 2
        group = "ab"[at // 2 % 2]
        split = ("train", "train", "dev", "test")[at // 4 % 4]
        hidden = split == "test" and group == "b" and label and at // 16 % 2
        text = list(random.choice(WORDS[3:], 5))
        text[int(random.integers(5))] = "odd" if hidden else "bad" if label else "good"
        rows.append(f"{' '.join(text)},{label},{group},{split}")
    path = tmp_path_factory.mktemp("planted") / "texts.csv"
    path.write_text("\n".join(["text,label,group,split", *rows, ""]))
    return path


def run(table: Path, vectors: Any, **settings: Any) -> Any:  # noqa: ANN401 - settings of the task
    return extrinsic("csv", vectors, table, **{"resamples": 400, **TINY, **settings})


def of(rows: Any, **wanted: Any) -> Any:  # noqa: ANN401 - a metric or a gap
    found = [one for one in rows if all(getattr(one, name) == value for name, value in wanted.items())]
    assert len(found) == 1
    return found[0]


def test_a_planted_gap_is_found(table: Path, vectors: Embedding) -> None:
    """Of 30 positive test texts of b, 15 carry a word that says nothing; all of a's carry the one that does."""
    found = run(table, vectors)
    labels = [row.split(",") for row in table.read_text().splitlines()[1:]]
    hidden = [row for row in labels if row[3] == "test" and row[1] == "1" and "odd" in row[0]]
    positive = [row for row in labels if row[3] == "test" and row[1] == "1" and row[2] == "b"]
    assert (len(hidden), len(positive)) == (15, 30)
    gap = of(found.gaps, metric="recall", positive_class="1")
    assert (gap.a, gap.b, gap.n_a, gap.n_b) == ("a", "b", 60, 60)
    rates = [of(found.metrics, metric="recall", positive_class="1", group=group).value for group in "ab"]
    assert rates[0] >= 0.95
    assert gap.value == pytest.approx(rates[0] - rates[1])
    assert 0.3 <= gap.value <= 0.7
    assert gap.low < gap.value < gap.high
    assert gap.p_value < 0.001
    assert of(found.metrics, metric="accuracy", group=None).value >= 0.8
    assert found.counts == {"a": 60, "b": 60}


def test_numbers_are_those_of_scikit_learn(table: Path, vectors: Embedding) -> None:
    task = TextClassification(registry.get("data_set", "csv").load(table), vectors, **TINY)
    outcome = task.train(0)
    predicted = [task.classes[at] for at in outcome["predictions"]]
    true = list(task.parts["test"].labels)
    summary = task.summarize({0: outcome}, HOW)
    for name, score in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
        assert of(summary.metrics, metric=name, positive_class="1", group=None).value == pytest.approx(
            score(true, predicted, pos_label="1")
        )
        assert of(summary.metrics, metric=name, positive_class="weighted", group=None).value == pytest.approx(
            score(true, predicted, average="weighted")
        )
    accuracy = of(summary.metrics, metric="accuracy", group=None).value
    assert accuracy == pytest.approx(accuracy_score(true, predicted))
    assert of(summary.metrics, metric="recall", positive_class="weighted", group=None).value == pytest.approx(accuracy)
    expected = gaps(true, predicted, task.groups, positive="1", resamples=400)
    for one in expected.gaps:
        assert of(summary.gaps, metric=one.metric, positive_class=one.positive_class).value == pytest.approx(one.value)
        assert of(summary.gaps, metric=one.metric, positive_class=one.positive_class).p_value == one.p_value


KILLED = """
import os, signal, sys
from biasgauge.applications.classification.task import TextClassification
from biasgauge.applications.task_runs import extrinsic

train = TextClassification.train

def killed(self, seed, progress):
    if seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return train(self, seed, progress)

TextClassification.train = killed
extrinsic("csv", sys.argv[1], sys.argv[2], seeds=3, cache=sys.argv[3], resamples=100, filters=8, epochs=2)
"""


@pytest.mark.crash
def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_bytes(
    table: Path, vectors: Embedding, tmp_path: Path
) -> None:
    file = save(vectors, tmp_path / "vectors.bin")
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    settings: dict[str, Any] = {"seeds": 3, "resamples": 100, "filters": 8, "epochs": 2}
    expected = extrinsic("csv", file, table, cache=whole, **settings)
    arguments = [str(one) for one in (file, table, cut)]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    assert len(list(cut.iterdir())) == 2
    found = extrinsic("csv", file, table, cache=cut, **settings)
    assert [one.reused for one in found.seeds] == [True, True, False]
    assert {one.name: one.read_bytes() for one in cut.iterdir()} == {
        one.name: one.read_bytes() for one in whole.iterdir()
    }
    assert (found.metrics, found.gaps) == (expected.metrics, expected.gaps)
    assert all(one.reused for one in extrinsic("csv", file, table, cache=cut, **settings).seeds)


@pytest.mark.parametrize("change", ["cut short", "another outcome", "no JSON"])
def test_a_damaged_cell_is_computed_again(table: Path, vectors: Embedding, tmp_path: Path, change: str) -> None:
    first = run(table, vectors, cache=tmp_path, epochs=1)
    (path,) = tmp_path.iterdir()
    before = path.read_text()
    content = json.loads(before)
    content["outcome"]["predictions"][0] ^= 1
    path.write_text({"cut short": before[:100], "another outcome": json.dumps(content), "no JSON": "[]"}[change])
    again = run(table, vectors, cache=tmp_path, epochs=1)
    assert again.metrics == first.metrics
    assert [one for one in again.warnings if "was damaged; the cell was computed again" in one]
    assert path.read_text() == before


def test_cells_are_told_apart_by_vectors_data_settings_and_seed(
    table: Path, vectors: Embedding, tmp_path: Path
) -> None:
    other = Embedding(vectors.words, vectors.vectors * np.float32(2))
    changed = tmp_path / "changed.csv"
    changed.write_text(table.read_text().replace("good", "bad", 1))
    cells = tmp_path / "cells"
    for given, data, settings in (
        (vectors, table, {}),
        (other, table, {}),
        (vectors, changed, {}),
        (vectors, table, {"dropout": 0.1}),
        (vectors, table, {"random_state": 1}),
    ):
        run(data, given, cache=cells, **{"epochs": 1, **settings})
    assert len(list(cells.iterdir())) == 5
    regrouped = run(table, vectors, cache=cells, epochs=1, group_words={"x": ["fillera"], "y": ["fillerb"]})
    assert regrouped.seeds[0].reused  # groups decide no prediction
    assert len(list(cells.iterdir())) == 5


def test_a_cache_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file; name a folder"):
        CellCache(tmp_path / "file")


def test_groups_by_words_when_the_data_names_none(table: Path, vectors: Embedding, tmp_path: Path) -> None:
    bare = tmp_path / "bare.csv"
    rows = [row.split(",") for row in table.read_text().splitlines()]
    bare.write_text("\n".join(",".join([row[0], row[1], row[3]]) for row in rows) + "\n")
    assert "names no groups of people" in run(bare, vectors, epochs=1).no_gaps
    found = run(bare, vectors, epochs=1, group_words={"x": ["fillera"], "y": ["fillerb"]})
    texts = [row[0].split() for row in rows if row[3] == "test"]
    only = [sum(mine in text and other not in text for text in texts)
            for mine, other in (("fillera", "fillerb"), ("fillerb", "fillera"))]  # fmt: skip
    assert found.counts == dict(zip("xy", only, strict=True))
    assert {(one.a, one.b) for one in found.gaps} == {("x", "y")}
    assert found.settings["group_words"] == {"x": ["fillera"], "y": ["fillerb"]}


def test_as_published_trains_and_averages_as_released(table: Path, vectors: Embedding) -> None:
    settings: dict[str, Any] = {"filters": 4, "batch": 16, "epochs": 2, "evaluate_every": 5}
    found = extrinsic("csv", vectors, table, resamples=100, as_published=True, **settings)
    about = found.seeds[0].training
    assert about["dropout_steps"] == 5 < about["steps"] == 30
    assert found.settings["max_norm"] is None
    assert found.settings["as_published"]
    ours = extrinsic("csv", vectors, table, resamples=100, **settings)
    assert ours.seeds[0].training["dropout_steps"] == ours.seeds[0].training["steps"]


def test_hatecheck_judges_a_classifier_that_learned_elsewhere(table: Path, vectors: Embedding, tmp_path: Path) -> None:
    cases = [f"{at},f,{at},{'bad' if at % 2 else 'good'} fillera,{'hateful' if at % 2 else 'non-hateful'},"
             f"{'women' if at % 3 else 'Muslims'}" for at in range(60)]  # fmt: skip
    header = ",functionality,case_id,test_case,label_gold,target_ident"
    (tmp_path / "test_suite_cases.csv").write_text("\n".join([header, *cases, ""]))
    settings = {"train_on": "csv", "train_data": table, "resamples": 100, **TINY}
    found = extrinsic("hatecheck-en", vectors, tmp_path, **settings)
    assert of(found.metrics, metric="accuracy", group=None).value >= 0.95
    assert found.counts == {"Muslims": 20, "women": 40}
    assert found.settings["texts"]["test"] == 60
    assert (found.settings["train_on"], found.settings["train_data"]) == ("csv", str(table))
    with pytest.raises(ParameterError, match="hateval-en"):
        extrinsic("hatecheck-en", vectors, tmp_path)
    with pytest.raises(ParameterError, match="'edos'"):
        extrinsic("hatecheck-en", vectors, tmp_path, train_on="edos", train_data=table, split_seed=1)
    with pytest.raises(ParameterError, match="'train_on'"):
        extrinsic("hatecheck-en", vectors, tmp_path, train_on="hatecheck-en", train_data=table)


@pytest.mark.shared
def test_hateval_is_learned_from_the_vectors_that_ship(shared_data: Path) -> None:
    """573 of 1,000 dev tweets are not hateful, so a classifier that learned nothing is right that often."""
    found = extrinsic("hateval-en", load_default(), shared_data / "hateval2019", resamples=200, epochs=4, filters=50)
    assert found.seeds[0].training["best"]["accuracy"] > 0.573 + 4 * (0.573 * 0.427 / 1000) ** 0.5
    assert found.counts == {"women": 1500, "migrants": 1500}
    assert found.settings["texts"] == {"train": 8931, "dev": 1000, "test": 3000}  # without 69 retweets


def test_results_as_frames_and_json(table: Path, vectors: Embedding) -> None:
    found = run(table, vectors, seeds=2, epochs=1)
    frame = found.to_frame()
    assert len(frame) == len(found.gaps) == 9
    assert {"metric", "a", "b", "value", "low", "high", "method"} <= set(frame.columns)
    assert len(found.metrics_frame()) == 27  # nine rates of everyone and of two groups
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {"task", "metrics", "gaps", "seeds", "coverage", "settings", "warnings", "counts"} <= content.keys()
    assert content["settings"]["seeds"] == [0, 1]
    assert content["coverage"]["found"] == len(WORDS)
    assert content["gaps"][0]["interval"]["method"] == "percentile"
    assert "<table" in found._repr_html_()


def test_gaps_with_other_vectors_are_compared(table: Path, vectors: Embedding) -> None:
    first = run(table, vectors, order=["b", "a"])
    blind = Embedding(vectors.words, np.where(np.arange(len(WORDS))[:, None] < 2, 0, vectors.vectors))
    second = run(table, blind, seeds=2, order=["b", "a"])
    change = of(compare_tasks(first, second).changes, metric="recall", positive_class="1")
    assert (change.a, change.b) == ("b", "a")
    assert change.first == pytest.approx(of(first.gaps, metric="recall", positive_class="1").value)
    assert change.second == pytest.approx(of(second.gaps, metric="recall", positive_class="1").values[0])
    with pytest.raises(ParameterError, match="compare"):
        compare_tasks(first, second, seed=1)
    with pytest.raises(ParameterError, match="groups"):
        compare_tasks(first, run(table, vectors, epochs=1, group_words={"a": ["fillera"], "b": ["fillerb"]}))
    with pytest.raises(ParameterError, match="one of these has none"):
        compare_tasks(first, run(table, vectors, epochs=1, group_column="nothing"))


def test_progress_goes_from_nothing_to_all(table: Path, vectors: Embedding) -> None:
    told: list[tuple[int, int]] = []
    run(table, vectors, seeds=2, epochs=2, progress=lambda *pair: told.append(pair))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
    assert len(told) > 4


@pytest.mark.parametrize(
    ("task", "settings", "sentence"),
    [
        ("hateval", {}, r"A task must be one of .*csv, davidson, .*Got 'hateval'; did you mean 'hateval-"),
        ("csv", {"paitence": 3}, r"The task 'csv' has no setting 'paitence'; did you mean 'patience'\?"),
        ("edos", {"text_column": "x"}, "The task 'edos' has no setting 'text_column'"),
        ("csv", {"seeds": 0}, "'seeds' parameter of extrinsic must be a number of at least 1"),
        ("csv", {"seeds": [1, 1]}, "or different seeds"),
        ("csv", {"positive": "7"}, "nothing is labeled '7'"),
        ("csv", {"order": ["a", "z"]}, "No test text is about the group 'z' of 'order'; groups are a, b"),
        ("csv", {"order": ["a", "x"], "group_words": {"x": ["bad"], "y": ["good"]}}, "the group 'a' of 'order'"),
        ("csv", {"level": 2}, "level"),
    ],
)
def test_what_cannot_be_asked(
    table: Path, vectors: Embedding, task: str, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ParameterError, match=sentence):
        extrinsic(task, vectors, table, **settings)


def test_vectors_without_a_word_of_the_task(table: Path) -> None:
    with pytest.raises(ParameterError, match="'memory'"):
        extrinsic("csv", (["GOOD", "BAD"], np.eye(2)), table)


def test_without_pytorch_one_sentence_says_how_to_get_it(
    table: Path, vectors: Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classification, "find_spec", lambda name: None if name == "torch" else 1)
    with pytest.raises(InputError, match="biasgauge"):
        extrinsic("csv", vectors, table)


def test_the_room_is_imported_without_pytorch() -> None:
    """Everything but training works where it is missing."""
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from biasgauge import registry\n"
        "import biasgauge.applications.classification.task\n"
        "print(*registry.names('task'))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "hateval-en" in done.stdout


def test_every_task_says_what_it_is() -> None:
    assert {"hateval-en", "hateval-es", "davidson", "edos", "mlma", "founta", "csv"} <= set(registry.names("task"))
    assert {"hatecheck-en", "hatecheck-es"} <= set(registry.names("task"))
    for name in registry.names("task"):
        task = registry.get("task", name)
        assert isinstance(task, Task)
        assert task.about
        assert registry.get("task", task) is task


def test_no_sentence_repeats_a_text(tmp_path: Path, vectors: Embedding) -> None:
    """Whatever is reported of a run, no word of the texts is in it."""
    rows = [f"{'' if at % 7 else 'RT @x '}unspeakable bad,{at % 2},{'ab'[at // 2 % 2]}" for at in range(120)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["text,label,group", *rows, ""]))
    found = run(path, vectors, epochs=1, cache=tmp_path / "cells")
    assert [one for one in found.warnings if "retweets" in one]
    (cell,) = (tmp_path / "cells").iterdir()
    assert "unspeakable" not in json.dumps(found.to_dict()) + cell.read_text()
