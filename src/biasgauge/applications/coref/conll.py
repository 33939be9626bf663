"""Coreference in CoNLL files: OntoNotes (CoNLL-2012), WinoBias, LitBank, OntoGUM.

A line is a word: its last column has `(7` where a mention of thing 7 begins, `7)` where one ends, `(7)` for one of one
word, several of them side by side or with `|` between. An empty line ends a sentence. Lines of three columns (OntoGUM)
have the word in the second; longer ones (CoNLL-2012) have it in the fourth, and the speaker, if they have at least
eleven, in the tenth.
"""

from __future__ import annotations

import lzma
import os
import re
import tarfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Literal, get_args

from biasgauge.applications.coref.document import Document, Span, each_span_once, sentence_lengths
from biasgauge.core import check_choice
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import ByteSource, write_text

Problems = Literal["error", "mend"]
ENDING = "conll"
_BLOCK = 1 << 24

_BEGIN = re.compile(r"#\s*begin document\b\s*(?:\((?P<name>.*)\)(?:;\s*part\s+(?P<part>\d{1,18}))?)?")
_END = re.compile(r"#\s*end document\b")
_BRACKET = re.compile(r"\((?P<alone>\d{1,18})\)|\((?P<opens>\d{1,18})|(?P<closes>\d{1,18})\)|\|")
_NOTHING = {"", "-", "_", "*"}
_DROPPED = "the bracket was dropped"
_UNKNOWN = ("-",) * 5


def read_conll(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, problems: Problems = "error"
) -> list[Document]:
    """Documents of files, folders (files whose names end in "conll") and tar archives, in the order of their names.

    A span that is marked as two things is a mention of the first alone, as in the reference scorer. A document without
    empty lines gets sentences that end at full stops, question and exclamation marks. Both are said in its `notices`.

    Args:
        paths: one or several.
        problems: what to do with a bracket that has no partner, or with an empty word: "error", or "mend", which drops
            the bracket, writes "_" for the word, and says so in `notices`.

    Raises:
        CorpusError: there is no such file, or a line is not what it should be.
        ParameterError: `problems` is something else.
    """
    check_choice(get_args(Problems), problems=problems)
    documents: list[Document] = []
    for path in [Path(paths)] if isinstance(paths, (str, os.PathLike)) else map(Path, paths):
        label = ""
        for label, text in _read_files(path):
            documents += parse_conll(text, label, Path(label).name.split(".")[0], problems)
        if not label:
            raise CorpusError(f"holds no file whose name ends in {ENDING!r}", path=path)
    return documents


def parse_conll(text: str, path: str, stem: str = "", problems: Problems = "error") -> Iterator[Document]:
    """Documents of one file's text; `stem` names those that have no name."""
    current: _Draft | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip("\r")
        begin = _BEGIN.match(line)
        if begin:
            if current is not None:
                raise CorpusError("a document begins before the last one has ended", path=path, line=number)
            current = _Draft(begin["name"] or stem, int(begin["part"] or 0), path, problems)
        elif _END.match(line):
            if current is None:
                raise CorpusError("a document ends where none has begun", path=path, line=number)
            yield current.document()
            current = None
        elif current is not None:
            current.add(line, number)
        elif line.strip() and not line.startswith("#"):
            problem = "expected a line that begins with '#begin document' before the first word"
            raise CorpusError(problem, path=path, line=number)
    if current is not None:
        problem = f"the file ends inside the document {current.name!r}: '#end document' is missing; is the file whole?"
        raise CorpusError(problem, path=path)


@dataclass
class _Draft:
    """A document while it is read."""

    name: str
    part: int
    path: str
    problems: Problems
    words: list[str] = field(default_factory=list)
    speakers: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    opened: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    mentions: dict[int, list[Span]] = field(default_factory=lambda: defaultdict(list))
    notices: list[str] = field(default_factory=list)

    def add(self, line: str, number: int) -> None:
        """A line: a word, the end of a sentence, or a remark."""
        if not line.strip():
            self.end_sentence()
        if not line.strip() or line.startswith("#"):
            return
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) != 3 and len(cells) < 5:
            raise CorpusError(f"expected 3 columns, or 5 or more. Got {len(cells)}", path=self.path, line=number)
        word = cells[1 if len(cells) == 3 else 3].strip()
        if not word:
            self._odd("the column of the word is empty", 'the word is read as "_"', number)
        self.words.append(word or "_")
        self.speakers.append(cells[9].strip() if len(cells) > 10 else "-")
        self._brackets(cells[-1].strip(), number)

    def _brackets(self, cell: str, number: int) -> None:
        if cell in _NOTHING:
            return
        word, end = len(self.words) - 1, 0
        for bracket in _BRACKET.finditer(cell):
            if bracket.start() != end:
                break
            end = bracket.end()
            if bracket["alone"]:
                self.mentions[int(bracket["alone"])].append((word, word))
            elif bracket["opens"]:
                self.opened[int(bracket["opens"])].append((word, number))
            elif entity := bracket["closes"]:
                if opened := self.opened[int(entity)]:
                    self.mentions[int(entity)].append((opened.pop()[0], word))
                else:
                    self._odd(f"{entity}) ends a mention that has not begun", _DROPPED, number)
        if end != len(cell):
            problem = f"the last column must hold brackets such as (7, 7) or (7), or - for none. Got {cell!r}"
            raise CorpusError(problem, path=self.path, line=number)

    def _odd(self, problem: str, mended: str, number: int) -> None:
        if self.problems == "error":
            raise CorpusError(problem, path=self.path, line=number)
        self.notices.append(f"line {number}: {problem}; {mended}")

    def end_sentence(self) -> None:
        if self.words and self.ends[-1:] != [len(self.words)]:
            self.ends.append(len(self.words))

    def document(self) -> Document:
        for entity, mentions in self.opened.items():
            for _, number in mentions:
                self._odd(f"({entity} begins a mention that does not end", _DROPPED, number)
        clusters, repeated = each_span_once(self.mentions.values())
        if repeated:
            self.notices.append(
                f"{len(repeated)} of its spans are marked twice, such as words {repeated[0][0]} to {repeated[0][1]}; "
                "the first mark counts"
            )
        if self.words and not self.ends:
            lengths = sentence_lengths(self.words)
            self.notices.append(f"has no empty lines; {len(lengths)} sentences were made at full stops")
            self.ends += accumulate(lengths)
        self.end_sentence()
        has_speakers = not _NOTHING.issuperset(self.speakers)
        # OntoNotes: the first folder; OntoGUM: the second part of the file's name
        folder, slash, _ = self.name.partition("/")
        pieces = self.name.split("_")
        genre = pieces[1] if pieces[0] in {"GUM", "GENTLE"} and len(pieces) > 2 else ""
        genre = folder if slash else genre
        return Document(
            name=self.name,
            sentences=tuple(tuple(self.words[start:end]) for start, end in pairwise([0, *self.ends])),
            clusters=clusters,
            part=self.part,
            speakers=tuple(self.speakers) if has_speakers else (),
            genre=genre,
            notices=tuple(self.notices),
        )


