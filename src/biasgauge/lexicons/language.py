"""Lists that a language has for each need of an analysis: a file of its own, found by the language's code.

A lexicon states its language; the record of that language says which lists are its base pairs, its control words and so
on, how its nouns show their gender, and sentences to read words in. Code asks for a need and never for a language.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from biasgauge import registry
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons.model import Lexicon

TEMPLATE = Path(__file__).with_name("language_template.toml")
"""What a language of one's own is copied from."""
ROLES: Mapping[str, str] = {
    "base_pairs": "base pairs to score words along",
    "other_pairs": "base pairs to put in each other's place",
    "scored_words": "word lists whose scores are judged for reliability",
    "queries": "sets of words whose internal consistency is judged",
    "occupations": "occupations, to see which scores survive other choices",
    "concepts": "sets of words whose lean is tried under other choices",
    "truths": "words whose direction is known",
    "gendered": "words that name a gender, which neutral neighbors must not be",
    "human": "control words about people",
    "neutral": "control words about nothing in particular",
    "frequent": "frequent words, among which random lists are drawn",
    "seed_bank": "a bank of seed sets",
    "forms": "other forms of words, as pairs of word and form",
}
"""What an analysis may need, and what each need is called in a sentence."""

SUFFIX = ".toml"


@dataclass(frozen=True)
class GenderRules:
    """Rules by which nouns and adjectives of a language show their grammatical gender, and exceptions.

    Attributes:
        endings: endings by gender, as in ("feminine", ("a", "ción")); the longest that fits decides.
        words: exceptions by gender, as in ("masculine", ("día", "poeta")); they win over endings.
        counterparts: (masculine ending, feminine ending) of words that have both forms, as in ("or", "ora").
        nouns_have_capitals: only words with a capital have a gender, as in German.
    """

    endings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    words: tuple[tuple[str, tuple[str, ...]], ...] = ()
    counterparts: tuple[tuple[str, str], ...] = ()
    nouns_have_capitals: bool = False

    def __bool__(self) -> bool:
        return bool(self.endings or self.words or self.counterparts)

    def content(self) -> dict[str, object]:
        """Give what is stated, under the keys of the file."""
        stated: dict[str, object] = {"nouns_have_capitals": True} if self.nouns_have_capitals else {}
        if self.counterparts:
            stated["counterparts"] = [list(pair) for pair in self.counterparts]
        for key, rules in (("endings", self.endings), ("words", self.words)):
            if rules:
                stated[key] = {gender: list(words) for gender, words in rules}
        return stated

    def gender_of(self, word: str) -> str | None:
        """The gender that the rules give a word; None where they give none."""
        folded = word.casefold()
        for gender, words in self.words:
            if folded in {listed.casefold() for listed in words}:
                return gender
        if self.nouns_have_capitals and not word[:1].isupper():
            return None
        fitting = [
            (len(ending), gender)
            for gender, endings in self.endings
            for ending in endings
            if folded.endswith(ending) and len(folded) > len(ending)
        ]
        return max(fitting, key=lambda fit: fit[0])[1] if fitting else None

    def other_forms(self, word: str) -> Iterator[str]:
        """Spellings of the form of the other gender, if there is one: "médica" for "médico"; and back."""
        for masculine, feminine in self.counterparts:
            for ending, counterpart in ((masculine, feminine), (feminine, masculine)):
                if word.endswith(ending) and len(word) > len(ending):
                    yield word.removesuffix(ending) + counterpart


@dataclass(frozen=True, kw_only=True, repr=False)
class Language(Lexicon):
    """Lists of a language by need. It has no words of its own; `name` is its code, as lists state it.

    Attributes:
        roles: names of lists by role, in the order of `ROLES`; a role that is missing has no list.
        templates: sentences in this language with a gap for a word, for transformers.
        spelled_forms: forms that biasgauge can spell by itself in this language ("plural" of English nouns).
        gender: how nouns and adjectives show their grammatical gender.
    """

    kind: ClassVar[str] = "language"
    roles: tuple[tuple[str, tuple[str, ...]], ...] = ()
    templates: tuple[str, ...] = ()
    spelled_forms: tuple[str, ...] = ()
    gender: GenderRules = field(default_factory=GenderRules)

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """None: the words are in the lists that it names."""
        return {}

    def content(self) -> dict[str, object]:
        """Give what is stated, under the keys of the file."""
        stated: dict[str, object] = {"roles": {role: list(names) for role, names in self.roles}} if self.roles else {}
        stated |= {key: list(value) for key in ("templates", "spelled_forms") if (value := getattr(self, key))}
        return stated | ({"gender": self.gender.content()} if self.gender else {})

    def named(self, role: str) -> tuple[str, ...]:
        """Names of the lists of a role, as any function takes them; those beside this file by their paths."""
        if role not in ROLES:
            raise ParameterError(f"A role of a language must be one of {', '.join(ROLES)}. Got {role!r}.")
        return tuple(self._reference(name) for name in dict(self.roles).get(role, ()))

    def lacks(self, *roles: str) -> str:
        """Reason why an analysis that needs these roles is impossible, and a remedy; empty where it is possible."""
        missing = [ROLES[role] for role in roles if not self.named(role)]
        if not missing:
            return ""
        return (
            f"the language {self.name!r} has no {' and no '.join(missing)}; name some in a file {self.name}{SUFFIX} "
            f"(`biasgauge lexicons check {self.name}` says where its template is)"
        )

    def own_pairs(self) -> str:
        """Names of its base pairs: the default of whatever scores words along pairs.

        Raises:
            ParameterError: it has none; says what to do about it.
        """
        if reason := self.lacks("base_pairs"):
            raise ParameterError(f"The 'pairs' must be named: {reason}.")
        return self.named("base_pairs")[0]

    def _reference(self, name: str) -> str:
        """A registered list by its name, else a file beside this one."""
        source, _, set_name = name.partition(":")
        if source in registry.names("lexicon") or self.path is None or self.shipped:
            return name
        neighbor = Path(self.path).parent / f"{source}{SUFFIX}"
        return f"{neighbor}:{set_name}" if set_name else str(neighbor)


def language_of(language: str | os.PathLike[str] | Language) -> Language:
    """The record of a language: by its code, or from a file of one's own; one without lists where there is none.

    Raises:
        LexiconError: the file is not what it should be, or it is no record of a language.
    """
    from biasgauge.lexicons.by_name import lexicon, looks_like_path

    if isinstance(language, Language):
        return language
    code = os.fspath(language)
    if looks_like_path(code) or code in registry.names("lexicon"):
        record = lexicon(code)
        if isinstance(record, Language):
            return record
        raise LexiconError(f"{code!r} holds {record.kind}, but a language is wanted here")
    return Language(name=code, language=code)


def languages() -> tuple[Language, ...]:
    """Records of all languages that are registered."""
    return tuple(record for record in registry.everything("lexicon").values() if isinstance(record, Language))


def lexicons_in_language(language: Language) -> list[Lexicon]:
    """Every registered list of words in a language, and those beside its file; translations and records left out."""
    lexicons = dict(registry.everything("lexicon"))
    if language.path is not None and not language.shipped:
        from biasgauge.lexicons.by_name import lexicons_in

        lexicons |= {
            name: load() for name, load in lexicons_in(Path(language.path).parent).items() if name not in lexicons
        }
    return [
        listed
        for listed in lexicons.values()
        if listed.language == language.name and listed.kind not in ("translations", "language")
    ]
