"""The recipe of Badder Seeds 2022: what needs no data, models and corpora in the named layout, made up."""

from __future__ import annotations

import gzip
import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasgauge import registry
from biasgauge.analyses.seeds import seeds
from biasgauge.core import WordPolicy
from biasgauge.errors import CorpusError, LexiconError
from biasgauge.lexicons import seed_bank
from biasgauge.papers import Reproduction, reproduce
from biasgauge.papers.badderseeds2022 import APPENDIX
from biasgauge.papers.badderseeds2022.subspaces import LETTERS, OTHER_MODELS, OWN_MODELS
from biasgauge.vectors import load_default_replicates, save

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.vectors import Embedding

COUNTS = ("bank", "sums", "labels", "tableA1", "figureA2")


@pytest.fixture(scope="module")
def without() -> Reproduction:
    return reproduce("badderseeds2022", parts=COUNTS)


def test_every_number_has_one_row() -> None:
    rows = [row for part in registry.get("paper", "badderseeds2022").parts for row in part.published]
    assert len({row.id for row in rows}) == len(rows)


def test_the_seed_bank_is_the_published_one(without: Reproduction) -> None:
    bank = [row for row in without.rows if row.part == "bank"]
    assert {row.state for row in bank} == {"agrees", "not printed"}
    unprinted = {row.id for row in bank if row.state == "not printed"}  # counts of the released file are in no paper
    assert unprinted == {f"bank.{name}" for name in ("seeds_left", "sets_left", "unequal", "overlapping", "duplicates")}
    counts = {row.id.removeprefix("bank."): row.as_published for row in bank if row.id.startswith("bank.")}
    assert counts == {
        "sets": 178, "papers": 18, "categories": 156, "seeds": 7_213, "seeds_left": 6_620, "sets_left": 159,
        "pairs": 90, "unequal": 34, "overlapping": 10, "duplicates": 22,
    }  # fmt: skip
    assert without.row("bank.sets_left").corrected == 165, "the cleaning that was meant loses fewer"


def test_figure_4_highlights_other_pairs_than_it_says(without: Reproduction) -> None:
    names, roles = (without.row(f"figure4.{name}.drawn") for name in ("names", "roles"))
    assert names.as_published == "pleasant and unpleasant (Knoche)"
    assert roles.as_published == "definitional_female and definitional_male (Bolukbasi)"
    assert names.state == roles.state == "differs"
    assert [row.id for row in without.rows if row.state == "differs"] == [names.id, roles.id]


def test_printed_shuffles_are_orders_of_the_sets() -> None:
    sets = seed_bank("published").bank.sets
    shuffles = APPENDIX["shuffles"]
    printed = [(shuffle["sets"], shuffle["orders"]) for shuffle in shuffles.values()]
    for names, orders in [*printed, (shuffles["gender"]["sets"], APPENDIX["figure1"]["shuffled"])]:
        for name, words in zip(names, orders, strict=True):
            assert sorted(words.split()) == sorted(sets[name])


def test_a_shuffle_that_leaves_pairs_together_is_told(without: Reproduction) -> None:
    row = without.row("sums.shuffled.gender")
    assert row.as_published == 2
    assert row.note.startswith("mother and father, female and male")
    assert without.row("sums.shuffled.names").as_published == 0


def test_words_of_figure_a2_get_their_own_value(without: Reproduction) -> None:
    assert all(len(column.split("|")) == 20 for column in APPENDIX["figureA2"].values())
    first, last = (without.row(f"figureA2.gender.{word}") for word in ("legislature", "beautiful"))
    assert (first.published, first.corrected) == (last.corrected, last.published) == (0.39, -0.49)
    assert first.note.startswith("needs nyt_min100")
    # a word that is illegible does not hide the cosine beside it: the figure's bottom lines print −.35, −.35 and −.38
    own = {
        word: without.row(f"figureA2.random.{word}").corrected for word in ("global", "bonds", "treasury", "bathroom")
    }
    assert own == {"global": -0.38, "bonds": -0.35, "treasury": -0.35, "bathroom": 0.36}
    unknown = [row.id for row in without.rows if row.part == "figureA2" and row.corrected is None]
    assert unknown == ["figureA2.gender.gov"]  # its mirror is wonderful, whose cosine is illegible


