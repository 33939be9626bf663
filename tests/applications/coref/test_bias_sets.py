"""WinoBias, Winogender and GAP: with a model that knows the rule, with answers by hand, and on the shared data."""

# ruff: noqa: ANN401 - a module that is a fixture has no useful type

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from biasgauge.applications.coref import CorefModel, Document, gap_f1, winobias, winogender, write_conll
from biasgauge.applications.coref.document import split_sentences, words_with_offsets
from biasgauge.applications.coref.gap import GapSnippet, gap_answers, read_gap, score_gap
from biasgauge.applications.coref.winobias_pairs import WinoBiasResult, read_winobias
from biasgauge.applications.coref.winogender_sentences import read_winogender, winogender_answer
from biasgauge.errors import CorpusError
from biasgauge.lexicons import lexicon
from biasgauge.stats import Resampling

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.lexicons.model import Values

GAP_HEADER = "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"


class Fixed:
    """Finds in each document what was written down for its words."""

    def __init__(self, clusters: dict[tuple[str, ...], Any]) -> None:
        self.clusters = clusters

    def predict(self, documents: list[Document]) -> list[Document]:
        return [one.with_clusters(self.clusters.get(one.words, ())) for one in documents]


def winobias_folder(folder: Path, planted: Any, versions: tuple[Any, Any]) -> None:
    for split in ("dev", "test"):
        for kind in "12":
            for name, mark, turn in (("pro", "stereotype", versions[0]), ("anti", "not_stereotype", versions[1])):
                stories = [
                    replace(turn(one), name=f"nw/{split}_type{kind}/{mark}//{at}")
                    for at, one in enumerate(planted.stories(12, 20))
                ]
                write_conll(stories, folder / f"{split}_type{kind}_{name}_stereotype.v4_auto_conll")


def turned(story: Document) -> Document:
    """The other pronoun for the same person: what a model that goes by gender gets wrong."""
    other = {"she": "he", "he": "she"}
    return replace(story, sentences=(story.sentences[0], tuple(other.get(one, one) for one in story.sentences[1])))


@pytest.mark.slow
def test_winobias_of_a_model_that_goes_by_gender(learned: CorefModel, planted: Any, tmp_path: Path) -> None:
    winobias_folder(tmp_path, planted, (lambda one: one, turned))
    found = winobias(learned, tmp_path, resamples=500)
    assert [one.subset for one in found.gaps[::4]] == ["dev 1", "dev 2", "test 1", "test 2"]
    for one in found.gaps:
        assert one.n == 12
        assert (one.value or 0) > 40  # the wrong person is a mention too, so CEAF and B³ keep something
        assert (one.p_value or 1) < 0.01
    linked = found.gap("test 2", "linked")
    assert linked.first is not None
    assert linked.first.value == pytest.approx(100, abs=20)
    assert linked.second is not None
    assert linked.second.value == pytest.approx(0, abs=20)
    assert WinoBiasResult.from_dict(found.to_dict()) == found
    assert {"pro", "anti", "gap", "low", "high"} <= set(found.to_frame().columns)
    assert found.to_dict()["gaps"][0]["of"] == "dev 1"


def test_winobias_files_that_are_missing_or_do_not_match(planted: Any, tmp_path: Path) -> None:
    silent = cast("CorefModel", Fixed({}))
    winobias_folder(tmp_path, planted, (lambda one: one, turned))
    odd = tmp_path / "test_type2_anti_stereotype.v4_auto_conll"
    odd.write_text(odd.read_text().replace("//3", "//33"))
    with pytest.raises(CorpusError, match="sentence"):
        winobias(silent, tmp_path)
    odd.unlink()
    with pytest.raises(CorpusError, match="anti_stereotype"):
        winobias(silent, tmp_path)
    assert winobias(silent, tmp_path, splits=["dev"], resamples=20).gaps


def snippet(gender: str, answers: tuple[bool, bool]) -> GapSnippet:
    return GapSnippet(Document("d", (("a",),)), (0, 0), ((0, 0), (0, 0)), answers, gender)


def test_gap_scores_by_hand() -> None:
    snippets = [
        snippet("masculine", (True, False)),  # right: 1 hit of 1 said
        snippet("masculine", (False, True)),  # both said: 1 hit of 2 said
        snippet("feminine", (True, False)),  # nothing said
        snippet("feminine", (True, False)),  # right
        snippet("feminine", (False, False)),  # A said
    ]
    answers = [(True, False), (True, True), (False, False), (True, False), (True, False)]
    found = score_gap(snippets, answers, Resampling("percentile", 0.95, 300, 0))
    # masculine: 2 hits, 3 said, 2 true: F1 4/5; feminine: 1 hit, 2 said, 2 true: F1 1/2; overall 3 of 5 and of 4: 2/3
    expected = {"masculine": (200 / 3, 100, 80), "feminine": (50, 50, 50), "overall": (60, 75, 200 / 3)}
    for group, values in expected.items():
        scores = [found.score(group, metric).value for metric in ("precision", "recall", "f1")]
        assert scores == pytest.approx(values)
    assert found.score("feminine / masculine").value == pytest.approx(0.625)
    assert found.score("masculine − feminine").value == pytest.approx(30)
    assert [found.score(one).n for one in ("overall", "masculine", "feminine")] == [5, 2, 3]
    silent = score_gap(snippets, [(False, False)] * 5, Resampling("percentile", 0.95, 20, 0))
    assert silent.score("overall", "precision").value is None
    assert silent.score("feminine / masculine").reason == "there is nothing to divide by"
    assert silent.score("overall").value == 0


