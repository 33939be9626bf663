"""Figures of the study of Du et al. 2021: those of the paper, and of what it leaves open."""

from __future__ import annotations

from typing import Any

import pandas as pd

from biasgauge.results.drawing import SOFT, altair, styled

TEXTS = {
    "novels": "novels, 3.5 M",
    "wiki_part": "Wikipedia, 3.3 M",
    "imdb": "film reviews, 5.7 M",
    "wiki": "Wikipedia, 29.5 M",
}
ALGORITHMS = {
    "sgns": "skip-gram",
    "glove": "GloVe",
    "fasttext": "fastText",
    "sgns100": "100 dimensions",
    "sgns3": "3 iterations",
    "own_negatives": "own negatives",
}
LISTS = ("occ16", "occ18", "adj", "google10k", "full")
MEASURES = {"dbwa": "DB/WA", "ripa": "RIPA", "nbm": "NBM", "all": "all three"}
COLORS = ["#2f6f8f", "#b3402a", "#8a5a00", "#5c6470"]


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """With names that readers know."""
    known = {"text": TEXTS, "algorithm": ALGORITHMS, "measure": MEASURES}
    return frame.assign(**{name: frame[name].map(names) for name, names in known.items() if name in frame})


def panel_of(frame: pd.DataFrame) -> pd.Series:
    """What a panel is called: algorithm and text."""
    return frame["algorithm"] + ", " + frame["text"]


def boxes(rows: pd.DataFrame, title: str, remark: str, order: list[str]) -> Any:  # noqa: ANN401 - a chart
    """Median, middle half and 5 to 95 percent by list and measure, a panel for each algorithm and text."""
    alt = altair()
    part = named(rows)
    part["panel"] = panel_of(part)
    measures = [name for name in MEASURES.values() if name in set(part["measure"])]
    base = alt.Chart(part).encode(
        y=alt.Y("list:N", sort=list(LISTS), title=None),
        yOffset=alt.YOffset("measure:N", sort=measures),
        color=alt.Color(
            "measure:N", sort=measures, scale=alt.Scale(domain=measures, range=COLORS[: len(measures)]),
            legend=alt.Legend(orient="top", title=None) if len(measures) > 1 else None,
        ),
    )  # fmt: skip
    low = min(0.0, float(part["p05"].min()))
    x = alt.X("p05:Q", title="reliability", scale=alt.Scale(domain=[low, 1]), axis=alt.Axis(tickCount=5, format=".1f"))
    layers = alt.layer(
        base.mark_rule().encode(x=x, x2="p95:Q"),
        base.mark_bar(height=4).encode(x="q1:Q", x2="q3:Q"),
        base.mark_point(filled=True, size=22, opacity=1).encode(x="median:Q", color=alt.value("black")),
        data=part,
    ).properties(width=150, height=150)
    known = [name for name in order if name in set(part["panel"])]
    return styled(layers.facet(facet=alt.Facet("panel:N", sort=known, title=None), columns=4), title, remark)


