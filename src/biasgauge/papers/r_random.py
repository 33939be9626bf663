"""R's random numbers, for scripts whose results hang on `set.seed`."""

from __future__ import annotations

import numpy as np

from biasgauge.core import Floats

_MASK = 0xFFFFFFFF
_STATE = 624
_SCRAMBLES = 50
_TO_UNIT = 2.3283064365386963e-10
_BIG = 134_217_728


def r_normal(seed: int, count: int) -> Floats:
    """What `set.seed(seed); rnorm(count)` gives in R: Mersenne Twister, the seed scrambled as R does, inversion."""
    from scipy.special import ndtri

    state = seed
    for _ in range(_SCRAMBLES):
        state = (69069 * state + 1) & _MASK
    words = []
    for _ in range(_STATE + 1):
        state = (69069 * state + 1) & _MASK
        words.append(state)
    twister = np.random.MT19937()
    twister.state = {"bit_generator": "MT19937", "state": {"key": np.array(words[1:], dtype=np.uint32), "pos": _STATE}}
    uniform = twister.random_raw(2 * count) * _TO_UNIT
    drawn: Floats = ndtri((np.floor(_BIG * uniform[::2]) + uniform[1::2]) / _BIG)
    return drawn
