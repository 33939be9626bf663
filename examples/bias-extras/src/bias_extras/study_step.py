"""A step of studies with its kind: in a study file, `kind = "longest-words"`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from biasgauge.study import Kind, analysis

if TYPE_CHECKING:
    from biasgauge.vectors import Embedding


@dataclass(frozen=True)
class LongestWords:
    """A result: what `to_dict` gives is kept as JSON, what `to_frame` would give as a table."""

    words: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def longest_words(model: Embedding, *, count: int = 3) -> LongestWords:
    """Take what the study hands over; the keywords are the settings of the study file."""
    return LongestWords(sorted(model.words, key=lambda word: (-len(word), word))[:count])


STEP = analysis(
    Kind("longest-words", needs="model", functions=(longest_words,), about="What the page of a study says of it."),
    "the longest words of each model",
)
