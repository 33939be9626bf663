"""Packed layers give the model's own hidden states; where they would not, there are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from tests.encoders.conftest import small_bert, wordpieces

from biasgauge.vectors.encoders import load_model
from biasgauge.vectors.encoders.hidden_states import POOLINGS, TransformerEncoder
from biasgauge.vectors.encoders.packed_layers import PackedLayers

library: Any = torch.backends.mkldnn
pytestmark = pytest.mark.skipif(not library.is_available(), reason="this torch has no oneDNN")

WORDS = ["nurse", "algebra", "man", "poetry", "unheard", "she", "art"]
TEXTS = [f"this is the {word} of a {word}, {'a ' * (number % 4)}word." for number, word in enumerate(WORDS * 6)]
SPANS = [(12, 12 + len(word)) for word in WORDS * 6]


def encoder_of(*, packed: bool) -> TransformerEncoder:
    encoder = TransformerEncoder(load_model((small_bert(), wordpieces())))
    if not packed:
        encoder.packed = None
    return encoder


def small_roberta() -> Any:  # noqa: ANN401 - a model
    from transformers import RobertaConfig, RobertaModel

    size = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        config = RobertaConfig(vocab_size=60, max_position_embeddings=24, initializer_range=0.4, **size)
        return RobertaModel(config, add_pooling_layer=False).eval()


@pytest.mark.parametrize("make", [small_bert, small_roberta])
@pytest.mark.parametrize("one_dnn", [True, False])
@pytest.mark.parametrize("padded", [False, True])
def test_hidden_states_are_the_models_own(
    make: Any,  # noqa: ANN401 - makes a model
    *,
    one_dnn: bool,
    padded: bool,
) -> None:
    model = make()
    packed = PackedLayers(model, one_dnn=one_dnn)
    tokens = torch.randint(5, 50, (4, 9), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(tokens)
    if padded:
        mask[2, 6:] = 0
    given = {"attention_mask": mask} if padded else {}
    with torch.inference_mode():
        own = model(tokens, **given, output_hidden_states=True).hidden_states
        found = list(packed.states(tokens, mask if padded else None, None))
        some = torch.tensor([3, 4, 30])
        last = list(packed.states(tokens, mask if padded else None, some))[-1]
    kept = mask.view(-1).bool()
    assert len(found) == len(own) == 3
    for ours, theirs in zip(found, own, strict=True):
        assert ours[kept].numpy() == pytest.approx(theirs.reshape(ours.shape)[kept].numpy(), abs=1e-5)
    assert last.numpy() == pytest.approx(found[-1][some].numpy(), abs=1e-6)


@pytest.mark.parametrize("make", [small_bert, small_roberta])
def test_there_are_some_for_bert_and_its_kin(make: Any) -> None:  # noqa: ANN401 - makes a model
    assert PackedLayers.of(make()) is not None


@pytest.mark.parametrize("poolings", [("mean",), ("cls", "last"), tuple(POOLINGS)])
def test_vectors_of_words_do_not_depend_on_them(poolings: tuple[str, ...]) -> None:
    ours, theirs = (
        encoder_of(packed=packed).pooled(TEXTS, SPANS, [0, 2, 1], poolings, _quiet) for packed in (True, False)
    )
    assert ours.vectors.shape == (len(TEXTS), 3, len(poolings), 16)
    assert ours.vectors == pytest.approx(theirs.vectors, abs=1e-5)


def test_threads_change_no_bit_and_are_put_back() -> None:
    encoder = encoder_of(packed=True)
    assert encoder.most_tokens < encoder_of(packed=False).most_tokens, "a batch of one thread fits into its cache"
    encoder.most_tokens = 40
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(encoder.pooled(TEXTS, SPANS, [1, 2], ("mean",), _quiet).vectors.copy())
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    one, other = found
    assert np.array_equal(one, other)


def test_there_are_none_for_other_models_or_where_they_do_not_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PackedLayers.of(small_bert(hidden_act="relu")) is None
    assert PackedLayers.of(small_bert().double()) is None
    plain = PackedLayers.states
    monkeypatch.setattr(PackedLayers, "states", lambda self, *given: (1.01 * states for states in plain(self, *given)))
    assert PackedLayers.of(small_bert()) is None
    monkeypatch.setattr(PackedLayers, "states", _missing)
    assert PackedLayers.of(small_bert()) is None


def _missing(*_: object) -> None:
    raise AttributeError("'_OpNamespace' 'mkldnn' object has no attribute '_linear_pointwise'")


def _quiet(_done: int) -> None:
    """Tell nobody."""
