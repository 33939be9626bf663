"""How large effects are when there is nothing to find, beside those that were measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.report.figures import altair, styled
from biasgauge.report.page.section import Cell, Section, Table, between, cell, charts_of, number

if TYPE_CHECKING:
    from biasgauge.audit import AuditResult
    from biasgauge.audit.nulls import AuditNull

ABOUT = (
    "WEAT effect sizes of 5,000 data sets whose similarities are independent noise, with as many words as were found. "
    "Small word sets give large effects by chance alone; the measured effect must stand out from them. Words of one "
    "topic lean alike, which makes chance effects larger still (docs/nulls.md)."
)
COLUMNS = ("Test", "Words in X, Y, A, B", "Measured", "95 % of chance effects", "At least as large by chance")


def nulls_section(result: AuditResult) -> Section | None:
    """A histogram for each test, with the measured effect marked; all numbers in a table."""
    if not result.nulls:
        return None
    first = [one for one in result.nulls if one.model == result.models[0].name]
    several = len(result.models) > 1
    return Section(
        title="What would chance give?",
        about=ABOUT,
        charts=charts_of("nulls", {"nulls": _chart(first)}) if first else (),
        tables=(
            Table(
                "Effect sizes without bias, and those measured",
                COLUMNS,
                tuple(_row(one, several=several) for one in result.nulls),
                frozenset(COLUMNS[2:]),
            ),
        ),
    )


def _chart(found: list[AuditNull]) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd  # noqa: PLC0415 - late, as everywhere

    alt = altair()
    bars = pd.DataFrame(
        [
            {"test": one.name, "from": low, "to": high, "count": count}
            for one in found
            for low, high, count in zip(one.edges[:-1], one.edges[1:], one.counts, strict=True)
        ]
    )
    marks = pd.DataFrame([{"test": one.name, "measured": one.observed, "by chance": one.share} for one in found])
    base = alt.Chart(bars).mark_bar(color="#7aa6c2", opacity=0.8)
    histogram = base.encode(
        x=alt.X("from:Q", title="effect size", bin="binned"),
        x2="to:Q",
        y=alt.Y("count:Q", title=None, axis=None),
    )
    measured = (
        alt.Chart(marks)
        .mark_rule(color="#b3402a", strokeWidth=3)
        .encode(x="measured:Q", tooltip=["test", "measured", "by chance"])
    )
    rows = [
        alt.layer(
            histogram.transform_filter(alt.datum.test == name), measured.transform_filter(alt.datum.test == name)
        ).properties(width=480, height=46, title=alt.TitleParams(name, anchor="start", fontSize=12))
        for name in marks["test"]
    ]
    chart = alt.vconcat(*rows, spacing=6).resolve_scale(x="shared")
    return styled(
        chart, "Effects by chance, and those measured", "Bars: data sets without bias. Line: what was measured"
    )


def _row(one: AuditNull, *, several: bool) -> tuple[Cell, ...]:
    ends = "" if one.share_low is None else f"{one.share_low:.4f} to {one.share_high:.4f}"
    return (
        cell(one.name, one.model if several else ""),
        cell(", ".join(str(size) for size in one.sizes)),
        number(one.observed),
        between(one.low, one.high),
        Cell(f"{one.share:.4f}", ends, order=one.share),
    )
