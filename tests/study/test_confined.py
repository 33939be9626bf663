"""What a study from somebody else may read: the folder that it is in, and what is allowed on the command line."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from biasgauge.cli.entry import run
from biasgauge.errors import InputError
from biasgauge.study import read_study, run_study
from biasgauge.vectors import save

STUDY = """
[study]
name = "small"
[vectors.v]
path = {vectors}
[analyses.a]
kind = "weat"
of = ["v"]
settings = {{ test = {test}, min_coverage = 0 }}
"""
TEST = """
name = "t"
kind = "test"
x = { name = "x", words = ["a", "b"] }
y = { name = "y", words = ["c", "d"] }
a = { name = "a", words = ["e", "f"] }
b = { name = "b", words = ["g", "h"] }
"""
OUTSIDE = r"leads out of the folder of the study; where you trust the study, allow it: --allow "


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder with a study, and another with vectors and a lexicon."""
    theirs, mine = tmp_path / "theirs", tmp_path / "mine"
    for folder in (theirs, mine):
        folder.mkdir()
        vectors = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
        save((list("abcdefgh"), vectors), folder / "v.safetensors")
        (folder / "t.toml").write_text(TEST)
    return theirs, mine


def write(folder: Path, vectors: str = '"v.safetensors"', test: str = '"t.toml"') -> Path:
    (folder / "study.toml").write_text(STUDY.format(vectors=vectors, test=test))
    return folder / "study.toml"


def test_a_study_reads_its_own_folder(folders: tuple[Path, Path]) -> None:
    path = write(folders[0])
    assert run_study(path, workers=0).failed == 0


@pytest.mark.parametrize("vectors", ['"../mine/v.safetensors"', '"../*/v.safetensors"', '"{mine}/v.safetensors"'])
def test_paths_that_lead_out_are_refused(vectors: str, folders: tuple[Path, Path]) -> None:
    theirs, mine = folders
    path = write(theirs, vectors.format(mine=mine))
    with pytest.raises(InputError, match=rf"line 5: .*v\.safetensors' {OUTSIDE}{mine}$"):
        read_study(path)
    with pytest.raises(InputError, match=OUTSIDE):
        run_study(path, workers=0)
    assert not (theirs / "study-study").exists()


@pytest.mark.parametrize("test", ['"../mine/t.toml"', '"{mine}/t.toml"'])
def test_lexicons_that_lie_elsewhere_are_refused(test: str, folders: tuple[Path, Path]) -> None:
    path = write(folders[0], test=test.format(mine=folders[1]))
    with pytest.raises(InputError, match=rf"t\.toml' {OUTSIDE}"):
        read_study(path)


def test_links_that_lead_out_are_refused(folders: tuple[Path, Path]) -> None:
    theirs, mine = folders
    (theirs / "linked.safetensors").symlink_to(mine / "v.safetensors")
    with pytest.raises(InputError, match=rf"'linked\.safetensors' {OUTSIDE}{mine}$"):
        read_study(write(theirs, '"linked.safetensors"'))
    (theirs / "texts").mkdir()
    (theirs / "texts" / "a.txt").symlink_to(mine / "t.toml")
    text = '[study]\nname = "s"\n[corpora.c]\npath = "texts"\n[models.m]\nseeds = 1\n'
    (theirs / "study.toml").write_text(text)
    with pytest.raises(InputError, match=rf"'texts/a\.txt' {OUTSIDE}"):
        read_study(theirs / "study.toml")


def test_what_is_allowed_is_read(folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    theirs, mine = folders
    path = write(theirs, '"../mine/v.safetensors"')
    assert run(["study", "run", str(path), "--workers", "0", "--quiet"]) == 2
    assert "--allow" in capsys.readouterr().err
    for name in ("plan", "show", "run"):
        more = ["--workers", "0"] if name == "run" else []
        assert run(["study", name, str(path), *more, "--allow", str(mine), "--quiet"]) == 0, name
    assert read_study(path, allow=[mine / "v.safetensors"]).allowed == (mine / "v.safetensors",)


def test_lexicons_are_not_looked_for_in_the_working_directory(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, mine = folders
    (mine / "words").mkdir()
    (mine / "words" / "x.txt").write_text("a\nb\n")
    monkeypatch.chdir(mine)
    with pytest.raises(InputError, match=r"there is no file 'words/x\.txt', seen from"):
        read_study(write(theirs, test='"words/x.txt"'))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_pipes_are_refused(folders: tuple[Path, Path]) -> None:
    """Nobody writes into it: its reader would wait for ever."""
    os.mkfifo(folders[0] / "pipe")
    with pytest.raises(InputError, match=r"pipe' is neither a file nor a folder; name one"):
        read_study(write(folders[0], '"pipe"'))


def test_files_that_may_not_be_read_are_named(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("biasgauge.study.files.path_sha256", refuse)
    with pytest.raises(InputError, match=r"v\.safetensors: cannot be read: Permission denied; check its permissions"):
        run_study(write(folders[0]), workers=0)
