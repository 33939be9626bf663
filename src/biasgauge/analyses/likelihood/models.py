"""`LanguageModel`: log probabilities of tokens, from a masked or a causal model. All that likelihood measures need.

Sentences are run in batches of one length, so that there is no padding to change anything; a batch is bounded by the
memory that its predictions take.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from biasgauge.core import Flags, Floats, Integers
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import read_json_object
from biasgauge.vectors.encoders import GGUF_MAGIC, LoadedModel, load_model, out_of_memory

if TYPE_CHECKING:
    import torch

Kind: TypeAlias = Literal["masked", "causal"]
ModelLike: TypeAlias = "str | os.PathLike[str] | LoadedModel | LanguageModel | tuple[Any, Any]"
"""A language model: a folder in the layout of Hugging Face, a GGUF file, (model, tokenizer), or what was loaded."""
_CELLS = 48_000_000
"""Predicted numbers (tokens × vocabulary) held at a time: bounds the memory; results do not depend on it."""
_PICKED_CELLS = 16_000_000
"""Those of them that are copied at a time: large enough that the system takes the memory back at once."""
_REMEMBERED = 100_000
"""Answers kept, since sum, mean and rate per word ask the same."""


@dataclass(frozen=True)
class Sentence:
    """A sentence to be scored, and what stands before it.

    Attributes:
        text: the sentence.
        given: text before it that is read and not scored, such as the context of an intersentence cluster.
    """

    text: str
    given: str = ""

    def __repr__(self) -> str:
        return f"Sentence of {len(self.text)} characters"  # benchmarks are offensive: never shown


@dataclass(frozen=True, eq=False)
class Tokens:
    """A sentence as a model reads it.

    Attributes:
        ids: of its tokens, special ones included.
        scored: which belong to the sentence itself: neither special nor given.
        words: the word that each token belongs to, counted from 0; -1 for special tokens.
        word_count: words of the sentence itself between spaces, the same whatever the model's tokens.
    """

    ids: Integers
    scored: Flags
    words: Integers
    word_count: int = 0

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class TokenQuery:
    """Some tokens to be predicted: the probability of `targets` at `positions`, given `ids`."""

    ids: Integers
    positions: Integers
    targets: Integers

    @property
    def key(self) -> tuple[bytes, bytes, bytes]:
        """Key of its answer: the same for the same question."""
        return self.ids.tobytes(), self.positions.tobytes(), self.targets.tobytes()


class LanguageModel:
    """A model of one kind, with its tokenizer.

    Attributes:
        name: what tables call it.
        kind: "masked" or "causal".
        window: most tokens of a sentence, special ones included.
        start: the token that a causal model reads first, so that it predicts the sentence's first token too: what parts
            documents ("<|endoftext|>") where the tokenizer has that, else the beginning of a text, else its end; None
            where there is none of them, and the first token is then not scored.
        mask: the id of a masked model's mask; -1 for a causal one without.

    A batch holds at most about `cells` predicted numbers, tokens × vocabulary.
    """

    def __init__(self, loaded: LoadedModel, start: str | None = None, *, cells: int = _CELLS) -> None:
        if loaded.kind == "encoder":
            raise ParameterError(f"{loaded.name} was loaded without a head that predicts; load it as masked or causal.")
        self.loaded = loaded
        self._cells = cells
        self._answers: dict[tuple[bytes, bytes, bytes], Floats] = {}
        self.name = loaded.name
        self.kind: Kind = loaded.kind
        self.window = loaded.window
        tokenizer = loaded.tokenizer
        self.mask: int = -1 if tokenizer.mask_token_id is None else tokenizer.mask_token_id
        self.start: int | None = None
        if self.kind == "causal":
            self.start = _start_token(loaded, start)
        elif start is not None:
            raise ParameterError(f"The 'start' parameter is for causal models, and {loaded.name} is a masked one.")
        elif self.mask < 0:
            raise InputError(f"{loaded.name}: its tokenizer has no mask")

    @property
    def start_token(self) -> str | None:
        """The token that a causal model reads first, as it is written; None for a masked one."""
        return None if self.start is None else str(self.loaded.tokenizer.convert_ids_to_tokens(self.start))

    def tokens(self, sentences: Sequence[Sentence]) -> list[Tokens]:
        """Each sentence as the model reads it."""
        texts = [f"{sentence.given} {sentence.text}" if sentence.given else sentence.text for sentence in sentences]
        encoded = self.loaded.tokenizer(
            texts, return_offsets_mapping=True, return_special_tokens_mask=True, truncation=False, verbose=False
        )
        tokens = []
        for index, sentence in enumerate(sentences):
            ids = encoded["input_ids"][index]
            special = np.asarray(encoded["special_tokens_mask"][index], bool)
            ends = np.array([end for _, end in encoded["offset_mapping"][index]], np.int64)
            words = [-1 if word is None else word for word in encoded.word_ids(index)]
            scored = ~special & (ends > len(sentence.given))
            if self.start is not None and (not ids or ids[0] != self.start):
                ids, words, scored = [self.start, *ids], [-1, *words], np.concatenate([[False], scored])
            count = len(sentence.text.split())
            tokens.append(Tokens(np.asarray(ids, np.int64), scored, np.asarray(words, np.int64), count))
        return tokens

    def problem(self, tokens: Tokens) -> str | None:
        """Reason why a sentence cannot be scored; None where it can."""
        if len(tokens) > self.window:
            return f"it has {len(tokens):,} tokens, and the model reads {self.window:,}"
        return None if tokens.scored.any() else "it has no tokens"

    def log_probabilities(self, queries: Sequence[TokenQuery]) -> list[Floats]:
        """Log probabilities of the targets of each query.

        A masked model is asked at the positions themselves, masked or not; a causal model before them.
        """
        distinct = {query.key: query for query in reversed(queries)}
        new = [key for key in dict.fromkeys(query.key for query in queries) if key not in self._answers]
        if len(self._answers) + len(new) > _REMEMBERED:
            self._answers.clear()
            new = list(dict.fromkeys(query.key for query in queries))
        for batch in self._batches([distinct[key].ids for key in new]):
            asked = [distinct[new[index]] for index in batch]
            logits = self._run(np.stack([query.ids for query in asked])).logits
            values = _log_probabilities(logits, asked, shift=int(self.kind == "causal"))
            self._answers |= {query.key: answer for query, answer in zip(asked, values, strict=True)}
        return [self._answers[query.key] for query in queries]

    def attention_received(self, rows: Sequence[Integers]) -> list[Floats]:
        """Attention that each token receives, mean over all layers, heads and reading tokens; each row sums to 1."""
        answers: list[Floats] = [np.empty(0)] * len(rows)
        model = self.loaded.model
        implementation = model.config._attn_implementation  # noqa: SLF001 - there is no public way to ask
        model.set_attn_implementation("eager")  # the plain one, which alone tells its weights
        try:
            for batch in self._batches(rows):
                layers = self._run(np.stack([rows[index] for index in batch]), output_attentions=True).attentions
                mean = sum(layer.double().mean(dim=(1, 2)) for layer in layers) / len(layers)
                answers_of_batch = mean.cpu().numpy()
                for row, index in enumerate(batch):
                    answers[index] = answers_of_batch[row]
        finally:
            model.set_attn_implementation(implementation)
        return answers

    def _batches(self, rows: Sequence[Integers]) -> Iterator[list[int]]:
        """Indices of rows of one length, as many as the memory allows."""
        vocabulary = int(self.loaded.model.get_input_embeddings().weight.shape[0])
        order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
        for length, group in groupby(order, key=lambda index: len(rows[index])):
            indices = list(group)
            size = max(1, self._cells // (vocabulary * max(length, 1)))
            for start in range(0, len(indices), size):
                yield indices[start : start + size]

    def _run(self, ids: Integers, **outputs: bool) -> Any:  # noqa: ANN401 - an output of transformers
        import torch

        with torch.inference_mode(), out_of_memory(f"{self.name}: a batch of {ids.shape} tokens does not fit"):
            return self.loaded.model(torch.from_numpy(ids).to(self.loaded.model.device), **outputs)


def _start_token(loaded: LoadedModel, requested: str | None) -> int | None:
    """The id of the token that a causal model reads first.

    A chat model's beginning of a text announces a speaker ("<|im_start|>"), and plain sentences are unlikely after it;
    what parts documents in its training text is the better start.
    """
    tokenizer = loaded.tokenizer
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    if requested is not None and requested not in vocabulary:
        raise ParameterError(f"The 'start' parameter must be a token of {loaded.name}. Got {requested!r}.")
    names = [requested] if requested is not None else ["<|endoftext|>", tokenizer.bos_token, tokenizer.eos_token]
    return next((vocabulary[name] for name in names if name is not None and name in vocabulary), None)


def _log_probabilities(logits: torch.Tensor, queries: Sequence[TokenQuery], shift: int) -> list[Floats]:
    """Log probabilities of the targets of each query, from predictions for every position; one query a row."""
    import torch

    counts = [len(query.positions) for query in queries]
    if not sum(counts):
        return [np.empty(0)] * len(queries)
    rows = np.repeat(np.arange(len(queries)), counts)
    positions = np.concatenate([query.positions for query in queries]) - shift
    targets = np.concatenate([query.targets for query in queries])
    step = max(1, _PICKED_CELLS // logits.shape[-1])
    parts = []
    for start in range(0, len(rows), step):
        row, position, target = (
            torch.from_numpy(index[start : start + step]).to(logits.device) for index in (rows, positions, targets)
        )
        predicted = logits[row, position].float()
        parts.append(predicted.gather(1, target[:, None])[:, 0].double() - torch.logsumexp(predicted, dim=1).double())
    values: Floats = torch.cat(parts).cpu().numpy()
    return np.split(values, np.cumsum(counts)[:-1])


def language_model(
    source: ModelLike, kind: Kind | None = None, *, device: str = "cpu", start: str | None = None
) -> LanguageModel:
    """Load a language model.

    Args:
        source: a folder, a GGUF file, (model, tokenizer), or what was loaded before.
        kind: "masked" or "causal"; by default what the folder or the model says of itself.
        device: where it computes.
        start: the token that a causal model reads first; by default what parts documents, else the beginning of a text.

    Raises:
        InputError: the folder or file is not what it should be, or has no head that predicts.
        ParameterError: it is of the other kind than was asked for.
    """
    if isinstance(source, LanguageModel):
        if kind not in {None, source.kind}:
            raise ParameterError(f"{source.name} is a {source.kind} model, and a {kind} one is needed.")
        if start not in {None, source.start_token}:
            raise ParameterError(f"{source.name} was loaded to start with {source.start_token!r}, not with {start!r}.")
        return source
    if isinstance(source, LoadedModel):
        return language_model(LanguageModel(source, start), kind)
    actual = kind_of(source)
    if kind not in {None, actual}:
        name = source if isinstance(source, str | os.PathLike) else "The model"
        raise ParameterError(f"{name}: is a {actual} language model, and a {kind} one is needed.")
    return LanguageModel(load_model(source, kind=actual, device=device), start)


def kind_of(source: object) -> Kind:
    """Kind of language model of a folder, a GGUF file or an object."""
    if isinstance(source, LanguageModel | LoadedModel):
        return "masked" if source.kind == "masked" else "causal"
    if isinstance(source, str | os.PathLike):
        name, path = os.fspath(source), Path(source)
        if path.is_file():
            with path.open("rb") as file:
                if file.read(len(GGUF_MAGIC)) == GGUF_MAGIC:
                    return "causal"
        try:
            classes = read_json_object(path / "config.json").get("architectures") or []
        except InputError as problem:
            raise InputError(f"{source}: is neither a GGUF file nor a folder with a valid config.json") from problem
    else:
        name = type(source).__name__
        classes = [type(source[0] if isinstance(source, tuple) and source else source).__name__]
    if any(str(architecture).endswith(("ForMaskedLM", "ForPreTraining")) for architecture in classes):
        return "masked"
    if any(str(architecture).endswith(("LMHeadModel", "ForCausalLM")) for architecture in classes):
        return "causal"
    listed = ", ".join(map(str, classes)) or "nothing"
    raise InputError(f"{name}: predicts neither masked tokens nor the next one; config.json says {listed}")


Needs: TypeAlias = Literal["masked", "causal", "any"]
SentenceScores: TypeAlias = Callable[[LanguageModel, Sequence[Tokens]], Floats]
PairScores: TypeAlias = Callable[[LanguageModel, Sequence[tuple[Tokens, Tokens]]], Floats]


@dataclass(frozen=True)
class LikelihoodMeasure(ABC):
    """A rule that scores sentences by a language model.

    Sentences that the model cannot read never reach it. NaN is a score that is undefined.

    Attributes:
        name: by which it is found.
        summary: what the number means, what 0 or a difference of 0 means, when it is undefined.
        source: where it was published.
        needs: the kind of model that it asks.
        released: the name of the same measure as released code computes it, where that differs.
        undefined: why a score of readable sentences may be undefined.
    """

    name: str
    summary: str
    source: str
    needs: Needs
    released: str = ""
    undefined: str = "the measure has no value for it"

    @abstractmethod
    def of_pairs(self, model: LanguageModel, pairs: Sequence[tuple[Tokens, Tokens]]) -> Floats:
        """Scores of both sentences, pairs × 2."""

    def score_units(self, model: LanguageModel, units: Sequence[Any]) -> Floats:
        """Scores of units of tokens, units × sentences of each: pairs, or single sentences where it can."""
        return self.of_pairs(model, units)


@dataclass(frozen=True, kw_only=True)
class SentenceMeasure(LikelihoodMeasure):
    """A rule that scores each sentence by itself.

    Attributes:
        score: gives the score of each sentence.
    """

    score: SentenceScores

    def of_pairs(self, model: LanguageModel, pairs: Sequence[tuple[Tokens, Tokens]]) -> Floats:
        """Scores of both sentences, pairs × 2."""
        return self.score_units(model, pairs)

    def score_units(self, model: LanguageModel, units: Sequence[Any]) -> Floats:
        """Scores of the sentences of each unit."""
        scores = self.score(model, [tokens for unit in units for tokens in unit])
        return np.asarray(scores, np.float64).reshape(len(units), -1)


@dataclass(frozen=True, kw_only=True)
class PairMeasure(LikelihoodMeasure):
    """A rule that scores two sentences by the tokens that they share, or in which they differ.

    Attributes:
        score: gives the scores of both, pairs × 2.
    """

    score: PairScores

    def of_pairs(self, model: LanguageModel, pairs: Sequence[tuple[Tokens, Tokens]]) -> Floats:
        """Scores of both sentences, pairs × 2."""
        return np.asarray(self.score(model, pairs), np.float64).reshape(-1, 2)


def token_queries(tokens: Sequence[Tokens], positions: Sequence[Integers]) -> list[TokenQuery]:
    """Query of the tokens at some positions of each sentence, nothing hidden."""
    return [
        TokenQuery(sentence.ids, index, sentence.ids[index]) for sentence, index in zip(tokens, positions, strict=True)
    ]
