"""Which pieces are a word's own, for every kind of tokenizer: held to a look at all tokens."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.encoders.conftest import wordpieces

from biasgauge.vectors.encoders.pieces import tokenize

if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWN = "<unk>"
TEXTS = ["the naïve nurse’s œuvre", "an artist, a café", "mother-in-law 12.5 €", "she loves math 🙂 and art"] * 3


def byte_level() -> Any:  # noqa: ANN401 - a tokenizer
    """Pairs of bytes: a letter with an accent may be two pieces that stand at the same place."""
    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(TEXTS, vocab_size=300, show_progress=False)
    return _as_a_model_has_it(tokenizer._tokenizer)  # noqa: SLF001 - the library's wrapper hides it


def metaspace() -> Any:  # noqa: ANN401 - a tokenizer
    """Pieces that begin with the space before them."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=60, special_tokens=[UNKNOWN], show_progress=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return _as_a_model_has_it(tokenizer, unk_token=UNKNOWN)


def _as_a_model_has_it(tokenizer: Any, **names: str) -> Any:  # noqa: ANN401 - tokenizers
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def looked_for(encoding: Any, begin: int, stop: int, unknown: int | None) -> list[int]:  # noqa: ANN401 - an Encoding
    """Every token that shares a character with the word, but for those that the tokenizer adds to a sentence."""
    found = []
    for place, (start, end) in enumerate(encoding.offsets):
        added = encoding.special_tokens_mask[place] and encoding.ids[place] != unknown
        if start < stop and end > begin and not added:
            found.append(place)
    return found


@pytest.mark.parametrize("kind", [wordpieces, byte_level, metaspace])
@given(
    before=st.sampled_from(["", "This is ", "naïve ", "🙂 ", "a-", "  "]),
    word=st.text(st.sampled_from("abenurs éœ€'-.,1🙂"), min_size=1, max_size=9),
    after=st.sampled_from(["", ".", " is here", "'s", "é", "s"]),
)
def test_pieces_are_all_that_share_a_character_with_the_word(
    kind: Callable[[], Any], before: str, word: str, after: str
) -> None:
    tokenizer = kind()
    text, span = f"{before}{word}{after}", (len(before), len(before) + len(word))
    loaded: Any = SimpleNamespace(tokenizer=tokenizer, window=1_000)
    encoding = tokenizer.backend_tokenizer.encode(text)
    expected = looked_for(encoding, *span, tokenizer.unk_token_id)
    found = tokenize(loaded, ["a", text, "b"], [(0, 1), span, (0, 1)])
    if 1 not in found.lost:
        row = np.flatnonzero(found.places == 1)
        assert found.pooled(row, "mean")[0].tolist() == expected
        assert [found.pooled(row, name)[0] for name in ("first", "last")] == [expected[0], expected[-1]]
        assert found.padded(row, -1)[0].tolist() == [encoding.ids]
    else:
        assert all(encoding.ids[place] == tokenizer.unk_token_id for place in expected)


def test_a_character_of_several_pieces_keeps_them_all() -> None:
    tokenizer = byte_level()
    text = "x 🙂"
    offsets = tokenizer.backend_tokenizer.encode(text).offsets
    assert offsets[1][1] == offsets[2][1] == len(text), "the picture is two pieces"
    found = tokenize(SimpleNamespace(tokenizer=tokenizer, window=99), [text], [(2, 3)])  # type: ignore[arg-type]
    assert found.pieces.tolist() == [1, 2]
