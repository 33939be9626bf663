"""`biasgauge seeds`: is this pair of word lists fit to measure anything?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.screen import progress
from biasgauge.core import JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
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
_OF_PAIRS = ("a", "b", "pairs", "paper")
_OF_CHOICE = ("unit", "min_coverage", "case_fallback", "filter", "level")


def run(arguments: JsonObject, options: Options) -> Any:  # noqa: ANN401 - one of two kinds of results
    """Cards of pairs of sets, or one measurement under every list of a category."""
    from biasgauge.analyses import seeds as seed_words

    category, target = arguments.pop("category"), arguments.pop("target")
    if (category is None) != (target is None):
        raise ParameterError("--category and --target go together, as in --category female --target unpleasantness")
    if category is not None:
        if any(arguments[name] for name in _OF_PAIRS):
            raise ParameterError("--category measures with single lists; leave out --a, --b, --pairs and --paper")
        shared = {name: arguments[name] for name in _OF_CHOICE if name in arguments}
        return seed_words.seed_choice(arguments["vectors"], category, target, **shared)
    with progress(options, "ranking the vocabulary") as report:
        return seed_words.seeds(random_state=options.seed, progress=report, **arguments)


app = command(
    "analyses.seeds:seeds",
    arguments="vectors",
    options="a b pairs paper category target method shuffles leave_one_out generated nouns min_coverage case_fallback "
    "filter level",
    examples=EXAMPLES,
    terms="replicate",
    sources=("analyses.seeds:seed_choice",),
    changes={
        "vectors": Option("vector files: one model, or replicates", type=list[Path]),
        "a": Option("one set: words separated by commas, a file, NAME:SET, or an id of the seed bank"),
        "b": Option("the other set"),
        "pairs": Option('"all" for the 90 pairings of the seed bank, or a lexicon of kind "test" or "pairs"'),
        "paper": Option("only pairings of this paper of the seed bank"),
        "category": Option(
            "measure with every list of this category of the seed bank instead, against --target",
            type=str | None,
            default=None,
        ),
        "target": Option("what --category is measured against: as for --a, or one word", type=str | None, default=None),
        "nouns": Option("words that count as nouns for --generated: a file or a lexicon"),
        "leave_one_out": Option(
            "also without each seed: which one drives the result?",
            type=Literal["yes", "no"],
            default="yes",
            read=lambda typed: typed == "yes",
        ),
    },
    call=run,
    figures=True,
    fixed="counts",
)
app.command(
    command(
        "lexicons.listing:browse_seeds",
        name="bank",
        about="Browse the seed bank: 178 sets of 18 papers, how they were sourced, what they are paired with.",
        options="paper category sourcing justification word filter words",
        examples=BANK_EXAMPLES,
        changes={"words": Option("print the seeds too")},
        saves=False,
    )
)
