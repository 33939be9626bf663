"""`biasgauge bayes`: posterior of cosine distances between protected words and attributes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, progress
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.uncertainty import AttributePlan, ChangeResult, DistanceTable, Posterior, WithinBand

EPILOGUE = """\
1 means unrelated, less means closer. Associated: a word and an attribute of the
stereotype about its own group; different: of another group's; human, neutral:
control words. Intervals are the narrowest that hold 89 % of the posterior.

Examples:
  biasgauge bayes vectors.bin --lexicon religion
  biasgauge bayes vectors.bin --lexicon weat7 --variant crossed --words
  biasgauge bayes --distances religion_reddit.csv.gz --json
  biasgauge bayes --distances race.csv --duplicates keep --interval percentile
  biasgauge bayes before.bin --lexicon gender --after debiased.bin
  biasgauge bayes vectors.bin --lexicon religion --band mac --width 0.05
  biasgauge bayes vectors.bin --lexicon religion --figures figures --word imam
"""

app = App(name="bayes", help_epilogue=EPILOGUE)

Variant = Literal["per-connection", "single-sigma", "intercept", "student", "crossed"]


@app.default
def bayes(
    vectors: Path | None = None,
    /,
    *,
    lexicon: str | None = None,
    distances: Path | None = None,
    after: Path | None = None,
    variant: Variant = "per-connection",
    interval: Literal["hpdi", "percentile"] = "hpdi",
    prob: float = 0.89,
    duplicates: Literal["drop", "keep"] = "drop",
    human: str = "default",
    neutral: str = "default",
    draws: int = 4000,
    rope: float | None = None,
    prior_group: str | None = None,
    prior_between: str | None = None,
    prior_residual: str | None = None,
    prior_attribute: str | None = None,
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    sampler: Literal["auto", "exact", "integrated", "nuts"] = "auto",
    words: bool = False,
    band: Literal["mac"] | float | None = None,
    width: float | None = None,
    contrast: str = "associated,different",
    figures: Path | None = None,
    word: str | None = None,
    options: Options = DEFAULTS,
) -> None:
    """How far protected words lie from stereotypes, beside control words.

    Args:
        vectors: a vector file
        lexicon: a lexicon of kind "stereotypes" or "test", or your own TOML file
        distances: a file of cosine distances instead of vectors, as the paper's authors published them
        after: vectors (or distances) after a change, such as debiasing: what did it do, on the same words?
        variant: the model; crossed adds an effect of each attribute, student has heavier tails
        interval: hpdi, or percentile as in the published figures
        prob: probability inside the intervals
        duplicates: count repeated rows once (drop) or as often as they stand there (keep), as published
        human: control words about people: a lexicon, or none
        neutral: control words about nothing in particular: a lexicon, or none
        draws: draws of the posterior
        rope: differences up to this size count as none; a tenth of the residual sd by default
        prior_group: prior of a group's mean, as in "normal(1, 0.3)"
        prior_between: prior of the sd of word means, as in "exponential(2)" or "halfnormal(0.5)"
        prior_residual: prior of the residual sd
        prior_attribute: prior of the sd of attribute effects
        min_coverage: share of each set's words that must be found
        case_fallback: look a lost word up in lower case, then capitalised
        sampler: auto takes the fastest; nuts needs the extra "bayes"
        words: show every protected word too
        band: share of similarities within this much of 0, by connection; mac takes 1 − MAC, as the paper does
        width: how many attribute words until the interval of --contrast is narrower than this?
        contrast: two connections, for --width
        figures: a folder for figures, SVG and PNG
        word: draw the distances of this protected word too, with --figures
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute

    if after is not None and width is not None:
        raise ParameterError("--width plans for one set of distances; it does not go with --after.")
    if word is not None and (figures is None or after is not None):
        raise ParameterError("--word goes with --figures, and not with --after.")
    typed = {"group": prior_group, "between": prior_between, "residual": prior_residual, "attribute": prior_attribute}
    controls = {name: None if typed == "none" else typed for name, typed in (("human", human), ("neutral", neutral))}
    asked = {"duplicates": duplicates, "min_coverage": min_coverage, "case_fallback": case_fallback, **controls}
    tables = _tables(vectors, lexicon, distances, after, asked, options)
    settings: dict[str, Any] = {
        "variant": variant,
        "priors": {name: text for name, text in typed.items() if text is not None},
        "interval": interval,
        "prob": prob,
        "draws": draws,
        "rope": rope,
        "sampler": sampler,
        "random_state": options.seed,
    }
    if variant == "student" or sampler == "nuts":
        _say_that_it_takes_long(options)
    found: Posterior | ChangeResult
    if after is None:
        found = posterior = bg.bayes(tables[0], **settings)
        show = partial(_show, posterior)
    else:
        found = changed = bg.bayes_change(tables[0], tables[1], **settings)
        posterior, show = changed.after, partial(_show_change, changed)
    asides = _asides(posterior, tables, band, width, contrast, options)
    if figures is not None:
        drawn = bg.figures(found, **({} if word is None else {"word": word}))
        drawn |= bg.figures(asides["within_band"]) if "within_band" in asides else {}
        bg.save_figures(drawn, figures)
    if options.json:
        more = {name: aside.to_dict() for name, aside in asides.items()}
        print_json(options, {**found.to_dict(), **more}, settings=posterior.settings, warnings=found.warnings)
        return
    screen = console(options)
    show(screen, words=words)
    _show_asides(asides, screen)


