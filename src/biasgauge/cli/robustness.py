"""`biasgauge robustness`: does a measurement survive another pair, word form or measure?"""

from __future__ import annotations

from pathlib import Path

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.robustness_tables import show
from biasgauge.cli.screen import console, print_json, progress

EPILOGUE = """\
Agreement is kappa: 1 is perfect, 0 no better than chance. A change of a score
is relevant from one standard deviation of the scores of all frequent words on.
The paper's table prints one minus the share of relevant changes; here it is the
share itself, and both with --as-published.

Examples:
  biasgauge robustness vectors.bin
  biasgauge robustness vectors.bin --pairs my_pairs.toml --words nurse,surgeon
  biasgauge robustness vectors.bin --forms plural,upper --truths bsri
  biasgauge robustness vectors.bin --as-published --json > robustness.json
  biasgauge robustness vectors.bin --analogies --figures figures
"""

app = App(name="robustness", help_epilogue=EPILOGUE)


@app.default
def robustness(
    vectors: Path,
    /,
    *,
    pairs: str = "zhang2020",
    words: str = "occ16",
    truths: str | None = None,
    measures: str = "dbwa,ripa,nbm",
    forms: str = "plural,capitalised,upper",
    pair_forms: str = "capitalised",
    k: int = 100,
    pool: str = "neutral",
    frequent: int = 50_000,
    as_published: bool = False,
    analogies: bool = False,
    min_coverage: float = 0.8,
    level: float = 0.95,
    figures: Path | None = None,
    jobs: int | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Say what of a measurement survives another base pair, word form or measure.

    Args:
        vectors: a vector file
        pairs: a lexicon of pairs, or your own TOML file
        words: a lexicon, NAME:SET, words separated by commas, or a file with one word a line
        truths: lexicons of words whose direction is known, separated by commas; none for none; by default bsri and
            animals for pairs of male and female
        measures: measures separated by commas
        forms: forms of the words, separated by commas: plural, capitalised, upper, lower; none for none; NAME=FILE for
            your own, a TOML file of pairs (word, form)
        pair_forms: forms of the pairs, likewise
        k: how many neighbours vote
        pool: which words may be neighbours: neutral, all, or as for words
        frequent: how many of the first words of the file count as frequent
        as_published: as the paper's code has it
        analogies: look at the analogies of man and woman too
        min_coverage: share of the words, and of those of a truth, that must be found
        level: nominal coverage of the intervals
        figures: a folder for figures, SVG and PNG
        jobs: threads; all cores by default
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute
    from biasgauge.cli.words import asked_words  # noqa: PLC0415 - as above

    with progress(options, "scoring") as report:
        found = bg.robustness(
            vectors,
            pairs=pairs,
            words=asked_words(words),
            truths=None if truths is None else _names(truths),
            measures=_names(measures),
            forms=_forms(forms),
            pair_forms=_forms(pair_forms),
            k=k,
            pool={"neutral": "neutral", "all": None}.get(pool, asked_words(pool)),
            frequent=frequent,
            as_published=as_published,
            analogies=analogies,
            min_coverage=min_coverage,
            level=level,
            random_state=options.seed,
            n_jobs=jobs,
            progress=report,
        )
    if figures is not None:
        bg.save_figures(bg.figures(found), figures)
    if options.json:
        content = found.to_dict()
        print_json(options, content, settings=content.pop("settings"), warnings=content.pop("warnings"))
    else:
        show(found, console(options))


def _names(typed: str) -> list[str]:
    names = [name.strip() for name in typed.split(",") if name.strip()]
    return [] if names == ["none"] else names


def _forms(typed: str) -> dict[str, str | None]:
    """Names of forms; NAME=FILE is a form of the user's own."""
    split = [name.partition("=") for name in _names(typed)]
    return {name: path or None for name, _, path in split}
