"""Dobrzeniecka & Urbaniak 2023 on the authors' distances.

Takes every set of distances that is there (any of the 18), fits the published model, the crossed one and the crossed
one with effects of attribute × group, and leaves tables and figures. About five minutes of one core. The distance of a
chain of the authors' kind from the exact posterior is measured in dobrzeniecka2023_sampler.py.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from biasgauge.analyses.posterior import bayes, bayes_change, posterior, read_distances, within_band
from biasgauge.analyses.posterior.predictive import check_predictions
from biasgauge.papers.dobrzeniecka2023.distances import BANDS, FILES, PRINTED
from biasgauge.results import save_figures
from biasgauge.results.drawing import ACCENT, INK, SECOND, altair, styled, top_legend, zero_line
from biasgauge.stats import holm
from biasgauge.study import file_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from biasgauge.analyses.posterior import ContrastPosterior, DistanceTable, Posterior

MODELS = {"published": INK, "crossed": SECOND, "attribute × group": ACCENT}
NUMBERS = ("mean", "low_5_5", "high_94_5")
UNEXPLAINED = "religion_reddit"


class Distances:
    """Folders with the authors' distances.

    Attributes:
        folders: where files are looked for, the first that has one counts.
    """

    def __init__(self, *folders: Path) -> None:
        self.folders = folders

    def find(self, pattern: str) -> Path | None:
        """Return the first file that matches, if there is one."""
        return next((path for folder in self.folders for path in folder.glob(pattern)), None)

    def path_of(self, name: str) -> Path | None:
        """Return the file of a set, if it is there."""
        return self.find(f"{FILES[name]}.csv*")

    def outdated(self, name: str) -> Path | None:
        """Return the file of a set with the earlier control words, if it is there."""
        return self.find(f"outdated/{name}.csv*")


def coordinates(distances: Distances) -> pd.DataFrame:
    """Points of the printed figures; the last list is called neutral, as here."""
    paths = [folder / "published_posteriors.csv" for folder in distances.folders]
    frame = pd.concat([pd.read_csv(path) for path in paths if path.is_file()])
    return frame.replace({"connection": {"none": "neutral"}}).set_index(["dataset", "connection", "protected_word"])


def published(path: Path, **settings: Any) -> Posterior:  # noqa: ANN401 - those of bayes
    """As the figures were made: one residual for each connection, percentiles, repeated rows kept."""
    asked: dict[str, Any] = {"interval": "percentile", "draws": 20_000, **settings}
    return bayes(read_distances(path, duplicates="keep"), **asked)


def points(fit: Posterior) -> dict[tuple[str, str], tuple[float | None, ...]]:
    """Mean and ends by connection and word, "*" for the group."""
    return {(row.connection, row.word or "*"): (row.mean, row.low, row.high) for row in (*fit.groups, *fit.words)}


def group_rows(name: str, fits: Mapping[str, Posterior], printed: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Means of connections: printed, and by each model."""
    for model, fit in fits.items():
        for row in fit.groups:
            yield {"set": name, "connection": row.connection, "model": model, "mean": row.mean, "low": row.low,
                   "high": row.high}  # fmt: skip
    if name in printed.index.get_level_values(0):
        for connection in (row.connection for row in fits["published"].groups):
            numbers = printed.loc[(name, connection, "*"), list(NUMBERS)]
            yield {"set": name, "connection": connection, "model": "printed",
                   **dict(zip(("mean", "low", "high"), numbers, strict=True))}  # fmt: skip


def contrast_rows(
    name: str, fits: Mapping[str, Posterior], by_group: Mapping[tuple[str, str], ContrastPosterior]
) -> Iterator[dict[str, Any]]:
    """Differences of connections by each model, in distances."""
    for model, fit in fits.items():
        for one in fit.contrasts:
            if one.word is None:
                yield {"set": name, "contrast": f"{one.a} − {one.b}", "model": model, "mean": one.mean, "low": one.low,
                       "high": one.high, "p_direction": one.p_direction, "p_equivalent": one.p_equivalent}  # fmt: skip
    for (first, second), pair in by_group.items():
        difference = pair.contrast  # of similarities: a distance is 1 less
        if difference.value is not None and difference.low is not None and difference.high is not None:
            yield {"set": name, "contrast": f"{first} − {second}", "model": "attribute × group",
                   "mean": -difference.value, "low": -difference.high, "high": -difference.low,
                   "p_direction": difference.p_direction, "p_equivalent": difference.p_equivalent}  # fmt: skip


def with_adjusted_p(contrasts: pd.DataFrame) -> pd.DataFrame:
    """Add the two-sided tail probability of a sign, adjusted after Holm for all sets of a model and contrast."""
    tails = 2 * (1 - contrasts["p_direction"])
    adjusted = tails.groupby([contrasts["model"], contrasts["contrast"]]).transform(lambda part: holm(part.tolist()))
    return contrasts.assign(p_holm=adjusted)


