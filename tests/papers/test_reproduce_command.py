"""`biasgauge reproduce` as a user meets it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.cli.reproduce import reproduce
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path


def command(*words: str) -> None:
    reproduce(list(words), exit_on_error=False, print_error=False, result_action="return_value")


def test_json_holds_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    command("du2021", "--json", "--seed", "3")
    shown = json.loads(capsys.readouterr().out)
    assert {"rows", "missing", "settings", "warnings", "version", "counts"} <= shown.keys()
    for row in shown["rows"]:
        assert {"id", "published", "as_published", "corrected", "note"} <= row.keys()
    assert shown["settings"]["seed"] == 3
    assert shown["missing"][0]["name"] == "replicates"
    assert sum(count for kind in shown["counts"].values() for count in kind.values()) == len(shown["rows"])
    assert shown["counts"]["identity"]["agrees"] == 16
    assert {row["kind"] for row in shown["rows"]} == {"value", "identity", "range"}


def test_tables_fit_a_narrow_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command("goldfarbtarrant2021")
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert re.search(r"^art\.femini +8 +4 +8 +differs", shown, re.MULTILINE)
    assert "The paper's own rule gives 0 of 4 published values that can be checked here; 4" in shown
    assert "- 36 of 36 list lengths and sums of printed numbers are as printed" in shown
    assert "- spanish_lists.art.feminine differs: the words cut are feminine" in shown
    assert "Data that were not found" in shown
    assert "- hsd_en (for baselines, figure4b, unfiltered, figure3): " in shown
    assert "seraphinatarrant/embedding_bias" in shown


def test_alone_it_lists_the_papers(capsys: pytest.CaptureFixture[str]) -> None:
    command()
    shown = capsys.readouterr().out
    assert all(name in shown for name in registry.names("paper"))
    command("--json")
    listed = json.loads(capsys.readouterr().out)["papers"]
    assert [one["name"] for one in listed] == list(registry.names("paper"))
    assert all(one["numbers"] > 0 and one["citation"] for one in listed)


def test_page_and_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command("dobrzeniecka2023", "--part", "example", "--out", str(tmp_path / "page.html"))
    assert f"result: {tmp_path / 'page.html'}" in capsys.readouterr().out.replace("\n", "")
    assert {path.suffix for path in tmp_path.iterdir()} == {".html", ".json", ".csv"}
    assert [row["id"] for row in json.loads((tmp_path / "page.json").read_text())["rows"]] == ["example.weat"]


def test_mistakes_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="did you mean 'du2021'"):
        command("du2012")
    with pytest.raises(ParameterError, match="did you mean 'lists'"):
        command("du2021", "--part", "list")
    with pytest.raises(InputError, match="there is no such file"):
        command("du2021", "--data", str(tmp_path / "nowhere"))
    for option in ("--data", "--replicates"):
        with pytest.raises(ParameterError, match="take a paper"):
            command(option, str(tmp_path))
