"""What Badder Seeds (2022) printed, and the lists of its appendix, as far as they are computed with.

Numbers "read off" are from its figures, which print none; those of the notebooks are from the output that was released
with the code.
"""

from __future__ import annotations

from importlib.resources import files

from biasgauge.io import parse_toml
from biasgauge.papers.paper import printed_numbers

PACKAGE = "biasgauge.papers.badderseeds2022"
PRINTED = printed_numbers(PACKAGE)
APPENDIX = parse_toml(files(PACKAGE).joinpath("appendix.toml").read_bytes(), "appendix.toml")
"""Lists by name; the file says what each is."""
CORPORA = ("nyt", "wikitext", "romance", "history")
REVIEWS = 500
"""Reviews of a book that were drawn, and that it must have at least."""
FEMALE_SETS = tuple(APPENDIX["figure3"]["history"])
"""The sets of Figure 3."""
