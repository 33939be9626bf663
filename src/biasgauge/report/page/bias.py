"""What the vectors say about each concept, and whether another seed says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.report.bias_figures import draw_bias
from biasgauge.report.page.section import Cell, Section, Table, between, cell, charts_of, number, shown, undefined

if TYPE_CHECKING:
    from biasgauge.audit import AuditResult
    from biasgauge.audit.replicates import ReplicateSpread
    from biasgauge.scores import Association

ABOUT = (
    "Positive: the first target set leans to the first attribute set, the second to the second. p is two-sided: how "
    "often a random split of the target words is at least as extreme. The interval says how far the number would move "
    "with other words of the same kind; it says nothing about another corpus or another training run."
)
CAPTION = (
    "Association tests: value (WEAT: effect size, 0 is no difference, ±2 the most; MAC: 1 is no association), its "
    "interval over words, and p"
)
SPREAD_CAPTION = (
    "Mean over models with its 95 % interval, range and standard deviation over models, and how many lie on the mean's "
    "side of no bias"
)


def bias_section(result: AuditResult) -> Section | None:
    """Association tests with intervals and p."""
    if not result.bias:
        return None
    several = len(result.models) > 1
    model = ("Model",) if several else ()
    columns = ("Concept", "Test", *model, "Value", "Interval", "p", "Sets")
    return Section(
        title="Bias by concept",
        about=ABOUT,
        charts=charts_of("bias", draw_bias(result) if any(one.value is not None for one in result.bias) else {}),
        tables=(
            Table(
                CAPTION,
                columns,
                tuple(_row(one, several=several) for one in result.bias),
                frozenset({"Value", "Interval", "p"}),
            ),
        ),
    )


def _row(one: Association, *, several: bool) -> tuple[Cell, ...]:
    sets = one.sets
    about = (
        f"{sets['x']} / {sets['y']} and {sets['a']} / {sets['b']}" if one.test == "weat" else "protected, attributes"
    )
    start = (cell(one.name), cell(one.test), *((cell(one.model),) if several else ()))
    if one.value is None:
        return (*start, *undefined(one.reason, 3), cell(about))
    if one.interval is None or one.interval.low is None:
        interval = Cell("none", one.interval.reason or "" if one.interval else "")
    else:
        interval = between(one.interval.low, one.interval.high)
    p = getattr(one, "p_value", None)
    p_cell = cell(None) if p is None else Cell(f"{p:.2g}", getattr(one, "p_method", ""), p)
    return (*start, number(one.value), interval, p_cell, cell(about))


def spread_section(result: AuditResult) -> Section | None:
    """The same tests over replicates."""
    if not result.spread:
        return None
    count = len(result.replicates)
    if result.settings["shipped"]:
        which = (
            f"{count} models that ship with biasgauge and differ only by their seed: skip-gram, trained on English "
            "Wikipedia. They are not the vectors above; they show what training again does to such a number"
        )
    else:
        which = f"{count} models: those given"
    columns = ("Concept", "Test", "Mean", "Interval", "Range", "Standard deviation", "Same side")
    return Section(
        title="Over replicates",
        about=f"The same tests on {which}. A finding that changes its sign with the seed is no finding.",
        tables=(
            Table(SPREAD_CAPTION, columns, tuple(_spread_row(one) for one in result.spread), frozenset(columns[2:])),
        ),
    )


def _spread_row(one: ReplicateSpread) -> tuple[Cell, ...]:
    start = (cell(one.name), cell(one.test))
    if one.mean is None or one.agree is None:
        return (*start, *undefined(one.reason, 5))
    agreeing = Cell(f"{one.agree} of {one.models}", order=one.agree / one.models)
    ends = (between(one.low, one.high), between(one.least, one.most))
    return (*start, number(one.mean), *ends, Cell(shown(one.sd, 3), order=one.sd), agreeing)