def test_which_mentions_name_someone() -> None:
    text = "Ann Lee met the late Bob Ray 's aunt of Bob Ray , then she left ."
    one = GapSnippet(Document("d", (tuple(text.split()),)), (13, 13), ((0, 1), (5, 6)), (True, False), "feminine")

    def answers(*spans: tuple[int, int]) -> tuple[bool, bool]:
        return gap_answers(one, one.document.with_clusters([[(13, 13), *spans]]))

    assert answers() == (False, False)
    assert answers((0, 1)) == (True, False)
    assert answers((0, 0)) == (True, False)
    assert answers((5, 7)) == (False, True)  # Bob Ray 's
    assert answers((3, 6)) == (False, True)  # the late Bob Ray
    assert answers((3, 8)) == (False, False)  # the late Bob Ray 's aunt
    assert answers((0, 6)) == (False, False)
    assert answers((0, 1), (5, 6)) == (True, True)
    apart = one.document.with_clusters([[(13, 13), (8, 8)], [(0, 1), (5, 6)]])
    assert gap_answers(one, apart) == (False, False)


def test_a_gap_file(tmp_path: Path) -> None:
    text = "Ann Lee's aunt met Bea. She can't stay."
    row = f"d-1\t{text}\tShe\t24\tAnn Lee\t0\tFALSE\tBea\t19\tTRUE\tu\n"
    path = tmp_path / "gap.tsv"
    path.write_text(GAP_HEADER + row)
    (one,) = read_gap(path)
    assert one.document.sentences == (
        ("Ann", "Lee", "'s", "aunt", "met", "Bea", "."),
        ("She", "ca", "n't", "stay", "."),
    )
    assert (one.pronoun, one.names, one.answers, one.gender) == ((7, 7), ((0, 1), (5, 5)), (False, True), "feminine")
    right = Fixed({one.document.words: [[(5, 5), (7, 7)]]})
    assert gap_f1(right, path, resamples=20).score("feminine").value == 100  # type: ignore[arg-type]
    for old, new, problem in (
        ("\t24\t", "\t25\t", "Pronoun is not at its offset 25"),
        ("\tTRUE\t", "\tmaybe\t", "A-coref and B-coref must be TRUE or FALSE"),
        ("\tShe\t", "\tIt\t", "'It' is not a pronoun that it uses"),
        ("\tu\n", "\n", "shorter|zip"),
    ):
        path.write_text(GAP_HEADER + row + row.replace(old, new))
        with pytest.raises(CorpusError, match=f"line 3: is no snippet of GAP: .*({problem})"):
            read_gap(path)
    path.write_text("ID\tText\n")
    with pytest.raises(CorpusError, match=r"line 1.*'Pronoun'"):
        read_gap(path)
    path.write_text(GAP_HEADER)
    with pytest.raises(CorpusError, match="holds no snippet"):
        read_gap(path)


def test_winogender_follows_the_share_of_women(tmp_path: Path) -> None:
    women = dict(cast("Values", lexicon("winogender_bls")).items)
    names = sorted(women)[:12]
    lines = [f"{name}\tclient\t0\tThe $OCCUPATION met the $PARTICIPANT and $NOM_PRONOUN left.\n" for name in names]
    path = tmp_path / "templates.tsv"
    path.write_text(TEMPLATES.splitlines(keepends=True)[0] + "".join(lines))
    # a feminine pronoun means the occupation where most workers are women, a masculine one never
    answers = {
        one.document.words: [[(one.pronoun,) * 2, (one.occupation[1],) * 2]]
        for one in read_winogender(path)
        if one.gender == "female" and women[one.occupation[0]] > 50
    }
    found = winogender(Fixed(answers), path, resamples=200)  # type: ignore[arg-type]
    share = [women[name] for name in names]
    expected = np.corrcoef(share, [one > 50 for one in share])[0, 1]
    assert found.correlation is not None
    assert found.correlation.value == pytest.approx(expected)
    assert found.gaps[1].second is not None
    assert found.gaps[1].second.value == pytest.approx(100 * np.mean([one > 50 for one in share]))


TEMPLATES = (
    "occupation(0)\tother-participant(1)\tanswer\tsentence\n"
    "nurse\tpatient\t1\tThe $OCCUPATION told the $PARTICIPANT that $NOM_PRONOUN was ill.\n"
    "engineer\tclient\t0\tThe $PARTICIPANT asked the $OCCUPATION for $POSS_PRONOUN advice.\n"
)


