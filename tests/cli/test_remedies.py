"""Remedies: every command and option that a sentence offers exists, and what it offers works."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge import analyses
from biasgauge.cli.entry import COMMANDS, MOVED, app, run
from biasgauge.cli.typed_values import typed_words
from biasgauge.errors import ParameterError
from biasgauge.text import TokenCorpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOURCES = Path(bg.__file__).parent
OF_OTHERS = {
    "--fmad", "--prec-div", "--prec-sqrt", "--ftz", "--generate-line-info", "--resources", "--nthreads", "--nworkers",
    "--long", "--local-dir",
}  # fmt: skip
"""Options of compilers, of Dask, of zstd and of the command of the hub."""
WORDS = ("he", "him", "she", "her", "math", "algebra", "poetry", "dance")
SETS = ("--x", "math,algebra", "--y", "poetry,dance", "--a", "he,him", "--b", "she,her")


def sentences() -> Iterator[tuple[str, str]]:
    """Texts of the sources that are no docstrings, with the file that they stand in."""
    for path in sorted(SOURCES.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield path.relative_to(SOURCES).as_posix(), node.value


def subcommands(names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and subcommand."""
    here = app
    for name in names:
        here = here[name]
    for name in here:
        if not name.startswith("-"):
            yield (*names, name)
            yield from subcommands((*names, name))


@cache
def options_of(names: tuple[str, ...]) -> frozenset[str]:
    """Options of a command."""
    here: Any = app
    for name in names:
        here = here[name]
    if here.default_command is None:
        return frozenset({"--help"})
    arguments = here.assemble_argument_collection()
    return frozenset(name for argument in arguments for name in argument.names) | {"--help", "--help-all"}


EVERY = list(subcommands())


def test_every_option_that_a_sentence_names_is_one_of_a_command() -> None:
    known = frozenset().union(*map(options_of, EVERY)) | OF_OTHERS | {"--version"}
    wrong = [
        (file, option)
        for file, text in sentences()
        if not file.startswith("results/page")
        for option in re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*(?![\w-])", text)
        if option not in known and not text.startswith("--c")
    ]
    assert wrong == []


def test_every_command_that_a_sentence_names_exists_and_has_the_options_behind_it() -> None:
    """`biasgauge train --seeds 8`, in a text or an example: the longest command that begins so has every option."""
    seen = 0
    for file, text in sentences():
        for line in re.sub(r"\\\n *|\n {4}", " ", text).split("\n"):
            for typed in re.findall(r"biasgauge ([a-z](?:(?!biasgauge)[\w. /*{}<>…,:=-])*)", line):
                words = typed.split()
                if words[0] not in {*COMMANDS, *(name.split()[0] for name in MOVED)}:
                    continue
                assert words[0] in COMMANDS, (file, typed)
                names = max((names for names in EVERY if tuple(words[: len(names)]) == names), key=len)
                options = {word.strip("`,.;)") for word in words if word.startswith("--")}
                assert options <= options_of(names), (file, typed)
                seen += 1
    assert seen > 150


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    matrix = np.random.default_rng(0).standard_normal((len(WORDS), 6)).astype(np.float32)
    return bg.save(bg.Embedding(WORDS, matrix), tmp_path / "vectors.bin")


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    np.save(tmp_path / "matrix.npy", np.random.default_rng(0).standard_normal((len(WORDS), 6)))
    (tmp_path / "list.txt").write_text("\n".join(WORDS))
    return tmp_path / "matrix.npy"


