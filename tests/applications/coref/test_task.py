"""Coreference as a task of `extrinsic`, and the script that trains it elsewhere."""

# ruff: noqa: ANN401 - a module that is a fixture has no useful type

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.applications.coref import CorefSettings, evaluate_coref, train_coref, winobias, write_conll
from biasgauge.applications.coref.document import held_out
from biasgauge.applications.task_runs import extrinsic
from biasgauge.errors import ParameterError
from biasgauge.vectors import save

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("char_size", "char_filters", "lstm_size", "hidden_size", "feature_size", "max_width", "spans_per_word")


@pytest.fixture
def data(planted: Any, tmp_path: Path) -> Path:
    """CoNLL files beside WinoBias of the same stories."""
    folder = tmp_path / "data"
    (folder / "wino").mkdir(parents=True)
    stories = [replace(one, name=f"d{at:02d}") for at, one in enumerate(planted.stories(40, 1))]
    write_conll(stories, folder / "stories.conll")
    for split in ("dev", "test"):
        for kind in "12":
            for version in ("pro", "anti"):
                some = planted.stories(10, {"pro": 5, "anti": 6}[version])
                named = [replace(one, name=f"nw/{at}") for at, one in enumerate(some)]
                write_conll(named, folder / "wino" / f"{split}_type{kind}_{version}_stereotype.v4_auto_conll")
    return folder


def settings(small: CorefSettings) -> dict[str, Any]:
    return {name: getattr(small, name) for name in NAMES} | {"epochs": 3, "learning_rate": 8e-3}


def test_the_task_says_what_its_parts_say(planted: Any, data: Path, tmp_path: Path) -> None:
    chosen = settings(planted.SMALL)
    found = extrinsic("coref", planted.vectors(), data, seeds=2, cache=tmp_path / "cells", resamples=200, **chosen)
    stories = [replace(one, name=f"d{at:02d}") for at, one in enumerate(planted.stories(40, 1))]
    train, dev, test = held_out(stories)
    models = [
        train_coref(planted.vectors(), train, dev, CorefSettings(**chosen), random_state=seed) for seed in range(2)
    ]
    rates = [evaluate_coref(one, test, resamples=20).conll_f1 for one in models]
    f1 = next(one for one in found.metrics if (one.metric, one.positive_class) == ("f1", "conll"))
    assert list(f1.values) == pytest.approx(rates)
    assert f1.value == pytest.approx(np.mean(rates))  # type: ignore[arg-type]
    assert f1.n == len(test) == 4
    gaps = [
        [winobias(one, data, splits=["test"], resamples=20).gap("test 1", name) for one in models]
        for name in ("recall", "linked")
    ]
    for name, each in zip(("recall", "linked"), gaps, strict=True):
        row = next(one for one in found.gaps if (one.metric, one.positive_class) == (name, "winobias test 1"))
        assert [100 * (value or 0) for value in row.values] == pytest.approx([one.value for one in each])
        assert (row.a, row.b, row.n_a, row.p_value) == ("pro", "anti", 10, None)
    assert found.counts == {"winobias test 1": 10, "winobias test 2": 10}
    assert found.coverage["found"] == found.coverage["asked"] == 25
    again = extrinsic("coref", planted.vectors(), data, seeds=2, cache=tmp_path / "cells", resamples=200, **chosen)
    assert [one.reused for one in again.seeds] == [True, True]
    assert again.gaps == found.gaps
    one_seed = extrinsic("coref", planted.vectors(), data, cache=tmp_path / "cells", resamples=200, **chosen)
    defined = [one for one in one_seed.gaps if one.value is not None]
    assert defined
    assert all(one.p_value is not None for one in defined)
    assert [(one.value, one.p_value) for one in one_seed.seeds[0].gaps] == [
        (one.value, one.p_value) for one in one_seed.gaps
    ]
    assert json.loads(json.dumps(one_seed.to_dict()))["task"] == "coref"


def test_documents_in_folders_of_their_own(planted: Any, data: Path) -> None:
    chosen = settings(planted.SMALL) | {"epochs": 1}
    for name, seed in (("train", 1), ("dev", 2), ("test", 3)):
        (data / name).mkdir()
        write_conll([replace(one, name=name) for one in planted.stories(6, seed)], data / name / "x.conll")
    found = extrinsic("coref", planted.vectors(), data, resamples=20, **chosen)
    assert found.settings["documents"] == {"train": 6, "dev": 6, "test": 6}


def test_held_out_documents(planted: Any) -> None:
    stories = [replace(one, name=f"d{at:02d}") for at, one in enumerate(planted.stories(23, 1))]
    train, dev, test = held_out(stories[::-1])
    assert [one.name for one in dev] == ["d00", "d10", "d20"]
    assert [one.name for one in test] == ["d05", "d15"]
    assert sorted(one.name for one in [*train, *dev, *test]) == [one.name for one in stories]
    kept, same, test = held_out(stories, dev=stories[:1])
    assert same == stories[:1]
    assert len(kept) + len(test) == 23
    with pytest.raises(ParameterError, match="documents"):
        held_out(stories[:5])


@pytest.mark.slow
def test_the_script(planted: Any, data: Path, tmp_path: Path, repository: Path) -> None:
    save(planted.vectors(), tmp_path / "vectors.safetensors")
    small = [f"{name}={value}" for name, value in settings(planted.SMALL).items()]
    command = [sys.executable, str(repository / "scripts" / "train_coref.py"), "--vectors"]
    command += [str(tmp_path / "vectors.safetensors"), "--train", str(data / "stories.conll"), "--winobias", str(data)]
    command += ["--out", str(tmp_path / "out"), "--device", "cpu", "--set", *small]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    log = json.loads((tmp_path / "out" / "log.json").read_text())
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [entry["epoch"] for entry in log["epochs"]] == [0, 1, 2]
    assert results["test"]["documents"] == 4
    assert len(results["winobias"]["gaps"]) == 16
    assert (tmp_path / "out" / "model" / "model.json").is_file()
