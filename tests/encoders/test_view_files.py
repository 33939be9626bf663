"""Views in a folder, and the command that writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.errors import InputError
from biasgauge.io.json_file import manifest_text
from biasgauge.vectors.encoders import encode_to_folder, open_views
from biasgauge.vectors.encoders.view_files import save_views

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch")
pytest.importorskip("transformers")

WORDS = ["he", "she", "man", "woman", "math", "art", "日本"]


def test_what_was_written_is_what_encode_gives(tiny: Path, tmp_path: Path) -> None:
    written = encode_to_folder(tiny, WORDS, tmp_path / "views", ["{}", "The {}."], pooling="all")
    assert len(written.views) == 30
    headline = written.summary().headline
    assert headline == "30 views of 6 words (3 layers × 5 poolings × 2 templates)"
    opened, direct = open_views(tmp_path / "views"), bg.encode(tiny, WORDS, ["{}", "The {}."], pooling="all")
    assert opened.facets.keys() == direct.facets.keys()
    for view in direct:
        same = opened.select(**view.facets)
        assert same.name == view.name
        assert same.words == view.words
        assert same.dropped == view.dropped == {"日本": "the tokenizer does not know it"}
        np.testing.assert_array_equal(same.vectors, view.vectors)


def test_a_folder_of_views_is_a_list_of_models_everywhere(tiny: Path, tmp_path: Path) -> None:
    encode_to_folder(tiny, WORDS, tmp_path, ["{}", "The {}."], layers=[0, 2])
    scores = bg.score(
        f"views:{tmp_path}", pairs=[("he", "she"), ("man", "woman")], words=["math", "art"], measures="dbwa"
    )
    assert len(scores.models) == 4
    assert bg.analyses.reliability.variance_components(scores).facets == {
        "word": 2,
        "pair": 2,
        "layer": 2,
        "template": 2,
    }


def test_damage_is_found_when_views_are_opened(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="biasgauge"):
        open_views(tmp_path)
    written = encode_to_folder(tiny, ["he"], tmp_path, "bare", layers=[0, 1])
    first, second = (tmp_path / view.path for view in written.views)
    whole = first.read_bytes()
    for altered in (whole[:-8], whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:]):
        first.write_bytes(altered)
        with pytest.raises(InputError, match="checksum"):
            open_views(tmp_path)
    manifest = json.loads((tmp_path / "views.json").read_text())
    (tmp_path / "views.json").write_text(
        json.dumps({key: manifest[key] for key in manifest if not key.endswith("sha256")})
    )
    first.write_bytes(whole[:-8])  # folders of earlier versions have no checksums: sizes are compared
    with pytest.raises(InputError, match="missing"):
        open_views(tmp_path)
    first.write_bytes(whole)
    assert len(open_views(tmp_path)) == 2
    second.unlink()
    with pytest.raises(InputError, match="missing"):
        open_views(tmp_path)
    for hostile in ("a" * 300, "a\0b"):
        manifest["views"][0]["path"] = hostile
        (tmp_path / "views.json").write_text(manifest_text(manifest))
        with pytest.raises(InputError, match="cannot be the name of a file"):
            open_views(tmp_path)
    (tmp_path / "views.json").write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        open_views(tmp_path)


def test_the_command_writes_views_and_says_so_in_json(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["encode", str(tiny), "--words", "he,she", "--words", "math,art", "--templates", "bare", "--json"]
    typed += ["--templates", "This is {}.", "--layers", "0,2", "--pooling", "mean,cls", "--out", str(tmp_path / "v")]
    assert run(typed) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["views"]) == 8
    assert {"layer", "pooling", "template", "path"} <= set(found["views"][0])
    assert {"settings", "warnings", "version"} <= set(found)
    assert open_views(tmp_path / "v").select(layer=2, pooling="cls", template="{}").words == (
        "he",
        "she",
        "math",
        "art",
    )
    assert run(typed) == 2
    assert "is there already" in capsys.readouterr().err
    assert run([*typed, "--force"]) == 0


def test_the_command_draws_contexts_from_a_text(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("The man is here.\nA man.\nShe is a nurse.\n")
    out = tmp_path / "v"
    typed = ["encode", str(tiny), "--words", "man,nurse", "--corpus", str(tmp_path / "text.txt"), "--draws", "2"]
    assert run([*typed, "--layers", "2", "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [view["context"] for view in found["views"]] == [1, 2]
    assert "1 of 2 words occur fewer than 2 times" in found["warnings"][0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "--words", "he,she"], "never from a hub"),
        (["{tiny}", "--words", "he,she", "--layers", "two"], "--layers takes all, or numbers"),
        (["{tiny}", "--words", "he,she", "--pooling", "max"], "must be 'all' or some of mean"),
        (["{tiny}", "--words", "he,she", "--templates", "no gap"], "Templates must be a set that ships"),
        (["{tiny}", "--words", "日本,東京"], "no word can be encoded"),
        (["{tiny}", "--words", "he,she", "--corpus", "no.txt"], "there is no such file"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    typed = [argument.format(tiny=tiny) if argument == "{tiny}" else argument for argument in arguments]
    assert run(["encode", *typed, "--out", str(tmp_path / "v")]) == 2
    said = capsys.readouterr().err.strip()
    assert sentence in said
    assert "\n" not in said


def test_a_list_of_the_users_own_stays(tmp_path: Path) -> None:
    """Whatever was called views.json in the folder went before the first view was written."""
    facets: dict[str, str | int] = {"checkpoint": "c", "layer": 0, "pooling": "mean", "template": "", "context": 0}
    view = bg.Embedding(("a", "b"), np.eye(2, 3, dtype=np.float32), name="v", facets=facets)
    listed = tmp_path / "views.json"
    listed.write_text('["mine"]')
    with pytest.raises(InputError, match=r"views\.json: is not a list of views"):
        save_views([view], tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"views.json": '["mine"]'}
    listed.unlink()
    save_views([view], tmp_path)
    sound = listed.read_bytes()
    for place in range(0, len(sound), 7):  # one of ours, however damaged, is written anew
        listed.write_bytes(sound[:place] + bytes([sound[place] ^ 0x10]) + sound[place + 1 :])
        save_views([view], tmp_path)
        assert listed.read_bytes() == sound