def spread_rows(name: str, by_group: Mapping[tuple[str, str], ContrastPosterior]) -> Iterator[dict[str, Any]]:
    """Standard deviations of effects, in the model of each contrast."""
    for (first, second), fit in by_group.items():
        yield {"set": name, "contrast": f"{first} − {second}", **{f"{effect}_sd": sd for effect, sd in fit.sds.items()}}


def check_rows(name: str, plain: Posterior, crossed: Posterior) -> Iterator[dict[str, Any]]:
    """Shares of the distances inside what each model predicts, in %."""
    random = np.random.default_rng([0, 23])
    rows = check_predictions(plain.draws, plain.table, random, each_row=True)
    for model, found in (("published", rows), ("crossed", crossed.predictive)):
        if found is not None:
            yield {"set": name, "model": model, "within_50": 100 * found.within_50, "within_89": 100 * found.within_89,
                   **{f"printed_{level}": PRINTED.get(f"coverage.{name}.{level}") for level in (50, 89)}}  # fmt: skip


def deviation_rows(name: str, fit: Posterior, printed: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """How far the printed words lie from the exact posterior."""
    if name not in printed.index.get_level_values(0):
        return
    own = points(fit)
    for at, connection in enumerate(fit.draws.connections):
        words = [word for kind, word in own if kind == connection and word != "*"]
        worst = deviation(own, printed, name, connection, words)
        tau, sigma = fit.draws.between[:, at], fit.draws.residual[:, at]
        rows = len(fit.table.distance[fit.table.rows_of([connection])]) / len(words)
        yield {"set": name, "connection": connection, "rows_per_word": rows, "tau": tau.mean(), "sigma": sigma.mean(),
               "mean": worst.mean(), "largest": worst.max()}  # fmt: skip


def deviation(
    own: Mapping[tuple[str, str], tuple[float | None, ...]],
    printed: pd.DataFrame,
    name: str,
    connection: str,
    words: list[str],
) -> Any:  # noqa: ANN401 - an array
    """Of each word, the worst of mean and ends."""
    figure = np.array([printed.loc[(name, connection, word), list(NUMBERS)] for word in words], float)
    return np.abs(np.array([own[connection, word] for word in words], float) - figure).max(axis=1)


def ruled_out(distances: Distances, printed: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """What might be behind the deviation of religion on Reddit: each is tried, and the deviation measured again."""
    path, earlier = distances.path_of(UNEXPLAINED), distances.outdated("religionReddit")
    if path is None:
        return
    table = read_distances(path, duplicates="keep")
    tries: dict[str, Posterior] = {"as the figures were made": published(path)}
    for prior, text in (("between", "exponential(0.5)"), ("between", "exponential(1)"), ("between", "exponential(5)"),
                        ("between", "halfnormal(1)"), ("residual", "exponential(1)"), ("residual", "exponential(5)"),
                        ("group", "normal(1, 0.5)"), ("group", "normal(1, 1)")):  # fmt: skip
        tries[f"prior of {prior}: {text}"] = published(path, priors={prior: text})
    tries["HPDI in place of percentiles"] = published(path, interval="hpdi")
    tries["one sigma for all connections"] = published(path, variant="single-sigma")
    tries["with a baseline (code at its head)"] = published(path, variant="intercept")
    tries["crossed"] = published(path, variant="crossed", draws=4_000)
    if earlier is not None:
        tries["earlier control words"] = published(earlier)
    for attribute in sorted({table.attributes[at] for at in table.attribute[table.rows_of(["associated"])]}):
        kept = table.select(table.attribute != table.attributes.index(attribute))
        tries[f"without {attribute}"] = bayes(kept, interval="percentile", draws=20_000)
    for what, fit in tries.items():
        own = points(fit)
        row: dict[str, Any] = {"tried": what}
        for connection in ("associated", "different"):
            words = [word for kind, word in own if kind == connection and word != "*"]
            worst = deviation(own, printed, UNEXPLAINED, connection, words)
            row |= {f"{connection}_mean": worst.mean(), f"{connection}_largest": worst.max()}
        yield row


def change_rows(distances: Distances, topic: str) -> Iterator[dict[str, Any]]:
    """Debiasing on the same words: change of distances (crossed) and of the shares within the band."""
    before, after = (distances.path_of(name) for name in (f"{topic}_reddit", f"debiased_{topic}_reddit"))
    earlier = distances.outdated(f"{topic}Reddit")
    if before is None or after is None:
        return
    first, second = read_distances(before), read_distances(after)
    moved = {one.connection: one for one in bayes_change(first, second, variant="crossed").groups}
    band = {(one.connection, one.side): one for one in within_band(first, after=second, band=BANDS[topic]).shares}
    labels = {} if earlier is None else read_distances(earlier, duplicates="keep").share_within(BANDS[topic])
    for connection, change in moved.items():
        share = band[connection, "change"]
        yield {
            "topic": topic, "connection": connection, "change": change.mean, "low": change.low, "high": change.high,
            "p_direction": change.p_direction, "printed_before": PRINTED[f"band.{topic}.before.{connection}"],
            "earlier_words": 100 * labels[connection] if labels else None,
            **{f"band_{side}": 100 * (band[connection, side].share or 0) for side in ("before", "after")},
            "printed_after": PRINTED[f"band.{topic}.after.{connection}"],
            **{f"band_{end}": 100 * (getattr(share, end) or 0) for end in ("share", "low", "high")},
        }  # fmt: skip


def forest(part: pd.DataFrame, remark: str, title: str, order: list[str]) -> Any:  # noqa: ANN401 - a chart
    """Numbers with intervals, a line for each row, a color for each model."""
    alt = altair()
    color = alt.Color("model:N", title=None, legend=top_legend(),
                      scale=alt.Scale(domain=list(MODELS), range=list(MODELS.values())))  # fmt: skip
    base = alt.Chart(part).encode(
        y=alt.Y("row:N", title=None, sort=order),
        yOffset=alt.YOffset("model:N", sort=list(MODELS)),
        color=color,
        tooltip=["row", "model", "mean", "low", "high"],
    )
    rule = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", title="difference of mean distance"), x2="high:Q")
    dots = base.mark_point(filled=True, size=42, opacity=1).encode(x="mean:Q")
    layers = alt.layer(zero_line(), rule, dots, data=part).properties(width=460, height=alt.Step(9))
    return styled(layers, title, remark)


def shrinkage(fit: Posterior, printed: pd.DataFrame, name: str) -> Any:  # noqa: ANN401 - a chart
    """Mean distance of each word to its own stereotypes: exact and as printed, around the mean of all."""
    alt = altair()
    own = {row.word: row.mean for row in fit.words if row.connection == "associated"}
    center = next(row.mean for row in fit.groups if row.connection == "associated")
    figure = printed["mean"].to_dict()
    rows = [(word, "exact", mean) for word, mean in own.items()]
    rows += [(word, "printed", figure[name, "associated", word]) for word in own]
    frame = pd.DataFrame(rows, columns=["word", "posterior", "mean"])
    order = sorted(own, key=lambda word: own[word] or 0.0)
    base = alt.Chart(frame).encode(y=alt.Y("word:N", title=None, sort=order))
    color = alt.Color("posterior:N", title=None, legend=top_legend(), scale=alt.Scale(range=[SECOND, INK]))
    x = alt.X("mean:Q", title="mean distance to its own stereotypes", scale=alt.Scale(zero=False))
    way = base.mark_line(color="#b9bdb6", strokeWidth=2).encode(x=x, detail="word:N")
    dots = base.mark_point(filled=True, size=52, opacity=1).encode(x=x, color=color)
    chart = alt.layer(zero_line(float(center or 0.0)), way, dots, data=frame).properties(width=440, height=alt.Step(16))
    remark = "Religion on Reddit. Line: mean of all words. Printed words are pulled towards it less than they should be"
    return styled(chart, "The printed chains shrink too little", remark)


def fit_all(out: Path, inputs: Mapping[str, Path], *, distances: Path, more_distances: Path) -> None:
    """Fit three models to every set, and compare them with what was printed."""
    sets = Distances(distances, more_distances)
    printed = coordinates(sets)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in (
        "groups", "contrasts", "spreads", "predictive", "words")}  # fmt: skip
    for name in FILES:
        path = sets.path_of(name)
        if path is None:
            continue
        once: DistanceTable = read_distances(path)
        plain, crossed = published(path), bayes(once, variant="crossed")
        fits = {"published": plain, "crossed": crossed}
        by_group = {
            between: posterior(once, between=between, smallest=crossed.rope)
            for between in combinations(once.connections, 2)
        }
        rows["groups"] += group_rows(name, fits, printed)
        rows["contrasts"] += contrast_rows(name, fits, by_group)
        rows["spreads"] += spread_rows(name, by_group)
        rows["predictive"] += check_rows(name, plain, crossed)
        rows["words"] += deviation_rows(name, plain, printed)
        if name == UNEXPLAINED:
            fit = plain
    rows["ruled_out"] = list(ruled_out(sets, printed))
    rows["change"] = [row for topic in BANDS for row in change_rows(sets, topic)]
    tables = {name: pd.DataFrame(content) for name, content in rows.items()}
    tables["contrasts"] = with_adjusted_p(tables["contrasts"])
    for name, table in tables.items():
        table.to_csv(out / f"{name}.csv", index=False, float_format="%.4f")
    main_contrast = tables["contrasts"][tables["contrasts"]["contrast"] == "associated − different"]
    shown = main_contrast.assign(row=main_contrast["set"].str.replace("_", " "))
    remark = "Associated less different, 89 % intervals (published: percentiles; others: HPDI); below 0: own are nearer"
    charts = {
        "contrasts": forest(
            shown,
            remark,
            "Up to six of fourteen sets tell a group's own stereotypes from others'",
            list(dict.fromkeys(shown["row"])),
        ),
        "shrinkage": shrinkage(fit, printed, UNEXPLAINED),
    }
    save_figures(charts, out, ("svg",))


STEP = file_step("dobrzeniecka2023", "three models of the authors' distances", {"dobrzeniecka2023-sets": fit_all})
