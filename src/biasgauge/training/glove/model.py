"""GloVe as one of the algorithms: co-occurrences are counted once a text, models are fitted to the counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.errors import InputError
from biasgauge.training.algorithms import Fit
from biasgauge.training.cooccurrence import Cooccurrence, count_cooccurrences
from biasgauge.training.glove.algorithm import train_glove
from biasgauge.training.settings import GloveSettings

if TYPE_CHECKING:
    from biasgauge.training.text import TrainingText


def prepare(text: TrainingText, settings: GloveSettings, folder: Path) -> Cooccurrence:
    """Count which words occur near which, or open the counts if `folder` holds them whole."""
    if folder.is_dir():
        try:
            return Cooccurrence.open(folder)
        except InputError:
            pass  # cut short by a kill: counted again below
    cells = count_cooccurrences(
        text.corpus.tokens,
        text.corpus.lines,
        text.order,
        text.vocabulary.places,
        len(text.vocabulary.words),
        window=settings.window,
    )
    cells.save(folder)
    return Cooccurrence.open(folder)


def train(
    text: TrainingText,
    settings: GloveSettings,
    *,
    seed: int,
    shared: Cooccurrence,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Fit vectors to the counts; a word's vector is the sum of its two, as in the official tool."""
    fit = train_glove(
        shared,
        dim=settings.dim,
        iterations=settings.epochs,
        x_max=settings.x_max,
        alpha=settings.alpha,
        eta=settings.eta,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    return Fit(
        vectors=fit.vectors,
        tokens=text.tokens * len(fit.costs),
        losses=fit.costs,
        untrained=tuple(fit.untrained.tolist()),
    )
