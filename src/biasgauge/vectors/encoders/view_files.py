"""Views in a folder: one file of vectors for each, and one JSON file that describes them; written last."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar

from biasgauge._version import __version__
from biasgauge.core import JsonMapping, Record, WordsLike
from biasgauge.errors import InputError
from biasgauge.io import (
    CHECKSUM_KEY,
    LOCK,
    check_digest,
    file_sha256,
    make_folder,
    manifest_text,
    read_manifest,
    read_whole,
    usable_path,
    write_text,
    writer_lock,
)
from biasgauge.lexicons import words_of
from biasgauge.results import Column, RecordTable, Result, counted
from biasgauge.vectors import Embedding, load, save
from biasgauge.vectors.encoders.encoding import ALL, Encoder, EncoderLike, encoded_blocks, encoder_of
from biasgauge.vectors.encoders.sentences import Contexts, TemplatesLike, draw_contexts
from biasgauge.vectors.encoders.views import FACETS, Views

MANIFEST = "views.json"
FORMAT = "biasgauge views 1"
AGAIN = "encode again"
_MARKS = (b'"biasgauge views ', f'"{CHECKSUM_KEY}": "'.encode())
"""One of these marks a manifest of ours, also where it is damaged."""


@dataclass(frozen=True)
class ViewFile(Record):
    """One view in a file.

    Attributes:
        checkpoint, layer, pooling, template, context: its facets; a context of 0 means none.
        name: in tables.
        path: its file, within the folder.
        bytes: size of the file.
        words: number of words.
        dim: numbers of a vector.
    """

    checkpoint: str
    layer: int | str
    pooling: str
    template: str
    context: int | str
    name: str
    path: str
    bytes: int
    words: int
    dim: int

    @property
    def facets(self) -> dict[str, str | int]:
        """Its levels."""
        return {name: getattr(self, name) for name in FACETS}


@dataclass(frozen=True, eq=False, repr=False)
class EncodedViews(Result):
    """Files that `encode` wrote into a folder; `open_views` opens the views themselves.

    Attributes:
        folder: its path.
        views: one row per file.
        lost: words without a vector in some view, with the reason.
        settings: arguments of the encoding.
        warnings: remarks on the encoding.
    """

    tables: ClassVar[tuple[str, ...]] = ("views",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("views", "Views", (
            "layer", "pooling", Column("template", source=lambda view: view.template or None),
            Column("context", source=lambda view: view.context or None), Column("file", source="path"),
        ), most=12, drop_empty=True),
        RecordTable("_lost_words", "Words without a vector", ("word", "reason"), most=20, name="lost"),
    )  # fmt: skip

    folder: str
    views: tuple[ViewFile, ...]
    lost: Mapping[str, str]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    @property
    def _lost_words(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(word=word, reason=reason) for word, reason in self.lost.items()]

    def _title(self) -> str:
        return "Views of a transformer"

    def _headline(self) -> str:
        levels = {name: len({getattr(view, name) for view in self.views}) for name in FACETS}
        sizes = " × ".join(counted(size, name) for name, size in levels.items() if size > 1)
        words = counted(max(view.words for view in self.views), "word")
        return f"{counted(len(self.views), 'view')} of {words} ({sizes or 'one of each facet'})"

    def _sentences(self) -> tuple[str, ...]:
        return (f"Use them as a list of models: views:{self.folder}",)


def encode_to_folder(  # noqa: PLR0913 - settings are keyword arguments
    model: EncoderLike | Sequence[EncoderLike],
    words: WordsLike,
    out: str | os.PathLike[str],
    templates: TemplatesLike | None = None,
    *,
    corpus: str | os.PathLike[str] | None = None,
    draws: int = 10,
    layout: str = "auto",
    field: str | int | None = None,
    documents: str = "line",
    layers: str | int | Sequence[int] = ALL,
    pooling: str | Sequence[str] = ("mean",),
    name: str | None = None,
    device: str = "cpu",
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> EncodedViews:
    """Encode words as `encode` does, into a folder; the views of a few templates are in memory at a time.

    Args:
        model: a local folder of a model, a GGUF file, or "NAME:SOURCE" of a registered encoder.
        words: a lexicon, one of its sets, or words.
        out: the folder; files of the same names are replaced.
        templates: sentences with a gap {}, a set that ships (any, bare, noun, name, adjective, verb), or a TOML file.
        corpus: a text to draw natural contexts from, in the place of templates.
        draws: contexts of each word.
        layout: of the text, as in `read_corpus`.
        field: likewise.
        documents: likewise.
        layers: "all", or some of 0 to n.
        pooling: mean, first, last, sentence, cls; several; or all.
        name: of the model in tables.
        device: cpu, or cuda.
        random_state: seed of the draws.
        progress: called with (done, total) sentences.

    Raises:
        InputError: the model cannot be used, or no word is left.
        ParameterError: an argument cannot be used.
    """
    word_list = words_of(words)
    contexts: Contexts | None = None
    if corpus is not None:
        contexts = draw_contexts(
            corpus, word_list, draws=draws, layout=layout, field=field, documents=documents, random_state=random_state
        )
    models = list(model) if isinstance(model, list) else [model]
    if models:  # one that cannot be loaded is reported before anything is written
        models[0] = encoder_of(models[0], name=name, device=device)
    folder = make_folder(out)
    settings = {
        "model": str(model), "words": word_list.name, "templates": None if templates is None else str(templates),
        "corpus": None if corpus is None else str(corpus), "draws": None if corpus is None else draws,
        "random_state": random_state, "device": device,
    }  # fmt: skip
    files: list[ViewFile] = []
    lost: dict[str, str] = {}
    warnings: list[str] = [] if contexts is None else list(contexts.warnings)
    with _views_writer(folder):
        for block, notes in encoded_blocks(
            models, word_list, templates, contexts=contexts, layers=layers, pooling=pooling, name=name, device=device,
            progress=progress,
        ):  # fmt: skip
            warnings += notes
            for view in block:
                lost |= {word: reason for word, reason in view.dropped.items() if word not in lost}
                files.append(_write(view, folder, len(files)))
        return _write_manifest(EncodedViews(str(folder), tuple(files), lost, settings, tuple(dict.fromkeys(warnings))))


def save_views(views: Sequence[Embedding], out: str | os.PathLike[str]) -> EncodedViews:
    """Write views that are in memory into a folder, from which `open_views` gives them back: mitigated ones, say.

    Raises:
        ParameterError: they are not views.
    """
    checked, folder = Views(views), make_folder(out)
    lost = {word: reason for view in checked for word, reason in view.dropped.items()}
    with _views_writer(folder):
        files = tuple(_write(view, folder, number) for number, view in enumerate(checked))
        return _write_manifest(EncodedViews(str(folder), files, lost, {}, tuple(getattr(views, "warnings", ()))))


@contextmanager
def _views_writer(folder: Path) -> Iterator[None]:
    """Lock a folder, and remove the manifest of earlier views: it may hold a mixture from now on."""
    with writer_lock(folder / LOCK):
        path = folder / MANIFEST
        if path.exists() and not any(mark in read_whole(path) for mark in _MARKS):
            raise InputError(f"{path}: is not a list of views; name another folder, or remove it")
        path.unlink(missing_ok=True)
        yield


def open_view(folder: str | os.PathLike[str], number: int) -> Embedding:
    """Open one view of a folder, by its number in the order of writing."""
    stored, digests = _read_manifest(folder)
    return _read(stored.views[number], Path(folder), stored.lost, digests)


def _write_manifest(encoded: EncodedViews) -> EncodedViews:
    """Write the manifest; the path of the folder is not recorded, so that it can be moved."""
    folder = Path(encoded.folder)
    digests = {file.path: file_sha256(folder / file.path) for file in encoded.views}
    content = {"format": FORMAT, "version": __version__, **encoded.to_dict(), "folder": "", "sha256": digests}
    write_text(folder / MANIFEST, manifest_text(content, indent=1))
    return encoded


def read_views(folder: str | os.PathLike[str]) -> EncodedViews:
    """Describe the files of a folder of views; their vectors are not read.

    Raises:
        InputError: it is not such a folder.
    """
    return _read_manifest(folder)[0]


def _read_manifest(folder: str | os.PathLike[str]) -> tuple[EncodedViews, Mapping[str, str]]:
    """Read the manifest of a folder: its files, and their digests; folders of earlier versions have none."""
    absent = "is not a folder of views, which biasgauge encode makes ({})"
    manifest = read_manifest(Path(folder) / MANIFEST, FORMAT, absent=absent, again=AGAIN)
    digests = manifest.pop("sha256", None)
    content = {key: value for key, value in manifest.items() if key not in {"format", "version"}}
    return EncodedViews.from_dict({**content, "folder": str(folder)}), digests if isinstance(digests, dict) else {}


def open_views(folder: str | os.PathLike[str]) -> Views:
    """Open the views of a folder; vectors stay on disk until they are used.

    Raises:
        InputError: it is not such a folder, or a file is missing or damaged.
    """
    stored, digests = _read_manifest(folder)
    return Views((_read(file, Path(folder), stored.lost, digests) for file in stored.views), stored.warnings)


def _write(view: Embedding, folder: Path, number: int) -> ViewFile:
    stem = f"{number:04d}-{short_name(view.facets)}"
    facets: dict[str, Any] = dict(view.facets)
    path = save(view, folder / f"{stem}.safetensors")
    return ViewFile(**facets, name=view.name, path=path.name, bytes=path.stat().st_size, words=len(view), dim=view.dim)


def _read(file: ViewFile, folder: Path, lost: Mapping[str, str], digests: Mapping[str, str]) -> Embedding:
    path = usable_path(folder / Path(file.path).name)
    if digests:
        check_digest(path, digests.get(file.path), again=AGAIN)
    elif not path.is_file() or path.stat().st_size != file.bytes:
        raise InputError(f"{path}: is missing or damaged; {AGAIN}")
    view = load(path, name=file.name)
    facets = file.facets
    if len(view) != file.words or view.dim != file.dim:
        raise InputError(f"{path}: is not the file that {MANIFEST} describes; {AGAIN}")
    dropped = {word: reason for word, reason in lost.items() if word not in view.index}
    return replace(view, dropped=MappingProxyType(dropped), facets=MappingProxyType(facets))


def short_name(facets: Mapping[str, str | int]) -> str:
    """Layer, pooling and sentence as part of a name: "layer3-mean-This-is"."""
    slug = re.sub(r"\W+", "-", str(facets["template"]).replace("{}", "_"), flags=re.ASCII).strip("-_")[:40]
    setting = f"context{facets['context']}" if facets["context"] else slug
    return f"layer{facets['layer']}-{facets['pooling']}{'-' if setting else ''}{setting}"


ENCODER = Encoder(
    "views", "views of a transformer from a folder that `biasgauge encode` wrote", lambda path: list(open_views(path))
)
