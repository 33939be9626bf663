"""Text for a reader to copy: a sentence for each question, a methods paragraph, and references of what was used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING

from biasgauge import registry
from biasgauge._version import __version__
from biasgauge.audits.measurement import SANITY
from biasgauge.audits.page.first_screen import (
    NOT_QUERIES,
    breakdown_of,
    capitalized,
    correction_text,
    in_order,
    short_title,
)
from biasgauge.audits.parts.breakdowns import Breakdown, listed
from biasgauge.audits.parts.null_lists import NULLS
from biasgauge.audits.rules import CIRCULARITY
from biasgauge.audits.verdicts import DECISIONS, Verdict
from biasgauge.core import NO_FAMILY, REPORTED, to_plain
from biasgauge.results import (
    Listing,
    Quote,
    Summary,
    interval_text,
    level_text,
    number_text,
    p_phrase,
    share_text,
    signed_text,
)

if TYPE_CHECKING:
    from biasgauge.audits.result import AuditResult, SubjectSummary

CLAIMS = (*REPORTED, "no-association-shown")
"""Decisions whose sentences claim something."""
MOST_QUOTED = 6
"""Claims that the page quotes outside their rows."""
ABOUT_THESE = "It is a statement about these vectors and these word lists, not about people or an application."
METHODS = {
    "contrast": ("caliskan2017", "cameron2011"),
    "fdr": ("benjamini1995", "benjamini2005"),
    "familywise": ("holm1979",),
    "equivalence": ("schuirmann1987",),
    "base pairs": ("du2021", "zhang2020"),
    "measures": ("ethayarajh2019", "gonen2019"),
    "held-out attributes": ("antoniak2021",),
    "held-out targets": ("antoniak2021",),
    "reliability": ("du2021", "koo2016"),
    "robustness": ("zhang2020",),
    "seeds": ("antoniak2021",),
    "uncertainty": ("kruschke2018",),
    "extrinsic": ("goldfarbtarrant2021",),
    "change": ("gonen2019",),
}
"""Papers whose methods a rule or a part of an audit uses, by their keys in references.bib."""

METHODS_TEXT = (
    "We audited {models} with biasgauge {version}. {questions} ({families}){each} a contrast of "
    "mean cosine similarities between target and attribute words (the numerator of WEAT; Caliskan et al. 2017). Its p "
    "is the largest of three: permutation of the targets, permutation of the attributes, and a t-test with variance "
    "clustered over {over} (Cameron et al. 2011), and {corrected} (alpha = {alpha}). {intervals} A finding had to hold "
    "over base pairs (at least {agreement} %), other measures, held-out words and {repeated}, where these were "
    "available."
)
EQUIVALENCE = (
    "Where no association was found, two one-sided tests (Schuirmann 1987) asked whether any is smaller than ±{sizes}, "
    "{chosen}."
)
INTERVALS = {
    "fdr": (
        "Adjustment and intervals are those of Benjamini & Hochberg (1995) and Benjamini & Yekutieli (2005): of the "
        "associations found, a share of alpha at most is false, and their intervals miss the contrast as seldom."
    ),
    "familywise": (
        "Families of questions share alpha by their numbers, with the steps of Holm (1979) within them, and intervals "
        "have the level that goes with it."
    ),
}
CHOSEN = {
    True: "what lists of eight words would detect in these vectors with a power of one third (Simonsohn 2015)",
    False: "which was set in advance",
}


def what_to_write(result: AuditResult) -> Summary | None:
    """Sentences, methods and references, to be copied."""
    if not result.verdicts:
        return None
    return Summary(
        title="Text for a report",
        headline="",
        name="write",
        about="One sentence per question with its caveat. The wording may be changed; numbers and caveat may not.",
        quotes=(*quotes(result), Quote("Methods", methods(result), "Made from the settings of this audit.")),
        listings=(_bibtex(result),),
    )


def text_for_report(result: AuditResult) -> Summary | None:
    """The same for the page: claims alone, as the sentence about every question opens with its row."""
    whole = what_to_write(result)
    if whole is None:
        return None
    claims = [
        quote(verdict, breakdown_of(result, verdict))
        for verdict in _reported_first(result)
        if verdict.decision in CLAIMS and verdict.family != SANITY
    ]
    shown = "each" if not claims else "every other" if len(claims) <= MOST_QUOTED else "every"
    return replace(
        whole,
        about=f"A sentence about {shown} question is in its row of the summary of findings.",
        quotes=tuple(claims[:MOST_QUOTED]),
        listings=(Listing("Methods paragraph", methods(result)), _bibtex(result)),
    )


def _bibtex(result: AuditResult) -> Listing:
    entries = references(result)
    return Listing(f"References of the methods and lists used (BibTeX, {len(entries)})", "\n\n".join(entries))


def quotes(result: AuditResult) -> tuple[Quote, ...]:
    """A sentence for each question, those that may be reported first."""
    return tuple(quote(verdict, breakdown_of(result, verdict)) for verdict in _reported_first(result))


def _reported_first(result: AuditResult) -> list[Verdict]:
    """Verdicts by decision, and of one decision by family."""
    return sorted(in_order(result), key=lambda verdict: list(DECISIONS).index(verdict.decision))


def quote(verdict: Verdict, broken: Breakdown | None) -> Quote:
    """A ready sentence about one question, and its caveat."""
    text, caveat = _sentence_and_caveat(verdict, broken)
    return Quote(short_title(verdict), text, caveat, **verdict.look)


def _sentence_and_caveat(verdict: Verdict, broken: Breakdown | None) -> tuple[str, str]:
    name, model = short_title(verdict), verdict.model
    if verdict.test in NOT_QUERIES or broken is None:
        return verdict.sentence, ABOUT_THESE
    numbers = _numbers(verdict)
    failed, unknown = ("; ".join(piece.reason for piece in pieces) for pieces in (verdict.failed, verdict.unknown))
    if verdict.decision in REPORTED:
        caveat = f"{capitalized(unknown)}. {ABOUT_THESE}" if unknown else ABOUT_THESE
        return f"In {model}, {broken.statement} ({name}: {numbers}{_agreement(verdict)}).", caveat
    if verdict.decision == "do-not-report":
        return (
            f"{name} gives a contrast in {model} ({numbers}), which we do not interpret: {failed}.",
            "The association depends on a choice that should not matter. Do not report it as a finding.",
        )
    if verdict.decision == "no-association-shown":
        equivalence = verdict.observed("equivalence")
        ends = interval_text(equivalence.get("low"), equivalence.get("high"), 3, signed=True)
        smallest = number_text(verdict.observed("association").get("smallest"), 3)
        tested = f"{level_text(equivalence.get('level') or 0.9)} interval {ends}, equivalence test"
        text = f"{name} shows no contrast in {model} as large as ±{smallest} ({tested})."
        return text, "It rules out what these lists would show. Other lists may show another association."
    if verdict.decision == "inconclusive":
        circular = any(piece.rule == CIRCULARITY for piece in verdict.failed)
        text = f"{name}: it is not settled whether, in {model}, {broken.statement} ({numbers})."
        return text, f"{capitalized(failed)}." if circular else "Absence of evidence is not evidence of absence."
    return f"{name} could not be measured in {model}: {verdict.why}.", "No conclusion follows in either direction."


def _numbers(verdict: Verdict) -> str:
    contrast = verdict.contrast
    ends = interval_text(contrast.low, contrast.high, 3, signed=True)
    interval = f", {level_text(contrast.level)} interval {ends}" if ends else ""
    equal = " at equal word frequency" if verdict.at_equal_frequency else ""
    p = p_phrase(verdict.observed("association").get("p_adjusted"))
    return f"contrast{equal} {signed_text(contrast.value)} in cosine units{interval}, adjusted {p}"


def _agreement(verdict: Verdict) -> str:
    counted = [(piece.rule, piece.counts) for piece in verdict.evidence if piece.counts is not None]
    return "".join(f"; {counts[0]} of {counts[1]} {rule}" for rule, counts in counted if counts is not None)


def methods(result: AuditResult) -> str:
    """Methods section of the audit."""
    settings, rules = result.settings, result.settings["rules"]
    audited = [subject for subject in result.subjects if subject.role == "audited"]
    models = listed([_vectors(result, subject) for subject in audited])
    verdicts = [verdict for verdict in result.verdicts if verdict.test not in NOT_QUERIES]
    smallest = {verdict.observed("association").get("smallest") for verdict in verdicts}
    sizes = listed([number_text(size, 3) for size in sorted(size for size in smallest if size is not None)])
    repeated = _repeated(result)
    renamed = {NO_FAMILY: "lists of our own", SANITY: "positive controls"}
    families = dict.fromkeys(renamed.get(verdict.family, verdict.family) for verdict in verdicts if verdict.family)
    count = len({verdict.question for verdict in verdicts})
    sentences = [
        METHODS_TEXT.format(
            models=models,
            version=__version__,
            questions="One question was asked" if count == 1 else f"{count} questions were asked",
            each=":" if count == 1 else ", each",
            families=listed(list(families)),
            over="targets, attributes and " + repeated if result.replicated_models else "targets and attributes",
            alpha=f"{rules['alpha']:g}",
            corrected=correction_text(result),
            intervals=INTERVALS[rules.get("correction", "familywise")],
            agreement=f"{100 * rules['agreement']:g}",
            repeated=repeated.partition(" ")[0],
        )
    ]
    if sizes:
        sentences.append(EQUIVALENCE.format(sizes=sizes, chosen=CHOSEN[rules["smallest"] is None]))
    case = "; words were also looked up in another case" if settings["case_fallback"] else ""
    share = share_text(settings["min_coverage"])
    sentences.append(f"A list was measured if at least {share} of each set was found{case}.")
    if (worst := result.false_alarms) is not None:
        kinds = listed([f"{share_text(rate['rate'], 1)} ({NULLS[null]})" for null, rate in worst.kinds.items()])
        sentences.append(
            f"Of {worst.audits} simulated audits of each kind of meaningless lists in these vectors, at most "
            f"{worst.text} found an association: {kinds}."
        )
    sentences.append(f"Random seed: {settings['random_state']}.")
    return " ".join(sentences)


def _vectors(result: AuditResult, subject: SubjectSummary) -> str:
    model_summary = next((model for model in result.models if model.name == subject.models[0]), None)
    size = "" if model_summary is None else f" ({model_summary.words:,} words, {model_summary.dim} dimensions)"
    if len(subject.models) == 1:
        return f"{subject.name}{size}"
    return f"{len(subject.models)} {_repeated(result)} of {subject.shared or subject.name}{size}"


def _repeated(result: AuditResult) -> str:
    """Name for the models of a subject: replicates, or views of a transformer and what they differ by."""
    viewed = any(subject.views for subject in result.subjects)
    return "views (layer × pooling × template)" if viewed else "replicates"


def references(result: AuditResult) -> tuple[str, ...]:
    """BibTeX of the methods and of the lists that this audit used, and of nothing else."""
    bibliography = _bibliography()
    used = dict.fromkeys(_keys(result))
    entries = {key: bibliography[key] for key in used if key in bibliography}
    lexicons = registry.everything("lexicon")
    for name in dict.fromkeys(verdict.question.partition(":")[0].partition("~")[0] for verdict in result.verdicts):
        citation = getattr(lexicons.get(name), "citation", "")
        key = citation_key(citation)
        if citation and key not in entries:
            entries[key] = bibliography.get(key) or f"@misc{{{key},\n  note = {{{citation}}}\n}}"
    return tuple(entries[key] for key in sorted(entries))


def citation_key(citation: str) -> str:
    """Key of a citation such as "Aylin Caliskan, Joanna J. Bryson and …, 2017, …": caliskan2017."""
    first = re.split(r", | and ", citation, maxsplit=1)[0]
    year = re.search(r"\b(1[89]|20)\d\d\b", citation)
    surname = "".join(letter for letter in first.split()[-1].lower() if letter.isalpha()) if first.split() else "list"
    return f"{surname}{year.group() if year else ''}"


def _keys(audit: AuditResult) -> Iterator[str]:
    yield from METHODS["contrast"]
    yield from METHODS[audit.settings["rules"].get("correction", "familywise")]
    for verdict in audit.verdicts:
        for piece in verdict.evidence:
            yield from METHODS.get(piece.rule, ())
    for name, result in audit.parts.items():
        content = to_plain(result)
        if name in METHODS and content and not (isinstance(content, dict) and content.get("reason")):
            yield from METHODS[name]


def _bibliography() -> dict[str, str]:
    """Entries of references.bib by key."""
    text = (files("biasgauge.audits") / "references.bib").read_text(encoding="utf-8")
    entries = [entry.strip() for entry in re.split(r"\n(?=@)", text) if entry.strip().startswith("@")]
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in entries}
