"""Tables of the study of Du et al. 2021, each from the blocks of scores alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.reliability import ReliabilityTable
from biasgauge.analyses.reliability.reliabilities import (
    agreement_on_words,
    between_measures,
    between_reliabilities,
    compare_forms,
    standardized,
)
from biasgauge.analyses.reliability.senses import word_properties
from biasgauge.stats import cronbach_alpha, icc_stack
from biasgauge_studies.du2021_blocks import LISTS, MEASURES, Block

LEAST_FOUND = 0.8
"""Of a query's words, for its alpha to be that query's."""
BANDS = (5, 10, 30, 100, 1_000, 10_000)
"""From so many occurrences on, up to the next."""
RARE, FREQUENT = 30, 1_000
"""Below so many occurrences a word is rare, from so many on frequent."""
FEWEST = 20
"""Words of a band, for it to be told."""
PAIR_WORDS = "google10k"
"""Words over which pairs are compared: means over seeds of all words were not kept."""


def lists_of(block: Block) -> tuple[str, ...]:
    """Lists of words that a block says something about."""
    some = tuple(name for name in LISTS if len(block.places(name)) > 1)
    return (*some, "full") if block.whole else some


def distribution(values: np.ndarray, limit: float = 0.5) -> dict[str, float]:
    """Of reliabilities: how many, quantiles, and the percentage below a limit."""
    known = values[~np.isnan(values)]
    points = np.quantile(known, (0.05, 0.25, 0.5, 0.75, 0.95))
    named = dict(zip(("p05", "q1", "median", "q3", "p95"), points.tolist(), strict=True))
    return {"count": len(known), **named, "below_half": 100 * float(np.mean(known < limit))}


def distributions(blocks: list[Block]) -> pd.DataFrame:
    """Reliabilities of words and of pairs over seeds (test-retest) and over measures (inter-rater)."""
    rows: list[dict[str, Any]] = []
    for block in blocks:
        for words in lists_of(block):
            about = {"algorithm": block.kind, "text": block.text, "list": words}
            for of, values in (("word", block.icc_of_words(words)), ("pair", block.icc_of_pairs(words))):
                for measure, own in zip((*MEASURES, "all"), (*values, values.ravel()), strict=True):
                    rows.append(
                        {"reliability": "test_retest", "of": of, **about, "measure": measure, **distribution(own)}
                    )
            if block.whole:
                for (kind, of), values in agreement(block, words).items():
                    rows.append({"reliability": kind, "of": of, **about, "measure": "all", **distribution(values)})
    return pd.DataFrame(rows)


def agreement(block: Block, words: str) -> dict[tuple[str, str], np.ndarray]:
    """Inter-rater consistency of words and of pairs, of scores as they are and with one standard deviation."""
    found = {("inter_rater", "word"): block.raters_of_words(words)}
    if words == "full":
        if "pair_raters" in block.arrays:
            rows, _, error = block.arrays["pair_raters"][1]
            found["inter_rater", "pair"] = (rows - error) / (rows + (len(MEASURES) - 1) * error)
        return found
    averages = block.averages(words)
    for kind, scores in (("inter_rater", averages), ("inter_rater_standardized", standardized(averages))):
        found[kind, "pair"] = raters_of_pairs(scores)
        if kind != "inter_rater":
            found[kind, "word"] = np.asarray(agreement_on_words(scores).value)
    return found


def raters_of_pairs(averages: np.ndarray) -> np.ndarray:
    """ICC(3,1) over measures of every pair, from measures x pairs x words."""
    return np.asarray(icc_stack(averages.transpose(1, 2, 0), "3,1", n_jobs=1).value)


def internal(blocks: list[Block]) -> pd.DataFrame:
    """Cronbach's alpha of each query over pairs, and of the pairs over Google's words."""
    queries = bg.lexicon("du2021_queries").sets
    rows = []
    for block in (block for block in blocks if block.whole):
        about = {"algorithm": block.kind, "text": block.text}
        place = {block.words[row]: number for number, row in enumerate(block.arrays["google"])}
        for query, words in queries.items():
            known = [place[word] for word in words if word in place]
            for measure, scores in zip(MEASURES, block.means, strict=True):
                enough = len(known) >= LEAST_FOUND * len(words)
                alpha = cronbach_alpha(scores[:, known]).value if enough else None
                rows.append({**about, "query": query, "measure": measure, "words": len(known), "alpha": alpha})
        for measure, scores in zip(MEASURES, block.means, strict=True):
            alpha = cronbach_alpha(scores.T).value
            rows.append({**about, "query": "base pairs", "measure": measure, "words": len(place), "alpha": alpha})
    return pd.DataFrame(rows)


def pair_table(blocks: list[Block]) -> pd.DataFrame:
    """Every pair: its reliability over seeds for each measure, and over measures, on Google's words."""
    frames = []
    for block in (block for block in blocks if block.whole):
        columns: dict[str, Any] = {"algorithm": block.kind, "text": block.text, "pair": block.pair_names}
        columns |= dict(zip(MEASURES, block.icc_of_pairs(PAIR_WORDS), strict=True))
        frames.append(pd.DataFrame({**columns, "inter_rater": raters_of_pairs(block.means)}))
    return pd.concat(frames, ignore_index=True)


