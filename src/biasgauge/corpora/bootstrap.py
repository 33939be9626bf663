"""Samples of documents with replacement: what would another corpus of the same kind have given?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasgauge.corpora.token_corpus import TokenCorpus
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def bootstrap_documents(corpus: TokenCorpus | int, sample: int, seed: int) -> NDArray[np.int64]:
    """Draw as many documents as there are, with replacement; give their numbers in the order of the draws.

    Sample k of a seed is the same whichever other samples are drawn: it has a random stream of its own.

    Args:
        corpus: the corpus, or how many documents there are.
        sample: which sample, from 0.
        seed: of the whole series of samples.

    Raises:
        ParameterError: a number is impossible.
    """
    documents = len(corpus.documents) - 1 if isinstance(corpus, TokenCorpus) else corpus
    for name, number, least in (("corpus", documents, 1), ("sample", sample, 0), ("seed", seed, 0)):
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < least:
            raise ParameterError(
                f"The {name!r} parameter of bootstrap_documents must be a whole number of at least {least}. "
                f"Got {number!r}."
            )
    stream = np.random.SeedSequence(int(seed), spawn_key=(int(sample),))
    return np.random.Generator(np.random.PCG64(stream)).integers(0, documents, size=documents, dtype=np.int64)
