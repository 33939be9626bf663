"""Goldfarb-Tarrant et al. 2021 at a small size: does WEAT track the gaps of applications?

Trains skip-gram and fastText on English Wikipedia and on Spanish novels and dialogue, makes each less and more biased,
before training (the corpus is balanced) and after it (Attract-Repel), in degrees, and trains a hate-speech classifier
on every version with five seeds, and coreference on ten versions on a GPU. Tables and figures correlate all points.
"""

from __future__ import annotations

import csv
import json
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.correlate import PointsResult, Variant, points, points_from_results, seed_reliability
from biasgauge.applications.coref import read_conll
from biasgauge.core import VectorsLike, WordPolicy
from biasgauge.lexicons import AssociationTest, WordSet
from biasgauge.results import save_figures
from biasgauge.results.drawing import altair, styled, top_legend
from biasgauge.study import file_step
from biasgauge_studies.stages import run_script

ALGORITHMS = ("sgns", "fasttext")
EMBEDDING_SEEDS = 2
"""Of the originals, to see how far an embedding moves with its own seed."""
DEGREES = {
    "sgns": ("debias 1.0", "debias max", "overbias 0.5", "overbias 1.0"),
    "fasttext": ("debias max", "overbias 1.0"),
}
"""Of balancing, as in `bg.balance`; fewer for fastText, which takes three times as long to train."""
DIM = 100
ATTRACTION = (0.05, 0.15, 1.0)
TASK_SEEDS = 5
WEAT = {"policy": WordPolicy(min_coverage=0.3, case="fallback")}
TESTS = {"en": ("weat6b", "weat7", "weat8"), "es": ("weat_es_gender", "weat_es_migrant", "xweat7_es", "xweat8_es")}

HATE = ("precision, hateful", "recall, hateful", "precision, weighted", "recall, weighted")
COREF = tuple(f"{metric}, winobias test {kind}" for kind in (1, 2) for metric in ("precision", "recall"))
MEASURES = {"hateval_en": HATE, "hateval_en_mentions": HATE, "hateval_es": HATE, "coref": COREF}
"""Gaps to correlate: those of the paper, and for hate speech those of the hateful class."""
SHOWN = {"precision, weighted", "recall, weighted", "precision, winobias test 1", "precision, winobias test 2"}
"""Those of the paper, in figures; of coreference the precision of both types, to which recall is nearly equal."""
TITLES = {
    "coref": "Coreference, pro − anti",
    "hateval_en": "English, women − migrants",
    "hateval_en_mentions": "English, male − female",
    "hateval_es": "Spanish, women − migrants",
}
METHODS = {"attract_repel": "Attract-Repel", "balanced": "balanced"}
GAPS = {
    "hateval_en": "gap (women − migrants)",
    "hateval_en_mentions": "gap (male − female)",
    "hateval_es": "gap (women − migrants)",
    "coref": "gap (pro − anti)",
}
MIN_COREF_COUNT = 2
COREF_DATA = {
    "ontogum_conll.tar.xz": "ontogum_coref/ontogum_conll.tar.xz",
    "litbank_coref_conll.tar.xz": "litbank_coref/litbank_coref_conll.tar.xz",
    "winobias": "winobias/conll",
    "gap-test.tsv": "gap_coref/gap-test.tsv",
}
"""Training and test data of coreference: names that train_coref_many.py looks for, and where they lie."""
CHOSEN = {
    f"{algorithm} {label}": f"{algorithm}_{name}"
    for algorithm in ALGORITHMS
    for label, name in (
        ("original seed 0", "original"),
        ("attract_repel debias 1", "attract_repel_debias"),
        ("attract_repel overbias 1", "attract_repel_overbias"),
        ("balanced debias 0.897", "balanced_debias"),
        ("balanced overbias 1", "balanced_overbias"),
    )
}
"""Versions that coreference is trained on, and the names of their files."""


