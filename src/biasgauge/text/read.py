"""`read_corpus`: text in any layout to a tokenized corpus on disk, once for all models."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.core import JsonObject
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import ByteSource, as_read_back, file_sha256, usable_path
from biasgauge.text.corpus_reader import Layout
from biasgauge.text.folders import atomic_folder, exclusive_lock, writing
from biasgauge.text.token_corpus import TokenCorpus, is_corpus, open_corpus
from biasgauge.text.tokenizers import tokenizer_named
from biasgauge.text.writer import CorpusWriter

if TYPE_CHECKING:
    from biasgauge.io import Progress
    from biasgauge.text.tokenizers import Tokenizer

_LONGEST_SHOWN = 200
_ASKED = ("files", "layout", "documents", "field", "tokenizer")


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
        out: a folder to keep the corpus in. One that was made there from the same bytes in the same way is opened
            instead. None: a temporary folder that goes with the object.
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
    how = Layout(layout, field=field, documents=documents, keeps_marks=rule.keeps_marks)
    job = _Job(source, how, rule, progress)
    if out is not None:
        return _kept(job, usable_path(out))
    folder = _temporary()
    try:
        job.write(folder)
        corpus = open_corpus(folder, check=False)  # its checksum was made of the bytes that were written
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(corpus, shutil.rmtree, folder, ignore_errors=True)
    return corpus


class _Job:
    """What is to be read, and how."""

    def __init__(self, source: object, layout: Layout, tokenizer: Tokenizer, progress: Progress | None) -> None:
        paths, self.texts = paths_or_texts(source)
        self.files = text_files(paths, layout.of)
        self.folders = [path for path in paths if Path(path).is_dir()]
        if not paths and (layout.name != "auto" or layout.field is not None):
            raise ParameterError("The parameters 'layout' and 'field' of read_corpus are for files, not for documents.")
        self._layout = layout
        self._tokenizer = tokenizer
        self._progress = progress
        self.repeatable = bool(self.files) and tokenizer.ours
        self.settings: JsonObject = {
            "files": [file.to_dict() for file in self.files],
            "layout": layout.name if self.files else "documents",
            "documents": layout.documents,
            "field": layout.field,
            "tokenizer": tokenizer.to_dict(),
        }

    def write(self, folder: Path, *, target: Path | None = None) -> None:
        """Make the corpus in an empty folder; one that will become `target` is brought to the disk."""
        writer = CorpusWriter(folder, self._tokenizer, target=target)
        try:
            behind = 0
            for file, stated in zip(self.files, self.settings["files"], strict=True):
                with ByteSource(file.path, error=CorpusError, progress=self._told(behind), hashed=True) as source:
                    self._layout.read(source, file.layout, writer)
                    if source.sha256() != stated["sha256"]:
                        raise CorpusError("changed while it was read; run it again", path=file.path)
                behind += file.size
            for text in self.texts:
                if not isinstance(text, str):
                    raise ParameterError(f"The 'source' parameter must give strings. Got {type(text).__name__}.")
                writer.record(text)
            writer.finish(self.settings, ", ".join(str(file.path) for file in self.files[:3]) or None)
        finally:
            writer.close()

    def _told(self, behind: int) -> Progress | None:
        if self._progress is None:
            return None
        tell, total = self._progress, sum(file.size for file in self.files)
        return lambda done, _: tell(behind + done, total)


@dataclass(frozen=True)
class _TextFile:
    """A file of a corpus; its name is its path inside the folder that was given, or its own name."""

    path: Path
    name: str
    layout: str
    size: int

    def to_dict(self) -> JsonObject:
        """Name, bytes, their SHA-256 and layout, as a corpus records them."""
        try:
            digest = file_sha256(self.path)
        except OSError as problem:
            raise CorpusError(f"cannot be opened: {problem.strerror}", path=self.path) from problem
        return {"name": self.name, "bytes": self.size, "sha256": digest, "layout": self.layout}


def text_files(paths: Iterable[str | os.PathLike[str]], layout_of: Callable[[str], str]) -> tuple[_TextFile, ...]:
    """The files that are named, in that order; those of a folder sorted by path, hidden ones left out."""
    files = []
    for path in map(Path, paths):
        try:
            kind = path.stat().st_mode
        except (OSError, ValueError) as problem:
            raise CorpusError(
                "there is no such file; check the path (texts themselves are given as an iterator: iter(texts))",
                path=text if len(text := str(path)) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…",
            ) from problem
        if stat.S_ISDIR(kind):
            inside = sorted(_inside(path))
            if not inside:
                raise CorpusError("the folder holds no files", path=path)
            files += [_TextFile(path / name, name, layout_of(name), (path / name).stat().st_size) for name in inside]
        elif stat.S_ISREG(kind):
            files.append(_TextFile(path, path.name, layout_of(path.name), path.stat().st_size))
        else:
            raise CorpusError("is neither a file nor a folder", path=path)
    return tuple(files)


def _inside(folder: Path) -> Iterable[str]:
    """Paths of the files in a folder and its folders, relative to it, with slashes."""
    for here, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(here, name)
            if not name.startswith(".") and path.is_file():
                yield path.relative_to(folder).as_posix()


def _refuse(problem: OSError) -> None:
    raise CorpusError(f"cannot be opened: {problem.strerror}", path=problem.filename) from problem


def paths_or_texts(source: object) -> tuple[list[Any], Iterable[str]]:
    """A path, or a list or tuple of paths; anything else that can be walked through is documents."""
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


def _kept(job: _Job, out: Path) -> TokenCorpus:
    """The corpus in `out`: the one that is there, if it is the same; else a new one."""
    target = Path(os.path.abspath(out))  # noqa: PTH100 - resolve() would follow a link in the place of the folder
    if any(target.is_relative_to(os.path.abspath(folder)) for folder in job.folders):  # noqa: PTH100 - as above
        raise ParameterError(
            f"The 'out' parameter of read_corpus must lie outside the folder that is read. Got {str(out)!r}."
        )
    if job.repeatable and is_corpus(target):
        return _same(job, open_corpus(target))
    with exclusive_lock(target):
        if is_corpus(target):
            return _same(job, open_corpus(target))
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise CorpusError("exists and is not a corpus; name another folder", path=target)
        with atomic_folder(target) as part:
            job.write(part, target=target)
    return open_corpus(target, check=False)  # its checksum was made of the bytes that were written


def _same(job: _Job, here: TokenCorpus) -> TokenCorpus:
    """The corpus that is there, if it is what the job would make.

    Where names do not tell (documents given as strings, a tokenizer of the user's own) it is made, and compared.
    """
    asked = as_read_back(job.settings)
    for key in _ASKED:
        if here.settings.get(key) != asked[key]:
            raise CorpusError(f"holds a corpus with other {key}; name another folder, or remove it", path=here.path)
    if not job.repeatable:
        folder = _temporary()
        try:
            job.write(folder)
            made = open_corpus(folder, check=False).checksum
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if made != here.checksum:
            raise CorpusError("holds a corpus of other words; name another folder, or remove it", path=here.path)
    return here


def _temporary() -> Path:
    with writing(Path("the temporary folder")):
        return Path(tempfile.mkdtemp(prefix="biasgauge-corpus-"))


def corpus_of(
    corpus: TokenCorpus | str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    **reading: Any,  # noqa: ANN401 - settings of read_corpus
) -> TokenCorpus:
    """A corpus: a tokenized one as it is, the folder of one opened, anything else read by `read_corpus`.

    Raises:
        CorpusError: it cannot be read.
    """
    if isinstance(corpus, TokenCorpus):
        return corpus
    if isinstance(corpus, (str, os.PathLike)) and is_corpus(Path(corpus)):
        return open_corpus(corpus)
    return read_corpus(corpus, **reading)
