"""The study of Du et al. 2021 on texts of our own: tables and figures of docs/studies/du2021.md.

    python scripts/study_du2021.py RUN... --data du_data --out docs/studies/du2021

RUN are folders of blocks that scripts/study_du2021_gpu.py left (scores and checksums; no models), du_data is what its
`make` left: the words of each text and how often they occur. Takes two minutes on one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pandas as pd
import study_du2021_figures as figures
import study_du2021_tables as tables
from study_du2021_blocks import read_blocks
from study_du2021_seeds import settings_compared, subsets

import biasgauge as bg

MAIN = ("sgns", "glove", "fasttext")
SETTINGS = ("own_negatives", "sgns100", "sgns3")


def main() -> None:
    """Make all tables and figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--refits", type=int, default=50, help="of the regression, for intervals of what R² loses")
    chosen = parser.parse_args()
    blocks = read_blocks(chosen.runs, chosen.data)
    scored = [block for block in blocks.values() if "linear" in block.arrays]
    scored.sort(key=lambda block: ([*MAIN, *SETTINGS].index(block.kind), list(figures.TEXTS).index(block.text)))
    main_blocks = [block for block in scored if block.kind in MAIN]
    chosen.out.mkdir(parents=True, exist_ok=True)
    pairs = tables.pair_table(main_blocks)
    made = {
        "blocks": about_blocks(scored),
        "reliability": tables.distributions(scored),
        "internal": tables.internal(main_blocks),
        "pairs": pairs,
        "relations": tables.relations(main_blocks, pairs),
        "by_frequency": tables.by_frequency(scored),
        "components": tables.components(main_blocks),
        "seeds": subsets(main_blocks),
        "settings": settings_compared(blocks, SETTINGS),
    }
    for name, table in made.items():
        table.round(4).to_csv(chosen.out / f"{name}.csv", index=False)
        print(f"{name}: {len(table)} rows", flush=True)
    coefficients, shares = regressions(blocks, chosen.refits)
    coefficients.round(5).to_csv(chosen.out / "factors.csv", index=False)
    shares.round(4).to_csv(chosen.out / "factors_r2.csv", index=False)
    bg.results.save_figures(charts(made), chosen.out, ("svg",))


def about_blocks(blocks: list[Any]) -> pd.DataFrame:
    """What each block is."""
    rows = [
        {
            "algorithm": block.kind,
            "text": block.text,
            "dim": block.about["dim"],
            "epochs": block.about["settings"]["epochs"],
            "seeds": block.seeds,
            "words": len(block.words),
            "tokens": block.about["tokens"],
            "pairs": len(block.pairs),
            "google10k": len(block.arrays["google"]),
            "first_sha256": block.about["sha256"][0],
        }
        for block in blocks
    ]
    return pd.DataFrame(rows)


def regressions(blocks: dict[str, Any], refits: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """With all properties where they were kept, and on all blocks without those of vectors: coefficients, and R²."""
    frames, shares = [], []
    for outcome in ("test_retest", "inter_rater"):
        for model, vectors in (("all properties", True), ("no properties of vectors", False)):
            table = tables.factor_rows(blocks, outcome, vectors=vectors)
            fit = bg.factors(table, outcome=outcome, refits=refits)
            about = {"outcome": outcome, "model": model}
            frames.append(fit.to_frame().assign(**about))
            for part, share in {"fixed": fit.r2.fixed, **fit.r2.groups, "total": fit.r2.total}.items():
                ends = {"low": share.interval.low, "high": share.interval.high}
                shares.append({**about, "part": part, "r2": share.value, **ends, "rows": fit.rows, "words": fit.words})
            print(f"regression of {outcome} with {model}: {fit.rows:,} rows", flush=True)
    return pd.concat(frames, ignore_index=True), pd.DataFrame(shares)


def charts(made: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """All figures by the name of their file."""
    rows = made["reliability"]
    rows = rows[rows["algorithm"].isin(MAIN)]
    order = [f"{algorithm}, {text}" for algorithm in figures.ALGORITHMS.values() for text in figures.TEXTS.values()]
    by_measure = rows[(rows["reliability"] == "test_retest") & (rows["measure"] != "all")]
    raters = rows[rows["reliability"] == "inter_rater"]
    quantiles = "Median, middle half, and 5 % to 95 % of the {}; 32 seeds, 300 dimensions."
    return {
        "test_retest": figures.boxes(
            by_measure[by_measure["of"] == "word"], "Test-retest reliability of words", quantiles.format("words"), order
        ),
        "test_retest_pairs": figures.boxes(
            by_measure[by_measure["of"] == "pair"],
            "Test-retest reliability of base pairs",
            quantiles.format("base pairs"),
            order,
        ),
        "inter_rater": figures.boxes(
            raters[raters["of"] == "word"],
            "Inter-rater consistency of words, scores as they are",
            quantiles.format("words"),
            order,
        ),
        "inter_rater_pairs": figures.boxes(
            raters[raters["of"] == "pair"],
            "Inter-rater consistency of base pairs, scores as they are",
            quantiles.format("base pairs"),
            order,
        ),
        "internal": figures.internal_chart(made["internal"]),
        "base_pairs": figures.pairs_chart(made["pairs"]),
        "seeds": figures.seeds_chart(made["seeds"]),
        "frequency": figures.frequency_chart(made["by_frequency"]),
        "settings": figures.settings_chart(made["settings"]),
    }


if __name__ == "__main__":
    main()
