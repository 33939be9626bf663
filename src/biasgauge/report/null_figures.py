"""Figures of null simulations and of similarities within a band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.report.figures import altair, styled
from biasgauge.report.uncertainty_figures import COLOURS

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.uncertainty import NullSimulation, WithinBand

CORRECTED, PUBLISHED = "mean of all words, as defined", "first word of each set, as published"
_BINS = 60
_P_BINS = 20
_MOST_POINTS = 400
_GOLDEN = 0.6180339887498949


def draw_null(result: NullSimulation) -> dict[str, Any]:
    """Distribution of the test's numbers without bias beside what was observed; distribution of p."""
    charts = {}
    if result.corrected is None:
        charts["null_statistic"] = _distribution(result, {result.test: result.statistic}, "statistic")
    else:
        both = {CORRECTED: result.corrected, PUBLISHED: result.published}
        charts["null_effect_size"] = _distribution(result, both, "effect size")
        charts["null_statistic"] = _distribution(result, {result.test: result.statistic}, "statistic")
    if result.p_values is not None:
        charts["null_p_values"] = _p_values(result)
    return charts


def _distribution(result: NullSimulation, spreads: dict[str, Any], of: str) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd  # noqa: PLC0415 - charts need it

    alt = altair()
    ends = (
        min(float(one.defined.min()) for one in spreads.values()),
        max(float(one.defined.max()) for one in spreads.values()),
    )
    rows = []
    for name, one in spreads.items():
        counts, edges = one.histogram(_BINS, ends)
        shares = counts / max(counts.sum(), 1)
        rows += [
            {"how": name, "from": low, "to": high, "share": share}
            for low, high, share in zip(edges[:-1].tolist(), edges[1:].tolist(), shares.tolist(), strict=True)
        ]
    frame = pd.DataFrame(rows)
    several = len(spreads) > 1
    colour = alt.Color(
        "how:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=list(spreads), range=["#16324a", "#d9962f"][: len(spreads)]),
        legend=alt.Legend(orient="top", labelLimit=320) if several else None,
    )
    base = alt.Chart(frame).encode(color=colour, tooltip=list(frame.columns))
    x = alt.X("from:Q", title=f"{of} of {result.test}", scale=alt.Scale(domain=list(ends), nice=True))
    y = alt.Y("share:Q", title="share of data sets", axis=alt.Axis(format="%"))
    layers = [base.mark_bar(opacity=0.45 if several else 0.8).encode(x=x, x2="to:Q", y=y, y2=alt.datum(0))]
    remark = [f"{len(result.statistic.defined):,} simulated data sets without bias"]
    shown = [one for one in result.comparisons if one.of.startswith(of)]
    if shown:
        observed, centre = shown[0].observed, shown[0].centre
        places = [observed] if centre is None else [observed, 2 * centre - observed]
        mark = alt.Chart(pd.DataFrame({"at": places})).mark_rule(color="#a3262a", strokeWidth=1.5, strokeDash=[5, 3])
        layers.append(mark.encode(x="at:Q"))
        for one in shown:
            share = one.two_sided or one.greater
            words = PUBLISHED if one.of.endswith("published") else CORRECTED
            label = f"{words}: " if several else ""
            remark.append(
                f"{label}{share.value:.2%} at least as extreme as {observed:.4g} (dashed), "
                f"95 % interval [{share.interval.low:.2%}, {share.interval.high:.2%}]"
            )
    title = f"What {result.test} gives when there is nothing to find"
    return styled(alt.layer(*layers).properties(width=520, height=260), title, "\n".join(remark))


