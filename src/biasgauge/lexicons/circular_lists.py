"""Lists that were made from the very vectors, or from the text, that they are to measure.

Neighbors of seed words in some vectors are associated in these vectors with whatever the seed words are: a contrast of
such lists repeats the one that they were made with. A record of how a list was made (`Provenance`) tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats, Query, WordVectors, row_cosines, today
from biasgauge.lexicons.provenance import Provenance

if TYPE_CHECKING:
    from biasgauge.lexicons.model import Lexicon

FEWEST_COSINES = 3
"""Cosines that are enough to tell whether vectors are those that a list was made from."""
SAME_COSINE = 0.005
"""Difference of two cosines of the same vectors, one of them in half precision or written with few digits, at most."""
REMEDY = "measure its seed words alone, or make the list from vectors of another text"
MOST_COSINES = 24
"""Cosines that a record holds."""
_CHECKSUM_LENGTH = 64


class Circularity(NamedTuple):
    """Answer to whether lists were made from the vectors that they measure, or from their text.

    `passes` is True where they were made from others, False where they are circular, None where that is not known.
    """

    passes: bool | None
    reason: str


def circularity(query: Query, models: Sequence[WordVectors]) -> Circularity | None:
    """Judge whether words of a query were chosen in these models or in their text; None where no list says so.

    Of several lists, steps and models the worst answer counts.
    """
    answers = [
        _judge_step(lexicon, step, model)
        for lexicon in query.sources
        for step in lexicon.made
        if step.traceable
        for model in models
    ]
    order = (False, None, True)
    return min(answers, key=lambda answer: order.index(answer.passes), default=None)


def record_neighbors(model: WordVectors, seed_words: Iterable[str]) -> Provenance:
    """Record that words near `seed_words` were looked for in a model; seed words that it lacks are left out."""
    lookup = model.lookup(dict.fromkeys(seed_words))
    words, rows = lookup.words, lookup.rows
    pairs = len(words) - 1
    # Words that stand side by side, from the whole list: a set that is dropped later takes only its own with it.
    spread = np.linspace(0, pairs - 1, max(0, min(pairs, MOST_COSINES)))
    chosen = sorted({int(place) for place in spread})
    cosines = np.round(_row_cosines(model, [rows[place] for place in chosen], [rows[place + 1] for place in chosen]), 6)
    known = tuple(zip((words[k] for k in chosen), (words[k + 1] for k in chosen), cosines.tolist(), strict=True))
    return Provenance("neighbors", model.name, model.checksum, model.text, words, known, today())


def same_vectors(step: Provenance, model: WordVectors) -> bool | None:
    """Return whether a model has the vectors in which words were chosen; None where nothing tells.

    Cosines of seed words tell, and equal checksums; other checksums do not, since a file may be read in part.
    """
    lookup = model.lookup({word for *pair, _ in step.cosines for word in pair})
    rows = dict(zip(lookup.words, lookup.rows, strict=True))
    recorded = [
        (rows[first], rows[second], cosine)
        for first, second, cosine in step.cosines
        if first in rows and second in rows
    ]
    if len(recorded) >= FEWEST_COSINES:
        firsts, seconds, cosines = map(np.array, zip(*recorded, strict=True))
        return bool(np.allclose(_row_cosines(model, firsts, seconds), cosines, rtol=0.0, atol=SAME_COSINE))
    return True if step.checksum and step.checksum == model.checksum else None


def same_text(step: Provenance, model: WordVectors) -> bool | None:
    """Return whether a model was trained on the text that words come from; None where nothing tells.

    Two names of texts differ for sure only if both are checksums: one text has many names.
    """
    if not step.text or not model.text:
        return None
    if step.text.casefold() == model.text.casefold():
        return True
    return False if len(step.text) == len(model.text) == _CHECKSUM_LENGTH else None


def _judge_step(lexicon: Lexicon, step: Provenance, model: WordVectors) -> Circularity:
    if same_vectors(step, model):
        return _circular("these vectors", lexicon, step)
    from_text = same_text(step, model)
    origin = step.vectors or step.text or "vectors without a name"
    if from_text is None:
        why = "the names of the two texts do not tell" if step.text and model.text else "no record names both texts"
        unknown = "unknown whether the list was made from the text of these vectors"
        return Circularity(passes=None, reason=f"{unknown}: {lexicon.name} was made from {origin}, and {why}")
    if not from_text:
        return Circularity(passes=True, reason=f"the list {lexicon.name} was made from {origin}, of another text")
    source = "vectors of the same text" if step.vectors or step.method == "neighbors" else "the same text"
    return _circular(source, lexicon, step)


def _circular(source: str, lexicon: Lexicon, step: Provenance) -> Circularity:
    reason = f"circular: the list was made from {source} ({lexicon.name}: {step.sentence}); {REMEDY}"
    return Circularity(passes=False, reason=reason)


def _row_cosines(model: WordVectors, firsts: ArrayLike, seconds: ArrayLike) -> Floats:
    """Cosine of each first row with its second; 0 where a vector is zero."""
    left, right = (np.asarray(model.vectors[np.asarray(rows, np.intp)], np.float64) for rows in (firsts, seconds))
    cosines: Floats = np.nan_to_num(row_cosines(left, right))
    return cosines
