"""How often `compare` finds a difference where there is none, holds one that is there, and finds it.

    python bench/compare.py --draws 400
    python bench/compare.py --text enwiki_long_articles_5M.txt.xz --words 2000000

Lists of 8 words are drawn from real vectors: X and Y from the 40 neighbors of a random word, A and B from those of
another, so that the words of a list lean alike, as those of one topic do. Without a change, groups are replicates of
one text (a placebo), or texts that do differ while the lists mean nothing (words of one topic are labeled X or Y by a
coin toss). With a change, X and Y come from topics of their own, and the truth is the difference of the whole pools
of 150 words over all models. With --text, the documents of a text are dealt to two halves, models are trained on
both, and the halves are compared: replicates by random seed do not know that another half would have given another
answer, bootstrap samples do.
"""

from __future__ import annotations

import argparse
import lzma
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import biasgauge as bg
from biasgauge.core.arrays import Floats, Places
from biasgauge.core.geometry import unit_rows
from biasgauge.stats import GroupComparison, compare_effect_sizes, compare_groups, slope_weights

LIST, TOPIC, POOL, MOST = 8, 40, 150, 6_000
GROUPS = np.repeat([0, 1], LIST)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--words", type=int, default=2_000_000, help="of the text")
    asked = parser.parse_args()
    print(f"{'groups':<52}{'models':>8}{'other words':>13}{'these words':>13}")
    if asked.text is not None:
        halves(asked.text, asked.words, asked.draws)
        return
    words, glove, wiki = aligned_rows()
    placebo("one text, replicates by seed", [wiki[:2], wiki[2:]], asked.draws)
    placebo("one text, replicates by seed", [wiki[:2], wiki[4:6]], asked.draws)
    placebo("one text, replicates by seed", [wiki[:2], wiki[2:]], asked.draws)
    placebo("one text, one model each", [wiki[:1], wiki[4:5]], asked.draws)
    placebo("one text, effect size", [wiki[:2], wiki[2:]], asked.draws // 4, function=compare_effect_sizes)
    weights = slope_weights([0, 1, 2, 3]).tolist()
    placebo("one text, trend over four groups", [wiki[n : n + 2] for n in (0, 2, 4, 6)], asked.draws, weights=weights)
    placebo("two texts, lists that mean nothing", [glove, wiki], asked.draws)
    print(f"\n{'a change, with the words of whole pools as truth':<52}{'models':>8}{'covers':>13}{'finds':>13}")
    for planted in (0.0, 0.1, 0.2, 0.4):
        changed(f"GloVe and replicates, {planted} planted", words, glove, wiki, planted, asked.draws)


def aligned_rows() -> tuple[list[str], list[Floats], list[Floats]]:
    """Words that all shipped models have, and their unit vectors: of GloVe, and of each replicate."""
    models = [bg.vectors.load_default(), *bg.vectors.load_default_replicates()]
    words = [word for word in models[1].words if all(word in model.index for model in models)][:MOST]
    rows = [unit_rows(np.asarray(model.vectors[model.lookup(words).rows], np.float64)) for model in models]
    return words, rows[:1], rows[1:]


def tables(groups: Sequence[Sequence[Floats]], targets: Places, attributes: Places) -> list[Floats]:
    return [np.stack([rows[targets] @ rows[attributes].T for rows in group]) for group in groups]


def topics(rows: Floats, random: np.random.Generator) -> tuple[Places, Places]:
    """Sixteen words of one topic as X and Y, sixteen of another as A and B, labeled by a coin toss."""
    seeds = random.choice(len(rows), 2, replace=False)
    near = [np.argsort(-(rows @ rows[seed]))[:TOPIC] for seed in seeds]
    return tuple(random.choice(words, 2 * LIST, replace=False) for words in near)  # type: ignore[return-value]


def placebo(
    name: str,
    groups: Sequence[Sequence[Floats]],
    draws: int,
    *,
    weights: Sequence[float] = (-1.0, 1.0),
    bootstrap: bool = False,
    function: Callable[..., GroupComparison] = compare_groups,
) -> None:
    random = np.random.default_rng(0)
    rejected = []
    for _ in range(draws):
        targets, attributes = topics(groups[0][0], random)
        found = function(
            tables(groups, targets, attributes),
            GROUPS,
            GROUPS,
            group_weights=weights,
            bootstrap=[bootstrap] * len(groups),
        )
        rejected.append([np.nan if one.p is None else one.p < 0.05 for one in (found.other_words, found.these_words)])
    shares = np.array(rejected).mean(axis=0)
    sizes = "+".join(str(len(group)) for group in groups)
    print(f"{name:<52}{sizes:>8}{shares[0]:>13.3f}{shares[1]:>13.3f}", flush=True)


def changed(name: str, words: list[str], glove: list[Floats], wiki: list[Floats], planted: float, draws: int) -> None:
    """Pools of music and engine, she and he; X is moved towards A less B in the second group."""
    random = np.random.default_rng(1)
    seeds = [words.index(word) for word in ("music", "engine", "she", "he")]
    pools = [np.argsort(-(wiki[0] @ wiki[0][seed]))[:POOL] for seed in seeds]
    moved = []
    for rows in wiki:
        axis = rows[pools[2]].mean(axis=0) - rows[pools[3]].mean(axis=0)
        other = rows.copy()
        other[pools[0]] = unit_rows(other[pools[0]] + planted * axis / np.linalg.norm(axis))
        moved.append(other)
    whole = tables([glove, moved], np.concatenate(pools[:2]), np.concatenate(pools[2:]))
    sides = np.repeat([0, 1], POOL)
    truth = compare_groups(whole, sides, sides).other_words.value or 0.0
    held, found = 0, 0
    for _ in range(draws):
        drawn = [random.choice(pool, LIST, replace=False) for pool in pools]
        chosen = [moved[place] for place in random.choice(len(moved), 4, replace=False)]
        part = tables([glove, chosen], np.concatenate(drawn[:2]), np.concatenate(drawn[2:]))
        asked = compare_groups(part, GROUPS, GROUPS).other_words
        if asked.low is not None and asked.high is not None and asked.p is not None:
            held += asked.low <= truth <= asked.high
            found += asked.p < 0.05
    print(f"{f'{name} (truth {truth:.3f})':<52}{'1+4':>8}{held / draws:>13.3f}{found / draws:>13.3f}", flush=True)


def halves(path: Path, words: int, draws: int) -> None:
    """Two halves of one text: nothing differs but which documents are in them."""
    with tempfile.TemporaryDirectory() as folder:
        texts = [Path(folder) / f"{name}.txt" for name in ("one", "two")]
        _deal(path, words, texts)
        recipes: dict[str, dict[str, Any]] = {"seeds": {"seeds": 4}, "samples": {"bootstrap": 8}}
        for kind, count in recipes.items():
            groups = []
            for text in texts:
                done = bg.train(text, out=Path(folder) / kind / text.stem, dim=50, epochs=3, n_jobs=1, **count)
                groups.append([bg.load(model.path) for model in done.models])
            shared = [
                word for word in groups[0][0].words if all(word in one.index for group in groups for one in group)
            ]
            shared = shared[100:MOST]
            rows = [
                [unit_rows(np.asarray(one.vectors[one.lookup(shared).rows], np.float64)) for one in group]
                for group in groups
            ]
            placebo(f"halves of one text, replicates: {kind}", rows, draws, bootstrap=kind == "samples")


def _deal(path: Path, words: int, texts: Sequence[Path]) -> None:
    parts: list[list[str]] = [[], []]
    count = 0
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            parts[number % 2].append(line)
            count += line.count(" ") + 1
            if count >= words:
                break
    for text, part in zip(texts, parts, strict=True):
        text.write_text("".join(part), encoding="utf-8")


if __name__ == "__main__":
    main()
