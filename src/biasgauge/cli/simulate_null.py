"""`biasgauge simulate-null`: numbers of an association test when there is nothing to find."""

from __future__ import annotations

from typing import Any, Literal

from biasgauge.analyses import posterior
from biasgauge.cli.command import DRAW, FigureOptions, Outcome, command
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress

EXAMPLES = """\
Data sets are drawn in which no set of words is associated with anything, and
the test is run on each: how large do its numbers get, and how often does it
find something?

The defaults are the paper's: 8 + 8 target words, 8 + 8 attributes, similarities
from Normal(0, .08), and its example, an effect size of 1.267. The paper says
that about 38 % of such data sets are as extreme. That is a fault of its script,
which averages one word of eight; as WEAT is defined, 0.8 % are.

p is honest while target words are independent. --family-sd makes the words of a
topic associate alike, and shows what happens then.

Examples:
  biasgauge simulate-null
  biasgauge simulate-null --n-x 25 --n-y 25 --observed 0.8
  biasgauge simulate-null --family-sd 0.04
  biasgauge simulate-null --test mac --set attribute_sd=0.02
  biasgauge simulate-null --test rnd --simulations 1000 --observed 0.2
  biasgauge simulate-null --figures figures --json > null.json
"""
SETTINGS = {
    "word_sd": float,
    "attribute_sd": float,
    "family_size": int | None,
    "dimensions": int | None,
    "observed_statistic": float | None,
    "ddof": int,
    "alpha": float,
    "permutations": int,
}


@command(examples=EXAMPLES, terms="WEAT", settings=SETTINGS)
def simulate_null(
    *,
    test: str = "weat",
    n_x: int = 8,
    n_y: int = 8,
    n_a: int = 8,
    n_b: int = 8,
    sd: float = 0.08,
    family_sd: Rare[float] = 0.0,
    simulations: int | None = None,
    observed: float | None = None,
    alternative: Literal["greater", "less", "two-sided"] = "two-sided",
    as_published: Rare[bool] = False,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Simulate what a test reports when there is no bias.

    Args:
        test: a registered association test
        n_x: words in X; tests without a set Y or B ignore its size
        n_y: words in Y
        n_a: words in A
        n_b: words in B
        sd: standard deviation of similarities; .08 is that of neutral words in the paper
        family_sd: standard deviation that words of one family share: where it is above 0, WEAT's p is too small
        simulations: how many data sets; by default 50,000 of similarities, 2,000 of vectors
        observed: a number to compare with: an effect size of WEAT (1.267, the paper's example, by default), the value
            of another test
        alternative: which side p looks at
        as_published: take WEAT's effect size with the fault of the published script. Both are always in the result
    """
    with progress(options, "simulating") as report:
        result = posterior.simulate_null(
            test,
            n_x=n_x,
            n_y=n_y,
            n_a=n_a,
            n_b=n_b,
            sd=sd,
            family_sd=family_sd,
            simulations=simulations,
            observed=observed,
            alternative=alternative,
            as_published=as_published,
            random_state=options.seed,
            progress=report,
            **further,
        )
    return Outcome(result)
