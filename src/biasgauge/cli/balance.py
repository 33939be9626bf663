"""`biasgauge balance`: debias or overbias a corpus before training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, progress
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.mitigation import BalanceResult

EPILOGUE = """\
A line is pro with words of X and A, or of Y and B; anti with Y and A, or X and
B; mixed with words of three sets or four. Debias removes pro lines until they
are as frequent as anti lines, overbias removes anti lines; a degree from 0 to 1
does so in part, max removes them all. Mixed lines stay, and so do all others,
byte by byte. At most 5 % of the lines go.

Examples:
  biasgauge balance corpus.txt --lexicon weat6b --out debiased.txt
  biasgauge balance corpus.txt.gz --lexicon weat7 --direction overbias \\
    --degree 0.5 --out overbiased.txt.gz
  biasgauge balance corpus.txt --x he,man --y she,woman --a salary,office \\
    --b home,family --degree max --max-removed 0.1 --out balanced.txt
  biasgauge balance tweets.tsv --field text --lexicon weat6b --out some.tsv
  biasgauge balance corpus.txt --lexicon weat6b --as-published --out theirs.txt
"""

app = App(name="balance", help_epilogue=EPILOGUE)


@app.default
def balance(
    corpus: Path,
    /,
    *,
    out: Path,
    lexicon: str | None = None,
    x: str | None = None,
    y: str | None = None,
    a: str | None = None,
    b: str | None = None,
    direction: Literal["debias", "overbias"] = "debias",
    degree: str = "1",
    keep: Literal["random", "earliest"] = "random",
    max_removed: float = 0.05,
    tokeniser: str | None = None,
    layout: str = "auto",
    field: str | None = None,
    as_published: bool = False,
    options: Options = DEFAULTS,
) -> None:
    """Sub-sample a corpus so that stereotypical lines become rarer, or rule.

    Args:
        corpus: a text file, compressed or not
        out: the file to write; compressed if it ends in .gz, .xz or .zst
        lexicon: a lexicon of kind "test", or your own TOML file
        x: first target set: words separated by commas, or a file with one word a line, or NAME:SET
        y: second target set
        a: first attribute set
        b: second attribute set
        direction: debias removes pro lines, overbias anti lines
        degree: from 0 to 1, or max; debias: the share of the surplus of pro over anti lines that goes; overbias: the
            share of anti lines; max: every pro (anti) line
        keep: which lines stay: a random sample (by --seed), or the earliest
        max_removed: largest share of all lines that may go
        tokeniser: what a word is: words (lower-case letters; by default), ascii-words, whitespace, lower-whitespace,
            twitter, spacy:en
        layout: lines, paragraphs, wikitext, tsv, csv, jsonl; by the file's ending if not given
        field: column that holds the text, by its name or, without a header, by its number; or field of JSON lines
        as_published: the rule of Goldfarb-Tarrant et al. 2021: the earliest lines stay, mixed ones may go, tokens are
            what stands between blanks, and nothing limits how many lines go
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute

    with progress(options, "balancing") as report:
        found = bg.balance(
            corpus,
            _lexicon(lexicon, {"x": x, "y": y, "a": a, "b": b}),
            out=out,
            direction=direction,
            degree=_degree(degree),
            keep=keep,
            max_removed=max_removed,
            tokeniser=tokeniser,
            layout=layout,
            field=int(field) if field is not None and field.isdecimal() else field,
            as_published=as_published,
            random_state=options.seed,
            progress=report,
        )
    if options.json:
        print_json(options, found.to_dict(), settings=found.settings, warnings=found.warnings)
    else:
        _show(found, console(options), notes=not options.quiet)


def _lexicon(named: str | None, sets: dict[str, str | None]) -> str | dict[str, Any]:
    from biasgauge.cli.words import asked_words  # noqa: PLC0415 - only commands that need words

    given = {role: asked_words(words) for role, words in sets.items() if words is not None}
    if named is not None and not given:
        return named
    if named is None and len(given) == len(sets):
        return given
    raise ParameterError("Give either --lexicon, or all of --x, --y, --a and --b.")


def _degree(typed: str) -> float | Literal["max"]:
    if typed == "max":
        return "max"
    try:
        return float(typed)
    except ValueError:
        raise ParameterError(f"--degree takes a number from 0 to 1, or max. Got {typed!r}.") from None


def _show(found: BalanceResult, screen: Console, *, notes: bool) -> None:
    for warning in found.warnings if notes else ():
        screen.print(f"note: {warning}", markup=False)
    rows = [(one.name, one.before, one.removed, one.after, " + ".join(one.holds)) for one in found.classes]
    print_table(screen, ("lines", "before", "removed", "after", "hold"), rows)
    share = found.removed / found.lines
    screen.print(f"\n{found.removed:,} of {found.lines:,} lines removed ({share:.2%}): {found.path}", soft_wrap=True)
