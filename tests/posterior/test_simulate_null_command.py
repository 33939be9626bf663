"""`biasgauge simulate-null` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.analyses.posterior import simulate_null
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path


def result(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - JSON
    assert run(["simulate-null", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_is_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    found = result(capsys, "--simulations", "2000", "--seed", "3")
    expected = simulate_null(simulations=2_000, random_state=3)
    assert {key: found[key] for key in expected.to_dict()} == json.loads(json.dumps(expected.to_dict()))
    assert {"statistic", "effect_size", "p_values", "settings", "warnings", "version"} <= found.keys()
    assert found["settings"]["seed"] == found["settings"]["random_state"] == 3
    assert found["p_values"]["rejection"]["interval"]["method"] == "clopper-pearson"
    shares = {one["of"]: one["published"] for one in found["comparisons"]}
    assert shares == {"effect size": 0.0083, "effect size as published": 0.3845, "statistic": 0.0148}


def test_options_reach_the_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    asked: dict[str, Any] = {
        "n_x": 5, "n_y": 6, "n_a": 3, "n_b": 4, "sd": 0.1, "word_sd": 0.02, "attribute_sd": 0.03, "family_sd": 0.04,
        "family_size": 2, "simulations": 150, "observed": 0.7, "observed_statistic": 0.2, "alternative": "less",
        "ddof": 1, "alpha": 0.1, "permutations": 9,
    }  # fmt: skip
    further = ("word_sd", "attribute_sd", "family_size", "observed_statistic", "ddof", "alpha", "permutations")
    words = [
        word
        for name, value in asked.items()
        for word in (("--set", f"{name}={value}") if name in further else (f"--{name.replace('_', '-')}", str(value)))
    ]
    found = result(capsys, *words, "--as-published")
    expected = simulate_null(**asked, as_published=True).to_dict()
    assert {key: found[key] for key in expected} == json.loads(json.dumps(expected))
    vectors = result(capsys, "--test", "nas", "--set", "dimensions=9", "--simulations", "20")
    assert vectors["settings"]["dimensions"] == 9
    assert vectors["effect_size"] == {"mean": None, "reason": "NAS has one number, see statistic"}


def test_what_a_person_sees(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate-null", "--simulations", "3000"]) == 0
    shown = capsys.readouterr().out
    expected = simulate_null(simulations=3_000)
    assert expected.rejection is not None
    effect = expected.comparisons[0].two_sided
    assert effect is not None
    assert "|effect size| ≥ 1.267" in shown
    ends = f"[{effect.low:.4f}, {effect.high:.4f}]"
    assert f"{effect.value:.4f} {ends}  0.0084  0.0083" in shown
    assert "0.3886  0.3845" in shown
    assert "p ≤ 0.05" in shown
    assert "mean() uses the first" in " ".join(shown.split())
    assert " ".join(expected.reading.split()) in " ".join(shown.split())
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_a_test_without_observed_number_or_p(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate-null", "--test", "semaxis", "--simulations", "30", "--set", "permutations=0"]) == 0
    shown = capsys.readouterr().out
    assert "SemAxis on 30 data sets without bias" in shown
    assert "permutations were not asked for" in shown
    assert run(["simulate-null", "--n-x", "3", "--n-y", "3", "--simulations", "30"]) == 0
    assert "note: 20 splits allow no p below 0.1" in capsys.readouterr().out


def test_figures_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate-null", "--simulations", "200", "--figures", str(tmp_path / "new")]) == 0
    assert capsys.readouterr().out
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert names == {
        f"null_{what}.{kind}" for what in ("effect_size", "statistic", "p_values") for kind in ("svg", "png", "pdf")
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--test", "weet"], "must be one of ect, mac"),
        (["--n-x", "0"], "'n_x' parameter must be a whole number of at least 1"),
        (["--sd", "-1"], "'sd' parameter must be a number above 0"),
        (["--test", "mac", "--as-published"], "are of weat alone"),
        (["--simulations", "many"], "Try: biasgauge simulate-null --help"),
        (["--set", "permutation=9"], "has no further setting 'permutation'; did you mean 'permutations'?"),
        (["--set", "permutations=few"], "permutations must be of type int. Got 'few'"),
        (["--set", "permutations"], "--set takes NAME=VALUE"),
    ],
)
def test_mistakes_get_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate-null", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
