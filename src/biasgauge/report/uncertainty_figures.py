"""Figures of the model of distances: groups, words, contrasts, predictions, one word's distances, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.errors import ParameterError
from biasgauge.report.figures import altair, styled

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.uncertainty import ChangeResult, Posterior

COLOURS = {"associated": "#b3402a", "different": "#d9962f", "human": "#3f7d6e", "neutral": "#5b6b8c"}
"""One colour a connection, the same in all figures."""
GROUP = "*"
_MOST_POINTS = 1_500
_NEAREST = 40
_NARROW = 14
"""Height of one row of dots for one connection, in pixels, is half of this."""


def draw_posterior(result: Posterior, word: str | None = None) -> dict[str, Any]:
    """Groups, words and contrasts with their intervals, predicted beside observed distances; one word's distances.

    Raises:
        ParameterError: there is no such word.
    """
    if word is not None and word not in result.table.words:
        raise ParameterError(f"There are no distances of {word!r}; there are of {', '.join(result.table.words)}.")
    charts: dict[str, Any] = {}
    frame = result.to_frame()
    frame = frame[frame["mean"].notna()] if len(frame) else frame
    if len(frame):
        held = f"Posterior mean and {_interval(result)}; 1: unrelated, less: closer"
        charts["groups"] = _dots(
            frame[frame["word"] == GROUP],
            f"Mean cosine distance by connection: {result.table.name}",
            _told(result.caution, f"{held}; {result.variant} model"),
            by="connection",
        )
        charts["words"] = _dots(
            frame[frame["word"] != GROUP],
            f"Mean cosine distance of each protected word: {result.table.name}",
            _told(result.caution, held),
            by="word",
        )
        contrasts = result.contrasts_frame()
        if len(contrasts):
            charts["contrasts"] = _contrasts(contrasts[contrasts["word"] == GROUP], result)
    if result.predictive is not None:
        charts["predictions"] = _predictions(result)
    if word is not None:
        charts["distances"] = _distances(result, word)
    return charts


def draw_change(result: ChangeResult) -> dict[str, Any]:
    """What changed between two sets of distances: of each group, of each word."""
    frame = result.to_frame()
    frame = frame[frame["mean"].notna()]
    if not len(frame):
        return {}
    told = _told(
        result.caution,
        f"After less before, posterior mean and {_interval(result.before)}; above 0: farther away than before",
    )
    return {
        name: _dots(part, title, told, by=by, line=0.0, axis="change of the mean cosine distance")
        for name, part, title, by in (
            ("change", frame[frame["word"] == GROUP], "What changed, by connection", "connection"),
            ("change_words", frame[frame["word"] != GROUP], "What changed, for each protected word", "word"),
        )
        if len(part)
    }


def _interval(result: Posterior) -> str:
    return f"{100 * result.credible.prob:g} % {'HPDI' if result.credible.kind == 'hpdi' else 'percentile interval'}"


def _told(caution: str, remark: str) -> str:
    """The remark under a title, with what must be said first above it."""
    return f"CAUTION: {caution}\n{remark}" if caution else remark


def _colour(alt: Any) -> Any:  # noqa: ANN401 - an encoding
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    return alt.Color("connection:N", title="connection", scale=scale)


def _dots(
    part: pd.DataFrame,
    title: str,
    remark: str,
    *,
    by: str,
    line: float = 1.0,
    axis: str = "mean cosine distance",
) -> Any:  # noqa: ANN401 - a chart
    """Means and intervals, a row for each connection or each word; words with the nearest associated ones first."""
    alt = altair()
    base = alt.Chart(part).encode(color=_colour(alt), tooltip=[one for one in part if one not in {"caution", "reason"}])
    rows = part["connection"].nunique()
    if by == "word":
        first = part[part["connection"] == part["connection"].iloc[0]].sort_values("mean")["word"].tolist()
        order = [*first, *(one for one in part["word"].unique() if one not in first)]
        base = base.encode(
            y=alt.Y("word:N", title=None, sort=order, axis=alt.Axis(grid=True)),
            yOffset=alt.YOffset("connection:N", sort=list(COLOURS)),
        )
        height = len(order) * (rows * _NARROW // 2 + 6)
    else:
        base = base.encode(y=alt.Y("connection:N", title=None, sort=list(COLOURS)))
        height = rows * 30
    scale = alt.Scale(zero=False, nice=True)
    chart = alt.layer(
        alt.Chart().mark_rule(strokeDash=[3, 3], color="#9aa09a").encode(x=alt.datum(line)),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=axis, scale=scale), x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1).encode(x=alt.X("mean:Q", scale=scale)),
        data=part,
    )
    return styled(chart.properties(width=480, height=height), title, remark)


def _contrasts(part: pd.DataFrame, result: Posterior) -> Any:  # noqa: ANN401 - a chart
    alt = altair()
    shown = part.assign(contrast=part["a"] + " − " + part["b"])
    base = alt.Chart(shown).encode(
        y=alt.Y("contrast:N", title=None, sort=None),
        tooltip=["contrast", "mean", "low", "high", "p_direction", "p_equivalent"],
    )
    band = alt.Chart().mark_rect(color="#e4e6e2", opacity=0.9)
    chart = alt.layer(
        band.encode(x=alt.datum(-result.rope), x2=alt.datum(result.rope)),
        base.mark_rule(strokeWidth=2, color="#16324a").encode(
            x=alt.X("low:Q", title="difference of mean cosine distances"), x2="high:Q"
        ),
        base.mark_point(filled=True, size=46, opacity=1, color="#16324a").encode(x="mean:Q"),
        base.mark_text(align="left", dx=8, dy=-8, fontSize=10, color="#5c6470").encode(
            x="mean:Q", text=alt.Text("p_direction:Q", format=".3f")
        ),
        data=shown,
    )
    remark = (
        f"Posterior mean and {_interval(result)}; below 0: the first is closer. The number is the probability of the "
        f"sign;\nthe grey band (±{result.rope:.3f}) holds differences too small to matter"
    )
    title = f"Differences between connections: {result.table.name}"
    return styled(chart.properties(width=480, height=alt.Step(30)), title, _told(result.caution, remark))


def _predictions(result: Posterior) -> Any:  # noqa: ANN401 - a chart
    alt = altair()
    frame = result.predictive_frame()
    step = -(-len(frame) // _MOST_POINTS)
    some = frame.iloc[::step]
    scale = alt.Scale(zero=False)
    base = alt.Chart(some)
    x = alt.X("predicted:Q", title="predicted distance", scale=scale)
    upper = alt.layer(
        base.mark_rule(color="#c9cdd2", strokeWidth=1.5).encode(
            x=x, y=alt.Y("low_89:Q", title="observed distance", scale=scale), y2="high_89:Q"
        ),
        base.mark_point(filled=True, size=18, opacity=0.6).encode(
            x=x,
            y=alt.Y("observed:Q", scale=scale),
            color=_colour(alt),
            tooltip=["protected_word", "word_to_compare", "connection", "observed", "predicted"],
        ),
    ).properties(width=480, height=280)
    density = result.density_frame().melt("distance", ["observed", "simulated"], "which", "density")
    lower = (
        alt.Chart(density)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("distance:Q", title="cosine distance", scale=scale),
            y=alt.Y("density:Q", title="density"),
            strokeDash=alt.StrokeDash("which:N", title=None),
        )
        .properties(width=480, height=120)
    )
    check = result.predictive
    inside = (
        "" if check is None else f"{100 * check.within_89:.0f} % inside 89 %, {100 * check.within_50:.0f} % inside 50 %"
    )
    fewer = f"; one point in {step} is drawn" if step > 1 else ""
    remark = f"Observed distances beside the model's 89 % predictions: {inside}{fewer}"
    title = f"Does the model predict what was observed? {result.table.name}"
    return styled(alt.vconcat(upper, lower), title, _told(result.caution, remark))


def _distances(result: Posterior, word: str) -> Any:  # noqa: ANN401 - a chart
    alt = altair()
    frame = result.word_frame(word)
    scale = alt.Scale(zero=False, domain=[float(frame["cosine_distance"].min()), float(frame["cosine_distance"].max())])
    x = alt.X("cosine_distance:Q", title="cosine distance", scale=scale)
    tips = ["word_to_compare", "connection", "cosine_distance"]
    strips = (
        alt.Chart(frame)
        .mark_tick(thickness=1.5, height=16, opacity=0.75)
        .encode(x=x, y=alt.Y("connection:N", title=None, sort=list(COLOURS)), color=_colour(alt), tooltip=tips)
        .properties(width=480, height=alt.Step(24), title="all words")
    )
    nearest = (
        alt.Chart(frame.head(_NEAREST))
        .mark_point(filled=True, size=46, opacity=1)
        .encode(
            x=x,
            y=alt.Y("word_to_compare:N", title=None, sort=None, axis=alt.Axis(grid=True)),
            color=_colour(alt),
            tooltip=tips,
        )
        .properties(width=480, height=alt.Step(13), title=f"the {min(_NEAREST, len(frame))} nearest words")
    )
    remark = f"Each mark is one word of {result.table.name}; a stereotype would put its own words (associated) first"
    return styled(alt.vconcat(strips, nearest), f"Distances of {word!r}", _told(result.caution, remark))


DRAW = {"Posterior": draw_posterior, "ChangeResult": draw_change}
