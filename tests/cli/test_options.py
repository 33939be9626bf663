"""Options of commands: as the functions have them, few, and explained without loading a library of numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import reduce
from inspect import Parameter, getdoc, signature
from operator import getitem
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge import analyses, applications, audits, core, mitigation, scores, stats, text, vectors
from biasgauge.cli.command import FigureOptions
from biasgauge.cli.entry import COMMANDS, app, run
from biasgauge.cli.typed_values import read_settings, typed_names
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

MOST = {"audit": 28}
"""Options of a command that has more than fifteen."""
DEFAULTS_OF: dict[str, Any] = {
    "audit": audits.audit,
    "explain": audits.explain,
    "bayes": analyses.posterior.bayes,
    "calibrate": analyses.calibrate.calibrate,
    "compare": analyses.compare.compare,
    "convert": vectors.convert,
    "corpus-bias": analyses.corpus_bias.corpus_bias,
    "correlate": analyses.correlate.correlate,
    "criterion": analyses.criterion.criterion,
    "likelihood crows-pairs": analyses.likelihood.crows_pairs,
    "encode": vectors.encoders.encode_to_folder,
    "extrinsic": applications.extrinsic,
    "factors": analyses.reliability.factors,
    "corpus-bias influence": analyses.calibrate.influence,
    "likelihood": analyses.likelihood.score_pairs,
    "mitigate": mitigation.mitigate_to_file,
    "balance": mitigation.balance,
    "plan": analyses.plan.plan,
    "points": analyses.correlate.points,
    "posterior": analyses.posterior.posterior,
    "reliability": analyses.reliability.reliability,
    "robustness": analyses.robustness.robustness,
    "score": scores.score,
    "lexicons quality": analyses.seeds.seeds,
    "simulate-null": analyses.posterior.simulate_null,
    "likelihood stereoset": analyses.likelihood.stereoset,
    "train": text.training.train,
    "weat": scores.association_test,
    "workbench": audits.workbench,
}
"""Functions whose settings have options of the same name."""
TYPED_OTHERWISE = {
    ("audit", "vectors"),  # none for None
    ("audit", "case_fallback"),  # auto, yes or no for None, True and False
    ("balance", "degree"),  # a text, as it may be "max"
    ("encode", "templates"),  # typed several times; none for None
    ("extrinsic", "vectors"),
    ("factors", "outcome"),  # with a hyphen
    ("lexicons quality", "leave_one_out"),  # yes or no
    ("train", "algorithm"),  # decided by --like
    ("train", "min_count"),  # decided by --like
    ("weat", "min_coverage"),  # of the policy
    ("weat", "interval"),  # a method, of which an object is made
    ("likelihood stereoset", "predictions"),  # several; none for None
    ("likelihood stereoset", "model"),
    ("likelihood crows-pairs", "predictions"),
    ("likelihood crows-pairs", "model"),
    ("compare", "test"),
}


def typed_options(name: str) -> dict[str, Parameter]:
    """Parameters of a command, those of its groups among them."""
    function: Any = reduce(getitem, name.split(), app).default_command
    options: dict[str, Parameter] = {}
    for parameter in signature(function).parameters.values():
        if is_dataclass(parameter.default):
            for field in fields(parameter.default):
                options[field.name] = Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default)
        else:
            options[parameter.name] = parameter
    return options


@pytest.mark.parametrize("name", DEFAULTS_OF)
def test_an_option_has_the_default_of_the_function(name: str) -> None:
    function: Any = DEFAULTS_OF[name]
    options = typed_options(name)
    for setting in signature(function).parameters.values():
        option = options.get(setting.name)
        if option is None or setting.default is Parameter.empty or (name, setting.name) in TYPED_OTHERWISE:
            continue
        several = isinstance(setting.default, tuple) and isinstance(option.default, str)
        default = ",".join(map(str, setting.default)) if several else setting.default
        assert option.default == default, setting.name


FURTHER: dict[str, list[Any]] = {
    "audit": [audits.Rules],
    "bayes": [analyses.posterior.plan_attributes],
    "calibrate": [text.read_corpus, analyses.calibrate.join_calibrations],
    "robustness": [core.WordPolicy.from_options],
    "corpus-bias": [analyses.criterion.amplification, core.WordPolicy.from_options],
    "compare": [text.training.train_comparable, text.training.algorithm("sgns").settings],
    "corpus-bias influence": [analyses.calibrate.check_influence, core.WordPolicy.from_options],
    "train": [text.training.training_plan],
    "weat": [stats.permutation_p, stats.Resampling],
}
"""Further functions whose settings --set changes."""


@pytest.mark.parametrize("name", DEFAULTS_OF)
def test_set_changes_settings_of_functions_that_have_no_option(name: str) -> None:
    options = typed_options(name)
    if "set" not in options:
        pytest.skip("no further settings")
    (parameter,) = options["set"].annotation.__metadata__
    listed = typed_names(parameter.help.partition("several")[2].removeprefix(": "))
    functions = [DEFAULTS_OF[name], *FURTHER.get(name, [])]
    assert set(listed) <= {setting for function in functions for setting in signature(function).parameters}
    assert not set(listed) & options.keys()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in {"lexicons", "study"}])
def test_the_list_of_commands_says_what_the_command_says(name: str) -> None:
    function: Any = app[name].default_command
    assert (getdoc(function) or "").splitlines()[0] == COMMANDS[name]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "study"])
def test_help_imports_no_library_of_numbers(name: str) -> None:
    program = (
        f"import sys; from biasgauge.cli.entry import run; code = run([{name!r}, '--help']); "
        "assert not code; print({'numpy', 'scipy', 'pandas'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["list", "--kind", "test"], ["show", "weat7"]])
def test_lexicons_are_listed_without_a_library_of_numbers(words: list[str]) -> None:
    """Importing NumPy takes as long as reading every word list that ships."""
    program = (
        f"import sys; from biasgauge.cli.entry import run; code = run(['lexicons', *{words!r}]); "
        "assert not code; print({'numpy', 'scipy', 'pandas'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "set()"


SETTINGS = {"draws": int, "rope": float | None, "fast": bool, "lists": typed_names, "priors": str}


def test_further_settings_have_the_types_of_the_function() -> None:
    typed = ["draws=3", "rope=0.5", "fast=true", "lists=a, b", "priors.group=normal(1, 2)", "priors.other=x"]
    assert read_settings(typed, SETTINGS, "f") == {
        "draws": 3, "rope": 0.5, "fast": True, "lists": ["a", "b"],
        "priors": {"group": "normal(1, 2)", "other": "x"},
    }  # fmt: skip
    assert read_settings(["rope=none"], SETTINGS, "f") == {"rope": None}
    assert read_settings(["new-one=2", "word=x"], SETTINGS, "f", open_ended=True) == {"new_one": 2, "word": "x"}


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
        read_settings([typed], SETTINGS, "f")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in {"study", "lexicons"}])
def test_options_are_few(name: str) -> None:
    shared = {"set", *vars(FigureOptions())}
    options = [
        option.name
        for option in typed_options(name).values()
        if option.kind is Parameter.KEYWORD_ONLY and option.name not in shared
    ]
    assert len(options) <= MOST.get(name, 15), f"{name} has {len(options)} options; --set and the API take the rest"


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
        "ours = [name for name in sys.modules if name.startswith('biasgauge.')]\n"
        "slow = {'numpy', 'pandas', 'scipy'} & set(sys.modules)\n"
        "print('LOADED', *sorted(ours), *sorted(slow))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = "_version cli cli.entry cli.option_groups core core.lazy errors"
    assert done.stdout.splitlines()[-1].split() == ["LOADED", *(f"biasgauge.{name}" for name in modules.split())]


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
    with pytest.raises(ParameterError, match="per-dose"):
        read_settings(["per-dose=3"], SETTINGS, "f", options=["per_dose"])
