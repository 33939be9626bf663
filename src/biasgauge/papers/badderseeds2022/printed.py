"""What Badder Seeds (2022) printed, and the lists of its appendix, as far as they are computed with.

Numbers "read off" are from its figures, which print none; those of the notebooks are from the output that was released
with the code.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files

from biasgauge.papers.paper import printed_numbers, published_rows

PACKAGE = "biasgauge.papers.badderseeds2022"
PRINTED = printed_numbers(PACKAGE)
APPENDIX = tomllib.loads(files(PACKAGE).joinpath("appendix.toml").read_text(encoding="utf-8"))
"""Lists by name; the file says what each is."""
CORPORA = ("nyt", "wikitext", "romance", "history")
REVIEWS = 500
"""Reviews of a book that were drawn, and that it must have at least."""
FEMALE_SETS = tuple(
    row.id.removeprefix("figure3.")
    for row in published_rows(PACKAGE)
    if row.part == "figure3" and row.published is None
)
"""The sets of Figure 3, which prints no number."""