def rows_of(table: pd.DataFrame, columns: tuple[str, ...]) -> ReliabilityTable:
    """Reliabilities of pairs as the package compares them."""
    long = table.melt(id_vars="pair", value_vars=list(columns), var_name="measure")
    size = len(long)
    nothing, ones = np.full(size, np.nan), np.ones(size, np.int64)
    labels = {name: np.full(size, label, object) for name, label in (("of", "pair"), ("list", PAIR_WORDS))}
    return ReliabilityTable(
        **labels, name=long["pair"].to_numpy(object), measure=long["measure"].to_numpy(object),
        value=long["value"].to_numpy(float), low=nothing, high=nothing, n=ones, k=ones,
        reason=np.full(size, "", object), statistic="ICC", level=0.95, method="",
    )  # fmt: skip


def relations(blocks: list[Block], pairs: pd.DataFrame) -> pd.DataFrame:
    """The correlations and t-tests of the paper's text: for each block, and over all of them where it says so."""
    rows: list[dict[str, Any]] = []
    for block in (block for block in blocks if block.whole):
        about = {"algorithm": block.kind, "text": block.text}
        rows += [
            about_estimate(about, f"r of {r.a} and {r.b} over words", r)
            for r in between_measures(block.means, MEASURES, 0.95)
        ]
    parts: list[tuple[dict[str, str], pd.DataFrame]] = [({"algorithm": "all", "text": "all"}, pairs)]
    parts += [
        ({"algorithm": str(algorithm), "text": str(text)}, part)
        for (algorithm, text), part in pairs.groupby(["algorithm", "text"], sort=False)
    ]
    for about, part in parts:
        both = {"test_retest": rows_of(part, MEASURES), "inter_rater": rows_of(part, ("inter_rater",))}
        known = [(first, second) for first, second in (name.split("~") for name in part["pair"].unique())]
        for kind, of_kind in both.items():
            forms = compare_forms(of_kind, kind, known, [PAIR_WORDS], 0.95)
            rows += [about_estimate(about, f"singular less plural, {kind}", form, t=form.t) for form in forms]
        r = between_reliabilities(both["test_retest"], both["inter_rater"], [PAIR_WORDS], 0.95)[0]
        rows.append(about_estimate(about, "r of test-retest and inter-rater over pairs", r))
    return pd.DataFrame(rows)


