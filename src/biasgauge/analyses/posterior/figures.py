"""Figures: posteriors of distances, predictions, one word's distances, changes, bands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.analyses.posterior.connections import GROUP
from biasgauge.results import (
    AltairChart,
    Chart,
    altair,
    level_text,
    number_text,
    share_text,
    shares_text,
    top_legend,
    zero_line,
)

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.analyses.posterior.bands import WithinBand
    from biasgauge.analyses.posterior.bayesian import Posterior
    from biasgauge.analyses.posterior.change import ChangeResult

COLORS = {"associated": "#b3402a", "different": "#d9962f", "human": "#3f7d6e", "neutral": "#5b6b8c"}
"""One color a connection, the same in all figures."""
_MOST_POINTS = 1_500
_MOST_DOTS = 400
_NEAREST = 40


def posterior_charts(result: Posterior) -> tuple[Chart, ...]:
    """Groups, contrasts and words with their intervals, predicted beside observed distances."""
    name = result.name
    charts = []
    if any(row.defined for row in (*result.groups, *result.words)):
        interval = f"Posterior mean and {_interval(result)}; gray line at 1: unrelated, less: closer"
        remark = _with_caution(result.caution, f"{interval}; {result.variant} model")
        title = f"Mean cosine distance by connection: {name}"
        charts.append(Chart("groups", title, remark, partial(_dots, result.to_frame, by="connection")))
        if result.contrasts:
            remark = (
                f"Posterior mean and {_interval(result)}; below 0: the first is closer. The number is the probability "
                f"of the sign;\nthe gray band (±{number_text(result.rope, 3)}) holds differences too small to matter"
            )
            title = f"Differences between connections: {name}"
            charts.append(Chart("contrasts", title, _with_caution(result.caution, remark), partial(_contrasts, result)))
        title = f"Mean cosine distance of each protected word: {name}"
        draw = partial(_dots, result.to_frame, by="word")
        charts.append(Chart("words", title, _with_caution(result.caution, interval), draw))
    if result.predictive is not None and len(result.table):
        step = -(-len(result.table) // _MOST_POINTS)
        check = result.predictive
        inside = f"{share_text(check.within_89)} inside 89 %, {share_text(check.within_50)} inside 50 %"
        fewer = f"; one point in {step} is drawn" if step > 1 else ""
        remark = f"Observed distances beside the model's 89 % predictions: {inside}{fewer}"
        title = f"Does the model predict what was observed? {name}"
        charts.append(
            Chart("predictions", title, _with_caution(result.caution, remark), partial(_predictions, result, step))
        )
    return tuple(charts)


def word_chart(result: Posterior, word: str) -> Chart:
    """One word's distances."""
    remark = f"Each mark is one word of {result.name}; a stereotype would put its own words (associated) first"
    draw = partial(_distances, result, word)
    return Chart("distances", f"Distances of {word!r}", _with_caution(result.caution, remark), draw)


def change_charts(result: ChangeResult) -> tuple[Chart, ...]:
    """Changes between two sets of distances: of each group, of each word."""
    remark = (
        f"After less before, posterior mean and {_interval(result.before)}; above 0 (gray): farther away than before"
    )
    cautious = _with_caution(result.caution, remark)
    axis = "change of the mean cosine distance"
    return tuple(
        Chart(name, title, cautious, partial(_dots, result.to_frame, by=by, line=0.0, axis=axis))
        for name, title, by, is_group in (
            ("change", "What changed, by connection", "connection", True),
            ("change_words", "What changed, for each protected word", "word", False),
        )
        if any(row.defined and (row.word is None) == is_group for row in result.changes)
    )


def _interval(result: Posterior) -> str:
    return f"{level_text(result.credible.prob)} {'HPDI' if result.credible.kind == 'hpdi' else 'percentile interval'}"


def _with_caution(caution: str, remark: str) -> str:
    """Remark under a title, after the caution where there is one."""
    return f"CAUTION: {caution}\n{remark}" if caution else remark


def _color(alt: Any, *, legend: bool = True) -> Any:  # noqa: ANN401 - an encoding
    """One color a connection; no legend where rows name them."""
    scale = alt.Scale(domain=list(COLORS), range=list(COLORS.values()))
    return alt.Color("connection:N", scale=scale, legend=top_legend() if legend else None)


