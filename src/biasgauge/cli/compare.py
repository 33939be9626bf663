"""`biasgauge compare`: by how much a contrast differs between groups of models, and its trend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.inputs import check_files
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.screen import progress
from biasgauge.cli.words import typed_names
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
The difference is that of the second group less the first, in cosine units, over
the words that every model has. Its interval is for other words of the same kind
and other models of the same kind. Replicates by random seed say nothing about
other text of the same kind; bootstrap samples of the text do.

Examples:
  biasgauge train 1950s.txt --bootstrap 20 --out 1950s
  biasgauge train 1990s.txt --bootstrap 20 --out 1990s
  biasgauge compare --group 1950s=1950s --group 1990s=1990s --test weat7
  biasgauge compare --group a=a1.bin,a2.bin --group b=b1.bin,b2.bin --test weat7
  biasgauge compare --group 1950s=50 --group 1970s=70 --group 1990s=90 \\
      --at 1955,1975,1995 --test weat7 --test weat6b --out trend.html
"""
SET = "words separated by commas, a file with one word per line, or NAME:SET"


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Read the groups, then compare."""
    from biasgauge.analyses.compare import compare
    from biasgauge.core import WordPolicy

    groups = _groups(arguments.pop("group"))
    tests = list(arguments.pop("test"))
    arguments["positions"] = arguments.pop("at")
    policy = WordPolicy.from_options(arguments.pop("min_coverage"), arguments.pop("case_fallback"))
    with progress(options, "comparing"):
        return Outcome(compare(groups, tests or None, policy=policy, **arguments))


def _groups(typed: tuple[str, ...]) -> JsonObject:
    from biasgauge.analyses.compare import files_of

    groups: JsonObject = {}
    for text in typed:
        name, equals, files = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ParameterError(f"--group takes NAME=FILES, such as 1950s=models/1950s. Got {text!r}.")
        if name in groups:
            raise ParameterError(
                f"Two groups are called {name!r}; give all files of a group at once, separated by commas."
            )
        groups[name] = files_of(files)
    return groups


def check_groups(typed: tuple[str, ...]) -> None:
    """Refuse groups that are not typed as such, and files of theirs that are not there.

    Raises:
        InputError: one of them.
    """
    check_files(Path(file) for files in _groups(typed).values() for file in files)


def typed_positions(typed: str) -> list[float]:
    """Numbers separated by commas."""
    try:
        return [float(number) for number in typed_names(typed)]
    except ValueError:
        raise ParameterError(f"--at takes numbers separated by commas, such as 1955,1995. Got {typed!r}.") from None


app = command(
    "analyses.compare:compare",
    options="group test x y a b order at measure replicates level min_coverage case_fallback",
    examples=EXAMPLES,
    terms="contrast replicate WEAT",
    changes={
        "group": Option(
            "NAME=FILES, repeat for each group: a folder, a pattern, or files separated by commas, all models of one "
            "corpus, period or recipe",
            type=tuple[str, ...],
            default=(),
            check=check_groups,
        ),
        "min_coverage": Option("share of each set's words that every model must have", type=float, default=0.8),
        "case_fallback": Option(
            "look words up in lower case, then capitalized, when they are not there as written; by default where all "
            "vocabularies are in lower case",
            type=bool | None,
            default=None,
        ),
        "test": Option(
            'a lexicon of kind "test" or "stereotypes", or your own TOML file; repeat for several',
            type=tuple[str, ...],
            default=(),
        ),
        "x": Option(f"first target set: {SET}"),
        "y": Option("second target set"),
        "a": Option("first attribute set"),
        "b": Option("second attribute set"),
        "order": Option("groups are in the order of time, size or the like: tell the trend", type=bool, default=False),
        "at": Option(
            "positions of the groups in their order, such as 1955,1995: tell the trend per unit",
            type=str | None,
            default=None,
            read=typed_positions,
        ),
        "measure": Option("contrast: in cosine units; effect_size: WEAT's d"),
        "replicates": Option(
            "what sets the models of a group apart: random seeds, bootstrap samples of one text, or texts of their "
            "own; auto reads it from the recipes beside the files"
        ),
    },
    call=run,
    figures=True,
    fixed="groups positions",
)
