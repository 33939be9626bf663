"""The study of Goldfarb-Tarrant et al. 2021 at a small size: docs/studies/goldfarb_tarrant2021.md tells what it found.

    python scripts/study_goldfarb_tarrant2021.py FOLDER [en] [es] [coref] [results]
    python scripts/study_goldfarb_tarrant2021.py docs/studies/goldfarb_tarrant2021 figures

Trains skip-gram and fastText on English Wikipedia and on Spanish novels and dialogue (in the shared data folder), makes
each less and more biased, before training (the corpus is balanced) and after it (Attract-Repel), in degrees, and trains
a hate-speech classifier on every version with five seeds. `coref` writes the vectors for coreference, which a machine
with a GPU trains (scripts/train_coref_many.py); what that gathers goes to FOLDER/coref. `results` draws all points
together, correlates them and writes tables and figures to FOLDER/results; `figures` draws them from such tables again.
Languages may run side by side; what is in FOLDER already is not done again.
"""

from __future__ import annotations

import csv
import json
import lzma
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.correlate import Variant, points, points_from_results, seed_reliability
from biasgauge.applications.coref import read_conll
from biasgauge.lexicons import AssociationTest, WordSet
from biasgauge.results.drawing import altair, styled, top_legend
from biasgauge.results.saving import save_figures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from biasgauge.analyses.correlate import PointsResult

