"""One question, one panel: what may be written, what the contrast is made of, what fails, what would settle it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from biasgauge.audits.certainty import UNRATED, domain_of
from biasgauge.audits.explanations import SECTION
from biasgauge.audits.page.first_screen import breakdown_of, capitalized, plain_claim
from biasgauge.audits.page.reporting_sentences import quote
from biasgauge.audits.parts.breakdowns import Breakdown, PartValue
from biasgauge.audits.verdicts import Evidence, Verdict
from biasgauge.results import (
    Bar,
    Bars,
    Column,
    Dot,
    Drawing,
    Histogram,
    Shown,
    Strip,
    Summary,
    Table,
    interval_text,
    measure_name,
    name_and_about,
    number_text,
    p_phrase,
    share_text,
    signed_text,
)
from biasgauge.stats import remark_on_effective_words

if TYPE_CHECKING:
    from biasgauge.audits.parts.null_lists import ChanceBand
    from biasgauge.audits.parts.published import PublishedTest
    from biasgauge.audits.result import AuditResult

AXIS = "contrast, in cosine units"
SEEN_IN = {"base pairs": "pairs", "measures": "pairs", "replicates": "replicates", "views": "replicates"}
"""Drawings of a panel in which a piece of evidence can be seen."""
ON_THE_AXIS = ("association", "equivalence")
"""Evidence that the line of the forest plot shows."""


def panels(result: AuditResult, names: Mapping[str, str], page: str) -> Iterator[Summary]:
    """A panel for each verdict; `names` are those of the parts, `page` that of the section they stand in."""
    bands = {(band.question, band.model): band for band in result.chance}
    many_models = len({verdict.model for verdict in result.verdicts}) > 1
    for verdict in result.verdicts:
        broken, name = breakdown_of(result, verdict), names[verdict.id]
        drawings = tuple(_drawings(verdict, broken, bands.get((verdict.question, verdict.model))))
        yield Summary(
            title=plain_claim(verdict, broken),
            headline=f"{capitalized(verdict.why)}.",
            name=name,
            about=f"{verdict.question}, {verdict.model}" if many_models else verdict.question,
            sentences=(*_sentences(verdict), *_published_sentences(verdict, result.published or ())),
            tables=tuple(_evidence(verdict, f"{page}-{name}", {drawing.name for drawing in drawings})),
            drawings=drawings,
            quotes=(quote(verdict, broken),),
            mark=verdict.decision,
            tone=verdict.style.tone,
        )


def _evidence(verdict: Verdict, anchor: str, drawn: set[str]) -> Iterator[Table]:
    if not verdict.evidence:
        return
    holds = Column("passes", "mark", tones={"yes": "good", "no": "bad", "unknown": "caution"})
    columns = ["rule", "observed", Column("threshold", "number"), holds, "concerns"]
    states = {True: "yes", False: "no", None: "unknown"}
    rows = [
        (Shown(piece.rule, piece.rule, link=_link_to_evidence(piece, anchor, drawn)), piece.reason, piece.threshold,
         states[piece.passes], _concern(verdict, piece))
        for piece in verdict.evidence
    ]  # fmt: skip
    passed = sum(piece.passes is True for piece in verdict.evidence)
    title = f"{passed} of {len(rows)} {'rule is' if len(rows) == 1 else 'rules are'} met"
    yield Table.of(f"evidence-{verdict.id}", title, columns, rows)


def _concern(verdict: Verdict, piece: Evidence) -> str:
    """Domain of the certainty that a rule belongs to; empty where no certainty is rated."""
    return "" if verdict.certainty is None or piece.rule in UNRATED else domain_of(piece.rule)


def _link_to_evidence(piece: Evidence, anchor: str, drawn: set[str]) -> str:
    """Anchor on the page where a piece of evidence is shown; where none is, that of what the rule means."""
    if piece.rule in ON_THE_AXIS:
        return anchor
    drawing = SEEN_IN.get(piece.rule)
    if drawing is not None:
        return f"{anchor}-{drawing}" if drawing in drawn else SECTION
    return piece.link if piece.link not in {"", "bias"} else SECTION


def _sentences(verdict: Verdict) -> Iterator[str]:
    """Yield sentences on what would decide it, on the lists, and on what other models give."""
    if verdict.plan is not None and verdict.decision == "inconclusive":
        yield _words_needed_sentence(verdict.plan, enough=verdict.has_enough_words)
        if verdict.plan_command:
            yield f"Words to drop and to add: {verdict.plan_command}"
    if verdict.audit_command:
        yield f"The same in other words, which these vectors have: {verdict.audit_command}"
    if verdict.beware:
        yield f"Limitations of these lists: {' '.join(verdict.beware)}"
    for opinion in verdict.opinions:
        start = f"The same question in {opinion.model}, which is not counted as evidence"
        if opinion.contrast is None:
            yield f"{start}: {opinion.reason}."
        else:
            ends = interval_text(opinion.low, opinion.high, 3, signed=True)
            direction = {True: ", the same direction", False: ", the opposite direction", None: ""}[opinion.same]
            yield f"{start}: {signed_text(opinion.contrast)} {ends}{direction}."


def _published_sentences(verdict: Verdict, published: Sequence[PublishedTest]) -> Iterator[str]:
    """Yield a sentence on each published test of the question, which is not judged."""
    for test in published:
        if (test.question, test.model) != (verdict.question, verdict.model):
            continue
        name, contrast = name_and_about(test.title)[0], test.contrast
        start = f"The published test, {name or test.test}, which is not judged"
        if contrast.value is None:
            yield f"{start}: {contrast.reason}."
        else:
            ends = interval_text(contrast.low, contrast.high, 3, signed=True)
            words = f"{test.words} words in its shortest list"
            yield f"{start}: {test.claim} ({signed_text(contrast.value)} {ends}, {p_phrase(test.p)}; {words})."


def _words_needed_sentence(plan: Mapping[str, int | float | None], *, enough: bool) -> str:
    size = number_text(plan["contrast"], 3)
    power, now = (share_text(plan[name] or 0.0) for name in ("power", "now"))
    ways = [
        f"{plan[key]:,} words in each {which}"
        for key, which in (("both", "list"), ("targets", "target list alone"), ("attributes", "attribute list alone"))
        if plan.get(key) is not None
    ]
    start = f"Power to show a contrast of {size}: {now} with these lists"
    if enough:
        return f"{start}. They are long enough: the contrast lies too near 0 and what matters to decide."
    if not ways:
        return f"{start}. No number of such words reaches {power}; other lists are needed."
    remark = remark_on_effective_words(plan)
    ways[-1] += f", {remark}" if remark else ""
    return f"{start}, {power} with about {', or '.join(ways)}."


def _drawings(verdict: Verdict, broken: Breakdown | None, band: ChanceBand | None) -> Iterator[Drawing]:
    if broken is None or not broken.words:
        return
    value = verdict.contrast.value
    side = -1.0 if value is not None and value < 0 else 1.0
    if broken.pairs:
        dots = _dots(broken.pairs, side)
        agree = sum(not dot.apart for dot in dots)
        by_measure = ", ".join(f"{measure_name(score.name)} {signed_text(score.value)}" for score in broken.measures)
        remark = (
            "Each dot is the difference between the two lists on one base pair; pairs of the opposite sign are named."
        )
        remark += f" Mean over pairs by measure: {by_measure}." if by_measure else ""
        title = f"{agree} of {len(dots)} base pairs give the direction of the contrast"
        yield Strip("pairs", title, remark, "difference of mean scores", dots, of="pair")
    if band is not None:
        outside = abs(band.contrast) > band.band
        title = (
            "Larger than the contrasts of 95 % of random lists" if outside else "Random lists give contrasts as large"
        )
        remark = (
            "Bars: the same question with random words of similar frequency as attributes (along base pairs: as "
            "targets). Line: the measured contrast."
        )
        yield Histogram("chance", title, remark, AXIS, band.edges, band.counts, band.contrast, band.band)
    if broken.replicates:
        dots = _dots(broken.replicates, side)
        values = [dot.value for dot in dots]
        agree = sum(not dot.apart for dot in dots)
        models = "views" if broken.viewed else "replicates"
        differ = "their layer, pooling or template" if broken.viewed else "their random seed or sample alone"
        title = f"{agree} of {len(dots)} {models} agree, from {signed_text(min(values))} to {signed_text(max(values))}"
        remark = f"Each dot is the contrast in one model; the models differ by {differ}."
        yield Strip("replicates", title, remark, AXIS, dots, of=models[:-1])
    yield _words(broken)


def _dots(values: Sequence[PartValue], side: float) -> tuple[Dot, ...]:
    """A dot for each value; those on the other side of 0 than the contrast stand apart."""
    return tuple(Dot(value.name, value.value, apart=value.value * side <= 0) for value in values)


def _words(broken: Breakdown) -> Bars:
    left = [word.without for word in broken.words if word.without is not None]
    ordered = sorted(broken.words, key=lambda word: -abs(word.share))
    bars = tuple(
        Bar(word.word, word.share, f"{word.set}" if word.role == "target" else f"{word.set} (attribute)", word.without)
        for role in ("target", "attribute")
        for word in ordered
        if word.role == role
    )
    span = f"; contrast without any one of them: {signed_text(min(left))} to {signed_text(max(left))}" if left else ""
    return Bars(
        "words",
        f"Contribution of each word{span}",
        "Contributions of the targets sum to the contrast, and so do those of the attributes.",
        "contribution to the contrast",
        bars,
    )
