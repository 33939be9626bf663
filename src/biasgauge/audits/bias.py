"""How biased a model is about each concept that a lexicon speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.core import WordPolicy
from biasgauge.lexicons import AssociationTest, Lexicon, Stereotypes
from biasgauge.scores import Association, mac, weat
from biasgauge.stats import Resampling
from biasgauge.vectors import Embedding

SAMPLES = 10_000
"""Random splits for p where there are too many to look at all."""


def measure_bias(
    model: Embedding,
    lexicon: Lexicon,
    policy: WordPolicy,
    random_state: int,
) -> Iterator[Association]:
    """WEAT, two-sided, for an association test; MAC for stereotypes; nothing for a list that is no test by itself.

    The effect size of WEAT has no interval here: that of its contrast holds its level, that of d does not.
    """
    if isinstance(lexicon, AssociationTest):
        yield weat(
            model,
            lexicon,
            alternative="two-sided",
            policy=policy,
            random_state=random_state,
            samples=SAMPLES,
            interval=None,
        )
    elif isinstance(lexicon, Stereotypes):
        yield mac(
            model,
            lexicon,
            policy=policy,
            interval=Resampling(random_state=random_state),
        )
