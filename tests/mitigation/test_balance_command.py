"""`biasgauge balance` and `biasgauge lexicons expand` as a user meets them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import biasgauge as bg
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path

LINES = ["his salary"] * 40 + ["her salary"] * 10 + ["her home"] * 5 + ["his home"] * 9 + ["something else"] * 936


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def asked(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert run([*map(str, words), "--json", "--force"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert run([*map(str, words)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1
    return shown.err


def test_json_holds_the_contract(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.txt"
    found = asked(capsys, "balance", corpus, "--lexicon", "weat6b", "--degree", "0.5", "--out", out, "--seed", "4")
    assert (found["path"], found["changed"]) == (str(out), 15)
    assert found["lines"] == {"before": 1000, "after": 985}
    assert {one["name"]: one["removed"] for one in found["classes"]} == {
        "pro 1": 15, "pro 2": 0, "anti 1": 0, "anti 2": 0, "mixed": 0, "neutral": 0,
    }  # fmt: skip
    assert (found["settings"]["seed"], found["settings"]["random_state"], found["settings"]["degree"]) == (4, 4, 0.5)
    assert found["settings"]["tokenizer"]["name"] == "words"
    assert found["warnings"] == ["pro 2 is rarer than anti 2 already (5 lines); nothing of it was removed."]
    assert {"version", "coverage"} <= found.keys()
    by_hand = bg.balance(corpus, "weat6b", out=tmp_path / "again.txt", degree=0.5, random_state=4)
    assert by_hand.to_dict()["classes"] == found["classes"]
    assert (tmp_path / "again.txt").read_bytes() == out.read_bytes()


def test_tables_for_a_person(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.txt"
    words = [
        "balance",
        str(corpus),
        "--lexicon",
        "weat6b",
        "--degree",
        "max",
        "--max-removed",
        "0.02",
        "--out",
        str(out),
    ]
    assert run(words) == 0
    shown = capsys.readouterr().out
    assert "note: Only 20 of the 45 lines that the degree asks for were removed" in shown.replace("\n", " ")
    assert re.search(r"pro 1 +40 +18 +22 +male terms \+ career", shown)
    assert f"20 of 1,000 lines removed (2.00 %): {out}" in " ".join(shown.split())


def test_sets_as_words_and_the_published_rule(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = ["--x", "his,he", "--y", "her,she", "--a", "weat6b:a", "--b", "home,family"]
    found = asked(capsys, "balance", corpus, *sets, "--as-published", "--out", tmp_path / "out")
    assert found["changed"] == 30
    assert found["limit"] is None
    assert (tmp_path / "out").read_text(encoding="utf-8").split("\n")[:-1] == LINES[:10] + LINES[40:]
    over = asked(capsys, "balance", corpus, *sets, "--direction", "overbias", "--out", tmp_path / "out")
    assert over["changed"] == 19


def test_mistakes_are_one_sentence(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", tmp_path / "out"]
    assert "Give either --lexicon, or all of --x, --y, --a and --b." in refused(capsys, "balance", corpus, *out)
    assert "Give either" in refused(capsys, "balance", corpus, *out, "--lexicon", "weat7", "--x", "a,b")
    assert "--degree takes a number from 0 to 1, or max. Got 'full'." in refused(
        capsys, "balance", corpus, *out, "--lexicon", "weat7", "--degree", "full"
    )
    told = refused(capsys, "balance", corpus, "--lexicon", "weat7", "--out", corpus)
    assert "is an input, which is never overwritten" in told
    assert "there is no such file" in refused(capsys, "balance", tmp_path / "no", "--lexicon", "weat7", *out)
    assert "balancing needs kind 'test'" in refused(capsys, "balance", corpus, "--lexicon", "bsri", *out)
    assert "has no column 'text'" in refused(
        capsys, "balance", corpus, "--lexicon", "weat7", "--layout", "tsv", "--field", "text", *out
    )
    assert not (tmp_path / "out").exists()


def test_expand_writes_a_lexicon_that_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = bg.save(bg.vectors.load_default(), tmp_path / "vectors.bin")
    out = tmp_path / "weat7_large.toml"
    words = ["lexicons", "expand", "weat7", vectors, "-n", "5", "--exclude", "mathematics,wife", "--out", out]
    found = asked(capsys, *words)
    assert found["path"] == str(out)
    assert found["lexicon"]["name"] == "weat7_large"
    assert len(found["added"]) == 20
    assert not {"mathematics", "wife"} & {one["word"] for one in found["added"]}
    assert found["coverage"] == {"asked": 32, "found": 32, "lost": {}}
    assert asked(capsys, "lexicons", "check", out)["checks"][0]["ok"] is True
    assert bg.lexicon(out).checksum == found["lexicon"]["checksum"]
    assert run([*map(str, words), "--force"]) == 0
    shown = capsys.readouterr().out
    assert "x (5 added)" in shown
    assert "mathematical" in shown
    assert "only lexicons of kind test or sets can be expanded" in refused(
        capsys, "lexicons", "expand", "occ16", vectors, "--out", tmp_path / "other.toml"
    )
