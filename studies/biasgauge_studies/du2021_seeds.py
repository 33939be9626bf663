"""How many seeds are enough, and what a setting does to reliability, on words whose scores were kept seed by seed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from biasgauge.stats import icc_stack
from biasgauge.stats.bootstrap import jackknife_variance
from biasgauge_studies.du2021_blocks import MEASURES, Block
from biasgauge_studies.du2021_tables import distribution

SIZES = (2, 4, 8, 16)
DRAWS = 100
Z = 1.959964


def word_iccs(scores: np.ndarray) -> np.ndarray:
    """ICC(2,1), measures x words, from measures x pairs x words x seeds."""
    return np.asarray(icc_stack(scores.transpose(0, 2, 1, 3), "2,1", n_jobs=1).value)


def subsets(blocks: list[Block], random_state: int = 0) -> pd.DataFrame:
    """Reliabilities from some of the seeds against those from all of them.

    `error` is the root mean square error of one word's ICC from so many seeds, `low` and `high` hold 95 % of the
    medians over words, both over random subsets. Subsets share seeds with the whole, and more the larger they are: the
    errors are divided by the square root of the share of seeds that are left out, as those of new seeds would be.
    """
    rows = []
    for block in blocks:
        random = np.random.default_rng(random_state)
        whole = word_iccs(block.scores)
        medians = np.nanmedian(whole, axis=1)
        for size in SIZES:
            drawn = np.stack(
                [word_iccs(block.scores[..., random.choice(block.seeds, size, replace=False)]) for _ in range(DRAWS)]
            )
            left = 1 - size / block.seeds
            errors = np.sqrt(np.nanmean((drawn - whole) ** 2, axis=(0, 2)) / left)
            shift = (np.nanmedian(drawn, axis=2) - medians) / np.sqrt(left)
            low, high = np.quantile(shift, (0.025, 0.975), axis=0)
            below = 100 * np.nanmean(drawn < 0.5, axis=2)
            for place, measure in enumerate(MEASURES):
                rows.append(
                    {"algorithm": block.kind, "text": block.text, "measure": measure, "seeds": size,
                     "median_32": medians[place],
                     "mean_of_medians": float(np.nanmedian(drawn, axis=2)[:, place].mean()),
                     "low": medians[place] + low[place], "high": medians[place] + high[place], "error": errors[place],
                     "below_half": below[:, place].mean(), "below_half_32": 100 * float(np.mean(whole[place] < 0.5))}
                )  # fmt: skip
    return pd.DataFrame(rows)


def settings_compared(blocks: dict[str, Block], others: tuple[str, ...], base: str = "sgns") -> pd.DataFrame:
    """Mean ICC(2,1) of words with another setting, less that of skip-gram as it is, on the same words and pairs.

    The interval allows for the seeds of both (jackknife over seeds) and for the words (paired). `halves` is what two
    halves of the seeds of skip-gram differ by: the size of a difference that means nothing.
    """
    rows = []
    for kind in others:
        for block in (block for block in blocks.values() if block.kind == kind):
            plain = blocks[f"{base}_{block.text}"]
            both = [plain.scores, block.scores]
            iccs = [word_iccs(scores) for scores in both]
            left_out = [
                np.stack(
                    [np.nanmean(word_iccs(np.delete(scores, seed, axis=3)), axis=1) for seed in range(block.seeds)]
                )
                for scores in both
            ]
            halves = np.nanmean(word_iccs(plain.scores[..., ::2]) - word_iccs(plain.scores[..., 1::2]), axis=1)
            for place, measure in enumerate(MEASURES):
                gaps = iccs[1][place] - iccs[0][place]
                gaps = gaps[~np.isnan(gaps)]
                spread = jackknife_variance([part[:, place] for part in left_out]) + gaps.var(ddof=1) / len(gaps)
                margin = Z * float(np.sqrt(spread))
                middle = float(gaps.mean())
                rows.append(
                    {"setting": kind, "text": block.text, "measure": measure, "words": len(gaps),
                     "sgns": float(np.nanmean(iccs[0][place])), "other": float(np.nanmean(iccs[1][place])),
                     "difference": middle, "low": middle - margin, "high": middle + margin,
                     "halves": float(halves[place]), "sgns_median": distribution(iccs[0][place])["median"],
                     "other_median": distribution(iccs[1][place])["median"]}
                )  # fmt: skip
    return pd.DataFrame(rows)
