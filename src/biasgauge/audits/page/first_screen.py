"""The first screen of an audit: one sentence, the counts, and one forest plot of every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from biasgauge.audits.measurement import SANITY
from biasgauge.audits.page.did_it_work import headline_of_change
from biasgauge.audits.parts.breakdowns import Breakdown, listed
from biasgauge.audits.tracking_verdict import TEST as TRACKING
from biasgauge.audits.verdicts import REPORTED, SHAPES, TONES, Verdict
from biasgauge.core import NO_FAMILY, Estimate
from biasgauge.results import (
    Forest,
    ForestRow,
    Tile,
    count_of,
    counted,
    level_text,
    name_and_about,
    number_text,
    p_phrase,
)

if TYPE_CHECKING:
    from biasgauge.audits.result import AuditResult

CHANGE = "change"
GROUPS = {
    CHANGE: "What the change did",
    "gender": "Gender",
    "race": "Race",
    "origin": "Origin",
    "religion": "Religion",
    "age": "Age",
    "health": "Health",
    NO_FAMILY: "Your own lists",
    TRACKING: "In applications",
    SANITY: "Checks that the method works",
}
"""Titles of the families of questions, in the order in which they are shown; others come before one's own."""
LABELS = {
    "report": "may be reported",
    "report-with-care": "with care",
    "do-not-report": "should not be reported",
    "no-association-shown": "no association shown",
    "inconclusive": "inconclusive",
    "not-measurable": "not measurable",
}
CAVEAT = (
    "No verdict shows a system to be fair, or unfair: these are numbers about vectors and word lists, not about "
    "people, nor about an application that uses the vectors. “Inconclusive” does not mean that there is no bias."
)
MOST_CLAIMS = 3
"""Claims that a headline repeats."""


def headline(result: AuditResult) -> str:
    """State what may be reported, in one or two sentences; where vectors were changed, what the change did."""
    changes = [verdict for verdict in result.verdicts if verdict.test == CHANGE]
    if changes:
        return headline_of_change(changes[0])
    verdicts = [
        verdict for verdict in result.verdicts if verdict.family != SANITY and verdict.test not in (CHANGE, TRACKING)
    ]
    if not verdicts:
        count = len(result.verdicts)
        return f"{count} questions were asked." if count > 1 else f"{'One' if count else 'No'} question was asked."
    families = dict.fromkeys(verdict.family for verdict in verdicts)
    scope = "" if NO_FAMILY in families or "" in families else " about people"
    sure, careful = ([verdict for verdict in verdicts if verdict.decision == decision] for decision in REPORTED)
    if not sure and not careful:
        counts = [
            f"{sum(verdict.decision == decision for verdict in verdicts)} {label}"
            for decision, label in LABELS.items()
            if any(verdict.decision == decision for verdict in verdicts)
        ]
        number = counted(verdicts, "question")
        return f"Nothing{scope} may be reported from these vectors: of {number}, {listed(counts)}."
    if len({verdict.model for verdict in verdicts}) > 1 or len(sure or careful) > MOST_CLAIMS:
        share = count_of(len(sure) + len(careful), len(verdicts))
        return f"{share[:1].upper()}{share[1:]} answers{scope} may be reported, {len(careful)} of them with care."
    claims = [_statement(result, verdict) for verdict in sure or careful]
    if sure:
        remainder = "Nothing else{} may be reported{}.".format(scope, " without care" if careful else "")
        return f"In these vectors, {listed(claims)}. {remainder}" if len(verdicts) > len(sure) else f"{listed(claims)}."
    reported_families = {verdict.family for verdict in careful}
    silent = [_group(family).lower() for family in families if family and family not in reported_families]
    remainder = (
        f" Nothing can be said either way about {listed(silent, 'or')}." if silent and NO_FAMILY not in families else ""
    )
    return f"With care, it may be reported that {', and that '.join(claims)}.{remainder}"


def tiles(result: AuditResult) -> tuple[Tile, ...]:
    """Counts of questions by decision, without checks of the method, and the rate of false alarms."""
    verdicts = [verdict for verdict in result.verdicts if verdict.family != SANITY] or result.verdicts
    decisions = [verdict.decision for verdict in verdicts]
    tile_list = [
        Tile(str(decisions.count(decision)), label, TONES[decision], SHAPES[decision])
        for decision, label in LABELS.items()
        if decision in decisions or decision in REPORTED
    ]
    rates = [rate for rate in result.error_rates if rate.null == "relabeled"]
    if rates:
        worst = max(rates, key=lambda rate: rate.rate)
        share = number_text(100 * worst.rate, 1).removesuffix(".0")
        caption = (
            f"false alarms: of {worst.audits} audits of meaningless lists in these vectors, so many find something"
        )
        tile_list.append(Tile(f"≤\u00a0{share}\u00a0%", caption))
    return tuple(tile_list) if decisions else ()


