"""`biasgauge seeds`: is this pair of word lists fit to measure anything?"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, progress
from biasgauge.cli.seeds_tables import show, show_bank, show_choice
from biasgauge.errors import ParameterError

EPILOGUE = """\
Coherence: how far apart the two sets stand when the whole vocabulary is ranked
along the subspace between them, as a share of the vocabulary (0 in the same
place, 1 at opposite ends). Any few words reach a high one, because the subspace
is made from them: held-out coherence ranks every seed along the subspace of the
others. Several files are replicates: intervals are then over models.

Examples:
  biasgauge seeds vectors.bin --a he,man,his --b she,woman,her
  biasgauge seeds vectors.bin --pairs all --case-fallback --figures figures
  biasgauge seeds seed*.bin --paper Bolukbasi --method pca --json
  biasgauge seeds vectors.bin --pairs weat7 --generated 50
  biasgauge seeds vectors.bin --category female --target unpleasantness
  biasgauge seeds bank --sourcing curated
"""

BANK_EXAMPLES = """\
Examples:
  biasgauge seeds bank
  biasgauge seeds bank --category female
  biasgauge seeds bank --paper Caliskan --sourcing borrowed --words
"""

app = App(name="seeds", help_epilogue=EPILOGUE)


@app.default
def seeds(
    vectors: Path,
    /,
    *more: Path,
    a: str | None = None,
    b: str | None = None,
    pairs: str | None = None,
    paper: str | None = None,
    category: str | None = None,
    target: str | None = None,
    method: Literal["mean-difference", "pca"] = "mean-difference",
    unit: bool = False,
    shuffles: int = 200,
    leave_one_out: Literal["yes", "no"] = "yes",
    generated: int = 0,
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    filter: Literal["corrected", "published", "none"] = "corrected",  # noqa: A002 - the word that the papers use
    level: float = 0.95,
    figures: Path | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Say what pairs of seed sets are worth in these vectors: a fitness card for each.

    Args:
        vectors: a vector file
        more: further vector files: replicates
        a: one set: words separated by commas, a file with one word a line, NAME:SET, or an id of the seed bank
        b: the other set
        pairs: "all" for the 90 pairings of the seed bank, or a lexicon of kind "test" or "pairs"
        paper: only pairings of this paper of the seed bank
        category: measure with every list of this category of the seed bank instead, against --target
        target: what --category is measured against: as for --a, or one word
        method: the subspace: difference of the means, or first principal component of the pairs
        unit: scale vectors to length 1 first
        shuffles: shuffled pairings to compare with
        leave_one_out: also without each seed: which one drives the result?
        generated: generate so many sets of nouns as a reference (50 in the papers)
        min_coverage: share of each set's words that must be found
        case_fallback: look a lost word up in lower case, then capitalised
        filter: which form of the seed bank
        level: nominal coverage of the intervals
        figures: a folder for figures, SVG and PNG
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute
    from biasgauge.cli.words import asked_words  # noqa: PLC0415 - as above

    if (category is None) != (target is None):
        raise ParameterError("--category and --target go together, as in --category female --target unpleasantness")
    shared: dict[str, Any] = {
        "unit": unit,
        "min_coverage": min_coverage,
        "case_fallback": case_fallback,
        "filter": filter,
        "level": level,
    }
    with progress(options, "ranking the vocabulary") as report:
        found: Any
        if category is not None:
            if a or b or pairs or paper:
                raise ParameterError("--category measures with single lists; leave out --a, --b, --pairs and --paper")
            found = bg.seed_choice([vectors, *more], category, asked_words(target), **shared)
        else:
            found = bg.seeds(
                [vectors, *more],
                asked_words(a),
                asked_words(b),
                pairs=pairs,
                paper=paper,
                method=method,
                shuffles=shuffles,
                leave_one_out=leave_one_out == "yes",
                generated=generated,
                random_state=options.seed,
                progress=report,
                **shared,
            )
    if figures is not None:
        bg.save_figures(bg.figures(found), figures)
    if options.json:
        content = found.to_dict()
        warnings = content.pop("warnings", ())
        print_json(options, content, settings=content.pop("settings"), warnings=warnings)
    elif category is not None:
        show_choice(found, console(options))
    else:
        show(found, console(options))


@app.command(help_epilogue=BANK_EXAMPLES)
def bank(
    *,
    paper: str | None = None,
    category: str | None = None,
    sourcing: str | None = None,
    justification: str | None = None,
    word: str | None = None,
    filter: Literal["corrected", "published", "none"] = "none",  # noqa: A002 - as in seeds
    words: bool = False,
    options: Options = DEFAULTS,
) -> None:
    """Browse the seed bank: 178 sets of 18 papers, how they were sourced, and what they are paired with.

    Args:
        paper: text of the paper's title, authors or year
        category: a word of the category or of the set's id
        sourcing: borrowed, crowd-sourced, population-derived, lexical, corpus-derived, curated, re-used, other, unknown
        justification: text of what the paper says about the choice
        word: sets that hold this seed
        filter: which form of the bank
        words: print the seeds too
        options: those of every command
    """
    from biasgauge.lexicons import seed_bank  # noqa: PLC0415 - reading the bank takes a moment

    asked = {"paper": paper, "category": category, "sourcing": sourcing, "justification": justification, "word": word}
    whole = seed_bank(filter).bank
    found = whole.browse(**asked)
    if options.json:
        rows = [{**one.content(), "sourcing": one.sourcing, "partners": whole.partners(one.id)} for one in found]
        print_json(options, {"sets": rows}, settings={**asked, "filter": filter})
    else:
        show_bank(whole, found, console(options), words=words)
