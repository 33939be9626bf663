"""What Windows and macOS do otherwise, as far as Linux can show it: names, encodings, line ends, locks, processes."""

from __future__ import annotations

import ast
import errno
import importlib.util
import json
import os
import subprocess
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import altair as alt
import pytest
from tests.source_trees import module_trees

import biasgauge as bg
from biasgauge.applications.task_runs import CellCache
from biasgauge.errors import InputError
from biasgauge.io import LOCK, locks, write_text
from biasgauge.io.paths import is_device, portable_name, portable_names
from biasgauge.results.saving import save_figures
from biasgauge.study import read_study
from biasgauge.text import read_corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WORDS = ["math", "algebra", "poetry", "dance", "he", "him", "she", "her"]
VECTORS = "".join(f"{word} {row} {row**2 % 7} -{row}.5\n" for row, word in enumerate(WORDS, 1))
TEST = ["--x", "math,algebra", "--y", "poetry,dance", "--a", "he,him", "--b", "she,her"]


# --- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "portable"),
    [
        ("robustness", "robustness"), ("he/she: who?", "he-she- who-"), ("CON", "_CON"), ("nul.json", "_nul.json"),
        ("com1", "_com1"), ("console", "console"), ("ends. ", "ends"), ("..", "_"), ("", "_"), ("a\tb\0", "a-b-"),
        ("медсестра", "медсестра"),
    ],
)  # fmt: skip
def test_a_name_that_some_system_forbids_becomes_the_next_that_is_allowed(name: str, portable: str) -> None:
    assert portable_name(name) == portable
    assert not is_device(portable)
    assert portable_name(portable) == portable


def test_names_stay_apart_where_capitals_do_not_count() -> None:
    given = portable_names(["Race", "race", "RACE", "race-2", "a:b", "a?b", "STRASSE", "straße"])
    assert len({name.casefold() for name in given.values()}) == len(given)
    assert given["Race"] == "Race"


def test_figures_of_any_names_are_all_written(tmp_path: Path) -> None:
    charts = {name: alt.Chart().mark_point() for name in ("Race", "race", "nul", "he/she", "he:she")}
    written = save_figures(charts, tmp_path / "figures", ("json",))
    assert len({path.name.casefold() for path in written}) == len(charts)
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == sorted(path.name for path in written)
    assert not any(is_device(path.name) or set('<>:"/\\|?*') & set(path.name) for path in written)


def test_a_task_of_any_name_has_a_cell(tmp_path: Path) -> None:
    cells = CellCache(tmp_path)
    cells.write({"task": "aux", "seed": 1}, {"gap": 0.5})
    cells.write({"task": "a/b", "seed": 1}, {"gap": 0.25})
    assert cells.read({"task": "a/b", "seed": 1}) == {"gap": 0.25}
    assert not any(is_device(path.name.split("-")[0]) for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("Trust", "trust"), "line 9: the names 'Trust' and 'trust' differ in capitals alone; choose another"),
        (("one", "aux"), "line 9: the name 'aux' is one that Windows keeps for a device; choose another"),
    ],
)
def test_results_of_a_study_can_lie_beside_each_other_everywhere(
    names: tuple[str, str], sentence: str, tmp_path: Path
) -> None:
    table = '\n[analyses.{}]\nkind = "weat"\nof = ["v"]\nsettings = {{ test = "weat7" }}'
    text = '[study]\nname = "s"\n[vectors.v]\ndefault = "replicates"' + "".join(map(table.format, names))
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as told:
        read_study(tmp_path / "s.toml")
    assert str(told.value).endswith(sentence)


def test_files_of_the_package_can_lie_on_any_disk(package: Path) -> None:
    names = [path.relative_to(package).as_posix() for path in package.rglob("*") if "__pycache__" not in path.parts]
    assert len({name.casefold() for name in names}) == len(names)
    assert [name for name in names if any(portable_name(part) != part for part in name.split("/"))] == []
    assert max(map(len, names)) <= 120  # Windows allows 260, of which the user's own folders take their part


# --- encodings ----------------------------------------------------------------------------------------------------


