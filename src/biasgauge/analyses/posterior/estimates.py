"""Summaries of draws: posterior means with intervals, and convergence diagnostics.

Rank-normalized split R-hat and bulk and tail effective sample size are those of Vehtari, Gelman, Simpson, Carpenter &
Bürkner, "Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC", Bayesian
Analysis 16 (2021). NumPy alone: a command that needs 0.3 s of computing should not import for longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from biasgauge.core import Estimate, Fields, Floats, JsonObject, Record
from biasgauge.results import number_text
from biasgauge.stats import Credible

MOST_RHAT = 1.01
LEAST_ESS = 400
MOST_EDGE = 1e-6
_LABELS = ("connection", "a", "b", "word")


@dataclass(frozen=True, kw_only=True)
class PosteriorMean(Estimate):
    """Posterior mean with its credible interval; level and method of the interval stand once, in the result.

    Attributes:
        sd: posterior standard deviation.
        word: of which protected word; None for the group.
    """

    renamed: ClassVar[Mapping[str, str]] = {"value": "mean"}
    hidden: ClassVar[frozenset[str]] = frozenset(
        {"level", "method", "n", "statistic", "k", "over", "resamples", "undefined_resamples"}
    )

    sd: float | None = None
    word: str | None = None

    @property
    def mean(self) -> float | None:
        """The posterior mean; None when undefined."""
        return self.value

    def to_dict(self) -> JsonObject:
        """Return the JSON object of `--json`: labels first, the reason only where it is needed."""
        shape = super().to_dict()
        ordered = {name: shape[name] for name in (*_LABELS, *shape) if name in shape}
        return {name: value for name, value in ordered.items() if name != "reason" or value is not None}


@dataclass(frozen=True, kw_only=True)
class ContrastMean(PosteriorMean):
    """Posterior of a contrast.

    Attributes:
        median: posterior median.
        p_direction: probability of its median's sign, in [.5, 1]; .5 says nothing.
        p_above: probability that it is larger than `smallest`; this and the next are None without a `smallest`.
        p_equivalent: probability that it is no larger than `smallest` either way.
        p_below: probability that it is smaller than −`smallest`: an association opposite to what the question claims.
    """

    hidden: ClassVar[frozenset[str]] = PosteriorMean.hidden | {"word"}

    median: float | None = None
    p_direction: float | None = None
    p_above: float | None = None
    p_equivalent: float | None = None
    p_below: float | None = None


def posterior_means(draws: Floats, credible: Credible, rope: float | None = None) -> list[dict[str, Any]]:
    """Mean, interval and sd of each column of draws; of differences, with a `rope`, the two probabilities too."""
    if not draws.shape[1]:
        return []
    low, high = credible.ends(draws)
    parts = {"value": draws.mean(axis=0), "low": low, "high": high, "sd": draws.std(axis=0, ddof=1)}
    if rope is not None:
        parts["p_direction"] = np.maximum((draws > 0).mean(axis=0), (draws < 0).mean(axis=0))
        parts["p_equivalent"] = (np.abs(draws) <= rope).mean(axis=0)
    interval = {"level": credible.prob, "method": credible.kind}
    columns = zip(*(values.tolist() for values in parts.values()), strict=True)
    return [{**dict(zip(parts, numbers, strict=True)), **interval} for numbers in columns]


def contrast_mean(draws: Floats, credible: Credible, smallest: float | None) -> Fields:
    """Summarize draws of a contrast: the fields of `ContrastMean`."""
    (numbers,) = posterior_means(draws[:, None], credible, smallest or 0.0)
    beyond = {
        "p_above": float((draws > (smallest or 0.0)).mean()),
        "p_equivalent": numbers["p_equivalent"],
        "p_below": float((draws < -(smallest or 0.0)).mean()),
    }
    probabilities = dict.fromkeys(beyond) if smallest is None else beyond
    return {**numbers, "median": float(np.median(draws)), **probabilities}


@dataclass(frozen=True)
class Diagnostics(Record):
    """Convergence diagnostics of the draws.

    Attributes:
        rhat_max: largest rank-normalized split R-hat; 1 when chains agree. None with too few draws.
        rhat_of: the parameter it belongs to.
        ess_min: smallest effective sample size, bulk or tail; None with too few draws.
        ess_of: the parameter it belongs to.
        divergences: divergent transitions of NUTS; None for the other samplers.
        acceptance: share of proposals accepted; None for NUTS.
        problems: what is wrong, in sentences; empty when the draws can be trusted.
    """

    rhat_max: float | None
    rhat_of: str
    ess_min: float | None
    ess_of: str
    divergences: int | None = None
    acceptance: float | None = None
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True when no diagnostic failed."""
        return not self.problems

    def derived(self) -> dict[str, bool]:
        """The key "ok"."""
        return {"ok": self.ok}

    def sentence(self, sampler: str) -> str:
        """Verdict on the draws, with R-hat and effective draws."""
        if self.rhat_max is None or self.ess_min is None:
            return f"Diagnostics: {'; '.join(self.problems)}."
        verdict = "good" if self.ok else "FAILED"
        numbers = f"R-hat {number_text(self.rhat_max, 3)}, effective draws {number_text(self.ess_min, 0)}"
        return f"Diagnostics: {verdict} ({numbers}, {sampler})."


