"""What an encoder is, for the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasgauge.vectors import Embedding
    from biasgauge.vectors.encoders.hidden_states import ContextEncoder


@dataclass(frozen=True)
class Encoder:
    """Something that makes vectors of a source: a model of a language, a service, a seed of random numbers.

    Everything that takes vectors takes "NAME:SOURCE" too: `load`, every command, `[vectors.…] path` of a study.

    Attributes:
        name: before the colon; a file that is really called "NAME:SOURCE" wins.
        about: what it does, in one sentence.
        encode: called with what stands after the colon; gives an `Embedding`, or a list of them (replicates, layers),
            each with a name of its own. The same source must give the same vectors.
        contextual: for `bg.encode("NAME:SOURCE", words, …)`: called with what stands after the colon; gives an encoder
            of words in sentences. None where there is none.
    """

    name: str
    about: str
    encode: Callable[[str], Embedding | list[Embedding]]
    contextual: Callable[[str], ContextEncoder] | None = None
