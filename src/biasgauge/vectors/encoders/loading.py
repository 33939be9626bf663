"""A transformer and its tokenizer from this machine: a folder, a GGUF file, or objects in memory.

Never from a hub, never with code that a folder brings, never from a pickle.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from biasgauge.core import JsonObject, check_choice, device_named
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import read_json, read_json_object, usable_path

Kind: TypeAlias = Literal["encoder", "masked", "causal"]
"""Purpose of a model: hidden states alone, or a head that predicts masked or next tokens."""

GGUF_MAGIC = b"GGUF"
UNBOUNDED = 1_000_000_000
"""Tokenizers say "no limit" with larger numbers than this."""
_CLASSES: dict[Kind, str] = {"encoder": "AutoModel", "masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}
_PREDICTS: dict[Kind, str] = {"encoder": "", "masked": "masked tokens", "causal": "the next token"}
_UNSAFE = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.h5", "*.msgpack")
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json")
_WIDTHS = ("hidden_size", "n_embd", "d_model", "dim")
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_MOST_LAYERS = 1_000
_MOST_EXPANSION = 64
"""Bytes of half precision that a byte of the weights may stand for: four bits a number, or layers that share theirs."""
_UNUSED = ("pooler.", "position_ids", "lm_head.", "cls.")
"""Weights that hidden states do not depend on."""
_CONVERT = (
    "where you trust the file, AutoModel.from_pretrained(FOLDER).save_pretrained(FOLDER) of transformers writes "
    "model.safetensors"
)
_HERE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
_INSTALL = 'Transformers need an extra: pip install "biasgauge[transformers]"'


@dataclass(frozen=True)
class LoadedModel:
    """A model, ready to be run: in evaluation mode, single precision, on its device.

    Attributes:
        model: a `PreTrainedModel`; of the kind "encoder" without a head.
        tokenizer: its tokenizer, which tells offsets.
        name: in tables.
        window: most tokens of a sentence, special ones included.
        source: its folder or file, or "memory".
        kind: the purpose it was loaded for.
    """

    model: Any
    tokenizer: Any
    name: str
    window: int
    source: str = "memory"
    kind: Kind = "encoder"

    @property
    def device(self) -> str:
        """Device on which it computes."""
        return str(self.model.device)

    @property
    def layers(self) -> int:
        """Number of layers above the embeddings, which are layer 0."""
        return int(self.model.config.get_text_config().num_hidden_layers)


def load_model(
    source: object, *, kind: Kind = "encoder", device: str = "cpu", tokenizer: object = None, name: str | None = None
) -> LoadedModel:
    """Load a transformer with its tokenizer.

    Args:
        source: a folder in the layout of Hugging Face (`config.json`, `model.safetensors`, `tokenizer.json`) or of
            sentence-transformers; a GGUF file; a `PreTrainedModel` (with `tokenizer`); a pair (model, tokenizer); a
            `SentenceTransformer`; or what this function gave before.
        kind: "encoder" for hidden states alone; "masked" or "causal" for a model that predicts.
        device: "cpu", "cuda", "cuda:1".
        tokenizer: of a model in memory.
        name: what tables call the model; by default the folder's or the file's name.

    Raises:
        InputError: the folder or file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_choice(get_args(Kind), kind=kind)
    if isinstance(source, LoadedModel):
        return _check_loaded(source, kind)
    _require()
    where = device_named(device)
    with _quiet_and_explained(source, device):
        if isinstance(source, (str, os.PathLike)):
            loaded = _from_path(Path(source), kind)
        else:
            loaded = _from_memory(source, tokenizer, kind)
        loaded.model.eval()
        loaded.model.to(where)
    loaded = _check_loaded(replace(loaded, kind=kind), kind)
    return loaded if name is None else replace(loaded, name=name)


def _require() -> None:
    try:
        import torch  # noqa: F401 - asked for here, so that what follows may rely on it

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="IProgress not found")  # what it draws is switched off below
            import transformers.utils.logging  # noqa: F401 - as above
    except ImportError as problem:
        raise InputError(_INSTALL) from problem


def model_parts(path: Path) -> tuple[str, Any, Any]:
    """Load name, configuration and tokenizer of a folder or a GGUF file; its weights are not read."""
    _require()
    with _quiet_and_explained(path, "cpu"):
        if not path.is_dir():
            _check_gguf(path)
            from biasgauge.vectors.encoders.gguf_file import parts_of_gguf

            return path.stem, *parts_of_gguf(path)
        import transformers

        inner, _ = _transformer_within(path)
        _check_folder(inner)
        config = transformers.AutoConfig.from_pretrained(str(inner), **_HERE)
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(inner), **_HERE)
        return _folder_label(path.resolve()), config, tokenizer


