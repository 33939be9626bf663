"""Coverage: which lexicons can be measured with which model, and which words are not in the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.core import ENOUGH, JsonObject, Record, WordPolicy
from biasgauge.lexicons import TOGETHER, Lexicon
from biasgauge.results import Column, RecordTable, Shown, Summary, Tone, counted, share_text
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult

Measurable = Literal["measurable", "partly", "undefined"]
MEASURABLE: tuple[Measurable, ...] = get_args(Measurable)
TONES: dict[str, Tone] = {"measurable": "good", "partly": "caution", "undefined": "bad"}


@dataclass(frozen=True)
class LexiconCoverage(Record):
    """Words of a lexicon that a model has.

    Attributes:
        asked, found: how many words, summed over the sets.
        lost: words that were not found, by set.
        reasons: why, where it is not that they are not in the vocabulary.
        respelled: words found only under another case, with the spelling that was found.
    """

    asked: int
    found: int
    lost: Mapping[str, tuple[str, ...]]
    reasons: Mapping[str, str] | None = None
    respelled: Mapping[str, str] | None = None

    @property
    def share(self) -> float:
        """Share of the words asked for that were found; 1.0 when none were asked for."""
        return self.found / self.asked if self.asked else 1.0

    def to_dict(self) -> JsonObject:
        """The shape that every `--json` uses: reasons and spellings only where there are any."""
        return {name: value for name, value in super().to_dict().items() if value is not None}


@dataclass(frozen=True)
class LexiconVerdict(Record):
    """Verdict on whether one lexicon can be measured with one model.

    Attributes:
        verdict: "measurable": every set has enough words; "partly": some sets have, each stands on its own;
            "undefined": too few words were found to measure anything.
        reason: why not measurable, in a sentence; empty when it is.
        short: the sets that lost too many words.
        case_to_blame: fewer sets would be short if words were also looked up in another case.
    """

    model: str
    lexicon: str
    kind: str
    title: str
    verdict: Measurable
    reason: str
    coverage: LexiconCoverage
    short: tuple[str, ...]
    case_to_blame: bool
    checksum: str


@dataclass(frozen=True, eq=False, repr=False)
class LexiconVerdicts(PartRows):
    """Verdicts on all lexicons of an audit."""

    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "rows",
            "Which lexicons can be measured, and which words are lost",
            (
                Column("lexicon", source=lambda row: Shown(row.lexicon, row.lexicon, row.title)),
                "kind",
                "model",
                Column("found", "count", source="coverage.found"),
                Column("of", "count", source="coverage.asked"),
                Column("share", "share", source="coverage.share"),
                Column("verdict", "mark", tones=TONES),
                "reason",
                Column("not in the vocabulary (OOV)", "words", source="coverage.lost"),
            ),
            drop_constant=("model",),
            name="lexicons",
        ),
    )

    def _headline(self) -> str:
        counts = [count_lexicons(self.rows, verdict) for verdict in MEASURABLE]
        parts = f", {counts[1]} in part" if counts[1] else ""
        missing = f"; {counts[2]} cannot" if counts[2] else ""
        return f"{counts[0]} of {counted(sum(counts), 'lexicon')} can be measured{parts}{missing}."

    def _sentences(self) -> Sequence[str]:
        rescued = len({row.lexicon for row in self.rows if row.case_to_blame})
        cause = "lack words only because of upper and lower case"
        return [f"{rescued} {cause}: try again with case fallback (--case-fallback yes)."] if rescued else []


def measure(context: AuditContext) -> LexiconVerdicts:
    """Judge every lexicon on the first model of each subject."""
    models = [subject.models[0] for subject in context.subjects]
    return LexiconVerdicts(
        tuple(judge_lexicon(model, lexicon, context.policy) for lexicon in context.lexicons for model in models)
    )


def judge_lexicon(model: Embedding, lexicon: Lexicon, policy: WordPolicy) -> LexiconVerdict:
    """Judge one lexicon: measurable, partly (some sets have enough words, each stands on its own), or undefined."""
    fallback, min_coverage = policy.uses_fallback([model]), policy.min_coverage
    coverage = model.coverage(lexicon.sets, case_fallback=fallback)
    enough = ENOUGH if lexicon.battery else inf
    short = coverage.short_of(min_coverage, enough)
    verdict: Measurable = "measurable"
    reason = ""
    if short and (len(short) == len(coverage.sets) or lexicon.kind in TOGETHER):
        verdict, reason = "undefined", coverage.shortfall(min_coverage, enough)
    elif short:
        verdict, reason = "partly", f"{len(short)} of {len(coverage.sets)} sets lost too many words"
    case_to_blame = False
    if short and not fallback:
        rescued = model.coverage({name: lexicon.sets[name] for name in short}, case_fallback=True)
        case_to_blame = len(rescued.short_of(min_coverage, enough)) < len(short)
    if case_to_blame:
        reason += "; upper and lower case is to blame: try again with case fallback"
    return LexiconVerdict(
        model=model.name,
        lexicon=lexicon.name,
        kind=lexicon.kind,
        title=lexicon.title or lexicon.name,
        verdict=verdict,
        reason=reason,
        coverage=LexiconCoverage.from_dict(coverage.to_dict()),
        short=short,
        case_to_blame=case_to_blame,
        checksum=lexicon.checksum,
    )


def count_lexicons(rows: Sequence[LexiconVerdict], verdict: Measurable) -> int:
    """Number of lexicons with this verdict; one that differs between models counts under the worst it has."""
    worst: dict[str, int] = {}
    for row in rows:
        worst[row.lexicon] = max(worst.get(row.lexicon, 0), MEASURABLE.index(row.verdict))
    return sum(rank == MEASURABLE.index(verdict) for rank in worst.values())


def summarize(result: LexiconVerdicts, audit: AuditResult) -> Summary:
    """Every lexicon with its lost words."""
    case = " (another case counts)" if audit.settings["case_fallback"] else ""
    share = share_text(audit.settings["min_coverage"])
    about = (
        f"A lexicon can be measured when at least {share} of each of its sets is in the vocabulary{case}. Scores of "
        f"fewer words would not be comparable. Lists of the battery are samples: {ENOUGH} words of each are enough."
    )
    return replace(result.summary(), about=about)


PART = ShippedPart(
    "lexicons", "Coverage of the word lists", measure, summarize, order=130, stage="coverage",
    read=LexiconVerdicts.reader(LexiconVerdict.from_dict),
)  # fmt: skip
