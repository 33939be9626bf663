"""`biasgauge robustness`: does a measurement survive another pair, word form or measure?"""

from __future__ import annotations

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.words import typed_names, typed_words

EXAMPLES = """\
Agreement is kappa: 1 is perfect, 0 no better than chance. A change of a score
is relevant when it is at least one standard deviation of the scores of frequent
words. The paper's table prints one minus the share of relevant changes; here it
is the share itself, and with --as-published both.

Examples:
  biasgauge robustness vectors.bin
  biasgauge robustness vectors.bin --pairs my_pairs.toml --words nurse,surgeon
  biasgauge robustness vectors.bin --forms plural,upper --truths bsri
  biasgauge robustness vectors.bin --as-published --json > robustness.json
  biasgauge robustness vectors.bin --analogies --figures figures
"""


def forms(typed: str) -> dict[str, str | None]:
    """Names of forms; NAME=FILE is a form of the user's own."""
    split = [name.partition("=") for name in names(typed)]
    return {name: path or None for name, _, path in split}


def names(typed: str) -> list[str]:
    """Names separated by commas; "none" for none."""
    return [] if typed == "none" else typed_names(typed)


app = command(
    "analyses.robustness:robustness",
    arguments="vectors",
    options="pairs words truths measures forms pair_forms k pool as_published analogies min_coverage level n_jobs",
    examples=EXAMPLES,
    terms="κ DB/WA RIPA NBM",
    doing="scoring",
    changes={
        "truths": Option(
            "lexicons of words whose direction is known, separated by commas; none for none; by default bsri and "
            "animals for pairs of male and female",
            read=names,
        ),
        "measures": Option("measures separated by commas"),
        "forms": Option(
            "forms of the words, separated by commas: plural, capitalized, upper, lower; none for none; NAME=FILE for "
            "your own, a TOML file of pairs (word, form)",
            read=forms,
        ),
        "pair_forms": Option("forms of the pairs, likewise", read=forms),
        "pool": Option(
            "which words may be neighbors: neutral (frequent words that do not name what the pairs are about), all, or "
            "as for --words",
            type=str,
            default="neutral",
            read=lambda typed: {"neutral": "neutral", "all": None}.get(typed, typed_words(typed)),
        ),
        "as_published": Option("as the paper's code has it"),
        "analogies": Option("look at the analogies of man and woman too"),
    },
    figures=True,
)
