"""A template with a person and a word put in, and which of its tokens are whose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from biasgauge.analyses.likelihood.models import LanguageModel
from biasgauge.core import Integers
from biasgauge.errors import ParameterError


class Filled(NamedTuple):
    """Tokens of a sentence, with the places of the person and of the word."""

    ids: Integers
    person: Integers
    word: Integers


def fill_template(model: LanguageModel, template: str, person: str, word: str) -> Filled:
    """The sentence as the model reads it; a person at its beginning is capitalized.

    Raises:
        ParameterError: the tokenizer makes nothing of the person or the word.
    """
    pieces: list[tuple[str, str]] = []
    rest = template
    for slot in sorted(("[person]", "[word]"), key=template.index):
        before, _, rest = rest.partition(slot)
        text = person if slot == "[person]" else word
        first = not pieces and not before.strip()
        pieces += [("", before), (slot, text[:1].upper() + text[1:] if first else text)]
    pieces.append(("", rest))
    spans, sentence = {}, ""
    for slot, text in pieces:
        spans[slot] = (len(sentence), len(sentence) + len(text))
        sentence += text
    encoded = model.loaded.tokenizer(
        sentence, return_offsets_mapping=True, return_special_tokens_mask=True, truncation=False, verbose=False
    )
    offsets = np.array(encoded["offset_mapping"], np.int64)
    special = np.asarray(encoded["special_tokens_mask"], bool)
    places = {}
    for slot in ("[person]", "[word]"):
        start, end = spans[slot]
        inside = ~special & (offsets[:, 1] > start) & (offsets[:, 0] < end) & (offsets[:, 1] > offsets[:, 0])
        places[slot] = np.flatnonzero(inside)
        if not len(places[slot]):
            raise ParameterError(f"The tokenizer of {model.name} makes nothing of {sentence[start:end]!r}.")
    return Filled(np.asarray(encoded["input_ids"], np.int64), places["[person]"], places["[word]"])