def _tables(
    vectors: Path | None,
    lexicon: str | None,
    distances: Path | None,
    after: Path | None,
    asked: dict[str, Any],
    options: Options,
) -> list[DistanceTable]:
    """The distances to fit, and those after a change where there are any."""
    if (vectors is None) == (distances is None):
        raise ParameterError("Name a vector file and --lexicon, or --distances FILE; one of them, not both.")
    import biasgauge as bg  # noqa: PLC0415 - as in bayes

    if vectors is None:
        if lexicon is not None:
            raise ParameterError("--lexicon goes with vectors; the rows of --distances say how words are connected.")
        files = [path for path in (distances, after) if path is not None]
        return [bg.read_distances(path, duplicates=asked["duplicates"]) for path in files]
    if lexicon is None:
        raise ParameterError("--lexicon is missing: which words to compare, as in --lexicon religion")
    with progress(options, "reading vectors") as report:
        return [bg.distances(path, lexicon, progress=report, **asked) for path in (vectors, after) if path is not None]


def _asides(
    found: Posterior,
    tables: list[DistanceTable],
    band: str | float | None,
    width: float | None,
    contrast: str,
    options: Options,
) -> dict[str, Any]:
    """What was asked for beside the posterior: shares within a band, a plan."""
    import biasgauge as bg  # noqa: PLC0415 - as in bayes

    asides: dict[str, Any] = {}
    if band is not None:
        asides["within_band"] = bg.within_band(
            tables[0],
            after=tables[1] if len(tables) > 1 else None,
            band=None if band == "mac" else float(band),
            random_state=options.seed,
        )
    if width is not None:
        names = tuple(name.strip() for name in contrast.split(","))
        asides["plan"] = bg.plan_attributes(found, width=width, contrast=names)  # type: ignore[arg-type]
    return asides


def _say_that_it_takes_long(options: Options) -> None:
    if not options.quiet:
        from rich.console import Console  # noqa: PLC0415 - half of the start-up time

        Console(stderr=True).print("sampling with NUTS: a minute or more", highlight=False)


def _show(found: Posterior, screen: Console, *, words: bool) -> None:
    for warning in found.warnings:
        screen.print(f"note: {warning}", markup=False)
    screen.print(f"{found.table.name}: {found.variant}, {len(found.table):,} distances", markup=False)
    level = f"{found.credible.prob:.0%} {found.credible.kind}"
    rows = [
        (
            one.connection,
            *([one.word or "(group)"] if words else []),
            *_numbers(one.mean, one.low, one.high, one.reason),
        )
        for one in (*found.groups, *(found.words if words else ()))
    ]
    print_table(screen, ("connection", *(["word"] if words else []), "mean", level), rows)
    screen.print()
    differences = [
        (
            f"{one.a} − {one.b}",
            *_numbers(one.mean, one.low, one.high),
            f"{one.p_direction:.3f}",
            f"{one.p_equivalent:.3f}",
        )
        for one in found.contrasts
        if one.word is None
    ]
    if differences:
        same = f"p(within ±{found.rope:.3f})"
        print_table(screen, ("difference", "mean", level, "p(direction)", same), differences)
        screen.print()
    if found.predictive is not None:
        inside = f"{found.predictive.within_50:.0%} within 50 %, {found.predictive.within_89:.0%} within 89 %"
        screen.print(f"predictions: {inside} of what the model expects", markup=False)
    screen.print(_trust(found), markup=False)


def _show_change(found: ChangeResult, screen: Console, *, words: bool) -> None:
    for warning in found.warnings:
        screen.print(f"note: {warning}", markup=False)
    screen.print(f"{found.before.table.name} → {found.after.table.name}: change of mean distance", markup=False)
    level = f"{found.before.credible.prob:.0%} {found.before.credible.kind}"
    rows = [
        (
            one.connection,
            *([one.word or "(group)"] if words else []),
            *_numbers(one.mean, one.low, one.high, one.reason),
            "–" if one.p_direction is None else f"{one.p_direction:.3f}",
        )
        for one in (found.changes if words else found.groups)
    ]
    print_table(screen, ("connection", *(["word"] if words else []), "mean", level, "p(direction)"), rows)


def _show_asides(asides: dict[str, Any], screen: Console) -> None:
    if "within_band" in asides:
        found: WithinBand = asides["within_band"]
        what = "" if found.mac is None else " (1 − MAC)"
        screen.print(f"\nsimilarities within ±{found.band:.3f}{what}", markup=False)
        level = f"{found.level:.0%}, over words"
        several = len(found.points) > 1
        rows = [
            (
                one.connection,
                *([one.side] if several else []),
                *_numbers(one.share, one.low, one.high, one.reason),
            )
            for one in found.shares
        ]
        print_table(screen, ("connection", *(["side"] if several else []), "share", level), rows)
    if "plan" in asides:
        plan: AttributePlan = asides["plan"]
        screen.print("\n" + "\n".join(wrap(plan.reading, min(screen.width, 100))), markup=False)
        rows = [
            (
                " / ".join(f"{one:,}" for one in row.words),
                "never" if row.attributes is None else " / ".join(f"{one:,}" for one in row.attributes),
            )
            for row in plan.rows
        ]
        print_table(screen, ("protected words", f"attributes needed ({' / '.join(plan.contrast)})"), rows)


def _numbers(mean: float | None, low: float | None, high: float | None, reason: str | None = None) -> tuple[str, str]:
    if mean is None or low is None or high is None:
        return "–", f"undefined: {reason}"
    return f"{mean:.3f}", f"[{low:.3f}, {high:.3f}]"


def _trust(found: Posterior) -> str:
    about = found.diagnostics
    if about.rhat_max is None or about.ess_min is None:
        return f"diagnostics: {'; '.join(about.problems)}"
    verdict = "good" if about.ok else "FAILED"
    return f"diagnostics: {verdict} (R-hat {about.rhat_max:.3f}, effective draws {about.ess_min:,.0f}, {found.sampler})"
