"""`WordPolicy`: how the words of a query are looked up, decided once and passed as one object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, Self, get_args

from biasgauge.core.checks import check_choice, check_number
from biasgauge.core.json_types import JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:  # a command that explains itself loads no library of numbers
    from biasgauge.core.arrays import Flags, Places, Vectors

CaseRule = Literal["auto", "exact", "fallback"]
CounterpartRule = Literal["balance", "keep", "as-published"]


class FoundWords(Protocol):
    """Words that a model has: those found, their rows, and those that were not found with the reason."""

    @property
    def words(self) -> tuple[str, ...]:
        """Words that were found, as they were asked for."""

    @property
    def rows(self) -> Places:
        """Row of each of them."""

    @property
    def lost(self) -> Mapping[str, str]:
        """Words that were not found, with the reason."""

    @property
    def respelled(self) -> Mapping[str, str]:
        """Words found in another case, with the spelling of the vocabulary."""


class WordVectors(Protocol):
    """One model as `resolve` sees it; `biasgauge.Embedding` is one."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def vectors(self) -> Vectors:
        """One row for each word."""

    @property
    def lower_case(self) -> bool:
        """True where no word of the vocabulary has a capital letter."""

    def lookup(self, words: Iterable[str], *, case_fallback: bool = False) -> FoundWords:
        """Find the rows of words."""

    def directed(self, rows: Places | None = None) -> Flags:
        """Tell which rows are not zero vectors."""


@dataclass(frozen=True)
class WordPolicy:
    """Rules for looking words up, and the share that must be found.

    Attributes:
        min_coverage: share of each set that must be found; with fewer, the query is undefined.
        case: "exact": as written; "fallback": as written, else in lower case, else capitalized; "auto": fall back where
            no word of any model's vocabulary has a capital letter.
        counterparts: what goes with a word that is out of vocabulary. "balance": the other grammatical form of that
            word, where the lexicon lists them, so that masculine and feminine forms stay equally many; "keep": nothing;
            "as-published": the last words of the longer of X and Y, and of A and B (XWEAT's code).
    """

    min_coverage: float = 0.8
    case: CaseRule = "auto"
    counterparts: CounterpartRule = "balance"

    def __post_init__(self) -> None:
        check_number(0, 1, min_coverage=self.min_coverage)
        check_choice(get_args(CaseRule), case=self.case)
        check_choice(get_args(CounterpartRule), counterparts=self.counterparts)

    @classmethod
    def from_options(cls, min_coverage: float | None = None, case_fallback: bool | None = None) -> Self:  # noqa: FBT001 - as typed on the command line
        """Build the policy of a command's `--min-coverage` and `--case-fallback`; None leaves the default."""
        case: CaseRule = "auto" if case_fallback is None else ("fallback" if case_fallback else "exact")
        return cls(cls.min_coverage if min_coverage is None else min_coverage, case)

    def with_min_coverage(self, min_coverage: float | None) -> WordPolicy:
        """Return this policy with another share to be found; None changes nothing.

        Raises:
            ParameterError: the policy states another share than the default already.
        """
        if min_coverage is None:
            return self
        if self.min_coverage not in {WordPolicy.min_coverage, min_coverage}:
            raise ParameterError("Give the share of words to be found once: in 'policy' or as 'min_coverage'.")
        return replace(self, min_coverage=min_coverage)

    def uses_fallback(self, models: Sequence[WordVectors]) -> bool:
        """Return whether words are also looked up in lower case and capitalized in these models."""
        if self.case == "auto":
            return bool(models) and all(model.lower_case for model in models)
        return self.case == "fallback"

    def decided(self, models: Sequence[WordVectors]) -> WordPolicy:
        """Return this policy with the case rule that works out for these models."""
        return replace(self, case="fallback" if self.uses_fallback(models) else "exact")

    def settings(self, models: Sequence[WordVectors] = ()) -> JsonObject:
        """Return what results record of the policy, as it works out for these models."""
        return {"min_coverage": self.min_coverage, "case_fallback": self.uses_fallback(models)}


DEFAULT_POLICY = WordPolicy()
EXACT_POLICY, FALLBACK_POLICY = WordPolicy(case="exact"), WordPolicy(case="fallback")
"""Words as they are written; and, where that fails, in lower case or capitalized."""
