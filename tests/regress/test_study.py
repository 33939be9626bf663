"""The kind `regress` of studies: the same numbers as the function, and what is wrong is said before any work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.regress.slow_regression import DIM, small_text, small_vectors

import biasgauge as bg
from biasgauge.errors import InputError
from biasgauge.study import plan_study, run_study, study_from

A, B = ["w0", "w1", "w2", "w3", "w4"], ["w10", "w11", "w12", "w13", "w14"]


def study(folder: Path, **settings: Any) -> dict[str, Any]:  # noqa: ANN401 - settings of regress
    """A table, vectors and a transformation, regressed."""
    records = small_text(7, odds=6.0, documents=60)
    for record in records:
        record["text"] = " ".join(record.pop("tokens"))
    pd.DataFrame(records).to_csv(folder / "table.csv", index=False)
    vectors = small_vectors()
    bg.save((list(vectors), np.array(list(vectors.values()))), folder / "v.txt")
    np.save(folder / "a.npy", np.eye(DIM))
    given = {
        "corpus": "table.csv", "formula": "t0 ~ group", "transform": "a.npy", "window": 3, "tokenizer": "whitespace",
        "permutations": 99, "a": A, "b": B,
    }  # fmt: skip
    return {
        "study": {"name": "regressed", "seed": 5},
        "vectors": {"mine": {"path": "v.txt"}},
        "analyses": {"differ": {"kind": "regress", "of": ["mine"], "settings": {**given, **settings}}},
        "report": {"title": "Do they differ?"},
    }


def test_the_result_is_that_of_the_function(tmp_path: Path) -> None:
    ran = run_study(study_from(study(tmp_path), folder=tmp_path), out=tmp_path / "out", workers=0)
    assert [failure.error for failure in ran.failures] == []
    (place,) = [path for name, path in ran.results.items() if name.startswith("differ")]
    content = json.loads((Path(place) / "result.json").read_text())
    fit = bg.regress(
        tmp_path / "table.csv", "t0 ~ group", vectors=tmp_path / "v.txt", transform=np.eye(DIM), window=3,
        tokenizer="whitespace", permutations=99, a=A, b=B, random_state=5,
    )  # fmt: skip
    assert content["terms"] == json.loads(json.dumps(fit.to_dict()["terms"]))
    assert content["verdicts"][0]["decision"] == fit.decision
    assert str(tmp_path) not in json.dumps(content)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"formula": "t0 + group"}, "one ~ between"),
        ({"corpus": "absent.csv"}, "there is no file 'corpus'|absent"),
        ({"windows": 3}, "did you mean 'window'"),
        ({"vectors": "v.txt"}, "has no setting 'vectors'"),
        ({"a": "no-such-list"}, "no-such-list"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_computed(
    changed: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        plan_study(study_from(study(tmp_path, **changed), folder=tmp_path))
