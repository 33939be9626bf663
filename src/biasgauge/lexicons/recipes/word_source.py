"""The registry's `WordSource`, and the request that one answers: settings of a recipe, and files that it may read."""

from __future__ import annotations

import hashlib
import io as streams
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from biasgauge import io
from biasgauge.errors import LexiconError, file_error
from biasgauge.lexicons import SourceRecord, shown
from biasgauge.lexicons.recipes.wordnet import FILES, WordNet

if TYPE_CHECKING:
    from biasgauge.lexicons import TomlTable


class Candidate(NamedTuple):
    """A word that a source offers.

    Attributes:
        word: as the source spells it; several words are joined by blanks or underscores.
        evidence: the numbers for which it was offered, as text.
        sd: standard deviation of its ratings; None where it was not rated.
        synset: WordNet's id of the meaning in which it was offered; empty where the source knows no meanings.
    """

    word: str
    evidence: str = ""
    sd: float | None = None
    synset: str = ""


@dataclass(frozen=True)
class WordSource:
    """A source of words for recipes.

    Attributes:
        name: as recipes name it.
        summary: what it offers, and its settings.
        candidates: the words that answer to the settings of a request, the most typical first where there is an order.
    """

    name: str
    summary: str
    candidates: Callable[[SourceRequest], Iterable[Candidate]]


class StandardFile(NamedTuple):
    """The file that a source looks for where a recipe names none, with its license and origin."""

    name: str
    license: str = ""
    origin: str = ""


@dataclass
class SourceFiles:
    """Files that sources read: found by name, each with the record of it.

    `base` is the folder of the recipe, `folders` are those in which data are looked for.
    """

    base: Path
    folders: tuple[Path, ...] = ()
    records: dict[tuple[str, str], SourceRecord] = field(default_factory=dict)
    _databases: dict[Path, WordNet] = field(default_factory=dict)

    def find(self, names: Sequence[str], extra: Sequence[Path] = ()) -> Path | None:
        """Return the first file of one of some names in the data folders, the folders inside them, or `extra`."""
        for folder in self.folders:
            inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
            for home in (folder, *inside):
                for name in names:
                    if (home / name).exists():
                        return home / name
        return next((path for path in extra if path.exists()), None)

    def named(self, path: str) -> Path:
        """Return the path of a file that a recipe names: from the recipe's folder on, else in a data folder."""
        beside = self.base / path
        return beside if beside.exists() else self.find([path]) or beside

    def record(self, record: SourceRecord) -> None:
        """Remember that a file was read."""
        self.records[record.source, record.file] = record

    def wordnet(self, path: Path | None = None) -> WordNet:
        """Read WordNet: the folder or archive of that path, else the first that is found.

        Raises:
            LexiconError: there is none, or it is not WordNet.
        """
        place = path or self.find(("wordnet3.0_nltk_layout.tar.xz", "wordnet.zip", "index.noun"), _wordnet_places())
        if place is None:
            raise LexiconError(
                "WordNet was not found: name the folder that holds it with --data (data=…), or install it with "
                "`python -m nltk.downloader wordnet` or the Debian package wordnet-base"
            )
        place = place.parent if place.name == "index.noun" else place
        if place not in self._databases:
            content = io.read_members(place, FILES, error=LexiconError)
            self._databases[place] = WordNet.parse(content, place)
        database = self._databases[place]
        self.record(SourceRecord("wordnet", "WordNet 3.0", database.checksum, "WordNet 3.0 license"))
        return database


def _wordnet_places() -> list[Path]:
    """Return the places where WordNet is installed, if it is: those of NLTK and of Debian."""
    roots = [Path(folder) for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    roots += [Path.home() / "nltk_data", Path(sys.prefix) / "nltk_data"]
    roots += [Path(sys.prefix, "share", "nltk_data"), Path("/usr/share/nltk_data"), Path("/usr/local/share/nltk_data")]
    corpora = [root / "corpora" / name for root in roots for name in ("wordnet/index.noun", "wordnet.zip")]
    return [*corpora, Path("/usr/share/wordnet/index.noun")]


@dataclass(frozen=True)
class SourceRequest:
    """Settings of one source in a recipe, and the files that it may read. What is read is recorded.

    Every setting must be taken from `settings`, or the recipe is refused for a key that nobody knows.
    """

    source: str
    settings: TomlTable
    files: SourceFiles
    language: str

    @cached_property
    def file(self) -> Path | None:
        """The file that the recipe names, if it names one."""
        name = self.settings.text("file", default="")
        return self.files.named(name) if name else None

    def words(self, key: str) -> tuple[str, ...]:
        """Return one word or several under a key."""
        value = self.settings.take(key, "a word or an array of words", (str, list))
        return (value,) if isinstance(value, str) else self.settings.words(key)

    def rows(self, standard: StandardFile, columns: Collection[str]) -> Iterator[tuple[dict[str, str], int]]:
        """Yield the rows of a CSV file with their lines: the file that the recipe names, else the standard one."""
        content, path = self._content(standard)
        lines = streams.StringIO(io.decode_utf8(content, path, error=LexiconError), newline="")
        yield from io.csv_records(lines, path, error=LexiconError, needed=tuple(columns))

    def lines(self, standard: StandardFile) -> tuple[list[str], Path]:
        """Return the lines of a text file, as `rows` finds it, and its path."""
        content, path = self._content(standard)
        return io.decode_utf8(content, path, error=LexiconError).splitlines(), path

    def number(self, row: Mapping[str, str], column: str, line: int) -> float:
        """Return a cell as a number. Raises LexiconError, which names the line, where it is none."""
        try:
            return float(row[column])
        except ValueError:
            raise file_error(
                LexiconError, f"column {column!r} must hold numbers, found {shown(row[column])}", self.path, line=line
            ) from None

    @property
    def path(self) -> Path:
        """The file that is read: the one that the recipe names, or the one found last."""
        return self.file or self._found[-1]

    @cached_property
    def _found(self) -> list[Path]:
        return []

    def _content(self, standard: StandardFile) -> tuple[bytes, Path]:
        path = self.file or self.files.find([standard.name])
        stated = {key: self.settings.text(key, default="") for key in ("license", "origin")}
        if path is None:
            self.settings.fail(
                f"'{self.settings.key('name')}' is {shown(self.source)}, whose data, {standard.name}, were not found: "
                "name the folder that holds them with --data (data=…), or the file with the key 'file'"
            )
        self._found.append(path)
        content = io.read_whole(path, error=LexiconError, wanted="a text file")
        known = standard if path.name == standard.name else StandardFile(path.name)
        terms, origin = stated["license"] or known.license, stated["origin"] or known.origin
        checksum = hashlib.sha256(content).hexdigest()
        self.files.record(SourceRecord(self.source, path.name, checksum, terms, origin))
        return content, path
