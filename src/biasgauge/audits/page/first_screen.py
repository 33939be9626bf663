"""Page of an audit: one sentence, the counts and a forest plot of every question, then the section of each part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from biasgauge.audits.browser import TAB
from biasgauge.audits.explanations import explanation_section
from biasgauge.audits.measurement import SANITY
from biasgauge.audits.part import ordered_parts, summarize_part
from biasgauge.audits.parts.breakdowns import Breakdown, listed
from biasgauge.audits.parts.extrinsic import TRACKING
from biasgauge.audits.parts.false_alarms import false_alarm_warnings
from biasgauge.audits.verdicts import CORRECTIONS, DECISIONS, Correction, Verdict
from biasgauge.core import NO_FAMILY, REPORTED
from biasgauge.results import (
    Column,
    Forest,
    ForestRow,
    Grade,
    RecordTable,
    Shape,
    Summary,
    Tab,
    Table,
    Tile,
    Tone,
    count_of,
    counted,
    level_text,
    name_and_about,
    number_text,
    p_phrase,
    setting_text,
    share_text,
    shares_text,
)

if TYPE_CHECKING:
    from biasgauge.audits.result import AuditResult

CHANGE = "change"
NOT_QUERIES = (CHANGE, TRACKING)
"""Tests of verdicts that are not on a query."""
GROUPS = {
    CHANGE: "Effect of the change",
    "gender": "Gender",
    "race": "Race",
    "origin": "Origin",
    "religion": "Religion",
    "class": "Social class",
    "age": "Age",
    "health": "Health",
    NO_FAMILY: "Your own lists",
    TRACKING: "Applications",
    SANITY: "Positive controls",
}
"""Titles of the families of questions, in the order in which they are shown; others come before one's own."""
CAVEAT = (
    "These verdicts are about vectors and word lists, not about people or applications. None shows that a system is "
    "fair or unfair, and “inconclusive” does not mean “no bias”."
)
MEASURED_SMALLEST = "what a test with lists of eight words detects in these vectors with a power of one third"
GRADING = (
    "Certainty follows GRADE: it starts high and is lowered by one level for what is untested, by two for what fails "
    "or is too imprecise to decide, and by three where contrasts that matter in both directions cannot be rejected."
)
MOST_CLAIMS = 3
"""Claims that a headline repeats."""
ERRORS: dict[Correction, str] = {"fdr": "the false discovery rate", "familywise": "the familywise error rate"}
"""Error that a correction for many questions holds at alpha."""
VERDICTS = "verdicts"
"""Name of the first section of the page."""
MODELS = RecordTable(
    "models",
    "The vectors in numbers; lengths are Euclidean",
    (
        Column("model", source="name"),
        "words",
        Column("dimensions", "count", source="dim"),
        Column("stored as", source=lambda model: f"{model.format}, {model.precision}"),
        Column("smallest length", "number", source=lambda model: model.length_quantiles.get(0.0)),
        Column("median length", "number", source=lambda model: model.length_quantiles.get(0.5)),
        Column("largest length", "number", source=lambda model: model.length_quantiles.get(1.0)),
        Column("SHA-256 of words and vectors", source="checksum"),
    ),
    folded=True,
    name="vectors",
)


def audit_summary(result: AuditResult) -> Summary:
    """The answer, the findings, text for a report, and error rates; everything else in an appendix."""
    from biasgauge.audits.page.reporting_sentences import text_for_report

    names = ", ".join(subject.name for subject in result.subjects if subject.role == "audited")
    front = [_change(result), _verdicts(result), text_for_report(result)]
    appendix: list[Summary | None] = []
    for name, part in ordered_parts().items():
        section = summarize_part(part, result.parts[name], result) if name in result.parts else None
        (front if getattr(part, "front", False) else appendix).append(section)
    appendix += [explanation_section(result.verdicts), _vectors(result), _settings(result)]
    return Summary(
        title=f"Bias audit of {names}",
        headline=headline(result),
        date=result.date,
        caveat=_caveat(result) if result.verdicts else "",
        tiles=tiles(result),
        parts=(
            *(section for section in front if section is not None),
            *(replace(section, appendix=True) for section in appendix if section is not None),
        ),
        warnings=result.warnings,
        tabs=() if result.workbench is None else (Tab("Your own words", TAB, result.workbench.page),),
        brief=True,
    )


