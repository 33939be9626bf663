"""`biasgauge plan`: power before measuring."""

from __future__ import annotations

from pathlib import Path

from biasgauge import analyses
from biasgauge import vectors as embeddings
from biasgauge.cli.command import (
    SAVE,
    UNDEFINED,
    AutoCaseFallback,
    MinCoverage,
    Outcome,
    ResultOptions,
    VectorFile,
    command,
)
from biasgauge.cli.screen import progress
from biasgauge.core import WordPolicy

EXAMPLES = """\
Only the standard error of the contrast is used, so that planning does not look
at the answer. With --recipe, words that its sources offer are listed.

Examples:
  biasgauge plan vectors.bin --test weat7
  biasgauge plan vectors.bin --test weat7 --size 0.05 --power 0.9 --json
  biasgauge plan vectors.bin --test my_test.toml --recipe recipe.toml \\
    --data downloads/ --out plan.csv
"""


@command(examples=EXAMPLES, terms="contrast")
def plan(
    vectors: VectorFile,
    /,
    *,
    test: str,
    power: float = 0.8,
    alpha: float = 0.05,
    size: float | None = None,
    recipe: Path | None = None,
    data: tuple[Path, ...] = (),
    min_coverage: MinCoverage = 0.8,
    case_fallback: AutoCaseFallback = None,
    options: ResultOptions = SAVE,
) -> Outcome:
    """Plan a test: the contrast that its lists can detect, words needed, words to drop and to add.

    Args:
        test: a lexicon of kind "test", or your own TOML file
        power: wanted chance of detection
        alpha: two-sided error of the test; divide it by the number of questions that you ask
        size: the smallest contrast that matters; by default that of the audit
        recipe: a recipe for the lists, whose sources offer words to add
        data: folder with the files of these sources, and with WordNet for ambiguous words; repeat for several
    """
    with progress(options, "reading vectors") as report:
        model = embeddings.load(vectors, progress=report)
    result = analyses.plan.plan(
        model,
        test,
        power=power,
        alpha=alpha,
        size=size,
        recipe=recipe,
        data=data,
        policy=WordPolicy.from_options(min_coverage, case_fallback),
        random_state=options.seed,
    )
    settings = {"test": test, "recipe": recipe, "data": list(data), "min_coverage": min_coverage}
    return Outcome(result, settings=settings, exit_code=UNDEFINED if result.detectable is None else 0)
