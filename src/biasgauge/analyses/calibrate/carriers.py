"""Which words carry planted doses, and which of them gets which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from biasgauge import registry
from biasgauge.analyses.calibrate.design import GENDERED
from biasgauge.analyses.calibrate.edit import Text
from biasgauge.core import Floats
from biasgauge.errors import ParameterError
from biasgauge.lexicons import words_of
from biasgauge.text import TokenCorpus

_BANDS = 10


def choose_carriers(
    corpus: TokenCorpus,
    pairs: Sequence[tuple[str, str]],
    count: int,
    *,
    window: int = 5,
    counts: tuple[int, int] | None = None,
    least: int = 20,
    leave_out: Iterable[str] = (),
    random_state: int = 0,
) -> tuple[str, ...]:
    """Draw words that doses can be planted on, evenly over the range of frequencies.

    Args:
        corpus: the text.
        pairs: what is planted: their words, and words of the shipped gender lexicons, are no carriers.
        count: how many words.
        window: tokens on each side.
        counts: least and largest number of occurrences; by default 200 to 2,000, or to 2 in 10,000 tokens where that
            is more.
        least: how many words of pairs must stand beside a carrier.
        leave_out: further words that are no carriers.
        random_state: seed.

    Raises:
        ParameterError: the text has too few such words.
    """
    text = Text(corpus, corpus.tokens)
    low, high = counts or (200, max(2_000, len(corpus.tokens) // 5_000))
    usual = np.flatnonzero((corpus.counts >= low) & (corpus.counts <= high))
    beside, _ = text.beside([corpus.words[place] for place in usual], pairs, window)
    known = registry.names("lexicon")
    barred = {member for name in GENDERED if name in known for member in words_of(name).words}
    barred |= {member for pair in pairs for member in pair} | set(leave_out)
    enough = beside.sum(axis=1) >= least
    fit = np.array(
        [
            place
            for place, sufficient in zip(usual, enough, strict=True)
            if sufficient and (name := corpus.words[place]).isalpha() and len(name) > 2 and name not in barred
        ],
        np.int64,
    )
    if len(fit) < count:
        raise ParameterError(
            f"The calibration needs {count} carriers: words of three letters or more that are not about gender, occur "
            f"{low:,} to {high:,} times, and {least} times or more beside a word of a pair; the corpus has {len(fit)}. "
            "Give more text, fewer doses, fewer words a dose, or carriers."
        )
    random = np.random.default_rng([random_state, 7])
    bands = np.array_split(fit[np.argsort(np.log(corpus.counts[fit]), kind="stable")], min(_BANDS, count))
    share = [len(part) for part in np.array_split(np.arange(count), len(bands))]
    chosen = [random.choice(band, size, replace=False) for band, size in zip(bands, share, strict=True)]
    return tuple(corpus.words[place] for place in random.permutation(np.concatenate(chosen)))


def assign_doses(carriers: Sequence[str], levels: Floats, random_state: int, draw: int) -> dict[str, float]:
    """Deal doses out to carriers at random: `levels` has one for each carrier; every draw deals anew."""
    random = np.random.default_rng([random_state, 8, draw])
    return dict(zip(carriers, random.permutation(levels).tolist(), strict=True))