def _vectors(result: AuditResult) -> Summary:
    """The models in numbers; of several with one shape, the shape once."""
    shapes: dict[str, list[str]] = {}
    for model in result.models:
        shapes.setdefault(f"{model.words:,} words × {model.dim} dimensions", []).append(model.name)
    listed_shapes = [
        f"{shape} ({names[0] if len(names) == 1 else f'{len(names)} models'})" for shape, names in shapes.items()
    ]
    return Summary("Vectors", f"{'; '.join(listed_shapes)}.", name="vectors", tables=(MODELS.fill(result),))


def _settings(result: AuditResult) -> Summary:
    """Everything that decides the result."""
    settings = [(name.replace("_", " "), setting_text(value)) for name, value in result.settings.items()]
    table = Table.of("settings", "", ["setting", "value"], settings)
    headline = f"The same input and these {len(settings)} settings give the same result."
    return Summary("Settings", headline, name="settings", tables=(table,))


def _caveat(result: AuditResult) -> str:
    """Notes beside the headline: first, where lists like these find associations anyway."""
    alarms = result.false_alarms
    if alarms is None or alarms.above != "interval":
        return CAVEAT
    return f"Warning: {'. '.join(map(capitalized, false_alarm_warnings(result.error_rates)))}. {CAVEAT}"


def _change(result: AuditResult) -> Summary | None:
    """Effect of the change, where vectors were changed."""
    verdict = _verdict_on_change(result)
    if verdict is None:
        return None
    from biasgauge.audits.change import did_it_work

    return did_it_work(result, verdict)


def _verdict_on_change(result: AuditResult) -> Verdict | None:
    return next((verdict for verdict in result.verdicts if verdict.test == CHANGE), None)


def _verdicts(result: AuditResult) -> Summary | None:
    """Every question on one axis; each opens to what its answer rests on."""
    from biasgauge.audits.page.panels import panels

    if not result.verdicts:
        return None
    names = slugs(in_order(result))
    plot, parts = forest(result, names), tuple(panels(result, names, VERDICTS))
    return Summary("Summary of findings", "", name=VERDICTS, forest=plot, parts=parts)


def headline(result: AuditResult) -> str:
    """State what may be reported, and whether most questions lack words; of changed vectors, the change's effect."""
    change = _verdict_on_change(result)
    if change is not None:
        from biasgauge.audits.change import headline_of_change

        return headline_of_change(change)
    verdicts = [verdict for verdict in result.verdicts if verdict.family != SANITY and verdict.test not in NOT_QUERIES]
    if len(verdicts) < 2:
        return _headline_of_few(result, verdicts)
    families = dict.fromkeys(verdict.family for verdict in verdicts)
    scope = "" if NO_FAMILY in families or "" in families else " about people"
    answers = _headline_of_answers(result, verdicts, scope)
    unmeasured = sum(verdict.decision == "not-measurable" for verdict in verdicts)
    most = 2 * unmeasured > len(verdicts) and any(verdict.decision in REPORTED for verdict in verdicts)
    share = f"{unmeasured} of {len(verdicts)}"
    return f"{answers} Most questions{scope} ({share}) cannot be measured in these vectors." if most else answers


