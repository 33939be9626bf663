"""WordNet's database files (wndb(5WN)), read as data: meanings of a word, words of a meaning, relations of meanings."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar

from biasgauge.errors import LexiconError, file_error
from biasgauge.lexicons import shown

PARTS_OF_SPEECH = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
FILES = (*(f"{kind}.{part}" for kind in ("index", "data") for part in PARTS_OF_SPEECH.values()), "index.sense")
"""The files that are read; `index.sense`, with counts of meanings in tagged text, may be missing."""
HYPONYM, INSTANCE, INSTANCE_OF, TOPIC_MEMBER = "~", "~i", "@i", "-c"
"""Symbols of pointers: kinds of it, instances of it, what it is an instance of, members of its topic."""
LOCATION, PERSON = 15, 18
"""Numbers of the lexicographer's files noun.location and noun.person (lexnames(5WN))."""
_NAME = re.compile(r"(.+)\.([nvar])\.(\d{1,2})")


class WordNet:
    """The database. A meaning (synset) is named by its part of speech and its offset, as in "n00021939"."""

    language: ClassVar[str] = "en"
    """Language of its words."""

    def __init__(self, files: Mapping[str, bytes], path: str | os.PathLike[str]) -> None:
        self._files, self._path = files, path

    @classmethod
    def parse(cls, files: Mapping[str, bytes], path: str | os.PathLike[str]) -> WordNet:
        """Take the content of the database files by name; of `path`, which errors name.

        Raises:
            LexiconError: a file is missing.
        """
        missing = [name for name in FILES if name not in files and name != "index.sense"]
        if missing:
            raise file_error(LexiconError, f"is not a WordNet database: it has no file {missing[0]}", path)
        return cls(files, path)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the files that are read, whether they stand in a folder or in an archive."""
        digest = hashlib.sha256()
        for name in sorted(self._files):
            digest.update(f"{name} {len(self._files[name])}\n".encode())
            digest.update(self._files[name])
        return digest.hexdigest()

    def senses(self, word: str, part: str = "") -> tuple[str, ...]:
        """Meanings of a word, or of one part of speech of it; the most frequent of each part of speech first."""
        lemma = word.lower().replace(" ", "_")
        return tuple(
            f"{one}{offset}" for one in (part or PARTS_OF_SPEECH) for offset in self._index[one].get(lemma, ())
        )

    def synset(self, name: str) -> str:
        """Return the meaning of a name as NLTK writes it: mathematics.n.01, the first meaning of the noun.

        Raises:
            LexiconError: there is no such meaning.
        """
        parts = _NAME.fullmatch(name)
        if parts is None:
            raise LexiconError(f"a meaning of WordNet is named as in 'flower.n.01', found {shown(name)}")
        senses = self.senses(parts[1], parts[2])
        number = int(parts[3])
        if not 1 <= number <= len(senses):
            has = f"it has {len(senses)} meanings of this part of speech" if senses else "it is not in WordNet"
            raise LexiconError(f"there is no meaning {shown(name)} in WordNet: {has}")
        return senses[number - 1]

    def lemmas(self, synset: str) -> tuple[str, ...]:
        """Words of a meaning, as they are spelled, with blanks between several."""
        fields = self._fields(synset)
        count = int(fields[3], 16)
        # Adjectives may end in a marker of their position: (a), (p), (ip).
        return tuple(re.sub(r"\((?:a|p|ip)\)$", "", word).replace("_", " ") for word in fields[4 : 4 + 2 * count : 2])

    def related(self, synset: str, *symbols: str) -> Iterator[str]:
        """Yield the meanings to which pointers of some kinds lead, in the order of the file."""
        fields = self._fields(synset)
        start = 4 + 2 * int(fields[3], 16)
        for at in range(start + 1, start + 1 + 4 * int(fields[start]), 4):
            if fields[at] in symbols:
                yield fields[at + 2] + fields[at + 1]

    def below(self, synset: str, *symbols: str) -> Iterator[str]:
        """Yield a meaning and all that are reached from it by such pointers, the nearest first, each once."""
        seen, level = {synset}, [synset]
        while level:
            yield from level
            following: list[str] = []
            for meaning in level:
                for lower in self.related(meaning, *symbols):
                    if lower not in seen:
                        seen.add(lower)
                        following.append(lower)
            level = following

    def is_instance(self, synset: str) -> bool:
        """True for a meaning that is one person, place or thing, not a kind of them."""
        return synset[0] == "n" and any(True for _ in self.related(synset, INSTANCE_OF))

    def lexicographer_file(self, synset: str) -> int:
        """Number of the lexicographer's file that a meaning is from, such as `LOCATION`."""
        return int(self._fields(synset)[1])

    def shares(self, word: str) -> dict[str, float]:
        """Share of each meaning of a word, over all parts of speech, in WordNet's tagged text: (n + 1) / (N + k).

        n is how often the word was tagged with the meaning, N the sum over its k meanings. A word with one meaning has
        a share of 1; one that was never tagged has equal shares.
        """
        lemma = word.lower().replace(" ", "_")
        # Meanings are told by their number, not by their offset, which differs between editions of the database.
        counts = {
            synset: self._tag_counts.get((lemma, part, number), 0) + 1
            for part in PARTS_OF_SPEECH
            for number, synset in enumerate(self.senses(word, part), 1)
        }
        return {synset: count / sum(counts.values()) for synset, count in counts.items()}

    @cached_property
    def _index(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Offsets of the meanings of each word, by part of speech."""
        index: dict[str, dict[str, tuple[str, ...]]] = {}
        for part, name in PARTS_OF_SPEECH.items():
            index[part] = {}
            for line in self._files[f"index.{name}"].decode("ascii", "replace").splitlines():
                if not line.startswith("  "):  # the license
                    fields = line.split()
                    # lemma, part of speech, number of meanings, …, as many offsets at the end
                    index[part][fields[0]] = tuple(fields[-int(fields[2]) :])
        return index

    @cached_property
    def _tag_counts(self) -> dict[tuple[str, str, int], int]:
        """Counts of (word, part of speech, number of the meaning) in tagged text, those above 0."""
        if "index.sense" not in self._files:
            raise file_error(LexiconError, "has no file index.sense, which shares of meanings need", self._path)
        parts = dict(zip("12345", "nvara", strict=True))
        counts: dict[tuple[str, str, int], int] = {}
        for line in self._files["index.sense"].decode("ascii", "replace").splitlines():
            key, _, number, count = line.split()
            if count != "0":
                lemma, _, rest_of_key = key.partition("%")
                counts[lemma, parts[rest_of_key[0]], int(number)] = int(count)
        return counts

    def _fields(self, synset: str) -> list[str]:
        """Return the fields of a line of a data file, without the gloss; a meaning's offset is that of its line."""
        content = self._files[f"data.{PARTS_OF_SPEECH[synset[0].replace('s', 'a')]}"]
        start = int(synset[1:])
        line = content[start : content.find(b"\n", start)]
        fields = line.partition(b" | ")[0].decode("ascii", "replace").split()
        if not fields or fields[0] != synset[1:]:
            raise file_error(LexiconError, f"is a damaged WordNet database: no meaning at {synset}", self._path)
        return fields