def unspecified(tree: ast.AST) -> Iterator[str]:
    """Calls that read or write text in the encoding of the machine."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        given = {keyword.arg for keyword in call.keywords}
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        is_method = isinstance(call.func, ast.Attribute)
        constants = [one for one in call.args if isinstance(one, ast.Constant)]
        constants += [
            word.value for word in call.keywords if word.arg == "mode" and isinstance(word.value, ast.Constant)
        ]
        modes = [one.value for one in constants if isinstance(one.value, str)]
        is_text = all("b" not in str(mode) for mode in modes[-1:])
        reads = is_method and name in {"read_text", "write_text"} and len(call.args) < 2
        opens = name in {"open", "fdopen"} and bool(modes) and is_text and set(modes[-1]) <= set("rwaxt+")
        starts = name in {"run", "Popen", "check_output"} and bool({"text", "universal_newlines"} & given)
        if (reads or opens or starts) and "encoding" not in given:
            yield ast.unparse(call)


def test_no_text_is_read_or_written_in_the_encoding_of_the_machine(package: Path) -> None:
    calls = ("read_text", "write_text", "open", "run", "check_output")
    for path, tree in module_trees(package, [f"{call}(" for call in calls]):
        assert list(unspecified(tree)) == [], path


def test_the_test_itself_finds_such_calls() -> None:
    code = 'p.read_text()\nopen("x", "w")\np.open("a")\np.open("rb")\nsubprocess.run(x, text=True)\np.write_text(t)\n'
    assert len(list(unspecified(ast.parse(code)))) == 5


@pytest.fixture
def unreadable(tmp_path: Path) -> bytes:
    """Vectors in a file whose name is no text, as old disks have them."""
    name = os.fsencode(tmp_path) + b"/w\xf6rter.txt"
    try:
        with open(name, "wb") as file:  # noqa: PTH123 - a name of bytes
            file.write(VECTORS.encode())
    except OSError:
        pytest.skip("this disk has no names but text")
    return name


@pytest.mark.parametrize("what", ["score", "audit", "train", "corpus-bias"])
def test_a_file_whose_name_is_no_text_is_read_and_told(what: str, unreadable: bytes, tmp_path: Path) -> None:
    more = {
        "score": ["--pairs", "bolukbasi2016", "--words", "math,poetry", "--out", "store"],
        "audit": ["--lexicon", "weat7", "--min-coverage", "0.1", "--out", "page", "--quiet"],
        "train": ["--dim", "4", "--seeds", "1", "--min-count", "1", "--out", "models", "--quiet"],
        "corpus-bias": ["--words", "math,", "--a", "he,him", "--b", "she,her"],
    }[what]
    program: list[str | bytes] = [sys.executable, "-m", "biasgauge", what, unreadable, *more, "--json"]
    done = subprocess.run(
        program, capture_output=True, check=False, cwd=tmp_path, env={**os.environ, "LC_ALL": "C.UTF-8"}
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["version"] == bg.__version__


def test_a_machine_without_utf_8_gives_the_same_files(tmp_path: Path) -> None:
    """PYTHONUTF8=0 in the C locale, where text is ASCII unless something else is said."""
    (tmp_path / "v.txt").write_text(VECTORS + "ärztin 1 2 3\n", encoding="utf-8")
    (tmp_path / "words.txt").write_text("ärztin\nmath\n", encoding="utf-8")
    tables = []
    for name, setting in (("plain", {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}), ("utf", {})):
        options = ["--pairs", "bolukbasi2016", "--words", "words.txt", "--csv", f"{name}.csv", "--json"]
        program = [sys.executable, "-m", "biasgauge", "score", "v.txt", *options]
        done = subprocess.run(program, capture_output=True, check=False, cwd=tmp_path, env={**os.environ, **setting})
        assert done.returncode == 0, done.stderr
        tables.append((json.loads(done.stdout)["scores"], (tmp_path / f"{name}.csv").read_bytes()))
    assert tables[0] == tables[1]
    assert "ärztin" in tables[0][1].decode("utf-8")
    assert b"\r" not in tables[0][1]


# --- line ends ----------------------------------------------------------------------------------------------------


def _vectors(path: Path) -> Any:  # noqa: ANN401 - what was read
    model = bg.load(path)
    return model.words, model.vectors.tolist()


def _corpus(**settings: str) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:  # noqa: ANN401 - what was read
        corpus = read_corpus(path, out=path.with_suffix(".corpus"), **settings)  # type: ignore[arg-type]  # by name
        return corpus.words, corpus.tokens.tolist(), corpus.lines.tolist(), corpus.documents.tolist()

    return read


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("glove.txt", VECTORS, _vectors),
        ("word2vec.txt", f"{len(WORDS)} 3\n{VECTORS}", _vectors),
        ("lines.txt", "he said that\nshe said\n\nnew one\n", _corpus()),
        ("paragraphs.txt", "he said that\nshe said\n\nnew one\n", _corpus(layout="paragraphs")),
        ("wiki.train.tokens", " \n = A = \n \n he said . \n = = B = = \n \n so . \n = C = \n \n so . \n", _corpus()),
        ("table.csv", 'text,label\nhe said,1\n"she,\nsaid",0\n', _corpus(field="text")),
        ("table.tsv", "text\tlabel\nhe said\t1\nshe said\t0\n", _corpus(field="text")),
        ("records.jsonl", '{"text": "he said"}\n{"text": "she said"}\n', _corpus(field="text")),
        ("own.toml", 'kind = "words"\ntitle = "x"\nwords = ["a", "b"]\n', lambda path: bg.lexicon(path).words),
        ("points.csv", "x,y\n1,2\n2,1\n3,5\n4,4\n", lambda path: bg.correlate(path, "x", "y").groups),
    ],
)  # fmt: skip
def test_lines_may_end_as_on_windows(name: str, text: str, read: Callable[[Path], Any], tmp_path: Path) -> None:
    results = []
    for folder, end in (("unix", "\n"), ("windows", "\r\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(text.replace("\n", end).encode())
        results.append(read(tmp_path / folder / name))
    assert results[0] == results[1]


# --- disks and processes ------------------------------------------------------------------------------------------


def test_a_disk_that_flushes_files_alone_can_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flush, refused = os.fsync, errno.EINVAL

    def fsync(handle: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):  # noqa: PTH112 - a path of the system
            raise OSError(refused, os.strerror(refused))
        flush(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    write_text(tmp_path / "file.txt", "there\n")
    assert (tmp_path / "file.txt").read_text(encoding="utf-8") == "there\n"
    refused = errno.EIO  # a disk that fails is no such disk
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        write_text(tmp_path / "file.txt", "lost?\n")


def as_on_windows(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of locks as Windows would load it, with a stand-in for that system's locks."""
    held: dict[tuple[int, int], int] = {}

    def locking(handle: int, mode: int, count: int) -> None:
        assert (mode, count) == (windows.LK_NBLCK, 1)
        about = os.fstat(handle)
        if held.setdefault((about.st_dev, about.st_ino), handle) != handle:
            raise OSError(errno.EACCES, "locked")

    windows = ModuleType("msvcrt")
    windows.LK_NBLCK, windows.locking = 2, locking  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.spec_from_file_location("locks_of_windows", locks.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_locks_of_windows_keep_a_second_writer_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = as_on_windows(monkeypatch)
    lock = tmp_path / LOCK
    with module.writer_lock(lock) as sole:
        assert sole
        assert module.lock_holder(lock).startswith(f"process {os.getpid()} on ")
        with pytest.raises(InputError, match="is writing there"), module.writer_lock(lock, patience=0.05):
            pass


def test_no_process_is_forked(package: Path) -> None:
    """Windows cannot, and macOS breaks libraries that have threads: workers are started anew."""
    forbidden = {"multiprocessing", "ProcessPoolExecutor", "fork", "forkpty"}
    for path, tree in module_trees(package, forbidden):
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names |= {part for one in node.names for part in one.name.split(".")}
                names |= set((getattr(node, "module", None) or "").split("."))
        assert not names & forbidden, path


def test_dask_starts_workers_anew() -> None:
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    assert dask.config.get("distributed.worker.multiprocessing-method") == "spawn"