def diagnose(
    parameters: Mapping[str, Floats],
    *,
    divergences: int | None = None,
    acceptance: float | None = None,
    edge: float = 0.0,
) -> Diagnostics:
    """Judge draws, chains × draws × values by name; `edge` is the density where the exact sampler stopped looking."""
    if not parameters or any(draws.shape[1] < 8 for draws in parameters.values()):
        return Diagnostics(None, "", None, "", divergences, acceptance, ("there are too few draws to judge them",))
    rhats, sizes = {}, {}
    for name, draws in parameters.items():
        agreement, bulk = _rhat_and_bulk(_halves(draws))
        rhats[name] = float(agreement.max(initial=1.0))
        sizes[name] = float(np.minimum(bulk, ess_tail(draws)).min(initial=np.inf))
    worst, fewest = max(rhats, key=rhats.__getitem__), min(sizes, key=sizes.__getitem__)
    problems = []
    if not rhats[worst] <= MOST_RHAT:
        rhat = number_text(rhats[worst], 3)
        problems.append(f"R-hat of {worst} is {rhat}, above {MOST_RHAT}: the chains do not agree")
    if not sizes[fewest] >= LEAST_ESS:
        problems.append(f"the effective sample size of {fewest} is {sizes[fewest]:.0f}, below {LEAST_ESS}")
    if divergences:
        problems.append(f"{divergences} transitions diverged: part of the posterior may be missing")
    if edge > MOST_EDGE:
        problems.append("the posterior reaches the edge of where the sampler looks")
    return Diagnostics(rhats[worst], worst, sizes[fewest], fewest, divergences, acceptance, tuple(problems))


def rhat(draws: Floats) -> Floats:
    """Rank-normalized split R-hat of each value, the larger of bulk and folded; draws are chains × draws × values."""
    return _rhat_and_bulk(_halves(draws))[0]


def ess_bulk(draws: Floats) -> Floats:
    """Effective sample size of each value, for the middle of the distribution."""
    return _rhat_and_bulk(_halves(draws))[1]


def ess_tail(draws: Floats) -> Floats:
    """Effective sample size of each value for the 5 % and the 95 % quantile, the smaller of the two."""
    halves = _halves(draws)
    quantiles = np.quantile(draws, (0.05, 0.95), axis=(0, 1))[..., None, None]
    return np.minimum(*(_ess((halves <= quantile).astype(np.float64)) for quantile in quantiles))


def _halves(draws: Floats) -> Floats:
    """Values × half chains × draws: each chain in two."""
    half = draws.shape[1] // 2
    return np.ascontiguousarray(np.moveaxis(np.concatenate([draws[:, :half], draws[:, -half:]]), 2, 0))


def _rhat_and_bulk(halves: Floats) -> tuple[Floats, Floats]:
    scores = _normal_scores(halves)
    folded = _normal_scores(np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True)))
    return np.maximum(_plain_rhat(scores), _plain_rhat(folded)), _ess(scores)


@lru_cache(maxsize=4)
def _scores(size: int) -> Floats:
    """Normal scores of the ranks 1, 1.5, 2, … of so many draws."""
    normal = NormalDist()
    return np.array([normal.inv_cdf((0.5 * step - 0.375) / (size + 0.25)) for step in range(2, 2 * size + 1)])


def _normal_scores(halves: Floats) -> Floats:
    """Replace each draw by the normal quantile of its rank among all chains; ties share their mean rank."""
    flat = halves.reshape(len(halves), -1)
    scores = np.empty(flat.shape)
    for index, draws in enumerate(flat):
        order = draws.argsort()
        ordered = draws[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        ends = np.append(starts[1:], len(draws))
        # the ranks of equal draws run from `start` + 1 to `end`; twice their mean is a whole number
        scores[index, order] = _scores(len(draws))[np.repeat(starts + ends - 1, ends - starts)]
    return scores.reshape(halves.shape)


def _plain_rhat(chains: Floats) -> Floats:
    length = chains.shape[2]
    between = length * chains.mean(axis=2).var(axis=1, ddof=1)
    within = chains.var(axis=2, ddof=1).mean(axis=1)
    ratio = np.divide(between, within, out=np.ones_like(within), where=within > 0)
    return np.where((within > 0) | (between == 0), np.sqrt((ratio + length - 1) / length), np.inf)


def _ess(chains: Floats) -> Floats:
    """Effective sample size from autocorrelations, cut off by Geyer's initial monotone sequence."""
    _, number, length = chains.shape
    centered = chains - chains.mean(axis=2, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centered, n=2 * length, axis=2)) ** 2
    # autocovariance at every lag, mean over the chains: the inverse transform of the power spectrum
    covariance = np.fft.irfft(spectrum.mean(axis=1), n=2 * length, axis=1)[:, :length] / length
    first = covariance[:, :1]
    total = first[:, 0] + chains.mean(axis=2).var(axis=1, ddof=1)
    constant = total <= 0
    correlation = 1 - (first * length / (length - 1) - covariance) / np.where(constant, 1, total)[:, None]
    correlation[:, 0] = 1
    pairs = correlation[:, : length // 2 * 2].reshape(len(chains), -1, 2).sum(axis=2)
    most = max(1, (length - 1) // 2 - 1)  # the last lags rest on too few draws
    negative = pairs[:, : most + 1] < 0
    count = np.where(negative.any(axis=1), negative.argmax(axis=1), most)
    sums = np.where(np.arange(pairs.shape[1]) < count[:, None], np.minimum.accumulate(pairs, axis=1), 0)
    following = correlation[np.arange(len(chains)), np.minimum(2 * count, length - 1)]
    time = np.maximum(-1 + 2 * sums.sum(axis=1) + np.maximum(following, 0), 1 / np.log10(number * length))
    sizes: Floats = np.where(constant, number * length, number * length / time)
    return sizes
