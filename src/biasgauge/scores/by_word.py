"""Scores of words, summed up: the mean over pairs with its interval, and how many pairs agree on the direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasgauge import registry
from biasgauge.core import Estimate, Fields, JsonMapping, JsonObject, check_level
from biasgauge.lexicons import language_of
from biasgauge.results import Column, Result, Shown, Summary, Table, measure_name, share_text
from biasgauge.scores.tensor import ScoreTensor, describe

if TYPE_CHECKING:
    from biasgauge.scores.store import ScoreStore

METHOD = "t over pairs"
MOST_ROWS, FEW_WORDS = 20, 5
"""Rows that a terminal shows of many words; of so few words it shows all."""
MOST_WORDS = 10_000
"""Largest number of words that are summed up one by one; of more, the first ones are."""


@dataclass(frozen=True, kw_only=True)
class WordScore(Estimate):
    """Mean score of a word over pairs under one measure: positive leans to the first end of the pairs.

    Attributes:
        word, measure: whose score, under which measure.
        model: in which model; None: averaged over all of them before anything else.
        agree: share of the pairs with a score whose direction is that of the mean; None without a score.
    """

    word: str
    measure: str
    model: str | None
    agree: float | None

    def to_dict(self) -> JsonObject:
        """Return the JSON object of `--json`."""
        ends = {"low": self.low, "high": self.high, "level": self.level, "method": self.method}
        numbers = {"mean": self.value, "interval": ends, "agree": self.agree, "pairs": self.n}
        return {"word": self.word, "measure": self.measure, "model": self.model, **numbers, "reason": self.reason}


@dataclass(frozen=True, eq=False, repr=False)
class WordScores(Result):
    """Mean scores of words over pairs, with what is undefined.

    Attributes:
        scores: of each word under each measure, in each model; with several models, then averaged over them.
        about: labels, shape and counts of undefined scores, by the keys that they have in JSON.
        coverage: of each model.
        path: where the scores are kept; None where they are in memory.
        settings: how they came about.
        warnings: what to know first.
    """

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("scores",)

    scores: tuple[WordScore, ...]
    about: JsonMapping
    coverage: JsonMapping
    path: str | None
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        shape = super().to_dict()
        return {**shape.pop("about"), **shape}

    def summary(self) -> Summary:
        """Each word's mean over pairs, most biased first, and what is undefined."""
        first, second = next(iter(self.about["pairs"]), ("first", "second"))
        lean = f"Positive scores lean to the first word of the pairs ({first}), negative ones to the second ({second})."
        lost = [
            f"{model}: not in the vocabulary (OOV), {set_name}: {', '.join(words)}"
            for model, coverage in self.coverage.items()
            for set_name, words in coverage["lost"].items()
        ]
        return Summary(
            title="Bias scores",
            headline=" × ".join(f"{size:,} {axis}{'s' * (size != 1)}" for axis, size in self.about["shape"].items()),
            sentences=(
                lean,
                "The interval of a mean is over base pairs: how far it would vary with other pairs of the same kind.",
                *(f"{count:,} scores are undefined: {reason}." for reason, count in self.about["undefined"].items()),
            ),
            warnings=(*self.warnings, *lost),
            tables=tuple(self._table(measure) for measure in self.about["measures"]),
        )

    def _table(self, measure: str) -> Table:
        """One row for each word and model, the words with the largest scores first."""
        many_models = len(self.about["models"]) > 1
        measure_scores = [score for score in self.scores if score.measure == measure]
        size = {score.word: abs(score.value or 0) for score in measure_scores if score.model is None or not many_models}
        rank = {word: index for index, word in enumerate(sorted(size, key=lambda word: -size[word]))}
        rows = []
        for score in sorted(measure_scores, key=lambda score: rank[score.word]):
            agree = None
            if score.agree is not None and score.n:
                text = f"{round(score.agree * score.n)} of {score.n}, {share_text(score.agree)}"
                agree = Shown(score.agree, text)
            rows.append((score.word, *([score.model or "mean"] if many_models else []), score, agree))
        columns = [
            "word",
            *(["model"] if many_models else []),
            Column("mean [95 % interval]", "estimate", 3, about="over the pairs"),
            Column("pairs that agree", "share", about="pairs whose direction is that of the mean"),
        ]
        meaning = measure
        if registry.has("measure", measure):
            summary = registry.get("measure", measure).summary
            meaning = f"{measure_name(measure)}: {summary.partition('. ')[0]}"
        # Scores of a few words are shown in full, whatever the number of models.
        most = MOST_ROWS if len(rank) > FEW_WORDS else len(rows)
        return Table.of(f"scores-{measure}", meaning, columns, rows, most=most)


