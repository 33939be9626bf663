"""Gaps with intervals: a bootstrap of counts against one of items, as the usual metric functions would have it.

    python bench/gaps.py [--items 10000] [--loops 20] [--resamples 10000]

Both find the interval of the recall gap of two groups. The loop draws items with replacement and calls scikit-learn's
`recall_score` for each group, which is what a bootstrap around fairlearn's MetricFrame does (less the frame, which
costs more); its time is taken from a few resamples and scaled. All of `bg.applications.gaps` is nine gaps and 18 rates
with
intervals and p. One run, one core.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.metrics import recall_score
from timing import best

from biasgauge.applications import gaps
from biasgauge.applications.confusion import Rate, rate_values
from biasgauge.stats import bootstrap_values

RIGHT = 0.8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--loops", type=int, default=20)
    parser.add_argument("--resamples", type=int, default=10_000)
    asked = parser.parse_args()
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, asked.items)
    predictions = np.where(random.random(asked.items) < RIGHT, labels, 1 - labels)
    groups = random.integers(0, 2, asked.items)
    at = np.ravel_multi_index((groups, labels, predictions), (2, 2, 2))
    cells = np.bincount(at, minlength=8).reshape(2, 2, 2)
    recall = Rate("recall", 1, 1)

    def loop() -> None:
        for _ in range(asked.loops):
            taken = random.integers(0, asked.items, asked.items)
            y, p, g = labels[taken], predictions[taken], groups[taken]
            recall_score(y[g == 0], p[g == 0]) - recall_score(y[g == 1], p[g == 1])

    slow = best(loop) / asked.loops * asked.resamples
    ours = best(
        lambda: bootstrap_values(cells, lambda some: rate_values(recall, some, zeros=False), asked.resamples, 0)
    )
    whole = best(lambda: gaps(labels, predictions, groups, resamples=asked.resamples))
    print(f"{asked.items:,} items, two groups, {asked.resamples:,} resamples")
    print(f"  loop over items, recall gap    {slow:9.2f} s   (scaled from {asked.loops})")
    print(f"  counts, recall gap             {ours:9.4f} s   {slow / ours:9,.0f} × as fast")
    print(f"  bg.applications.gaps, everything            {whole:9.4f} s   {slow / whole:9,.0f} × as fast")


if __name__ == "__main__":
    main()
