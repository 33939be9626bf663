"""Figures of robustness: one word under every pair and form, how far pairs agree, what each change comes to."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.results import AltairChart, Chart, altair, measure_name, number_text, pair_text, spelled

if TYPE_CHECKING:
    from biasgauge.analyses.robustness.result import RobustnessResult

SHOWN_FIRST = "professor"
"""The word of the paper's Figure 1, shown where it is there."""
CHANGES = {"pair_forms": "pair", "word_forms": "word", "correspondence": "truth", "between_measures": "against"}
NEUTRAL = "Pale: .4, from where agreement is called moderate (Landis & Koch 1977); red: less, blue: more"
FEWEST = 10
"""A kappa of fewer words is not drawn: a color would suggest false certainty."""


def robustness_charts(result: RobustnessResult) -> tuple[Chart, ...]:
    """A word's scores over pairs and forms, agreement of every two pairs, and the kappas of all else."""
    charts = []
    word = _word(result)
    if word is not None:
        first, second = result.pairs[0]
        remark = (
            f"Positive: towards {first} and the like, negative: towards {second}. The band is the mean ± one standard\n"
            "deviation of the scores of all frequent words: a change by half its height or more is relevant"
        )
        charts.append(Chart("word", f"“{word}” under every pair", remark, partial(draw_word, result, word)))
    if any(row.kappa.defined for row in result.pairwise):
        remark = f"Cohen’s kappa over words: 1 the same directions, 0 no better than chance. {NEUTRAL}"
        title = "Do two base pairs give words the same direction?"
        charts.append(Chart("pairs", title, remark, partial(_pairs, result)))
    kappas = [row.kappa for change in CHANGES for row in getattr(result, change)]
    if any(kappa.defined and kappa.n >= FEWEST for kappa in kappas):
        remark = (
            "Cohen’s kappa over words: against another form of the pair or of the words, what is known, another "
            f"measure.\nCells of fewer than {FEWEST} words are left out. {NEUTRAL}"
        )
        charts.append(Chart("kappas", "What survives which change?", remark, partial(_kappas, result)))
    return tuple(charts)


