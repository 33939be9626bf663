"""Figures of seed sets: explained variance, coherence and similarity, the ends of a subspace, the choice of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.report.figures import altair, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from biasgauge.seeds import BiasSubspace, FitnessCard, SeedChoice, SeedsResult

MOST_PANELS = 9
MOST_ROWS = 40
_GATHERED, _GENERATED, _SHUFFLED = "#16324a", "#c9ced6", "#d08a3c"
_LABEL = 46
AGAINST = {
    "coherence": ("coherence", "Coherence against similarity of two seed sets"),
    "first_share": ("share of the first component", "Explained variance against similarity of two seed sets"),
}


def draw_seeds(result: SeedsResult) -> dict[str, Any]:
    """Explained variance as it stands and shuffled; coherence of every pair; both against similarity."""
    charts: dict[str, Any] = {}
    paired = [card for card in result if card.explained_variance and card.explained_variance_shuffled]
    if paired:
        charts["explained_variance"] = _variance(paired[:MOST_PANELS])
    frame = result.to_frame()
    measured = frame[frame["coherence"].notna()]
    if len(measured):
        charts["coherence"] = _coherence(result, measured)
    for column, (axis, title) in AGAINST.items():
        known = measured[measured[column].notna() & measured["similarity"].notna()]
        if len(known) > 1 or (len(known) and result.cloud is not None):
            charts[f"{column}_similarity"] = _against(result, known, column, axis, title)
    return charts


def _variance(cards: list[FitnessCard]) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd  # noqa: PLC0415 - with altair, a second of import that only figures need

    alt = altair()
    rows = [
        {"pair": title, "component": place + 1, "pairs": name, "share": share}
        for title, card in zip(_titles(cards), cards, strict=True)
        for name, shares in (("as they stand", card.explained_variance), ("shuffled", card.explained_variance_shuffled))
        for place, share in enumerate(shares)
    ]
    frame = pd.DataFrame(rows)
    chart = (
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
                            header=alt.Header(labelLimit=250, labelAnchor="start")),
            columns=min(3, len(cards)),
        )
    )  # fmt: skip
    remark = "Principal components of pair halves; shuffled: mean over random pairings of the same words"
    return styled(chart, "Does the pairing matter?", remark)


def _coherence(result: SeedsResult, frame: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    alt = altair()
    frame = frame.sort_values("coherence", ascending=False)
    left_out = max(len(frame) - MOST_ROWS, 0)
    if left_out:
        half = MOST_ROWS // 2
        frame = frame.iloc[[*range(half), *range(len(frame) - half, len(frame))]]
    labels = dict(zip(((card.a, card.b) for card in result), _titles(result.cards), strict=True))
    frame = frame.assign(pair=[labels[a, b] for a, b in zip(frame["a"], frame["b"], strict=True)])
    base = alt.Chart(frame).encode(y=alt.Y("pair:N", title=None, sort=None, axis=alt.Axis(labelLimit=320)))
    lowest = (
        min(0.0, float(frame["coherence_held_out"].min() or 0)) if frame["coherence_held_out"].notna().any() else 0.0
    )
    x = alt.X(
        "coherence:Q", title="distance of mean ranks, share of the vocabulary", scale=alt.Scale(domain=[lowest, 1])
    )
    tips = ["a", "b", "verdict", "coherence", "coherence_held_out", "similarity", "models", "advice"]
    layers = [
        base.mark_rule(color="#8fa3b5", strokeWidth=1.5).encode(x="coherence_low:Q", x2="coherence_high:Q"),
        base.mark_point(filled=True, size=42, opacity=1, color=_GATHERED).encode(x=x, tooltip=tips),
        base.mark_point(filled=False, size=42, opacity=1, color=_SHUFFLED).encode(
            x="coherence_held_out:Q", tooltip=tips
        ),
    ]
    chart = alt.layer(*layers).properties(width=430, height=alt.Step(15))
    middle = f" {left_out} pairs in the middle are not shown." if left_out else ""
    remark = f"Filled: with its interval. Open: every seed ranked along the subspace of the others.{middle}"
    return styled(chart, "Coherence of two seed sets", remark)


def _against(result: SeedsResult, frame: pd.DataFrame, column: str, axis: str, title: str) -> Any:  # noqa: ANN401
    alt = altair()
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
    found = [one for one in result.relations if (one.x, one.y) == ("similarity", column) and one.rho is not None]
    said = "; ".join(f"{one.of} sets {one.rho:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in found).replace("-", "−")
    said = f"Spearman: {said}" if said else "Each dot is a pair of sets"
    grey = ". Grey: generated sets" if result.cloud is not None else ""
    chart = alt.layer(*layers).properties(width=430, height=300)
    return styled(chart, title, f"{said}{grey}")


def draw_subspace(result: BiasSubspace) -> dict[str, Any]:
    """The first and last words of the vocabulary along a subspace, each with its own cosine."""
    alt = altair()
    frame = result.to_frame()
    chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("cosine:Q", title="cosine with the subspace"),
            y=alt.Y("word:N", title=None, sort=None),
            color=alt.Color("end:N", legend=None, scale=alt.Scale(domain=["a", "b"], range=[_GATHERED, _SHUFFLED])),
            tooltip=["word", alt.Tooltip("cosine:Q", format=".3f")],
        )
        .properties(width=300, height=alt.Step(15))
    )
    about = result.settings
    which = "difference of the means" if about["method"] == "mean-difference" else f"component {about['component']}"
    remark = f"{which}; top: {_short(result.a)}; bottom: {_short(result.b)}"
    return {"subspace": styled(chart, "The ends of a bias subspace", remark)}


def draw_choice(result: SeedChoice) -> dict[str, Any]:
    """One measurement under every list of a category."""
    alt = altair()
    frame = result.to_frame()
    frame = frame[frame["value"].notna()]
    if frame.empty:
        return {}
    base = alt.Chart(frame).encode(
        y=alt.Y("set:N", title=None, sort=None, axis=alt.Axis(labelLimit=360)),
        tooltip=["set", "paper", "value", "low", "high", "found", "asked", "most_influential"],
    )
    x = alt.X("value:Q", title=f"cosine with {result.target}", scale=alt.Scale(zero=False))
    chart = alt.layer(
        base.mark_rule(color="#8fa3b5", strokeWidth=1.5).encode(x="low:Q", x2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1, color=_GATHERED).encode(x=x),
    ).properties(width=400, height=alt.Step(17))
    spread = "" if result.spread is None else f"Standard deviation over lists {result.spread:.3f}"
    runs = "" if result.replicate_spread is None else f", over models {result.replicate_spread:.3f}"
    title = f"The same measurement under every {result.category} list"
    return {"choice": styled(chart, title, f"{spread}{runs}" or "With its interval")}


def _titles(cards: Sequence[FitnessCard]) -> list[str]:
    """Short names of pairs of sets, numbered where two would be the same."""
    found: list[str] = []
    for title in map(_title, cards):
        same = sum(one.split(" #")[0] == title for one in found)
        found.append(f"{title} #{same + 1}" if same else title)
    return found


def _title(card: FitnessCard) -> str:
    a, b, paper = card.short_names
    of = f" ({paper.split('_')[0]})" if paper else ""
    return f"{_short(a, 20)} | {_short(b, 20)}{of}"


def _short(text: str, most: int = _LABEL) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


DRAW = {"SeedsResult": draw_seeds, "BiasSubspace": draw_subspace, "SeedChoice": draw_choice}
