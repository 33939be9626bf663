"""`biasgauge weat`: an association test on one model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import App

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, progress

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.scores import Association

EPILOGUE = """\
Positive means that X leans to A and Y to B. p is exact where there are at most
two million splits of X and Y, and otherwise drawn at random with its own
interval. The interval of the effect size says how far it would move with other
words of the same kind, not with another corpus.

Examples:
  biasgauge weat vectors.bin --test weat7
  biasgauge weat vectors.bin --test my_test.toml --alternative two-sided
  biasgauge weat glove.txt --x he,man --y she,woman --a math,logic --b poem,dance
  biasgauge weat vectors.bin --test weat6 --case-fallback --kind rnsb --json
  biasgauge weat es.vec --test weat_es_gender --trimming as_published
"""

app = App(name="weat", help_epilogue=EPILOGUE)


@app.default
def weat(
    vectors: Path,
    /,
    *,
    test: str | None = None,
    x: str | None = None,
    y: str | None = None,
    a: str | None = None,
    b: str | None = None,
    alternative: Literal["greater", "less", "two-sided"] = "greater",
    ddof: Literal[0, 1] = 0,
    kind: str = "weat",
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    trimming: Literal["balanced", "none", "as_published"] = "balanced",
    interval: Literal["bca", "percentile", "jackknife"] = "bca",
    options: Options = DEFAULTS,
) -> None:
    """Association test of two target sets with two attribute sets.

    Args:
        vectors: a vector file
        test: a lexicon of kind "test", or your own TOML file
        x: first target set: words separated by commas, or a file with one word a line, or NAME:SET
        y: second target set
        a: first attribute set
        b: second attribute set
        alternative: which splits count as extreme
        ddof: 0 divides the variance by the number of words, 1 by one less
        kind: which test: weat, mac, rnd, rnsb, ect, set_ripa, same, nas or semaxis
        min_coverage: share of each set's words that must be found
        case_fallback: look a lost word up in lower case, then capitalised
        trimming: what else goes when words are lost: the other form of a word, nothing, or the end of the longer set
        interval: how the interval over words is found
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only by commands that compute
    from biasgauge.cli.words import asked_words  # noqa: PLC0415
    from biasgauge.scores import Resampling  # noqa: PLC0415

    settings: dict[str, Any] = {}
    if kind == "weat":
        settings = {"alternative": alternative, "ddof": ddof, "random_state": options.seed}
    with progress(options, "reading vectors") as report:
        model = bg.load(vectors, progress=report)
    found = bg.association(
        model,
        test,
        kind=kind,
        x=asked_words(x),
        y=asked_words(y),
        a=asked_words(a),
        b=asked_words(b),
        min_coverage=min_coverage,
        case_fallback=case_fallback,
        trimming=trimming,
        interval=Resampling(method=interval, random_state=options.seed),
        **settings,
    )
    warnings = [notice.message for notice in model.notices]
    if options.json:
        content = found.to_dict()
        print_json(options, content, settings=content["settings"], warnings=warnings)
    else:
        _show(found, console(options), warnings)


def _show(found: Association, screen: Console, warnings: list[str]) -> None:
    for warning in warnings:
        screen.print(f"note: {warning}", markup=False)
    screen.print(f"{found.test} {found.name} on {found.model}", markup=False)
    rows = [
        (role, label, len(found.coverage.sets[role].words), found.coverage.sets[role].asked, ", ".join(lost))
        for role, label in found.sets.items()
        for lost in [found.coverage.lost.get(role, ())]
    ]
    print_table(screen, ("set", "stands for", "found", "of", "lost words"), rows)
    screen.print()
    if found.value is None:
        screen.print(f"undefined: {found.reason}", markup=False)
        return
    for line in _lines(found):
        screen.print(line, markup=False)


def _lines(found: Association) -> list[str]:
    from biasgauge.scores import Weat  # noqa: PLC0415 - only commands that compute need it

    spread = found.interval
    ends = "no interval" if spread is None or spread.low is None else f"[{spread.low:.3f}, {spread.high:.3f}]"
    how = "" if spread is None else f" ({spread.level:.0%}, {spread.method}, over {spread.generalises_over})"
    if not isinstance(found, Weat):
        return [f"{found.test}  {found.value:.4f} {ends}{how}"]
    p = found.p_interval
    where = f", itself in [{p.low:.2g}, {p.high:.2g}]" if found.p_method == "monte-carlo" and p is not None else ""
    return [
        f"effect size  {found.value:.4f} {ends}{how}",
        f"statistic    {found.statistic:.4f}",
        f"p            {found.p_value:.4g} ({found.p_method}, {found.alternative}{where})",
    ]
