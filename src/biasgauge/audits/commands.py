"""Commands that lead on from an answer, on the vectors that it is about."""

from __future__ import annotations

import os
import shlex

from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdict_rule import Case
from biasgauge.core import DEFAULT_POLICY, WordPolicy
from biasgauge.lexicons import AssociationTest
from biasgauge.vectors import REPLICATES, replicate_path


def plan_command(case: Case) -> str:
    """Return the command that plans longer lists for a test: its vectors, the contrast that matters and the level.

    A list that is in no file is named by a placeholder; other kinds of question have no plan.
    """
    lexicon = case.measured.query.lexicon
    if not isinstance(lexicon, AssociationTest):
        return ""
    return vectors_command(
        "plan", case.measured.subject, case.policy,
        "--test", lexicon.name if lexicon.shipped else lexicon.path or "TEST.toml",
        "--size", f"{case.smallest:.4g}", "--alpha", f"{case.rules.alpha / case.corrected.k:.4g}",
    )  # fmt: skip


def vectors_command(name: str, subject: Subject, policy: WordPolicy, *options: str) -> str:
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
