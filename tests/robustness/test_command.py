"""`biasgauge robustness` as a user meets it."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.vectors.loading import DEFAULT_PATH

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.vectors import Embedding

PAIRS = 'kind = "pairs"\nends = ["male", "female"]\npairs = [["he", "she"], ["man", "woman"], ["boy", "girl"]]\n'
FORMS = 'kind = "pairs"\nends = ["word", "form"]\npairs = [["nurse", "nurses"], ["poet", "Poet"]]\n'
TRUTH = 'kind = "sets"\n[sets]\nfemale = ["nurse"]\nmale = ["surgeon", "poet", "judge"]\n'


@pytest.fixture
def asked(planted: Embedding, tmp_path: Path) -> list[str]:
    for name, text in {"pairs": PAIRS, "forms": FORMS, "jobs": TRUTH}.items():
        (tmp_path / f"{name}.toml").write_text(text)
    file = bg.save(planted, tmp_path / "planted.bin")
    return [
        "robustness", str(file), "--pairs", str(tmp_path / "pairs.toml"), "--words", "nurse,surgeon,poet,judge",
        "--measures", "dbwa,ripa", "--truths", str(tmp_path / "jobs.toml"),
    ]  # fmt: skip


def result(capsys: pytest.CaptureFixture[str], words: list[str]) -> Any:  # noqa: ANN401 - JSON
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_is_what_the_function_finds(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    shown = result(capsys, [*asked, "--seed", "3"])
    expected = bg.robustness(
        asked[1],
        pairs=asked[3],
        words=asked[5].split(","),
        measures=["dbwa", "ripa"],
        truths=[asked[9]],
        random_state=3,
    ).to_dict()
    for part in ("base_pairs", "word_forms", "correspondence", "between_measures", "means", "reference", "verdicts"):
        assert shown[part] == expected[part]
        assert shown[part]
    assert shown["base_pairs"][0]["kappa"] == pytest.approx(1 / 3)
    assert shown["settings"]["seed"] == shown["settings"]["random_state"] == 3
    assert {"settings", "warnings", "version"} <= shown.keys()


def test_options_reach_the_function(asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = f"upper,own={tmp_path / 'forms.toml'}"
    shown = result(capsys, [*asked, "--forms", own, "--pair-forms", "none", "--as-published", "--level", "0.9"])
    assert [one["form"] for one in shown["forms"]] == ["upper", "own"]
    assert shown["pair_forms"] == []
    assert "magnitude_as_published" in shown["base_pairs"][0]
    assert shown["base_pairs"][0]["kappa_interval"]["level"] == 0.9
    none = result(capsys, [*asked[:-2], "--truths", "none", "--forms", own])
    assert none["correspondence"] == []
    rows = {(row["form"], row["pair"]): row for row in none["word_forms"] if row["measure"] == "dbwa"}
    assert rows["own", "he~she"]["flipped"] == ["nurse"]
    assert rows["own", "boy~girl"]["flipped"] == ["poet"]


def test_what_a_person_sees(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*asked, "--as-published"]) == 0
    shown = capsys.readouterr().out
    assert "DB/WA    0.33 [−0.89, 1.00]" in shown
    assert re.search(r"^measure .* printed +words$", shown, re.MULTILINE)  # names of columns, broken to fit
    assert "capitalized: unknown; he: He is not in the vocabulary" in shown
    assert "Another base pair, DB/WA: agreement on the direction of words is fair" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_figures_are_written(asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*asked, "--figures", str(tmp_path / "figures")]) == 0
    capsys.readouterr()
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        "word.svg",
        "word.png",
        "word.pdf",
        "pairs.svg",
        "pairs.png",
        "pairs.pdf",
    }


def test_analogies_are_filled_when_asked_for(
    asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Report:
        verdicts = ("Similarity explains them.",)

        def to_dict(self) -> dict[str, str]:
            return {"said": self.verdicts[0]}

    seen: list[dict[str, Any]] = []

    def report(_model: Embedding, **settings: object) -> Report:
        seen.append(settings)
        return Report()

    monkeypatch.setattr(sys.modules["biasgauge.analyses.robustness.battery"], "analogy_report", report)
    assert result(capsys, [*asked, "--analogies", "--seed", "3"])["analogies"] == {"said": "Similarity explains them."}
    assert seen == [{"level": 0.95, "random_state": 3}]
    assert run([*asked, "--analogies"]) == 0
    assert "- Similarity explains them." in capsys.readouterr().out
    assert result(capsys, asked)["analogies"] is None


@pytest.mark.slow
def test_analogies_of_the_shipped_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    shown = result(
        capsys, ["robustness", str(DEFAULT_PATH), "--analogies", "--set", "frequent=2000", "--measures", "dbwa"]
    )
    expected = bg.robustness(DEFAULT_PATH, analogies=True, frequent=2_000).analogies
    assert expected is not None
    assert shown["analogies"] == expected.to_dict()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--truths", "weat7"], "must have a set of words for each end of the pairs, male and female"),
        (["--forms", "plurals"], "A form must be one of plural, capitalized, upper, lower"),
        (["--measures", "weat"], "A measure must be one of"),
        (["--min-coverage", "2"], "must be a number from 0 to 1. Got 2.0"),
        (["--pairs", "occ16"], "holds words, but pairs are wanted here"),
        (["--level", "x"], "Try: biasgauge robustness --help"),
    ],
)
def test_mistakes_get_one_sentence(
    asked: list[str], more: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*asked, *more] if more[0] not in asked else [*asked[: asked.index(more[0])], *more]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
