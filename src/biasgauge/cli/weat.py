"""`biasgauge weat`: an association test on one model."""

from __future__ import annotations

from typing import Any, Literal

from biasgauge import scores, stats
from biasgauge import vectors as embeddings
from biasgauge.cli.command import SAVE, UNDEFINED, Outcome, ResultOptions, VectorFile, command
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import LOOKUP, NO_SETS, TypedSets, WordLookup

EXAMPLES = """\
Leads with the contrast in cosine units, its interval, and the largest of three
two-sided p: over other targets, other attributes, and both. Positive: X is more
associated with A, Y with B. The effect size d and p over targets alone follow,
as published; --alternative is of these. p is exact where there are at most two
million splits, and otherwise a Monte Carlo estimate with its own interval. A
test without enough words is undefined, with exit code 2.

Examples:
  biasgauge weat vectors.bin --test weat7
  biasgauge weat vectors.bin --test my_test.toml --alternative two-sided
  biasgauge weat glove.txt --x he,man --y she,woman --a math,logic --b poem,art
  biasgauge weat vectors.bin --test weat6 --case-fallback --kind rnsb --json
  biasgauge weat vectors.bin --test religion --kind mac
  biasgauge weat es.vec --test weat_es_gender --trimming as_published
"""
COUNTERPARTS = {"balanced": "balance", "none": "keep", "as_published": "as-published"}
"""Rules of the policy, by the choices of --trimming."""


@command(
    examples=EXAMPLES,
    terms="contrast WEAT",
    settings={"max_exact": int, "samples": int, "ties": str, "level": float, "resamples": int},
    open_ended=True,
)
def weat(
    vectors: VectorFile,
    /,
    *,
    test: str | None = None,
    sets: TypedSets = NO_SETS,
    alternative: Literal["greater", "less", "two-sided"] = "greater",
    ddof: Rare[int] = 0,
    kind: str = "weat",
    lookup: WordLookup = LOOKUP,
    trimming: Rare[Literal["balanced", "none", "as_published"]] = "balanced",
    interval: Rare[Literal["bca", "percentile", "jackknife"]] = "bca",
    options: ResultOptions = SAVE,
    **further: Any,
) -> Outcome:
    """Association test of two sets of words with two others.

    Args:
        test: a lexicon of kind "test", or your own TOML file; for --kind mac of stereotypes, too
        alternative: which splits of X and Y count as extreme
        ddof: 0 divides the variance by the number of words, 1 by one less
        kind: which test: weat, mac, rnd, rnsb, ect, set_ripa, same, nas, semaxis, or one that an installed package adds
        trimming: what else goes with lost words: the other form of a word (balanced), nothing (none), or the last words
            of the longer set (as_published)
        interval: how the interval over words is found
    """
    with progress(options, "reading vectors") as report:
        model = embeddings.load(vectors, progress=report)
    spread = {name: further.pop(name) for name in ("level", "resamples") if name in further}
    if kind == "weat":
        further |= {"random_state": options.seed}
    if kind == "weat" or alternative != "greater":
        further |= {"alternative": alternative}
    if kind == "weat" or ddof:
        further |= {"ddof": ddof}
    result = scores.association_test(
        model,
        test,
        **sets.read(),
        kind=kind,
        policy=lookup.policy(counterparts=COUNTERPARTS[trimming]),
        interval=stats.Resampling(method=interval, random_state=options.seed, **spread),
        **further,
    )
    warnings = [notice.message for notice in model.notices]
    return Outcome(result, warnings=warnings, exit_code=0 if result.value is not None else UNDEFINED)
