"""Quality of the word lists: do the sets that are compared stand apart in these vectors?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.audits.part import NotMeasured, Part, section
from biasgauge.results import Result, Summary

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

NO_SETS = "no lexicon sets two sets of words against each other"
ABOUT = (
    "Every pair of word sets that a test or a list of pairs sets against each other, and pairings of the seed bank "
    "(after Antoniak & Mimno 2021 and its reproduction of 2022). Coherence is the distance of the two sets' mean ranks "
    "when the whole vocabulary is ranked along their subspace, as a share of the vocabulary; held out, each word is "
    "ranked along the subspace of the others, so that 0 means that the sets are not told apart."
)


def measure(context: AuditContext) -> Result:
    """Coherence and overlap of every two sets that a lexicon compares."""
    from biasgauge.analyses.seeds import seed_cards

    language = context.language if context.whole_battery else None
    cards = seed_cards(
        list(context.subjects[0].models),
        list(context.lexicons),
        language=language,
        policy=context.policy,
        random_state=context.random_state,
    )
    return NotMeasured(NO_SETS, ("pairs",)) if cards is None else cards


def summarize(result: Result) -> Summary | None:
    """The cards of the word lists; nothing where no sets are compared."""
    if isinstance(result, NotMeasured) or not result.to_dict().get("pairs"):
        return None
    return section(result.summary(), PART.name, PART.title, ABOUT)


PART = Part("seeds", "Quality of the word lists", measure, summarize, order=70, stage="word lists")
