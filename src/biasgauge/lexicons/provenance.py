"""Record of how a list of words was made: the `[made]` table of its file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from biasgauge.lexicons.table import TomlTable, describe, shown

if TYPE_CHECKING:
    from biasgauge.lexicons.recipe_record import RecipeRecord

MakingMethod = Literal["by hand", "published", "neighbors", "counts", "recipe"]


@dataclass(frozen=True)
class Provenance:
    """One step in which words of a list were chosen: the `[made]` table of its file.

    Attributes:
        method: "by hand"; "published": as a paper printed it; "neighbors": near words in vectors; "counts": from
            co-occurrences in a text; "recipe": by a program from other sources.
        vectors: name of the vectors that the words were chosen in; empty where none were looked at.
        checksum: SHA-256 of these vectors, as `Embedding.checksum`.
        text: checksum or name of the text that the words, or those vectors, come from; empty where it is not known.
        seed_words: words that the others were found with, as those vectors spell them.
        cosines: in those vectors, of some pairs of seed words: (word, word, cosine). They tell the vectors again in
            another file, in part, scaled or turned, and whatever is done to the list.
        when: day on which it was made, as 2026-11-19.
        recipe: the recipe that `lexicons build` followed.
    """

    method: MakingMethod
    vectors: str = ""
    checksum: str = ""
    text: str = ""
    seed_words: tuple[str, ...] = ()
    cosines: tuple[tuple[str, str, float], ...] = ()
    when: str = ""
    recipe: RecipeRecord | None = None

    @property
    def traceable(self) -> bool:
        """True where vectors or a text had a part in it, so that a list can be circular."""
        return bool(self.method == "neighbors" or self.vectors or self.checksum or self.cosines or self.text)

    @property
    def sentence(self) -> str:
        """The step in words."""
        seeds = f"of {len(self.seed_words)} seed words" if self.seed_words else ""
        source = f"in {self.vectors}" if self.vectors else ""
        name = self.recipe.name if self.recipe else ""
        start = " ".join(filter(None, [self.method, name, seeds, source]))
        return ", ".join(filter(None, [start, self.text and f"text {self.text}", self.when]))

    def to_dict(self) -> dict[str, object]:
        """Give what is stated under the keys of the `[made]` table."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {"seed_words": list(self.seed_words), "cosines": [list(cosine) for cosine in self.cosines]}
        values["recipe"] = self.recipe.to_dict() if self.recipe else None
        return {name: value for name, value in values.items() if value}

    @classmethod
    def from_table(cls, table: TomlTable) -> Self:
        """Read a `[made]` table. Raises LexiconError if something in it is wrong."""
        method = table.text("method")
        if method not in get_args(MakingMethod):
            table.fail(
                f"'{table.key('method')}' must be one of {', '.join(get_args(MakingMethod))}, found {shown(method)}"
            )
        texts = {key: table.text(key, default="") for key in ("vectors", "checksum", "text")}
        seeds = table.words("seed_words", optional=True)
        cosines = _cosines(table)
        day: Any = table.take("when", "a day, as 2026-11-19", (str, date), "")
        recipe = None
        if "recipe" in table:
            from biasgauge.lexicons.recipe_record import RecipeRecord

            recipe = RecipeRecord.from_table(table.table("recipe", "the recipe"))
        return cls(method, **texts, seed_words=seeds, cosines=cosines, when=str(day), recipe=recipe)  # type: ignore[arg-type]


def made_from_table(table: TomlTable) -> tuple[Provenance, ...]:
    """Read the `[made]` table of a lexicon, or each of its `[[made]]` tables; none where there is none."""
    return tuple(map(Provenance.from_table, table.table_or_tables("made", "how the list was made")))


def _cosines(table: TomlTable) -> tuple[tuple[str, str, float], ...]:
    cosines = []
    for number, value in enumerate(table.array("cosines", "cosines", "cosine", optional=True), 1):
        match value:
            case [str(first), str(second), int() | float() as cosine] if -1 <= cosine <= 1:
                cosines.append((first, second, float(cosine)))
            case _:
                form = 'two words and their cosine, as in ["he", "she", 0.61]'
                table.fail(f"'{table.key('cosines')}, item {number}' must be {form}, found {describe(value)}")
    return tuple(cosines)
