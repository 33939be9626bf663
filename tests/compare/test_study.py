"""The kind `compare` of studies: which groups are compared, what they are called, and what is wrong with others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import biasgauge as bg
from biasgauge.errors import InputError
from biasgauge.study import plan_study, run_study, study_from
from biasgauge.study.page import study_summary
from biasgauge.vectors.loading import replicate_path


def study(of: list[str], **settings: Any) -> dict[str, Any]:  # noqa: ANN401 - settings of compare
    """Vectors of two groups of shipped replicates, compared."""
    return {
        "study": {"name": "compared"},
        "vectors": {
            "one": {"path": [str(replicate_path(seed)) for seed in range(2)]},
            "two": {"path": [str(replicate_path(seed)) for seed in (2,)]},
            "three": {"path": [str(replicate_path(seed)) for seed in (3,)]},
        },
        "analyses": {"difference": {"kind": "compare", "of": of, "settings": {"test": "weat7", **settings}}},
        "report": {"title": "Do they differ?"},
    }


def test_the_result_is_that_of_the_function_and_stands_first(tmp_path: Path) -> None:
    ran = run_study(
        study_from(study(["one", "two", "three"], positions=[1950, 1970, 1990]), folder=tmp_path),
        out=tmp_path / "out",
        workers=0,
    )
    assert [failure.error for failure in ran.failures] == []
    told = json.loads((Path(ran.results["difference"]) / "result.json").read_text())
    models = bg.vectors.load_default_replicates()
    found = bg.compare(
        {"one": models[:2], "two": models[2:3], "three": models[3:]}, "weat7", positions=[1950, 1970, 1990]
    )
    assert told["trends"][0]["slope"] == found.trends[0].value
    assert told["headline"] == found.summary().headline
    assert (Path(ran.results["difference"]) / "words.csv").is_file()
    content = json.loads((Path(ran.results["report"]) / "summary.json").read_text())
    page = study_summary(content)
    assert page.parts[0].title == "difference: compare"
    assert page.headline.startswith(found.summary().headline)
    assert [chart.name for chart in page.parts[0].charts] == ["trends", "differences"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"of": ["one"]}, "compares at least 2 groups of models; one means 1"),
        ({"settings": {"test": "no-such-list"}}, "no-such-list"),
        ({"settings": {"test": "weat7", "measures": "d"}}, "did you mean 'measure'"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_computed(
    changed: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    content = study(["one", "two"])
    content["analyses"]["difference"] |= changed
    with pytest.raises(InputError, match=sentence):
        plan_study(study_from(content, folder=tmp_path))


def test_corpora_of_each_recipe_are_compared_with_each_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"he and she are {name}\n")
    content = {
        "study": {"name": "compared"},
        "corpora": {name: {"path": f"{name}.txt"} for name in ("a", "b")},
        "models": {name: {"algorithm": name, "seeds": 2, "dim": 4} for name in ("sgns", "glove")},
        "analyses": {"difference": {"kind": "compare", "of": ["sgns", "glove"], "settings": {"test": "weat7"}}},
    }
    plan = plan_study(study_from(content, folder=tmp_path))
    assert sorted(plan.results) == ["difference/glove", "difference/sgns"]
    cells = [cell for cell in plan.cells if cell.step == "compare"]
    assert [[group["name"] for group in cell.settings["groups"]] for cell in cells] == [["a", "b"], ["a", "b"]]
    assert all(len(cell.inputs) == 4 for cell in cells)
