"""Figures of seed sets: explained variance, coherence and similarity, the ends of a subspace, the choice of a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from biasgauge.results import (
    BAD,
    CAUTION,
    GOOD,
    NEUTRAL,
    AltairChart,
    Chart,
    altair,
    estimate_text,
    marks_of,
    number_text,
    zero_line,
)

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.analyses.seeds.card import FitnessCard
    from biasgauge.analyses.seeds.choice import SeedChoice
    from biasgauge.analyses.seeds.result import SeedsResult
    from biasgauge.analyses.seeds.subspace_words import BiasSubspace

MOST_PANELS = 9
MOST_ROWS = 40
VERDICTS = {"unfit": ("cross", BAD), "doubtful": ("triangle-up", CAUTION), "no objection": ("circle", GOOD)}
"""Shape and color of each verdict on a pair of sets."""
_GATHERED, _GENERATED, _SHUFFLED = "#16324a", "#c9ced6", "#d08a3c"
_LABEL = 46
AGAINST = {
    "coherence": ("coherence", "Coherence against similarity of two seed sets"),
    "first_share": ("share of the first component", "Explained variance against similarity of two seed sets"),
}


def seeds_charts(result: SeedsResult) -> tuple[Chart, ...]:
    """Coherence of every pair; coherence and explained variance against similarity; as they stand and shuffled."""
    charts = []
    measured = [card for card in result if card.coherence.value is not None]
    if measured:
        left_out = max(len(measured) - MOST_ROWS, 0)
        middle = f" {left_out} pairs in the middle are not shown." if left_out else ""
        remark = (
            "Filled: with its interval; shape and color say the verdict. Open gray: every seed ranked along the "
            f"subspace of the others; 0: the sets are not told apart.{middle}"
        )
        charts.append(Chart("coherence", "Coherence of two seed sets", remark, partial(_coherence, result)))
    for column, (axis, title) in AGAINST.items():
        numbers = [
            (card.coherence if column == "coherence" else card.pairing.first, card.similarity) for card in measured
        ]
        defined = sum(number.defined and similarity.defined for number, similarity in numbers)
        if defined > 1 or (defined and result.cloud is not None):
            draw = partial(_against, result, column, axis)
            charts.append(Chart(f"{column}_similarity", title, _relation(result, column), draw))
    paired = [card for card in result if card.explained_variance and card.explained_variance_shuffled]
    if paired:
        remark = "Principal components of pair halves; shuffled: mean over random pairings of the same words"
        draw = partial(_variance, paired[:MOST_PANELS])
        charts.append(Chart("explained_variance", "Does the pairing matter?", remark, draw))
    return tuple(charts)


def _relation(result: SeedsResult, column: str) -> str:
    """Correlation of similarity with a number, in words."""
    rows = [row for row in result.relations if (row.x, row.y) == ("similarity", column) and row.defined]
    correlations = "; ".join(f"{row.of} sets {estimate_text(row)}" for row in rows)
    gray = ". Gray: generated sets" if result.cloud is not None else ""
    return f"{f'Spearman: {correlations}' if correlations else 'Each dot is a pair of sets'}{gray}"


def _variance(cards: list[FitnessCard]) -> AltairChart:
    import pandas as pd

    alt = altair()
    rows = [
        {"pair": title, "component": index + 1, "pairs": name, "share": share}
        for title, card in zip(_titles(cards), cards, strict=True)
        for name, shares in (("as they stand", card.explained_variance), ("shuffled", card.explained_variance_shuffled))
        for index, share in enumerate(shares)
    ]
    frame = pd.DataFrame(rows)
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("component:O", title="component", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("pairs:N", sort=None),
            y=alt.Y("share:Q", title="share of variance"),
            color=alt.Color(
                "pairs:N", title="pairs", sort=None, scale=alt.Scale(range=[_GATHERED, _SHUFFLED])
            ),
            tooltip=["pair", "component", "pairs", alt.Tooltip("share:Q", format=".3f")],
        )
        .properties(width=230, height=130)
        .facet(
            facet=alt.Facet("pair:N", title=None, sort=frame["pair"].drop_duplicates().tolist(),
                            header=alt.Header(labelLimit=150, labelAnchor="start")),
            columns=min(3, len(cards)),
        )
    )  # fmt: skip


def _coherence(result: SeedsResult) -> AltairChart:
    alt = altair()
    frame = _measured(result).sort_values("coherence", ascending=False)
    if len(frame) > MOST_ROWS:
        half = MOST_ROWS // 2
        frame = frame.iloc[[*range(half), *range(len(frame) - half, len(frame))]]
    labels = dict(zip(((card.a, card.b) for card in result), _titles(result.cards), strict=True))
    frame = frame.assign(pair=[labels[a, b] for a, b in zip(frame["a"], frame["b"], strict=True)])
    base = alt.Chart(frame).encode(y=alt.Y("pair:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)))
    lowest = min([0.0, *frame["coherence_held_out"].dropna()])
    title = "distance of mean ranks, share of the vocabulary"
    x = alt.X("coherence:Q", title=title, scale=alt.Scale(domain=[lowest, 1]))
    tips = ["a", "b", "verdict", "coherence", "coherence_held_out", "similarity", "models", "advice"]
    layers = [
        zero_line(),
        base.mark_rule(color="#8fa3b5", strokeWidth=1.5).encode(x="coherence_low:Q", x2="coherence_high:Q"),
        base.mark_point(filled=False, size=42, opacity=1, color=NEUTRAL).encode(x="coherence_held_out:Q", tooltip=tips),
        base.mark_point(filled=True, size=52, opacity=1).encode(
            x=x, tooltip=tips, **marks_of(VERDICTS, "verdict", frame["verdict"].tolist())
        ),
    ]
    return alt.layer(*layers).properties(width=430, height=alt.Step(15))


def _measured(result: SeedsResult) -> pd.DataFrame:
    frame = result.to_frame()
    return frame[frame["coherence"].notna()]


def _against(result: SeedsResult, column: str, axis: str) -> AltairChart:
    alt = altair()
    frame = _measured(result)
    frame = frame[frame[column].notna() & frame["similarity"].notna()]
    layers = []
    y = alt.Y(f"{column}:Q", title=axis, scale=alt.Scale(zero=False))
    if result.cloud is not None:
        cloud = result.cloud.to_frame()
        layers.append(
            alt.Chart(cloud[cloud[column].notna()])
            .mark_circle(size=14, color=_GENERATED)
            .encode(x="similarity:Q", y=y, tooltip=["a", "b", "similarity", column])
        )
    layers.append(
        alt.Chart(frame)
        .mark_circle(size=48, color=_GATHERED, opacity=0.85)
        .encode(
            x=alt.X("similarity:Q", title="cosine of the mean vectors", scale=alt.Scale(zero=False)),
            y=y,
            tooltip=["a", "b", "verdict", "similarity", column],
        )
    )
    return alt.layer(*layers).properties(width=430, height=300)


def subspace_charts(result: BiasSubspace) -> tuple[Chart, ...]:
    """The first and last words of the vocabulary along a subspace, each with its own cosine."""
    settings = result.settings
    which = (
        "difference of the means" if settings["method"] == "mean-difference" else f"component {settings['component']}"
    )
    remark = f"{which}; top: {_short(result.a)}; bottom: {_short(result.b)}"
    return (Chart("subspace", "The ends of a bias subspace", remark, partial(_subspace, result)),)


def _subspace(result: BiasSubspace) -> AltairChart:
    alt = altair()
    return (
        alt.Chart(result.to_frame())
        .mark_bar()
        .encode(
            x=alt.X("cosine:Q", title="cosine with the subspace"),
            y=alt.Y("word:N", title=None, sort=None),
            color=alt.Color("end:N", legend=None, scale=alt.Scale(domain=["a", "b"], range=[_GATHERED, _SHUFFLED])),
            tooltip=["word", alt.Tooltip("cosine:Q", format=".3f")],
        )
        .properties(width=300, height=alt.Step(15))
    )


def choice_charts(result: SeedChoice) -> tuple[Chart, ...]:
    """One measurement under every list of a category."""
    if all(row.value is None for row in result.lists):
        return ()
    spread = "" if result.spread is None else f"Standard deviation over lists {number_text(result.spread, 3)}"
    runs = "" if result.replicate_spread is None else f", over models {number_text(result.replicate_spread, 3)}"
    title = f"The same measurement under every {result.category} list"
    return (Chart("choice", title, f"{spread}{runs}" or "With its interval", partial(_choice, result)),)


def _choice(result: SeedChoice) -> AltairChart:
    alt = altair()
    frame = result.to_frame()
    base = alt.Chart(frame[frame["value"].notna()]).encode(
        y=alt.Y("set:N", title=None, sort=None, axis=alt.Axis(labelLimit=360)),
        tooltip=["set", "paper", "value", "low", "high", "found", "asked", "most_influential"],
    )
    x = alt.X("value:Q", title=f"cosine with {result.target}", scale=alt.Scale(zero=False))
    return alt.layer(
        base.mark_rule(color="#8fa3b5", strokeWidth=1.5).encode(x="low:Q", x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1, color=_GATHERED).encode(x=x),
    ).properties(width=400, height=alt.Step(17))


def _titles(cards: Sequence[FitnessCard]) -> list[str]:
    """Short names of pairs of sets, numbered where two would be the same."""
    seen: Counter[str] = Counter()
    titles = []
    for card in cards:
        title = _short(card.title)
        seen[title] += 1
        titles.append(f"{title} #{seen[title]}" if seen[title] > 1 else title)
    return titles


def _short(text: str, most: int = _LABEL) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
