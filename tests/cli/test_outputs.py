"""Outputs are tried before any work, inputs are never overwritten, results stay unless --force."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.cli.files import Output, paths_in, try_outputs
from biasgauge.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORDS = ("math", "poetry", "he", "she", "him", "her")


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    matrix = np.random.default_rng(0).standard_normal((len(WORDS), 4)).astype(np.float32)
    return bg.save(bg.Embedding(WORDS, matrix), tmp_path / "vectors.safetensors")


@pytest.fixture
def no_work(vectors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading vectors is work: an output that cannot be used is refused before it."""

    def fail(*_given: object, **_named: object) -> None:
        raise AssertionError("work was started")

    assert vectors.exists()
    for place in ("audits.run.load_models", "audits.run.load_default_replicates", "scores.scoring.load",
                  "mitigation.effects.load", "text.read_corpus"):  # fmt: skip
        monkeypatch.setattr(f"biasgauge.{place}", fail)


def told(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert run([str(word) for word in words]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.mark.usefixtures("no_work")
def test_a_place_that_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, vectors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    for words in (["audit", vectors], ["audit"], ["score", vectors], ["train", vectors]):
        assert "is a file, not a folder" in told(capsys, *words, "--out", taken)
        assert "is a file, not a folder" in told(capsys, *words, "--out", taken / "inside")
    assert "is a folder" in told(capsys, "mitigate", vectors, "--out", tmp_path)
    assert "does not exist" in told(capsys, "mitigate", vectors, "--out", tmp_path / "no" / "x.bin")
    assert "is a file, not a folder" in told(capsys, "reliability", tmp_path, "--figures", taken)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("link", ["itself", "symlink", "hard link", "other way"])
def test_an_input_is_never_overwritten_however_it_is_named(
    link: str, tmp_path: Path, vectors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = vectors.read_bytes()
    out = tmp_path / "out.safetensors"
    if link == "itself":
        out = vectors
    elif link == "symlink":
        out.symlink_to(vectors)
    elif link == "hard link":
        out.hardlink_to(vectors)
    else:
        (tmp_path / "folder").mkdir()
        out = tmp_path / "folder" / ".." / vectors.name
    assert "is an input" in told(capsys, "mitigate", vectors, "--out", out, "--force")
    assert vectors.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("correlate points.csv --x a --y b --out points.csv", "points.csv"),
        ("weat vectors.txt --test weat7 --out vectors.txt", "vectors.txt"),
        ("weat vectors.bin --test own.toml --out own.json", "own.json"),
        ("weat vectors.bin --x x.txt --y b --a c --b d --out x.txt", "x.txt"),
        ("bayes --distances points.csv --out points.csv", "points.csv"),
        ("balance points.csv --lexicon weat7 --out points.csv", "points.csv"),
        ("balance text.txt --x x.txt --y b --a c --b d --out x.txt", "x.txt"),
        ("factors sgns:wiki=s --counts wiki=points.csv --out points.csv", "points.csv"),
        ("lexicons expand own.toml vectors.bin --out own.toml", "own.toml"),
        ("lexicons build own.toml --out own.toml", "own.toml"),
        ("audit --points verdicts.csv --out .", "verdicts.csv"),
        ("score vectors.bin --words x.txt --csv x.txt", "x.txt"),
        ("robustness vectors.bin --forms plural,mine=own.toml --out own.html", "own.html"),
        ("reproduce zhang2020 --data report.csv --out report.csv", "report.csv"),
        ("study show own.toml --page own.toml", "own.toml"),
    ],
)
def test_no_command_writes_over_what_it_reads(
    words: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in (
        "points.csv",
        "vectors.txt",
        "vectors.bin",
        "x.txt",
        "text.txt",
        "own.toml",
        "report.csv",
        "verdicts.csv",
    ):
        (tmp_path / file).write_text("valuable")
    (tmp_path / "s").mkdir()
    if name in {"own.json", "own.html"}:  # a hard link of the lexicon, under a name that says what to write
        (tmp_path / name).hardlink_to(tmp_path / "own.toml")
    sentence = told(capsys, *words.split(), *([] if words.startswith("study") else ["--force"]))
    assert sentence.startswith(f"biasgauge: {name}: is an input")
    assert (tmp_path / name).read_text() == "valuable"


def test_a_result_that_is_there_stays_unless_forced(
    tmp_path: Path, vectors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "null.html"
    (tmp_path / "null.csv").write_text("an earlier table")
    command = ["simulate-null", "--simulations", "50", "--quiet", "--out", str(out)]
    sentence = told(capsys, *command)
    assert sentence.startswith(f"biasgauge: {tmp_path / 'null.csv'}: is there already")
    assert "--force" in sentence
    assert run([*command, "--force"]) == 0
    assert out.exists()
    assert (tmp_path / "null.csv").read_text() != "an earlier table"
    figures = ["simulate-null", "--simulations", "50", "--quiet", "--figures", str(tmp_path / "drawn")]
    assert run(figures) == 0
    assert "is there already" in told(capsys, *figures)
    audit = ["audit", str(vectors), "--lexicon", "weat7", "--quiet", "--out", str(tmp_path / "audit")]
    assert run(audit) == 0
    capsys.readouterr()
    assert "report.html: is there already" in told(capsys, *audit)
    assert run([*audit, "--force"]) == 0


def test_a_store_is_continued_refused_at_once_or_replaced(
    tmp_path: Path, vectors: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = tmp_path / "own.toml"
    pairs.write_text('kind = "pairs"\npairs = [["he", "she"], ["him", "her"]]\n')
    store = tmp_path / "store"
    command = ["score", str(vectors), "--pairs", str(pairs), "--measures", "dbwa", "--out", str(store), "--words"]
    assert run([*command, "math,poetry"]) == 0
    assert run([*command, "math,poetry"]) == 0  # continued
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr("biasgauge.scores.scoring.load", lambda *_given, **_named: pytest.fail("vectors were read"))
        assert "holds scores with other words" in told(capsys, *command, "math,he")
    assert run([*command, "math,he", "--force"]) == 0
    assert bg.scores.ScoreStore.open(store).words == ("math", "he")
    other = bg.Embedding(WORDS, np.eye(6, 4, dtype=np.float32) + 1)
    vectors.unlink()
    bg.save(other, vectors)
    assert "holds scores of other vectors" in told(capsys, *command, "math,he")
    assert run([*command, "math,he", "--force"]) == 0
    kept = bg.scores.ScoreStore.open(store).read().to_numpy()
    expected = bg.score(other, pairs=pairs, words=["math", "he"], measures="dbwa").to_numpy()
    assert np.array_equal(kept, expected, equal_nan=True)


def test_what_is_no_store_is_not_replaced_by_force(
    tmp_path: Path, vectors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("valuable")
    sentence = told(capsys, "score", vectors, "--words", "math,he", "--out", tmp_path / "mine", "--force")
    assert "is not a score store" in sentence
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "valuable"


def test_the_api_does_not_overwrite_its_input_either(vectors: Path, tmp_path: Path) -> None:
    before = vectors.read_bytes()
    link = tmp_path / "link.safetensors"
    link.symlink_to(vectors)
    for given in (vectors, str(vectors), bg.load(vectors), bg.mitigate(vectors, "hard", lexicon=[("he", "she")])):
        for out in (vectors, link):
            with pytest.raises(InputError, match="is an input"):
                bg.save(given, out)
    with pytest.raises(InputError, match="is an input"):
        bg.mitigation.mitigate_to_file(vectors, out=link)
    assert vectors.read_bytes() == before
    assert link.is_symlink()


def test_paths_are_found_wherever_they_are_typed(tmp_path: Path) -> None:
    file, other = tmp_path / "a.toml", tmp_path / "b.toml"
    file.write_text("")
    other.write_text("")
    for typed in (file, str(file), f"wiki={file}", f"sgns:wiki={file}", f"{file}:x", [other, f"plural,mine={file}"]):
        assert file in set(paths_in(typed)), typed
    assert list(paths_in("he,she")) == []
    assert list(paths_in("x\0y")) == []
    assert list(paths_in(3)) == []


def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_given: False)  # root may write everywhere
    with pytest.raises(InputError, match="may not be written to"):
        try_outputs([Output("out", "folder")], {"out": tmp_path}, force=False)
    with pytest.raises(InputError, match="may not be written to"):
        try_outputs([Output("out")], {"out": tmp_path / "x"}, force=False)
    try_outputs([Output("out", "continued")], {"out": "s3://bucket/study"}, force=False)  # fsspec's to say


def interrupted(monkeypatch: pytest.MonkeyPatch, place: str) -> Callable[..., Any]:
    def interrupt(*_given: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupt)
    return interrupt


def test_an_interrupt_says_what_is_kept_and_how_to_go_on(
    tmp_path: Path, vectors: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted(monkeypatch, "biasgauge.scores.engine.compute")
    assert run(["score", str(vectors), "--words", "math,he", "--out", str(tmp_path / "s")]) == 130
    expected = f"interrupted; what was finished is kept in {tmp_path / 's'}; the same command goes on from there\n"
    assert capsys.readouterr().err == f"biasgauge: {expected}"
    interrupted(monkeypatch, "biasgauge.audits.run.load_models")
    assert run(["audit", str(vectors), "--out", str(tmp_path / "a")]) == 130
    assert capsys.readouterr().err == "biasgauge: interrupted; nothing was written; the same command starts again\n"
    assert not (tmp_path / "a").exists()
    study = tmp_path / "mine.toml"
    study.write_text('[study]\nname = "mine"\n')
    interrupted(monkeypatch, "biasgauge.study.run.plan_study")
    assert run(["study", "run", str(study)]) == 130
    assert f"is kept in {tmp_path / 'mine-study'}; the same command goes on" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupted_audit_ends_without_waiting_for_its_threads(tmp_path: Path) -> None:
    program = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in the background, and inherited
        "from dataclasses import replace\n"
        "from biasgauge.audits import run\n"
        "from biasgauge.audits.part import ordered_parts\n"
        "def slow(context):\n"
        "    os.write(1, b'started\\n')\n"  # in one piece: parts run in several threads
        "    time.sleep(120)\n"
        "parts = {name: replace(part, measure=slow) for name, part in ordered_parts().items()}\n"
        "run.ordered_parts = lambda: parts\n"
        "from biasgauge.cli import main\n"
        f"main(['audit', '--out', {str(tmp_path / 'a')!r}])\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.decode() == "biasgauge: interrupted; nothing was written; the same command starts again\n"


def test_json_of_an_undefined_test_is_there_with_exit_code_2(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["weat", str(vectors), "--test", "weat7", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["effect_size"] is None


MISSING = "there is no such file"
NO_MODEL = "models are read from this machine only"


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("audit missing.bin", f"missing.bin: {MISSING}"),
        ("audit {v} missing.bin", f"missing.bin: {MISSING}"),
        ("audit --before {v} --after missing.bin", f"missing.bin: {MISSING}"),
        ("audit {v} --lexicon weat7 --lexicon missing.toml", f"missing.toml: {MISSING}"),
        ("audit {v} --language missing.toml", f"missing.toml: {MISSING}"),
        ("audit {v} --calibration missing.json", f"missing.json: {MISSING}"),
        ("audit --encoder missing", NO_MODEL),
        ("weat missing.bin --test weat7", f"missing.bin: {MISSING}"),
        ("weat {v} --x missing.txt --y he,him --a math,poetry --b she,her", f"missing.txt: {MISSING}"),
        ("compare --group a={v} --group b=missing --test weat7", f"missing: {MISSING}"),
        ("score missing.bin --words full --csv {out}", f"missing.bin: {MISSING}"),
        ("train missing.txt --out {folder}", f"missing.txt: {MISSING}"),
        ("encode missing --words he,she --out {folder}", NO_MODEL),
        ("reliability missing", "missing: is not a score store"),
        ("factors sgns:wiki=missing --out {out}", "missing: is not a score store"),
        ("robustness {v} --forms plural,mine=missing.toml", f"missing.toml: {MISSING}"),
        ("lexicons quality {v} --a missing.txt --b he,him", f"missing.txt: {MISSING}"),
        ("bayes missing.bin --lexicon religion", f"missing.bin: {MISSING}"),
        ("calibrate missing.txt", f"missing.txt: {MISSING}"),
        ("mitigate missing.bin --out {out}", f"missing.bin: {MISSING}"),
        ("balance missing.txt --lexicon weat7 --out {out}", f"missing.txt: {MISSING}"),
        ("extrinsic csv --data missing.csv --vectors {v}", f"missing.csv: {MISSING}"),
        ("corpus-bias missing.txt --test weat7", f"missing.txt: {MISSING}"),
        ("criterion {v} --truth missing.toml", f"missing.toml: {MISSING}"),
        ("corpus-bias influence missing.txt --test weat7", f"missing.txt: {MISSING}"),
        ("likelihood stereoset --data missing.json --predictions {v}", f"missing.json: {MISSING}"),
        ("likelihood crows-pairs --data {v} --model missing", NO_MODEL),
        ("likelihood missing --pairs {v}", NO_MODEL),
        ("correlate missing.csv --x a --y b", f"missing.csv: {MISSING}"),
        ("study show missing.toml --page {out}", f"missing.toml: {MISSING}"),
        ("reproduce weat --data missing", f"missing: {MISSING}"),
        ("lexicons check missing.toml", f"missing.toml: {MISSING}"),
        ("lexicons expand {v} missing.toml --out {out}", f"missing.toml: {MISSING}"),
        ("plan missing.bin --test weat7", f"missing.bin: {MISSING}"),
        ("workbench missing.bin --out {out}", f"missing.bin: {MISSING}"),
        ("lexicons build missing.toml --out {out}", f"missing.toml: {MISSING}"),
    ],
)  # fmt: skip
def test_an_input_that_is_not_there_is_told_before_an_output_that_is(
    typed: str,
    said: str,
    tmp_path: Path,
    vectors: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    taken, folder = tmp_path / "result.json", tmp_path / "biasgauge-audit"
    taken.write_text("{}")
    folder.mkdir()
    (folder / "report.html").write_text("an earlier one")
    (folder / "views.json").write_text("an earlier one")
    words = typed.format(v=vectors, out=taken, folder=folder).split()
    if words[0] != "audit" and "--out" not in words and "--page" not in words:
        words += ["--out", str(taken)]
    assert said in told(capsys, *words)


def test_what_only_ends_like_a_file_is_not_looked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = tmp_path / "points.csv"
    points.write_text("embedding,weat,gap\n" + "".join(f"e{row}.bin,{row},{row * row}\n" for row in range(8)))
    assert run(["correlate", str(points), "--x", "weat", "--y", "gap", "--drop", "embedding=7.txt"]) == 0
    capsys.readouterr()
    assert "missing: is not a folder of views" in told(capsys, "audit", "views:missing", "--out", tmp_path / "out")
