"""`encode`: words to vectors of a transformer, by checkpoint, layer, pooling, template and context."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from biasgauge import registry
from biasgauge.core import Singles, WordsLike
from biasgauge.errors import InputError, ParameterError
from biasgauge.lexicons import words_of
from biasgauge.vectors import Embedding
from biasgauge.vectors.encoders.contexts import Contexts
from biasgauge.vectors.encoders.hidden_states import POOLINGS, ContextEncoder, Pooled, Shaped, TransformerEncoder
from biasgauge.vectors.encoders.loading import load_model
from biasgauge.vectors.encoders.pieces import Span
from biasgauge.vectors.encoders.templates import DEFAULT, TemplatesLike, filled, templates_of
from biasgauge.vectors.encoders.views import Views, view_name

EncoderLike: TypeAlias = "str | os.PathLike[str] | ContextEncoder | Any"
"""A folder, a GGUF file, "NAME:SOURCE" of a registered encoder, a `PreTrainedModel`, a `SentenceTransformer`."""

ALL = "all"
_BLOCK_BYTES = 2**28
"""Vectors of templates that are encoded together: bounds the memory beside the views themselves."""
_WIDTH = 1024
"""Numbers of a vector, where an encoder does not say."""


@dataclass(frozen=True)
class _Setting:
    """One way to put every word into a sentence: a template, or the number of a context draw.

    Attributes:
        template, context: the two facets; a context of 0 stands for none.
        sentences: text and place of each word; None, with a reason, where there is none.
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
        name: what tables call the model; by default the folder's name.
        device: "cpu", "cuda", "cuda:1".
        progress: called with (done, total) sentences.

    Words that a tokenizer makes nothing of, or that are longer than the window, are lost: `dropped` of a view says why.
    Vectors do not depend on the other words, within rounding (about 1e-6 of a vector's length).

    Raises:
        InputError: the model cannot be used, or no word is left.
        ParameterError: an argument cannot be used.
    """
    views: list[Embedding] = []
    warnings: list[str] = []
    for part, notes in encoded_blocks(
        model, words, templates, contexts=contexts, layers=layers, pooling=pooling, tokenizer=tokenizer, name=name,
        device=device, progress=progress,
    ):  # fmt: skip
        views += part
        warnings += notes
    order = {layer: place for place, layer in enumerate(dict.fromkeys(view.facets["layer"] for view in views))}
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
) -> Iterator[tuple[list[Embedding], list[str]]]:
    """The views of `encode` as they are made, a block of templates at a time, each with what to know about it."""
    if templates is not None and contexts is not None:
        raise ParameterError("Words stand in templates or in natural contexts; give one of 'templates' and 'contexts'.")
    listed = tuple(dict.fromkeys(words_of(words).words))
    settings = _in_templates(listed, templates) if contexts is None else _in_contexts(listed, contexts)
    models = list(model) if isinstance(model, list) else [model]
    if not models:
        raise ParameterError("The 'model' parameter must hold at least one model. Got an empty list.")
    total, done = len(models) * len(settings) * len(listed), 0

    def tell(sentences: int) -> None:
        nonlocal done
        done += sentences
        if progress is not None:
            progress(done, total)

    taken: set[str] = set()
    for source in models:
        encoder = encoder_of(source, tokenizer=tokenizer, name=name, device=device)
        label = _own_name(encoder.name, taken)
        chosen, pooled = chosen_layers(layers, encoder), chosen_poolings(pooling, encoder)
        vector = 4 * getattr(encoder, "width", _WIDTH)
        size = max(_BLOCK_BYTES // max(len(chosen) * len(pooled) * len(listed) * vector, 1), 1)
        for start in range(0, len(settings), size):
            yield _encode_block(encoder, label, listed, settings[start : start + size], chosen, pooled, tell)


def encoder_of(
    source: EncoderLike, *, tokenizer: object = None, name: str | None = None, device: str = "cpu"
) -> ContextEncoder:
    """What encodes words in sentences, from whatever a user may hand over.

    Raises:
        InputError: it cannot be loaded.
        ParameterError: a registered encoder does not encode words in sentences.
    """
    if isinstance(source, (str, os.PathLike)):
        text = os.fspath(source)
        known, colon, rest = text.partition(":")
        if colon and known in registry.names("encoder") and not os.path.exists(text):  # noqa: PTH110 - never raises
            encoder = registry.get("encoder", known)
            if encoder.contextual is None:
                raise ParameterError(f"The encoder {known!r} makes vectors of words alone, not of words in sentences.")
            return encoder.contextual(rest)
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
    usable = [place for place, sentence in enumerate(flat) if not isinstance(sentence, str)]
    sentences = [sentence for sentence in flat if not isinstance(sentence, str)]
    tell(len(flat) - len(usable))
    texts, spans = [text for text, _ in sentences], [span for _, span in sentences]
    pooled: Pooled = encoder.pooled(texts, spans, layers, poolings, tell)
    reasons: list[str | None] = [sentence if isinstance(sentence, str) else None for sentence in flat]
    for place, reason in pooled.lost.items():
        reasons[usable[place]] = reason
    rows = np.full(len(flat), -1)
    rows[usable] = np.arange(len(usable))
    views: list[Embedding] = []
    for number, setting in enumerate(settings):
        part = slice(number * len(words), (number + 1) * len(words))
        own = dict(zip(words, reasons[part], strict=True))
        kept = tuple(word for word, reason in own.items() if reason is None)
        if not kept:
            lost = next((f"{word}: {reason}" for word, reason in own.items()), "no words were given")
            raise InputError(f"{label}: no word can be encoded in {_where(setting)} ({lost})")
        chosen = rows[part][[reason is None for reason in own.values()]]
        dropped = {word: reason for word, reason in own.items() if reason is not None}
        whole = len(chosen) == chosen[-1] + 1 - chosen[0]  # no word is lost in between: nothing has to be copied
        own_vectors = pooled.vectors[chosen[0] : chosen[-1] + 1] if whole else pooled.vectors[chosen]
        views += _views_of(own_vectors, kept, dropped, label, setting, layers, poolings)
    notes = [f"{pooled.cut:,} sentences were longer than the model's window and were cut around their word"]
    return views, notes if pooled.cut else []


def _views_of(
    vectors: Singles,
    words: tuple[str, ...],
    dropped: dict[str, str],
    label: str,
    setting: _Setting,
    layers: Sequence[int],
    poolings: Sequence[str],
) -> list[Embedding]:
    views = []
    for row, layer in enumerate(layers):
        for column, pooling in enumerate(poolings):
            facets: dict[str, str | int] = {
                "checkpoint": label, "layer": layer, "pooling": pooling, "template": setting.template,
                "context": setting.context,
            }  # fmt: skip
            view = Embedding(
                words=words,
                vectors=np.ascontiguousarray(vectors[:, row, column]),
                name=view_name(facets),
                source=label,
                format="encoded",
                dropped=MappingProxyType(dropped),
                facets=MappingProxyType(facets),
            )
            views.append(view)
    return views


def _in_templates(words: tuple[str, ...], templates: TemplatesLike | None) -> list[_Setting]:
    return [
        _Setting(template, 0, tuple(filled(template, word) for word in words))
        for template in templates_of(DEFAULT if templates is None else templates)
    ]


def _in_contexts(words: tuple[str, ...], contexts: Contexts) -> list[_Setting]:
    if not isinstance(contexts, Contexts):
        raise ParameterError(
            f"The 'contexts' parameter must be what draw_contexts gives. Got {type(contexts).__name__}."
        )
    drawn = contexts.by_word()
    most = max((len(drawn.get(word, ())) for word in words), default=0)
    if not most:
        raise ParameterError("None of the words has a context: draw contexts of these very words.")
    settings = []
    for number in range(most):
        sentences: list[tuple[str, Span] | str] = []
        for word in words:
            own = drawn.get(word, ())[number : number + 1]
            sentences += [(context.text, (context.start, context.end)) for context in own] or ["it has fewer contexts"]
        settings.append(_Setting("", number + 1, tuple(sentences)))
    return settings


def chosen_layers(given: str | int | Sequence[int], encoder: Shaped) -> tuple[int, ...]:
    """The layers that are meant.

    Raises:
        ParameterError: the model has no such layer, or none is named.
    """
    if isinstance(given, str):
        if given != ALL:
            raise ParameterError(f"The 'layers' parameter must be 'all', a number or numbers. Got {given!r}.")
        return tuple(range(encoder.layers + 1))
    chosen = tuple(dict.fromkeys([given] if isinstance(given, int) else given))
    for layer in chosen:
        if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer <= encoder.layers:
            raise ParameterError(
                f"The 'layers' parameter must hold numbers from 0 to {encoder.layers}, the last layer of "
                f"{encoder.name}. Got {layer!r}."
            )
    if not chosen:
        raise ParameterError("The 'layers' parameter must hold at least one layer. Got none.")
    return chosen


def chosen_poolings(given: str | Sequence[str], encoder: Shaped) -> tuple[str, ...]:
    """The poolings that are meant.

    Raises:
        ParameterError: the model has no such pooling, or none is named.
    """
    if given == ALL:
        return tuple(encoder.poolings)
    chosen = tuple(dict.fromkeys([given] if isinstance(given, str) else given))
    for pooling in chosen:
        if pooling == "cls" and pooling not in encoder.poolings:
            raise ParameterError(f"{encoder.name} has no classification token: leave 'cls' out of 'pooling'.")
        if pooling not in encoder.poolings:
            known = ", ".join(encoder.poolings)
            raise ParameterError(f"The 'pooling' parameter must be 'all' or some of {known}. Got {pooling!r}.")
    if not chosen:
        raise ParameterError(f"The 'pooling' parameter must name some of {', '.join(POOLINGS)}. Got none.")
    return chosen


def _own_name(name: str, taken: set[str]) -> str:
    """A name that no other checkpoint has."""
    own, number = name, 2
    while own in taken:
        own, number = f"{name} ({number})", number + 1
    taken.add(own)
    return own


def _where(setting: _Setting) -> str:
    return f"context {setting.context}" if setting.context else f"the template {setting.template!r}"
