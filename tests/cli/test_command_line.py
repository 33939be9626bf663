"""The command as a user meets it: output, exit codes, sentences."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

import biasgauge as bg
from biasgauge import registry
from biasgauge.cli.command import Options
from biasgauge.cli.entry import GROUPS, MOVED, app, run
from biasgauge.cli.screen import console
from biasgauge.results.names import test_name as display_name
from biasgauge.results.terms import terms_in

if TYPE_CHECKING:
    from pathlib import Path

TESTS = registry.everything("association_test")

WORDS = ("math", "poetry", "he", "she", "Einstein")


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    matrix = np.random.default_rng(0).standard_normal((len(WORDS), 4)).astype(np.float32)
    return bg.save(bg.Embedding(WORDS, matrix), tmp_path / "vectors.bin")


@pytest.fixture
def own_lexicon(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text('kind = "pairs"\nends = ["male", "female"]\npairs = [["he", "she"], ["him", "her"]]\n')
    return path


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def command(*arguments: str) -> Done:
    """Run the command in this process, which has imported what it needs."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = run(list(arguments))
    return Done(code, out.getvalue(), err.getvalue())


def all_commands() -> list[tuple[str, ...]]:
    parts = ("list", "show", "check", "build", "expand", "quality", "subspace", "seed-bank")
    return [
        ("audit",),
        ("explain",),
        ("weat",),
        ("compare",),
        ("regress",),
        ("score",),
        ("train",),
        ("encode",),
        ("reliability",),
        ("factors",),
        ("plan",),
        ("workbench",),
        ("robustness",),
        ("posterior",),
        ("bayes",),
        ("simulate-null",),
        ("mitigate",),
        ("balance",),
        ("extrinsic",),
        ("points",),
        ("correlate",),
        ("calibrate",),
        ("corpus-bias",),
        ("criterion",),
        ("corpus-bias", "influence"),
        ("likelihood",),
        ("likelihood", "stereoset"),
        ("likelihood", "crows-pairs"),
        ("study",),
        *(("study", part) for part in ("init", "preregister", "plan", "run", "show")),
        ("reproduce",),
        ("convert",),
        ("formats",),
        ("lexicons",),
        *(("lexicons", part) for part in parts),
    ]


def test_the_list_of_commands_is_complete() -> None:
    names = {name for name in app if not name.startswith("-")}
    assert {words[0] for words in all_commands()} == names


def test_help_groups_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"─ {title} ─") for title in GROUPS]
    assert places == sorted(places)
    start = shown[places[0] : places[1]]
    names = [line.split()[1] for line in start.splitlines() if line[2:3].isalpha() and line.startswith("│")]
    assert names == ["audit", "lexicons", "plan", "workbench", "train", "compare", "regress", "corpus-bias", "study"]


