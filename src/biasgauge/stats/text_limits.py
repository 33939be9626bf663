"""Limits of blank and of detection for a new planting, in the same text or in one that was not calibrated.

A model of the score of set s, of w words of dose x, in run r of planting p of text t:

    y = (μ + text_t) + β_t x + planting_tp + run_tpr + words_s

Texts differ in their level and by a factor in their slope (log β_t is normal), plantings and runs move all words of a
model alike, and words of one dose differ within a model (variance σ², of which the share `lasting` stays when a text is
trained again). With one text, t is fixed, and limits hold for that text alone.

Each component is estimated from the variance of the means of the level below it, less what words explain of it. A limit
is a prediction limit, mean ± √(Σ v_k t_k²): v_k is what component k contributes to the variance of the new mean around
the estimated one, t_k the 95 % quantile of Student's t with the degrees of freedom of k. With one component this is the
exact limit of the textbooks; with several it is a little wider than the quantile of the sum of their t variables. One t
with Satterthwaite's degrees of freedom is too narrow where texts are few: an estimate of text_t that happens to be
small lowers the variance and raises the degrees of freedom at once.

That two or three texts happen to be alike is little evidence that others are. Between texts a margin is therefore never
less than that of an assumed standard deviation a (`ASSUMED_LEVEL`, `ASSUMED_SLOPE`), z a √(2 / (T + 1)) in the place of
t s: two observations of what is assumed beside T − 1 degrees of freedom without any difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.special import stdtrit

from biasgauge.core import Floats, Record
from biasgauge.stats.dose_curves import DoseResponse, Variances

Side = Literal["first", "second"]
SIDES: tuple[Side, ...] = get_args(Side)
_REACH = 1e6
"""Dose up to which a limit of detection is sought: so large that limits are not only found where they happen to be
small, and which then are too small."""
_STEPS = 50
"""Halvings of that range."""
ASSUMED_LEVEL = 0.3
"""Standard deviation between texts of their level that is assumed where they are few, in units of that of words."""
ASSUMED_SLOPE = 0.5
"""Standard deviation between texts of the log of their slope that is assumed where texts are few: a factor of 1.6."""
_ASSUMED_DF = 1e6
"""Degrees of freedom of a variance that is assumed."""
Polynomial = tuple[float, float, float]


@dataclass(frozen=True)
class Source(Record):
    """Part of the variance of a new mean around the estimated one.

    Attributes:
        name: "texts", "plantings", "runs" or "words".
        variance: what it contributes.
        df: degrees of freedom of its estimate; None of a variance that is assumed.
    """

    name: str
    variance: float
    df: float | None


@dataclass(frozen=True)
class TextLine(Record):
    """Lines of the models of one text and spread of its words: all that limits need of it.

    Attributes:
        blanks: mean of the blanks, by planting and run.
        lines: intercept, slope to the second side and slope to the first, by planting and run (least squares).
        leverage: variance of the fitted mean that is due to words, in units of σ², as a polynomial of the size of the
            dose to the second and to the first side.
        blank_words: blanks in a model.
        blank_variance, dose_variance: σ² of blanks and of words with a dose, within a model.
        lasting: share of σ² that stays when the text is trained again.
        common: variance of the mean of all plantings that is due to words, in units of that of one planting: 1 if the
            same words are blanks in all of them, 1 / plantings if none is twice.
        df: degrees of freedom of σ².
        largest: largest dose.
        follows: True if scores rise with the dose beyond chance.
    """

    blanks: tuple[tuple[float, ...], ...]
    lines: tuple[tuple[Polynomial, ...], ...]
    leverage: tuple[Polynomial, Polynomial]
    blank_words: float
    blank_variance: float
    dose_variance: float
    lasting: float
    common: float
    df: float
    largest: float
    follows: bool = True


class TextMoments(NamedTuple):
    """Numbers of a text that a bootstrap draws anew, the first of each being the estimate.

    Attributes:
        blanks: draw × planting × run.
        lines: draw × planting × run × coefficient.
        blank_variance, dose_variance: by draw.
        between: factors of the variances between plantings and between runs, by draw (χ² over its degrees of freedom).
    """

    blanks: Floats
    lines: Floats
    blank_variance: Floats
    dose_variance: Floats
    between: tuple[Floats, Floats]


class Bounds(NamedTuple):
    """Limits to one side, for every draw; infinite where no dose is detected."""

    blank: Floats
    detection: Floats
    sources: tuple[Source, ...]


def text_line(
    scores: Floats, doses: Floats, levels: Floats, response: DoseResponse, *, one_slope: bool = False
) -> TextLine:
    """Summarize one text.

    Args:
        scores: words × plantings × runs.
        doses: counted, words × plantings.
        levels: intended.
        response: `dose_response` of the same.
        one_slope: the same slope to both sides.
    """
    moments = text_moments(scores, doses, levels, np.ones((1, len(scores))), one_slope=one_slope)
    lasting, common, df = _overlap(scores.shape, levels == 0, response.variances)
    blanks, lines = moments.blanks[0].tolist(), moments.lines[0].tolist()
    return TextLine(
        blanks=tuple(map(tuple, blanks)),
        lines=tuple(tuple(tuple(line) for line in runs) for runs in lines),
        leverage=_leverage(doses, levels, one_slope=one_slope),
        blank_words=float((levels == 0).sum(axis=0).mean()),
        blank_variance=float(moments.blank_variance[0]),
        dose_variance=float(moments.dose_variance[0]),
        lasting=lasting,
        common=common,
        df=df,
        largest=max(abs(float(doses[levels == dose].mean())) for dose in np.unique(levels)),
        follows=response.follows,
    )


def text_moments(
    scores: Floats, doses: Floats, levels: Floats, weights: Floats, *, one_slope: bool = False
) -> TextMoments:
    """Means, lines and variances of each model under each row of weights, which say how often each word is drawn."""
    blank = levels == 0
    design = _design(doses, levels, one_slope=one_slope)  # words × plantings × columns
    grams = np.einsum("di,ipk,ipl->dpkl", weights, design, design, optimize=True)
    products = np.einsum("di,ipk,ipr->dpkr", weights, design, scores, optimize=True)
    solved = np.linalg.pinv(grams, hermitian=True) @ products  # draw × planting × column × run
    lines = np.moveaxis(solved, 2, 3)
    if lines.shape[3] == 2:
        lines = lines[..., [0, 1, 1]]
    counts = weights @ blank
    with np.errstate(invalid="ignore", divide="ignore"):
        blanks = np.einsum("di,ip,ipr->dpr", weights, blank, scores, optimize=True) / counts[:, :, None]
    blanks = np.where(np.isfinite(blanks), blanks, blanks[:1])  # a draw without blanks keeps the mean of all
    ones = np.ones_like(scores)
    blank_variance = _pooled_variance(scores, blank[:, :, None] * ones, weights)
    dosed = [(levels == dose)[:, :, None] * ones for dose in np.unique(levels[~blank])]
    variances = [_pooled_variance(scores, chosen, weights) for chosen in dosed]
    dose_variance = np.average(np.array(variances), axis=0, weights=[chosen.sum() for chosen in dosed])
    alone = np.ones(len(weights))
    return TextMoments(blanks, lines, blank_variance, dose_variance, (alone, alone))


def limit_bounds(
    texts: Sequence[TextLine], side: Side, *, words: int, runs: int = 1, moments: Sequence[TextMoments] | None = None
) -> Bounds:
    """Limits of the mean of `words` words over `runs` runs, in a new planting; of a new text where there are several.

    The limit of detection is the smallest dose at which the lower prediction limit reaches the limit of blank.
    `moments` are draws of a bootstrap, one for each text; the texts themselves by default.
    """
    drawn = [_as_moments(text) for text in texts] if moments is None else moments
    sign, column = (1.0, 2) if side == "first" else (-1.0, 1)
    levels = np.array([one.blanks.mean(axis=(1, 2)) for one in drawn])  # texts × draws
    common = _sources(texts, drawn, [one.blanks for one in drawn], "blank", (0.0, side), words, runs)
    between = _between_texts(texts, drawn, levels)
    sources = [*between, *common]
    blank = sign * levels.mean(axis=0) + _margin(sources)
    intercepts = sign * np.array([one.lines[..., 0].mean(axis=(1, 2)) for one in drawn])
    slopes = np.array([one.lines[..., column].mean(axis=(1, 2)) for one in drawn])
    rises = (slopes > 0).all(axis=0) & all(text.follows for text in texts)
    slope, slope_margin = _new_slope(np.where(rises, slopes, 1.0))

    def surplus(dose: Floats) -> Floats:
        """Lower prediction limit at a dose, less the limit of blank."""
        values = [
            sign * one.lines[..., 0] + one.lines[..., column] * dose[:, None, None] for one in drawn
        ]  # draw × planting × run
        within = _sources(texts, drawn, values, "dose", (dose, side), words, runs)
        margin = np.hypot(_margin([*between, *within]), slope_margin * dose)
        gap: Floats = intercepts.mean(axis=0) + slope * dose - margin - blank
        return gap

    low, high = np.zeros_like(blank), np.full_like(blank, _REACH)
    reached = rises & (surplus(high) >= 0)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        above = surplus(middle) >= 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    detection = np.where(reached, high, np.inf)
    named = tuple(Source(name, float(variance[0]), None if df == _ASSUMED_DF else df) for name, variance, df in sources)
    return Bounds(sign * blank, detection, named)


def contrast_bounds(texts: Sequence[TextLine], sizes: tuple[int, int], side: Side) -> tuple[float, float]:
    """Limits of detection of the difference of two means in one model, of lists of these sizes: as a value and a dose.

    What moves all words of a text, a planting or a run alike is in both means, and words alone remain. With
    B = t √(σ²_blank (1/m + 1/n)) and D = t √(σ²_dose/m + σ²_blank/n) a contrast of blanks stays below B, and one that
    is expected at B + D exceeds it. The dose allows for slopes of texts as `limit_bounds` does; infinite where none is
    detected.
    """
    drawn = [_as_moments(text) for text in texts]
    column = 2 if side == "first" else 1
    blank, dose = (
        float(stdtrit(_word_df(texts, kind), 0.95)) * float(np.sqrt(variance))
        for kind, variance in (
            ("blank", _mean_variance(texts, sizes[0], "blank") + _mean_variance(texts, sizes[1], "blank")),
            ("dose", _mean_variance(texts, sizes[0], "dose") + _mean_variance(texts, sizes[1], "blank")),
        )
    )
    slopes = np.array([one.lines[..., column].mean() for one in drawn])
    if not (slopes > 0).all():
        return blank + dose, float("inf")
    slope, slope_margin = (float(value) for value in _new_slope(slopes))
    low, high = 0.0, _REACH
    if slope * high - np.hypot(dose, slope_margin * high) < blank:
        return blank + dose, float("inf")
    for _ in range(_STEPS):
        middle = (low + high) / 2
        above = slope * middle - np.hypot(dose, slope_margin * middle) >= blank
        low, high = (low, middle) if above else (middle, high)
    return blank + dose, high


def _mean_variance(texts: Sequence[TextLine], words: int, kind: str) -> float:
    """σ² / words, the mean over texts."""
    variances = [text.blank_variance if kind == "blank" else text.dose_variance for text in texts]
    return float(np.mean(variances)) / words


_Terms = list[tuple[str, Floats, float]]
"""Name, variance for every draw, and degrees of freedom of each source."""


def _margin(sources: _Terms) -> Floats:
    """√(Σ v t²), each source with the quantile of its own degrees of freedom."""
    total: Floats = np.sum([variance * float(stdtrit(df, 0.95)) ** 2 for _, variance, df in sources], axis=0)
    return np.sqrt(total)


def _between_texts(texts: Sequence[TextLine], drawn: Sequence[TextMoments], levels: Floats) -> _Terms:
    """(1 + 1/T) τ²: of a new text around the mean of T, less what words explain of their differences."""
    count = len(texts)
    if count == 1:
        return []
    by_words = np.mean(
        [
            text.common * _word_part(text, one, "blank", 1 / text.blank_words)
            for text, one in zip(texts, drawn, strict=True)
        ],
        axis=0,
    )
    component = np.maximum(levels.var(axis=0, ddof=1) - by_words, 0.0)
    least = ASSUMED_LEVEL**2 * 2 / (count + 1) * np.mean([one.blank_variance for one in drawn], axis=0)
    t, z = (float(stdtrit(df, 0.95)) for df in (count - 1, _ASSUMED_DF))
    assumed = t**2 * component[0] < z**2 * least[0]
    variance, df = (least, _ASSUMED_DF) if assumed else (component, float(count - 1))
    return [("texts", (1 + 1 / count) * variance, df)]


def _word_part(text: TextLine, drawn: TextMoments, kind: str, leverage: float | Floats) -> Floats:
    """Variance of a planting's mean that is due to its words: leverage σ² (lasting + (1 − lasting) / runs)."""
    runs = drawn.blanks.shape[2]
    variance = drawn.blank_variance if kind == "blank" else drawn.dose_variance
    part: Floats = variance * (text.lasting + (1 - text.lasting) / runs) * leverage
    return part


