"""`biasgauge simulate-null`: what does an association test report when there is nothing to find?"""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, progress

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.uncertainty import NullSimulation

EPILOGUE = """\
Data sets are drawn in which no set of words leans anywhere, and the test is run
on each: how large do its numbers get, and how often does it find something?

The defaults are the paper's: 8 + 8 target words, 8 + 8 attributes, similarities
from Normal(0, .08), and its example, an effect size of 1.267. The paper says
that about 38 % of such data sets are as extreme. That is a fault of its script,
which averages one word of eight; as WEAT is defined, 0.8 % are.

p is honest while target words are independent. --family-sd makes the words of a
topic lean alike, and shows what happens then.

Examples:
  biasgauge simulate-null
  biasgauge simulate-null --n-x 25 --n-y 25 --observed 0.8
  biasgauge simulate-null --family-sd 0.04
  biasgauge simulate-null --test mac --attribute-sd 0.02
  biasgauge simulate-null --test rnd --simulations 1000 --observed 0.2
  biasgauge simulate-null --figures figures --json > null.json
"""

PAPER = 'paper: the share on the random numbers of its script; in print it is "around 38 %".'

app = App(name="simulate-null", help_epilogue=EPILOGUE)


@app.default
def simulate_null(
    *,
    test: str = "weat",
    n_x: int = 8,
    n_y: int = 8,
    n_a: int = 8,
    n_b: int = 8,
    sd: float = 0.08,
    word_sd: float = 0.0,
    attribute_sd: float = 0.0,
    family_sd: float = 0.0,
    family_size: int | None = None,
    dimensions: int | None = None,
    simulations: int | None = None,
    observed: float | None = None,
    observed_statistic: float | None = None,
    alternative: Literal["greater", "less", "two-sided"] = "two-sided",
    ddof: Literal[0, 1] = 0,
    level: float = 0.05,
    permutations: int = 199,
    as_published: bool = False,
    figures: Path | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Simulate data sets without bias and see what an association test reports.

    Args:
        test: which test: weat, mac, rnd, rnsb, ect, set_ripa, same, nas or semaxis
        n_x: target words in X
        n_y: target words in Y
        n_a: attribute words in A
        n_b: attribute words in B
        sd: standard deviation of similarities; of cosines of random vectors for tests that need vectors
        word_sd: sd of what a target word has with all attributes
        attribute_sd: sd of what an attribute has with all target words
        family_sd: sd of what target words of one family have in common with an attribute
        family_size: words in a family; by default each target set is one
        dimensions: draw random vectors of so many dimensions instead of similarities
        simulations: how many data sets; 50,000, or 2,000 for tests that need vectors, by default
        observed: a number to compare with: an effect size of weat, the value of another test
        observed_statistic: a statistic of weat to compare with
        alternative: which side p looks at
        ddof: 0 divides WEAT's variance by the number of words, 1 by one less
        level: p at or below it counts as a finding
        permutations: random exchanges of words for each p that is not exact; 0 for no such p
        as_published: take WEAT's effect size with the fault of the published script
        figures: a folder for figures, SVG and PNG
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute

    with progress(options, "simulating") as report:
        found = bg.simulate_null(
            test,
            n_x=n_x,
            n_y=n_y,
            n_a=n_a,
            n_b=n_b,
            sd=sd,
            word_sd=word_sd,
            attribute_sd=attribute_sd,
            family_sd=family_sd,
            family_size=family_size,
            dimensions=dimensions,
            simulations=simulations,
            observed=observed,
            observed_statistic=observed_statistic,
            alternative=alternative,
            ddof=ddof,
            level=level,
            permutations=permutations,
            as_published=as_published,
            random_state=options.seed,
            progress=report,
        )
    if figures is not None:
        bg.save_figures(bg.figures(found), figures)
    if options.json:
        print_json(options, found.to_dict(), settings=found.settings, warnings=found.warnings)
    else:
        _show(found, console(options))


def _show(found: NullSimulation, screen: Console) -> None:
    for warning in found.warnings:
        screen.print(f"note: {warning}", markup=False)
    drawn = {
        "statistic": found.statistic,
        "effect size": found.corrected,
        "effect size as published": found.published,
        "p": found.p_values,
    }
    screen.print(f"{found.test} on {found.settings['simulations']:,} data sets without bias", markup=False)
    rows = [
        (name, *(_number(one) for one in (spread.mean, spread.sd, *(spread.quantiles[q] for q in ("0.025", "0.975")))))
        for name, spread in drawn.items()
        if spread is not None
    ]
    print_table(screen, ("number", "mean", "sd", "2.5 %", "97.5 %"), rows)
    screen.print()
    shares = [(one.question, one.two_sided or one.greater, one.published) for one in found.comparisons]
    if found.rejection is not None:
        shares.append((f"p ≤ {found.level:g}", found.rejection, None))
    if shares:
        table = [
            (
                what,
                f"{share.value:.4f}",
                f"[{share.interval.low:.4f}, {share.interval.high:.4f}]",
                _number(share.theory, "–"),
                _number(published, "–"),
            )
            for what, share, published in shares
        ]
        print_table(screen, ("data sets with", "share", "95 % interval", "theory", "paper"), table)
        screen.print()
    remarks = [f"{one.of}: {one.reason}." for one in found.comparisons if one.reason and "published" in one.of]
    if any(one.published is not None for one in found.comparisons):
        remarks.append(PAPER)
    for line in (*remarks, found.reading):
        screen.print("\n".join(wrap(line, min(screen.width, 100))), markup=False)


def _number(value: float | None, none: str = "undefined") -> str:
    return none if value is None else f"{value:.4f}"
