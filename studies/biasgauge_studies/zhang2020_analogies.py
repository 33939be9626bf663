"""The analogies of Zhang, Sneyd & Stevenson 2020 on part of GoogleNews and part of GloVe.

Asks "man is to x as woman is to …?" for the 573 pairs of the Google set by the published rule and the corrected one;
asks the same with pairs of words from unlike to alike; generates pairs with and without a largest distance. Takes some
minutes on one core.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.robustness.explained import SimilarityExplained, similarity_explained
from biasgauge.analyses.robustness.pair_generator import generate_pairs
from biasgauge.core import WordPolicy
from biasgauge.results.drawing import altair, styled
from biasgauge.study import file_step

if TYPE_CHECKING:
    from biasgauge.vectors import Embedding

MODELS: dict[str, dict[str, Any]] = {"GoogleNews": {}, "GloVe": {"policy": WordPolicy(case="fallback")}}
"""Rules of word lookup: the GloVe vectors have no capitals."""

BANDS = ((-0.05, 0.05), (0.15, 0.25), (0.35, 0.45), (0.55, 0.65), (0.75, 0.85))
"""Cosines of the pairs that are asked with in place of "man" and "woman"."""

PAIRS_A_BAND = 6
COMMON = 3_000
DIGITS = "%.4f"


def conditions(found: SimilarityExplained, model: str) -> list[dict[str, Any]]:
    """Every way of asking, in all and by category, and the similarities that they are held against."""
    about = {"model": model, "method": found.method}
    rows: list[dict[str, Any]] = [{**about, **dict(row)} for _, row in found.to_frame().iterrows()]
    for name in ("nearest_correct", "listed", "listed_with_excluded", "random_pairs"):
        one = getattr(found, name)
        ends = {"low": one.low, "high": one.high}
        rows.append(
            {**about, "category": "all", "statistic": name, **ends, "value": one.value, "sd": one.sd, "n": one.n}
        )
    return rows


def pairs_in_bands(vectors: Embedding) -> list[tuple[float, tuple[str, str]]]:
    """Pairs of common words drawn at random, so many with a cosine within each band."""
    random = np.random.default_rng(0)
    common = [word for word in bg.lexicon("google10k").words if word in vectors and len(word) > 2][:COMMON]
    rows = vectors.lookup(common).rows
    units = vectors.vectors[rows].astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    cosines = np.triu(units @ units.T, 1)
    found = []
    for low, high in BANDS:
        one, other = np.nonzero((cosines > low) & (cosines < high) & np.triu(np.ones_like(cosines, bool), 1))
        drawn = random.choice(len(one), min(PAIRS_A_BAND, len(one)), replace=False)
        found += [((low + high) / 2, (common[one[place]], common[other[place]])) for place in drawn]
    return found


def other_pairs(vectors: Embedding, model: str, settings: dict[str, Any]) -> pd.DataFrame:
    """How often the answer is the nearest neighbor of x, with pairs that have nothing to do with gender."""
    rows = []
    for band, pair in [(None, ("man", "woman")), (None, ("he", "she")), *pairs_in_bands(vectors)]:
        found = similarity_explained(vectors, pair=pair, random_pairs=2, **settings)
        one = found.condition()
        rows.append(
            {
                "model": model,
                "band": band,
                "first": pair[0],
                "second": pair[1],
                "pair_cosine": found.pair_cosine,
                "explained": one.explained.value,
                "near": one.near.value,
                "correct": one.correct.value,
                "itself_without_exclusion": found.condition(exclude_inputs=False).itself.value,
            }
        )
    return pd.DataFrame(rows)


def generated(vectors: Embedding, model: str) -> pd.DataFrame:
    """The 100 best pairs for "he" and "she", words at most 1 apart and at any distance."""
    frames = []
    for delta in (1.0, 2.0):
        found = generate_pairs(vectors, ("he", "she"), delta=delta)
        print(model, found, "mean cosine", found.similarity, flush=True)
        frames.append(found.to_frame().assign(model=model, delta=delta))
    return pd.concat(frames, ignore_index=True)


def draw(others: pd.DataFrame) -> dict[str, Any]:
    """How often the answer is the nearest neighbor of x, by how alike the two words of the pair are."""
    alt = altair()
    others = others.assign(pair=others["first"] + "–" + others["second"])
    others["kind"] = others["band"].isna().map({True: "gender", False: "drawn at random"})
    base = alt.Chart(others).encode(
        x=alt.X("pair_cosine:Q", title="cosine of the two words of the pair", scale=alt.Scale(domain=[-0.05, 1])),
        y=alt.Y("explained:Q", title="answers that are x’s nearest neighbor", axis=alt.Axis(format="%")),
    )
    points = base.mark_point(filled=True, size=55, opacity=0.8).encode(
        color=alt.Color("kind:N", title="pair", scale=alt.Scale(range=["#8a8a8a", "#d95f02"])),
        tooltip=["pair", "pair_cosine", "explained"],
    )
    named = [
        base.mark_text(align=align, dx=dx, dy=dy).encode(text="pair:N").transform_filter(f"datum.pair == '{pair}'")
        for pair, align, dx, dy in (("man–woman", "right", -7, -7), ("he–she", "left", 8, 1))
    ]
    chart = alt.layer(points, *named, data=others).properties(width=300, height=260)
    facets = chart.facet(column=alt.Column("model:N", title=None, sort=list(MODELS)))
    return {
        "other_pairs": styled(
            facets, "“a is to x as c is to …?” with any pair", "The more alike a and c, the more often x decides alone"
        )
    }


def ask_analogies(out: Path, inputs: Mapping[str, Path], *, google_news: Path, glove_subset: Path) -> None:
    """Answer the analogies by both rules on both sets of vectors."""
    summary, single, others, pairs = [], [], [], []
    for path, (model, settings) in zip((google_news, glove_subset), MODELS.items(), strict=True):
        vectors = bg.load(path)
        for method in ("3cosadd", "3cosmul"):
            found = similarity_explained(vectors, method=method, **settings)
            print(model, found, f"cosine of the pair {found.pair_cosine:.7f}, lost {len(found.lost)}", flush=True)
            summary += conditions(found, model)
            single.append(found.words_frame().assign(model=model, method=method))
        others.append(other_pairs(vectors, model, settings))
        pairs.append(generated(vectors, model))
    pd.DataFrame(summary).to_csv(out / "summary.csv", index=False, float_format=DIGITS)
    single_words = pd.concat(single, ignore_index=True)
    single_words[single_words["answer"].notna()].to_csv(out / "answers.csv.gz", index=False, float_format=DIGITS)
    by_pair = pd.concat(others, ignore_index=True)
    by_pair.to_csv(out / "other_pairs.csv", index=False, float_format=DIGITS)
    bg.results.save_figures(draw(by_pair), out, ("svg",))
    pd.concat(pairs, ignore_index=True).to_csv(out / "generated.csv", index=False, float_format=DIGITS)


STEP = file_step(
    "zhang2020-analogies", "analogies with pairs of words, by two rules", {"zhang2020-analogies": ask_analogies}
)