def failure(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The sentence of a command that fails."""
    capsys.readouterr()
    assert run([str(word) for word in words]) == 2
    return " ".join("".join(capsys.readouterr()).split())


def success(*words: object) -> None:
    assert run([str(word) for word in words]) == 0


def test_a_matrix_without_words_is_joined_with_its_list(matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = failure(capsys, "weat", matrix, *SETS)
    offered = "biasgauge convert FILE vectors.npz --vocabulary WORDS.txt"
    assert offered in sentence
    typed = offered.replace("FILE", str(matrix)).replace("vectors.npz", str(matrix.with_name("joined.npz")))
    success(*typed.replace("WORDS.txt", str(matrix.with_name("list.txt"))).split()[1:])
    success("weat", matrix.with_name("joined.npz"), *SETS)


def test_a_list_of_words_beside_a_matrix_is_found(matrix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (name,) = re.findall(r"beside it, such as ([^ ,]+),", failure(capsys, "weat", matrix, *SETS))
    matrix.with_name(name).write_text("\n".join(WORDS))
    success("weat", matrix, *SETS)


@pytest.mark.parametrize("kind", ["model", "vectors"])
def test_files_that_gensim_saves_are_read(kind: str, tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim")
    model = gensim.models.Word2Vec([list(WORDS)] * 20, vector_size=6, min_count=1, workers=1)
    (model if kind == "model" else model.wv).save(str(tmp_path / "saved"))
    success("weat", tmp_path / "saved", *SETS)


def own_test(folder: Path, spelled: Callable[[str], str] = str) -> Path:
    """A lexicon of one's own with the words of SETS, spelled in some way."""
    lists = (f"{name} = {{ name = {name!r}, words = {list(map(spelled, typed.split(',')))} }}"
             for name, typed in zip("xyab", SETS[1::2], strict=True))  # fmt: skip
    (folder / "own.toml").write_text("\n".join(['kind = "test"', *lists]))
    return folder / "own.toml"


@pytest.fixture
def capitalized(tmp_path: Path) -> Path:
    words = tuple(word.capitalize() for word in WORDS)
    return bg.save(bg.Embedding(words, np.random.default_rng(0).standard_normal((len(words), 6))), tmp_path / "c.bin")


def test_words_of_another_case_are_found_as_offered(capitalized: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = failure(capsys, "weat", capitalized, *SETS)
    assert "--case-fallback (audit: --case-fallback yes)" in sentence
    success("weat", capitalized, *SETS, "--case-fallback")


@pytest.mark.usefixtures("quick_audits")
def test_an_audit_takes_the_case_fallback_that_is_offered(
    capitalized: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lexicon = own_test(tmp_path)
    asked = ("audit", capitalized, "--lexicon", lexicon, "--quiet")
    success(*asked, "--out", tmp_path / "first", "--json")
    assert "--case-fallback yes" in capsys.readouterr().out
    success(*asked, "--out", tmp_path / "second", "--json", "--case-fallback", "yes")
    assert '"not-measurable"' not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["weat", "lexicons check", "plan"])
def test_a_vocabulary_in_lower_case_has_words_with_capitals(command: str, vectors: Path, tmp_path: Path) -> None:
    """An audit measured a list that `weat` and `lexicons check` called unusable."""
    own_test(tmp_path, str.capitalize)
    if command == "lexicons check":
        success(*command.split(), tmp_path / "own.toml", "--vectors", vectors)
    else:
        success(command, vectors, "--test", tmp_path / "own.toml")


def test_a_single_word_is_given_as_offered(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rest = ("--y", "poetry,dance", "--a", "he,him", "--b", "she,her")
    sentence = failure(capsys, "weat", vectors, "--x", "math", *rest)
    (typed,) = re.findall(r"with a comma: ([^ )]+,)", sentence)
    success("weat", vectors, "--x", typed, *rest)


def test_weat_without_words_names_the_option_for_a_test(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (typed,) = re.findall(r"--test \w+", failure(capsys, "weat", vectors))
    default = bg.save(bg.vectors.load_default(), vectors.with_name("default.bin"))
    success("weat", default, *typed.split())


TEXT = "she said that he saw her and him with math or algebra and poetry or dance\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT * 60)
    return tmp_path / "text.txt"


def test_a_failed_training_blocks_no_other(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "small.txt").write_text(TEXT)
    small = ("--dim", 4, "--epochs", 1, "--out", tmp_path / "models", "--quiet")
    sentence = failure(capsys, "train", tmp_path / "small.txt", *small)
    assert "Give a smaller min_count, or more text" in sentence
    success("train", text, *small)
    sentence = failure(capsys, "train", tmp_path / "small.txt", *small, "--min-count", 1)
    assert "name another folder" in sentence  # models were made from that corpus: it stays
    success("train", tmp_path / "small.txt", *small[:-3], "--out", tmp_path / "others", "--quiet", "--min-count", 1)


def test_a_tokenized_corpus_is_taken_wherever_a_text_is(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = bg.text.read_corpus(text, out=tmp_path / "corpus")
    success("corpus-bias", tmp_path / "corpus", "--words", "math,", "--a", "he,", "--b", "she,", "--quiet")
    given: list[TokenCorpus] = []

    def calibrate(tokens: TokenCorpus, *_: object, **__: object) -> object:
        given.append(tokens)
        raise bg.ParameterError("reached")

    monkeypatch.setattr(analyses.calibrate, "calibrate", calibrate)
    assert run(["calibrate", str(tmp_path / "corpus"), "--work", str(tmp_path / "work")]) == 2
    assert [tokens.checksum for tokens in given] == [corpus.checksum]


def test_a_result_that_is_there_is_replaced_as_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("simulate-null", "--simulations", 50, "--out", tmp_path / "null.json", "--quiet")
    success(*asked)
    (option,) = re.findall(r"(--force) replaces it", failure(capsys, *asked))
    success(*asked, option)


def test_scores_of_other_words_are_replaced_as_offered(vectors: Path, tmp_path: Path) -> None:
    asked = ("score", vectors, "--pairs", "du2021", "--measures", "dbwa", "--out", tmp_path / "scores", "--quiet")
    success(*asked, "--words", "math,algebra")
    assert run([str(word) for word in (*asked, "--words", "poetry,")]) == 2
    success(*asked, "--words", "poetry,", "--force")


def test_a_command_that_is_typed_wrong_names_a_help_that_opens(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["lexicons", "chek"], ["weat"], ["study", "plam"], ["weat", "x.bin", "--tset", "weat7"]):
        sentence = failure(capsys, *words)
        (typed,) = re.findall(r"Try: biasgauge ([a-z -]*--help)", sentence)
        success(*typed.split())


def test_a_language_that_is_not_there_names_a_template_that_is(capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = re.findall(r"copy the template (\S+) to", failure(capsys, "lexicons", "check", "xx"))
    assert Path(path).is_file()


def test_the_name_of_a_lexicon_is_no_word_of_a_list() -> None:
    """`encode --words weat7,du2021` encoded two words that no model knows, without a word about it."""
    with pytest.raises(ParameterError, match="stands alone"):
        typed_words("weat7,du2021")
    assert typed_words("gender,race") == ["gender", "race"]  # words of English, too