def _from_path(path: Path, kind: Kind) -> LoadedModel:
    if path.is_dir():
        return _from_folder(path, kind)
    _check_gguf(path)
    if kind == "masked":
        raise InputError(f"{path}: a GGUF file holds a causal model, which does not predict masked tokens")
    from biasgauge.vectors.encoders.gguf_file import model_from_gguf

    model, tokenizer = model_from_gguf(path, head=kind == "causal")
    return LoadedModel(model, tokenizer, path.stem, _window(model, tokenizer), str(path))


def check_model_path(path: Path) -> None:
    """Refuse a model that is not there.

    Raises:
        InputError: there is no such folder or file.
    """
    if not path.exists():
        raise InputError(
            f"{path}: there is no such folder or file; models are read from this machine only, "
            f"never from a hub; fetch one first: hf download NAME --local-dir FOLDER"
        )


def _check_gguf(path: Path) -> None:
    check_model_path(path)
    with path.open("rb") as file:
        magic = file.read(len(GGUF_MAGIC))
    if magic != GGUF_MAGIC:
        raise InputError(f"{path}: is not a GGUF file; name a GGUF file, or the folder that holds config.json")


def _from_folder(folder: Path, kind: Kind) -> LoadedModel:
    """Read a folder of Hugging Face, or the first module of one of sentence-transformers."""
    import torch
    import transformers

    inner, longest = _transformer_within(folder)
    _check_folder(inner)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(inner), **_HERE)
    loader = getattr(transformers, _CLASSES[kind])
    with torch.random.fork_rng(devices=[]):  # heads that are not used are filled at random
        # Mismatched sizes are named below, in a sentence of our own.
        safely: dict[str, Any] = {**_HERE, "use_safetensors": True, "ignore_mismatched_sizes": True}
        model, report = loader.from_pretrained(str(inner), dtype=torch.float32, output_loading_info=True, **safely)
    unused = _UNUSED if kind == "encoder" else ()
    missing = sorted(key for key in report["missing_keys"] if not any(name in key for name in unused))
    if missing and kind != "encoder":
        raise InputError(f"{folder}: holds no weights to predict {_PREDICTS[kind]} with ({missing[0]} is missing)")
    mismatched = (key[0] if isinstance(key, tuple) else key for key in report.get("mismatched_keys", ()))
    broken = missing or sorted(map(str, mismatched))
    if broken:
        raise InputError(f"{folder}: the weights do not fit config.json; {broken[0]} is missing or of another shape")
    window = _window(model, tokenizer, longest)
    return LoadedModel(model, tokenizer, _folder_label(folder.resolve()), window, str(folder))


def _folder_label(folder: Path) -> str:
    """Name of the model of a folder; a folder called "model" or the like leaves it to the one above.

    A snapshot in the cache of Hugging Face is called by its repository.
    """
    if folder.parent.name == "snapshots":
        return folder.parent.parent.name.rpartition("--")[2]
    return folder.parent.name if folder.name in {"model", "models", "checkpoint"} else folder.name


def _transformer_within(folder: Path) -> tuple[Path, int | None]:
    """Find the folder of the transformer, and the longest sentence that sentence-transformers would give it."""
    inner = folder
    if (folder / "modules.json").is_file():
        modules = read_json(folder / "modules.json")
        paths = [module.get("path") for module in modules if str(module.get("type", "")).endswith("Transformer")]
        if len(paths) != 1 or not isinstance(paths[0], str):
            raise InputError(f"{folder / 'modules.json'}: one module must be a Transformer, with its path")
        inner = usable_path(folder / paths[0])
        if not inner.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{folder / 'modules.json'}: the path {paths[0]!r} leads out of the folder")
    settings = inner / "sentence_bert_config.json"
    longest = read_json(settings).get("max_seq_length") if settings.is_file() else None
    return inner, longest if isinstance(longest, int) else None


def _check_folder(folder: Path) -> None:
    """Refuse a folder without a model, with unsafe weights only, or without a tokenizer."""
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder}: holds no config.json; name the folder of one model in the layout of Hugging Face")
    config = read_json_object(folder / "config.json")
    if "auto_map" in config:
        raise InputError(f"{folder}: needs code of its own (auto_map in config.json), which is never run")
    if not any(folder.glob("model*.safetensors")):
        unsafe = next((path for pattern in _UNSAFE for path in sorted(folder.glob(pattern))), None)
        if unsafe is not None:
            raise InputError(f"{unsafe}: weights in a pickle are never read; {_CONVERT}")
        raise InputError(f"{folder}: holds no weights; model.safetensors is expected")
    _check_size(folder, config)
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise InputError(f"{folder}: holds no tokenizer; tokenizer.json is expected, which save_pretrained writes")


