"""How large corpora are: documents, words, vocabulary, mean length."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.corpora.token_corpus import TokenCorpus
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED = "badder_seeds2022"
_PUBLISHED_MIN_COUNT = 10
_SIGNS = re.compile(r"[^\w\s]")


@dataclass(frozen=True)
class CorpusSize:
    """One row of the table.

    Attributes:
        name: of the corpus.
        documents: how many documents have a word.
        lines: how many lines have a word.
        words: tokens.
        vocabulary: types.
        mean_length: words of a document in the mean.
    """

    name: str
    documents: int
    lines: int
    words: int
    vocabulary: int
    mean_length: float


@dataclass(frozen=True)
class CorpusStatistics:
    """Sizes of corpora. They are counts of the whole text, not estimates, so they have no intervals.

    Attributes:
        rows: one a corpus.
        counting: what was counted, in words.
    """

    rows: tuple[CorpusSize, ...]
    counting: str

    def to_frame(self) -> pd.DataFrame:
        """One row a corpus; what was counted is in `attrs`."""
        import pandas as pd  # noqa: PLC0415 - half a second to import

        frame = pd.DataFrame([asdict(row) for row in self.rows])
        frame.attrs["counting"] = self.counting
        return frame

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {"counting": self.counting, "rows": [asdict(row) for row in self.rows]}

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.counting)}</p>{self.to_frame().to_html(index=False)}"


def statistics(
    corpora: TokenCorpus | Mapping[str, TokenCorpus], *, min_count: int = 1, as_published: str | None = None
) -> CorpusStatistics:
    """Count documents, words, vocabulary and mean length of one corpus or of several by name.

    Args:
        corpora: a corpus, or names and corpora.
        min_count: words rarer than this are counted nowhere.
        as_published: "badder_seeds2022" counts as its table A.1 was: signs that are no letters or digits are deleted
            from every token, and the words are those left with at least 10 occurrences; the vocabulary, however, is
            that of all tokens as they are; the mean length follows the words.

    Raises:
        ParameterError: an argument is impossible.
    """
    named = {corpora.path.name: corpora} if isinstance(corpora, TokenCorpus) else corpora
    if not isinstance(named, Mapping) or not all(isinstance(one, TokenCorpus) for one in named.values()):
        raise ParameterError(
            f"The 'corpora' parameter of statistics must be a corpus, or a dict of them. Got {type(corpora).__name__}."
        )
    if as_published not in {None, PUBLISHED}:
        raise ParameterError(
            f"The 'as_published' parameter of statistics must be {PUBLISHED!r} or None. Got {as_published!r}."
        )
    if not isinstance(min_count, int) or isinstance(min_count, bool) or min_count < 1:
        raise ParameterError(
            f"The 'min_count' parameter of statistics must be a whole number of at least 1. Got {min_count!r}."
        )
    if as_published:
        counting = f"as published ({PUBLISHED}): words of at least 10 occurrences without signs; vocabulary unfiltered"
        return CorpusStatistics(tuple(_as_published(name, one) for name, one in named.items()), counting)
    counting = "all words" if min_count == 1 else f"words of at least {min_count} occurrences"
    return CorpusStatistics(tuple(_counted(name, one, min_count) for name, one in named.items()), counting)


def _counted(name: str, corpus: TokenCorpus, min_count: int) -> CorpusSize:
    kept = corpus.counts >= min_count
    words = int(corpus.counts[kept].sum())
    return _row(name, corpus, words, int(np.count_nonzero(kept)))


def _as_published(name: str, corpus: TokenCorpus) -> CorpusSize:
    stripped: Counter[str] = Counter()
    for word, count in zip(corpus.words, corpus.counts.tolist(), strict=True):
        stripped[_SIGNS.sub("", word)] += count
    words = sum(count for word, count in stripped.items() if word and count >= _PUBLISHED_MIN_COUNT)
    return _row(name, corpus, words, len(corpus.words))


def _row(name: str, corpus: TokenCorpus, words: int, vocabulary: int) -> CorpusSize:
    documents = len(corpus.documents) - 1
    return CorpusSize(name, documents, len(corpus.lines) - 1, words, vocabulary, words / documents)
