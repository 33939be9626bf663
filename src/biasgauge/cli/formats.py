"""`biasgauge formats`: the formats of vector files that are read and written."""

from __future__ import annotations

from biasgauge import vectors as embeddings
from biasgauge.cli.command import OPTIONS, Options, Outcome, command

EXAMPLES = """\
Formats are found from the content of a file, never from its name.

Examples:
  biasgauge formats
  biasgauge formats --json
"""


@command(examples=EXAMPLES)
def formats(*, options: Options = OPTIONS) -> Outcome:
    """List the formats of vector files that are read and written."""
    return Outcome(embeddings.list_formats())
