"""Make the small tables that R and irrCAC are asked about: `python make_tables.py`, then the other two scripts.

scores.csv: 12 subjects × 5 raters of different level; noise.csv: 8 × 4 without any agreement (a negative ICC);
items.csv: 40 observations × 8 items of unequal loading; labels.csv: 30 items × 4 raters, categories 1 to 4.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def main() -> None:
    """Write the four tables, rounded so that their text is exact."""
    random = np.random.default_rng(20240229)
    scores = random.normal(size=(12, 1)) + 0.6 * random.normal(size=(1, 5)) + 0.8 * random.normal(size=(12, 5))
    noise = random.normal(size=(8, 4))
    loadings = np.array([0.9, 0.5, 0.7, 0.3, 0.8, 0.6, 0.4, 0.75])
    items = random.normal(size=(40, 1)) * loadings + random.normal(size=(40, 8)) * np.sqrt(1 - loadings**2)
    items *= np.array([1, 2, 0.5, 1, 3, 1, 1, 0.2])
    truth = random.integers(1, 5, size=(30, 1))
    labels = np.where(random.random((30, 4)) < 0.6, truth, random.integers(1, 5, size=(30, 4)))
    for name, table in {"scores": scores, "noise": noise, "items": items}.items():
        np.savetxt(HERE / f"{name}.csv", table, fmt="%.3f", delimiter=",")
    np.savetxt(HERE / "labels.csv", labels, fmt="%d", delimiter=",")


if __name__ == "__main__":
    main()
