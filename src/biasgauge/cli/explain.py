"""`biasgauge explain`: what a verdict or a rule means."""

from __future__ import annotations

from biasgauge import audits
from biasgauge.cli.command import SAVE, Outcome, ResultOptions, command

EXAMPLES = """\
A verdict, or a rule as a page, a table or JSON names it; without a name, the
list of all. docs/measures/verdicts.md says how often verdicts are wrong.

Examples:
  biasgauge explain
  biasgauge explain inconclusive
  biasgauge explain word-frequency
  biasgauge explain "held-out attributes" --json
"""


@command(examples=EXAMPLES)
def explain(name: str | None = None, /, *, options: ResultOptions = SAVE) -> Outcome:
    """Explain a verdict, or a rule that verdicts rest on.

    Args:
        name: a verdict or a rule; all of them are listed without it
    """
    return Outcome(audits.explain(name))
