"""`biasgauge simulate-null`: what does an association test report when there is nothing to find?"""

from __future__ import annotations

from biasgauge.cli.from_function import command

EXAMPLES = """\
Data sets are drawn in which no set of words is associated with anything, and
the test is run on each: how large do its numbers get, and how often does it
find something?

The defaults are the paper's: 8 + 8 target words, 8 + 8 attributes, similarities
from Normal(0, .08), and its example, an effect size of 1.267. The paper says
that about 38 % of such data sets are as extreme. That is a fault of its script,
which averages one word of eight; as WEAT is defined, 0.8 % are.

p is honest while target words are independent. --family-sd makes the words of a
topic associate alike, and shows what happens then.

Examples:
  biasgauge simulate-null
  biasgauge simulate-null --n-x 25 --n-y 25 --observed 0.8
  biasgauge simulate-null --family-sd 0.04
  biasgauge simulate-null --test mac --set attribute_sd=0.02
  biasgauge simulate-null --test rnd --simulations 1000 --observed 0.2
  biasgauge simulate-null --figures figures --json > null.json
"""

app = command(
    "analyses.posterior:simulate_null",
    options="test n_x n_y n_a n_b sd family_sd simulations observed alternative as_published",
    examples=EXAMPLES,
    terms="WEAT",
    doing="simulating",
    figures=True,
)
