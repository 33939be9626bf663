"""Coreference over graded versions: does WEAT track its gap between the extremes too?

The first study (goldfarb_tarrant2021.py) trained coreference on ten versions, and its correlation rests on the four of
them that Attract-Repel changed at full strength. This one has 33: skip-gram and fastText on cased English Wikipedia, so
that names are words of their own, several seeds, Attract-Repel in four strengths each way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.correlate import Variant, points_from_results
from biasgauge.core import WordPolicy
from biasgauge.lexicons import AssociationTest, WordSet
from biasgauge.results import save_figures
from biasgauge.results.drawing import ACCENT, INK, SECOND, altair, styled, top_legend, zero_line
from biasgauge.stats import means_along
from biasgauge.study import file_step
from biasgauge_studies.goldfarb_tarrant2021 import (
    COREF,
    DIM,
    coref_words,
    english,
    read,
    reliability,
    targets,
    train_coreference,
    write_coref_vectors,
)

STRENGTHS = (0.05, 0.1, 0.15, 1.0)
"""From .4 on every effect size is at ±2, so that the grades lie below; contrasts go on to grow (INTERMEDIATE)."""
INTERMEDIATE = (0.3, 0.5, 0.7, 0.85)
"""Strengths between .15 and 1, where contrasts in cosines move and effect sizes do not."""
FEWER = (0.05, 1.0)
"""Of further embedding seeds: one strength between the extremes, and the whole."""
SEEDS = {"sgns": 3, "fasttext": 2}
DIRECTIONS = ("debias", "overbias")
ORIGINAL = "original"
_EVERY = sorted({*STRENGTHS, *INTERMEDIATE})
ORDER = [*(f"debias {one:g}" for one in reversed(_EVERY)), ORIGINAL, *(f"overbias {one:g}" for one in _EVERY)]
NAMES = "weat6"
"""The test with names, which Attract-Repel is not given: others have gender words."""
SHOWN = {"sgns": "skip-gram", "fasttext": "fastText"}
TESTS = ("weat6", "weat6b", "weat7", "weat8")
WEAT: dict[str, Any] = {"policy": WordPolicy(min_coverage=0.5, case="fallback")}
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
FEWEST = 4
"""Versions at most for which no correlation is drawn."""


class Version(NamedTuple):
    """An embedding and what was done to it."""

    algorithm: str
    seed: int
    direction: str = ORIGINAL
    strength: float = 0.0

    @property
    def name(self) -> str:
        """Of its file."""
        changed = "" if not self.strength else f"_{self.direction}_{self.strength:g}"
        return f"{self.algorithm}_seed{self.seed}{changed}"


def design(between: bool = False) -> Iterator[Version]:  # noqa: FBT001, FBT002 - a setting of the study
    """Every version; those of one embedding stand together, the original first.

    With strengths `between` .15 and 1, these in the place of those below, for every seed.
    """
    for algorithm, seeds in SEEDS.items():
        for seed in range(seeds):
            yield Version(algorithm, seed)
            strengths = (*INTERMEDIATE, 1.0) if between else FEWER if seed else STRENGTHS
            for direction in DIRECTIONS:
                yield from (Version(algorithm, seed, direction, one) for one in strengths)


def make_versions(
    out: Path, inputs: Mapping[str, Path], *, data: Path, between: bool = False, device: str = "cpu"
) -> None:
    """Train and change every version, in the order of the design, and measure WEAT on it."""
    with (out / "words.txt").open("w", encoding="utf-8") as file:
        for line in english(data):
            if words := WORD.findall(line):
                file.write(f"{' '.join(words)}\n")
    tokens = bg.text.read_corpus(out / "words.txt", out=out / "tokens", tokenizer="whitespace")
    x, y, a, b = (WordSet(role, tuple(words)) for role, words in targets("en").items())
    test = AssociationTest(name="gender roles", language="en", x=x, y=y, a=a, b=b)
    rows = []
    (out / "versions").mkdir()
    for version in design(between):
        if version.strength:
            original = bg.load(path_of(out, version._replace(direction=ORIGINAL, strength=0.0)))
            model = bg.mitigate(
                original, method="attract_repel", lexicon=test, direction=version.direction,
                strength=version.strength, case_fallback=True,
            )  # fmt: skip
        else:
            model = bg.train(
                tokens, out=out / "models", algorithm=version.algorithm, seeds=[version.seed], dim=DIM,
                subwords=False, n_jobs=1, device=device,
            ).models[0].load()  # fmt: skip
        bg.save(model, path_of(out, version))
        for name in TESTS:
            result = bg.weat(model, name, interval=None, **WEAT)
            scores = {"weat": result.effect_size, "contrast": result.contrast.value, "p": result.p_value}
            rows.append({"variant": version.name, **version._asdict(), "test": name, **scores})
    pd.DataFrame(rows).to_csv(out / "graded_weat.csv", index=False, float_format="%.4f")


def path_of(folder: Path, version: Version) -> Path:
    """File of a version."""
    return folder / "versions" / f"{version.name}.safetensors"


def resolve_coreference(
    out: Path,
    inputs: Mapping[str, Path],
    *,
    data: Path,
    seeds: int = 2,
    jobs: int = 17,
    minutes: float = 5.6,
    between: bool = False,
    device: str = "cuda",
) -> None:
    """Train coreference on every version: vectors in half precision, words as written and in lower case."""
    words = coref_words(data, WORD, lambda word: {word, word.lower()})
    versions = {version.name: path_of(inputs["versions"], version) for version in design(between)}
    write_coref_vectors(out / "vectors", words, versions)
    train_coreference(out, data, seeds=seeds, jobs=jobs, minutes=minutes, device=device)


def tabulate(out: Path, inputs: Mapping[str, Path], *, between: bool = False) -> None:
    """Write points, reliability, correlations by WinoBias type, and the share of each version in them."""
    versions = {}
    for version in design(between):
        change: dict[str, Any] = {"method": "attract_repel", "direction": version.direction}
        change |= {"strength": version.strength}
        path = path_of(inputs["versions"], version)
        versions[version.name] = Variant(
            path, version.algorithm, name=version.name, **(change if version.strength else {})
        )
    runs = sorted(read(inputs["coreference"] / "runs.json").items())
    pairs = [(versions[name.rpartition("-seed")[0]], run) for name, run in runs]
    frame = with_measure(points_from_results(pairs, TESTS, weat_settings=WEAT).to_frame())
    weat = pd.read_csv(inputs["versions"] / "graded_weat.csv")
    weat.to_csv(out / "graded_weat.csv", index=False)
    frame.to_csv(out / "graded_points.csv", index=False, float_format="%.4f")
    reliability(frame, "coref").to_csv(out / "graded_reliability.csv", index=False, float_format="%.4f")
    influence_tables(frame, out, "graded_")
    frame = frame.assign(step=steps(frame), embedding=frame["embedding"].replace(SHOWN))
    steps_table(frame).to_csv(out / "graded_steps.csv", index=False, float_format="%.4f")
    save_figures({"graded_points": points_chart(frame), "graded_steps": steps_chart(frame)}, out, ("svg",))


def with_measure(frame: pd.DataFrame) -> pd.DataFrame:
    """The gaps of the paper, under one name each."""
    frame = frame.assign(measure=frame["metric"] + ", " + frame["of"].fillna("all"))
    return frame[frame["measure"].isin(COREF)]


def influence_tables(frame: pd.DataFrame, out: Path, start: str = "") -> None:
    """R of each measure over all versions, without the extremes, without balanced ones; and without each version."""
    whole: list[dict[str, object]] = []
    alone = []
    for measure, part in frame.groupby("measure", sort=False):
        for scale in ("weat", "contrast"):
            if scale in part:
                whole += [{"measure": measure, "scale": scale, **row} for row in correlations(part, scale, start)]
        alone.append(leverage(part).assign(measure=measure))
    pd.DataFrame(whole).to_csv(out / f"{start}influence.csv", index=False, float_format="%.4f")
    each = pd.concat(alone)[["measure", "variant", "weat", "gap", "share", "r_without", "r_left"]]
    each.to_csv(out / f"{start}leverage.csv", index=False, float_format="%.4f")
    if each["r_left"].notna().any():
        save_figures({f"{start}leverage": leverage_chart(each)}, out, ("svg",))
    else:
        print(f"{each['variant'].nunique()} versions are too few for a figure of leverage", flush=True)


def correlations(part: pd.DataFrame, scale: str, start: str) -> Iterator[dict[str, object]]:
    """R of one gap with WEAT on a scale, over choices of versions and tests."""
    part = part.assign(weat=part[scale])
    weaker = part[~((part["method"] == "attract_repel") & (part["strength"] == 1))]
    balanced = part["method"] == "balanced"
    chosen = {"all": part, "without Attract-Repel at full strength": weaker}
    if balanced.any():
        chosen["without balanced text"] = part[~balanced]
    if start:
        chosen["within originals"] = within_originals(part)
        chosen["within originals, without full strength"] = within_originals(weaker)
    for which, some in chosen.items():
        for tests in ("all", "without names") if start else ("all",):
            few = some if tests == "all" else some[some["test"] != NAMES]
            if few["variant"].nunique() <= FEWEST:
                continue
            result = bg.correlate(few, "weat", "gap", ["test"], unit="variant", seed_column="seed")
            found, line = result.pooled, None if result.influence is None else result.influence.slope
            row = {"versions": which, "tests": tests, "units": found.units, "r": found.r}
            row |= {"low": found.estimate.low, "high": found.estimate.high, "p": found.p}
            slope = {} if line is None else {"slope": line.value, "slope_low": line.low, "slope_high": line.high}
            yield {**row, **slope}


def originals(frame: pd.DataFrame) -> pd.Series[str]:
    """Of each row's version, the embedding that it was made from."""
    return frame["variant"].str.replace(r"_(debias|overbias)_.*", "", regex=True)