def _headline_of_answers(result: AuditResult, verdicts: Sequence[Verdict], scope: str) -> str:
    """Repeat a few claims that may be reported, or count many; `scope` says what all questions are about."""
    families = dict.fromkeys(verdict.family for verdict in verdicts)
    sure, careful = ([verdict for verdict in verdicts if verdict.decision == decision] for decision in REPORTED)
    ruled_out = {verdict.family for verdict in verdicts if verdict.decision == "no-association-shown"}
    # That there is no association may be reported, too.
    nothing, nothing_else = ("No association", "No other association") if ruled_out else ("Nothing", "Nothing else")
    if not sure and not careful:
        decisions = [verdict.decision for verdict in verdicts]
        counts = [f"{decisions.count(name)} {style.label}" for name, style in DECISIONS.items() if name in decisions]
        number = counted(verdicts, "question")
        return f"{nothing}{scope} may be reported from these vectors: of {number}, {listed(counts)}."
    if len({verdict.model for verdict in verdicts}) > 1 or len(sure or careful) > MOST_CLAIMS:
        return _headline_of_many([*sure, *careful], len(careful), verdicts, scope)
    claims = [_statement(verdict, breakdown_of(result, verdict)) for verdict in sure or careful]
    if sure:
        remainder = f"{nothing_else}{scope} may be reported{' without care' if careful else ''}."
        return f"In these vectors, {listed(claims)}.{f' {remainder}' if len(verdicts) > len(sure) else ''}"
    decided = ruled_out | {verdict.family for verdict in careful}
    undecided = [group_title(family).lower() for family in families if family and family not in decided]
    remainder = (
        f" Nothing can be said either way about {listed(undecided, 'or')}."
        if undecided and NO_FAMILY not in families
        else ""
    )
    return f"With care, it may be reported that {', and that '.join(claims)}.{remainder}"


def _headline_of_few(result: AuditResult, verdicts: Sequence[Verdict]) -> str:
    """Answer the one question that was asked, be it a positive control; else count controls and applications."""
    if not verdicts:
        controls = [verdict for verdict in result.verdicts if verdict.test not in NOT_QUERIES]
        if len(controls) == len(result.verdicts) == 1:
            (control,) = controls
            answer = _headline_of_one(control, _statement(control, breakdown_of(result, control)))
            return f"{answer} This is a check of the instrument."
        count = len(result.verdicts)
        return f"{count} questions were asked." if count > 1 else f"{'One' if count else 'No'} question was asked."
    (verdict,) = verdicts
    return _headline_of_one(verdict, _statement(verdict, breakdown_of(result, verdict)))


def _headline_of_one(verdict: Verdict, claim: str) -> str:
    """Answer one question in a sentence."""
    if verdict.decision == "report":
        return f"In these vectors, {claim}."
    if verdict.decision == "report-with-care":
        return f"With care, it may be reported that, in these vectors, {claim}."
    if verdict.decision == "not-measurable" or not claim:
        return f"Not measurable: {verdict.why.rstrip('.')}."
    if verdict.decision == "no-association-shown":
        return f"No association shown: these vectors rule out that {claim} by as much as matters."
    if verdict.decision == "inconclusive":
        return f"Inconclusive: these vectors do not settle whether {claim}."
    return f"Do not report that {claim}: {verdict.failed[0].reason.rstrip('.')}."


def _headline_of_many(reported: Sequence[Verdict], careful: int, verdicts: Sequence[Verdict], scope: str) -> str:
    """Count the answers that may be reported, by family, and those that rule an association out."""
    share = count_of(len(reported), len(verdicts))
    counts = Counter(verdict.family for verdict in reported)
    families = [family for family in GROUPS if family in counts]
    families += [family for family in counts if family not in families]
    topics = [f"{counts[family]} on {group_title(family).lower()}" for family in families]
    by_family = f": {listed(topics)}" if len({verdict.family for verdict in verdicts}) > 1 else ""
    ruled_out = sum(verdict.decision == "no-association-shown" for verdict in verdicts)
    nothing = f" In {ruled_out} others, an association that matters is ruled out." if ruled_out > 1 else ""
    if careful == len(reported):
        return f"With care, {share} answers{scope} may be reported{by_family}.{nothing}"
    how = f", {careful} of them with care" if careful else ""
    return f"{capitalized(share)} answers{scope} may be reported{how}{by_family}.{nothing}"


def tiles(result: AuditResult) -> tuple[Tile, ...]:
    """Counts of questions by decision, without checks of the method, and the rate of false alarms."""
    verdicts = [verdict for verdict in result.verdicts if verdict.family != SANITY] or result.verdicts
    decisions = [verdict.decision for verdict in verdicts]
    if not decisions:
        return ()
    counts = [
        Tile(str(decisions.count(name)), style.label, style.tone, style.shape)
        for name, style in DECISIONS.items()
        if name in decisions or name in REPORTED
    ]
    worst = result.false_alarms
    if worst is not None:
        promised = level_text(worst.alpha)
        remarks = {
            "": f"; at most {promised} promised",
            "estimate": f"; {promised} promised, and within what chance gives in {worst.audits} audits",
            "interval": f"; more than the {promised} promised",
        }
        interval = shares_text(worst.low, worst.high, 1)
        which = f"highest of {len(worst.kinds)} false-alarm rates" if len(worst.kinds) > 1 else "false-alarm rate"
        caption = f"{which} of meaningless lists {interval}{remarks[worst.above]}"
        tones: dict[str, tuple[Tone, Shape]] = {"interval": ("bad", "cross"), "estimate": ("caution", "half")}
        counts.append(Tile(share_text(worst.rate, 1).replace(" ", "\u00a0"), caption, *tones.get(worst.above, ())))
    return tuple(counts)


