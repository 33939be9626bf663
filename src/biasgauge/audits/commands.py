"""Commands that lead on from an answer: one plans longer lists, one asks the same in words that the vectors have."""

from __future__ import annotations

import os
import shlex

from biasgauge import registry
from biasgauge.audits.measurement import Unmeasurable
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdict_rule import Case
from biasgauge.core import DEFAULT_POLICY, WordPolicy, resolve
from biasgauge.lexicons import AssociationTest, queries_from_lexicons
from biasgauge.vectors import REPLICATES, replicate_path


def plan_command(case: Case) -> str:
    """Return the command that plans longer lists for a test: its vectors, the contrast that matters and the level.

    A list that is in no file is named by a placeholder; other kinds of question have no plan.
    """
    lexicon = case.measured.query.lexicon
    if not isinstance(lexicon, AssociationTest):
        return ""
    return _command(
        "plan", case.measured.subject, case.policy,
        "--test", lexicon.name if lexicon.shipped else lexicon.path or "TEST.toml",
        "--size", f"{case.smallest:.4g}", "--alpha", f"{case.rules.alpha / case.corrected.k:.4g}",
    )  # fmt: skip


def covered_tests_command(outcome: Unmeasurable, policy: WordPolicy) -> str:
    """Return the command that asks a question without enough words in others; empty where the models have none."""
    options = [word for name in _covered_tests(outcome, policy) for word in ("--lexicon", name)]
    return _command("audit", outcome.subject, policy, *options) if options else ""


def _covered_tests(outcome: Unmeasurable, policy: WordPolicy) -> list[str]:
    """Names of tests that ask the same as one without enough words, in other words that the models have.

    Those are tests that repeat its question or that it repeats, and published tests beside their powered one.
    """
    test, names = outcome.query.lexicon, []
    if not isinstance(test, AssociationTest) or outcome.resolved.reason is None:
        return []
    for lexicon in registry.everything("lexicon").values():
        if not isinstance(lexicon, AssociationTest) or lexicon.name == test.name:
            continue
        if test.name in (lexicon.repeats, lexicon.powered) or lexicon.name in (test.repeats, test.powered):
            (query,) = queries_from_lexicons([lexicon])
            if resolve(query, outcome.subject.models, policy).reason is None:
                names.append(lexicon.name)
    return names


def _command(name: str, subject: Subject, policy: WordPolicy, *options: str) -> str:
    """Return a command on the vectors of a subject, looked up alike; vectors in no file are named by a placeholder."""
    models = subject.models
    sources = [model.source for model in models]
    if sources == [str(replicate_path(seed)) for seed in range(REPLICATES)]:
        sources = []
    elif not all(map(os.path.exists, sources)) or subject.viewed:
        sources = ["VECTORS"]
    words = ["biasgauge", name, *sources, *options]
    fallback = policy.uses_fallback(models)
    if fallback != DEFAULT_POLICY.uses_fallback(models):
        flag = "--case-fallback" if fallback else "--no-case-fallback"
        words += ["--case-fallback", "yes" if fallback else "no"] if name == "audit" else [flag]
    if policy.min_coverage != DEFAULT_POLICY.min_coverage:
        words += ["--min-coverage", f"{policy.min_coverage:g}"]
    if len(sources) > 1 and not all(model.lineage for model in models):
        words.append("--replicates")
    return shlex.join(words)