def forest(result: AuditResult, names: Mapping[str, str]) -> Forest | None:
    """Every question on one axis, by family; `names` are those of the parts that open under the rows."""
    if not result.verdicts:
        return None
    many_models = len({verdict.model for verdict in result.verdicts if verdict.test not in (CHANGE, TRACKING)}) > 1
    broken = breakdowns(result)
    rows = [_row(verdict, broken.get(_key(verdict)), names[verdict.id], many_models) for verdict in in_order(result)]
    smallest = {verdict.observed("association").get("smallest") for verdict in result.verdicts} - {None}
    band = max((size for size in smallest if size is not None), default=None)
    alpha = result.settings["rules"]["alpha"]
    remark = f"Contrast in cosine units; intervals that hold together for all questions at {level_text(1 - alpha)}."
    if band is not None:
        chosen = (
            "what you called" if result.settings["rules"]["smallest"] is not None else "by the measure of these vectors"
        )
        remark += f" Gray: too small to matter, {chosen} (±{number_text(band, 3)})."
    title = f"{counted(rows, 'question')} and what may be said about {'it' if len(rows) == 1 else 'them'}"
    return Forest("verdicts", title, remark, "contrast, in cosine units", tuple(rows), band)


def breakdowns(result: AuditResult) -> dict[tuple[str, str], Breakdown]:
    """Breakdown of each contrast, by question and model."""
    return {(broken.question, broken.model): broken for broken in result.breakdowns}


def in_order(result: AuditResult) -> list[Verdict]:
    """Verdicts by family, in the order in which families are shown."""
    order = list(GROUPS)
    own_lists_rank = order.index(NO_FAMILY)
    ranks = {name: (number, "") for number, name in enumerate(order)}
    return sorted(
        result.verdicts, key=lambda verdict: ranks.get(_family(verdict), (own_lists_rank - 0.5, _family(verdict)))
    )


def plain_claim(verdict: Verdict, broken: Breakdown | None) -> str:
    """Statement that may be reported; where none may, the question."""
    if broken is None:
        return _capital(verdict.title or verdict.question)
    return _capital(broken.statement if verdict.decision in REPORTED and broken.statement else broken.asked)


def short_title(verdict: Verdict) -> str:
    """Short name of a test: "WEAT 7" of "WEAT 7: math and arts, …"."""
    return name_and_about(verdict.title)[0] or verdict.question


def _statement(result: AuditResult, verdict: Verdict) -> str:
    broken = breakdowns(result).get(_key(verdict))
    return broken.statement if broken is not None and broken.statement else verdict.claim


def _row(verdict: Verdict, broken: Breakdown | None, part_name: str, many_models: bool) -> ForestRow:  # noqa: FBT001 - private
    numbers = verdict.observed("association")
    estimate = None
    if numbers.get("contrast") is not None:
        estimate = Estimate(value=numbers["contrast"], low=numbers.get("low"), high=numbers.get("high"))
    details = [short_title(verdict)]
    details += [verdict.model] if many_models else []
    details += [_sizes(broken)] if broken is not None and broken.sizes[0] else []
    details += [p_phrase(numbers["p_adjusted"]).replace(" ", "\u00a0")] if numbers.get("p_adjusted") is not None else []
    details += filter(None, [reason_in_brief(verdict)])
    return ForestRow(
        claim=plain_claim(verdict, broken),
        detail=" · ".join(details),
        mark=verdict.decision,
        tone=TONES[verdict.decision],
        shape=SHAPES[verdict.decision],
        group=_group(_family(verdict)),
        estimate=estimate,
        part=part_name,
    )


def _sizes(broken: Breakdown) -> str:
    """Numbers of words found: "8 + 8 words, 8 + 8 attributes"."""
    targets, attributes = (" + ".join(map(str, sizes)) for sizes in broken.sizes)
    return f"{targets} words, {attributes} {'pairs' if len(broken.sizes[1]) == 1 else 'attributes'}"


def reason_in_brief(verdict: Verdict) -> str:
    """Reason of the decision in a few words: the rule that fails, else what is unknown."""
    if verdict.decision == "not-measurable":
        return verdict.why
    if verdict.test in (CHANGE, TRACKING) and not verdict.evidence:
        return verdict.why
    failed = [piece for piece in verdict.evidence if piece.passes is False]
    unknown = [piece for piece in verdict.evidence if piece.passes is None]
    if verdict.decision == "inconclusive" and verdict.plan is not None:
        words = verdict.plan.get("both")
        more = f"; lists of about {words:,} words would tell" if words is not None else ""
        return f"neither shown nor ruled out{more}"
    if verdict.decision == "no-association-shown":
        return "whatever there is, is too small to matter"
    brief = {"other words": "no second list of these attributes to check it with", "replicates": "no replicates"}
    reasons = [piece.reason for piece in failed] or [brief.get(piece.rule, piece.reason) for piece in unknown]
    return "; ".join(reasons)


def _family(verdict: Verdict) -> str:
    return verdict.test if verdict.test in (CHANGE, TRACKING) else verdict.family or NO_FAMILY


def _group(family: str) -> str:
    return GROUPS.get(family) or _capital(family)


def _key(verdict: Verdict) -> tuple[str, str]:
    return verdict.question, verdict.model


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def slugs(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Names for the parts of a page, by the id of each verdict: letters, digits and hyphens, each once."""
    names: dict[str, str] = {}
    for verdict in verdicts:
        start = "".join(letter if letter.isalnum() else "-" for letter in verdict.question.lower()).strip("-") or "own"
        same = sum(slug == start or slug.startswith(f"{start}-no-") for slug in names.values())
        names[verdict.id] = f"{start}-no-{same + 1}" if same else start
    return names
