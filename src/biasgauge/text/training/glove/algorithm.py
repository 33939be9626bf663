"""GloVe: co-occurrences are counted once a text, and vectors are fitted so that their products are log counts.

The cost of a cell is f(X) (w_i · w~_j + b_i + b~_j - log X)² / 2 with f(X) = min(1, (X / x_max) ** alpha); AdaGrad
visits the cells one by one, in the same random order in each iteration (Pennington, Socher & Manning 2014).

The steps are those of the official tool as it stands since 2020, with two traits that the paper does not have: sums of
squared gradients start at 1 and hold gradients times eta; and biases move without eta, twenty times as fast as vectors.
Numbers are 32-bit where the tool's are 64-bit, which moves vectors by a ten-thousandth of their length. With several
threads, the tool's order drifts from iteration to iteration, which raises its cost by 0.2 to 0.4 %.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.core import Singles, check_whole
from biasgauge.errors import InputError, ParameterError
from biasgauge.text.training.algorithms import Fit, GloveSettings
from biasgauge.text.training.cooccurrence import Cooccurrence, count_cooccurrences
from biasgauge.text.training.glove.descent import descend, first_weights, shuffled

if TYPE_CHECKING:
    from biasgauge.text.training.text import TrainingText


def train_glove(
    cells: Cooccurrence,
    settings: GloveSettings,
    *,
    seed: int,
    sum_vectors: bool = True,
    threads: int = 1,
    memory: int = 2**31,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Fit vectors to counts; the losses are mean costs of a cell, each taken just before its step, as the tool has it.

    The same cells, settings and seed give the same bytes, whatever the process, the load and the processor's width;
    logarithms and powers are the system's own, rounded from 64 to 32 bits, which hides how systems differ in them.

    Args:
        cells: what `count_cooccurrences` counted.
        settings: size of the vectors, weights of the cells, learning rate; an epoch is a pass over the cells.
        seed: decides the first vectors and the order of the cells.
        sum_vectors: whether a word's vector is the sum of its two, as word and as context; else that as word.
        threads: above 1, so many parts of the cells are trained on at once without locks; results then differ from
            run to run.
        memory: the cells in their order, 16 bytes each, lie in a temporary file where they would need more.
        progress: called with cells visited and cells to visit, over all epochs.

    Raises:
        ParameterError: a setting is impossible, there are no cells, or `eta` lets the cost grow without bounds.
    """
    check_whole(1, threads=threads, memory=memory)
    check_whole(0, seed=seed)
    if not len(cells):
        raise ParameterError("The 'cells' of train_glove must not be empty: there is nothing to learn from.")
    dim, x_max, alpha = settings.dim, float(settings.x_max), float(settings.alpha)
    visits = shuffled(cells, x_max=x_max, alpha=alpha, seed=seed, memory=memory)
    weights = first_weights(2 * cells.size, dim, seed)
    costs = descend(
        weights, dim, visits, iterations=settings.epochs, eta=settings.eta, threads=threads, progress=progress
    )
    return fit_of_weights(weights, cells, dim, costs, sum_vectors=sum_vectors)


def fit_of_weights(
    weights: Singles, cells: Cooccurrence, dim: int, costs: tuple[float, ...], *, sum_vectors: bool = True,
    tokens: int = 0,
) -> Fit:  # fmt: skip
    """Take the vectors out of trained weights, and say which words no cell mentions."""
    words, contexts = weights[: cells.size, :dim], weights[cells.size :, :dim]
    mentioned = np.diff(cells.starts) > 0
    mentioned[np.bincount(cells.columns, minlength=cells.size) > 0] = True
    vectors = words + contexts if sum_vectors else words.copy()
    return Fit(vectors, costs, tokens, untrained=tuple(np.flatnonzero(~mentioned).tolist()))


def prepare(text: TrainingText, settings: GloveSettings, folder: Path) -> Cooccurrence:
    """Count which words occur near which, or open the counts if `folder` holds them whole."""
    with suppress(InputError):  # there are none, or a kill cut them short
        return Cooccurrence.open(folder)
    corpus, words = text.corpus, text.vocabulary
    cells = count_cooccurrences(
        corpus.tokens, corpus.lines, text.order, words.places, len(words.words), window=settings.window
    )
    cells.save(folder)
    return Cooccurrence.open(folder)


def train(
    text: TrainingText, settings: GloveSettings, *, seed: int, shared: Cooccurrence, threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:  # fmt: skip
    """Fit vectors to the counts; a word's vector is the sum of its two, as in the official tool."""
    fit = train_glove(shared, settings, seed=seed, threads=threads, progress=progress)
    return replace(fit, tokens=text.tokens * len(fit.losses))