def _sources(
    texts: Sequence[TextLine], drawn: Sequence[TextMoments], values: Sequence[Floats], kind: str,
    at: tuple[float | Floats, Side], words: int, runs: int,
) -> _Terms:  # fmt: skip
    """Contributions of plantings, runs and words within texts, means over texts of those of each.

    With the variance P of plantings, S of runs and σ² of words, a new mean in a text with p plantings of r runs differs
    from the text's own by P (1 + 1/p) + S (1/runs + 1/(p r)) + σ² (1/words + …). Where a text is new, the estimated
    variance between texts has the part 1/p of this already.
    """
    alone = len(texts) == 1
    parts = []
    for text, one, value in zip(texts, drawn, values, strict=True):
        plantings, trained = value.shape[1:]
        leverage = _leverage_at(text, kind, at)
        variance = one.blank_variance if kind == "blank" else one.dose_variance
        of_words = _word_part(text, one, kind, leverage)  # of the mean of one planting
        of_text = text.common * of_words  # of the mean of all plantings
        between: Floats = np.zeros(len(value))
        if plantings > 1:
            unlike = (of_words - of_text) / (1 - 1 / plantings)
            observed = value.mean(axis=2).var(axis=1, ddof=1)
            between = np.maximum(observed - unlike, 0.0) * (1 + 1 / plantings if alone else 1 - 1 / plantings)
        within: Floats = np.zeros(len(value))
        if trained > 1:
            observed = value.var(axis=2, ddof=1).mean(axis=1)
            share = 1 / runs - 1 / trained if plantings > 1 or not alone else 1 / runs + 1 / trained
            within = np.maximum(observed - variance * (1 - text.lasting) * leverage, 0.0) * max(share, 0.0)
        new = variance * (text.lasting + (1 - text.lasting) / runs) / words
        factors = one.between
        parts.append((between * factors[0], within * factors[1], new + of_text / len(texts), plantings, trained))
    count = [(p - 1, p * (r - 1)) for *_, p, r in parts]
    df_plantings, df_runs = (max(sum(column), 1) for column in zip(*count, strict=True))
    stacked = [np.mean([part[index] for part in parts], axis=0) for index in range(3)]
    df_words = _word_df(texts, kind)
    return [
        ("plantings", stacked[0], float(df_plantings)),
        ("runs", stacked[1], float(df_runs)),
        ("words", stacked[2], df_words),
    ]


