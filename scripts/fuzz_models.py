"""Readers of models: transformers, GGUF files, coreference models, for `scripts/fuzz.py`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from fuzz_target import Target, folder_of

if TYPE_CHECKING:
    from collections.abc import Callable

_MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors", "modules.json")


def _transformer(name: str) -> Target:
    from tests.encoders.conftest import small_bert, wordpieces

    from biasgauge.vectors.encoders.loading import load_model

    file = name.removeprefix("transformer-")

    def sound(folder: Path) -> None:
        small_bert(hidden_size=4, intermediate_size=4, num_hidden_layers=1).save_pretrained(folder)
        wordpieces().save_pretrained(folder)
        modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
        (folder / "modules.json").write_text(json.dumps(modules))
        (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16}')

    target = folder_of(load_model, file, sound)
    return Target(target.read, target.seeds, 0.03)


def _gguf(reader: str) -> Target:
    import gguf
    import numpy as np

    from biasgauge.vectors.encoders.loading import load_model, model_parts

    path = Path(tempfile.mkdtemp()) / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    for key in ("block_count", "attention.head_count", "attention.head_count_kv"):
        writer.add_uint32(f"llama.{key}", 1)
    for key in ("embedding_length", "feed_forward_length", "context_length"):
        writer.add_uint32(f"llama.{key}", 4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(["<end>", "a", "b", "ab"])
    writer.add_token_types([3, 1, 1, 1])
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(0)
    square = np.eye(4, dtype=np.float32)
    for name in ("token_embd", *(f"blk.0.{part}" for part in _MATRICES)):
        writer.add_tensor(f"{name}.weight", square)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", square[0])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    if reader == "gguf-parts":  # without the weights: the header is most of what may be damaged
        return Target(model_parts, (path.read_bytes(),))
    return Target(lambda path: load_model(path, kind="causal"), (path.read_bytes(),), 0.03)


def _coref(name: str) -> Target:
    import numpy as np

    from biasgauge.applications.coref.features import CorefSettings, Features
    from biasgauge.applications.coref.model import CorefModel
    from biasgauge.applications.coref.network import SpanRanker
    from biasgauge.vectors import Embedding

    vectors = Embedding(("a", "b"), np.eye(2, 3, dtype=np.float32), name="v")
    small = {"char_size": 2, "char_filters": 2, "lstm_size": 2, "hidden_size": 2, "hidden_layers": 1, "feature_size": 2}
    settings = CorefSettings(**small)  # type: ignore[arg-type]

    def sound(folder: Path) -> None:
        features = Features(vectors, settings, "ab", ())
        CorefModel(features, SpanRanker(settings, 3, features.alphabet, 0)).save(folder)

    file, _, signed = name.removeprefix("coref-").partition(", ")
    if signed and file == "model.json":
        patch("biasgauge.io.json_file.has_valid_checksum", lambda _: True).start()
    if signed and file != "model.json":
        digests: dict[str, str] = {}

        def read(folder: Path) -> object:
            told = json.loads((folder / "model.json").read_bytes())
            digests["sha256"] = told["sha256"]
            with patch("biasgauge.applications.coref.model.file_sha256", lambda _: digests["sha256"]):
                return CorefModel.load(folder, vectors)
    else:

        def read(folder: Path) -> object:
            return CorefModel.load(folder, vectors)

    target = folder_of(read, "model.json" if file == "model.json" else "*.safetensors", sound)
    return Target(target.read, target.seeds, 0.1)


GROUPS: dict[tuple[str, ...], Callable[[str], Target]] = {
    ("coref-model.json", "coref-model.json, signed", "coref-weights", "coref-weights, signed"): _coref,
    tuple(f"transformer-{name}" for name in _FILES): _transformer,
    ("gguf", "gguf-parts"): _gguf,
}
