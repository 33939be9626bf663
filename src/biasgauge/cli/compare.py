"""`biasgauge compare`: by how much a contrast differs between groups of models, and its trend."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from biasgauge import analyses
from biasgauge.cli.command import DRAW, FigureOptions, Level, Outcome, command
from biasgauge.cli.files import check_files
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import LOOKUP, NO_SETS, TypedSets, WordLookup, typed_numbers
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError

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


def check_groups(typed: tuple[str, ...]) -> None:
    """Refuse groups that are not typed as such, and missing files of theirs.

    Raises:
        InputError: one of them.
    """
    check_files(Path(file) for files in _read_groups(typed).values() for file in files)


@command(examples=EXAMPLES, terms="contrast replicate WEAT", checks={"group": check_groups})
def compare(
    *,
    group: tuple[str, ...] = (),
    test: tuple[str, ...] = (),
    sets: TypedSets = NO_SETS,
    order: bool = False,
    at: str | None = None,
    measure: Literal["contrast", "effect_size"] = "contrast",
    replicates: Literal["auto", "seeds", "samples", "texts"] = "auto",
    level: Level = 0.95,
    lookup: WordLookup = LOOKUP,
    options: FigureOptions = DRAW,
) -> Outcome:
    """Compare groups of models: the difference of a contrast, and its trend.

    Args:
        group: NAME=FILES, repeat for each group: a folder, a pattern, or files separated by commas, all models of one
            corpus, period or recipe
        test: a lexicon of kind "test" or "stereotypes", or your own TOML file; repeat for several
        order: groups are in the order of time, size or the like: tell the trend
        at: positions of the groups in their order, such as 1955,1995: tell the trend per unit
        measure: contrast: in cosine units; effect_size: WEAT's d
        replicates: what sets the models of a group apart: random seeds, bootstrap samples of one text, or texts of
            their own; auto reads it from the recipes beside the files
    """
    positions = None if at is None else typed_numbers(at, "--at")
    with progress(options, "comparing"):
        result = analyses.compare.compare(
            _read_groups(group),
            list(test) or None,
            **sets.read(),
            order=order,
            positions=positions,
            measure=measure,
            replicates=replicates,
            level=level,
            policy=lookup.policy(),
        )
    return Outcome(result)


def _read_groups(typed: tuple[str, ...]) -> JsonObject:
    """Files of each group, by name."""
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
        groups[name] = analyses.compare.files_of(files)
    return groups