def write_conll(documents: Iterable[Document], path: str | os.PathLike[str]) -> None:
    """Write documents with their clusters, the whole file or none of it.

    Raises:
        ParameterError: two mentions of one thing cross, which brackets cannot say, or a word or name cannot stand in
            a column.
    """
    write_text(path, "".join(line + "\n" for document in documents for line in conll_lines(document)))


def conll_lines(document: Document) -> Iterator[str]:
    """The lines of one document."""
    name = document.name or "-"
    for text in (name, *document.words, *document.speakers):
        if len(text.split()) != 1:
            raise ParameterError(f"A column of a CoNLL file cannot hold {text!r} ({name}): it is empty or has spaces.")
    if name.startswith("#"):
        raise ParameterError(f"A document of a CoNLL file cannot be called {name!r}: # begins a remark.")
    brackets = _bracket_cells(document)
    yield f"#begin document ({name}); part {document.part:03d}"
    speakers = enumerate(document.speakers or ["-"] * len(document.words))
    for sentence in document.sentences:
        for number, word in enumerate(sentence):
            index, speaker = next(speakers)
            cells = (name, str(document.part), str(number), word, *_UNKNOWN, speaker, "*", brackets.get(index, "-"))
            yield "\t".join(cells)
        yield ""
    yield "#end document"


def _bracket_cells(document: Document) -> dict[int, str]:
    """The last column where it is not empty: what ends, inner first, then what begins, outer first."""
    mentions = [(span, number) for number, cluster in enumerate(document.clusters) for span in cluster]
    for cluster in document.clusters:
        _refuse_crossing(cluster, document.name)
    brackets: dict[int, list[str]] = defaultdict(list)
    for (first, last), number in sorted(mentions, key=lambda mention: -mention[0][0]):
        if last > first:
            brackets[last].append(f"{number})")
    for (first, last), number in sorted(mentions, key=lambda mention: -mention[0][1]):
        brackets[first].append(f"({number}" if last > first else f"({number})")
    return {index: "|".join(cells) for index, cells in brackets.items()}


def _refuse_crossing(cluster: tuple[Span, ...], name: str) -> None:
    inside: list[Span] = []
    for span in sorted(cluster, key=lambda mention: (mention[0], -mention[1])):
        while inside and inside[-1][1] < span[0]:
            inside.pop()
        if inside and inside[-1][1] < span[1]:
            raise ParameterError(
                f"The mentions {inside[-1]} and {span} of one thing in {name!r} cross; CoNLL brackets cannot say that."
            )
        inside.append(span)


def file_text(path: str | os.PathLike[str]) -> str:
    """Text of one file, compressed or not."""
    with ByteSource(path, error=CorpusError) as source:
        return _decode(b"".join(iter(partial(source.read, _BLOCK), b"")), str(path))


def _decode(raw: bytes, label: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise CorpusError("is not UTF-8 text", path=label, offset=problem.start) from problem


def _read_files(path: Path) -> Iterator[tuple[str, str]]:
    """Text by the name of its file: of a folder, of a tar archive, or of one file."""
    if path.is_file() and ".tar" in path.suffixes:
        for name, raw in sorted(_read_members(path).items()):
            yield f"{path}/{name}", _decode(raw, f"{path}/{name}")
    else:
        files = (file for file in sorted(path.rglob(f"*{ENDING}")) if file.is_file()) if path.is_dir() else (path,)
        for file in files:
            yield str(file), file_text(file)


def _read_members(path: Path) -> dict[str, bytes]:
    content: dict[str, bytes] = {}
    try:
        # as a stream, of which no more is unpacked than a source allows: a header alone can promise gigabytes
        with ByteSource(path, error=CorpusError) as source, tarfile.open(fileobj=source.stream(), mode="r|") as archive:
            for member in archive:
                if member.name.endswith(ENDING) and member.isfile():
                    file = archive.extractfile(member)
                    content[member.name] = b"" if file is None else file.read()
    except CorpusError:
        raise
    except (tarfile.TarError, OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, RecursionError) as problem:
        raise CorpusError(f"is not a whole tar archive: {problem}", path=path) from problem
    return content
