"""Which conclusions of Zhang et al. 2020 are about GoogleNews and which are general: four sets of vectors side by side.

The sets: part of GoogleNews, all of GloVe 6B (50 dimensions), spaCy's medium vectors, and the skip-gram vectors that
ship; each is a cell of its own, of a minute or two. The last cell leaves vectors.csv (one row for each number and set
of vectors), conclusions.csv, shared_vectors.csv and vectors.svg.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.robustness.forms import find_forms, spellers
from biasgauge.papers.zhang2020 import MEAN, PRINTED
from biasgauge.results import save_figures
from biasgauge.results.drawing import altair, styled
from biasgauge.study import file_step
from biasgauge.vectors import load_default_replicates
from biasgauge_studies.vectors import glove_50d, spacy_md
from biasgauge_studies.zhang2020 import FORMS, SHORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FREQUENT = 50_000
FEWEST = 20
"""Words below which a kappa is not reported."""
NO_LENGTHS = ("1.ripa.mean", "1.ripa.sd", "2.ripa.changed_by_one_sd")
"""Not for the part of GoogleNews, most of whose vectors have lost their length; zhang2020.py has the others."""
PARTS = {"pair_forms": "3", "word_forms": "4", "correspondence": "5", "between_measures": "6"}
SETS: dict[str, Callable[[Path], bg.Embedding | None]] = {
    "GoogleNews (part)": lambda google_news: bg.load(google_news, name="GoogleNews (part)"),
    "GloVe 6B 50d": lambda _: glove_50d(),
    "spaCy md": lambda _: spacy_md(),
    "skip-gram (ours)": lambda _: load_default_replicates()[0],
}
COLORS = ("#16324a", "#b35c1e", "#3b7d5d", "#8a6fb0")


def trimmed(vectors: bg.Embedding) -> bg.Embedding:
    """The frequent words and every form of the words that are asked about: all that the study looks at."""
    words = [word for name in ("occ16", "bsri", "animals") for word in bg.lexicon(name).words]
    words += [word for pair in bg.lexicon("zhang2020").pairs for word in pair]  # type: ignore[attr-defined]  # pairs
    asked = {form for word in words for name in FORMS for form in (word, *spellers([name])[name](word)[0])}
    kept = [word for place, word in enumerate(vectors.words) if place < FREQUENT or word in asked]
    return vectors.subset(kept)


def own_forms(vectors: bg.Embedding) -> tuple[dict[str, dict[str, str]], list[dict[str, Any]]]:
    """Forms of the professions that have a vector of their own, and how many share the word's: such agree by design."""
    forms: dict[str, dict[str, str]] = {}
    counts = []
    for name, rule in spellers(FORMS).items():
        words = [word for word in bg.lexicon("occ16").words if word in vectors]
        there = find_forms(vectors, words, name, rule).found
        forms[name] = {word: form for word, form in there.items() if not np.array_equal(vectors[word], vectors[form])}
        counts.append({"form": name, "there": len(there), "vector_of_its_own": len(forms[name])})
    return forms, counts


def numbers(result: bg.analyses.robustness.RobustnessResult) -> Iterator[dict[str, Any]]:
    """Every number that stands for a conclusion, with its interval."""
    for row in result.base_pairs:
        for name in ("kappa", "unanimous", "changed_by_one_sd"):
            yield {"id": f"2.{row.measure}.{name}", **_ends(getattr(row, name))}
    for mean in result.means:
        yield {"id": f"{PARTS[mean.part]}.{mean.measure}.{mean.against}", **_ends(mean.kappa)}
    for reference in result.reference:
        yield {"id": f"1.{reference.measure}.sd", **_ends(reference.sd)}
        yield {"id": f"1.{reference.measure}.mean", **_ends(reference.mean)}
    for likeness in result.similarity:
        if likeness.measure == "dbwa":
            pair = "~".join(likeness.pair) if likeness.pair else "all"
            yield {"id": f"figure2.{pair}", **_ends(likeness.r)}
    for agreement in result.between_measures:
        if "~".join(agreement.pair) == "john~mary":
            yield {"id": f"6.{agreement.measure}.{agreement.against}.john~mary", **_ends(agreement.kappa)}


def _ends(estimate: Any) -> dict[str, Any]:  # noqa: ANN401 - an estimate
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}