def _check_size(folder: Path, config: JsonObject) -> None:
    """Refuse settings of a model that is much larger than its weights: it would be made before they are looked at."""
    settings = [config, *(part for part in config.values() if isinstance(part, dict))]  # of text, of pictures
    stored = sum(path.stat().st_size for path in folder.glob("model*.safetensors"))
    for setting in settings:
        width, layers, words = (_largest(setting, names) for names in (_WIDTHS, _LAYERS, ("vocab_size",)))
        parameters = width * words + layers * 4 * width**2
        if 2 * parameters > _MOST_EXPANSION * stored + 2**20 or layers > _MOST_LAYERS:
            sentence = f"the weights do not fit config.json, whose model has {layers:,} layers of width {width:,}"
            raise InputError(f"{folder}: {sentence} and {words:,} pieces")


def _largest(settings: JsonObject, names: Iterable[str]) -> int:
    numbers: list[int] = [settings[name] for name in names if isinstance(settings.get(name), int)]
    return max([0, *numbers])


def _from_memory(source: object, tokenizer: object, kind: Kind) -> LoadedModel:
    longest = None
    if isinstance(source, tuple) and len(source) == 2:
        source, tokenizer = source
    modules = getattr(source, "_first_module", None)
    if callable(modules):  # a SentenceTransformer
        first = modules()
        longest = getattr(first, "max_seq_length", None)
        source, tokenizer = getattr(first, "auto_model", first), tokenizer or getattr(source, "tokenizer", None)
    if not hasattr(source, "config") or not hasattr(source, "base_model"):
        raise ParameterError(
            "A model must be a folder, a GGUF file, a PreTrainedModel with its tokenizer, or a SentenceTransformer. "
            f"Got {type(source).__name__}."
        )
    if tokenizer is None:
        raise ParameterError("A model in memory needs its tokenizer: give tokenizer=… or a pair (model, tokenizer).")
    model: Any = source.base_model if kind == "encoder" else source
    named = str(getattr(source.config, "_name_or_path", "") or "")
    label = Path(named).name or type(source).__name__
    return LoadedModel(model, tokenizer, label, _window(model, tokenizer, longest))


def _window(model: Any, tokenizer: Any, longest: int | None = None) -> int:  # noqa: ANN401 - objects of transformers
    """Most tokens that model, tokenizer and settings all allow."""
    config = model.config.get_text_config()
    limits = [longest, getattr(config, "max_position_embeddings", None), getattr(tokenizer, "model_max_length", None)]
    if model.config.model_type in {"roberta", "xlm-roberta", "camembert", "mpnet"} and limits[1]:
        limits[1] -= config.pad_token_id + 1  # positions are counted from behind the padding's
    allowed = [int(limit) for limit in limits if limit and 0 < limit < UNBOUNDED]
    return min(allowed, default=512)


def _check_loaded(loaded: LoadedModel, kind: Kind) -> LoadedModel:
    """Check properties that every model must have."""
    if kind not in ("encoder", loaded.kind):
        raise ParameterError(f"{loaded.name} was loaded as {loaded.kind!r}, and a model of kind {kind!r} is needed.")
    if kind != "encoder" and loaded.model.get_output_embeddings() is None:
        raise InputError(f"{loaded.name}: has no head that predicts {_PREDICTS[kind]}")
    if not getattr(loaded.tokenizer, "is_fast", False):
        raise InputError(f"{loaded.name}: its tokenizer tells no offsets; a fast tokenizer (tokenizer.json) is needed")
    pieces, rows = len(loaded.tokenizer), int(loaded.model.get_input_embeddings().weight.shape[0])
    if pieces > rows:
        raise InputError(
            f"{loaded.name}: the tokenizer has {pieces:,} pieces and the model {rows:,} vectors for them; the two do "
            "not belong together"
        )
    return loaded


@contextmanager
def _quiet_and_explained(source: object, device: str) -> Iterator[None]:
    """Quiet the library, and turn any of its errors into one sentence."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    label = os.fspath(source) if isinstance(source, (str, os.PathLike)) else type(source).__name__
    try:
        with out_of_memory(f"{label!s} does not fit into the memory of {device}"):
            yield
    except (InputError, OSError):
        raise
    except Exception as problem:  # whatever a damaged file makes the libraries raise
        reason = next((line.strip() for line in str(problem).splitlines() if line.strip()), "no reason given")
        raise InputError(f"{label!s}: cannot be loaded: {f'{type(problem).__name__}: {reason}'[:300]}") from problem
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def out_of_memory(sentence: str) -> Iterator[None]:
    """Turn errors of exhausted memory into an `InputError` with one sentence."""
    try:
        yield
    except MemoryError as problem:
        raise InputError(sentence) from problem
    except RuntimeError as problem:
        if any(words in str(problem) for words in ("out of memory", "can't allocate memory", "not enough memory")):
            raise InputError(sentence) from problem
        raise
