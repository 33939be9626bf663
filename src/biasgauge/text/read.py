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
from biasgauge.text.writer import CorpusWriter, make_corpus, writing

if TYPE_CHECKING:
    from biasgauge.io import Progress
    from biasgauge.text.tokenizers import Tokenizer

_LONGEST_SHOWN = 200


def read_corpus(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str] | None = None,
    layout: str = "auto",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    field: str | int | None = None,
    documents: str = "line",
    replaceable: bool = False,
    progress: Progress | None = None,
) -> TokenCorpus:
    """Tokenize a text into a corpus on disk.

    Args:
        source: a file or a folder, or a list or tuple of them; any other iterable of strings is taken as the documents
            themselves. Files may be compressed with gzip, xz or zstd.
        out: a folder to keep the corpus in. One that was made there from the same bytes with the same settings is
            opened instead. None: a temporary folder that goes with the object.
        layout: "lines", "paragraphs" (lines joined up to a blank one), "wikitext", "tsv", "csv", "jsonl", "conllu",
            "warc", "r", "parquet", or "auto" by the ending of the name.
        tokenizer: "words", "ascii-words", "whitespace", "lower-whitespace", "twitter", "reddit", "spacy:en" (any
            language), or a function from a text to its words.
        field: the column of a table, by name (the first row) or by number from 1 (no header); the field of JSON lines.
        documents: what is a document in plain lines: "line", "blank-line" (a blank line ends one) or "file".
        replaceable: whether a corpus of another text in `out` is replaced, as nothing was made from it yet.
        progress: called with (bytes read, bytes in all).

    Raises:
        CorpusError: a file cannot be read as it should, holds no words, or `out` holds something else.
        ParameterError: an argument has an impossible value.
    """
    rule = tokenizer_named(tokenizer)
    texts = _Texts(source, Layout(layout, field=field, documents=documents, keeps_marks=rule.keeps_marks))
    if not texts.paths and (layout != "auto" or field is not None):
        raise ParameterError("The parameters 'layout' and 'field' of read_corpus are for files, not for documents.")
    settings: JsonObject = {
        "files": [file.record for file in texts.files],
        "layout": layout if texts.files else "documents",
        "documents": documents,
        "field": field,
        "tokenizer": rule.to_dict(),
    }
    if out is None:
        return _temporary_corpus(texts, rule, settings, progress)

    def difference(corpus: TokenCorpus) -> str:
        """Say in what a corpus is not what would be made; where names do not tell, it is made and compared."""
        for key, value in as_read_back(settings).items():
            if corpus.settings.get(key) != value:
                return f"with other {key}"
        same = repeatable or _temporary_corpus(texts, rule, settings, progress).checksum == corpus.checksum
        return "" if same else "of other words"

    def accept(corpus: TokenCorpus) -> TokenCorpus | None:
        """Return an existing corpus if it is what would be made; None where it may be replaced."""
        different = difference(corpus)
        if different and not replaceable:
            raise CorpusError(f"holds a corpus {different}; name another folder, or remove it", path=corpus.path)
        return None if different else corpus

    repeatable = bool(texts.files) and rule.ours
    target = Path(os.path.abspath(usable_path(out)))  # noqa: PTH100 - resolve() would follow a link in its place
    folders = [os.path.abspath(path) for path in texts.paths if Path(path).is_dir()]  # noqa: PTH100 - as above
    if any(target.is_relative_to(folder) for folder in folders):
        raise ParameterError(
            f"The 'out' parameter of read_corpus must lie outside the folder that is read. Got {str(out)!r}."
        )
    if repeatable and is_corpus(target) and (there := accept(open_corpus(target))):  # nobody has to be waited for
        return there
    return make_corpus(
        target, lambda folder: _write(texts, rule, settings, progress, folder, target=target), accept=accept
    )


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
    """A sink that joins the lines and pieces of files to whole documents, and hands these on."""

    def __init__(self, visit: Callable[[str], None]) -> None:
        self._visit = visit
        self._pieces: list[str] = []

    def line(self, text: str, *, ended: bool = True) -> None:
        self._pieces += [text, "\n"] if ended else [text]

    def record(self, text: str) -> None:
        self._pieces.append(text)
        self.end_document(counted=True)

    def end_document(self, *, counted: bool) -> None:  # noqa: ARG002 - a document without text does not count here
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
        self._layout = layout
        self.files = tuple(file for path in map(Path, self.paths) for file in self._files_at(path))

    def feed(self, sink: Sink, progress: Progress | None, *, hashed: bool = False) -> None:
        """Hand all texts to `sink`; with `hashed`, a file that changes while it is read is an error."""
        total, before = sum(file.size for file in self.files), 0
        for file in self.files:
            report: Progress | None = None
            if progress is not None:
                report = lambda done, _, tell=progress, before=before: tell(before + done, total)  # noqa: E731
            with ByteSource(file.path, error=CorpusError, progress=report, hashed=hashed) as source:
                self._layout.read(source, file.layout, sink)
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
            files = {path.name: path}
        elif stat.S_ISDIR(kind):
            files = {name: path / name for name in sorted(_names_below(path))}
        else:
            raise CorpusError("is neither a file nor a folder", path=path)
        if not files:
            raise CorpusError("the folder holds no files", path=path)
        return [_TextFile(file, name, self._layout.choose(name), file.stat().st_size) for name, file in files.items()]


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


def _write(
    texts: _Texts, tokenizer: Tokenizer, settings: JsonObject, progress: Progress | None, folder: Path,
    *, target: Path | None = None,
) -> None:  # fmt: skip
    """Make the corpus in an empty folder; one that will become `target` is flushed to the disk."""
    writer = CorpusWriter(folder, tokenizer, target=target)
    try:
        texts.feed(writer, progress, hashed=True)
        writer.finish(settings, ", ".join(str(file.path) for file in texts.files[:3]) or None)
    finally:
        writer.close()


def _temporary_corpus(
    texts: _Texts, tokenizer: Tokenizer, settings: JsonObject, progress: Progress | None
) -> TokenCorpus:
    """Make the corpus in a temporary folder, which goes with the object."""
    with writing(Path("the temporary folder")):
        folder = Path(tempfile.mkdtemp(prefix="biasgauge-corpus-"))
    try:
        _write(texts, tokenizer, settings, progress, folder)
        corpus = open_corpus(folder, check=False)  # its checksum was made of the bytes that were written
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(corpus, shutil.rmtree, folder, ignore_errors=True)
    return corpus


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
