"""`biasgauge plan`: power before measuring."""

from __future__ import annotations

from collections.abc import Sequence
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
    command,
)
from biasgauge.cli.files import check_files
from biasgauge.cli.screen import progress
from biasgauge.core import WordPolicy

EXAMPLES = """\
Only the standard error of the contrast is used, so that planning does not look
at the answer. With --recipe, words that its sources offer are listed.

An audit fills in --size and --alpha of questions that it leaves inconclusive.

Examples:
  biasgauge plan --test race_status
  biasgauge plan vectors.bin --test weat7
  biasgauge plan vectors.bin --test weat7 --size 0.05 --power 0.9 --json
  biasgauge plan vectors.bin --test my_test.toml --recipe recipe.toml \\
    --data downloads/ --out plan.csv
"""


@command(examples=EXAMPLES, terms="contrast replicate", checks={"vectors": check_files})
def plan(
    vectors: Sequence[Path] = (),
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
    replicates: bool = False,
    options: ResultOptions = SAVE,
) -> Outcome:
    """Plan a test: the contrast that its lists can detect, words needed, words to drop and to add.

    Args:
        vectors: a vector file in any format that `biasgauge formats` lists, or several replicates; without any, the
            vectors that ship
        test: a lexicon of kind "test", or your own TOML file
        power: wanted chance of detection
        alpha: two-sided error of the test; divide it by the number of questions that you ask
        size: the smallest contrast that matters; by default that of the audit
        recipe: a recipe for the lists, whose sources offer words to add
        data: folder with the files of these sources, and with WordNet for ambiguous words; repeat for several
        replicates: the files are replicates, although no recipe beside them says so
    """
    with progress(options, "reading vectors") as report:
        models = embeddings.load_models(vectors, progress=report) if vectors else None
    result = analyses.plan.plan(
        models,
        test,
        power=power,
        alpha=alpha,
        size=size,
        recipe=recipe,
        data=data,
        policy=WordPolicy.from_options(min_coverage, case_fallback),
        replicates=replicates,
        random_state=options.seed,
    )
    settings = {"test": test, "recipe": recipe, "data": list(data), "min_coverage": min_coverage}
    return Outcome(result, settings=settings, exit_code=UNDEFINED if result.detectable is None else 0)
