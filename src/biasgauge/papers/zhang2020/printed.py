"""What Zhang, Sneyd and Stevenson (2020) printed, as far as it is computed with.

A positive score is female in the paper. Its pairs are (female, male); ours are (male, female), which turns the sign of
every score and changes no kappa. Digits beyond those of the paper are from the output of the authors' notebook.
"""

from __future__ import annotations

from biasgauge.papers.paper import printed_numbers

PRINTED = printed_numbers("biasgauge.papers.zhang2020")
MEASURES = ("dbwa", "ripa", "nbm")
PAIRS = tuple(name.removeprefix("figure2.") for name in PRINTED if name.startswith("figure2.") and "~" in name)
MEAN = "mean"
"""What stands for all pairs in Tables 3 to 6."""

SD = {"dbwa": 0.0525342, "ripa": 0.2385657, "nbm": 0.4309060}
"""The standard deviations of Table 1 with the digits of the notebook."""
LIMITED, NEUTRAL = PRINTED["table1.words"], PRINTED["table1.neutral"]
"""Frequent words that are scored, and those that may be neighbors."""
PROFESSIONS, WITH_ALL_FORMS = PRINTED["lists.professions"], PRINTED["table4.words"]
TRUTHS = {"bsri": PRINTED["lists.bsri"], "animals": PRINTED["lists.animals"]}