def internal_chart(internal: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Figure 4: alpha of every query and of the base pairs."""
    alt = altair()
    part = named(internal.dropna(subset=["alpha"]))
    part["scores"] = part["algorithm"] + ", " + part["measure"]
    base = alt.Chart(part).encode(y=alt.Y("query:N", title=None, sort=[*dict.fromkeys(internal["query"])]))
    points = base.mark_point(size=34, opacity=0.85).encode(
        x=alt.X("alpha:Q", title="Cronbach's alpha", scale=alt.Scale(domain=[-0.6, 1], clamp=True)),
        color=alt.Color("algorithm:N", title=None, sort=list(ALGORITHMS.values()), scale=alt.Scale(range=COLORS)),
        shape=alt.Shape("measure:N", title=None, sort=list(MEASURES.values())),
    )
    line = alt.Chart(part).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(x=alt.datum(0.7))
    chart = alt.layer(line, points, data=part).properties(width=310, height=170)
    texts = [name for name in TEXTS.values() if name in set(part["text"])]
    return styled(
        chart.facet(facet=alt.Facet("text:N", sort=texts, title=None), columns=2),
        "Internal consistency of queries, and of the base pairs",
        "One mark for each algorithm and measure; the dashed line is .7. Queries of which fewer than seven words were "
        "scored are left out.",
    )


def pairs_chart(pairs: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Figure 5: each base pair over seeds, and over measures."""
    alt = altair()
    over_seeds = pairs.melt(id_vars=["algorithm", "text", "pair"], value_vars=["dbwa", "ripa", "nbm"])
    over_measures = pairs.rename(columns={"inter_rater": "value"})[["algorithm", "text", "pair", "value"]]
    part = named(
        pd.concat(
            [over_seeds.assign(of="test-retest"), over_measures.assign(of="inter-rater, scores as they are")],
            ignore_index=True,
        ).drop(columns="variable")
    )
    middle = part[part["of"] == "test-retest"].groupby("pair")["value"].median()
    order = middle.sort_values(ascending=False).index.tolist()
    base = alt.Chart(part).encode(y=alt.Y("pair:N", sort=order, title=None))
    x = alt.X("value:Q", title="reliability", scale=alt.Scale(domain=[-0.2, 1]))
    points = base.mark_point(size=16, opacity=0.75).encode(
        x=x, color=alt.Color("algorithm:N", title=None, sort=list(ALGORITHMS.values()), scale=alt.Scale(range=COLORS))
    )
    medians = base.mark_tick(thickness=2, size=12, color="black").encode(x=alt.X("median(value):Q"))
    chart = alt.layer(points, medians, data=part).properties(width=310, height=400)
    return styled(
        chart.facet(column=alt.Column("of:N", sort=["test-retest"], title=None)),
        "Reliability of base pairs on google10k",
        "One point for each algorithm and text, and on the left for each measure; black: the median. Sorted by the "
        "left side.",
    )


def dashes() -> Any:  # noqa: ANN401 - an encoding
    """Texts by how a line is broken."""
    alt = altair()
    legend = alt.Legend(symbolType="stroke", symbolStrokeWidth=2, symbolSize=400, symbolStrokeColor="black")
    return alt.StrokeDash("text:N", title=None, sort=list(TEXTS.values()), legend=legend)


def lines_by_measure(part: pd.DataFrame, x: Any, y: Any) -> Any:  # noqa: ANN401 - parts of a chart
    """A line with points for each algorithm and text, the measures side by side."""
    alt = altair()
    base = alt.Chart(part).encode(
        x=x,
        y=y,
        color=alt.Color("algorithm:N", title=None, sort=list(ALGORITHMS.values()), scale=alt.Scale(range=COLORS)),
        detail="text:N",
    )
    lines = alt.layer(base.mark_line().encode(strokeDash=dashes()), base.mark_point(filled=True, size=22))
    sized = lines.properties(width=210, height=190)
    return sized.facet(column=alt.Column("measure:N", sort=list(MEASURES.values()), title=None))


def seeds_chart(subsets: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """How far a word's reliability from few seeds is off."""
    alt = altair()
    part = named(subsets)
    x = alt.X("seeds:O", title="seeds", axis=alt.Axis(labelAngle=0))
    y = alt.Y("error:Q", title="error of one word's ICC", scale=alt.Scale(domainMin=0))
    return styled(
        lines_by_measure(part, x, y),
        "How many seeds are enough",
        "Root mean square error of the ICC(2,1) of one word from so many seeds, over 100 random subsets of 32.",
    )


def frequency_chart(by_frequency: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Median reliability of words by how often they occur."""
    alt = altair()
    chosen = by_frequency["algorithm"].isin(["sgns", "glove", "fasttext"]) & (by_frequency["words"] == "others")
    part = named(by_frequency[chosen])
    part["band"] = [f"{number:,}+" for number in part["occurs"]]
    order = list(dict.fromkeys(part.sort_values("occurs")["band"]))
    x = alt.X("band:O", sort=order, title="occurrences in the text", axis=alt.Axis(labelAngle=0))
    y = alt.Y("median:Q", title="median ICC of words", scale=alt.Scale(domain=[0.6, 1]))
    return styled(
        lines_by_measure(part, x, y),
        "Test-retest reliability by frequency",
        "All words of the vocabulary that are not in google10k; those that are in it run alike (by_frequency.csv).",
    )


def settings_chart(compared: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """What other settings do to the mean reliability of a word."""
    alt = altair()
    part = named(compared.rename(columns={"setting": "algorithm"})).rename(columns={"algorithm": "setting"})
    base = alt.Chart(part).encode(
        y=alt.Y("setting:N", title=None),
        yOffset=alt.YOffset("text:N"),
        color=alt.Color("text:N", title=None, scale=alt.Scale(range=COLORS)),
    )
    x = alt.X("low:Q", title="difference")
    layers = alt.layer(
        alt.Chart(part).mark_rule(color=SOFT).encode(x=alt.datum(0)),
        base.mark_rule().encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=34).encode(x="difference:Q"),
        data=part,
    ).properties(width=210, height=120)
    return styled(
        layers.facet(column=alt.Column("measure:N", sort=list(MEASURES.values()), title=None)),
        "Settings of skip-gram and reliability over seeds",
        "Mean ICC(2,1) of the same words less that of skip-gram with 300 dimensions, 5 iterations, shared negatives; "
        "95 % intervals over seeds and words.",
    )
