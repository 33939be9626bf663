"""A kind of analysis: what it is made of, which function does it, and which settings that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from biasgauge import registry
from biasgauge.core import JsonMapping, LexiconLike, PairsLike, Setting, WordsLike
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Words, lexicon, pairs_of, words_of
from biasgauge.study.parameters import parameters

Needs = Literal["scores", "model", "models", "groups", "change", "sources", "points", "table", "corpus", "planted"]
"""What one result is made of: a score tensor; one model (then gathered over replicates); replicates together; several
groups of replicates; a model before and after; several score tensors; vectors with their task; a table of points; a
corpus; a corpus that is planted and trained on in cells of its own."""

GIVEN: dict[str, int] = {
    **dict.fromkeys(("scores", "model", "models", "groups", "sources", "points", "table", "corpus", "planted"), 1),
    "change": 2,
}
"""How many of the function's first arguments the study hands over."""


@dataclass(frozen=True)
class Kind:
    """A kind of analysis.

    Attributes:
        name: as `kind = "…"` in a study.
        needs: what it is made of.
        functions: those whose parameters are its settings, or "room:name" of such a one of biasgauge; the first is
            called.
        checks: settings that name lexicons, each with a function that gives a checksum of what it names.
        fixed: settings that the kind itself decides.
        hidden: parameters of the functions that are no settings of a study.
        required: settings that must be given although the function has a default.
        trial: called with the settings as the function takes them; raises what is wrong with them together.
        paths: settings that name a file or folder.
        tables: further tables of the result: file name and method that makes the frame.
        extra: settings beside those of the functions.
        unasked: lexicons that the functions may read although no setting of `checks` names them.
        fewest: models that a group must have.
        about: what its numbers mean, for the page of a study.
        shown: lists of its result that are worth a table on that page; all that are short when empty.
        result: "room:name" of the class of its results, where that can be read back from JSON and so be shown on that
            page as it sums itself up.
        answers: whether its results answer the study's question, and so come first on that page.
        shows_text: its step also takes the corpus that models were trained on in the study, as the input "corpus".
    """

    name: str
    needs: Needs
    functions: tuple[str | Callable[..., Any], ...]
    checks: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    trial: Callable[[dict[str, Any]], object] | None = None
    paths: tuple[str, ...] = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[Setting, ...] = ()
    unasked: tuple[str, ...] = ()
    fewest: int = 1
    about: str = ""
    shown: tuple[str, ...] = ()
    result: str = ""
    answers: bool = False
    shows_text: bool = False

    @property
    def known(self) -> dict[str, Setting]:
        """Settings that a study may give."""
        settings = parameters(self.functions[0], GIVEN[self.needs])
        for function in self.functions[1:]:
            settings = {**parameters(function, 1), **settings}
        settings |= {setting.name: setting for setting in self.extra}
        return {name: setting for name, setting in settings.items() if name not in {*self.fixed, *self.hidden}}

    @property
    def unasked_checksum(self) -> dict[str, str]:
        """One checksum of what those lexicons hold, so that other word lists are other cells."""
        return unasked(self.unasked)


def unasked(names: Iterable[str]) -> dict[str, str]:
    """What cells are told of lexicons that are read although no setting names them: one checksum of all."""
    usable = registry.everything("lexicon")
    checksums = "".join(lexicon(name).checksum for name in names if name in usable)
    return {"unasked": sha256(checksums.encode()).hexdigest()} if checksums else {}


def a_lexicon(*kinds: str) -> Callable[[Any], str]:
    """Checksum of a lexicon by name or path, which must be of one of some kinds."""

    def check(value: LexiconLike) -> str:
        named = lexicon(value)
        if kinds and named.kind not in kinds:
            wanted = " or ".join(map(repr, kinds))
            raise ParameterError(f"the lexicon {named.name!r} is of kind {named.kind!r}; {wanted} is needed")
        return named.checksum

    return check


def some_lexicons(*kinds: str) -> Callable[[Any], str]:
    """Checksums of one lexicon or several."""
    check = a_lexicon(*kinds)
    return lambda value: ",".join(check(name) for name in (value if isinstance(value, list) else [value]))


def some_words(value: WordsLike) -> str:
    """Checksum of the words that a reference means."""
    named = words_of(value)
    return Words(name=named.name, listed=tuple(dict.fromkeys(named.words))).checksum


def lists_of_words(value: Any) -> str:  # noqa: ANN401 - as above
    """Checksums of one list of words or several: names, or a table of names and words."""
    several = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return ",".join(some_words(words) for words in several)


def some_pairs(value: PairsLike) -> str:
    """Checksum of base pairs."""
    return pairs_of(value).checksum


SETS = ("x", "y", "a", "b")
"""Settings that are the word sets of an association test."""
TEST_OR_SETS: Mapping[str, Callable[[Any], str]] = {"test": a_lexicon("test"), **dict.fromkeys(SETS, some_words)}
"""Checks of a test by its lexicon, or by its sets."""


def check_sets(settings: JsonMapping, sets: Iterable[str] = SETS) -> None:
    """Refuse settings that name neither a test nor all of its sets.

    Raises:
        ParameterError: a set is missing.
    """
    missing = [role for role in sets if role not in settings]
    if "test" not in settings and missing:
        raise ParameterError(f"a lexicon is needed ('test'), or the sets {', '.join(missing)}")