def about_estimate(about: dict[str, str], what: str, estimate: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - a number
    """A row about an estimate with its interval."""
    numbers = {name: getattr(estimate, name) for name in ("value", "low", "high", "n", "p")}
    return {**about, "what": what, **numbers, **more}


def by_frequency(blocks: list[Block], *, joined: bool = False) -> pd.DataFrame:
    """Test-retest reliability of words by how often they occur; of kept words where no others are known.

    Words of google10k and others apart; with `joined` all words, too.
    """
    rows = []
    for block in blocks:
        google = np.isin(np.arange(len(block.words)), block.arrays["google"])
        among = {"google10k": google, "others": ~google}
        if joined:
            among["all"] = np.ones(len(google), bool)
        counts = block.counts
        values = block.icc_of_words("full") if block.whole else block.icc_of_rows()
        if not block.whole:
            counts, among = counts[block.arrays["rows"]], {"kept": np.ones(len(block.arrays["rows"]), bool)}
        band = np.searchsorted(BANDS, counts, side="right") - 1
        for number, least in enumerate(BANDS):
            for name, chosen in among.items():
                here = (band == number) & chosen
                for measure, own in zip(MEASURES, values, strict=True):
                    if here.sum() >= FEWEST:
                        about = {"algorithm": block.kind, "text": block.text, "occurs": least, "words": name}
                        rows.append({**about, "measure": measure, **distribution(own[here])})
    return pd.DataFrame(rows)


def frequency_difference(blocks: list[Block], draws: int = 200) -> pd.DataFrame:
    """Mean reliability of frequent words less that of rare ones, among words whose scores were kept.

    The interval is over base pairs and seeds, which all words of a block share: both are drawn again, `draws` times.
    """
    rows = []
    for block in blocks:
        counts = block.counts[block.arrays["rows"]]
        rare, frequent = counts < RARE, counts >= FREQUENT
        random = np.random.default_rng(0)
        for measure, scores in zip(MEASURES, block.scores, strict=True):
            pairs, _, seeds = scores.shape
            drawn = []
            for _ in range(draws):
                chosen = random.integers(0, pairs, pairs)
                some = np.unique(random.integers(0, seeds, seeds))
                drawn.append(_difference(scores[chosen][:, :, some], rare, frequent))
            low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
            about = {"algorithm": block.kind, "text": block.text, "measure": measure, "seeds": seeds}
            words = {"rare": int(rare.sum()), "frequent": int(frequent.sum())}
            value = _difference(scores, rare, frequent)
            rows.append({**about, **words, "difference": value, "low": low, "high": high})
    return pd.DataFrame(rows)


def _difference(scores: np.ndarray, rare: np.ndarray, frequent: np.ndarray) -> float:
    values = np.asarray(icc_stack(scores.transpose(1, 0, 2), "2,1", n_jobs=1).value)
    return float(np.nanmean(values[frequent]) - np.nanmean(values[rare]))


def components(blocks: list[Block]) -> pd.DataFrame:
    """What the scores of occupations vary with."""
    frames = []
    for block in (block for block in blocks if block.whole):
        tensor = block.tensor("occ16")
        for measure in MEASURES:
            part = bg.analyses.reliability.variance_components(
                tensor.select(measure=[measure]), measure=measure, draws=200
            )
            frames.append(part.to_frame().assign(algorithm=block.kind, text=block.text, measure=measure))
    return pd.concat(frames, ignore_index=True)


def factor_rows(blocks: dict[str, Block], outcome: str, *, vectors: bool) -> pd.DataFrame:
    """What the regression is fitted to: every word of every block.

    With the properties of `vectors` (nearest neighbor, length, stability), of the blocks for which these were kept.
    """
    known = word_properties()
    frames = []
    for block in blocks.values():
        features = blocks.get(f"{block.kind}_features_{block.text}", block).arrays
        if not block.whole or (vectors and "stability" not in features):
            continue
        kept = ("nn_similarity", "norm", "stability") if vectors else ()
        properties = [known.get(word) for word in block.words]
        base = pd.DataFrame(
            {
                "word": block.words,
                "algorithm": block.kind,
                "corpus": block.text,
                "log_frequency": np.log(block.counts),
                "log_senses": [np.log(row.senses) if row and row.senses else np.nan for row in properties],
                "pos": [row.tag if row else None for row in properties],
                **{name: features[name].astype(float) for name in kept},
            }
        )
        if outcome == "inter_rater":
            frames.append(base.assign(score=block.raters_of_words("full")))
        else:
            scores = zip(MEASURES, block.icc_of_words("full"), strict=True)
            frames += [base.assign(measure=measure, score=score) for measure, score in scores]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