def _mixed_languages(pairs: str, words: str) -> list[str]:
    """A warning where pairs and words are registered lists in two languages: the default pairs are English."""
    if not {pairs, words} <= set(registry.names("lexicon")):
        return []
    first, second = (registry.get("lexicon", name).language for name in (pairs, words))
    if first == second:
        return []
    language_pairs = language_of(second).named("base_pairs")
    hint = f" (--pairs {language_pairs[0]})" if language_pairs else ""
    return [f"the pairs {pairs} are in {first!r}, the words {words} in {second!r}: name pairs in their language{hint}"]


def word_scores(scores: ScoreTensor | ScoreStore, *, level: float = 0.95) -> WordScores:
    """Sum up scores: for each word and measure the mean over pairs, with an interval, and the share that agrees.

    Each model has its rows; with several, a last row for each word has scores that were averaged over models first. The
    interval is Student's t over pairs, of the nominal coverage `level`: how far the mean would move with other pairs of
    the same kind. Of more than 10,000 words, the first 10,000 are summed up, with a warning.
    """
    check_level(level)
    description = describe(scores)
    provenance = description.pop("provenance")
    words = scores.words[:MOST_WORDS]
    together = [None] if len(scores.models) > 1 else []
    rows = [
        row
        for measure in scores.measures
        for model in (*scores.models, *together)
        for row in _scores_of_measure(scores, measure, model, words, level)
    ]
    models = provenance.get("models", {})
    warnings = [f"computed again: {model['recomputed']}" for model in models.values() if "recomputed" in model]
    named = [(provenance.get(list_kind) or {}).get("name", "") for list_kind in ("pairs", "words")]
    warnings += _mixed_languages(*(name.partition(":")[0] for name in named))
    if len(words) < len(scores.words):
        warnings.append(f"summed up are the first {len(words):,} of {len(scores.words):,} words; the scores have all")
    return WordScores(
        scores=tuple(rows),
        about=description,
        coverage={name: model["coverage"] for name, model in models.items() if "coverage" in model},
        path=str(scores.path) if hasattr(scores, "path") else None,
        settings=provenance,
        warnings=tuple(warnings),
    )


def _scores_of_measure(
    scores: ScoreTensor | ScoreStore, measure: str, model: str | None, words: tuple[str, ...], level: float
) -> Iterator[WordScore]:
    from biasgauge.stats import means_along

    select = scores.read if hasattr(scores, "read") else scores.select
    selected = select(measure=[measure], word=words, model=None if model is None else [model])
    values = np.where(selected.undefined == 0, selected.values, np.nan).astype(np.float64)[0]  # pair × word × model
    averages = means_along(values, axis=2).mean
    counts, means, reach = means_along(averages, axis=0, level=level)
    agree = (np.sign(averages) == np.sign(means)).sum(axis=0)
    fields: Fields = {"measure": measure, "model": model, "level": level, "method": METHOD, "over": "pairs"}
    columns = [column.tolist() for column in (counts, means, reach, agree)]
    for word, n, mean, half, same_sign in zip(words, *columns, strict=True):
        if n == 0:
            yield WordScore(word=word, value=None, agree=None, n=n, reason="no pair gives it a score", **fields)
        else:
            ends = {"low": mean - half, "high": mean + half} if n > 1 else {"reason": "one pair gives no interval"}
            yield WordScore(word=word, value=mean, agree=same_sign / n, n=n, **ends, **fields)
