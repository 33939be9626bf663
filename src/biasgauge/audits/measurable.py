"""Whether a lexicon can be measured with a model at all: are enough of its words there?"""

from __future__ import annotations

from biasgauge.audits.result import LexiconCoverage, LexiconVerdict, Measurable
from biasgauge.core import WordPolicy
from biasgauge.lexicons import TOGETHER, Lexicon
from biasgauge.vectors import Embedding


def judge(model: Embedding, lexicon: Lexicon, policy: WordPolicy) -> LexiconVerdict:
    """Judge one lexicon: measurable, partly (some sets have enough words, each stands on its own), or undefined."""
    fallback, min_coverage = policy.uses_fallback([model]), policy.min_coverage
    coverage = model.coverage(lexicon.sets, case_fallback=fallback)
    short = coverage.short_of(min_coverage)
    verdict: Measurable = "measurable"
    reason = ""
    if short and (len(short) == len(coverage.sets) or lexicon.kind in TOGETHER):
        verdict, reason = "undefined", coverage.shortfall(min_coverage)
    elif short:
        verdict, reason = "partly", f"{len(short)} of {len(coverage.sets)} sets lost too many words"
    case_to_blame = False
    if short and not fallback:
        rescued = model.coverage({name: lexicon.sets[name] for name in short}, case_fallback=True)
        case_to_blame = len(rescued.short_of(min_coverage)) < len(short)
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
