"""An audit on one screen of a terminal: the answer, the vectors, one line per question, the next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from biasgauge.audits.measurement import SANITY
from biasgauge.audits.page.first_screen import correction_text, headline
from biasgauge.audits.result import AuditResult
from biasgauge.audits.verdicts import DECISIONS, Evidence, Verdict
from biasgauge.results import Column, Summary, Table, counted, name_and_about, p_phrase, share_text

MOST_ROWS, OF_MANY = 11, 9
"""Questions that a screen shows, and of more the first; --verbose and the page have all."""
MOST_NOTES = 2
MOST_NAMED = 3
"""Questions that a sentence names."""
LONGEST = 220
"""Letters of a sentence with a command, of which files of many replicates would make a screen."""


def brief(result: AuditResult) -> Summary:
    """The audit in at most thirty lines of 80 columns."""
    decisions = [verdict.decision for verdict in result.verdicts]
    counts = [f"{decisions.count(decision)} {decision}" for decision in DECISIONS if decision in decisions]
    models = sum(subject.role == "audited" for subject in result.subjects)
    many_models = models > 1
    question_count = len({verdict.question for verdict in result.verdicts})
    questions = f"{counted(question_count, 'question')}{f' to each of {models} models' if many_models else ''}"
    order = list(DECISIONS)
    ordered = sorted(result.verdicts, key=lambda verdict: (order.index(verdict.decision), verdict.family == SANITY))
    rows = []
    for verdict in ordered:
        model = [verdict.model] if many_models else []
        rows.append((verdict.decision, verdict.question, *model, held_back_by(verdict), _short_topic(verdict)))
    state = Column("verdict", "mark", tones={name: style.tone for name, style in DECISIONS.items()})
    columns = [state, "question", *(["vectors"] if many_models else []), "rule not met", "about"]
    shown = rows if len(rows) <= MOST_ROWS else rows[:OF_MANY]
    more = len(rows) - len(shown)
    note = f"and {more} more: --verbose lists them" if more > 0 else ""
    sentences = [
        f"{_vectors(result)}; {_coverage(result)}.",
        f"{questions}: {', '.join(counts)}; {correction_text(result)}." if counts else "No question was asked.",
        *_opinions(result),
        *_published(result),
        *_plans(result),
        *_other_words(result),
        *_beware(result),
    ]
    notes = result.warnings[:MOST_NOTES]
    further_notes = len(result.warnings) - len(notes)
    return Summary(
        title="Bias audit",
        headline=headline(result),
        sentences=tuple(sentences),
        warnings=(*notes, *([f"{further_notes} more notes: --verbose lists them"] if further_notes else [])),
        tables=(Table.of("verdicts", "", columns, shown, note=note, one_line=True),),
    )


def held_back_by(verdict: Verdict) -> str:
    """The first rule that an answer fails, with its number; of one that fails none, which are unknown."""
    if verdict.decision == "report":
        return "none"
    if verdict.decision == "no-association-shown":
        return "none: too small to matter" if any(piece.passes for piece in verdict.evidence) else "association"
    if verdict.words_needed is not None:
        return f"needs {verdict.words_needed:,} words a list"
    failed = verdict.failed
    if failed:
        further_rules = len([piece for piece in failed if piece.rule != "equivalence"]) - 1
        return f"{_with_number(failed[0])}{_more(further_rules)}"
    unknown = [piece.rule for piece in verdict.unknown]
    if unknown:
        return f"unknown: {unknown[0]}{_more(len(unknown) - 1)}"
    return "asks nothing by itself" if verdict.decision == "not-measurable" else ""


def next_step(result: AuditResult) -> str:
    """Advice on what to do after this audit, in one line."""
    if result.settings["shipped"]:
        return "biasgauge audit VECTORS audits your own; --verbose shows the evidence"
    if count := len({covered.lexicon for covered in result.lexicons if covered.case_to_blame}):
        lists = "1 list lacks" if count == 1 else f"{count} lists lack"
        return f"--case-fallback yes: {lists} words only because of their case"
    if idle := [verdict.why for verdict in result.verdicts if not verdict.evidence]:
        return idle[0]
    unknown = {piece.rule for verdict in result.verdicts for piece in verdict.unknown}
    if any(subject.views for subject in result.subjects):
        return "open the page for the curve over layers, poolings and templates; --templates tries others"
    if "replicates" in unknown:
        return "train replicates (biasgauge train CORPUS --seeds 8), audit them together"
    return "open the page for the evidence, or print it with --verbose"


def stopped_by(result: AuditResult, decisions: Sequence[str]) -> str:
    """Questions that ended in one of the decisions that --fail-on names; empty where none did."""
    hits = [verdict for verdict in result.verdicts if verdict.decision in decisions]
    named = ", ".join(f"{verdict.question} is {verdict.decision}" for verdict in hits[:3])
    more = f" and {len(hits) - 3} more" if len(hits) > 3 else ""
    return f"--fail-on: {named}{more}" if hits else ""


def _more(count: int) -> str:
    return f" (+{count})" if count > 0 else ""


def _with_number(piece: Evidence) -> str:
    numbers = piece.observed
    if piece.counts is not None:
        return f"{piece.rule}: {piece.counts[0]} of {piece.counts[1]}"
    if isinstance(numbers, Mapping):
        p = numbers.get("p_adjusted", numbers.get("p"))
        return f"{piece.rule}: {p_phrase(p)}" if p is not None else piece.rule
    return f"{piece.rule}: {share_text(numbers)}" if piece.rule == "coverage" and numbers is not None else piece.rule


def _short_topic(verdict: Verdict) -> str:
    """Short form of the title: without the name of the question, which stands beside it."""
    name, topic = name_and_about(verdict.title)
    if not topic or name.replace(" ", "").lower() != verdict.question:
        return verdict.title
    return topic.replace(" and ", "/")


def _vectors(result: AuditResult) -> str:
    audited = [subject for subject in result.subjects if subject.role == "audited"]
    sizes = {model.name: (model.words, model.dim) for model in result.models}
    descriptions = []
    for subject in audited[:2]:
        words, dim = sizes[subject.models[0]]
        count = len(subject.models)
        replicates = f"{count} replicates, " if count > 1 and not (subject.views or subject.shared) else ""
        descriptions.append(f"{subject.name} ({replicates}{counted(words, 'word')} × {dim})")
    more = f" and {len(audited) - 2} more" if len(audited) > 2 else ""
    return ", ".join(descriptions) + more


def _coverage(result: AuditResult) -> str:
    """Share of the words of the questions that is in the vocabulary; over several models, the least and the most."""
    asking = {verdict.question.partition("~")[0].partition(":")[0] for verdict in result.verdicts}
    shares = []
    for name in dict.fromkeys(covered.model for covered in result.lexicons):
        lists = [covered.coverage for covered in result.lexicons if covered.model == name and covered.lexicon in asking]
        word_count = sum(words.asked for words in lists)
        shares += [sum(words.found for words in lists) / word_count] if word_count else []
    if not shares:
        return "no question has a list of words"
    ends = dict.fromkeys(share_text(share) for share in (min(shares), max(shares)))
    return f"{' to '.join(ends)} of the words are in the vocabulary"


def _beware(result: AuditResult) -> list[str]:
    """Sentence on the lists that have notes on what to beware of; the notes stand with each verdict."""
    noted = list(dict.fromkeys(verdict.question for verdict in result.verdicts if verdict.beware))
    more = f" and {len(noted) - MOST_NAMED} more" if len(noted) > MOST_NAMED else ""
    return [f"Limitations of the lists of {', '.join(noted[:MOST_NAMED])}{more}: see --verbose."] if noted else []


def _plans(result: AuditResult) -> list[str]:
    """Sentence with the command that plans longer lists for the inconclusive question that needs the fewest words."""
    plans = [verdict for verdict in result.verdicts if verdict.plan_command and verdict.words_needed is not None]
    if not plans:
        return []
    nearest = min(plans, key=lambda verdict: verdict.words_needed or 0)
    sentence = f"Words for {nearest.question}: {nearest.plan_command}"
    if len(sentence) > LONGEST:
        sentence = f"Words for {nearest.question}: biasgauge plan, as plan_command of the JSON and the page have it."
    return [sentence]


def _other_words(result: AuditResult) -> list[str]:
    """Sentence on a question that is not measurable, but in other words."""
    asking = {verdict.question: verdict.audit_command for verdict in result.verdicts if verdict.audit_command}
    if not asking:
        return []
    question, command = next(iter(asking.items()))
    more = f" {len(asking) - 1} more have such lists, too: --verbose." if len(asking) > 1 else ""
    if len(command) > LONGEST:
        command = "see audit_command of the JSON and the page"
    return [f"{question} in other words, which these vectors have: {command}.{more}"]


def _published(result: AuditResult) -> list[str]:
    """Sentence on the published tests beside the battery."""
    tests = list(dict.fromkeys(row.test for row in result.published or ()))
    if not tests:
        return []
    return [f"{counted(tests, 'published test')} beside them, not judged; --lexicon {tests[-1]} asks one."]


def _opinions(result: AuditResult) -> list[str]:
    """Sentences on how often each second opinion gives the same direction."""
    sentences = []
    for subject in result.subjects:
        if subject.role == "audited":
            continue
        answers = [
            opinion.same
            for verdict in result.verdicts
            for opinion in verdict.opinions
            if opinion.model == subject.name and opinion.same is not None
        ]
        if answers:
            sentences.append(
                f"{subject.name}, for comparison: same direction in {sum(answers)} of {counted(answers, 'question')}."
            )
    return sentences
