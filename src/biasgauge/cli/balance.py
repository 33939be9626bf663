"""`biasgauge balance`: debias or overbias a corpus before training."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from biasgauge import mitigation
from biasgauge.cli.command import WRITE, Outcome, WriteOptions, command
from biasgauge.cli.files import Output
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import NO_SETS, TypedSets, typed_field
from biasgauge.errors import ParameterError

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


@command(examples=EXAMPLES, outputs=(Output("out"),))
def balance(
    corpus: Path,
    /,
    *,
    out: Path,
    lexicon: str | None = None,
    sets: TypedSets = NO_SETS,
    direction: Literal["debias", "overbias"] = "debias",
    degree: str = "1",
    keep: Rare[Literal["random", "earliest"]] = "random",
    max_removed: Rare[float] = 0.05,
    tokenizer: str | None = None,
    layout: Rare[str] = "auto",
    field: str | None = None,
    as_published: Rare[bool] = False,
    options: WriteOptions = WRITE,
) -> Outcome:
    """Debias or overbias a corpus before training, by removing some of its lines.

    Args:
        corpus: a text file, plain or compressed with gzip, xz or zstd
        out: the file to write; compressed if it ends in .gz, .xz or .zst
        lexicon: a lexicon of kind "test", or your own TOML file
        direction: "debias" removes pro lines, "overbias" anti lines
        degree: from 0 to 1, or max; debias: the share of the surplus of pro over anti lines that is removed; overbias:
            the share of anti lines; max: every pro (anti) line
        keep: which lines stay: a random sample (by --seed), or the earliest
        max_removed: largest share of all lines that may be removed
        tokenizer: what a word is: words (lower-case letters; by default), ascii-words, whitespace, lower-whitespace,
            twitter, reddit, spacy:en
        layout: lines, paragraphs, wikitext, tsv, csv, jsonl; by the file's ending if not given
        field: column that holds the text, by its name or, without a header, by its number; or field of JSON lines
        as_published: the rule of the released code of Goldfarb-Tarrant et al. 2021; see the API
    """
    words = sets.read()
    if (lexicon is None) == (not words) or (lexicon is None and len(words) < 4):
        raise ParameterError("Give either --lexicon, or all of --x, --y, --a and --b.")
    with progress(options, "balancing") as report:
        result = mitigation.balance(
            corpus,
            lexicon or words,
            out=out,
            direction=direction,
            degree=_read_degree(degree),
            keep=keep,
            max_removed=max_removed,
            tokenizer=tokenizer,
            layout=layout,
            field=typed_field(field),
            as_published=as_published,
            random_state=options.seed,
            progress=report,
        )
    return Outcome(result)


def _read_degree(typed: str) -> float | Literal["max"]:
    """Read a number from 0 to 1, or max."""
    if typed == "max":
        return "max"
    try:
        return float(typed)
    except ValueError:
        raise ParameterError(f"--degree takes a number from 0 to 1, or max. Got {typed!r}.") from None
