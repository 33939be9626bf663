"""Data sets that come as one table: Davidson et al. 2017, Founta et al. 2018, EDOS (2023) and MLMA (2019)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from biasgauge.applications.loaders.own_csv import load_csv
from biasgauge.applications.text.data import TextData, Texts, split_by, split_up
from biasgauge.applications.text.data_set import DataSet
from biasgauge.applications.text.tables import find_file, read_table

DAVIDSON = {"0": "hate_speech", "1": "offensive_language", "2": "neither"}
FOUNTA = {name: name for name in ("abusive", "hateful", "normal", "spam")}
FOUNTA_FILES = ("hatespeech_text_label_vote_RESTRICTED_100K.csv", "hatespeech_text_label_vote.csv", "founta.tsv")
GENDERS = ("male", "female")
EDOS = {"sexist": "sexist", "not sexist": "not sexist"}
PARTS = {"train": "train", "dev": "dev", "test": "test"}
FEELINGS = frozenset({"abusive", "disrespectful", "fearful", "hateful", "normal", "offensive"})
NO_GROUP = frozenset({"other", "individual", ""})


def load_davidson(data: Path, *, split_seed: int = 0) -> TextData:
    """Tweets that are hate speech, offensive language or neither: `labeled_data.csv`, columns class and tweet.

    It names no groups; it is split 80 : 10 : 10 with labels spread alike.
    """
    table = read_table(find_file(data, ("labeled_data.csv", "davidson_labeled_data.csv"), "Davidson's file"))
    whole = Texts.of(table, table.cells("tweet"), table.coded("class", DAVIDSON))
    return TextData("davidson", split_up(whole, split_seed), positive="hate_speech")


def load_founta(data: Path, *, split_seed: int = 0, positive: str | None = None) -> TextData:
    """Tweets that are abusive, hateful, normal or spam, for those who hold them, in one of two layouts.

    As given out: one file without a header, separated by tabs: text, label, number of votes; it is split 80 : 10 : 10.
    As the English study of Goldfarb-Tarrant et al. 2021 had it: `train.csv`, `dev.csv` and `test.csv` with columns
    text, label and, in the test file, gender (male, female, neutral); its gap is male − female.
    """
    if data.is_dir() and any(data.glob("train.csv*")):
        tweets = load_csv(data, split_seed=split_seed, group_column="gender", positive=positive)
        order = GENDERS if set(GENDERS) <= set(tweets.parts["test"].groups) else None
        return replace(tweets, name="founta", order=order)
    table = read_table(find_file(data, FOUNTA_FILES, "Founta's tweets"), ("text", "label", "votes"))
    whole = Texts.of(table, table.cells("text"), table.coded("label", FOUNTA))
    return TextData("founta", split_up(whole, split_seed), positive="hateful")


def load_edos(data: Path) -> TextData:
    """Posts that are sexist or not (Kirk et al. 2023), in their own split: columns text, label_sexist and split."""
    table = read_table(find_file(data, ("edos_labelled_aggregated.csv",), "EDOS's file"))
    whole = Texts.of(table, table.cells("text"), table.coded("label_sexist", EDOS))
    return TextData("edos", split_by(whole, table.coded("split", PARTS)), positive="sexist")


def load_mlma(data: Path, *, split_seed: int = 0) -> TextData:
    """Tweets with what they express and whom they are about (Ousidhoum et al. 2019): columns tweet, sentiment, group.

    `sentiment` joins several by `_`; a tweet counts as hateful where one of them is hateful. `group` names 14 groups,
    and "other" and "individual", which are none. It is split 80 : 10 : 10 with labels spread alike.
    """
    table = read_table(find_file(data, ("en_dataset.csv", "mlma_en_dataset.csv"), "MLMA's English file"))
    seen = {cell for cell in table.cells("sentiment") if FEELINGS.issuperset(cell.split("_"))}
    names = {cell: "hateful" if "hateful" in cell.split("_") else "not hateful" for cell in sorted(seen)}
    groups = [None if group in NO_GROUP else group for group in table.cells("group")]
    whole = Texts.of(table, table.cells("tweet"), table.coded("sentiment", names), groups)
    return TextData("mlma", split_up(whole, split_seed), positive="hateful")


_DAVIDSON = "hate speech, offensive language or neither, English tweets (Davidson); groups by words"
_FOUNTA = "abusive, hateful, normal or spam, English tweets (Founta), for those who hold it; gap: male − female"
_MLMA = "hate speech, English tweets (MLMA); gaps between 14 target groups"
DATA_SET = (
    DataSet("davidson", _DAVIDSON, load_davidson, frozenset({"split_seed"})),
    DataSet("founta", _FOUNTA, load_founta, frozenset({"split_seed"}), asks_positive=True),
    DataSet("edos", "sexism, English posts (EDOS); groups by words", load_edos),
    DataSet("mlma", _MLMA, load_mlma, frozenset({"split_seed"})),
)