def draw_word(result: RobustnessResult, word: str) -> AltairChart:
    """Scores of one word and its forms on every pair; the band is the embedding's mean ± one standard deviation.

    After Figure 1 of Zhang et al. 2020.
    """
    alt = altair()
    frame = result.word_scores(word).dropna(subset=["score"])
    frame = frame.assign(pair=frame["pair"].map(spelled))
    bands = {row.measure: row for row in result.reference}
    order = frame["pair"].drop_duplicates().tolist()
    forms = frame["spelling"].drop_duplicates().tolist()
    panels = []
    last = frame["measure"].iloc[-1]
    for measure, scores in frame.groupby("measure", sort=False):
        mean, sd = bands[str(measure)].mean.value, bands[str(measure)].sd.value
        layers = []
        if mean is not None and sd is not None:
            band = alt.Chart().mark_rect(color="#dfe6ea", opacity=0.7)
            layers.append(band.encode(y=alt.datum(mean - sd), y2=alt.datum(mean + sd)))
            layers.append(alt.Chart().mark_rule(strokeDash=[4, 3], color="#8a949c").encode(y=alt.datum(mean)))
        layers.append(alt.Chart().mark_rule(color="#5c6470").encode(y=alt.datum(0)))
        lines = alt.Chart(scores).encode(
            x=alt.X("pair:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labels=measure == last, grid=True)),
            y=alt.Y("score:Q", title="score"),
            color=alt.Color("spelling:N", sort=forms, title="word", scale=alt.Scale(scheme="dark2")),
            tooltip=["pair", "form", "spelling", "score"],
        )
        layers += [lines.mark_line(strokeWidth=1.5), lines.mark_point(filled=True, size=40, opacity=1)]
        title = alt.TitleParams(str(measure), anchor="start", fontSize=12)
        panels.append(alt.layer(*layers).properties(width=500, height=150, title=title))
    return alt.vconcat(*panels, spacing=10)


def _word(result: RobustnessResult) -> str | None:
    """The word of the paper, else the one with the most forms on which most comparisons of pairs disagree."""
    flips = Counter(word for row in result.pairwise for word in row.flipped)
    forms = {word: sum(word in form.found for form in result.forms) for word in result.words}
    lost = set(result.coverage.lost.get("words", ()))
    scores = result.scores.select(pair=result.pairs, word=result.words).values
    defined = np.asarray(~np.isnan(scores).all(axis=(0, 1, 3)))
    candidates = [word for word, has_score in zip(result.words, defined, strict=True) if has_score and word not in lost]
    if SHOWN_FIRST in candidates:
        return SHOWN_FIRST
    return max(candidates, key=lambda word: (forms[word], flips[word]), default=None)


def _pairs(result: RobustnessResult) -> AltairChart:
    import pandas as pd

    alt = altair()
    order = [pair_text(pair) for pair in result.pairs]
    rows = [
        {"measure": row.measure, "pair": spelled(first), "other": spelled(second), "kappa": row.kappa.value}
        for row in result.pairwise
        for first, second in (("~".join(row.pair), row.against), (row.against, "~".join(row.pair)))
    ]
    frame = pd.DataFrame(rows).dropna()
    names = [name for name in order if name in set(frame["pair"])]
    base = alt.Chart(frame).encode(
        x=alt.X("pair:N", sort=names, title=None, axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("other:N", sort=names, title=None),
    )
    measures = frame["measure"].drop_duplicates().tolist()
    chart = _heat(base, "kappa", 28 * len(names), 24 * len(names)).facet(
        facet=alt.Facet("measure:N", title=None, sort=measures), columns=2
    )
    return chart.resolve_scale(x="independent")


def _kappas(result: RobustnessResult) -> AltairChart:
    alt = altair()
    frame = result.to_frame()
    cells = frame[frame["part"].isin(list(CHANGES)) & frame["pair"].notna() & frame["value"].notna()]
    cells = cells[(cells["statistic"] == "Cohen's kappa") & (cells["n"] >= FEWEST)]
    cells = cells.assign(pair=cells["pair"].map(spelled), against=cells["against"].map(spelled))
    names = set(cells["pair"])
    order = [name for name in map(pair_text, result.pairs) if name in names]
    frame = cells.assign(change=cells["part"].map(CHANGES) + " " + cells["against"].map(measure_name))
    measures = frame["measure"].drop_duplicates().tolist()
    panels = []
    for measure in measures:
        rows = frame[frame["measure"] == measure]
        axis = alt.Axis(labelAngle=-40) if measure == measures[-1] else None
        base = alt.Chart(rows).encode(
            x=alt.X("pair:N", sort=order, title=None, axis=axis, scale=alt.Scale(domain=order)),
            y=alt.Y("change:N", sort=rows["change"].drop_duplicates().tolist(), title=None),
        )
        title = alt.TitleParams(measure, anchor="start", fontSize=12)
        panels.append(_heat(base, "value", 38 * len(order), 24 * rows["change"].nunique()).properties(title=title))
    return alt.vconcat(*panels, spacing=12)


def _heat(base: AltairChart, field: str, width: int, height: int) -> AltairChart:
    """Cells colored from disagreement to agreement, with their numbers."""
    alt = altair()
    color = alt.Color(
        f"{field}:Q",
        title="kappa",
        scale=alt.Scale(domain=[-0.2, 0.4, 1], range=["#b2423f", "#f4f1e6", "#1f6f8b"], clamp=True),
    )
    text = alt.condition(f"abs(datum.{field} - 0.35) > 0.45", alt.value("white"), alt.value("#22303a"))
    tips = list(base.data.columns)
    frame = base.data.assign(label=[_kappa_text(value) for value in base.data[field]])
    base = base.properties(data=frame)
    return alt.layer(
        base.mark_rect(stroke="white").encode(color=color, tooltip=tips),
        base.mark_text(fontSize=10).encode(text="label:N", color=text),
        data=frame,
    ).properties(width=width, height=height)


def _kappa_text(kappa: float) -> str:
    """A kappa in a cell, as papers print it: ".42"."""
    text = number_text(kappa).replace("0.", ".")
    return {"1.00": "1", "−.00": ".00"}.get(text, text)