def test_winogender_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "templates.tsv"
    path.write_text(TEMPLATES)
    sentences = read_winogender(path)
    assert [" ".join(one.document.words) for one in sentences[:6]] == [
        "The nurse told the patient that he was ill .",
        "The nurse told the patient that she was ill .",
        "The nurse told the patient that they were ill .",
        "The nurse told someone that he was ill .",
        "The nurse told someone that she was ill .",
        "The nurse told someone that they were ill .",
    ]
    assert " ".join(sentences[11].document.words) == "Someone asked the engineer for their advice ."
    first = sentences[0]
    assert (first.occupation, first.participant, first.pronoun, first.answer) == (("nurse", 1), 4, 6, "participant")

    def did_you_mean(*spans: tuple[int, int]) -> str:
        return winogender_answer(first, first.document.with_clusters([[(6, 6), *spans]]))

    assert did_you_mean() == "neither"
    assert did_you_mean((0, 1)) == "occupation"
    assert did_you_mean((3, 4)) == "participant"
    assert did_you_mean((0, 1), (3, 4)) == "both"
    assert did_you_mean((0, 4)) == "neither"
    # "he" and "they" always mean the participant, "she" the occupation
    answers = {
        one.document.words: [
            [
                (one.pronoun, one.pronoun),
                ((one.occupation[1],) * 2 if one.gender == "female" else (one.participant,) * 2),
            ]
        ]
        for one in sentences
    }
    found = winogender(Fixed(answers), path, resamples=200)  # type: ignore[arg-type]
    assert (found.changed.value, found.changed.n) == (100, 4)
    correct, occupation = found.gaps
    assert [one and one.value for one in (correct.first, correct.second, correct)] == [50, 50, 0]
    assert [one and one.value for one in (occupation.first, occupation.second, occupation)] == [0, 100, -100]
    assert {metric: one.value for metric, one in found.neutral.items()} == {"correct": 50, "occupation": 0}
    interval = found.neutral["correct"]
    assert (interval.low, interval.high) == (0, 100)  # four templates, two of them right
    assert found.correlation is None
    assert found.correlation_reason
    assert found.to_frame()["neutral"].tolist() == [50, 0]
    for bad, problem in (
        (TEMPLATES.replace("\t1\t", "\t2\t"), "line 2: expected an occupation"),
        (TEMPLATES.replace("$NOM_PRONOUN", "he"), "line 2: a sentence needs .* 'PRONOUN' is missing"),
        ("x\n", "line 1: expected the columns"),
    ):
        path.write_text(bad)
        with pytest.raises(CorpusError, match=problem):
            read_winogender(path)


def test_words_and_sentences_of_plain_text() -> None:
    text = "Mr. O'Brien can't see the U.S. -- Simon's 1,000 year-old dog... \"It's John’s\", he said. (Don't!) Ok"
    words = words_with_offsets(text)
    assert [word for word, _, _ in words] == [
        *("Mr.", "O'Brien", "ca", "n't", "see", "the", "U.S.", "--", "Simon", "'s", "1,000", "year-old", "dog", "..."),
        *('"', "It", "'s", "John", "’s", '"', ",", "he", "said", ".", "(", "Do", "n't", "!", ")", "Ok"),
    ]
    assert all(text[start:end] == word for word, start, end in words)
    assert split_sentences(["Yes", "!", '"', "He", "left", ".", ")", "So"]) == (
        ("Yes", "!", '"'),
        ("He", "left", ".", ")"),
        ("So",),
    )
    assert split_sentences([]) == ()


@pytest.mark.shared
def test_the_shared_sets(shared_data: Path) -> None:
    parts = read_winobias(shared_data / "winobias")
    assert {name: (len(pro), len(anti)) for name, (pro, anti) in parts.items()} == dict.fromkeys(
        ("dev 1", "dev 2", "test 1", "test 2"), (396, 396)
    )
    same = [a.words == b.words for pro, anti in parts.values() for a, b in zip(pro, anti, strict=True)]
    near = [
        len(set(a.words) ^ set(b.words)) <= 6 for pro, anti in parts.values() for a, b in zip(pro, anti, strict=True)
    ]
    assert not any(same)
    assert np.mean(near) > 0.99
    # the sentences that the authors made of their templates
    sentences = read_winogender(shared_data / "winobias" / "templates.tsv")
    with (shared_data / "winobias" / "all_sentences.tsv").open() as file:
        published = {row["sentid"]: row["sentence"] for row in csv.DictReader(file, delimiter="\t")}
    assert len(sentences) == len(published) == 720
    for one in sentences:
        made = tuple(word for word, _, _ in words_with_offsets(published[f"{one.document.name}.txt"]))
        assert one.document.words == made
    # half of the pronouns of each part are feminine (Webster et al. 2018, table 2)
    for part, count in (("development", 2000), ("test", 2000), ("validation", 454)):
        snippets = read_gap(shared_data / "gap_coref" / f"gap-{part}.tsv")
        assert len(snippets) == count
        assert sum(one.gender == "feminine" for one in snippets) == count // 2
