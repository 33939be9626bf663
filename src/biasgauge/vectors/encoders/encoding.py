"""`encode`: words to vectors of a transformer, by checkpoint, layer, pooling, template and context."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count, product, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from biasgauge import registry
from biasgauge.core import WordsLike
from biasgauge.errors import InputError, ParameterError
from biasgauge.lexicons import words_of
from biasgauge.vectors import Embedding
from biasgauge.vectors.encoders.hidden_states import (
    POOLINGS,
    ContextEncoder,
    Pooled,
    Shaped,
    TransformerEncoder,
    poolings_of,
)
from biasgauge.vectors.encoders.loading import load_model, model_parts
from biasgauge.vectors.encoders.pieces import Span
from biasgauge.vectors.encoders.sentences import DEFAULT, Contexts, TemplatesLike, filled, templates_of
from biasgauge.vectors.encoders.views import Views, view_name


@dataclass(frozen=True)
class Encoder:
    """Something that makes vectors of a source: a model of a language, a service, a seed of random numbers.

    Everything that takes vectors takes "NAME:SOURCE" too: `load`, every command, `[vectors.…] path` of a study.

    Attributes:
        name: before the colon; a file that is really called "NAME:SOURCE" wins.
        about: its purpose, in one sentence.
        encode: called with the text after the colon; gives an `Embedding`, or a list of them (replicates, layers),
            each with a name of its own. The same source must give the same vectors.
        contextual: for `bg.encode("NAME:SOURCE", words, …)`: called with the text after the colon; gives an encoder
            of words in sentences. None where there is none.
    """

    name: str
    about: str
    encode: Callable[[str], Embedding | list[Embedding]]
    contextual: Callable[[str], ContextEncoder] | None = None


EncoderLike: TypeAlias = "str | os.PathLike[str] | ContextEncoder | Any"
"""A folder, a GGUF file, "NAME:SOURCE" of a registered encoder, a `PreTrainedModel`, a `SentenceTransformer`."""

ALL = "all"
_BLOCK_BYTES = 2**28
"""Bytes of vectors of templates that are encoded together: bounds the memory beside the views themselves."""
_WIDTH = 1024
"""Numbers of a vector, where an encoder does not say."""


@dataclass(frozen=True)
class _Setting:
    """A sentence for every word: a template, or the number of a context draw.

    Attributes:
        template, context: the two facets; a context of 0 stands for none.
        sentences: text and span of each word; a reason where there is none.
    """

    template: str
    context: int
    sentences: tuple[tuple[str, Span] | str, ...]


def encode(
    model: EncoderLike | Sequence[EncoderLike],
    words: WordsLike,
    templates: TemplatesLike | None = None,
    *,
    contexts: Contexts | None = None,
    layers: str | int | Sequence[int] = ALL,
    pooling: str | Sequence[str] = ("mean",),
    tokenizer: object = None,
    name: str | None = None,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
) -> Views:
    """Encode words in sentences: one vector for each word, by layer, pooling, and template or context.

    Args:
        model: a local folder (Hugging Face or sentence-transformers layout), a GGUF file, a `PreTrainedModel` (with
            `tokenizer`), a `SentenceTransformer`, "NAME:SOURCE" of a registered encoder; or a list of them, as
            checkpoints. Never a hub, remote code or a pickle.
        words: a lexicon, one of its sets, or words; a word may be several ("African American").
        templates: sentences with a gap {}, a set that ships (any, bare, noun, name, adjective, verb), or a TOML file;
            "any" when neither templates nor contexts are given.
        contexts: natural contexts from `draw_contexts`, in the place of templates: the i-th view has every word in its
            i-th context.
        layers: "all", or some of 0 (before the first layer) to n.
        pooling: "mean", "first" or "last" of the word's own pieces, "sentence" (mean over all tokens), "cls"; several;
            or "all" that the model has.
        tokenizer: of a `PreTrainedModel` in memory.
        name: of the model in tables; by default the folder's name.
        device: "cpu", "cuda", "cuda:1".
        progress: called with (done, total) sentences.

    Words that a tokenizer cannot split, or that are longer than the window, are lost: `dropped` of a view says why.
    Vectors do not depend on the other words, within rounding (about 1e-6 of a vector's length).

    Raises:
        InputError: the model cannot be used, or no word is left.
        ParameterError: an argument cannot be used.
    """
    views: list[Embedding] = []
    warnings: list[str] = []
    for block, notes in encoded_blocks(
        model, words, templates, contexts=contexts, layers=layers, pooling=pooling, tokenizer=tokenizer, name=name,
        device=device, progress=progress,
    ):  # fmt: skip
        views += block
        warnings += notes
    order = {layer: index for index, layer in enumerate(dict.fromkeys(view.facets["layer"] for view in views))}
    return Views(sorted(views, key=lambda view: order[view.facets["layer"]]), tuple(dict.fromkeys(warnings)))


def encoded_blocks(
    model: EncoderLike | Sequence[EncoderLike],
    words: WordsLike,
    templates: TemplatesLike | None = None,
    *,
    contexts: Contexts | None = None,
    layers: str | int | Sequence[int] = ALL,
    pooling: str | Sequence[str] = ("mean",),
    tokenizer: object = None,
    name: str | None = None,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
    block_bytes: int = _BLOCK_BYTES,
) -> Iterator[tuple[list[Embedding], list[str]]]:
    """Yield the views of `encode` as they are made, with remarks: a block of templates of `block_bytes` at a time."""
    if templates is not None and contexts is not None:
        raise ParameterError("Words stand in templates or in natural contexts; give one of 'templates' and 'contexts'.")
    listed = tuple(dict.fromkeys(words_of(words).words))
    if contexts is None:
        sentences = templates_of(DEFAULT if templates is None else templates)
        settings = [_Setting(sentence, 0, tuple(filled(sentence, word) for word in listed)) for sentence in sentences]
    else:
        settings = _in_contexts(listed, contexts)
    models = list(model) if isinstance(model, list) else [model]
    if not models:
        raise ParameterError("The 'model' parameter must hold at least one model. Got an empty list.")
    total, done = len(models) * len(settings) * len(listed), 0

    def tell(sentences: int) -> None:
        nonlocal done
        done += sentences
        if progress is not None:
            progress(done, total)

    used_names: set[str] = set()
    for source in models:
        encoder = encoder_of(source, tokenizer=tokenizer, name=name, device=device)
        numbered = (f"{encoder.name} ({number})" for number in count(2))
        label = next(label for label in chain([encoder.name], numbered) if label not in used_names)
        used_names.add(label)
        chosen, pooled = chosen_layers(layers, encoder), chosen_poolings(pooling, encoder)
        vector = 4 * getattr(encoder, "width", _WIDTH)
        size = max(block_bytes // max(len(chosen) * len(pooled) * len(listed) * vector, 1), 1)
        for start in range(0, len(settings), size):
            yield _encode_block(encoder, label, listed, settings[start : start + size], chosen, pooled, tell)


def encoder_of(
    source: EncoderLike, *, tokenizer: object = None, name: str | None = None, device: str = "cpu"
) -> ContextEncoder:
    """Return an encoder of words in sentences, from anything that `encode` takes as a model.

    Raises:
        InputError: it cannot be loaded.
        ParameterError: a registered encoder does not encode words in sentences.
    """
    if isinstance(source, (str, os.PathLike)):
        text = os.fspath(source)
        scheme, colon, location = text.partition(":")
        if colon and registry.has("encoder", scheme) and not os.path.exists(text):  # noqa: PTH110 - never raises
            encoder = registry.get("encoder", scheme)
            if encoder.contextual is None:
                raise ParameterError(f"The encoder {scheme!r} makes vectors of words alone, not of words in sentences.")
            return encoder.contextual(location)
    elif isinstance(source, ContextEncoder):
        return source
    return TransformerEncoder(load_model(source, kind="encoder", device=device, tokenizer=tokenizer, name=name))


def _encode_block(
    encoder: ContextEncoder,
    label: str,
    words: tuple[str, ...],
    settings: Sequence[_Setting],
    layers: Sequence[int],
    poolings: Sequence[str],
    tell: Callable[[int], None],
) -> tuple[list[Embedding], list[str]]:
    """Views of some templates or context draws: all their sentences are encoded together."""
    flat = [sentence for setting in settings for sentence in setting.sentences]
    usable = [index for index, sentence in enumerate(flat) if not isinstance(sentence, str)]
    sentences = [sentence for sentence in flat if not isinstance(sentence, str)]
    tell(len(flat) - len(usable))
    texts, spans = [text for text, _ in sentences], [span for _, span in sentences]
    pooled: Pooled = encoder.pooled(texts, spans, layers, poolings, tell)
    reasons: list[str | None] = [sentence if isinstance(sentence, str) else None for sentence in flat]
    for index, reason in pooled.lost.items():
        reasons[usable[index]] = reason
    rows = np.full(len(flat), -1)
    rows[usable] = np.arange(len(usable))
    views: list[Embedding] = []
    for number, setting in enumerate(settings):
        span_of_setting = slice(number * len(words), (number + 1) * len(words))
        reason_of = dict(zip(words, reasons[span_of_setting], strict=True))
        usable_words = tuple(word for word, reason in reason_of.items() if reason is None)
        if not usable_words:
            lost = next((f"{word}: {reason}" for word, reason in reason_of.items()), "no words were given")
            place = f"context {setting.context}" if setting.context else f"the template {setting.template!r}"
            raise InputError(f"{label}: no word can be encoded in {place} ({lost})")
        chosen = rows[span_of_setting][[reason is None for reason in reason_of.values()]]
        dropped = {word: reason for word, reason in reason_of.items() if reason is not None}
        contiguous = len(chosen) == chosen[-1] + 1 - chosen[0]  # no word is lost in between: nothing has to be copied
        vectors = pooled.vectors[chosen[0] : chosen[-1] + 1] if contiguous else pooled.vectors[chosen]
        for (row, layer), (column, pooling) in product(enumerate(layers), enumerate(poolings)):
            facets: dict[str, str | int] = {
                "checkpoint": label, "layer": layer, "pooling": pooling, "template": setting.template,
                "context": setting.context,
            }  # fmt: skip
            view = Embedding(
                usable_words, np.ascontiguousarray(vectors[:, row, column]), name=view_name(facets), source=label,
                format="encoded", dropped=MappingProxyType(dropped), facets=MappingProxyType(facets),
            )  # fmt: skip
            views.append(view)
    notes = [f"{pooled.cut:,} sentences were longer than the model's window and were cut around their word"]
    return views, notes if pooled.cut else []


def _in_contexts(words: tuple[str, ...], contexts: Contexts) -> list[_Setting]:
    if not isinstance(contexts, Contexts):
        raise ParameterError(
            f"The 'contexts' parameter must be what draw_contexts gives. Got {type(contexts).__name__}."
        )
    by_word = contexts.by_word()
    drawn = [by_word.get(word, ()) for word in words]
    if not any(drawn):
        raise ParameterError("None of the words has a context: draw contexts of these very words.")
    settings = []
    for number, contexts_of_words in enumerate(zip_longest(*drawn), 1):
        sentences = tuple(
            "it has fewer contexts" if context is None else (context.text, (context.start, context.end))
            for context in contexts_of_words
        )
        settings.append(_Setting("", number, sentences))
    return settings


def chosen_layers(layers: str | int | Sequence[int], encoder: Shaped) -> tuple[int, ...]:
    """Select layers of a model.

    Raises:
        ParameterError: the model has no such layer, or none is named.
    """
    if isinstance(layers, str):
        if layers != ALL:
            raise ParameterError(f"The 'layers' parameter must be 'all', a number or numbers. Got {layers!r}.")
        return tuple(range(encoder.layers + 1))
    chosen = tuple(dict.fromkeys([layers] if isinstance(layers, int) else layers))
    for layer in chosen:
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer <= encoder.layers:
            raise ParameterError(
                f"The 'layers' parameter must hold numbers from 0 to {encoder.layers}, the last layer of "
                f"{encoder.name}. Got {layer!r}."
            )
    if not chosen:
        raise ParameterError("The 'layers' parameter must hold at least one layer. Got none.")
    return chosen


def chosen_poolings(poolings: str | Sequence[str], encoder: Shaped) -> tuple[str, ...]:
    """Select poolings of a model.

    Raises:
        ParameterError: the model has no such pooling, or none is named.
    """
    if poolings == ALL:
        return tuple(encoder.poolings)
    chosen = tuple(dict.fromkeys([poolings] if isinstance(poolings, str) else poolings))
    for pooling in chosen:
        if pooling == "cls" and pooling not in encoder.poolings:
            raise ParameterError(f"{encoder.name} has no classification token: leave 'cls' out of 'pooling'.")
        if pooling not in encoder.poolings:
            names = ", ".join(encoder.poolings)
            raise ParameterError(f"The 'pooling' parameter must be 'all' or some of {names}. Got {pooling!r}.")
    if not chosen:
        raise ParameterError(f"The 'pooling' parameter must name some of {', '.join(POOLINGS)}. Got none.")
    return chosen


@dataclass(frozen=True)
class ModelShape:
    """Layers, poolings and dimensions of a model.

    Attributes:
        name: in tables.
        layers: number of its last layer.
        poolings: names of its poolings.
        dim: numbers of a vector, 0 where that is not known before the first word is encoded.
    """

    name: str
    layers: int
    poolings: tuple[str, ...]
    dim: int = 0


def model_shape(source: str | os.PathLike[str]) -> ModelShape:
    """Return the shape of a folder, a GGUF file, or "NAME:SOURCE" of a registered encoder, without loading weights.

    Raises:
        InputError: it cannot be used.
        ParameterError: a registered encoder does not encode words in sentences.
    """
    text = os.fspath(source)
    name = text.partition(":")[0]
    if registry.has("encoder", name) and not Path(text).exists():
        encoder = encoder_of(text)
        return ModelShape(encoder.name, encoder.layers, tuple(encoder.poolings))
    path = Path(text)
    stamps = [file.stat().st_mtime_ns for file in sorted(path.glob("*")) if file.is_file()] if path.is_dir() else []
    return _shape_on_disk(path, tuple(stamps))


@cache
def _shape_on_disk(path: Path, _stamps: tuple[int, ...]) -> ModelShape:
    """Shape of a model on disk, read again only where a file of the folder was written to."""
    name, config_of_model, tokenizer = model_parts(path)
    config = config_of_model.get_text_config()
    return ModelShape(name, int(config.num_hidden_layers), poolings_of(tokenizer), int(config.hidden_size))
