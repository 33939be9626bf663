"""Output under any encoding: plain replacements where characters are lacking, JSON unchanged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from biasgauge.core.estimate import Estimate
from biasgauge.results import Column, Summary, Table
from biasgauge.results.encodings import shown_as
from biasgauge.results.terminal import print_summary
from biasgauge.results.wording import p_phrase, p_text

if TYPE_CHECKING:
    from pathlib import Path

ENCODINGS = ("ascii", "cp1252", "latin-1", "cp437")


def command(encoding: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", **more}
    program = [sys.executable, "-m", "biasgauge", *arguments]
    return subprocess.run(program, capture_output=True, check=False, env=environment)


@pytest.mark.parametrize(
    "encoding", [*ENCODINGS[:2], *(pytest.param(encoding, marks=pytest.mark.slow) for encoding in ENCODINGS[2:])]
)
def test_a_terminal_that_lacks_characters_gets_plain_ones(encoding: str, tmp_path: Path) -> None:
    test = ["weat", "--x", "math,poetry", "--y", "dance,art", "--a", "he,him", "--b", "she,her"]
    vectors = tmp_path / "v.txt"
    words = ["math", "poetry", "dance", "art", "he", "him", "she", "her"]
    vectors.write_text("".join(f"{word} {index} {index**2 % 7} -{index}.5\n" for index, word in enumerate(words, 1)))
    for words in (
        ["--help"],
        ["reliability", "--help"],
        ["simulate-null", "--simulations", "50"],
        ["lexicons", "list"],
    ):
        done = command(encoding, *words)
        assert done.returncode == 0, done.stderr
        shown = done.stdout.decode(encoding)
        assert all(len(line) <= 80 for line in shown.splitlines()) or words[0] == "lexicons"
    done = command(encoding, test[0], str(vectors), *test[1:])
    assert (done.returncode, done.stderr) == (0, b"")
    assert "-" in done.stdout.decode(encoding)


def test_the_c_locale_is_no_defect() -> None:
    done = command("", "simulate-null", "--simulations", "50", LC_ALL="C", LANG="C", PYTHONCOERCECLOCALE="0")
    assert (done.returncode, done.stderr) == (0, b"")


def test_words_that_cannot_be_shown_are_told_by_their_numbers(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('kind = "words"\ntitle = "медсестра − врач"\nwords = ["медсестра"]\n', encoding="utf-8")
    done = command("ascii", "lexicons", "show", str(own))
    assert done.returncode == 0
    assert b"\\u043c\\u0435\\u0434" in done.stdout
    as_json = command("ascii", "lexicons", "show", str(own), "--json")
    assert json.loads(as_json.stdout)["lexicon"]["words"] == ["медсестра"]


def test_an_error_with_such_a_word_is_a_sentence_too(tmp_path: Path) -> None:
    done = command("ascii", "weat", str(tmp_path / "нет.bin"), "--test", "weat7")
    assert done.returncode == 2
    assert done.stderr.startswith(b"biasgauge: ")
    assert done.stderr.count(b"\n") == 1


def test_lines_keep_to_the_width_after_replacement() -> None:
    raw = BytesIO()
    stream = TextIOWrapper(raw, encoding="ascii", errors="strict", newline="\n")
    screen = Console(file=stream, width=40, color_system=None)
    table = Table.of("t", "± × ≥ → " * 8, ["name → a", Column("value", "estimate")], [
        ("a very long name of a model … with more", Estimate(value=-0.5, low=-1.0, high=-0.25)),
        ("short", Estimate(value=0.5, low=0.25, high=1.0)),
    ])  # fmt: skip
    print_summary(screen, Summary("x", "Scores − all of them → here ≥ there", tables=(table,), warnings=("±1",)))
    stream.flush()
    lines = raw.getvalue().decode("ascii").splitlines()
    assert max(map(len, lines)) <= 40
    assert "Scores - all of them -> here >= there" in " ".join(lines)
    assert any(line.endswith("-0.50 [-1.00, -0.25]") for line in lines)  # the number is whole, the name gives way


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        ("−1 ≥ −2 → 3 × 4", "ascii", "-1 >= -2 -> 3 x 4"),
        ("−1 ≥ −2 → 3 × 4", "latin-1", "-1 >= -2 -> 3 × 4"),
        ("−1 ≥ −2", "utf-8", "−1 ≥ −2"),
        ("–…±", "cp1252", "–…±"),
        ("ж", "ascii", "\\u0436"),
        ("x", "no such encoding", "x"),
    ],
)
def test_replacements(text: str, encoding: str, shown: str) -> None:
    assert shown_as(text, encoding) == shown


@pytest.mark.parametrize(
    ("p", "cell", "phrase"),
    [
        (0.0, "< .001", "p < .001"), (0.000999, "< .001", "p < .001"), (0.001, ".001", "p = .001"),
        (0.0204, ".020", "p = .020"), (0.5, ".500", "p = .500"), (0.999, ".999", "p = .999"),
        (0.9996, "> .999", "p > .999"), (1.0, "1", "p = 1"),
    ],
)  # fmt: skip
def test_one_way_to_write_p(p: float, cell: str, phrase: str) -> None:
    assert (p_text(p), p_phrase(p)) == (cell, phrase)


def test_an_unknown_p() -> None:
    assert p_phrase(None) == "p unknown"
