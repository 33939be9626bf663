"""What robustness comes to, in sentences."""

from __future__ import annotations

from biasgauge.agreement import Estimate
from biasgauge.sensitivity.result import RobustnessResult

BANDS = ("poor", "slight", "fair", "moderate", "substantial", "almost perfect")
LIMITS = (0.0, 0.2, 0.4, 0.6, 0.8)
SOURCE = (
    "Landis & Koch 1977: below 0 poor, to .2 slight, to .4 fair, to .6 moderate, to .8 substantial, then almost perfect"
)


TITLES = {
    "pair_forms": "Another form of the pair, {}",
    "word_forms": "Another form of the words, {}",
    "correspondence": "Against what is known, {}",
    "between_measures": "Another measure, {}",
}


def kappa_band(value: float) -> str:
    """Name of a kappa after Landis & Koch: 0 is slight, .2 still slight, .21 fair."""
    return BANDS[int(value >= LIMITS[0]) + sum(value > limit for limit in LIMITS[1:])]


def sentences(found: RobustnessResult) -> tuple[str, ...]:
    """One sentence for each question that has an answer with an interval."""
    said = [
        f"Another base pair, {one.measure}: agreement on the direction of words is {kappa_band(one.kappa.value)} "
        f"({_with_interval(one.kappa)}); all {one.kappa.k} pairs agree on {_percent(one.unanimous.value)} of "
        f"{one.kappa.n:,} words; {_percent(one.changed_by_one_sd.value)} of the changes move a score by one standard "
        "deviation or more."
        for one in found.base_pairs
        if one.kappa.value is not None
    ]
    for part, title in TITLES.items():
        means = [one for one in found.means if one.part == part and one.kappa.low is not None]
        for against in dict.fromkeys(one.against for one in means):
            mine = [one for one in means if one.against == against]
            values = sorted(one.kappa.value for one in mine if one.kappa.value is not None)
            bands = dict.fromkeys(kappa_band(value) for value in (values[0], values[-1]))
            each = ", ".join(f"{one.measure} {_with_interval(one.kappa)}" for one in mine)
            said.append(f"{title.format(against)} ({mine[0].kappa.n:,} words): {' to '.join(bands)} agreement; {each}.")
    return tuple(said)


def _with_interval(estimate: Estimate) -> str:
    name = "κ" if estimate.statistic.endswith("kappa") else "mean κ"
    if estimate.low is None or estimate.high is None:
        return f"{name} = {estimate.value:.2f}"
    return f"{name} = {estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def _percent(value: float | None) -> str:
    return "an unknown share" if value is None else f"{value:.0%}"