@pytest.mark.parametrize("name", MOVED)
def test_an_old_name_names_the_new_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*name.split(), "vectors.bin", "--json"]) == 2
    sentence = capsys.readouterr().err
    assert f"{name!r} is now {MOVED[name]!r}" in sentence
    assert run(sentence.partition("Try: biasgauge ")[2].split()) == 0  # the remedy


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_rare_options_are_shown_by_help_all(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--help"]) == 0
    usual = capsys.readouterr().out
    assert run([*words, "--help-all"]) == 0
    everything = capsys.readouterr().out
    assert "--latex" not in usual
    if "see --help-all" in usual:
        assert "─ Rare options ─" in everything
        assert len(everything) > len(usual)
    else:
        assert everything == usual


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_every_help_has_an_example_of_itself(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Examples:" in shown
    assert f"biasgauge {' '.join(words)}" in shown.split("Examples:")[1]
    assert all(len(line) <= 80 for line in shown.splitlines())
    unexplained = [term.name for term in terms_in([shown]) if f"  {term.name}: " not in shown]
    assert unexplained == []  # each term has its line at the end


@pytest.mark.parametrize(
    "words", [words for words in all_commands() if words not in {("lexicons",), ("study",)}], ids=" ".join
)
def test_every_command_takes_the_common_options(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    run([*words, "--help"])
    shown = capsys.readouterr().out
    assert [option for option in ("--json", "--seed", "--quiet", "--debug") if option not in shown] == []


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == bg.__version__


@pytest.mark.usefixtures("quick_audits")
def test_audit_in_json_on_stdout_alone(vectors: Path, tmp_path: Path) -> None:
    done = command("audit", str(vectors), "--json", "--seed", "7", "--out", str(tmp_path / "out"))
    assert done.returncode == 0
    found = json.loads(done.stdout)
    weat7 = next(one for one in found["lexicons"] if one["lexicon"] == "weat7")
    assert (weat7["verdict"], weat7["coverage"]["asked"], weat7["coverage"]["found"]) == ("undefined", 32, 4)
    assert found["settings"]["seed"] == 7
    assert found["settings"]["min_coverage"] == 0.8
    assert found["version"] == bg.__version__
    assert found["coverage"]["lost"]["weat7.x"] == list(bg.lexicon("weat7").sets["x"][1:])  # all but "math"
    assert found["page"] == str(tmp_path / "out" / "report.html")
    assert "page: " in done.stderr


@pytest.mark.usefixtures("quick_audits")
def test_quiet_json_says_nothing_else(vectors: Path, tmp_path: Path) -> None:
    done = command("audit", str(vectors), "--json", "--quiet", "--out", str(tmp_path / "out"))
    assert done.stderr == ""
    assert json.loads(done.stdout)["models"][0]["words"] == len(WORDS)


@pytest.mark.usefixtures("quick_audits")
def test_own_lexicon_works_where_a_name_does(vectors: Path, own_lexicon: Path, tmp_path: Path) -> None:
    done = command("audit", str(vectors), "--lexicon", str(own_lexicon), "--json", "--out", str(tmp_path))
    verdict = json.loads(done.stdout)["lexicons"][0]
    assert verdict["lexicon"] == "own"
    assert verdict["coverage"]["lost"] == {"male": ["him"], "female": ["her"]}


@pytest.mark.usefixtures("quick_audits")
def test_audit_shows_bias_with_interval_and_p(tmp_path: Path) -> None:
    shown = command("audit", "--lexicon", "weat7", "--lexicon", "race", "--out", str(tmp_path)).stdout
    content = json.loads((tmp_path / "report.json").read_text())
    found = content["bias"]
    assert [(one["name"], one["test"]) for one in found] == [("weat7", "weat")] * 4 + [("race", "mac")] * 4
    expected = bg.weat(bg.vectors.load_default_replicates()[0], "weat7", alternative="two-sided", interval=None)
    assert expected.contrast is not None
    assert found[0]["effect_size"] == expected.effect_size
    assert (found[0]["p_value"], found[0]["p_method"]) == (expected.p_value, "exact")
    assert found[0]["contrast"]["low"] == expected.contrast.low
    assert found[0]["p_attributes"] == expected.p_attributes
    assert "math/arts, male/female terms" in shown
    assert [verdict["question"] for verdict in content["verdicts"]] == ["weat7", "race"]


WEAT7 = ("--x", "math,algebra", "--y", "poetry,dance", "--a", "he,him", "--b", "she,her")


def test_weat_as_json_holds_the_contract(tmp_path: Path) -> None:
    path = bg.save(bg.vectors.load_default(), tmp_path / "vectors.bin")
    done = command("weat", str(path), *WEAT7, "--alternative", "two-sided", "--json")
    found = json.loads(done.stdout)
    sets = {"x": ["math", "algebra"], "y": ["poetry", "dance"], "a": ["he", "him"], "b": ["she", "her"]}
    expected = bg.weat(path, x=sets["x"], y=sets["y"], a=sets["a"], b=sets["b"], alternative="two-sided")
    assert (found["effect_size"], found["statistic"]) == (expected.effect_size, expected.statistic)
    assert (found["p_value"], found["p_method"], found["alternative"]) == (expected.p_value, "exact", "two-sided")
    assert {"low", "high", "level", "method"} <= found["interval"].keys()
    assert found["coverage"] == {"asked": 8, "found": 8, "lost": {}}
    assert {"settings", "warnings", "version"} <= found.keys()


def test_weat_takes_files_of_words_and_sets_of_lexicons(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("math\n\nalgebra\n")
    path = bg.save(bg.vectors.load_default(), tmp_path / "vectors.bin")
    by_file = command("weat", str(path), *WEAT7[2:], "--x", str(tmp_path / "x.txt"), "--json")
    by_words = command("weat", str(path), *WEAT7, "--json")
    assert json.loads(by_file.stdout)["effect_size"] == json.loads(by_words.stdout)["effect_size"]
    named = command("weat", str(path), "--x", "weat7:x", "--y", "weat7:y", "--a", "weat7:a", "--b", "weat7:b", "--json")
    assert json.loads(named.stdout)["effect_size"] == bg.weat(path, "weat7").effect_size


def test_an_undefined_weat_is_null_with_a_reason(vectors: Path) -> None:
    done = command("weat", str(vectors), "--test", "weat7", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 2
    assert found["effect_size"] is None
    assert found["reason"].startswith("fewer than 80 % of the words found: x 1 of 8")
    assert "undefined: fewer than 80 %" in command("weat", str(vectors), "--test", "weat7").stdout


def test_every_kind_of_association_test_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bg.save(bg.vectors.load_default(), tmp_path / "vectors.bin")
    for kind in TESTS:
        assert run(["weat", str(path), *WEAT7, "--kind", kind]) == 0
        assert f"{display_name(kind)} given words" in capsys.readouterr().out


def test_score_writes_a_store_and_says_what_is_in_it(tmp_path: Path) -> None:
    path = bg.save(bg.vectors.load_default(limit=3000), tmp_path / "vectors.bin")
    words = [
        "score",
        str(path),
        "--words",
        "doctor,president,zzz",
        "--pairs",
        "bolukbasi2016",
        "--out",
        str(tmp_path / "s"),
    ]
    done = command(*words, "--case-fallback", "--json")
    found = json.loads(done.stdout)
    fallback = bg.core.WordPolicy(case="fallback")
    expected = bg.score(path, pairs="bolukbasi2016", words=["doctor", "president", "zzz"], policy=fallback)
    assert found["shape"] == {"measure": 3, "pair": 10, "word": 3, "model": 1}
    assert found["undefined"] == expected.count_undefined()
    assert found["coverage"]["vectors"]["lost"]["words"] == ["zzz"]
    stored = bg.scores.ScoreStore.open(found["path"]).read()
    assert np.array_equal(stored.values, expected.values, equal_nan=True)
    rows = {(row["measure"], row["word"]): row for row in found["scores"]}
    assert rows["dbwa", "zzz"]["mean"] is None
    doctor = expected.to_numpy()[0, :, 0, 0]
    doctor = doctor[~np.isnan(doctor)]
    assert rows["dbwa", "doctor"]["mean"] == pytest.approx(float(doctor.mean()), abs=1e-7)
    assert rows["dbwa", "doctor"]["agree"] == float((np.sign(doctor) == np.sign(doctor.mean())).mean())
    shown = command(*words, "--case-fallback").stdout
    assert "vectors: not in the vocabulary (OOV), words: zzz" in shown
    assert "mean [95 % interval]" in shown


def test_score_into_a_store_with_other_settings_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bg.save(bg.vectors.load_default(limit=500), tmp_path / "vectors.bin")
    words = ["score", str(path), "--measures", "dbwa", "--out", str(tmp_path / "s"), "--words"]
    assert run([*words, "men,women"]) == 0
    assert run([*words, "men,man"]) == 2
    assert "holds scores with other words" in capsys.readouterr().err


def test_lexicons_list_as_json() -> None:
    rows = json.loads(command("lexicons", "list", "--kind", "pairs", "--json").stdout)["lexicons"]
    du2021 = next(row for row in rows if row["name"] == "du2021")
    assert {row["kind"] for row in rows} == {"pairs"}
    assert "Du" in du2021["citation"]
    assert du2021["words"] == 44  # 23 pairs, in which "his" and "her" stand twice


def test_lexicons_show_prints_source_beware_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lexicons", "show", "weat7"]) == 0
    shown = capsys.readouterr().out
    assert "Caliskan" in shown
    assert "beware" in shown
    assert "algebra" in shown


def test_lexicons_check_lists_lost_words(vectors: Path, own_lexicon: Path) -> None:
    done = command("lexicons", "check", str(own_lexicon), "--vectors", str(vectors), "--json")
    checked = json.loads(done.stdout)["checks"][0]
    assert checked["coverage"] == {"asked": 4, "found": 2, "lost": {"male": ["him"], "female": ["her"]}}


def test_lexicons_check_leaves_with_2_when_a_lexicon_cannot_be_used(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('kind = "pairs"\npairs = [["he", "he"]]\n')
    done = command("lexicons", "check", str(bad))
    assert done.returncode == 2
    assert "not usable" in done.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["audit", "nowhere.bin"], "nowhere.bin: there is no such file"),
        (["audit", "--lexicon", "weat77"], "nearest: weat7"),
        (["audit", "--min-coverage", "2"], "from 0 to 1. Got 2.0"),
        (["audit", "--limit", "0"], "at least 1. Got 0"),
        (["audit", "--language", "xx"], "(de, en, es, it)"),
        (["audit", "--limitt", "3"], "Did you mean --limit? Try: biasgauge audit --help"),
        (["audit", "--limit", "many"], "Try: biasgauge audit --help"),
        (["odit"], "Try: biasgauge --help"),
        (
            ["weat", "v.txt", "weat7"],
            "weat7: not expected here; an option takes one value",
        ),
        (["lexicons", "show", "wait7"], "weat7"),
        (["weat", "nowhere.bin", "--test", "weat7"], "nowhere.bin: there is no such file"),
        (["weat"], "Try: biasgauge weat --help"),
        (["score", "nowhere.bin"], "nowhere.bin: there is no such file"),
        (["lexicons", "show"], "Try: biasgauge lexicons show --help"),
    ],
    ids=" ".join,
)
def test_a_mistake_gets_one_sentence_and_exit_code_2(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words) == 2
    printed = capsys.readouterr()
    assert expected in printed.err
    assert printed.err.startswith("biasgauge: ")
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        *([*command.split(), place, *more] for place in (".", "") for command, *more in (
            ("audit",), ("weat", "--test", "weat7"), ("score", "--pairs", "du2021", "--words", "occ16"),
            ("robustness",), ("lexicons quality", "--pairs", "weat7"), ("bayes", "--lexicon", "religion"),
            ("mitigate",), ("criterion",),
        )),
        ["study", "run", "."],
        ["study", "run", ""],
        ["study", "init", "a\0b"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_the_folder_itself_and_names_of_no_file_are_mistakes_of_the_user(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They were internal errors: the name of a recipe beside "." was asked for."""
    monkeypatch.chdir(tmp_path)
    assert run(words) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "internal error" not in told


def test_a_folder_that_cannot_be_made_is_the_users_to_mend(
    vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("a file")
    assert run(["audit", str(vectors), "--lexicon", "weat7", "--out", str(tmp_path / "taken")]) == 2
    assert f"biasgauge: {tmp_path / 'taken'}: is a file, not a folder" in capsys.readouterr().err


def test_a_broken_file_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.txt"
    broken.write_text("cat 0.1 0.2\ndog 0.1 zero\n")
    assert run(["audit", str(broken), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith(f"biasgauge: {broken}, line 2: ")


def test_a_defect_of_ours_is_exit_code_1_and_debug_shows_where(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_group: str) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("biasgauge.lexicons.listing.registry.everything", fail)
    assert run(["lexicons", "list"]) == 1
    plain = capsys.readouterr().err
    assert (
        plain
        == "biasgauge: internal error, please report it: ZeroDivisionError: planted (--debug shows the traceback)\n"
    )
    assert run(["lexicons", "list", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_group: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("biasgauge.lexicons.listing.registry.everything", interrupt)
    assert run(["lexicons", "list"]) == 130


def test_a_reader_that_stops_early_is_no_defect() -> None:
    shell = f"{sys.executable} -m biasgauge lexicons show google10k --words | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["/bin/bash", "-c", shell], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_words_that_look_like_markup_are_printed_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.toml"
    path.write_text('kind = "words"\ntitle = "[bold]x[/bold]"\nwords = ["[red]", "[/nothing]", "\\\\[b]"]\n')
    assert run(["lexicons", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "[bold]x[/bold]" in shown
    assert "[red], [/nothing], \\[b]" in shown


def test_output_is_the_same_whatever_the_hash_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-m", "biasgauge", "lexicons", "check", "--json"],
            capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(outputs) == 1


def test_colons_around_a_word_are_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    console(Options()).print("weat7:b: no objection", markup=False)
    assert "weat7:b: no objection" in capsys.readouterr().out