def _dots(
    frame: Callable[[], pd.DataFrame], *, by: str, line: float = 1.0, axis: str = "mean cosine distance"
) -> AltairChart:
    """Means and intervals, a row for each connection or each word; words with the nearest associated ones first."""
    alt = altair()
    rows = frame()
    rows = rows[rows["mean"].notna() & ((rows["word"] == GROUP) != (by == "word"))]
    base = alt.Chart(rows).encode(
        color=_color(alt, legend=by == "word"), tooltip=[name for name in rows if name not in {"caution", "reason"}]
    )
    count = rows["connection"].nunique()
    if by == "word":
        first = rows[rows["connection"] == rows["connection"].iloc[0]].sort_values("mean")["word"].tolist()
        order = list(dict.fromkeys([*first, *rows["word"]]))
        base = base.encode(
            y=alt.Y("word:N", title=None, sort=order, axis=alt.Axis(grid=True)),
            yOffset=alt.YOffset("connection:N", sort=list(COLORS)),
        )
        height = len(order) * (count * 7 + 6)
    else:
        base = base.encode(y=alt.Y("connection:N", title=None, sort=list(COLORS)))
        height = count * 30
    scale = alt.Scale(zero=False, nice=True)
    chart = alt.layer(
        zero_line(line),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=axis, scale=scale), x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1).encode(x=alt.X("mean:Q", scale=scale)),
        data=rows,
    )
    return chart.properties(width=480, height=height)


def _contrasts(result: Posterior) -> AltairChart:
    alt = altair()
    frame = result.contrasts_frame().query("word == @GROUP")
    frame = frame.assign(contrast=frame["a"] + " − " + frame["b"])
    base = alt.Chart(frame).encode(
        y=alt.Y("contrast:N", title=None, sort=None),
        tooltip=["contrast", "mean", "low", "high", "p_direction", "p_equivalent"],
    )
    band = alt.Chart().mark_rect(color="#e4e6e2", opacity=0.9)
    chart = alt.layer(
        band.encode(x=alt.datum(-result.rope), x2=alt.datum(result.rope)),
        zero_line(),
        base.mark_rule(strokeWidth=2, color="#16324a").encode(
            x=alt.X("low:Q", title="difference of mean cosine distances"), x2="high:Q"
        ),
        base.mark_point(filled=True, size=46, opacity=1, color="#16324a").encode(x="mean:Q"),
        base.mark_text(align="left", dx=8, dy=-8, fontSize=10, color="#5c6470").encode(
            x="mean:Q", text=alt.Text("p_direction:Q", format=".3f")
        ),
        data=frame,
    )
    return chart.properties(width=480, height=alt.Step(30))


def _predictions(result: Posterior, step: int) -> AltairChart:
    alt = altair()
    scale = alt.Scale(zero=False)
    base = alt.Chart(result.predictive_frame().iloc[::step])
    x = alt.X("predicted:Q", title="predicted distance", scale=scale)
    tips = ["protected_word", "word_to_compare", "connection", "observed", "predicted"]
    upper = alt.layer(
        base.mark_rule(color="#c9cdd2", strokeWidth=1.5).encode(
            x=x, y=alt.Y("low_89:Q", title="observed distance", scale=scale), y2="high_89:Q"
        ),
        base.mark_point(filled=True, size=18, opacity=0.6).encode(
            x=x, y=alt.Y("observed:Q", scale=scale), color=_color(alt), tooltip=tips
        ),
    ).properties(width=480, height=280)
    density = result.density_frame().melt("distance", ["observed", "simulated"], "which", "density")
    lower = alt.Chart(density).mark_line(strokeWidth=2).properties(width=480, height=120)
    lower = lower.encode(
        x=alt.X("distance:Q", title="cosine distance", scale=scale),
        y=alt.Y("density:Q", title="density"),
        strokeDash=alt.StrokeDash("which:N", title=None),
    )
    return alt.vconcat(upper, lower)


