"""Du et al. 2021 on texts of our own, with 32 seeds: texts as numbers, blocks of scores from a GPU, tables and figures.

The blocks need a GPU for half an hour in all (du2021_gpu.py says more); tables take two minutes of one core.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import biasgauge as bg
from biasgauge.study import file_step
from biasgauge_studies import du2021_figures as figures
from biasgauge_studies import du2021_tables as tables
from biasgauge_studies.du2021_blocks import read_blocks
from biasgauge_studies.du2021_cpu import train_on_cpu
from biasgauge_studies.du2021_seeds import settings_compared, subsets
from biasgauge_studies.du2021_texts import make
from biasgauge_studies.stages import run_module

MAIN = ("sgns", "glove", "fasttext")
SETTINGS = ("own_negatives", "sgns100", "sgns3")


def number_texts(out: Path, inputs: Mapping[str, Path], *, data: Path) -> None:
    """Write the four texts as numbers, about 45 MB."""
    make(data, out, ["novels", "imdb", "wiki", "wiki_part"])


def train_and_score(out: Path, inputs: Mapping[str, Path], *, seconds: int = 540) -> None:
    """Train 32 seeds of every block on a GPU, score them, and keep scores and checksums; needs CuPy and PyTorch."""
    run_module("du2021_gpu", "run", inputs["texts"], "--out", out, "--seconds", seconds)


def tabulate(out: Path, inputs: Mapping[str, Path], *, refits: int = 50) -> None:
    """Make all tables and figures; `refits` of the regression are for the intervals of what R² loses."""
    runs = [folder for name, folder in inputs.items() if name != "texts"]
    blocks = read_blocks(runs, inputs["texts"])
    scored = [block for block in blocks.values() if "linear" in block.arrays]
    kinds = [*MAIN, *SETTINGS]
    scored.sort(key=lambda block: (kinds.index(block.kind), list(figures.TEXTS).index(block.text)))
    main_blocks = [block for block in scored if block.kind in MAIN]
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
        table.round(4).to_csv(out / f"{name}.csv", index=False)
    coefficients, shares = regressions({block.name: block for block in main_blocks} | _features(blocks), refits)
    coefficients.round(5).to_csv(out / "factors.csv", index=False)
    shares.round(4).to_csv(out / "factors_r2.csv", index=False)
    bg.results.save_figures(charts(made), out, ("svg",))


def tabulate_cpu(out: Path, inputs: Mapping[str, Path]) -> None:
    """Make the tables of replicates that were trained on the CPU, whose rows rest on one block each."""
    runs = [folder for name, folder in inputs.items() if name != "texts"]
    blocks = list(read_blocks(runs, inputs["texts"]).values())
    made = {
        "blocks": about_blocks(blocks),
        "reliability": tables.distributions(blocks),
        "internal": tables.internal(blocks),
        "by_frequency": tables.by_frequency(blocks, joined=True),
        "components": tables.components(blocks),
        "frequency_difference": tables.frequency_difference(blocks),
    }
    for name, table in made.items():
        table.round(4).to_csv(out / f"{name}.csv", index=False)


def _features(blocks: dict[str, Any]) -> dict[str, Any]:
    """Blocks that hold properties of words alone."""
    return {name: block for name, block in blocks.items() if "linear" not in block.arrays}


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
        "internal": figures.internal_chart(made["internal"][made["internal"]["algorithm"].isin(MAIN)]),
        "base_pairs": figures.pairs_chart(made["pairs"]),
        "seeds": figures.seeds_chart(made["seeds"]),
        "frequency": figures.frequency_chart(made["by_frequency"]),
        "settings": figures.settings_chart(made["settings"]),
    }


STEP = file_step(
    "du2021",
    "reliability over 32 seeds of replicates from a GPU",
    {
        "du2021-texts": number_texts,
        "du2021-blocks": train_and_score,
        "du2021-cpu": train_on_cpu,
        "du2021-cpu-tables": tabulate_cpu,
        "du2021-tables": tabulate,
    },
)