def printed(name: str) -> float | None:
    """What the paper prints for a number of ours; magnitudes as they should read, means over ten pairs."""
    part, _, rest = name.partition(".")
    if part == "figure2":
        return PRINTED.get(f"figure2.{rest}")
    if part == "2":
        measure, kind = rest.split(".")
        value = PRINTED.get(f"table2.{measure}.{ {'changed_by_one_sd': 'magnitude'}.get(kind, kind) }")
        if value is None:
            return None
        return 1 - value if kind == "changed_by_one_sd" else value / 100 if kind == "unanimous" else value
    return PRINTED.get(f"table{part}.{rest}" if part == "1" or "~" in rest else f"table{part}.{rest}.{MEAN}")


CONCLUSIONS: tuple[tuple[str, str, str, float, float], ...] = (
    ("agreement over base pairs is no more than moderate (Fleiss κ to .6)", "2.", ".kappa", -1.0, 0.6),
    ("fewer than half of the professions have one direction under all pairs", "2.", ".unanimous", 0.0, 0.5),
    ("fewer than half of the changes of pair move a score by a standard deviation", "2.", ".changed_by_one_sd", 0.0,
     0.5),
    ("a capitalized pair agrees no more than moderately (mean κ to .6)", "3.", ".capitalized", -1.0, 0.6),
    ("plurals agree no more than moderately (mean κ to .6)", "4.", ".plural", -1.0, 0.6),
    ("capitalized words agree no more than moderately (mean κ to .6)", "4.", ".capitalized", -1.0, 0.6),
    ("words in upper case agree no more than moderately (mean κ to .6)", "4.", ".upper", -1.0, 0.6),
    ("gender of animals is predicted no more than fairly (mean κ to .4)", "5.", ".animals", -1.0, 0.4),
    ("stereotypes (BSRI) are predicted no more than fairly (mean κ to .4)", "5.", ".bsri", -1.0, 0.4),
    ("DB/WA and RIPA agree almost perfectly (mean κ above .8)", "6.dbwa", ".ripa", 0.8, 1.0),
    ("NBM agrees moderately with the others (mean κ from .4 to .6)", "6.", ".nbm", 0.4, 0.6),
    ("pairs with like difference vectors agree more (r above .5)", "figure2.", "all", 0.5, 1.0),
)  # fmt: skip
"""What the paper concludes, as ranges that its own numbers lie in; the words are ours where it gives none."""


def conclusions(frame: pd.DataFrame) -> pd.DataFrame:
    """For each conclusion and set of vectors: do the intervals of its numbers lie in the range, or outside of it?

    "open" where an interval holds an end of the range. In general it holds where it does on every set.
    """
    rows = []
    for told, start, end, least, most in CONCLUSIONS:
        chosen = frame[frame["id"].str.startswith(start) & frame["id"].str.endswith(end)]
        row: dict[str, Any] = {"conclusion": told}
        answers = []
        for name in SETS:
            numbers = chosen[chosen["vectors"] == name].dropna(subset=["value"]).sort_values("id")
            row[name] = ""
            if len(numbers):
                answers.append(_answer(numbers, least, most))
                row[name] = f"{answers[-1]}: " + ", ".join(map(_two, numbers["value"]))
        settled = "yes" if set(answers) == {"holds"} else "no" if "does not" in answers else "open"
        row["general"] = "on one set alone" if len(answers) < 2 else settled
        rows.append(row)
    return pd.DataFrame(rows)


def _answer(numbers: pd.DataFrame, least: float, most: float) -> str:
    """Holds, does not, or open, by the intervals of all numbers together; without an interval, by the number."""
    low, high = (numbers[end].fillna(numbers["value"]) for end in ("low", "high"))
    if ((low >= least) & (high <= most)).all():
        return "holds"
    return "does not" if ((high < least) | (low > most)).any() else "open"


def _two(value: float) -> str:
    return f"{value:.2f}".replace("0.", ".", 1).replace("-", "−")


