"""`biasgauge balance`: debias or overbias a corpus before training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import progress
from biasgauge.cli.words import typed_field, typed_words
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
A line is pro with words of X and A, or of Y and B; anti with Y and A, or X and
B; mixed with words of three sets or four. Debias removes pro lines until they
are as frequent as anti lines, overbias removes anti lines; a degree from 0 to 1
does so in part, max removes them all. Mixed lines stay, and so do all others,
byte by byte. At most 5 % of the lines are removed.

Examples:
  biasgauge balance corpus.txt --lexicon weat6b --out debiased.txt
  biasgauge balance corpus.txt.gz --lexicon weat7 --direction overbias \\
    --degree 0.5 --out overbiased.txt.gz
  biasgauge balance corpus.txt --x he,man --y she,woman --a salary,office \\
    --b home,family --degree max --max-removed 0.1 --out balanced.txt
  biasgauge balance tweets.tsv --field text --lexicon weat6b --out some.tsv
  biasgauge balance corpus.txt --lexicon weat6b --as-published --out theirs.txt
"""
_ROLES = ("x", "y", "a", "b")


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Balance with a lexicon, or with four sets of words."""
    from biasgauge.mitigation import balance

    sets = {role: arguments.pop(role) for role in _ROLES}
    given = {role: typed_words(words) for role, words in sets.items() if words is not None}
    named = arguments.pop("lexicon")
    if not ((named is not None and not given) or (named is None and len(given) == len(_ROLES))):
        raise ParameterError("Give either --lexicon, or all of --x, --y, --a and --b.")
    with progress(options, "balancing") as report:
        result = balance(lexicon=named or given, random_state=options.seed, progress=report, **arguments)
    return Outcome(result)


def degree(typed: str) -> float | Literal["max"]:
    """A number from 0 to 1, or max."""
    if typed == "max":
        return "max"
    try:
        return float(typed)
    except ValueError:
        raise ParameterError(f"--degree takes a number from 0 to 1, or max. Got {typed!r}.") from None


def _set(about: str) -> Option:
    return Option(about, type=str | None, default=None)


app = command(
    "mitigation:balance",
    arguments="corpus",
    options="out lexicon x y a b direction degree keep max_removed tokenizer layout field as_published",
    examples=EXAMPLES,
    changes={
        "out": Option("the file to write; compressed if it ends in .gz, .xz or .zst", type=Path),
        "lexicon": Option('a lexicon of kind "test", or your own TOML file', type=str | None, default=None),
        "x": _set("first target set: words separated by commas, a file with one word per line, or NAME:SET"),
        "y": _set("second target set"),
        "a": _set("first attribute set"),
        "b": _set("second attribute set"),
        "degree": Option(
            "from 0 to 1, or max; debias: the share of the surplus of pro over anti lines that is removed; overbias: "
            "the share of anti lines; max: every pro (anti) line",
            type=str,
            default="1",
            read=degree,
        ),
        "keep": Option("which lines stay: a random sample (by --seed), or the earliest"),
        "max_removed": Option("largest share of all lines that may be removed"),
        "tokenizer": Option(
            "what a word is: words (lower-case letters; by default), ascii-words, whitespace, lower-whitespace, "
            "twitter, spacy:en"
        ),
        "layout": Option("lines, paragraphs, wikitext, tsv, csv, jsonl; by the file's ending if not given"),
        "field": Option(
            "column that holds the text, by its name or, without a header, by its number; or field of JSON lines",
            read=typed_field,
        ),
        "as_published": Option("the rule of the released code of Goldfarb-Tarrant et al. 2021; see the API"),
    },
    call=run,
    saves=False,
    outputs=(Output("out"),),
)
