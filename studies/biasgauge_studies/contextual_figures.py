"""Figures of the study of transformers: effect sizes under all views, what numbers vary with, how many sentences."""

from __future__ import annotations

from typing import Any

import pandas as pd

from biasgauge.analyses.robustness import SpecificationCurve
from biasgauge.results.drawing import SOFT, altair, styled

COLORS = ["#2f6f8f", "#b3402a", "#8a5a00", "#5c6470"]
POOLINGS = {"mean": "the word's pieces", "sentence": "whole sentence", "cls": "[CLS]"}
OF = {"WEAT 1 to 10": "effect sizes of WEAT 1 to 10", "templates": "RIPA of occupations, in templates",
      "contexts": "RIPA of occupations, in natural contexts"}  # fmt: skip


def effects_figure(effects: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Every effect size of every test, one tick per view."""
    alt = altair()
    part = effects.assign(pooling=effects["pooling"].map(POOLINGS), test=effects["test"].str.replace("weat", "WEAT "))
    order = list(dict.fromkeys(part["test"]))
    ticks = alt.Chart(part).mark_tick(thickness=1, opacity=0.45, height=7).encode(
        x=alt.X("d:Q", title="effect size d", scale=alt.Scale(domain=[-2, 2]), axis=alt.Axis(tickCount=9)),
        y=alt.Y("test:N", sort=order, title=None),
        yOffset=alt.YOffset("pooling:N", sort=list(POOLINGS.values())),
        color=alt.Color("pooling:N", title="vector of", sort=list(POOLINGS.values()), scale=alt.Scale(range=COLORS),
                        legend=alt.Legend(orient="top")),
    )  # fmt: skip
    line = alt.Chart(part).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(x=alt.datum(0))
    chart = alt.layer(line, ticks, data=part).properties(width=560, height=360)
    remark = "MiniLM, 7 layers × 12 templates for each kind of vector; one tick per view."
    return styled(chart, "The same test on the same model: one effect size per view", remark)


def curve_figure(curve: SpecificationCurve) -> Any:  # noqa: ANN401 - a chart
    """The specification curve of one test."""
    return curve.figures()["specification-curve"]


def shares_figure(shares: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """What each facet has a part in, with intervals."""
    alt = altair()
    part = shares[shares["kind"] == "has a part"].assign(of=lambda rows: rows["of"].map(OF))
    order = ["test", "word", "base pair", "pooling", "layer", "template", "context"]
    base = alt.Chart(part).encode(y=alt.Y("part:N", sort=order, title=None))
    x = alt.X("low:Q", title="share of the variance", scale=alt.Scale(domain=[0, 1]),
              axis=alt.Axis(format="%", tickCount=3))  # fmt: skip
    chart = alt.layer(
        base.mark_rule(color=COLORS[0]).encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=60, opacity=1, color=COLORS[0]).encode(x="share:Q"),
        data=part,
    ).properties(width=170, height=150)
    panels = chart.facet(facet=alt.Facet("of:N", sort=list(OF.values()), title=None), columns=3)
    panels = panels.resolve_scale(y="independent")
    remark = (
        "In how much of the variance a facet has a part, with 95 % intervals. Shares add up to more than 100 %: an "
        "interaction counts for each of its facets."
    )
    return styled(panels, "What the numbers of one transformer vary with", remark)


def design_figure(designs: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Dependability of an occupation's score by number of sentences, with all 23 base pairs."""
    alt = altair()
    chosen = designs[(designs["pairs"] == 23) & designs["layer"].isin([1, 3, 6]) & (designs["pooling"] != "cls")]
    part = chosen.assign(
        pooling=chosen["pooling"].map(POOLINGS), of=chosen["of"].map(lambda name: f"number of {name}"),
        layer=chosen["layer"].map(lambda layer: f"layer {layer}"),
    )  # fmt: skip
    line = alt.Chart(part).mark_line(point=True).encode(
        x=alt.X("sentences:Q", title=None, scale=alt.Scale(type="log", base=2)),
        y=alt.Y("dependability:Q", title="Φ of a word", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("layer:N", title=None, scale=alt.Scale(range=COLORS), legend=alt.Legend(orient="top")),
    )  # fmt: skip
    wanted = alt.Chart(part).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(y=alt.datum(0.8))
    panel = alt.layer(wanted, line, data=part).properties(width=230, height=150)
    grid = panel.facet(row=alt.Row("pooling:N", title=None, sort=list(POOLINGS.values())),
                       column=alt.Column("of:N", title=None, sort="descending"))  # fmt: skip
    return styled(
        grid,
        "How many sentences are enough?",
        "Dependability (Φ) of RIPA of occupations, mean over 23 base pairs; broken line: .8",
    )
