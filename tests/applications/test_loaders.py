"""Loaders: each layout on a small file of our own, and the sizes of the published files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from biasgauge.applications.classification.data_sets import (
    HATEVAL_TEST_SIZES,
    load_csv,
    load_davidson,
    load_edos,
    load_founta,
    load_hateval,
    load_mlma,
)
from biasgauge.applications.shipped_tasks import load_hatecheck
from biasgauge.errors import CorpusError, InputError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.applications.classification.texts import TextData


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def sizes(data: TextData) -> dict[str, int]:
    return {name: len(part) for name, part in data.parts.items()}


def hateval(folder: Path, language: str, test: int, *, ascending: bool = False) -> Path:
    for part, count in (("train", 6), ("dev", 4), ("test", test)):
        ids = range(count) if ascending or part != "test" else range(count, 0, -1)
        rows = [f"{number},text {at},{at % 2},0,0" for at, number in enumerate(ids)]
        write(folder / f"hateval2019_{language}_{part}.csv", "id,text,HS,TR,AG", *rows)
    return folder


@pytest.mark.parametrize(("language", "first", "second"), [("en", "migrants", "women"), ("es", "women", "migrants")])
def test_hateval_groups_by_the_order_of_the_test_file(tmp_path: Path, language: str, first: str, second: str) -> None:
    data = load_hateval(hateval(tmp_path, language, HATEVAL_TEST_SIZES[language]), language)
    half = HATEVAL_TEST_SIZES[language] // 2
    assert data.parts["test"].groups == (first,) * half + (second,) * half
    assert set(data.parts["train"].groups) == {None}
    assert data.order == ("women", "migrants")
    assert data.parts["train"].labels == ("not hateful", "hateful") * 3
    assert data.warnings == ()


@pytest.mark.parametrize(("size", "ascending", "found"), [(10, False, "of 10 tweets"), (3000, True, "sorted by id")])
def test_hateval_in_another_order_has_no_groups(tmp_path: Path, size: int, ascending: bool, found: str) -> None:  # noqa: FBT001 - a case
    data = load_hateval(hateval(tmp_path, "en", size, ascending=ascending), "en")
    assert set(data.parts["test"].groups) == {None}
    assert data.order is None
    assert f"is {found}, not HatEval's test file in its own order" in data.warnings[0]


def test_hateval_without_a_part_or_with_another_label(tmp_path: Path) -> None:
    hateval(tmp_path, "en", 10)
    with pytest.raises(InputError, match="HatEval"):
        load_hateval(tmp_path / "hateval2019_en_train.csv", "en")
    with pytest.raises(InputError, match="es_train"):
        load_hateval(tmp_path, "es")
    write(tmp_path / "hateval2019_en_dev.csv", "id,text,HS,TR,AG", "1,x,0,0,0", "2,x,2,0,0")
    with pytest.raises(CorpusError, match=r"line 3: 'HS' must be one of 0, 1"):
        load_hateval(tmp_path, "en")


def test_davidson(tmp_path: Path) -> None:
    rows = [f"{at},3,0,3,0,{at % 3},text {at}" for at in range(60)]
    header = ",count,hate_speech,offensive_language,neither,class,tweet"
    data = load_davidson(write(tmp_path / "labeled_data.csv", header, *rows), split_seed=0)
    assert sizes(data) == {"train": 48, "dev": 6, "test": 6}
    assert Counter(data.parts["test"].labels) == {"hate_speech": 2, "offensive_language": 2, "neither": 2}
    assert data.positive == "hate_speech"
    names = dict(enumerate(("hate_speech", "offensive_language", "neither")))
    for part in data.parts.values():
        for text, label in zip(part.texts, part.labels, strict=True):
            assert label == names[int(text.split()[1]) % 3]


def test_edos(tmp_path: Path) -> None:
    rows = [f"id{at},text {at},{label},none,none,{split}" for at, (label, split) in enumerate(
        [("sexist", "train"), ("not sexist", "train"), ("sexist", "dev"), ("not sexist", "test"), ("sexist", "test")]
    )]  # fmt: skip
    header = "rewire_id,text,label_sexist,label_category,label_vector,split"
    data = load_edos(write(tmp_path / "edos_labelled_aggregated.csv", header, *rows).parent)
    assert sizes(data) == {"train": 2, "dev": 1, "test": 2}
    assert data.parts["test"].texts == ("text 3", "text 4")
    assert data.parts["test"].labels == ("not sexist", "sexist")


def test_mlma_labels_and_groups(tmp_path: Path) -> None:
    kinds = ["offensive", "hateful_normal", "fearful_abusive_hateful", "normal", "disrespectful"] * 4
    groups = ["women", "other", "individual", "gay", "women"] * 4
    both = enumerate(zip(kinds, groups, strict=True))
    rows = [f"{at},text {at},{kind},direct,x,gender,{group}" for at, (kind, group) in both]
    header = "HITId,tweet,sentiment,directness,annotator_sentiment,target,group"
    path = write(tmp_path / "en_dataset.csv", header, *rows)
    data = load_mlma(tmp_path)
    for part in data.parts.values():
        for text, label, group in zip(part.texts, part.labels, part.groups, strict=True):
            at = int(text.split()[1]) % 5
            assert label == ("hateful" if at in {1, 2} else "not hateful")
            assert group == (None if at in {1, 2} else groups[at])
    write(path, header, *rows, "9,x,enraged,direct,x,gender,women")
    with pytest.raises(CorpusError, match=r"line 22.*'sentiment'"):
        load_mlma(tmp_path)


def test_hatecheck(tmp_path: Path) -> None:
    header = ",functionality,case_id,test_case,label_gold,target_ident"
    write(tmp_path / "test_suite_cases.csv", header, "0,f,1,a,hateful,women", "1,f,2,b,non-hateful,")
    texts = load_hatecheck(tmp_path, "en")
    assert (texts.labels, texts.groups) == (("hateful", "not hateful"), ("women", None))


def test_founta_as_given_out(tmp_path: Path) -> None:
    labels = ["abusive", "hateful", "normal", "spam"]
    rows = [f"text {at}, with a comma\t{labels[at % 4]}\t3" for at in range(40)]
    data = load_founta(write(tmp_path / "hatespeech_text_label_vote_RESTRICTED_100K.csv", *rows).parent)
    assert sizes(data) == {"train": 32, "dev": 4, "test": 4}
    assert data.classes == tuple(labels)
    assert data.positive == "hateful"
    assert set(data.parts["test"].groups) == {None}


def test_founta_as_the_study_had_it(tmp_path: Path) -> None:
    for part in ("train", "dev", "test"):
        rows = [f"text {at},{at % 4},{gender}" for at, gender in enumerate(("male", "female", "neutral", "male"))]
        write(tmp_path / f"{part}.csv", "text,label,gender", *rows)
    data = load_founta(tmp_path, positive="2")
    assert data.order == ("male", "female")
    assert data.parts["test"].groups == ("male", "female", "neutral", "male")
    assert (data.name, data.positive) == ("founta", "2")


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    rows = [f"text {at},{at % 2},{'ab'[at % 2] if at % 5 else ''}" for at in range(50)]
    path = write(tmp_path / "own.csv", "text,label,group", *rows)
    data = load_csv(path)
    assert sizes(data) == {"train": 42, "dev": 4, "test": 4}  # of each label 25: 2 and 2, and 21 that are left
    assert data.positive == "1"
    assert set(data.parts["train"].groups) == {"a", "b", None}
    assert load_csv(path, split_seed=1).parts["test"].texts != data.parts["test"].texts


def test_other_columns_and_a_split_of_ones_own(tmp_path: Path) -> None:
    parts = ["train"] * 20 + ["test"] * 4
    rows = [f"comment {at},{'toxic' if at % 2 else 'fine'},x,{part}" for at, part in enumerate(parts)]
    path = write(tmp_path / "own.csv", "comment,verdict,about,split", *rows)
    data = load_csv(path, text_column="comment", label_column="verdict", group_column="about")
    assert sizes(data) == {"train": 18, "dev": 2, "test": 4}
    assert data.positive == "toxic"
    assert data.parts["test"].groups == ("x",) * 4
    with pytest.raises(CorpusError, match="expected a column 'text'"):
        load_csv(path)
    only = write(tmp_path / "only.csv", "text,label,split", "a,1,train", "b,0,train")
    with pytest.raises(CorpusError, match="'split'"):
        load_csv(only)


def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    write(tmp_path / "train.csv", "text,label", *[f"t{at},{at % 2}" for at in range(20)])
    write(tmp_path / "test.csv", "text,label,group", "x,1,a", "y,0,b")
    assert sizes(load_csv(tmp_path)) == {"train": 18, "dev": 2, "test": 2}
    write(tmp_path / "dev.tsv", "text\tlabel", "u\t1", "v\t0", "w\t0")
    assert sizes(load_csv(tmp_path)) == {"train": 20, "dev": 3, "test": 2}


def test_labels_that_do_not_say_what_is_positive(tmp_path: Path) -> None:
    path = write(tmp_path / "own.csv", "text,label", *[f"t{at},{'ab'[at % 2]}" for at in range(40)])
    with pytest.raises(ParameterError, match="positive class"):
        load_csv(path)
    assert load_csv(path, positive="b").positive == "b"
    with pytest.raises(ParameterError, match="nothing is labeled 'c'"):
        load_csv(path, positive="c")
    write(path, "text,label", *[f"x,{at}" for at in range(101)])
    with pytest.raises(CorpusError, match="'label'"):
        load_csv(path)
    write(path, "text,label", "a,1", "b,", "c,0")
    with pytest.raises(CorpusError, match="line 3: 'label' is empty"):
        load_csv(path)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("language", "counts", "hateful"),
    [("en", (9000, 1000, 3000), (3783, 427, 1260)), ("es", (4500, 500, 1600), (1857, 222, 660))],
)
def test_hateval_has_its_published_size(
    shared_data: Path, language: str, counts: tuple[int, ...], hateful: tuple[int, ...]
) -> None:
    """Sizes as in Basile et al. 2019; hateful ones counted with another reader."""
    data = load_hateval(shared_data / "hateval2019", language)
    assert tuple(sizes(data).values()) == counts
    assert tuple(part.labels.count("hateful") for part in data.parts.values()) == hateful
    assert Counter(data.parts["test"].groups) == {"women": counts[2] // 2, "migrants": counts[2] // 2}


@pytest.mark.shared
def test_english_data_have_their_published_sizes(shared_data: Path) -> None:
    """Davidson et al. 2017 (24,783), Kirk et al. 2023 (20,000: 14,000, 2,000, 4,000), Ousidhoum et al. 2019 (5,647)."""
    folder = shared_data / "hate_speech_en"
    davidson = load_davidson(folder)
    assert sum(sizes(davidson).values()) == 24_783
    labels = Counter(label for part in davidson.parts.values() for label in part.labels)
    assert labels == {"hate_speech": 1430, "offensive_language": 19_190, "neither": 4163}
    assert sizes(load_edos(folder)) == {"train": 14_000, "dev": 2000, "test": 4000}
    mlma = load_mlma(folder)
    assert sum(sizes(mlma).values()) == 5647
    groups = Counter(group for part in mlma.parts.values() for group in part.groups)
    assert (groups["women"], groups["immigrants"], groups[None]) == (878, 130, 2087)


@pytest.mark.shared
@pytest.mark.parametrize(("language", "cases", "hateful", "women"), [("en", 3728, 2563, 509), ("es", 3745, 2632, 504)])
def test_hatecheck_has_its_published_size(
    shared_data: Path, language: str, cases: int, hateful: int, women: int
) -> None:
    """Röttger et al. 2021 (3,728 English cases), 2022 (3,745 Spanish ones)."""
    texts = load_hatecheck(shared_data / "hatecheck_en_es", language)
    assert len(texts) == cases
    assert texts.labels.count("hateful") == hateful
    groups = Counter(texts.groups)
    assert groups["women"] == women
    assert len(groups) == 8
