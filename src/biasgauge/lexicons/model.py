"""Lexicons: named sets of words with their source and caveats.

One frozen class per kind. Each shows its words through `sets` (set name -> words, in file order, duplicates kept) and
`words` (every word once, in first-seen order), so that code which only needs words need not know the kind.

    Lexicon
    ├── Words            one list
    ├── Pairs            ordered (first, second) base pairs
    ├── WordSets         several named sets, each standing for one concept
    ├── AssociationTest  X, Y, A, B of a WEAT: positive = X leans to A
    ├── Values           one number per word
    ├── Translations     a word and its forms in another language
    ├── Stereotypes      groups with protected words and attributes
    ├── SeedBank         many sets with category, justification and paper (seed_sets.py)
    └── Language         which lists a language has for which need (language.py); no words of its own
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from biasgauge.core import Query, WordSet, schema_of_reader
from biasgauge.lexicons.provenance import Provenance
from biasgauge.results import counted

if TYPE_CHECKING:
    import pandas as pd
    from pydantic_core import CoreSchema


DEFAULT_LANGUAGE = "en"
"""Language of a lexicon that states none, and of an audit that is asked for none."""

METADATA = ("title", "display_name", "family", "language", "source", "citation", "license", "notes")
"""Keys that hold one string each; `name`, `kind`, `on_request`, `battery`, `repeats`, `powered`, `beware`, `made`:
others."""
FLAGS = ("on_request", "battery")
"""Keys that are true or false."""
REFERENCES = ("repeats", "powered")
"""Keys that name another lexicon."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Lexicon(ABC):
    """Words with their source. `path` is the file it was read from, None for one made in memory.

    `family` is what its question is about (gender, race, …; "sanity" for a check of the instrument): questions of one
    family are corrected together in an audit. A test of the `battery` has enough words to settle its question: an audit
    asks it without being told, and measures other tests beside it. A list `on_request` that is not of the battery is
    measured only where it is named. One that `repeats` another, by name, asks the question of that one in words of
    another source, by which an audit checks its answer; one that is `powered` by another, by name, asks in few words
    what that one asks in many. `made` has the steps by which its words were chosen, the last one last.

    Two lexicons are equal when they say the same, wherever they were read from.
    """

    kind: ClassVar[str]
    name: str
    display_name: str = ""
    title: str = ""
    family: str = ""
    language: str = DEFAULT_LANGUAGE
    source: str = ""
    citation: str = ""
    license: str = ""
    notes: str = ""
    beware: tuple[str, ...] = ()
    on_request: bool = False
    battery: bool = False
    repeats: str = ""
    powered: str = ""
    made: tuple[Provenance, ...] = ()
    path: str | None = field(default=None, compare=False)
    shipped: bool = field(default=False, compare=False)

    @property
    def label(self) -> str:
        """Name for readers: `display_name`, else what stands before the colon of `title`, else `name`."""
        before, colon, _ = self.title.partition(": ")
        return self.display_name or (before if colon else self.name)

    @property
    @abstractmethod
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """Words by set name, in file order, duplicates kept."""

    @abstractmethod
    def content(self) -> dict[str, object]:
        """Give what is specific to the kind, under the keys of the TOML file."""

    @property
    def words(self) -> tuple[str, ...]:
        """Every word of every set once, in first-seen order."""
        return tuple(dict.fromkeys(word for words in self.sets.values() for word in words))

    @property
    def checksum(self) -> str:
        """SHA-256 (hex) of kind, language and content: the same for the same words, however the file is laid out.

        Title, source, notes and the like do not count, nor does the order of tables; the order of words does.
        """
        content = {"kind": self.kind, "language": self.language, **self.content()}
        canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()

    def to_dict(self) -> dict[str, object]:
        """Give everything under the keys of the TOML file: parsing it again gives an equal lexicon."""
        metadata: dict[str, object] = {"name": self.name, "kind": self.kind}
        metadata |= {key: value for key in METADATA if (value := getattr(self, key))}
        metadata |= {key: value for key in (*FLAGS, *REFERENCES) if (value := getattr(self, key))}
        if self.beware:
            metadata["beware"] = list(self.beware)
        steps = [step.to_dict() for step in self.made]
        made = {"made": steps if len(steps) > 1 else steps[0]} if steps else {}
        return metadata | self.content() | made

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
        """Inside a record, pydantic leaves reading to `from_dict`: some types of fields are imported late."""
        return schema_of_reader(cls)

    @classmethod
    def from_dict(cls, content: Mapping[str, object]) -> Lexicon:
        """The lexicon, of whatever kind, of which `to_dict` made `content`; a checksum beside it is left aside."""
        from biasgauge.lexicons.parse import parse_lexicon

        return parse_lexicon({key: value for key, value in content.items() if key != "checksum"})

    def queries(self, bases: Sequence[Lexicon] = ()) -> Iterator[Query]:
        """Yield the queries that this lexicon asks; a list of words or values is measured along base pairs, `bases`."""
        from biasgauge.lexicons.queries import queries_of

        return queries_of(self, bases)

    def to_frame(self) -> pd.DataFrame:
        """Long table: one row per word of each set, with columns `set`, `word` and those of the kind."""
        import pandas as pd

        rows = self._rows()
        return pd.DataFrame(rows, columns=list(rows[0]) if rows else ["set", "word"])

    def _rows(self) -> list[dict[str, object]]:
        return [{"set": name, "word": word} for name, words in self.sets.items() for word in words]

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=20))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}: {counted(self.words, 'word')} in {counted(self.sets, 'set')})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Words(Lexicon):
    """One list of words. `listed` keeps duplicates, `words` does not."""

    kind: ClassVar[str] = "words"
    listed: tuple[str, ...]

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """The list, under the name "words"."""
        return {"words": self.listed}

    def content(self) -> dict[str, object]:
        """Give `words`."""
        return {"words": list(self.listed)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Pairs(Lexicon):
    """Base pairs, ordered (first, second): a positive score leans to the first. Gender pairs are (male, female)."""

    kind: ClassVar[str] = "pairs"
    pairs: tuple[tuple[str, str], ...]
    ends: tuple[str, str] = ("first", "second")

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """The first words and the second words, under the names of the ends."""
        return {end: tuple(pair[i] for pair in self.pairs) for i, end in enumerate(self.ends)}

    def content(self) -> dict[str, object]:
        """Give `ends` and `pairs`."""
        return {"ends": list(self.ends), "pairs": [list(pair) for pair in self.pairs]}

    def _rows(self) -> list[dict[str, object]]:
        return [
            {"set": end, "word": pair[i], "pair": number}
            for i, end in enumerate(self.ends)
            for number, pair in enumerate(self.pairs)
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class WordSets(Lexicon):
    """Several named sets, each standing for one concept.

    `treatments` name sets that play the roles of an association test together, each role with its sets.
    """

    kind: ClassVar[str] = "sets"
    members: tuple[WordSet, ...]
    treatments: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...] = ()

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """Words by concept."""
        return {member.name: member.words for member in self.members}

    def content(self) -> dict[str, object]:
        """Give `sets`, and `treatments` where there are any."""
        sets = {"sets": {name: list(words) for name, words in self.sets.items()}}
        roles = {name: {role: list(names) for role, names in treatment} for name, treatment in self.treatments}
        return {**sets, "treatments": roles} if roles else {**sets}

    def treatment(self, name: str) -> AssociationTest:
        """Return the sets of a treatment as an association test, each word of a role once."""
        roles = {
            role: WordSet(" and ".join(names), tuple(dict.fromkeys(word for part in names for word in self.sets[part])))
            for role, names in dict(self.treatments)[name]
        }
        return AssociationTest(
            name=f"{self.name}:{name}", language=self.language, source=self.source, citation=self.citation,
            shipped=self.shipped, x=roles["x"], y=roles["y"], a=roles["a"], b=roles["b"],
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class AssociationTest(Lexicon):
    """Targets X and Y, attributes A and B. A positive result means that X leans to A and Y to B.

    `counterparts` are forms of one word in the same set, masculine and feminine: where one has no vector, the other
    goes too, so that grammatical gender stays balanced.
    """

    kind: ClassVar[str] = "test"
    x: WordSet
    y: WordSet
    a: WordSet
    b: WordSet
    counterparts: tuple[tuple[str, str], ...] = ()

    @property
    def roles(self) -> Mapping[str, WordSet]:
        """The four sets by role, with the names of what they stand for."""
        return {"x": self.x, "y": self.y, "a": self.a, "b": self.b}

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """The four sets under "x", "y", "a" and "b"."""
        return {role: members.words for role, members in self.roles.items()}

    def content(self) -> dict[str, object]:
        """Give `x`, `y`, `a` and `b`, each with name and words, and `counterparts` where there are any."""
        sets = {role: {"name": members.name, "words": list(members.words)} for role, members in self.roles.items()}
        return {"counterparts": [list(pair) for pair in self.counterparts], **sets} if self.counterparts else {**sets}

    def _rows(self) -> list[dict[str, object]]:
        return [{**row, "label": self.roles[str(row["set"])].name} for row in super()._rows()]


@dataclass(frozen=True, kw_only=True, repr=False)
class Values(Lexicon):
    """One number per word, in the `unit` named."""

    kind: ClassVar[str] = "values"
    unit: str
    items: tuple[tuple[str, float], ...]

    @property
    def values(self) -> dict[str, float]:
        """The numbers by word."""
        return dict(self.items)

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """The words, under the name "values"."""
        return {"values": tuple(word for word, _ in self.items)}

    def content(self) -> dict[str, object]:
        """Give `unit` and `values`."""
        return {"unit": self.unit, "values": self.values}

    def _rows(self) -> list[dict[str, object]]:
        return [{"set": "values", "word": word, "value": value, "unit": self.unit} for word, value in self.items]


@dataclass(frozen=True, kw_only=True, repr=False)
class Translations(Lexicon):
    """Words of `language` and their forms in the language `to` (masculine before feminine where they differ)."""

    kind: ClassVar[str] = "translations"
    to: str
    entries: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """Words and forms, under the names of their languages."""
        forms = tuple(form for _, forms in self.entries for form in forms)
        return {self.language: tuple(word for word, _ in self.entries), self.to: forms}

    def content(self) -> dict[str, object]:
        """Give `to` and `entries`."""
        return {"to": self.to, "entries": [{"word": word, "forms": list(forms)} for word, forms in self.entries]}

    def _rows(self) -> list[dict[str, object]]:
        return [{"set": self.to, "word": form, "of": word} for word, forms in self.entries for form in forms]


@dataclass(frozen=True)
class StereotypeGroup:
    """One group: its protected words, each once, and the attributes that the stereotype gives it."""

    name: str
    protected: tuple[str, ...]
    attributes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Stereotypes(Lexicon):
    """Groups with protected words and attributes.

    A protected word with an attribute of its own group is *associated*, with one of another group *different*.
    `human` and `neutral` name the lexicons of control words. `defining_sets` has one word per group in each row, in
    the order of `group_order`; a word may stand in several rows. `eval_targets` are the words evaluated by MAC.
    """

    kind: ClassVar[str] = "stereotypes"
    groups: tuple[StereotypeGroup, ...]
    group_order: tuple[str, ...] = ()
    defining_sets: tuple[tuple[str, ...], ...] = ()
    eval_targets: tuple[str, ...] = ()
    human: str | None = None
    neutral: str | None = None

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """Words under "GROUP.protected" and "GROUP.attributes"."""
        kinds = ("protected", "attributes")
        return {f"{group.name}.{kind}": getattr(group, kind) for group in self.groups for kind in kinds}

    @property
    def slots(self) -> tuple[tuple[str, str], ...]:
        """(group, protected word) as often as the word stands in `defining_sets`, row by row.

        This is the repetition of the published race data: 18 slots for 10 words. Without defining sets every
        protected word has one slot.
        """
        if self.defining_sets:
            return tuple(slot for row in self.defining_sets for slot in zip(self.group_order, row, strict=True))
        return tuple((group.name, word) for group in self.groups for word in group.protected)

    def content(self) -> dict[str, object]:
        """Give `groups` and whatever else is stated."""
        content: dict[str, object] = {}
        if self.defining_sets:
            content["group_order"] = list(self.group_order)
            content["defining_sets"] = [list(row) for row in self.defining_sets]
        if self.eval_targets:
            content["eval_targets"] = list(self.eval_targets)
        if controls := {key: value for key in ("human", "neutral") if (value := getattr(self, key))}:
            content["controls"] = controls
        content["groups"] = {
            group.name: {"protected": list(group.protected), "attributes": list(group.attributes)}
            for group in self.groups
        }
        return content

    def _rows(self) -> list[dict[str, object]]:
        rows = []
        for row in super()._rows():
            group, _, kind = str(row["set"]).rpartition(".")
            rows.append({**row, "group": group, "part": kind})
        return rows