def _word_df(texts: Sequence[TextLine], kind: str) -> float:
    """Degrees of freedom of σ²: of all texts, or fewer where texts differ in it, 2 m² / (s² (1 + 1/T)).

    m and s² are mean and variance of the σ² of the texts: a scaled χ² with so many degrees of freedom varies as much as
    the σ² of a new text around their mean.
    """
    freedom = sum(text.df for text in texts)
    if len(texts) == 1:
        return freedom
    variances = np.array([text.blank_variance if kind == "blank" else text.dose_variance for text in texts])
    scatter = float(variances.var(ddof=1)) * (1 + 1 / len(texts))
    return freedom if scatter <= 0 else max(min(freedom, 2 * float(variances.mean()) ** 2 / scatter), 1.0)


def _leverage_at(text: TextLine, kind: str, at: tuple[float | Floats, Side]) -> Floats:
    """Variance of the mean of blanks, or of the line at a dose, in units of σ²."""
    dose, side = at
    if kind == "blank":
        return np.array(1 / text.blank_words)
    constant, linear, square = text.leverage[1 if side == "first" else 0]
    value: Floats = np.asarray(constant + linear * dose + square * np.square(dose))
    return value


def _new_slope(slopes: Floats) -> tuple[Floats, Floats]:
    """Slope of a new text and the distance of its lower limit: geometric mean, and t with T − 1 degrees of freedom."""
    count = len(slopes)
    logs = np.log(slopes)
    center = np.exp(logs.mean(axis=0))
    if count == 1:
        return center, np.zeros_like(center)
    sd = logs.std(axis=0, ddof=1)
    t, z = (float(stdtrit(df, 0.95)) for df in (count - 1, _ASSUMED_DF))
    distance = np.maximum(t * sd, z * ASSUMED_SLOPE * np.sqrt(2 / (count + 1)))
    lower = np.exp(logs.mean(axis=0) - distance * np.sqrt(1 + 1 / count))
    return center, center - lower


