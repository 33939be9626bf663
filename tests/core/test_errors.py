"""Every refusal is one sentence that fits on a screen, whatever the value is that it quotes."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.cli.entry import run
from biasgauge.errors import (
    LONGEST,
    BiasgaugeError,
    EmbeddingFormatError,
    InputError,
    InternalError,
    LexiconError,
    OutputError,
    ParameterError,
    SeveralProblemsError,
    cut_middle,
    one_sentence,
)

CLASSES = (BiasgaugeError, InputError, ParameterError, OutputError, InternalError, EmbeddingFormatError, LexiconError)


@given(text=st.text(max_size=2000), error=st.sampled_from(CLASSES))
def test_messages_are_short_and_printable(text: str, error: type[BiasgaugeError]) -> None:
    message = str(error(f"The value {text!r} or {text} cannot be used."))
    assert len(message) <= LONGEST
    assert "\x1b" not in message
    assert len(message.splitlines()) == 1
    assert message.startswith("The value ")
    assert message.endswith(" cannot be used.")
    assert one_sentence(message) == message


def test_short_messages_stay_as_they_are() -> None:
    message = "a.txt, line 7: has no column 'naïve — 日本'; did you mean 'x'?"
    assert str(InputError(message)) == message


def test_values_lose_their_middle() -> None:
    value = "a" * 5000 + "MIDDLE" + "b" * 5000
    message = str(ParameterError(f"The 'words' parameter must be a list of words. Got {value!r}. Give a list."))
    assert message.startswith("The 'words' parameter must be a list of words. Got 'aaaa")
    assert message.endswith("bbbb'. Give a list.")
    assert "…" in message
    assert len(message) < 200


def test_a_long_path_leaves_the_problem_whole() -> None:
    problem = EmbeddingFormatError("is not a vector file; name another", path="/x" * 3000 + "/v.bin", line=3)
    assert str(problem).endswith("/v.bin, line 3: is not a vector file; name another")
    assert problem.path == "/x" * 3000 + "/v.bin"
    assert len(str(problem)) <= LONGEST


def test_control_characters_are_shown_by_their_numbers() -> None:
    assert str(InputError("a\x1b[2J\u202eb\nc\x9b")) == "a\\x1b[2J\\u202eb\\nc\\x9b"


def test_several_problems_have_a_line_each() -> None:
    problem = SeveralProblemsError([f"line {number}: {'x' * 900}" for number in range(500)])
    lines = str(problem).split("\n")
    assert len(lines) == 21
    assert max(map(len, lines)) <= LONGEST
    assert lines[-1] == "and 480 further problems"
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)  # noqa: S301 - our own object
    assert str(SeveralProblemsError(["one"])) == "one"


@pytest.mark.parametrize("error", CLASSES)
def test_errors_survive_the_way_to_another_process(error: type[BiasgaugeError]) -> None:
    problem = error("x" * 1000)
    again = pickle.loads(pickle.dumps(problem))  # noqa: S301 - our own object
    assert (type(again), str(again)) == (error, str(problem))


def test_cut_middle() -> None:
    assert cut_middle("abcdefghij", 10) == "abcdefghij"
    assert cut_middle("abcdefghij", 5) == "ab…ij"
    assert cut_middle("abcdefghij", 4) == "ab…j"


@pytest.mark.parametrize(
    "words",
    [
        ["weat", "x" * 9000, "--test", "weat7"],
        ["weat", "vectors.bin", "--test", "\x1b" * 5000],
        ["weat", "vectors.bin", "--no-such-option" + "y" * 9000],
        ["n" * 9000],
        ["simulate-null", "--simulations", "9" * 5000],
        ["lexicons", "show", "l" * 9000],
    ],
)
def test_commands_refuse_in_one_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    message = capsys.readouterr().err
    assert len(message) <= LONGEST + len("biasgauge: \n")
    assert message.removesuffix("\n").isprintable()