def within_originals(frame: pd.DataFrame) -> pd.DataFrame:
    """WEAT and gap as deviations from the mean over versions of the same embedding, which have all else in common."""
    frame = frame.assign(original=originals(frame))
    once = frame.drop_duplicates(["variant", "test"]).groupby(["original", "test"])["weat"].mean().rename("mean_weat")
    gap = frame["gap"] - frame.groupby(["original", "test", "seed"])["gap"].transform("mean")
    frame = frame.join(once, on=["original", "test"]).assign(gap=gap)
    return frame.assign(weat=frame["weat"] - frame["mean_weat"]).drop(columns=["original", "mean_weat"])


def points_chart(frame: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """WEAT and the precision gap of every version, both types of WinoBias, test by test; means over task seeds."""
    alt = altair()
    part = frame[frame["metric"] == "precision"]
    part = part.assign(type=part["of"].str.replace("winobias test", "WinoBias type"))
    part = part.assign(test=part["test"].str.replace("weat", "WEAT ") + np.where(part["test"] == NAMES, " (names)", ""))
    keys = ["variant", "embedding", "strength", "test", "type"]
    part = part.groupby(keys, sort=False)[["weat", "gap"]].mean().reset_index()
    points = (
        alt.Chart(part)
        .mark_point(filled=True, size=46, opacity=0.85)
        .encode(
            x=alt.X("weat:Q", title="WEAT (effect size)", scale=alt.Scale(domain=[-2, 2])),
            y=alt.Y("gap:Q", title="precision gap, pro − anti"),
            color=alt.Color("embedding:N", title=None, scale=alt.Scale(range=[INK, ACCENT]), legend=top_legend()),
            tooltip=["variant", "weat", "gap"],
        )
        .properties(width=150, height=130)
    )
    chart = points.facet(row=alt.Row("type:N", title=None), column=alt.Column("test:N", title=None))
    return styled(chart, "WEAT and the gap of coreference, version by version", "Each dot is an embedding version")


def steps(frame: pd.DataFrame) -> list[str]:
    """What was done to the version of each row: "debias 0.05", "original"."""
    how = zip(frame["direction"], frame["strength"].fillna(0), strict=True)
    return [f"{direction} {strength:g}" if strength else ORIGINAL for direction, strength in how]


def steps_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Of each step: WEAT with gender words on both scales, and gaps beside those of the same embedding and task seed.

    `low` and `high` are Student's 95 % interval of that difference over embeddings, each the mean of its task seeds.
    """
    words = frame[frame["test"] != NAMES].groupby("step")[["weat", "contrast"]].mean()
    rows = []
    for measure, part in frame[frame["test"] == "weat7"].groupby("measure", sort=False):
        part = part.assign(original=originals(part))  # noqa: PLW2901 - with one column more
        before = part[part["step"] == ORIGINAL].set_index(["original", "seed"])["gap"]
        for step in [step for step in ORDER if step in set(part["step"])]:
            own = part[part["step"] == step].set_index(["original", "seed"])["gap"]
            change = (own - before).dropna().groupby("original").mean()
            _, mean, reach = map(float, means_along(change.to_numpy(), 0))
            row: dict[str, Any] = {"measure": measure, "step": step, **words.loc[step], "runs": len(own)}
            row["embeddings"] = len(change)
            ends = {} if step == ORIGINAL else {"change": mean, "low": mean - reach, "high": mean + reach}
            rows.append({**row, "gap": own.mean(), **ends})
    return pd.DataFrame(rows)


def steps_chart(frame: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Step by step from debiased to overbiased: WEAT on both scales (gender words), and both gaps; a dot a version."""
    alt = altair()
    gender = frame[frame["test"] != NAMES]
    shown = {"WEAT, effect size": (gender, "weat"), "WEAT, cosines": (gender, "contrast")}
    for number in "12":
        own = frame[frame["measure"] == f"precision, winobias test {number}"]
        shown[f"precision gap, type {number}"] = own, "gap"
    panels = []
    for title, (part, column) in shown.items():
        means = part.groupby(["variant", "embedding", "step"])[column].mean().rename("value").reset_index()
        last = title == list(shown)[-1]
        x = alt.X("step:N", title=None, sort=ORDER, axis=alt.Axis(labelAngle=-35, labels=last, ticks=last))
        base = alt.Chart(means).encode(x=x)
        color = alt.Color("embedding:N", title=None, scale=alt.Scale(range=[INK, ACCENT]), legend=top_legend())
        dots = base.mark_point(filled=True, size=42, opacity=0.8).encode(
            y=alt.Y("value:Q", title=title), color=color, tooltip=["variant", "value"]
        )
        line = base.mark_line(color=SECOND).encode(y=alt.Y("mean(value):Q"))
        panels.append((zero_line(horizontal=True) + line + dots).properties(width=430, height=115))
    remark = "Each dot is an embedding version (mean over task seeds), the line their mean"
    return styled(alt.vconcat(*panels, spacing=8), "What each step of Attract-Repel does", remark)


def leverage_chart(table: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Of each version: its share of the spread of WEAT, and r without it; precision of both types."""
    alt = altair()
    part = table[table["measure"].str.startswith("precision")]
    part = part.assign(type=part["measure"].str.replace("precision, winobias test", "WinoBias type"))
    part = part.assign(index=range(len(part)))
    for name, shown in SHOWN.items():
        part["variant"] = part["variant"].str.replace(rf"^{name}_seed(\d)_?", rf"{shown}, seed \1 ", regex=True)
    part["variant"] = part["variant"].str.replace("_", " ").str.strip()
    order = list(dict.fromkeys(part["variant"]))
    y = alt.Y("variant:N", title=None, sort=order, axis=alt.Axis(labelLimit=240))
    share = (
        alt.Chart(part)
        .mark_bar(color=SECOND, height=7)
        .encode(x=alt.X("mean(share):Q", title="share of the spread of WEAT", axis=alt.Axis(format="%")), y=y)
    )
    left = alt.Chart(part.dropna(subset=["r_left"])).mark_line(point=alt.OverlayMarkDef(size=52, opacity=1)).encode(
        x=alt.X("r_left:Q", title="r without it and those above", scale=alt.Scale(domain=[-1, 1])),
        y=alt.Y("variant:N", title=None, sort=order, axis=None, scale=alt.Scale(domain=order)),
        order="index:Q",
        color=alt.Color("type:N", title=None, scale=alt.Scale(range=[INK, ACCENT]), legend=top_legend()),
    )  # fmt: skip
    panels = [one.properties(width=250, height=alt.Step(16)) for one in (share, zero_line() + left)]
    remark = "Left: what a version adds to the sum of squares of WEAT. Right: the correlation of what is left"
    return styled(alt.hconcat(*panels, spacing=14), "Which versions make the correlation of coreference?", remark)


def leverage(part: pd.DataFrame) -> pd.DataFrame:
    """Of each version, those that spread WEAT most first: its share of that spread, r without it, and what is left."""
    found = bg.correlate(part, "weat", "gap", ["test"], unit="variant", seed_column="seed").influence_frame()
    means = part.groupby("variant")[["weat", "gap"]].mean()
    return found.rename(columns={"unit": "variant"}).join(means, on="variant")


def grade_shipped(out: Path, inputs: Mapping[str, Path]) -> None:
    """Change the vectors that ship at every strength, with the paper's lists, and measure tests of gender on them."""
    vectors = bg.vectors.load_default()
    rows = []
    for direction in DIRECTIONS:
        for strength in (0.0, *_EVERY):
            model = bg.mitigate(
                vectors,
                method="attract_repel",
                lexicon="goldfarb2021_expansion",
                direction=direction,
                strength=strength,
            )
            for name in TESTS[1:]:
                found = bg.weat(model, name, interval=None)
                rows.append((direction, strength, name, found.effect_size, found.contrast.value))
            print(direction, strength, flush=True)
    columns = ["direction", "strength", "test", "effect_size", "contrast"]
    pd.DataFrame(rows, columns=columns).to_csv(out / "strengths.csv", index=False, float_format="%.4f")


STEP = file_step(
    "goldfarb-tarrant2021-graded",
    "WEAT and coreference on 33 versions of five embeddings",
    {
        "goldfarb-tarrant2021-graded-versions": make_versions,
        "goldfarb-tarrant2021-graded-coreference": resolve_coreference,
        "goldfarb-tarrant2021-graded-tables": tabulate,
        "goldfarb-tarrant2021-graded-strengths": grade_shipped,
    },
)