def _as_moments(text: TextLine) -> TextMoments:
    """Numbers of a text as a single draw."""
    ones = np.ones(1)
    return TextMoments(
        np.array([text.blanks], np.float64), np.array([text.lines], np.float64), np.array([text.blank_variance]),
        np.array([text.dose_variance]), (ones, ones),
    )  # fmt: skip


def _design(doses: Floats, levels: Floats, *, one_slope: bool) -> Floats:
    """Columns of the line: words × plantings × (1, dose), or (1, negative dose, positive dose)."""
    constant = np.ones_like(doses)
    if one_slope or not ((levels < 0).any() and (levels > 0).any()):
        return np.stack([constant, doses], axis=2)
    return np.stack([constant, np.minimum(doses, 0.0), np.maximum(doses, 0.0)], axis=2)


def _leverage(doses: Floats, levels: Floats, *, one_slope: bool) -> tuple[Polynomial, Polynomial]:
    """Leverage x' (X'X)⁻¹ x of a dose to either side, mean over plantings, as polynomials of its size."""
    design = _design(doses, levels, one_slope=one_slope)
    inverse = np.linalg.pinv(np.einsum("ipk,ipl->pkl", design, design), hermitian=True).mean(axis=0)
    last = inverse.shape[0] - 1
    second = (float(inverse[0, 0]), -2 * float(inverse[0, 1]), float(inverse[1, 1]))
    first = (float(inverse[0, 0]), 2 * float(inverse[0, last]), float(inverse[last, last]))
    return second, first