def _p_values(result: NullSimulation) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd  # noqa: PLC0415 - charts need it

    alt = altair()
    assert result.p_values is not None  # noqa: S101 - the caller has looked
    counts, edges = result.p_values.histogram(_P_BINS, (0.0, 1.0))
    frame = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "share": counts / counts.sum()})
    frame["at most the level"] = frame["to"] <= result.level + 1e-12
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
    chart = alt.layer(bars, even, data=frame).properties(width=520, height=240)
    share = result.rejection
    told = "" if share is None else (
        f"{share.value:.1%} of data sets, 95 % interval [{share.interval.low:.1%}, {share.interval.high:.1%}], "
        f"have p ≤ {result.level:g}\n"
    )  # fmt: skip
    remark = f"{told}An honest p falls into every bar alike (dashed); {result.p_method}"
    return styled(chart, f"p of {result.test} when there is nothing to find", remark)


def draw_band(result: WithinBand) -> dict[str, Any]:
    """Every similarity as a dot, a row for each connection, with the band and the share inside it."""
    import pandas as pd  # noqa: PLC0415 - charts need it

    alt = altair()
    points = result.points_frame()
    points = _thinned(points)
    shares = result.to_frame()
    shares = shares[shares["side"].isin(list(result.points)) & shares["share"].notna()]
    right = float(points["cosine_similarity"].max())
    labels = shares.assign(label=[_label(one) for one in shares.itertuples()], cosine_similarity=right)
    order = [name for name in COLOURS if name in set(points["connection"])]
    several = len(result.points) > 1
    colour = alt.Color("connection:N", legend=None, scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())))
    y = alt.Y("connection:N", title=None, sort=order, axis=alt.Axis(grid=False, labelFontSize=12))
    x = alt.X("cosine_similarity:Q", title="cosine similarity", scale=alt.Scale(nice=True))
    dots = (
        alt.Chart()
        .mark_circle(size=12, opacity=0.45)
        .encode(
            x=x,
            y=y,
            yOffset=alt.YOffset("spread:Q", scale=alt.Scale(domain=[0, 1])),
            color=colour,
            tooltip=["protected_word", "word_to_compare", "cosine_similarity"],
        )
        .transform_filter("datum.label === ''")
    )
    text = (
        alt.Chart()
        .mark_text(align="left", dx=14, fontSize=12)
        .encode(x=x, y=y, text="label:N", color=colour)
        .transform_filter("datum.label !== ''")
    )
    frame = pd.concat([points.assign(label=""), labels], ignore_index=True)
    lines = [
        alt.Chart().mark_rule(strokeDash=[5, 3], color="#16324a").encode(x=alt.datum(place))
        for place in (-result.band, result.band)
    ]
    kept = [column for column in frame.columns if column not in {"cosine_distance", "word_class", "reason", "rows"}]
    chart = alt.layer(*lines, dots, text, data=frame[kept]).properties(width=460, height=alt.Step(64))
    if several:
        chart = chart.facet(row=alt.Row("side:N", title=None, sort=list(result.points)))
    what = "1 − MAC" if result.mac is not None else "as given"
    remark = (
        f"Dashed: ±{result.band:.3f} ({what}). Right: share inside with its {result.level:.0%} interval over words\n"
        f"At most {_MOST_POINTS} dots a row; shares are of all"
    )
    return {"within_band": styled(chart, f"Similarities within a band: {result.name}", remark)}


def _label(row: Any) -> str:  # noqa: ANN401 - a row of a frame
    ends = "" if row.low is None or row.low != row.low else f" [{100 * row.low:.0f}, {100 * row.high:.0f}]"
    return f"{100 * row.share:.1f} %{ends}"


def _thinned(points: pd.DataFrame) -> pd.DataFrame:
    """At most so many points a row of the figure, evenly over their values, and where each stands within its row."""
    import pandas as pd  # noqa: PLC0415 - charts need it

    parts = []
    for _, part in points.groupby(["side", "connection"], sort=False):
        ordered = part.sort_values("cosine_similarity", kind="stable")
        step = max(1, -(-len(ordered) // _MOST_POINTS))
        taken = ordered.iloc[::step]
        parts.append(taken.assign(spread=[(at * _GOLDEN) % 1 for at in range(len(taken))]))
    return pd.concat(parts, ignore_index=True)


DRAW = {"NullSimulation": draw_null, "WithinBand": draw_band}
