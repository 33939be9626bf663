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
    chart_of_rows,
    estimate_text,
    number_text,
)

if TYPE_CHECKING:
    from biasgauge.analyses.seeds.card import FitnessCard, SeedsResult
    from biasgauge.analyses.seeds.choice import SeedChoice
    from biasgauge.analyses.seeds.ranking import BiasSubspace

MOST_PANELS = 9
MOST_ROWS = 40
HELD_OUT = "held out"
VERDICTS = {
    "unfit": ("cross", BAD), "doubtful": ("triangle-up", CAUTION), "no objection": ("circle", GOOD),
    HELD_OUT: ("circle", NEUTRAL),
}  # fmt: skip
"""Shape and color of each verdict on a pair of sets, and of the coherence of held-out seeds."""
_GATHERED, _GENERATED, _SHUFFLED = "#16324a", "#c9ced6", "#d08a3c"
_LABEL = 46
AGAINST = {
    "coherence": ("coherence", "Coherence against similarity of two seed sets"),
    "first_share": ("share of the first component", "Explained variance against similarity of two seed sets"),
}


def seeds_charts(result: SeedsResult) -> tuple[Chart, ...]:
    """Coherence of every pair; coherence and explained variance against similarity; as they stand and shuffled."""
    measured = sorted(
        (card for card in result if card.coherence.value is not None), key=lambda card: -(card.coherence.value or 0)
    )
    charts = [_coherence(result, measured)] if measured else []
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
        charts.append(Chart("explained_variance", "Explained variance of paired and shuffled seeds", remark, draw))
    return tuple(charts)


def _relation(result: SeedsResult, column: str) -> str:
    """Correlation of similarity with a number, in words."""
    rows = [row for row in result.relations if (row.x, row.y) == ("similarity", column) and row.defined]
    correlations = "; ".join(f"{row.of} sets {estimate_text(row)}" for row in rows)
    gray = ". Gray: generated sets" if result.cloud is not None else ""
    return f"{f'Spearman: {correlations}' if correlations else 'Each dot is a pair of sets'}{gray}"


def _variance(cards: Sequence[FitnessCard]) -> AltairChart:
    import pandas as pd

    alt = altair()
    rows = [
        {"pair": title, "component": index + 1, "pairs": name, "share": share}
        for title, card in zip(_titles(cards), cards, strict=True)
        for name, shares in (("as paired", card.explained_variance), ("shuffled", card.explained_variance_shuffled))
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


def _coherence(result: SeedsResult, measured: Sequence[FitnessCard]) -> Chart:
    """Coherence of each pair with its interval, and of its held-out seeds."""
    left_out = max(len(measured) - MOST_ROWS, 0)
    middle = f" {left_out} pairs in the middle are not shown." if left_out else ""
    remark = (
        "With its interval; shape and color say the verdict. Gray, held out: every seed ranked along the subspace of "
        f"the others; 0: the sets are not told apart.{middle}"
    )
    titles = dict(zip(map(id, result), _titles(result.cards), strict=True))
    half = MOST_ROWS // 2
    rows = []
    for card in (*measured[:half], *measured[half:][-half:]):
        labels = {"what": titles[id(card)], "a": card.a, "b": card.b, "models": card.models}
        labels["advice"] = "; ".join(card.sentences)
        for name, number in ((card.verdict, card.coherence), (HELD_OUT, card.held_out)):
            shown = {"verdict": name, "coherence": number.value}
            ends = {} if name == HELD_OUT else {"low": number.low, "high": number.high}
            rows += [{**labels, **shown, **ends}] if number.defined else []
    axis = "distance of mean ranks, share of the vocabulary"
    title = "Coherence of two seed sets"
    return chart_of_rows("coherence", title, remark, axis, rows, number="coherence", color="verdict", meanings=VERDICTS)


def _against(result: SeedsResult, column: str, axis: str) -> AltairChart:
    alt = altair()
    frame = result.to_frame()
    frame = frame[frame["coherence"].notna() & frame[column].notna() & frame["similarity"].notna()]
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
    names = ("value", "low", "high", "paper", "found", "asked", "most_influential")
    rows = [{"what": row.set, **{name: getattr(row, name) for name in names}} for row in result.lists if row.defined]
    if not rows:
        return ()
    spread = "" if result.spread is None else f"Standard deviation over lists {number_text(result.spread, 3)}"
    runs = "" if result.replicate_spread is None else f", over models {number_text(result.replicate_spread, 3)}"
    title = f"The same measurement under every {result.category} list"
    remark = f"{spread}{runs}" or "With its interval"
    return (chart_of_rows("choice", title, remark, f"cosine with {result.target}", rows),)


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
