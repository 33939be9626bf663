"""`biasgauge bayes` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.analyses.posterior import bayes, read_distances
from biasgauge.cli.entry import run
from biasgauge.vectors.loading import DEFAULT_PATH

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.analyses.posterior import DistanceTable


@pytest.fixture
def file(table: DistanceTable, tmp_path: Path) -> Path:
    """The table in the authors' layout, with one lost word."""
    frame = table.to_frame().replace({"connection": {"neutral": "none"}})
    frame["cosine_similarity"] = 1 - frame["cosine_distance"]
    lost = frame.iloc[:1].assign(word_to_compare="gone", cosine_distance=-100.0, cosine_similarity=-100.0)
    path = tmp_path / "distances.csv"
    path.write_text(frame.to_csv() + lost.to_csv(header=False))
    return path


def result(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - JSON
    assert run(["bayes", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_of_a_file_of_distances(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = result(capsys, "--distances", str(file), "--seed", "3")
    expected = bayes(read_distances(file), random_state=3)
    assert found["groups"] == [one.to_dict() for one in expected.groups]
    assert found["words"] == [one.to_dict() for one in expected.words]
    assert found["contrasts"] == [one.to_dict() for one in expected.contrasts]
    assert found["ppc"] == expected.to_dict()["ppc"]
    assert found["diagnostics"]["ok"] is True
    assert found["settings"]["seed"] == found["settings"]["random_state"] == 3
    assert found["settings"]["variant"] == "per-connection"
    assert found["distances"]["rows_without_value"] == 1
    assert "lost from muslim: gone" in found["warnings"]
    assert {"settings", "warnings", "version"} <= found.keys()


def test_options_reach_the_model(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--interval", "percentile", "--prob", "0.5", "--variant", "crossed", "--draws", "800"]
    found = result(
        capsys, "--distances", str(file), *asked, "--set", "rope=0.1", "--set", "priors.group=normal(0.5, 0.1)"
    )
    expected = bayes(
        read_distances(file),
        interval="percentile",
        prob=0.5,
        variant="crossed",
        draws=800,
        rope=0.1,
        priors={"group": "normal(0.5, 0.1)"},
    )
    assert found["groups"] == [one.to_dict() for one in expected.groups]
    assert found["priors"]["group"] == {"family": "normal", "mean": 0.5, "sd": 0.1}
    assert found["interval"] == {"method": "percentile", "level": 0.5}


def test_repeated_rows(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header, *rows = file.read_text().splitlines()
    twice = tmp_path / "twice.csv"
    twice.write_text("\n".join([header, *rows, *rows]) + "\n")
    once = result(capsys, "--distances", str(twice))
    often = result(capsys, "--distances", str(twice), "--duplicates", "keep")
    assert once["groups"] == result(capsys, "--distances", str(file))["groups"]
    assert (once["distances"]["rows"], often["distances"]["rows"]) == (75, 150)
    assert "75 rows repeat others exactly and are counted once" in once["warnings"]


def test_vectors_and_a_lexicon(capsys: pytest.CaptureFixture[str]) -> None:
    found = result(capsys, str(DEFAULT_PATH), "--lexicon", "weat7", "--set", "human=none", "--set", "neutral=adj")
    assert [one["connection"] for one in found["groups"]] == ["associated", "different", "neutral"]
    assert (found["coverage"]["asked"], found["coverage"]["lost"]) == (32 + 230, {})
    assert len(found["words"]) == 3 * 16


def test_what_a_person_sees(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bayes", "--distances", str(file)]) == 0
    shown = capsys.readouterr().out
    expected = bayes(read_distances(file))
    group, word = expected.groups[0], expected.words[0]
    assert f"associated  {group.mean:.3f} [{group.low:.3f}, {group.high:.3f}]" in shown
    assert f"associated  {word.word}    {word.mean:.3f} [" in shown
    assert "associated − different" in shown
    assert "note: lost from muslim: gone" in shown
    assert "Diagnostics: good" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_failed_diagnostics_are_shown_first(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bayes", "--distances", str(file), "--draws", "80"]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[1].startswith("note: the sampler's diagnostics failed, do not rely on these numbers")
    assert "Diagnostics: FAILED" in shown


def test_before_and_after(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header, *rows = file.read_text().splitlines()
    moved = []
    for number, row in enumerate(rows):
        fields = row.split(",")
        if float(fields[5]) > 0 and fields[4] == "associated":
            fields[5] = str(float(fields[5]) + 0.1 + 0.01 * (number % 3))
        moved.append(",".join(fields))
    after = tmp_path / "after.csv"
    after.write_text("\n".join([header, *moved]) + "\n")
    found = result(capsys, "--distances", str(file), "--after", str(after))
    changes = {one["connection"]: one for one in found["change"] if one["word"] is None}
    assert changes["associated"]["mean"] == pytest.approx(0.11, abs=0.01)
    assert changes["human"]["reason"] == "no distance changed"
    assert {"before", "after"} <= found.keys()
    assert run(["bayes", "--distances", str(file), "--after", str(after)]) == 0
    assert "undefined: no distance changed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Name a vector file and --lexicon, or --distances FILE"),
        (["{file}", "--distances", "{file}"], "one of them, not both"),
        ([str(DEFAULT_PATH)], "--lexicon is missing"),
        ([str(DEFAULT_PATH), "--lexicon", "religon"], "nearest: religion"),
        (["--distances", "{file}", "--lexicon", "religion"], "--lexicon goes with vectors"),
        (["--distances", "nowhere.csv"], "nowhere.csv: there is no such file"),
        (["--distances", "{file}", "--prob", "89"], "strictly between 0 and 1. Got 89.0"),
        (
            ["--distances", "{file}", "--set", "priors.between=normal(0, 1)"],
            "must be exponential(RATE) or halfnormal(SCALE)",
        ),
        (["--distances", "{file}", "--variant", "robust"], "Try: biasgauge bayes --help"),
    ],
)
def test_mistakes_get_one_sentence(
    file: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bayes", *(word.format(file=file) for word in words)]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_nothing_slow_is_imported(file: Path) -> None:
    """The command computes for a third of a second: what takes longer to import has no place on its path."""
    program = (
        "import sys\n"
        "from biasgauge.cli.entry import run\n"
        f"assert run(['bayes', '--distances', {str(file)!r}, '--json']) == 0\n"
        "print('SLOW', *sorted({'pandas', 'scipy', 'arviz', 'arviz_stats', 'pymc', 'numba'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "SLOW"