def forest(result: AuditResult, names: Mapping[str, str]) -> Forest:
    """Every question on one axis, by family; `names` are those of the parts that open under the rows."""
    many_models = len({verdict.model for verdict in result.verdicts if verdict.test not in NOT_QUERIES}) > 1
    apart = not all(verdict.primary for verdict in result.verdicts)
    rows = []
    for verdict in in_order(result):
        labels = ["primary question" if verdict.primary and apart else "", verdict.model if many_models else ""]
        rows.append(_row(verdict, breakdown_of(result, verdict), names[verdict.id], labels))
    sizes = [verdict.observed("association").get("smallest") for verdict in result.verdicts]
    band = max((size for size in sizes if size is not None), default=None)
    title = f"{counted(rows, 'question')}, with certainty"
    return Forest(
        "verdicts", title, "", "contrast, in cosine units", tuple(rows), band, notes=tuple(_notes(result, rows, band))
    )


def _notes(result: AuditResult, rows: Sequence[ForestRow], band: float | None) -> Iterator[str]:
    """Yield paragraphs under the findings: numbers, the gray band, how certainty is rated."""
    at_equal = any(verdict.at_equal_frequency for verdict in result.verdicts)
    contrast = "Contrast at equal word frequency where frequencies are known" if at_equal else "Contrast"
    yield f"{contrast}; {_interval_text(result)}; {correction_text(result)}."
    if any((verdict.contrast.value or 0.0) < 0 and verdict.decision in REPORTED for verdict in result.verdicts):
        yield "A negative contrast: the first words are closer to the second attributes. Claims are worded accordingly."
    if band is not None:
        chosen = "as set in advance" if result.settings["rules"]["smallest"] is not None else MEASURED_SMALLEST
        yield (
            f"Gray band: contrasts too small to matter (±{number_text(band, 3)}), {chosen}. An association is reported "
            "where 0 is rejected and its interval reaches beyond the band."
        )
    if any(row.grade is not None for row in rows):
        yield GRADING


def correction_text(result: AuditResult) -> str:
    """Clause on how p is adjusted for many questions, and on which questions are primary."""
    asked = [verdict for verdict in result.verdicts if verdict.test not in NOT_QUERIES and verdict.evidence]
    primary = [verdict for verdict in asked if verdict.primary]
    others = len(asked) - len(primary)
    correction: Correction = result.settings["rules"].get("correction", "familywise")
    how = f"adjusted for {ERRORS[correction]} ({CORRECTIONS[correction]})"
    if not primary or not others:
        return f"p is {how} over all {len(asked)} questions" if len(asked) > 1 else "p of one question is not adjusted"
    names = listed(list(dict.fromkeys(verdict.question for verdict in primary)))
    if len(primary) > 1:
        return f"p is {how} over the {len(primary)} primary questions ({names}), and over the {others} others apart"
    return f"p of the primary question ({names}) is not adjusted, and that of {counted(others, 'other')} is {how}"


def _interval_text(result: AuditResult) -> str:
    """Clause on the levels of the intervals."""
    rules = result.settings["rules"]
    if len(result.verdicts) == 1:
        return f"the interval is of level {level_text(1 - rules['alpha'])}"
    if rules.get("correction", "familywise") == "fdr":
        share = level_text(rules["alpha"])
        return f"of the intervals of reported associations at most {share} are expected to miss the contrast"
    return f"intervals hold together at {level_text(1 - rules['alpha'])}"


