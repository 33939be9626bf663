"""Error variances of a planned design, from variance components, and how many levels of a facet a target needs.

With n levels of each facet, a component counts in the mean over the design by its variance divided by the product of
the numbers of levels of its facets. What an object's universe score holds, what disturbs the order of objects (relative
error) and what disturbs their values (absolute error) follows Brennan, *Generalizability Theory* (2001), chapters 4
and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from biasgauge.arrays import Floats

QUERY = "query"
"""The object whose score is the mean over all of its words: compared with 0, not with others of its kind."""


@dataclass(frozen=True)
class Model:
    """Components, one row a draw (the first row: the estimates), and what they are of.

    Attributes:
        facets: of each component.
        variances: draws × components.
        squared_mean: for each draw the squared mean of all scores, net of its error; for queries.
        target: what is measured: "word", "pair" or "query".
        fixed: facets whose levels are all there are.
    """

    facets: tuple[tuple[str, ...], ...]
    variances: Floats
    squared_mean: Floats
    target: str
    fixed: frozenset[str]

    def parts(self, levels: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
        """Universe-score variance, relative and absolute error variance, for each draw; levels may be infinite."""
        universe = self.squared_mean.copy() if self.target == QUERY else np.zeros(len(self.variances))
        relative, absolute = np.zeros(len(self.variances)), np.zeros(len(self.variances))
        for place, facets in enumerate(self.facets):
            others = [name for name in facets if name != self.target]
            part = self.variances[:, place] / float(np.prod([levels[name] for name in others]))
            sampled = any(name not in self.fixed for name in others)
            if self.target in facets and not sampled:
                universe += part
            elif sampled:
                absolute += part
                if self.target in facets:
                    relative += part
        return universe, relative, absolute

    def coefficients(self, levels: Mapping[str, float]) -> tuple[Floats, Floats]:
        """Generalizability (relative) and dependability (absolute) of the mean over a design; NaN where undefined."""
        universe, relative, absolute = self.parts(levels)
        return _ratio(universe, relative), _ratio(universe, absolute)

    def needed(self, facet: str, levels: Mapping[str, float], goal: float, *, relative: bool) -> Floats:
        """Levels of a facet that is not fixed at which the coefficient reaches `goal`; infinite where none do.

        The error falls as a + b / n with the number n of levels; the universe score does not depend on it.
        """
        side = 1 if relative else 2
        universe = self.parts(levels)[0]
        least = self.parts({**levels, facet: np.inf})[side]
        falling = self.parts({**levels, facet: 1.0})[side] - least
        room = universe * (1 - goal) / goal - least
        found: Floats = np.full(len(room), np.inf)
        np.divide(falling, room, out=found, where=room > 0)
        found[(falling <= 0) & (room >= 0)] = 1.0
        return np.maximum(found, 1.0)


def _ratio(universe: Floats, error: Floats) -> Floats:
    total = universe + error
    ratio: Floats = np.divide(universe, total, out=np.full(len(total), np.nan), where=total > 0)
    return ratio