SHARED = Path(os.environ.get("BIASGAUGE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))
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
WEAT = {"case_fallback": True, "min_coverage": 0.3}
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


def english() -> Iterator[str]:
    """Paragraphs of Wikipedia."""
    for name in ("enwiki_long_articles_5M", "enwiki_short_articles_10M"):
        with lzma.open(SHARED / "enwiki_sample" / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
            yield from file


def spanish() -> Iterator[str]:
    """Paragraphs of novels, then sentences of films and series."""
    with lzma.open(SHARED / "spanish_novels_conha19" / "conha19_sample_8M.txt.xz", "rt", encoding="utf-8") as file:
        yield from file
    with lzma.open(SHARED / "spanish_dialogue_activ_es" / "activ_es_v02_plain.txt.xz", "rt", encoding="utf-8") as file:
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


def corpus(folder: Path, language: str) -> Path:
    """The text, a paragraph or sentence a line."""
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "corpus.txt"
    if not text.exists():
        part = text.with_suffix(".part")
        with part.open("w", encoding="utf-8") as file:
            for line in TEXTS[language]():
                if plain := " ".join(line.split()):
                    file.write(f"{plain}\n")
        part.replace(text)
    return text


def balanced(folder: Path, language: str, how: str) -> tuple[Path, str, float]:
    """The text without some lines, the direction, and the share of pro (or anti) lines that are gone."""
    direction, _, degree = how.partition(" ")
    out, about = folder / f"corpus_{direction}_{degree}.txt", folder / f"balance_{direction}_{degree}.json"
    if not about.exists():
        result = bg.balance(
            folder / "corpus.txt",
            targets(language),
            out=out,
            direction="debias" if direction == "debias" else "overbias",
            degree="max" if degree == "max" else float(degree),
        )
        about.write_text(json.dumps(result.to_dict(), indent=1), encoding="utf-8")
    classes = {one["name"]: one for one in json.loads(about.read_text(encoding="utf-8"))["classes"]}
    kind = "pro" if direction == "debias" else "anti"
    both = [classes[f"{kind} {number}"] for number in (1, 2)]
    return out, direction, round(sum(one["removed"] for one in both) / sum(one["before"] for one in both), 3)


def trained(place: Path, text: Path, algorithm: str, seeds: int = 1) -> list[Path]:
    """Models of a text, one a seed."""
    tokens = bg.text.read_corpus(text, out=place / "tokens" / text.stem)
    found = bg.train(tokens, out=place / "models", algorithm=algorithm, seeds=seeds, dim=DIM, subwords=False, n_jobs=1)
    print(f"{place.name} {algorithm} {text.stem}: {found.models[0].words:,} words", flush=True)
    return found.paths


def variants(folder: Path, language: str) -> list[Variant]:
    """Every version of every embedding, trained or changed where it is not there yet."""
    place = folder / language
    x, y, a, b = (WordSet(role, tuple(one)) for role, one in targets(language).items())
    test = AssociationTest(name="gender roles", language=language, x=x, y=y, a=a, b=b)
    text = corpus(place, language)
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
                if not path.exists():
                    model = bg.load(originals[0])
                    changed = bg.mitigate(
                        model, method="attract_repel", lexicon=test, direction=direction, strength=strength,
                        case_fallback=True,
                    )  # fmt: skip
                    bg.save(changed, path)
                made.append(Variant(path, algorithm, "attract_repel", direction, strength))
    return made


def task(folder: Path, language: str, **settings: Any) -> PointsResult:  # noqa: ANN401 - those of the task
    """Hate speech with every version; trains what is missing."""
    return points(
        variants(folder, language),
        TESTS[language],
        f"hateval-{language}",
        SHARED / "hateval2019",
        seeds=TASK_SEEDS,
        cache=folder / language / "cells",
        weat_settings=WEAT,
        progress=lambda done, total: print(f"{language}: {done / total:.1%}", flush=True) if done % 1000 == 0 else None,
        **settings,
    )


def coref_vectors(folder: Path) -> None:
    """The ten versions that coreference is trained on, in half precision and with the words of its data alone."""
    out = folder / "coref" / "vectors"
    out.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    for path in ("ontogum_coref/ontogum_conll.tar.xz", "litbank_coref/litbank_coref_conll.tar.xz", "winobias/conll"):
        for document in read_conll(SHARED / path, problems="mend"):
            counts.update(word.lower() for sentence in document.sentences for word in sentence)
    with (SHARED / "gap_coref" / "gap-test.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            counts.update(re.findall(r"\w+", row["Text"].lower()))
    wanted = sorted(word for word, count in counts.items() if count >= MIN_COREF_COUNT)
    for variant in variants(folder, "en"):
        if variant.label in CHOSEN:
            found = bg.load(variant.vectors).lookup(wanted)
            vectors = bg.load(variant.vectors).vectors[found.rows].astype(np.float16)
            np.savez_compressed(out / f"{CHOSEN[variant.label]}.npz", words=np.array(found.words), vectors=vectors)


def coref(folder: Path) -> PointsResult | None:
    """Points of coreference, if it was trained: every JSON in FOLDER/coref, as train_coref_many.py gathers them."""
    found = {name: one for path in sorted((folder / "coref").glob("*.json")) for name, one in read(path).items()}
    if not found:
        return None
    versions = {CHOSEN[one.label]: one for one in variants(folder, "en") if one.label in CHOSEN}
    results = [(versions[name.rpartition("-seed")[0]], one) for name, one in sorted(found.items())]
    return points_from_results(results, TESTS["en"], weat_settings=WEAT)


def read(path: Path) -> dict[str, Any]:
    """JSON."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def results(folder: Path) -> None:
    """All tables and figures."""
    out = folder / "results"
    out.mkdir(exist_ok=True)
    tables: dict[str, list[pd.DataFrame]] = {"correlations": [], "reliability": [], "versions": []}
    told: dict[str, Any] = {}
    charts = {}
    tasks = {
        "hateval_en": task(folder, "en"),
        "hateval_en_mentions": task(folder, "en", group_words="goldfarb2021_expansion:male,female"),
        "hateval_es": task(folder, "es"),
        "coref": coref(folder),
    }
    for name, found in tasks.items():
        if found is None:
            continue
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


def figures(out: Path) -> None:
    """The figures again, from the tables of `results`."""
    charts = {"correlations": forest(pd.read_csv(out / "correlations.csv"))}
    for name in MEASURES:
        frame = pd.read_csv(out / f"points_{name}.csv")
        frame["measure"] = frame["metric"] + ", " + frame["of"].fillna("all")
        charts[f"points_{name}"] = points_grid(frame, name)
    save_figures(charts, out, ("svg",))


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


STAGES: dict[str, Callable[[Path], object]] = {
    "en": lambda folder: task(folder, "en"),
    "es": lambda folder: task(folder, "es"),
    "coref": coref_vectors,
    "results": results,
    "figures": figures,
}

if __name__ == "__main__":
    for stage in sys.argv[2:] or ("en", "es", "results"):
        STAGES[stage](Path(sys.argv[1]))
