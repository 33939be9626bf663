"""`biasgauge weat`: an association test on one model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.screen import progress
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
A positive effect: X is more associated with A, Y with B. p is exact where there
are at most two million splits of X and Y, and otherwise a Monte Carlo estimate
with its own interval. The interval of the effect size says how far it would
move with other words of the same kind, not with another corpus. A test without
enough words is undefined, and leaves with exit code 2.

Examples:
  biasgauge weat vectors.bin --test weat7
  biasgauge weat vectors.bin --test my_test.toml --alternative two-sided
  biasgauge weat glove.txt --x he,man --y she,woman --a math,logic --b poem,art
  biasgauge weat vectors.bin --test weat6 --case-fallback --kind rnsb --json
  biasgauge weat es.vec --test weat_es_gender --trimming as_published
"""
UNDEFINED = 2
"""Exit code of a test that has no number."""
SET = "words separated by commas, a file with one word per line, or NAME:SET"


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Read the vectors, then test; `alternative` and `ddof` are of WEAT alone."""
    from biasgauge.core import WordPolicy
    from biasgauge.scores import association_test
    from biasgauge.stats import Resampling
    from biasgauge.vectors import load

    own = {name: arguments.pop(name) for name in ("alternative", "ddof")}
    own = {**own, "random_state": options.seed} if arguments["kind"] == "weat" else {}
    with progress(options, "reading vectors") as report:
        model = load(arguments.pop("vectors"), progress=report)
    spread = {name: arguments.pop(name) for name in ("level", "resamples") if name in arguments}
    interval = Resampling(method=arguments.pop("interval"), random_state=options.seed, **spread)
    rule = {"balanced": "balance", "none": "keep", "as_published": "as-published"}[arguments.pop("trimming")]
    policy = WordPolicy.from_options(arguments.pop("min_coverage"), arguments.pop("case_fallback"))
    policy = replace(policy, counterparts=rule)  # type: ignore[arg-type]  # one of its choices
    result = association_test(model, interval=interval, policy=policy, **arguments, **own)
    warnings = [notice.message for notice in model.notices]
    return Outcome(result, warnings=warnings, exit_code=0 if result.value is not None else UNDEFINED)


app = command(
    "scores:association_test",
    name="weat",
    arguments="vectors",
    options="test x y a b alternative ddof kind min_coverage case_fallback trimming interval",
    examples=EXAMPLES,
    terms="contrast WEAT",
    sources=("metrics.weat:weat", "stats.bootstrap:Resampling", "scores:weat"),
    changes={
        "test": Option('a lexicon of kind "test", or your own TOML file'),
        "min_coverage": Option("share of each set that must be found", type=float, default=0.8),
        "case_fallback": Option(
            "look words up in lower case, then capitalized, when they are not there as written; by default where the "
            "whole vocabulary is in lower case",
            type=bool | None,
            default=None,
        ),
        "trimming": Option(
            "what else goes with lost words: the other form of a word (balanced), nothing (none), or the last words "
            "of the longer set (as_published)",
            type=Literal["balanced", "none", "as_published"],
            default="balanced",
        ),
        "x": Option(f"first target set: {SET}"),
        "y": Option("second target set"),
        "a": Option("first attribute set"),
        "b": Option("second attribute set"),
        "ddof": Option("0 divides the variance by the number of words, 1 by one less"),
        "alternative": Option("which splits of X and Y count as extreme"),
        "kind": Option("which test: weat, mac, rnd, rnsb, ect, set_ripa, same, nas or semaxis"),
        "interval": Option("how the interval over words is found", like="method"),
    },
    call=run,
)
