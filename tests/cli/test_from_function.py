"""Commands made of functions: what signature and docstring say is what the command takes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal

import pytest

from biasgauge.cli.entry import COMMANDS, app, run
from biasgauge.cli.from_function import further_settings
from biasgauge.core.signatures import Computed, Setting, argument_texts, choices, function_named, settings_of
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.stats.permutation import Alternative

MOST = {"audit": 25}
"""Options of a command that has more than fifteen."""
OF_MANY = {"set", "figures", "out", "force", "options"}


def example(  # noqa: D417 - arguments that share a text
    vectors: str,
    side: Alternative = "greater",
    kind: Literal["a", "b"] | None = None,
    names: tuple[str, ...] = ("x", "y"),
    *,
    free: str | Literal["z"] = "z",  # noqa: PYI051 - what is tested
) -> None:
    """Do something.

    Args:
        vectors: where it
            begins.
        side, kind: which: either.
        names: `some`.

    Raises:
        ParameterError: never: nowhere.
    """


def test_settings_are_what_signature_and_docstring_say() -> None:
    found = settings_of(example)
    assert list(found) == ["vectors", "side", "kind", "names", "free"]
    assert found["vectors"] == Setting("vectors", Parameter.empty, "str", (), "where it begins.")
    assert (found["side"].choices, found["side"].about) == (("greater", "less", "two-sided"), "which: either.")
    assert (found["kind"].choices, found["kind"].nullable, found["kind"].about) == (("a", "b"), True, "which: either.")
    assert found["free"].choices == ()  # another text may stand there
    assert found["free"].about == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_what_the_source_says_is_what_the_function_takes(name: str) -> None:
    made: Any = app[name].default_command
    if not hasattr(made, "function"):
        pytest.skip("a command of several, or written out")
    for function in (made.function, *made.sources):
        said, taken = settings_of(function), settings_of(function_named(function))
        for setting in said.values():
            if isinstance(setting.default, Computed):
                assert setting.default.source == f"{type(taken[setting.name].default).__name__}()"
                said[setting.name] = replace(setting, default=taken[setting.name].default)
        assert said == taken, function


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "study"])
def test_help_imports_no_library_of_numbers(name: str) -> None:
    program = (
        f"import sys; from biasgauge.cli.entry import run; code = run([{name!r}, '--help']); "
        "assert not code; print({'numpy', 'scipy', 'pandas'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "set()"


def test_a_docstring_without_arguments_has_no_texts() -> None:
    assert argument_texts("One line.") == {}
    assert argument_texts("One.\n\nArgs:\n    a: first.\n\nReturns:\n    b: no argument.") == {"a": "first."}


def test_choices_beside_a_class_are_kept_and_numbers_are_free() -> None:
    bayes = function_named("analyses.posterior:bayes")
    assert "crossed" in choices("Variant | CustomModel", bayes)
    assert choices("float | Literal['max']", bayes) == ()


KNOWN = {
    "draws": Setting("draws", 4, "int"),
    "rope": Setting("rope", None, "float | None"),
    "fast": Setting("fast", default=False, annotation="bool"),
    "lists": Setting("lists", (), "Sequence[str]"),
    "priors": Setting("priors", None, "Mapping[str, str] | None"),
}


def test_further_settings_have_the_types_of_the_function() -> None:
    typed = ["draws=3", "rope=0.5", "fast=true", "lists=a, b", "priors.group=normal(1, 2)", "priors.other=x"]
    assert further_settings(typed, KNOWN, "f") == {
        "draws": 3, "rope": 0.5, "fast": True, "lists": ["a", "b"],
        "priors": {"group": "normal(1, 2)", "other": "x"},
    }  # fmt: skip
    assert further_settings(["rope=none"], KNOWN, "f") == {"rope": None}
    assert further_settings(["new-one=2", "word=x"], KNOWN, "f", open_ended=True) == {"new_one": 2, "word": "x"}


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("draws", "--set takes NAME=VALUE"),
        ("=3", "--set takes NAME=VALUE"),
        ("drawz=3", "did you mean 'draws'"),
        ("draws=few", "draws must be of type int. Got 'few'"),
        ("draws=none", "draws must be of type int"),
    ],
)
def test_a_wrong_setting_gets_a_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        further_settings([typed], KNOWN, "f")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in {"study", "lexicons"}])
def test_options_are_few(name: str) -> None:
    made = app[name].default_command
    assert made is not None
    taken = signature(made).parameters.values()
    options = [one.name for one in taken if one.kind is Parameter.KEYWORD_ONLY and one.name not in OF_MANY]
    assert len(options) <= MOST.get(name, 15), f"{name} has {len(options)} options; --set and the API take the rest"


def test_defaults_are_those_of_the_function() -> None:
    taken, given = (
        signature(app["bayes"].default_command).parameters,  # type: ignore[arg-type]
        settings_of(function_named("analyses.posterior:bayes")),
    )
    assert {name: taken[name].default for name in given if name in taken and name not in {"vectors", "lexicon"}} == {
        name: setting.default for name, setting in given.items() if name in taken and name not in {"vectors", "lexicon"}
    }


@pytest.mark.parametrize("ending", ["html", "json", "csv", "md", "tex", "txt"])
def test_a_result_is_saved_by_its_ending(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / f"null.{ending}"
    assert run(["simulate-null", "--simulations", "50", "--out", str(out), "--quiet"]) == 0
    assert out.stat().st_size > 0
    assert str(out) not in capsys.readouterr().out
    if ending == "json":
        assert json.loads(out.read_text())["test"] == "weat"


def test_an_ending_that_says_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate-null", "--simulations", "50", "--out", str(tmp_path / "null.doc")]) == 2
    assert "can be saved as .html" in capsys.readouterr().err


def test_help_imports_nothing_that_computes() -> None:
    program = (
        "import sys\n"
        "from biasgauge.cli.entry import run\n"
        "assert run(['--help']) == 0\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('biasgauge.')}\n"
        "slow = {'numpy', 'pandas', 'scipy'} & set(sys.modules)\n"
        "print('LOADED', *sorted(rooms - {'cli', 'errors', '_version', 'lazy'}), *sorted(slow))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"


def results(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - JSON
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_further_setting_reaches_the_function_and_the_record(capsys: pytest.CaptureFixture[str]) -> None:
    found = results(capsys, "simulate-null", "--simulations", "50", "--set", "alpha=0.2", "--seed", "4")
    assert found["p_values"]["alpha"] == 0.2
    assert found["settings"]["seed"] == 4


@pytest.mark.parametrize(("flag", "starts"), [("--latex", "\\begin{table}"), ("--markdown", "# ")])
def test_tables_for_papers_are_printed_alone(flag: str, starts: str, capsys: pytest.CaptureFixture[str]) -> None:
    from biasgauge.cli.entry import run

    assert run(["reproduce", "zhang2020", "--part", "sums", flag]) == 0
    assert capsys.readouterr().out.startswith(starts)
    assert run(["reproduce", "zhang2020", "--part", "sums", flag, "--json"]) == 2
    assert "one of --json, --latex and --markdown" in capsys.readouterr().err


def test_a_setting_that_has_an_option_is_told_so() -> None:
    with pytest.raises(ParameterError, match="--set: per_dose has an option of its own, --per-dose"):
        further_settings(["per-dose=3"], KNOWN, "f", options=["per_dose"])
