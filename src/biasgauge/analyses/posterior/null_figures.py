"""Figures of null simulations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.analyses.posterior.null_tests import AS_PUBLISHED, EFFECT_SIZE, STATISTIC
from biasgauge.results import AltairChart, Chart, altair, figures_text, share_text, shares_text, test_name

if TYPE_CHECKING:
    from biasgauge.analyses.posterior.null_simulation import NullComparison, NullDistribution, NullSimulation

CORRECTED, PUBLISHED = "mean of all words, as defined", "first word of each set, as published"
_BINS = 60
_P_BINS = 20


def null_charts(result: NullSimulation) -> tuple[Chart, ...]:
    """Distribution of the test's numbers without bias beside what was observed; distribution of p."""
    charts = []
    title = f"What {test_name(result.test)} gives when there is nothing to find"
    sides: dict[str, dict[str, NullDistribution]] = {}
    if result.corrected is not None and result.published is not None:
        sides[EFFECT_SIZE] = {CORRECTED: result.corrected, PUBLISHED: result.published}
    sides[STATISTIC] = {result.test: result.statistic}
    for quantity, spreads in sides.items():
        remark = _remark(result, quantity, several=len(spreads) > 1)
        name = f"null_{quantity.replace(' ', '_')}"
        charts.append(Chart(name, title, remark, partial(_distribution, result, spreads, quantity)))
    if result.p_values is not None:
        share = result.rejection
        rate = "" if share is None else (
            f"{share_text(share.value, 1)} of data sets, 95 % interval "
            f"[{share_text(share.low, 1)}, {share_text(share.high, 1)}], have p ≤ {result.alpha:g}\n"
        )  # fmt: skip
        remark = f"{rate}An honest p falls into every bar alike (dashed); {result.p_method}"
        title = f"p of {test_name(result.test)} when there is nothing to find"
        charts.append(Chart("null_p_values", title, remark, partial(_p_values, result)))
    return tuple(charts)


def _remark(result: NullSimulation, quantity: str, *, several: bool) -> str:
    lines = [f"{len(result.statistic.defined):,} simulated data sets without bias"]
    for row in _compared(result, quantity):
        share = row.two_sided or row.greater
        words = PUBLISHED if row.quantity == AS_PUBLISHED else CORRECTED
        lines.append(
            f"{f'{words}: ' if several else ''}{share_text(share.value, 2)} at least as extreme as "
            f"{figures_text(row.observed, 4)} (dashed), "
            f"95 % interval {shares_text(share.low, share.high, 2)} %"
        )
    return "\n".join(lines)


def _compared(result: NullSimulation, quantity: str) -> list[NullComparison]:
    names = (EFFECT_SIZE, AS_PUBLISHED) if quantity == EFFECT_SIZE else (quantity,)
    return [row for row in result.comparisons if row.quantity in names]


def _distribution(result: NullSimulation, spreads: dict[str, NullDistribution], quantity: str) -> AltairChart:
    import pandas as pd

    alt = altair()
    values = np.concatenate([spread.defined for spread in spreads.values()])
    ends = float(values.min()), float(values.max())
    bins = []
    for name, spread in spreads.items():
        counts, edges = spread.histogram(_BINS, ends)
        shares = counts / max(counts.sum(), 1)
        bins.append(pd.DataFrame({"how": name, "from": edges[:-1], "to": edges[1:], "share": shares}))
    frame = pd.concat(bins, ignore_index=True)
    several = len(spreads) > 1
    scale = alt.Scale(domain=list(spreads), range=["#16324a", "#d9962f"][: len(spreads)])
    legend = alt.Legend(orient="top", labelLimit=320) if several else None
    color = alt.Color("how:N", title=None, sort=None, scale=scale, legend=legend)
    base = alt.Chart(frame).encode(color=color, tooltip=list(frame.columns))
    x = alt.X("from:Q", title=f"{quantity} of {test_name(result.test)}", scale=alt.Scale(domain=list(ends), nice=True))
    y = alt.Y("share:Q", title="share of data sets", axis=alt.Axis(format="%"))
    layers = [base.mark_bar(opacity=0.45 if several else 0.8).encode(x=x, x2="to:Q", y=y, y2=alt.datum(0))]
    compared = _compared(result, quantity)
    if compared:
        observed, center = compared[0].observed, compared[0].center
        marks = [observed] if center is None else [observed, 2 * center - observed]
        mark = alt.Chart(pd.DataFrame({"at": marks})).mark_rule(color="#a3262a", strokeWidth=1.5, strokeDash=[5, 3])
        layers.append(mark.encode(x="at:Q"))
    return alt.layer(*layers).properties(width=520, height=260)


def _p_values(result: NullSimulation) -> AltairChart:
    import pandas as pd

    alt = altair()
    assert result.p_values is not None  # noqa: S101 - the caller has looked
    counts, edges = result.p_values.histogram(_P_BINS, (0.0, 1.0))
    frame = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "share": counts / counts.sum()})
    frame["at most the level"] = frame["to"] <= result.alpha + 1e-12
    bars = (
        alt.Chart(frame)
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("from:Q", title="p of a data set without bias", scale=alt.Scale(domain=[0, 1])),
            x2="to:Q",
            y=alt.Y("share:Q", title="share of data sets", axis=alt.Axis(format="%")),
            y2=alt.datum(0),
            color=alt.condition("datum['at most the level']", alt.value("#a3262a"), alt.value("#7aa6c2")),
            tooltip=list(frame.columns),
        )
    )
    even = alt.Chart().mark_rule(color="#16324a", strokeWidth=1.5, strokeDash=[5, 3]).encode(y=alt.datum(1 / _P_BINS))
    return alt.layer(bars, even, data=frame).properties(width=520, height=240)