def chart(frame: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Every number on four sets of vectors, the printed one as an open circle."""
    alt = altair()
    shown = frame[~frame["id"].str.startswith(("1.", "figure2")) & ~frame["id"].str.contains("~")]
    shown = pd.concat([shown, frame[frame["id"] == "figure2.all"]]).dropna(subset=["value"])
    titles = {name: _title(name) for name in dict.fromkeys(shown["id"])}
    printed_rows = [{"number": titles[name], "value": printed(name), "vectors": "printed"} for name in titles]
    points = shown.assign(number=shown["id"].map(titles))[["number", "value", "low", "high", "vectors"]]
    table = pd.concat([points, pd.DataFrame(printed_rows).dropna()], ignore_index=True)
    order = list(titles.values())
    domain = ["printed", *SETS]
    base = alt.Chart(table).encode(
        y=alt.Y("number:N", title=None, sort=order, axis=alt.Axis(labelLimit=330, grid=True)),
        yOffset=alt.YOffset("vectors:N", sort=domain),
        color=alt.Color(
            "vectors:N",
            title=None,
            scale=alt.Scale(domain=domain, range=["#444", *COLORS]),
            legend=alt.Legend(orient="top", columns=5),
        ),
    )
    lines = base.mark_rule(strokeWidth=1.2, opacity=0.7).encode(x=alt.X("low:Q", title=None), x2="high:Q")
    dots = base.mark_point(filled=True, size=34, opacity=1).encode(
        x="value:Q",
        shape=alt.Shape(
            "vectors:N", scale=alt.Scale(domain=domain, range=["diamond", *["circle"] * len(SETS)]), legend=None
        ),
    )
    drawing = alt.layer(lines, dots).properties(width=430, height={"step": 7})
    remark = "Diamonds: what the paper prints (Table 2's magnitudes turned the right way round); lines: 95 % intervals"
    return styled(drawing, "Zhang et al. on four sets of vectors", remark)


def _title(name: str) -> str:
    part, _, rest = name.partition(".")
    if name == "figure2.all":
        return "r of likeness and agreement, DB/WA"
    first, _, second = rest.partition(".")
    words = {"kappa": "Fleiss κ over pairs", "unanimous": "one direction under all pairs",
             "changed_by_one_sd": "changes of at least one sd"}  # fmt: skip
    kind = {"3": "pair, ", "4": "words, ", "5": "truth: ", "6": "with "}.get(part, "")
    return f"{SHORT.get(first, first)}: {kind}{words.get(second, SHORT.get(second, second))}"


def measure_set(out: Path, inputs: Mapping[str, Path], *, vectors: str, google_news: Path) -> None:
    """Compute the numbers of one set of vectors; none where its package is not installed."""
    embedding = SETS[vectors](google_news)
    content: dict[str, Any] = {"vectors": vectors, "numbers": [], "shared": [], "words": 0}
    if embedding is not None:
        embedding = trimmed(embedding)
        forms, counts = own_forms(embedding)
        forms = {form: words for form, words in forms.items() if words}
        result = bg.robustness(embedding, forms=forms, policy=bg.core.WordPolicy(0, "exact"), n_jobs=1)
        content |= {"numbers": list(numbers(result)), "shared": counts, "words": len(embedding.words)}
    (out / "numbers.json").write_text(json.dumps(content), encoding="utf-8")


def compare_sets(out: Path, inputs: Mapping[str, Path]) -> None:
    """Compare the numbers of all sets with each other and with the paper's conclusions."""
    contents = [json.loads((folder / "numbers.json").read_text(encoding="utf-8")) for folder in inputs.values()]
    contents = [content for content in contents if content["numbers"]]
    frame = pd.concat(
        [pd.DataFrame(content["numbers"]).assign(vectors=content["vectors"]) for content in contents],
        ignore_index=True,
    )
    shared = [
        {"vectors": content["vectors"], "words": content["words"], **row}
        for content in contents
        for row in content["shared"]
    ]
    frame = frame.assign(printed=frame["id"].map(printed)).dropna(subset=["value"])
    few = (frame["n"] < FEWEST) & ~frame["id"].str.startswith("figure2")
    lengths = (frame["vectors"] == "GoogleNews (part)") & frame["id"].isin(NO_LENGTHS)
    frame = frame[~few & ~lengths]
    frame.to_csv(out / "vectors.csv", index=False, float_format="%.4f")
    pd.DataFrame(shared).to_csv(out / "shared_vectors.csv", index=False)
    conclusions(frame).to_csv(out / "conclusions.csv", index=False)
    save_figures({"vectors": chart(frame)}, out)


STEP = file_step(
    "zhang2020-vectors",
    "conclusions of Zhang et al. 2020 on several sets of vectors",
    {"zhang2020-set": measure_set, "zhang2020-sets": compare_sets},
)