def _overlap(shape: tuple[int, ...], blank: Floats, variances: Variances) -> tuple[float, float, float]:
    """`lasting`, `common` and `df` of a `TextLine`: the same words are blanks in several plantings and runs."""
    _, plantings, trained = shape
    carrier, planting, run = _word_shares(variances)
    draws_as_blank = blank.sum(axis=1)
    cells = float(draws_as_blank.sum())
    per_planting = cells / plantings
    # A carrier that is a blank in m plantings has the same effect in all of them (Σ m² / (Σ m)²).
    of_all = carrier * float((draws_as_blank**2).sum()) / cells**2 + planting / cells + run / (cells * trained)
    of_single = (carrier + planting + run / trained) / per_planting
    # Satterthwaite: variances of two plantings that share words are correlated by their squared correlation.
    shared = blank.T.astype(np.float64) @ blank
    same = (1 + (trained - 1) * (carrier + planting) ** 2) / trained
    correlation = np.eye(plantings) * same + (1 - np.eye(plantings)) * carrier**2
    df = plantings**2 * per_planting * max(per_planting - 1, 1.0) / float((shared * correlation).sum())
    return carrier + planting, min(of_all / of_single, 1.0), df


def _word_shares(variances: Variances) -> tuple[float, float, float]:
    """Shares of carrier, planting and run in the variance between words of one run."""
    total = variances.word
    if total <= 0:
        return 1.0, 0.0, 0.0
    return variances.carrier / total, (variances.planting or 0.0) / total, (variances.run or 0.0) / total


def _pooled_variance(scores: Floats, chosen: Floats, weights: Floats) -> Floats:
    """Pooled variance of chosen scores within models, for every draw."""
    units = len(scores)
    flat, mask = scores.reshape(units, -1), chosen.reshape(units, -1)
    count = weights @ mask
    total, squares = weights @ (mask * flat), weights @ (mask * flat**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = (squares - total**2 / count) * (count > 1)
    freedom = np.maximum(count - 1, 0).sum(axis=1)
    pooled: Floats = np.nansum(within, axis=1) / np.maximum(freedom, 1)
    return pooled
