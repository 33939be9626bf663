"""An audit of a transformer: its views encoded for the words that the audit asks about, and asked together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.audits.context import select_lexicons
from biasgauge.audits.result import AuditResult
from biasgauge.audits.shared_scores import words_of_lists
from biasgauge.core import LexiconLike
from biasgauge.errors import InputError
from biasgauge.lexicons import (
    DEFAULT_LANGUAGE,
    Language,
    Lexicon,
    language_of,
    lexicons_in_language,
    words_of,
)
from biasgauge.vectors.encoders import EncoderLike, Views, encode, encoder_of

if TYPE_CHECKING:
    from biasgauge.io import Progress

BARE = ("{}",)
"""The word by itself: a template of every language."""
POOLINGS = ("mean", "sentence", "cls")
MOST_FREQUENT = 1_500
"""Frequent words, which no lexicon asks about: among them random lists are drawn, to see what chance gives."""
FURTHER = ("other_pairs", "truths")
"""Roles of lists that the parts on robustness look at."""
ENCODING = "encoding"


def audit_encoder(
    model: EncoderLike | list[EncoderLike],
    *,
    lexicons: Iterable[LexiconLike] | None = None,
    language: str | os.PathLike[str] | Language | None = None,
    templates: Any = None,  # noqa: ANN401 - whatever encode takes
    layers: str | int | Sequence[int] = "all",
    pooling: str | Sequence[str] | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    stage: Callable[[str], None] | None = None,
    **settings: Any,  # noqa: ANN401 - those of audit
) -> AuditResult:
    """Audit a transformer: every question is asked of all its views together, and its direction must hold over them.

    Args:
        model: whatever `encode` takes; several as a list are audited side by side.
        lexicons: as in `audit`.
        language: as in `audit`.
        templates: sentences with a gap, as in `encode`; by default plain ones of the language, or the word by itself.
        layers: as in `encode`.
        pooling: as in `encode`; "mean", "sentence" and, where the model has it, "cls" by default.
        device: as in `encode`.
        progress: called with (done, total).
        stage: called with what is being done.
        settings: further ones of `audit`.

    Raises:
        InputError: the model cannot be used.
        ParameterError: an argument cannot be used.
    """
    from biasgauge.audits.run import audit

    chosen, language_record = select_lexicons(lexicons, language)
    requested = None if lexicons is None else chosen
    if stage is not None:
        stage(ENCODING)
    models = model if isinstance(model, list) else [model]
    encoders = [encoder_of(source, device=device) for source in models]
    common = [name for name in POOLINGS if all(name in encoder.poolings for encoder in encoders)]
    views = encode(
        encoders,
        audit_words(requested, language_record),
        (language_record.templates or BARE) if templates is None else templates,
        layers=layers, pooling=common if pooling is None else pooling, progress=progress,
    )  # fmt: skip
    return audit(
        drop_constant_views(views), lexicons=requested, language=language, progress=progress, stage=stage, **settings
    )


def audit_words(
    lexicons: Sequence[Lexicon] | None = None, language: str | Language = DEFAULT_LANGUAGE
) -> tuple[str, ...]:
    """Words that an audit looks at: of the lexicons, of base pairs and lists, and frequent ones for comparison."""
    language_record = language_of(language)
    word_lexicons = lexicons
    if word_lexicons is None:
        word_lexicons = [
            lexicon for lexicon in lexicons_in_language(language_record) if lexicon.kind in ("test", "stereotypes")
        ]
    words = [word for lexicon in word_lexicons for word in lexicon.words]
    words += [word for name in language_record.named("base_pairs")[:1] for word in words_of(name).words]
    if lexicons is None:
        words += words_of_lists(language_record)
        words += [word for role in FURTHER for name in language_record.named(role) for word in words_of(name).words]
    for name in language_record.named("frequent"):
        words += words_of(name).words[:MOST_FREQUENT]
    return tuple(dict.fromkeys(words))


def drop_constant_views(views: Views) -> Views:
    """Views in which words differ at all: before the first layer, all classification tokens have one vector.

    Raises:
        InputError: there is none.
    """
    varying = [view for view in views if np.ptp(view.vectors, axis=0).any()]
    if not varying:
        raise InputError("All words have the same vector in every view: there is nothing to audit.")
    return Views(varying, views.warnings)
