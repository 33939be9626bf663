"""Settings of a coreference model and of its training."""

from __future__ import annotations

from dataclasses import dataclass, fields

from biasgauge.core import check_number, check_whole
from biasgauge.errors import ParameterError


@dataclass(frozen=True)
class CorefSettings:
    """Lee et al. 2017 with the sizes that Goldfarb-Tarrant et al. 2021 used.

    Attributes:
        char_size, char_filters, char_width: letters as vectors, and what is looked for in runs of letters.
        lstm_size: hidden units of the BiLSTM in each direction.
        hidden_size, hidden_layers: of the networks that score mentions and pairs of them.
        feature_size: of the vectors for widths, distances, speakers and genres.
        dropout: of hidden layers and features; lexical_dropout: of words.
        max_width: longest mention, in words.
        spans_per_word: mentions kept for each word of a document.
        max_antecedents: how many mentions back a mention may refer.
        speakers, genres: whether pairs know if one person said both, and the genre; for data that have them.
        max_sentences: longer documents are cut to so many sentences in training, another stretch each time.
        learning_rate, clip: of Adam; norm to which gradients are cut.
        epochs, patience: at most so many; end after so many without a better F1 on the dev documents.
        plateau, plateau_patience: what the learning rate is multiplied by, after more than so many such epochs.
    """

    char_size: int = 16
    char_filters: int = 100
    char_width: int = 5
    lstm_size: int = 200
    hidden_size: int = 150
    hidden_layers: int = 2
    feature_size: int = 20
    dropout: float = 0.2
    lexical_dropout: float = 0.5
    max_width: int = 10
    spans_per_word: float = 0.29
    max_antecedents: int = 100
    speakers: bool = False
    genres: bool = False
    max_sentences: int = 50
    learning_rate: float = 1e-3
    clip: float = 5.0
    epochs: int = 150
    patience: int = 10
    plateau: float = 0.5
    plateau_patience: int = 2

    def __post_init__(self) -> None:
        for field in fields(self):
            name, value = field.name, getattr(self, field.name)
            if name in {"dropout", "lexical_dropout"}:
                if not 0 <= value < 1:
                    raise ParameterError(f"The {name!r} parameter must be at least 0 and below 1. Got {value!r}.")
            elif field.type == "int":
                check_whole(0 if name == "plateau_patience" else 1, **{name: value})
            elif field.type == "float":
                check_number(0, ends=False, **{name: value})
