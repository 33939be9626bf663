"""`read_corpus`: text in any layout to a tokenized corpus on disk; `visit_documents`: its texts one after the other."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.core import JsonObject
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import ByteSource, as_read_back, file_sha256, usable_path
from biasgauge.text.corpus_reader import Layout, Sink
from biasgauge.text.token_corpus import TokenCorpus, is_corpus, open_corpus
from biasgauge.text.tokenizers import tokenizer_named
from biasgauge.text.writer import CorpusWriter, corpus_folder, exclusive_lock, writing

if TYPE_CHECKING:
    from biasgauge.io import Progress
    from biasgauge.text.tokenizers import Tokenizer

_LONGEST_SHOWN = 200
_COMPARED = ("files", "layout", "documents", "field", "tokenizer")
"""Settings that a corpus on disk must share with the one to be made."""


def read_corpus(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str] | None = None,
    layout: str = "auto",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    field: str | int | None = None,
    documents: str = "line",
    progress: Progress | None = None,
) -> TokenCorpus:
    """Tokenize a text into a corpus on disk.

    Args:
        source: a file or a folder, or a list or tuple of them; any other iterable of strings is taken as the documents
            themselves. Files may be compressed with gzip, xz or zstd.
        out: a folder to keep the corpus in. One that was made there from the same bytes with the same settings is
            opened instead. None: a temporary folder that goes with the object.
        layout: "lines", "paragraphs" (lines joined up to a blank one), "wikitext", "tsv", "csv", "jsonl", or "auto" by
            the ending of the name.
        tokenizer: "words", "ascii-words", "whitespace", "lower-whitespace", "twitter", "spacy:en" (any language), or a
            function from a text to its words.
        field: the column of a table, by name (the first row) or by number from 1 (no header); the field of JSON lines.
        documents: what is a document in plain lines: "line", "blank-line" (a blank line ends one) or "file".
        progress: called with (bytes read, bytes in all).

    Raises:
        CorpusError: a file cannot be read as it should, holds no words, or `out` holds something else.
        ParameterError: an argument has an impossible value.
    """
    rule = tokenizer_named(tokenizer)
    texts = _Texts(source, Layout(layout, field=field, documents=documents, keeps_marks=rule.keeps_marks))
    job = _Job(texts, rule, progress)
    if out is not None:
        return _open_or_make(job, usable_path(out))
    folder = _temporary_folder()
    try:
        job.write(folder)
        corpus = open_corpus(folder, check=False)  # its checksum was made of the bytes that were written
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(corpus, shutil.rmtree, folder, ignore_errors=True)
    return corpus


def visit_documents(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    visit: Callable[[str], None],
    *,
    layout: str = "auto",
    field: str | int | None = None,
    documents: str = "line",
    progress: Progress | None = None,
) -> None:
    """Call `visit` with every document that has text, in the order of the corpus; one of them is in memory at a time.

    The other arguments are those of `read_corpus`.

    Raises:
        CorpusError: a file cannot be read as it should.
        ParameterError: an argument has an impossible value.
    """
    texts = _Texts(source, Layout(layout, field=field, documents=documents, keeps_marks=True))
    texts.feed(_DocumentJoiner(visit), progress)


class _DocumentJoiner:
    """Joins the lines and pieces of files to whole documents, and hands these on."""

    def __init__(self, visit: Callable[[str], None]) -> None:
        self._visit = visit
        self._pieces: list[str] = []

    def line(self, text: str) -> None:
        """Take a line."""
        self._pieces += [text, "\n"]

    def piece(self, text: str, *, last: bool) -> None:
        """Take a piece of a line."""
        self._pieces += [text, "\n"] if last else [text]

    def record(self, text: str) -> None:
        """Take a whole document."""
        self._pieces.append(text)
        self.end_document(counted=True)

    def end_document(self, *, counted: bool) -> None:  # noqa: ARG002 - a document without text does not count here
        """End the document."""
        text = "".join(self._pieces).strip()
        self._pieces.clear()
        if text:
            self._visit(text)


@dataclass(frozen=True)
class _TextFile:
    """A file of a corpus; its name is its path inside the folder that was named, or its file name."""

    path: Path
    name: str
    layout: str
    size: int

    @cached_property
    def record(self) -> JsonObject:
        """Name, bytes, their SHA-256 and layout, as a corpus records them."""
        try:
            digest = file_sha256(self.path)
        except OSError as problem:
            raise CorpusError(f"cannot be opened: {problem.strerror}", path=self.path) from problem
        return {"name": self.name, "bytes": self.size, "sha256": digest, "layout": self.layout}


class _Texts:
    """Files, or documents in memory, with their layout."""

    def __init__(self, source: object, layout: Layout) -> None:
        self.paths, self._documents = _paths_or_documents(source)
        self.layout = layout
        self.files = tuple(file for path in map(Path, self.paths) for file in self._files_at(path))

    def feed(self, sink: Sink, progress: Progress | None, *, hashed: bool = False) -> None:
        """Hand all texts to `sink`; with `hashed`, a file that changes while it is read is an error."""
        total, before = sum(file.size for file in self.files), 0
        for file in self.files:
            report: Progress | None = None
            if progress is not None:
                report = lambda done, _, tell=progress, before=before: tell(before + done, total)  # noqa: E731
            with ByteSource(file.path, error=CorpusError, progress=report, hashed=hashed) as source:
                self.layout.read(source, file.layout, sink)
                if hashed and source.sha256() != file.record["sha256"]:
                    raise CorpusError("changed while it was read; run it again", path=file.path)
            before += file.size
        for text in self._documents:
            if not isinstance(text, str):
                raise ParameterError(f"The 'source' parameter must give strings. Got {type(text).__name__}.")
            sink.record(text)

    def _files_at(self, path: Path) -> list[_TextFile]:
        """The file at a path, or those of a folder sorted by path, hidden ones left out."""
        try:
            kind = path.stat().st_mode
        except (OSError, ValueError) as problem:
            raise CorpusError(
                "there is no such file; check the path (texts themselves are given as an iterator: iter(texts))",
                path=text if len(text := str(path)) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…",
            ) from problem
        if stat.S_ISREG(kind):
            return [_TextFile(path, path.name, self.layout.choose(path.name), path.stat().st_size)]
        if not stat.S_ISDIR(kind):
            raise CorpusError("is neither a file nor a folder", path=path)
        names = sorted(_names_below(path))
        if not names:
            raise CorpusError("the folder holds no files", path=path)
        return [_TextFile(path / name, name, self.layout.choose(name), (path / name).stat().st_size) for name in names]


def _names_below(folder: Path) -> Iterable[str]:
    """Yield the paths of the files in a folder and its folders, relative to it, with slashes."""
    for path, folders, names in os.walk(folder, onerror=_refuse_folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            file = Path(path, name)
            if not name.startswith(".") and file.is_file():
                yield file.relative_to(folder).as_posix()


def _refuse_folder(problem: OSError) -> None:
    raise CorpusError(f"cannot be opened: {problem.strerror}", path=problem.filename) from problem


def _paths_or_documents(source: object) -> tuple[list[Any], Iterable[str]]:
    """A path, or a list or tuple of paths; any other iterable is documents."""
    if isinstance(source, (str, os.PathLike)):
        return [source], ()
    if isinstance(source, (list, tuple)):
        if not source or not all(isinstance(path, (str, os.PathLike)) for path in source):
            raise ParameterError(f"The 'source' parameter, as a list, must hold paths. Got {source[:3]!r}.")
        return list(source), ()
    if isinstance(source, Iterable) and not isinstance(source, (AbstractSet, bytes)):
        return [], source
    raise ParameterError(
        "The 'source' parameter of read_corpus must be a path, a list of paths, or an iterable of documents in a fixed "
        f"order. Got {type(source).__name__}."
    )


class _Job:
    """Texts to tokenize, and the settings to record."""

    def __init__(self, texts: _Texts, tokenizer: Tokenizer, progress: Progress | None) -> None:
        layout = texts.layout
        if not texts.paths and (layout.name != "auto" or layout.field is not None):
            raise ParameterError("The parameters 'layout' and 'field' of read_corpus are for files, not for documents.")
        self.texts = texts
        self._tokenizer = tokenizer
        self._progress = progress
        self.repeatable = bool(texts.files) and tokenizer.ours
        self.settings: JsonObject = {
            "files": [file.record for file in texts.files],
            "layout": layout.name if texts.files else "documents",
            "documents": layout.documents,
            "field": layout.field,
            "tokenizer": tokenizer.to_dict(),
        }

    def write(self, folder: Path, *, target: Path | None = None) -> None:
        """Make the corpus in an empty folder; one that will become `target` is flushed to the disk."""
        writer = CorpusWriter(folder, self._tokenizer, target=target)
        try:
            self.texts.feed(writer, self._progress, hashed=True)
            writer.finish(self.settings, ", ".join(str(file.path) for file in self.texts.files[:3]) or None)
        finally:
            writer.close()


def _open_or_make(job: _Job, out: Path) -> TokenCorpus:
    """The corpus in `out`: the existing one, if it is the same; else a new one."""
    target = Path(os.path.abspath(out))  # noqa: PTH100 - resolve() would follow a link in the place of the folder
    folders = [path for path in job.texts.paths if Path(path).is_dir()]
    if any(target.is_relative_to(os.path.abspath(folder)) for folder in folders):  # noqa: PTH100 - as above
        raise ParameterError(
            f"The 'out' parameter of read_corpus must lie outside the folder that is read. Got {str(out)!r}."
        )
    if job.repeatable and is_corpus(target):
        return _refuse_different(job, open_corpus(target))
    with exclusive_lock(target):
        if is_corpus(target):
            return _refuse_different(job, open_corpus(target))
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise CorpusError("exists and is not a corpus; name another folder", path=target)
        with corpus_folder(target) as folder:
            job.write(folder, target=target)
    return open_corpus(target, check=False)  # its checksum was made of the bytes that were written


def _refuse_different(job: _Job, corpus: TokenCorpus) -> TokenCorpus:
    """Return an existing corpus, if it is what the job would make.

    Where names do not tell (documents given as strings, a tokenizer of the user's), it is made, and compared.
    """
    settings = as_read_back(job.settings)
    for key in _COMPARED:
        if corpus.settings.get(key) != settings[key]:
            raise CorpusError(f"holds a corpus with other {key}; name another folder, or remove it", path=corpus.path)
    if not job.repeatable:
        folder = _temporary_folder()
        try:
            job.write(folder)
            checksum = open_corpus(folder, check=False).checksum
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if checksum != corpus.checksum:
            raise CorpusError("holds a corpus of other words; name another folder, or remove it", path=corpus.path)
    return corpus


def _temporary_folder() -> Path:
    with writing(Path("the temporary folder")):
        return Path(tempfile.mkdtemp(prefix="biasgauge-corpus-"))


def corpus_of(
    corpus: TokenCorpus | str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    **reading: Any,  # noqa: ANN401 - settings of read_corpus
) -> TokenCorpus:
    """Return a tokenized corpus as it is, open the folder of one, or read anything else by `read_corpus`.

    Raises:
        CorpusError: it cannot be read.
    """
    if isinstance(corpus, TokenCorpus):
        return corpus
    if isinstance(corpus, (str, os.PathLike)) and is_corpus(Path(corpus)):
        return open_corpus(corpus)
    return read_corpus(corpus, **reading)