def _row(verdict: Verdict, broken: Breakdown | None, part_name: str, labels: Sequence[str]) -> ForestRow:
    p = verdict.observed("association").get("p_adjusted")
    claim, title = plain_claim(verdict, broken), short_title(verdict)
    details = [
        "" if title.casefold() == claim.casefold() else title,
        *labels,
        _sizes(broken) if broken is not None and broken.sizes[0] else "",
        "" if p is None else p_phrase(p).replace(" ", "\u00a0"),
        _comment(verdict),
    ]
    return ForestRow(
        claim=claim,
        detail=" · ".join(filter(None, details)),
        group=group_title(_family(verdict)),
        estimate=verdict.contrast if verdict.contrast.defined else None,
        part=part_name,
        grade=_grade(verdict),
        **verdict.look,
    )


def _grade(verdict: Verdict) -> Grade | None:
    """Certainty of a verdict with a footnote for each reason for which it is not high."""
    certainty = verdict.certainty
    if certainty is None:
        return None
    notes = [f"{capitalized(reason.domain)}: {reason.reason.rstrip('.')}." for reason in certainty.downgrades]
    return Grade(certainty.level, certainty.points, tuple(dict.fromkeys(notes)))


def _sizes(broken: Breakdown) -> str:
    """Numbers of words found: "8 + 8 words, 8 + 8 attributes"."""
    targets, attributes = (" + ".join(map(str, sizes)) for sizes in broken.sizes)
    return f"{targets} words, {attributes} {'pairs' if len(broken.sizes[1]) == 1 else 'attributes'}"


def _comment(verdict: Verdict) -> str:
    """Comment of a row, beside numbers and footnotes: words needed, or why there is no number."""
    if verdict.certainty is None:
        return "; ".join(piece.reason for piece in verdict.failed or verdict.unknown) or verdict.why
    if verdict.words_needed is not None:
        return f"about {verdict.words_needed:,} words per list needed"
    if verdict.decision == "inconclusive" and verdict.has_enough_words:
        return "near the limits in spite of enough words"
    return "too small to matter" if verdict.decision == "no-association-shown" else ""


def breakdown_of(result: AuditResult, verdict: Verdict) -> Breakdown | None:
    """Breakdown of the contrast of a verdict; None where there is none."""
    key = verdict.question, verdict.model
    return next((broken for broken in result.breakdowns if (broken.question, broken.model) == key), None)


def in_order(result: AuditResult) -> list[Verdict]:
    """Verdicts by family, in the order in which families are shown."""
    ranks = {name: (float(number), "") for number, name in enumerate(GROUPS)}
    before_own = ranks[NO_FAMILY][0] - 0.5
    return sorted(result.verdicts, key=lambda verdict: ranks.get(_family(verdict), (before_own, _family(verdict))))


def plain_claim(verdict: Verdict, broken: Breakdown | None) -> str:
    """Statement that may be reported; where none may, the question."""
    if broken is None:
        return capitalized(verdict.title or verdict.question)
    return capitalized(broken.statement if verdict.decision in REPORTED and broken.statement else broken.asked)


def short_title(verdict: Verdict) -> str:
    """Short name of a test: "WEAT 7" of "WEAT 7: math and arts, …"."""
    return name_and_about(verdict.title)[0] or verdict.question


def _statement(verdict: Verdict, broken: Breakdown | None) -> str:
    return broken.statement if broken is not None and broken.statement else verdict.claim


def _family(verdict: Verdict) -> str:
    return verdict.test if verdict.test in NOT_QUERIES else verdict.family or NO_FAMILY


def group_title(family: str) -> str:
    """Title of a family of questions."""
    return GROUPS.get(family) or capitalized(family)


def capitalized(text: str) -> str:
    """Text with a capital at its beginning, and otherwise as it is."""
    return f"{text[:1].upper()}{text[1:]}"


def slugs(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Names for the parts of a page, by the id of each verdict: letters, digits and hyphens, each once."""
    names: dict[str, str] = {}
    for verdict in verdicts:
        start = "".join(letter if letter.isalnum() else "-" for letter in verdict.question.lower()).strip("-") or "own"
        same = sum(slug == start or slug.startswith(f"{start}-no-") for slug in names.values())
        names[verdict.id] = f"{start}-no-{same + 1}" if same else start
    return names
