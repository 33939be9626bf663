"""`encode`: every pooling of every layer against NumPy; windows, batches, lost words, many templates."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.encoders.conftest import small_bert, wordpieces
from tests.encoders.numpy_bert import hidden_states

import biasgauge as bg
from biasgauge.errors import InputError, ParameterError
from biasgauge.vectors.encoders import draw_contexts, load_model, templates_of
from biasgauge.vectors.encoders.encoding import encoded_blocks
from biasgauge.vectors.encoders.hidden_states import TransformerEncoder
from biasgauge.vectors.encoders.pieces import batches

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch: Any = pytest.importorskip("torch")
pytest.importorskip("transformers")

WEIGHTS: dict[str, Any] = {}


def oracle(tokens: list[int]) -> list[Any]:
    if not WEIGHTS:
        WEIGHTS.update({name: tensor.numpy() for name, tensor in small_bert().state_dict().items()})
    return hidden_states(WEIGHTS, tokens, heads=2, epsilon=1e-12)


def ids(*pieces: str) -> list[int]:
    tokens: list[int] = wordpieces().convert_tokens_to_ids(["[CLS]", *pieces, "[SEP]"])
    return tokens


def test_every_pooling_of_every_layer_is_what_numpy_gives(tiny: Path) -> None:
    views = bg.encode(tiny, ["nurse", "Xyz", "math art"], ["This is {}."], pooling="all")
    assert views.facets["layer"] == (0, 1, 2)
    assert views.facets["pooling"] == ("mean", "first", "last", "sentence", "cls")
    for word, pieces in {"nurse": ["nurse"], "Xyz": ["x", "##y", "##z"], "math art": ["math", "art"]}.items():
        expected = oracle(ids("this", "is", *pieces, "."))
        own = slice(3, 3 + len(pieces))
        for layer, state in enumerate(expected):
            for pooling, vector in {
                "mean": state[own].mean(axis=0), "first": state[3], "last": state[2 + len(pieces)],
                "sentence": state.mean(axis=0), "cls": state[0],
            }.items():  # fmt: skip
                np.testing.assert_allclose(views.select(layer=layer, pooling=pooling)[word], vector, atol=2e-5)


def test_a_view_is_an_embedding_that_knows_what_it_is(tiny: Path) -> None:
    views = bg.encode(tiny, ["he", "she"], ["{}", "The {}."], layers=[2, 0])
    view = views.select(layer=2, template="The {}.")
    assert isinstance(view, bg.Embedding)
    assert (view.name, view.words, view.dim) == ("tiny-bert, layer 2, mean, The {}.", ("he", "she"), 16)
    assert dict(view.facets) == {
        "checkpoint": "tiny-bert", "layer": 2, "pooling": "mean", "template": "The {}.", "context": 0,
    }  # fmt: skip
    assert len(views) == 4
    assert isinstance(views, list)
    assert len({model.name for model in views}) == 4
    with pytest.raises(ParameterError, match="name one level of template"):
        views.select(layer=2)
    with pytest.raises(ParameterError, match="No view has the layer 1; there are 2, 0"):
        views.select(layer=1)
    with pytest.raises(ParameterError, match="no facet 'head'"):
        views.subset(head=1)
    assert [model.facets["layer"] for model in views.subset(layer=0)] == [0, 0]


def test_neither_other_words_nor_padding_nor_batches_change_a_vector(tiny: Path) -> None:
    words = ["he", "algebra", "abcdefgh", "nurse", "a b c d e f g", "zz", "man"]
    templates = ["{}", "This is the word {}."]
    views = bg.encode(tiny, words, templates, pooling="all")
    together = views.to_numpy()
    alone = np.concatenate([bg.encode(tiny, [word], templates, pooling="all").to_numpy() for word in words], axis=5)
    np.testing.assert_allclose(together, alone, atol=3e-6)
    loaded = load_model(tiny)
    all_lengths = TransformerEncoder(loaded, padded=1.0)  # all in one batch: as much padding as can be
    one_by_one = TransformerEncoder(loaded, most_tokens=1)
    for encoder in (all_lengths, one_by_one):
        np.testing.assert_allclose(bg.encode(encoder, words, templates, pooling="all").to_numpy(), together, atol=3e-6)
    blocks = [block for block, _ in encoded_blocks(tiny, words, templates, pooling="all", block_bytes=1)]
    assert len(blocks) == len(templates)
    by_name = {view.name: view for block in blocks for view in block}
    for view in views:
        np.testing.assert_allclose(by_name[view.name].vectors, view.vectors, atol=3e-6)


class OtherStream:
    """As a further stream of a GPU, on this processor: which part was fetched, and how many were asked for then."""

    def __init__(self, *, broken: bool = False) -> None:
        self.asked = 0
        self.fetches: list[tuple[int, int]] = []
        self.broken = broken

    def mark(self) -> int:
        self.asked += 1
        return self.asked

    def fetched(self, states: Any, after: int) -> Any:  # noqa: ANN401 - tensors
        if self.broken:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.fetches.append((after, self.asked))
        return states.clone()


@pytest.fixture
def few_at_once(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[TransformerEncoder, OtherStream]]:
    """Sentences go to the model as a GPU takes them, four at a time."""

    def prepared(**how: bool) -> tuple[TransformerEncoder, OtherStream]:
        stream = OtherStream(**how)
        monkeypatch.setattr("biasgauge.vectors.encoders.hidden_states.stream_of", lambda _device: stream)
        return TransformerEncoder(load_model(tiny), most_sentences=4), stream

    return prepared


@pytest.mark.parametrize("pooling", [["mean", "sentence", "cls"], ["last"]])
def test_vectors_of_a_gpu_are_brought_to_their_places(
    tiny: Path, few_at_once: Callable[..., tuple[TransformerEncoder, OtherStream]], pooling: list[str]
) -> None:
    """A few at a time, on this processor: lost words and cut sentences among them."""
    words = ["nurse", "日本", "xyz", "math art", "poetry", "he", "w" * 40, "a", "she"]
    asked: dict[str, Any] = {"templates": ["{}", "This is {}."], "layers": [2, 0], "pooling": pooling}
    whole = bg.encode(tiny, words, **asked)
    encoder, stream = few_at_once()
    parts = bg.encode(encoder, words, **asked)
    assert stream.fetches == [(1, 2), (2, 3), (3, 4), (4, 5), (5, 5)], (
        "18 sentences: each part as the next is asked for"
    )
    for one, other in zip(whole, parts, strict=True):
        assert (one.words, one.dropped, one.facets) == (other.words, other.dropped, other.facets)
        assert "日本" in one.dropped
        np.testing.assert_allclose(one.vectors, other.vectors, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="NO GPU: vectors of one were not compared")
def test_a_gpu_gives_the_vectors_of_the_processor(tiny: Path) -> None:
    encoders = [
        TransformerEncoder(load_model(tiny, device=device), most_sentences=50, staged_bytes=2**12)
        for device in ("cpu", "cuda")
    ]
    here, there = (bg.encode(encoder, "weat7", "any", pooling="all") for encoder in encoders)
    np.testing.assert_allclose(there.to_numpy(), here.to_numpy(), atol=1e-5)


def test_what_goes_wrong_on_the_way_from_a_gpu_is_told(
    few_at_once: Callable[..., tuple[TransformerEncoder, OtherStream]],
) -> None:
    encoder, _ = few_at_once(broken=True)
    with pytest.raises(InputError, match="tiny-bert ran out of memory"):
        bg.encode(encoder, ["nurse", "he", "she", "poetry", "art"], "any")


def test_the_same_call_gives_the_same_bytes(tiny: Path) -> None:
    first, again = (bg.encode(tiny, "weat7", "any") for _ in range(2))
    assert [view.checksum for view in first] == [view.checksum for view in again]


def test_a_long_sentence_is_cut_around_its_word(tiny: Path) -> None:
    """The window is 24 tokens, two of them special: of 30 words before the target the last 10 or so stay."""
    before, behind = "the " * 30, " a" * 30
    views = bg.encode(tiny, ["nurse", "xyz"], [before + "{}" + behind], pooling="all", layers=2)
    assert views.warnings == ("2 sentences were longer than the model's window and were cut around their word",)
    tokens = ids(*["the"] * 10, "nurse", *["a"] * 11)
    assert len(tokens) == 24
    state = oracle(tokens)[2]
    np.testing.assert_allclose(views.select(pooling="mean")["nurse"], state[11], atol=2e-5)
    np.testing.assert_allclose(views.select(pooling="sentence")["nurse"], state.mean(axis=0), atol=2e-5)
    state = oracle(ids(*["the"] * 9, "x", "##y", "##z", *["a"] * 10))[2]
    np.testing.assert_allclose(views.select(pooling="mean")["xyz"], state[10:13].mean(axis=0), atol=2e-5)
    ends = bg.encode(tiny, ["nurse"], ["{}" + behind, before + "{}"], layers=2)
    for template, tokens, place in (
        ("{}" + behind, ids("nurse", *["a"] * 21), 1),
        (before + "{}", ids(*["the"] * 21, "nurse"), 22),
    ):
        np.testing.assert_allclose(ends.select(template=template)["nurse"], oracle(tokens)[2][place], atol=2e-5)


def test_words_that_cannot_be_encoded_are_lost_with_a_reason(tiny: Path) -> None:
    words = ["nurse", "日本", "q" * 40, "\N{ZERO WIDTH SPACE}"]
    view = bg.encode(tiny, words, ["{}"], layers=1)[0]
    assert view.words == ("nurse",)
    assert view.dropped == {
        "日本": "the tokenizer does not know it",
        "q" * 40: "it has 40 pieces, which is more than the model's window of 24 tokens has room for",
        "\N{ZERO WIDTH SPACE}": "the tokenizer makes nothing of it",
    }
    assert view.coverage({"asked": words}).to_dict()["found"] == 1
    with pytest.raises(InputError, match="日本: the tokenizer does not know it"):
        bg.encode(tiny, ["日本"], ["{}"])


def test_several_checkpoints_are_a_facet(tiny: Path) -> None:
    other = (small_bert(seed=1), wordpieces())
    views = bg.encode([tiny, load_model(tiny), load_model(other, name="other")], ["he", "she"], "bare", layers=2)
    assert views.facets["checkpoint"] == ("tiny-bert", "tiny-bert (2)", "other")
    first, same, changed = (views.select(checkpoint=name).vectors for name in views.facets["checkpoint"])
    np.testing.assert_array_equal(first, same)
    assert np.abs(first - changed).max() > 0.1


def test_averages_over_facets_are_means(tiny: Path) -> None:
    views = bg.encode(tiny, ["he", "she"], ["{}", "The {}.", "This is {}."], layers=[1, 2])
    means = views.averaged("template")
    assert [view.facets["template"] for view in means] == ["mean of 3", "mean of 3"]
    expected = np.mean([view.vectors for view in views if view.facets["layer"] == 2], axis=0)
    np.testing.assert_allclose(means.select(layer=2).vectors, expected, atol=1e-6)


def test_views_go_where_a_list_of_models_goes(tiny: Path) -> None:
    views = bg.encode(tiny, ["he", "she", "man", "woman", "math", "art"], ["{}", "The {}."], layers=[0, 2])
    scores = bg.score(views, pairs=[("he", "she"), ("man", "woman")], words=["math", "art"], measures="dbwa")
    assert scores.shape == (1, 2, 2, 4)
    alone = bg.score(views.select(layer=2, template="{}"), pairs=[("he", "she")], words=["math"], measures="dbwa")
    place = scores.models.index("tiny-bert, layer 2, mean, {}")
    assert scores.values[0, 0, 0, place] == alone.values[0, 0, 0, 0]
    assert scores.provenance["models"]["tiny-bert, layer 2, mean, {}"]["facets"]["layer"] == 2
    with pytest.raises(ParameterError, match="One model is needed here"):
        bg.load(views)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"layers": 3}, "numbers from 0 to 2, the last layer of tiny-bert. Got 3"),
        ({"layers": "last"}, "must be 'all', a number or numbers. Got 'last'"),
        ({"pooling": "max"}, "must be 'all' or some of mean, first, last, sentence, cls. Got 'max'"),
        ({"templates": ["no gap"]}, "a sentence with one gap {}. Got 'no gap'"),
        ({"templates": "nouns"}, "Got 'nouns'; did you mean 'noun'"),
        ({"templates": []}, "at least one template"),
        ({"device": "cuda:9"}, "The device 'cuda:9' cannot be used"),
    ],
)
def test_what_cannot_be_asked_for(tiny: Path, arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ParameterError, InputError)) as caught:
        bg.encode(tiny, ["he"], **arguments)
    assert sentence in str(caught.value)


def test_cls_of_a_model_without_one_is_refused() -> None:
    tokenizer = wordpieces()
    tokenizer.cls_token = None
    with pytest.raises(ParameterError, match="'cls'"):
        bg.encode((small_bert(), tokenizer), ["he"], pooling=["mean", "cls"])
    assert bg.encode((small_bert(), tokenizer), ["he"], pooling="all").facets["pooling"][-1] == "sentence"


def test_running_out_of_memory_is_one_sentence(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_named: object) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    loaded = load_model(tiny)
    monkeypatch.setattr(type(loaded.model), "forward", full)
    with pytest.raises(InputError, match="tiny-bert"):
        bg.encode(loaded, ["he"])


def test_a_sentence_transformer_and_a_foreign_encoder(tiny: Path) -> None:
    loaded = load_model(tiny)

    class Module:
        auto_model = loaded.model
        max_seq_length = 8

    class SentenceTransformerLike:
        tokenizer = loaded.tokenizer

        def _first_module(self) -> Module:
            return Module()

    views = bg.encode(SentenceTransformerLike(), ["nurse"], ["{}"], name="st")
    assert views[0].facets["checkpoint"] == "st"
    np.testing.assert_array_equal(views.to_numpy(), bg.encode(tiny, ["nurse"], ["{}"]).to_numpy())
    with pytest.raises(ParameterError, match="SentenceTransformer"):
        bg.encode(3, ["nurse"])


def test_shipped_templates_have_a_gap_each_and_own_files_are_read(tmp_path: Path) -> None:
    assert "{}" in templates_of("any")
    for name in ("any", "bare", "noun", "name", "adjective", "verb"):
        assert all(template.count("{}") == 1 for template in templates_of(name))
    file = tmp_path / "own.toml"
    file.write_text('[templates]\nplain = ["I see {}."]\nasked = ["Is it {}?", "I see {}."]\n')
    assert templates_of(file) == ("I see {}.", "Is it {}?")
    assert templates_of(f"{file}:asked") == ("Is it {}?", "I see {}.")
    with pytest.raises(ParameterError, match="'other'"):
        templates_of(f"{file}:other")
    file.write_text('[templates]\nplain = ["I see."]\n')
    with pytest.raises(ParameterError, match=r"own\.toml: A template must be a sentence with one gap"):
        templates_of(file)
    file.write_text("[other]\n")
    with pytest.raises(InputError, match=r"needs a table \[templates\]"):
        templates_of(file)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=80), st.integers(1, 200))
def test_batches_hold_every_sentence_once_with_little_padding(lengths: list[int], most: int) -> None:
    made = [part.tolist() for part in batches(lengths, most)]
    assert sorted(place for part in made for place in part) == list(range(len(lengths)))
    for part in made:
        sizes = [lengths[place] for place in part]
        assert len(part) == 1 or len(part) * max(sizes) <= most
        assert min(sizes) >= 0.9 * max(sizes)
    assert all(min(lengths[p] for p in a) >= max(lengths[p] for p in b) for a, b in pairwise(made))


DOCUMENTS = [
    "The nurse spoke. Then the Nurse left; no nurses stayed.",
    "",
    "An African  American poet wrote.\nThe poet read.",
    "nurse " * 500,
]


def test_contexts_are_sentences_of_the_corpus_with_their_documents() -> None:
    drawn = draw_contexts(iter(DOCUMENTS[:3]), ["nurse", "African American", "poet", "king"], draws=5)
    assert drawn.found == {"nurse": 2, "African American": 1, "poet": 2, "king": 0}
    texts = {
        (context.text, context.text[context.start : context.end], context.document) for context in drawn.of("nurse")
    }
    assert texts == {("The nurse spoke.", "nurse", 0), ("Then the Nurse left; no nurses stayed.", "Nurse", 0)}
    (poet,) = drawn.of("African American")
    assert (poet.text, poet.document) == ("An African  American poet wrote.", 1)
    assert poet.text[poet.start : poet.end] == "African  American"
    assert "4 of 4 words occur fewer than 5 times" in drawn.warnings[0]
    with pytest.raises(ParameterError, match="None of the 1 words"):
        draw_contexts(iter(DOCUMENTS), ["queen"])
    with pytest.raises(ParameterError, match="'random_state'"):
        draw_contexts(iter(DOCUMENTS), ["nurse"], random_state=-1)


def test_contexts_do_not_depend_on_other_words_and_are_uniform() -> None:
    texts = [f"Number {number} is a word." for number in range(20)]
    alone = draw_contexts(iter(texts), ["word"], draws=4, random_state=3)
    beside = draw_contexts(iter(texts), ["a", "word"], draws=4, random_state=3)
    assert alone.of("word") == beside.of("word")
    assert alone.of("word") != draw_contexts(iter(texts), ["word"], draws=4, random_state=4).of("word")
    counts = np.zeros((4, 20))
    for seed in range(1000):
        for place, context in enumerate(draw_contexts(iter(texts), ["word"], draws=4, random_state=seed).contexts):
            counts[place, context.document] += 1
    # 1,000 draws of 1 in 20: 50 ± 6.9 each, also at each place of the order.
    assert np.abs(counts - 50).max() < 5 * 6.9
    assert np.abs(counts.sum(axis=0) - 200).max() < 5 * 12.7


def test_a_long_context_is_cut_at_blanks_around_the_word() -> None:
    (context,) = draw_contexts(iter(["aaa " * 400 + "word" + " bbb" * 400]), ["word"], draws=1).contexts
    assert len(context.text) <= 600
    assert context.text[context.start : context.end] == "word"
    assert context.text.startswith("aaa ")
    assert context.text.endswith(" bbb")


def test_views_in_contexts_have_each_word_in_its_own_sentence(tiny: Path) -> None:
    corpus = ["The nurse.", "This is the nurse.", "A man.", "The man is a man."]
    drawn = draw_contexts(iter(corpus), ["nurse", "man"], draws=3)
    views = bg.encode(tiny, ["nurse", "man"], contexts=drawn, layers=2)
    assert views.facets["context"] == (1, 2, 3)
    assert views.select(context=3).words == ("man",)
    assert views.select(context=3).dropped == {"nurse": "it has fewer contexts"}
    for number, context in enumerate(drawn.of("nurse"), 1):
        tokens = wordpieces()(context.text)["input_ids"]
        place = tokens.index(wordpieces().convert_tokens_to_ids("nurse"))
        np.testing.assert_allclose(views.select(context=number)["nurse"], oracle(tokens)[2][place], atol=2e-5)
    static = views.averaged("context").select()
    expected = np.mean([views.select(context=number)["man"] for number in (1, 2, 3)], axis=0)
    np.testing.assert_allclose(static["man"], expected, atol=1e-6)
    with pytest.raises(ParameterError, match="'templates'"):
        bg.encode(tiny, ["nurse"], ["{}"], contexts=drawn)
    with pytest.raises(ParameterError, match="None of the words has a context"):
        bg.encode(tiny, ["poet"], contexts=drawn)