def english(data: Path) -> Iterator[str]:
    """Yield paragraphs of Wikipedia."""
    for name in ("enwiki_long_articles_5M", "enwiki_short_articles_10M"):
        with lzma.open(data / "enwiki_sample" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
            yield from file


def spanish(data: Path) -> Iterator[str]:
    """Yield paragraphs of novels, then sentences of films and series."""
    with lzma.open(data / "spanish_novels_conha19" / "conha19_sample_8M.txt.xz", "rt", encoding="utf-8") as file:
        yield from file
    with lzma.open(data / "spanish_dialogue_activ_es" / "activ_es_v02_plain.txt.xz", "rt", encoding="utf-8") as file:
        for line in file:
            yield from re.split(r"(?<= [.?!])\s+", line.strip())


TEXTS = {"en": english, "es": spanish}


def words(lexicon: str, *sets: str, without: tuple[str, ...] = ()) -> list[str]:
    """Words of some sets of a lexicon, each once."""
    found = bg.lexicon(lexicon).sets
    return list(dict.fromkeys(word for name in sets for word in found[name] if word not in without))


def targets(language: str) -> dict[str, list[str]]:
    """The words that balancing and Attract-Repel know of: science and career (x), art and family (y), men, women."""
    if language == "en":
        every = "goldfarb2021_expansion"
        return {
            "x": words(every, "career", "career_expansion", "math_sci", "math_sci_expansion"),
            "y": words(every, "family", "family_expansion", "art", "art_expansion"),
            "a": words(every, "male", "male_expansion"),
            "b": words(every, "female", "female_expansion"),
        }
    ambiguous = ("su", "de ella")
    return {
        role: list(
            dict.fromkeys(
                word
                for test in ("weat_es_gender", "xweat7_es", "xweat8_es")
                for word in words(test, role, without=ambiguous)
            )
        )
        for role in "xyab"
    }


def write_corpus(data: Path, folder: Path, language: str) -> Path:
    """Write the text, one line per paragraph or sentence."""
    text = folder / "corpus.txt"
    with text.open("w", encoding="utf-8") as file:
        for line in TEXTS[language](data):
            if plain := " ".join(line.split()):
                file.write(f"{plain}\n")
    return text


def balanced(folder: Path, language: str, how: str) -> tuple[Path, str, float]:
    """The text without some lines, the direction, and the share of pro (or anti) lines that are gone."""
    direction, _, degree = how.partition(" ")
    out = folder / f"corpus_{direction}_{degree}.txt"
    result = bg.balance(
        folder / "corpus.txt",
        targets(language),
        out=out,
        direction="debias" if direction == "debias" else "overbias",
        degree="max" if degree == "max" else float(degree),
    )
    kind = "pro" if direction == "debias" else "anti"
    classes = [row for row in result.to_dict()["classes"] if row["name"] in (f"{kind} 1", f"{kind} 2")]
    share = sum(row["removed"] for row in classes) / sum(row["before"] for row in classes)
    return out, direction, round(share, 3)


def trained(place: Path, text: Path, algorithm: str, seeds: int = 1) -> list[Path]:
    """Models of a text, one a seed."""
    tokens = bg.text.read_corpus(text, out=place / "tokens" / text.stem)
    found = bg.train(tokens, out=place / "models", algorithm=algorithm, seeds=seeds, dim=DIM, subwords=False, n_jobs=1)
    return found.paths


def make_versions(out: Path, inputs: Mapping[str, Path], *, language: str, data: Path) -> None:
    """Train and change every version of every embedding; versions.json says which file is which."""
    versions = [
        {**vars(variant), "vectors": Path(str(variant.vectors)).relative_to(out).as_posix()}
        for variant in train_versions(out, data, language)
    ]
    (out / "versions.json").write_text(json.dumps(versions, indent=1), encoding="utf-8")


def versions_in(folder: Path) -> list[Variant]:
    """Versions of a cell of `make_versions`."""
    rows: list[dict[str, Any]] = json.loads((folder / "versions.json").read_text(encoding="utf-8"))
    return [Variant(**{**row, "vectors": folder / row["vectors"]}) for row in rows]


def train_versions(place: Path, data: Path, language: str) -> list[Variant]:
    """Train or change every version of every embedding."""
    x, y, a, b = (WordSet(role, tuple(one)) for role, one in targets(language).items())
    test = AssociationTest(name="gender roles", language=language, x=x, y=y, a=a, b=b)
    text = write_corpus(data, place, language)
    made = []
    for algorithm in ALGORITHMS:
        originals = trained(place, text, algorithm, EMBEDDING_SEEDS)
        made += [
            Variant(path, algorithm, name=f"{algorithm} original seed {seed}") for seed, path in enumerate(originals)
        ]
        for how in DEGREES[algorithm]:
            less, direction, share = balanced(place, language, how)
            made.append(Variant(trained(place, less, algorithm)[0], algorithm, "balanced", direction, share))
        for direction in ("debias", "overbias"):
            for strength in ATTRACTION:
                path = place / "models" / f"{algorithm}_attract_repel_{direction}_{strength}.safetensors"
                changed = bg.mitigate(
                    bg.load(originals[0]), method="attract_repel", lexicon=test, direction=direction,
                    strength=strength, case_fallback=True,
                )  # fmt: skip
                bg.save(changed, path)
                made.append(Variant(path, algorithm, "attract_repel", direction, strength))
    return made


def classify(
    out: Path, inputs: Mapping[str, Path], *, language: str, hateval: Path, group_words: str | None = None
) -> None:
    """Train a hate-speech classifier with five seeds on every version, and put its gaps beside WEAT."""
    (versions,) = inputs.values()
    groups: dict[str, Any] = {} if group_words is None else {"group_words": group_words}
    result = points(
        versions_in(versions),
        TESTS[language],
        f"hateval-{language}",
        hateval,
        seeds=TASK_SEEDS,
        cache=out / "cells",
        weat_settings=WEAT,
        **groups,
    )
    result.save(out / "points.json")


def resolve_coreference(
    out: Path,
    inputs: Mapping[str, Path],
    *,
    data: Path,
    seeds: int = 3,
    jobs: int = 10,
    minutes: float = 6.3,
    device: str = "cuda",
) -> None:
    """Train coreference on ten versions with some seeds on a GPU, and put its gaps beside WEAT."""
    (folder,) = inputs.values()
    versions = {CHOSEN[variant.label]: variant for variant in versions_in(folder) if variant.label in CHOSEN}
    words = coref_words(data, re.compile(r"\w+"), lambda word: {word.lower()})
    write_coref_vectors(out / "vectors", words, {name: variant.vectors for name, variant in versions.items()})
    train_coreference(out, data, seeds=seeds, jobs=jobs, minutes=minutes, device=device)
    runs = [(versions[name.rpartition("-seed")[0]], run) for name, run in sorted(read(out / "runs.json").items())]
    points_from_results(runs, TESTS["en"], weat_settings=WEAT).save(out / "points.json")


def train_coreference(out: Path, data: Path, *, seeds: int, jobs: int, minutes: float, device: str) -> None:
    """Train coreference on all vectors in out/vectors; out/runs.json gathers what came of it."""
    folder = out / "data"
    folder.mkdir()
    for name, source in COREF_DATA.items():
        (folder / name).symlink_to((data / source).resolve())
    run_script(
        "train_coref_many.py", "--vectors", *sorted((out / "vectors").glob("*.npz")), "--data", folder, "--seeds",
        *range(seeds), "--jobs", jobs, "--minutes", minutes, "--device", device, "--out", out / "runs",
        "--gather", out / "runs.json",
    )  # fmt: skip
    for name in COREF_DATA:
        (folder / name).unlink()
    folder.rmdir()


def coref_words(data: Path, word: re.Pattern[str], forms: Callable[[str], set[str]]) -> list[str]:
    """Forms of words that occur twice or more in the coreference data; `word` matches a word of the texts of GAP."""
    counts: Counter[str] = Counter()
    for source in list(COREF_DATA.values())[:3]:
        for document in read_conll(data / source, problems="mend"):
            counts.update(form for sentence in document.sentences for token in sentence for form in forms(token))
    with (data / "gap_coref" / "gap-test.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            counts.update(form for token in word.findall(row["Text"]) for form in forms(token))
    return sorted(form for form, count in counts.items() if count >= MIN_COREF_COUNT)


def write_coref_vectors(out: Path, words: list[str], versions: Mapping[str, VectorsLike]) -> None:
    """Write versions in half precision and with some words alone."""
    out.mkdir(parents=True)
    for name, source in versions.items():
        model = bg.load(source)
        lookup = model.lookup(words)
        vectors = model.vectors[lookup.rows].astype(np.float16)
        np.savez_compressed(out / f"{name}.npz", words=np.array(lookup.words), vectors=vectors)


def read(path: Path) -> dict[str, Any]:
    """JSON."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def tabulate(out: Path, inputs: Mapping[str, Path]) -> None:
    """Correlate the points of all tasks, and write tables and figures; `inputs` are named as the tasks."""
    tables: dict[str, list[pd.DataFrame]] = {"correlations": [], "reliability": [], "versions": []}
    told: dict[str, Any] = {}
    charts = {}
    for name, folder in inputs.items():
        found = PointsResult.from_dict(read(folder / "points.json"))
        frame = found.to_frame()
        frame["measure"] = frame["metric"] + ", " + frame["of"].fillna("all")
        frame = frame[frame["measure"].isin(MEASURES[name])]
        frame.drop(columns="measure").to_csv(out / f"points_{name}.csv", index=False, float_format="%.4f")
        tables["versions"].append(by_version(frame, found.performance_frame(), name))
        tables["reliability"].append(reliability(frame, name))
        for by in ("embedding", "test, embedding", "method", "test, method"):
            part = in_both(frame) if "method" in by else frame
            for measure, rows in part.groupby("measure", sort=False):
                one = bg.correlate(rows, "weat", "gap", by.split(", "), unit="variant", seed_column="seed")
                told[f"{name}: {measure}, by {by}"] = {"readings": one.readings, "warnings": one.warnings}
                tables["correlations"].append(one.to_frame().assign(task=name, measure=measure, by=by))
        charts[f"points_{name}"] = points_grid(frame, name)
    whole = {name: pd.concat(parts, ignore_index=True) for name, parts in tables.items()}
    columns = ["task", "measure", "by", "test", "embedding", "method", "n", "units", "r", "low", "high", "p", "p_holm"]
    whole["correlations"] = whole["correlations"][[*columns, "spearman", "power", "detectable", "r_max", "reason"]]
    for name, table in whole.items():
        table.to_csv(out / f"{name}.csv", index=False, float_format="%.4f")
    charts["correlations"] = forest(whole["correlations"])
    (out / "readings.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    save_figures(charts, out, ("svg", "png"))


def points_grid(frame: pd.DataFrame, name: str) -> Any:  # noqa: ANN401 - a chart
    """Points of a task by measure, test and method."""
    shown = in_both(frame[frame["measure"].isin(SHOWN)]).rename(columns={"weat": "WEAT", "gap": GAPS[name]})
    grid = bg.correlate(shown, "WEAT", GAPS[name], ["measure", "test", "method"], unit="variant", seed_column="seed")
    return grid.figures()["points"].resolve_scale(y="independent")


def forest(table: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Correlations by task, measure and method, tests together."""
    alt = altair()
    part = table[(table["by"] == "method") & table["method"].notna()]
    part = part.assign(
        task=part["task"].map(TITLES),
        method=part["method"].map(METHODS),
        measure=part["measure"].str.replace("winobias test", "WinoBias type"),
    )
    base = alt.Chart(part).encode(
        y=alt.Y("measure:N", title=None, sort=None),
        yOffset=alt.YOffset("method:N"),
        color=alt.Color("method:N", title=None, scale=alt.Scale(scheme="dark2"), legend=top_legend()),
    )
    layers = alt.layer(
        alt.Chart(part).mark_rule(color="#9aa09a").encode(x=alt.datum(0)),
        base.mark_rule(strokeWidth=1.5).encode(
            x=alt.X("low:Q", title="r", scale=alt.Scale(domain=[-1, 1])), x2="high:Q"
        ),
        base.mark_point(filled=True, size=46, opacity=1).encode(x="r:Q"),
        data=part,
    ).properties(width=200, height=alt.Step(13))
    chart = layers.facet(facet=alt.Facet("task:N", title=None, sort=None), columns=2)
    remark = "Pearson's r over versions and tests with 95% interval (BCa, versions as the unit)"
    return styled(chart.resolve_scale(y="independent"), "Correlation of WEAT with gaps", remark)


def in_both(frame: pd.DataFrame) -> pd.DataFrame:
    """Strata of methods, the originals in each, as in the paper: strength 0 of either."""
    changed = frame[frame["method"] != "original"]
    originals = frame[frame["method"] == "original"]
    return pd.concat([changed, *(originals.assign(method=one) for one in changed["method"].unique())])


def by_version(frame: pd.DataFrame, performance: pd.DataFrame, name: str) -> pd.DataFrame:
    """WEATs, mean gaps and how well the task is done, a row for each version."""
    keys = ["embedding", "method", "direction", "strength", "variant"]
    intrinsic = frame.drop_duplicates(["variant", "test"]).pivot_table("weat", keys, "test", sort=False)
    gaps = frame.drop_duplicates(["variant", "measure", "seed"]).pivot_table("gap", keys, "measure", sort=False)
    well = performance[performance["group"].isna() & (performance["metric"] == "f1")]
    scores = well.assign(of="F1, " + well["of"]).pivot_table("value", keys, "of", sort=False)
    return intrinsic.join(gaps).join(scores).reset_index().assign(task=name)


def reliability(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """ICC of each gap over task seeds: do versions differ by more than seeds make of it?"""
    rows = []
    for measure, part in frame.drop_duplicates(["variant", "measure", "seed"]).groupby("measure", sort=False):
        for which, some in (("all", part), *part.groupby("embedding", sort=False)):
            each = [one.dropna(subset="gap").sort_values("seed") for _, one in some.groupby("variant", sort=False)]
            runs, seeds = ([one[name].tolist() for one in each] for name in ("gap", "seed"))
            found = seed_reliability(runs, str(measure), seeds=seeds)
            icc = {"icc": found.single.value, "low": found.single.low, "high": found.single.high}
            mean = {"icc_mean": found.mean.value, "r_max": found.r_max.value, "reason": found.single.reason}
            spread = {"sd_seeds": some.groupby("variant")["gap"].std().pow(2).mean() ** 0.5}
            spread |= {"sd_versions": some.groupby("variant")["gap"].mean().std(), "versions": len(runs)}
            rows.append({"task": name, "measure": measure, "embedding": which, **icc, **mean, **spread})
    return pd.DataFrame(rows)


STEP = file_step(
    "goldfarb-tarrant2021",
    "WEAT beside gaps of applications, over versions of embeddings",
    {
        "goldfarb-tarrant2021-versions": make_versions,
        "goldfarb-tarrant2021-hate-speech": classify,
        "goldfarb-tarrant2021-coreference": resolve_coreference,
        "goldfarb-tarrant2021-tables": tabulate,
    },
)