def test_what_is_missing_comes_with_what_to_do() -> None:
    found = reproduce("badderseeds2022", parts=["tableA1"])
    assert [one.name for one in found.missing] == ["nyt", "wikitext", "romance", "history"]
    needs = {need.name: need for need in registry.get("paper", "badderseeds2022").needs}
    assert "--bootstrap 20" in needs["nyt_min10"].fetch
    assert "--out nyt_min10" in needs["nyt_min10"].fetch
    assert "nytimes_news_articles.txt" in needs["nyt"].fetch
    assert {row.note for row in found.rows} == {f"needs {name}" for name in ("nyt", "wikitext", "romance", "history")}


@pytest.mark.shared
def test_the_released_files_are_what_ships(shared_data: Path) -> None:
    found = reproduce("badderseeds2022", shared_data, parts=["files"])
    assert {row.state for row in found.rows} == {"agrees"}
    assert not found.missing


def test_a_file_that_is_not_the_released_one_is_counted_as_it_is(tmp_path: Path) -> None:
    entry = {"Seeds ID": "own-Somebody_2020", "Seeds": "['he_him', 'she', 'They']", "Used in Paper": "Own"}
    (tmp_path / "gathered_seeds.json").write_text(json.dumps([entry]), encoding="utf-8")
    (tmp_path / "seed_set_pairings.csv").write_text("ID_A,ID_B\na,b\n", encoding="utf-8")
    found = reproduce("badderseeds2022", tmp_path, parts=["files"])
    counts = {row.id.removeprefix("files."): row.as_published for row in found.rows}
    assert counts == {
        "sets": 1, "papers": 1, "seeds": 3, "seeds_left": 2, "sets_left": 1, "shipped": 0, "pairs": 1,
        "pairs_shipped": 0,
    }  # fmt: skip
    assert {row.state for row in found.rows} == {"differs"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gathered_seeds.json", "[{}]", "not the released list"),
        ("gathered_seeds.json", "no json", "is not JSON"),
        (
            "gathered_seeds.json",
            '[{"Seeds ID": "a-B", "Seeds": "[call()]", "Used in Paper": ""}]',
            "no printed list",
        ),
        ("seed_set_pairings.csv", "A,B\n", "has no column .ID_A."),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(LexiconError, match=rf"{name}.*{said}"):
        reproduce("badderseeds2022", tmp_path, parts=["files"])


@pytest.fixture(scope="module")
def models() -> list[Embedding]:
    """Small models: the words of the seed bank and as many others."""
    seeded = {word for words in seed_bank("published").bank.sets.values() for word in words} | set(LETTERS)
    whole = load_default_replicates()[:2]
    kept = [word for place, word in enumerate(whole[0].words) if word in seeded or place % 8 == 0]
    return [one.subset(kept) for one in whole]


@pytest.fixture(scope="module")
def on_models(models: list[Embedding], tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    folder = tmp_path_factory.mktemp("models")
    for name in ("nyt_min0", "nyt_min10", "nyt_min100", "history_min0", "history_min10"):
        (folder / name).mkdir()
        for place, one in enumerate(models):
            save(one, folder / name / f"sample{place}.safetensors")
    return reproduce("badderseeds2022", folder, parts=["tableA2", "figure2", "figure3", "figure4", "figureA2"])


def test_models_in_the_named_folders_are_used(on_models: Reproduction) -> None:
    assert set(on_models.settings["files"]) == {"nyt_min0", "nyt_min10", "nyt_min100", "history_min0", "history_min10"}
    assert not [row.id for row in on_models.rows if OTHER_MODELS in row.note]
    filled = [
        row
        for row in on_models.rows
        if row.needs in on_models.settings["files"] and row.part not in {"figureA2", "figure3"}
    ]
    assert [row.id for row in filled if row.as_published is None] == []


def test_the_authors_models_are_read_as_they_are_released_and_held_to_the_printed_numbers(
    models: list[Embedding], tmp_path: Path
) -> None:
    """Files vectors_sampleN.kv of gensim, in folders named as in their config.json; not the user's beside them."""
    folder = tmp_path / "models" / "nytimes_news_articles_min100"
    folder.mkdir(parents=True)
    (tmp_path / "nyt_min100").mkdir()
    for place, one in enumerate(models, 1):
        keyed = KeyedVectors(one.dim)
        keyed.add_vectors(list(one.words), np.asarray(one.vectors, np.float32))
        keyed.save(str(folder / f"vectors_sample{place}.kv"))
        save(one.subset(one.words[:50]), tmp_path / "nyt_min100" / f"sample{place}.safetensors")
    filled = [row for row in reproduce("badderseeds2022", tmp_path, parts=["figureA2"]).rows if row.as_published]
    assert filled
    assert {row.tolerance for row in filled} == {0.005}
    assert {row.state for row in filled} <= {"agrees", "differs"}
    shutil.rmtree(tmp_path / "nyt_min100")
    for path in folder.iterdir():
        path.rename(path.with_name(path.name.replace("vectors_sample", "mine")))
    for row in (reproduce("badderseeds2022", tmp_path, parts=["figureA2"]).row(row.id) for row in filled):
        assert (row.state, OWN_MODELS in row.note) == ("not checked", True)


def test_models_that_are_linked_are_not_at_hand_in_the_place_of_impossible() -> None:
    found = reproduce("badderseeds2022", parts=["figure4", "figureA2"])
    coverage = {part.part: part for part in found.coverage}
    assert (coverage["figure4"].obtainable, coverage["figure4"].unchecked) == (6, 0)
    assert (coverage["figureA2"].rearranged, coverage["figureA2"].obtainable) == (47, 1)
    assert all("DATA.md" in need.fetch for need in found.missing)


def test_coherence_is_that_of_seeds_in_both_rules(models: list[Embedding], on_models: Reproduction) -> None:
    asked = {"pairs": "all", "filter": "published", "shuffles": 0, "leave_one_out": False}
    cards = {(card.a, card.b): card for card in seeds(models, **asked)}  # type: ignore[arg-type]  # settings
    card = cards["names_black-Garg_et_al_2018", "names_white-Garg_et_al_2018"]
    row = on_models.row("tableA2.black_white")
    assert (row.as_published, row.corrected) == (card.coherence_published.value, card.coherence.value)
    largest = max(card.coherence_published.value or 0 for card in cards.values())
    assert largest <= 1, "each is divided by the largest in its model"


def test_numbers_of_models_are_not_held_to_models_that_nobody_has(on_models: Reproduction) -> None:
    trends = [row for row in on_models.rows if row.part == "figure4" and row.as_published is not None]
    assert {row.id for row in trends if row.published in {"negative", "inverse"}} == {
        "figure4.nyt.explained", "figure4.nyt.coherence", "figure4.history.coherence",
    }  # fmt: skip
    # Only signs of trends can be: the text says that they are negative.
    signs = [(row.agrees, float(row.as_published or 0) < 0) for row in trends if row.between]
    assert all(agrees == negative for agrees, negative in signs)
    assert len(signs) == 3
    assert "which is another quantity" in on_models.row("figure4.nyt.explained").note
    assert {row.agrees for row in on_models.rows if row.part in {"tableA2", "figure2", "figure3"}} == {None}


def test_figure_3_measures_letters(models: list[Embedding], on_models: Reproduction) -> None:
    """The mean of unaligned models' vectors, and the mean of fourteen letters, some of them twice."""
    mean = {word: np.mean([one[word].astype(float) for one in models], axis=0) for word in {"woman", *LETTERS}}
    letters = sum(mean[letter] for letter in LETTERS)
    expected = mean["woman"] @ letters / np.linalg.norm(mean["woman"]) / np.linalg.norm(letters)
    row = on_models.row("figure3.history.woman")
    assert row.as_published == pytest.approx(expected, abs=1e-6)
    assert row.corrected != pytest.approx(expected, abs=0.01)
    unpleasant = seed_bank("published").bank.sets["unpleasantness-Caliskan_et_al_2017"]
    (alone,) = seeds(models, ["woman"], list(unpleasant), shuffles=0, leave_one_out=False, policy=WordPolicy(0.6))
    assert row.corrected == pytest.approx(alone.similarity.value, abs=1e-6)


def test_words_of_two_lists_have_one_printed_cosine() -> None:
    """The notebook prints cosines list by list: a word that several lists have must have the same one in all."""
    rows = {row.id: row.published for row in registry.get("paper", "badderseeds2022").parts[7].published}
    for corpus in ("romance", "history"):
        lists = APPENDIX["figure3"][corpus]
        kozlowski = ["woman", "women", "she", "her", "her", "hers", "girl", "girls", "female", "feminine"]
        caliskan = ["sister", "female", "woman", "girl", "daughter", "she", "hers", "her"]
        named = dict(zip(kozlowski, lists["female-Kozlowski_et_al_2019"], strict=True))
        for word, value in zip(caliskan, lists["female_1-Caliskan_et_al_2017"], strict=True):
            assert named.setdefault(word, value) == value == rows[f"figure3.{corpus}.{word}"]
        printed = {value for values in lists.values() for value in values}
        assert {value for name, value in rows.items() if name.startswith(f"figure3.{corpus}.") and value} <= printed


def test_the_boxes_of_figure_3_are_medians_of_what_is_printed() -> None:
    found = reproduce("badderseeds2022", parts=["figure3"])
    row = found.row("figure3.history.median.female-Kozlowski_et_al_2019")
    # sorted: −.5661 twice, −.3528, −.1755, −.1737, −.0651, −.0448, −.0418, .0273, .3177
    assert row.as_published == pytest.approx((-0.1737 - 0.0651) / 2)
    assert row.corrected == pytest.approx(-0.0651), "her is there twice"
    assert row.state == "not printed"


NYT = """URL: http://one
The mayor spoke.

He spoke again.
URL: http://two
Nobody   listened.
"""
WIKITEXT = """
 = Mayor =

 The mayor of the town is a mayor .

 = = History = =

 There was one before .

 = Town =

 A town has a mayor .
"""


def review(book: int, text: str) -> str:
    return json.dumps({"book_id": str(book), "review_text": text, "rating": 3})


@pytest.fixture(scope="module")
def on_corpora(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    pytest.importorskip("spacy")
    folder = tmp_path_factory.mktemp("corpora")
    (folder / "nytimes_news_articles.txt").write_text(NYT, encoding="utf-8")
    (folder / "wikitext-103").mkdir()
    (folder / "wikitext-103" / "wiki.train.tokens").write_text(WIKITEXT, encoding="utf-8")
    long = "what a wonderful read it was"
    lines = [review(1, long) for _ in range(510)] + [review(2, long) for _ in range(499)]
    lines += [review(2, "exactly twenty chars")] * 20  # too short by one
    with gzip.open(folder / "goodreads_reviews_romance.json.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return reproduce("badderseeds2022", folder, parts=["tableA1"])


def test_corpora_in_their_published_layout_are_counted(on_corpora: Reproduction) -> None:
    rows = {row.id.removeprefix("tableA1."): row for row in on_corpora.rows}
    assert rows["nyt.documents"].as_published == 2
    # the mayor spoke . he spoke again . nobody listened .
    assert (rows["nyt.words"].corrected, rows["nyt.vocabulary"].corrected) == (11, 8)
    assert (rows["nyt.words"].as_published, rows["nyt.vocabulary"].as_published) == (0, 8), "none occurs ten times"
    assert rows["nyt.mean_length"].corrected == 5.5
    assert rows["nyt.paragraphs"].as_published == 3
    assert rows["wikitext.documents"].as_published == 2
    assert rows["nyt.documents"].state == "differs", "two articles are not 8,888"


def test_reviews_are_drawn_from_books_that_have_enough(on_corpora: Reproduction) -> None:
    assert on_corpora.row("tableA1.romance.documents").as_published == 500, "one book of two, and 500 of its reviews"
    words = on_corpora.row("tableA1.romance.words")
    assert (words.as_published, words.corrected) == (3_000, 3_000)
    assert words.state == "not checked", "which reviews were drawn is not known"
    assert on_corpora.row("tableA1.history.words").note == "needs history"


def test_a_review_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    path = tmp_path / "goodreads_reviews_history_biography.json"
    path.write_text(review(1, "what a wonderful read it was") + '\n{"book": 1}\n', encoding="utf-8")
    with pytest.raises(CorpusError, match=r"line 2.*review_text"):
        reproduce("badderseeds2022", tmp_path, parts=["tableA1"])


def test_without_models_those_that_ship_stand_in() -> None:
    found = reproduce("badderseeds2022", parts=["figure2", "figure3"])
    stand_in = [row for row in found.rows if row.as_published is not None and ".median." not in row.id]
    assert all(OTHER_MODELS in row.note for row in stand_in)
    assert not [row.id for row in stand_in if "romance" in row.id], "they stand in for one corpus"
    assert {row.agrees for row in found.rows} == {None}
    assert [one.name for one in found.missing] == ["nyt_min0", "romance_min0", "history_min0"]