def _distances(result: Posterior, word: str) -> AltairChart:
    alt = altair()
    frame = result.word_frame(word)
    scale = alt.Scale(zero=False, domain=[float(frame["cosine_distance"].min()), float(frame["cosine_distance"].max())])
    x = alt.X("cosine_distance:Q", title="cosine distance", scale=scale)
    tips = ["word_to_compare", "connection", "cosine_distance"]
    strips = (
        alt.Chart(frame)
        .mark_tick(thickness=1.5, height=16, opacity=0.75)
        .encode(
            x=x, y=alt.Y("connection:N", title=None, sort=list(COLORS)), color=_color(alt, legend=False), tooltip=tips
        )
        .properties(width=480, height=alt.Step(24), title="all words")
    )
    y = alt.Y("word_to_compare:N", title=None, sort=None, axis=alt.Axis(grid=True))
    nearest = (
        alt.Chart(frame.head(_NEAREST))
        .mark_point(filled=True, size=46, opacity=1)
        .encode(x=x, y=y, color=_color(alt), tooltip=tips)
        .properties(width=480, height=alt.Step(13), title=f"the {min(_NEAREST, len(frame))} nearest words")
    )
    return alt.vconcat(strips, nearest)


def band_charts(result: WithinBand) -> tuple[Chart, ...]:
    """Every similarity as a dot, a row for each connection, with the band and the share inside it."""
    origin = "1 − MAC" if result.mac is not None else "as given"
    remark = (
        f"Dashed: ±{number_text(result.band, 3)} ({origin}). Right: share inside with its "
        f"{level_text(result.interval['level'])} interval over words\n"
        f"At most {_MOST_DOTS} dots a row; shares are of all"
    )
    return (Chart("within_band", f"Similarities within a band: {result.name}", remark, partial(_band, result)),)


def _band(result: WithinBand) -> AltairChart:
    import pandas as pd

    alt = altair()
    points = _thinned(result.points_frame())
    shares = result.to_frame()
    shares = shares[shares["side"].isin(list(result.points)) & shares["share"].notna()]
    right = float(points["cosine_similarity"].max())
    labels = shares.assign(label=[_label(row) for row in shares.itertuples()], cosine_similarity=right)
    order = [name for name in COLORS if name in set(points["connection"])]
    color = _color(alt, legend=False)
    y = alt.Y("connection:N", title=None, sort=order, axis=alt.Axis(grid=False, labelFontSize=12))
    x = alt.X("cosine_similarity:Q", title="cosine similarity", scale=alt.Scale(nice=True))
    apart = alt.YOffset("spread:Q", scale=alt.Scale(domain=[0, 1]))
    tips = ["protected_word", "word_to_compare", "cosine_similarity"]
    dots = (
        alt.Chart()
        .mark_circle(size=12, opacity=0.45)
        .encode(x=x, y=y, yOffset=apart, color=color, tooltip=tips)
        .transform_filter("datum.label === ''")
    )
    text = (
        alt.Chart()
        .mark_text(align="left", dx=14, fontSize=12)
        .encode(x=x, y=y, text="label:N", color=color)
        .transform_filter("datum.label !== ''")
    )
    frame = pd.concat([points.assign(label=""), labels], ignore_index=True)
    lines = [
        alt.Chart().mark_rule(strokeDash=[5, 3], color="#16324a").encode(x=alt.datum(end))
        for end in (-result.band, result.band)
    ]
    columns = [column for column in frame.columns if column not in {"cosine_distance", "word_class", "reason", "rows"}]
    chart = alt.layer(*lines, dots, text, data=frame[columns]).properties(width=460, height=alt.Step(64))
    several = len(result.points) > 1
    return chart.facet(row=alt.Row("side:N", title=None, sort=list(result.points))) if several else chart


def _label(row: Any) -> str:  # noqa: ANN401 - a row of a frame
    return f"{share_text(row.share, 1)} {shares_text(row.low, row.high)}".rstrip()


def _thinned(points: pd.DataFrame) -> pd.DataFrame:
    """At most so many points per row of the figure, evenly over their values, each with its height within the row."""
    import pandas as pd

    samples = []
    for _, similarities in points.groupby(["side", "connection"], sort=False):
        ordered = similarities.sort_values("cosine_similarity", kind="stable")
        step = max(1, -(-len(ordered) // _MOST_DOTS))
        sample = ordered.iloc[::step]
        samples.append(sample.assign(spread=np.arange(len(sample)) * 0.6180339887498949 % 1))
    return pd.concat(samples, ignore_index=True)
