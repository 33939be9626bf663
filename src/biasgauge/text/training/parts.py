"""Models of several corpora that can be compared: equal amounts of text each, and a spread that is that of documents.

A text is dealt to disjoint parts, whole documents each, and a model is trained on every part; then it is dealt anew.
Of a longer text another draw takes other documents. Two models of disjoint parts differ as models of two texts of one
kind do, which models that differ by random seed alone do not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from biasgauge.core import Integers, JsonObject, check_choice, check_whole
from biasgauge.errors import ParameterError
from biasgauge.io import make_folder
from biasgauge.text import TokenCorpus, corpus_of, corpus_of_documents
from biasgauge.text.training.algorithms import Recipe
from biasgauge.text.training.models import select_algorithms, select_settings
from biasgauge.text.training.sweep import TrainedModel, run_sweep

Replication = Literal["parts", "samples"]
"""Models of disjoint parts of the text, or of bootstrap samples of its documents."""
CorpusSource: TypeAlias = TokenCorpus | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, eq=False)
class ComparableModels:
    """Models of several corpora.

    Attributes:
        corpora: each corpus, all of it.
        models: the models of each.
        tokens: tokens that a draw takes of each corpus.
    """

    corpora: Mapping[str, TokenCorpus]
    models: Mapping[str, list[TrainedModel]]
    tokens: int

    @property
    def paths(self) -> dict[str, list[Path]]:
        """Vector files of each corpus, ready for `compare`."""
        return {name: [model.path for model in models] for name, models in self.models.items()}


def train_comparable(  # noqa: PLR0913 - each is a choice that a study has to report
    corpora: Mapping[str, CorpusSource],
    *,
    out: str | os.PathLike[str],
    parts: int = 2,
    draws: int = 4,
    by: Replication = "parts",
    tokens: int | None = None,
    algorithm: str = "sgns",
    min_count: int = 5,
    random_state: int = 0,
    layout: str = "auto",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    field: str | int | None = None,
    documents: str = "line",
    n_jobs: int | None = None,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
    say: Callable[[str], None] | None = None,
    check: Callable[[Mapping[str, TokenCorpus]], None] | None = None,
    **settings: Any,  # noqa: ANN401 - those of the algorithm, checked one by one
) -> ComparableModels:
    """Train models on equal amounts of text of each corpus, whose spread is that of documents.

    Args:
        corpora: by name, a tokenized corpus, or what `read_corpus` reads.
        out: folder with a folder for each corpus; models that are there already are not trained again.
        parts: disjoint parts of a draw, with a model each.
        draws: how often documents are drawn and dealt to parts; with by="samples" the number of samples.
        by: "parts", or "samples": bootstrap samples of documents, drawn with replacement.
        tokens: of a draw; by default those of the smallest corpus.
        algorithm: "sgns", "cbow", "fasttext" or "glove".
        min_count: words that occur less often in a part are left out of its model.
        random_state: seed of the draws, and the first seed of the models.
        layout: as in `read_corpus`.
        tokenizer: as in `read_corpus`.
        field: as in `read_corpus`.
        documents: as in `read_corpus`; what is a document decides what the comparison generalizes over.
        n_jobs: models at a time; all cores by default.
        device: "cpu" or "cuda".
        progress: called with (done, total) for each corpus.
        say: called with plans in one sentence.
        check: called with the tokenized corpora before anything is trained, to refuse them.
        settings: of the algorithm: dim, window, epochs, …

    Raises:
        ParameterError: an argument cannot be used, or a corpus has too few documents or tokens.
        CorpusError: a corpus cannot be read.
    """
    check_choice(get_args(Replication), by=by)
    check_whole(2, parts=parts)
    check_whole(1 if by == "parts" else 2, draws=draws)
    (chosen,) = select_algorithms(algorithm, settings)
    folder = make_folder(out)
    reading: JsonObject = {"layout": layout, "tokenizer": tokenizer, "field": field, "documents": documents}
    read = {name: corpus_of(source, out=folder / name / "corpus", **reading) for name, source in corpora.items()}
    if check is not None:
        check(read)
    amount = min(len(corpus.tokens) for corpus in read.values())
    if tokens is not None:
        check_whole(1, tokens=tokens)
        if tokens > amount:
            smallest = min(read, key=lambda name: len(read[name].tokens))
            raise ParameterError(
                f"The 'tokens' parameter must be at most those of the smallest corpus, {amount:,} of {smallest!r}. "
                f"Got {tokens:,}."
            )
        amount = tokens
    models = {}
    for name, corpus in read.items():
        _check_documents(name, corpus, 2 * parts)
        texts = [
            corpus_of_documents(corpus, numbers, folder / name / "parts" / label, record)
            for label, numbers, record in choose_documents(corpus, amount, parts, draws, by, random_state)
        ]
        recipes = [
            Recipe(
                algorithm=chosen.name, settings=select_settings(chosen, settings), corpus=text.checksum,
                seed=random_state + index, min_count=min_count,
            )
            for index, text in enumerate(texts)
        ]  # fmt: skip
        models[name] = run_sweep(
            texts, recipes, folder / name, n_jobs=n_jobs, device=device, progress=progress, say=say
        )
    return ComparableModels(read, models, amount)


def _check_documents(name: str, corpus: TokenCorpus, fewest: int) -> None:
    count = len(corpus.documents) - 1
    if count < fewest:
        raise ParameterError(
            f"The corpus {name!r} has {count} document{'s' * (count != 1)}; a comparison that generalizes over "
            f"documents takes at least {fewest}. Say what a document is (documents='line', 'blank-line' or 'file')."
        )


def choose_documents(
    corpus: TokenCorpus, tokens: int, parts: int, draws: int, by: Replication, random_state: int
) -> list[tuple[str, Integers, JsonObject]]:
    """Return label, numbers of documents and record of each part (or sample), about tokens / parts (or tokens) each.

    They depend on the corpus and on `random_state` alone, not on its name or on the other corpora.
    """
    lengths = np.diff(corpus.lines[corpus.documents])
    chosen: list[tuple[str, Integers, JsonObject]] = []
    for draw in range(draws):
        random = np.random.default_rng([random_state, int(corpus.checksum[:12], 16), draw])
        if by == "samples":
            order = random.integers(0, len(lengths), 2 * len(lengths) + parts)
            numbers = take_tokens(order, lengths, tokens)
            chosen.append((f"sample{draw}", numbers, {"sample": draw}))
            continue
        numbers = take_tokens(random.permutation(len(lengths)), lengths, tokens)
        dealt = deal_documents(numbers, lengths, parts)
        chosen += [
            (f"draw{draw}-part{part}", members, {"draw": draw, "part": part}) for part, members in enumerate(dealt)
        ]
    return chosen


def take_tokens(order: Integers, lengths: Integers, tokens: int) -> Integers:
    """Return the first documents of an order that together have as near to `tokens` tokens as whole documents can."""
    ends = np.cumsum(lengths[order])
    count = int(np.searchsorted(ends, tokens))  # documents that stay below
    if count >= len(order):
        return order
    before = int(ends[count - 1]) if count else 0
    return order[: count + 1 if ends[count] - tokens <= tokens - before else max(count, 1)]


def deal_documents(numbers: Integers, lengths: Integers, parts: int) -> Sequence[Integers]:
    """Deal documents, in their order, to the part that has the fewest tokens so far."""
    dealt: list[list[int]] = [[] for _ in range(parts)]
    totals = [0] * parts
    for number in numbers.tolist():
        part = totals.index(min(totals))
        dealt[part].append(number)
        totals[part] += int(lengths[number])
    if not all(dealt):
        raise ParameterError(
            f"The text that is compared has too few documents for {parts} parts: {len(numbers)}. Give fewer parts, or "
            "smaller documents."
        )
    return [np.array(members, np.int64) for members in dealt]
