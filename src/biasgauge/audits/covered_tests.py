"""Tests that ask what another asks, in words that some vectors have."""

from __future__ import annotations

from biasgauge import registry
from biasgauge.audits.commands import vectors_command
from biasgauge.audits.measurement import Unmeasurable
from biasgauge.core import WordPolicy, resolve
from biasgauge.lexicons import AssociationTest, queries_from_lexicons


def covered_tests_command(outcome: Unmeasurable, policy: WordPolicy) -> str:
    """Return the command that asks a question without enough words in others; empty where the models have none."""
    options = [word for name in _covered_tests(outcome, policy) for word in ("--lexicon", name)]
    return vectors_command("audit", outcome.subject, policy, *options) if options else ""


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
