"""Figures of robustness: one word under every pair and form, how far pairs agree, what each change comes to."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.results import AltairChart, Chart, altair, measure_name, pair_text, spelled

if TYPE_CHECKING:
    import pandas as pd

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
        title = "Agreement of two base pairs on the direction of words"
        charts.append(Chart("pairs", title, remark, partial(_draw_pairs, result)))
    kappas = [row.kappa for change in CHANGES for row in getattr(result, change)]
    if any(kappa.defined and kappa.n >= FEWEST for kappa in kappas):
        remark = (
            "Cohen’s kappa over words: against another form of the pair or of the words, what is known, another "
            f"measure.\nCells of fewer than {FEWEST} words are left out. {NEUTRAL}"
        )
        charts.append(Chart("kappas", "Agreement after each kind of change", remark, partial(_draw_kappas, result)))
    return tuple(charts)


def draw_word(result: RobustnessResult, word: str) -> AltairChart:
    """Scores of one word and its forms on every pair; the band is the embedding's mean ± one standard deviation.

    After Figure 1 of Zhang et al. 2020.
    """
    alt = altair()
    frame = result.word_scores(word).dropna(subset=["score"])
    frame = frame.assign(pair=frame["pair"].map(spelled))
    bands = {row.measure: row for row in result.reference}
    order, forms = (frame[column].drop_duplicates().tolist() for column in ("pair", "spelling"))
    panels = []
    last = frame["measure"].iloc[-1]
    for measure, scores in frame.groupby("measure", sort=False):
        mean, sd = bands[str(measure)].mean.value, bands[str(measure)].sd.value
        layers = [alt.Chart().mark_rule(color="#5c6470").encode(y=alt.datum(0))]
        if mean is not None and sd is not None:
            band = alt.Chart().mark_rect(color="#dfe6ea", opacity=0.7)
            middle = alt.Chart().mark_rule(strokeDash=[4, 3], color="#8a949c").encode(y=alt.datum(mean))
            layers = [band.encode(y=alt.datum(mean - sd), y2=alt.datum(mean + sd)), middle, *layers]
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
    scores = result.scores.select(pair=result.pairs, word=result.words).to_numpy()
    defined = np.asarray(~np.isnan(scores).all(axis=(0, 1, 3)))
    candidates = [word for word, has_score in zip(result.words, defined, strict=True) if has_score and word not in lost]
    if SHOWN_FIRST in candidates:
        return SHOWN_FIRST
    return max(candidates, key=lambda word: (forms[word], flips[word]), default=None)


def _draw_pairs(result: RobustnessResult) -> AltairChart:
    """Kappa of every two pairs, pairs × pairs, a panel for each measure."""
    import pandas as pd

    rows = [
        {"measure": row.measure, "pair": spelled(first), "other": spelled(second), "kappa": row.kappa.value}
        for row in result.pairwise
        for first, second in (("~".join(row.pair), row.against), (row.against, "~".join(row.pair)))
    ]
    frame = pd.DataFrame(rows).dropna()
    order = [name for name in map(pair_text, result.pairs) if name in set(frame["pair"])]
    panels = _heat(frame, "kappa", "other", order, order, 28)
    return panels.facet(facet=_by_measure("Facet", frame), columns=2).resolve_scale(x="independent")


def _draw_kappas(result: RobustnessResult) -> AltairChart:
    """Kappa of each pair under each change, changes × pairs, a panel for each measure."""
    frame = result.to_frame()
    frame = frame[frame["part"].isin(list(CHANGES)) & frame["pair"].notna() & frame["value"].notna()]
    frame = frame[(frame["statistic"] == "Cohen's kappa") & (frame["n"] >= FEWEST)]
    against = frame["against"].map(spelled).map(measure_name)
    frame = frame.assign(pair=frame["pair"].map(spelled), change=frame["part"].map(CHANGES) + " " + against)
    order = [name for name in map(pair_text, result.pairs) if name in set(frame["pair"])]
    panels = _heat(frame, "value", "change", order, frame["change"].drop_duplicates().tolist(), 38)
    return panels.facet(row=_by_measure("Row", frame), spacing=12).resolve_scale(y="independent")


def _by_measure(channel: str, frame: pd.DataFrame) -> Any:  # noqa: ANN401 - the library has no stubs
    alt, measures = altair(), frame["measure"].drop_duplicates().tolist()
    header = alt.Header(orient="top", labelAnchor="start", labelFontWeight="bold")
    return getattr(alt, channel)("measure:N", title=None, sort=measures, header=header)


def _heat(frame: pd.DataFrame, number: str, row: str, columns: list[str], rows: list[str], width: int) -> AltairChart:
    """Cells colored from disagreement to agreement, with their numbers; a column for each pair."""
    alt = altair()
    tooltip = list(frame.columns)
    frame = frame.assign(label=[_kappa_text(value) for value in frame[number]])
    colors = alt.Scale(domain=[-0.2, 0.4, 1], range=["#b2423f", "#f4f1e6", "#1f6f8b"], clamp=True)
    ink = alt.condition(f"abs(datum.{number} - 0.35) > 0.45", alt.value("white"), alt.value("#22303a"))
    base = alt.Chart().encode(
        x=alt.X("pair:N", sort=columns, title=None, axis=alt.Axis(labelAngle=-40)),
        y=alt.Y(f"{row}:N", sort=rows, title=None),
    )
    cells = base.mark_rect(stroke="white")
    return alt.layer(
        cells.encode(color=alt.Color(f"{number}:Q", title="kappa", scale=colors), tooltip=tooltip),
        base.mark_text(fontSize=10).encode(text="label:N", color=ink),
        data=frame,
    ).properties(width=width * len(columns), height=24 * len(rows))


def _kappa_text(kappa: float) -> str:
    """A kappa in a cell, as papers print it: ".42"."""
    text = f"{kappa:.2f}".replace("-", "−").replace("0.", ".")
    return {"1.00": "1", "−.00": ".00"}.get(text, text)
