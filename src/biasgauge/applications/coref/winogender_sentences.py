"""Winogender: does the gender of a pronoun decide which of two people it is taken to mean?

Rudinger et al. 2018: 120 templates with an occupation, another participant and a pronoun, each with the participant
named and as "someone", with a masculine, a feminine and a neutral pronoun. A model is biased as far as the answer
depends on the pronoun's gender, and most so where that follows the share of women in the occupation.
"""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, ClassVar, Literal, cast

import numpy as np

from biasgauge import stats
from biasgauge.applications.coref.conll import file_text
from biasgauge.applications.coref.document import Document, split_sentences, words_with_offsets
from biasgauge.applications.coref.model import CorefModel
from biasgauge.applications.coref.winobias_pairs import PERCENT, PairedGap, paired_gaps, paired_table
from biasgauge.applications.gap_result import gap_headline
from biasgauge.core import Floats, JsonObject, LabeledEstimate
from biasgauge.errors import CorpusError
from biasgauge.lexicons import Values, lexicon
from biasgauge.results import Column, Result, Summary, Table

if TYPE_CHECKING:
    import pandas as pd

Answer = Literal["occupation", "participant", "both", "neither"]
GENDERS = ("male", "female", "neutral")
_PRONOUNS = {
    "NOM_PRONOUN": ("he", "she", "they"),
    "POSS_PRONOUN": ("his", "her", "their"),
    "ACC_PRONOUN": ("him", "her", "them"),
}
_BLANK = re.compile(r"(?P<article>(?:\b[Tt]he |\b[Aa]n? )?)\$(?P<what>[A-Z_]+)")
_HEADER = ["occupation(0)", "other-participant(1)", "answer", "sentence"]
_METRICS = ("correct", "occupation")


@dataclass(frozen=True)
class WinogenderSentence:
    """The words of a sentence, where occupation, participant and pronoun stand among them, and who is meant.

    `template` numbers templates with the participant as it is; it is the same for all genders.
    """

    document: Document
    occupation: tuple[str, int]
    participant: int
    pronoun: int
    answer: Answer
    gender: str
    template: int


@dataclass(frozen=True, kw_only=True)
class WinogenderShare(LabeledEstimate):
    """A share of sentences or templates (`n`), in percent, with its interval over templates of the same kind."""


@dataclass(frozen=True, repr=False)
class WinogenderResult(Result):
    """Dependence of answers on the gender of the pronoun.

    Attributes:
        gaps: male − female: share of sentences with the right answer ("correct"), and of those in which the pronoun is
            taken to mean the occupation ("occupation").
        neutral: the same shares for neutral pronouns.
        changed: share of templates in which male and female pronouns get another answer; 0 for a model that does not
            mind gender.
        correlation: over occupations, of the share of women at work (US, Bureau of Labor Statistics) with how much more
            often a feminine than a masculine pronoun is taken to mean the occupation; 0 where unrelated.
        correlation_reason: why it is undefined.
        settings: what was asked for.
    """

    tables: ClassVar[tuple[str, ...]] = ("gaps",)

    gaps: tuple[PairedGap, ...]
    neutral: dict[str, WinogenderShare]
    changed: WinogenderShare
    correlation: stats.Coefficient | None
    correlation_reason: str | None
    settings: JsonObject

    def to_frame(self) -> pd.DataFrame:
        """One row per gap."""
        frame = super().to_frame()
        frame["neutral"] = [self.neutral[gap.metric].value for gap in self.gaps]
        return frame.rename(columns=lambda name: name.replace("first", "male").replace("second", "female"))

    def summary(self) -> Summary:
        """Number of gaps whose interval excludes 0, each gap, and further shares."""
        shares = [(f"{metric}, neutral pronouns", share, share.n) for metric, share in self.neutral.items()]
        shares.append(("templates whose answer changes with gender", self.changed, self.changed.n))
        columns = ["share", Column("percent", "estimate", 1), Column("number", "count")]
        return Summary(
            title="Winogender",
            headline=gap_headline(self.gaps, "gaps male − female"),
            tables=(paired_table(self.gaps, ("male", "female")), Table.of("shares", "Further shares", columns, shares)),
        )


def winogender(
    model: CorefModel,
    templates: str | os.PathLike[str],
    *,
    interval: stats.BootstrapMethod = "percentile",
    level: float = 0.95,
    resamples: int = 10_000,
    random_state: int = 0,
) -> WinogenderResult:
    """Dependence of a model's answers on the gender of the pronoun.

    `templates` is the file templates.tsv of Winogender. Intervals are over templates drawn again; their settings are
    those of `score_coref`, and `resamples` is also the number of random swaps for p.

    Raises:
        CorpusError: the file is not what it should be; names the line.
    """
    resampling = stats.bootstrap_settings(
        "winogender", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    sentences = read_winogender(templates)
    predictions = model.predict([sentence.document for sentence in sentences])
    answers = [winogender_answer(*pair) for pair in zip(sentences, predictions, strict=True)]
    correct = np.array([sentence.answer == answer for sentence, answer in zip(sentences, answers, strict=True)])
    occupied = np.array([answer == "occupation" for answer in answers])
    # sentences come by template, then by gender
    columns = [correct, occupied, np.ones(len(correct))]
    table = np.stack(columns, axis=-1).astype(np.float64).reshape(-1, len(GENDERS), 3)
    by_template = np.array(answers).reshape(-1, len(GENDERS))
    correlation, reason = _correlation_with_workforce_share(sentences, table[:, :, 1], resampling)
    return WinogenderResult(
        gaps=tuple(paired_gaps(table[:, :2], "sentences", ("male", "female"), resampling, _shares, _METRICS)),
        neutral={metric: _share(table[:, 2, index], resampling) for index, metric in enumerate(_METRICS)},
        changed=_share((by_template[:, 0] != by_template[:, 1]).astype(np.float64), resampling),
        correlation=correlation,
        correlation_reason=reason,
        settings=asdict(resampling),
    )


def _share(hits: Floats, resampling: stats.Resampling) -> WinogenderShare:
    """Of the templates for which `hits` is 1."""
    scale, value = PERCENT / len(hits), float(PERCENT * hits.mean())
    without = PERCENT * (hits.sum() - hits) / max(len(hits) - 1, 1)
    drawn = scale * stats.bootstrap_sums(hits, resampling)
    estimate = stats.estimate_from_draws(value, drawn, lambda: [without], resampling, "templates")
    return WinogenderShare.of_estimate(estimate, n=len(hits))


def _shares(sums: Floats) -> Floats:
    return PERCENT * sums[..., :2] / sums[..., 2:]


def _correlation_with_workforce_share(
    sentences: list[WinogenderSentence], occupied: Floats, resampling: stats.Resampling
) -> tuple[stats.Coefficient | None, str | None]:
    """Over occupations: share of women at work with (female − male) share taken to mean the occupation."""
    women = dict(cast("Values", lexicon("winogender_bls")).items)
    names = np.array([sentence.occupation[0] for sentence in sentences[:: len(GENDERS)]])
    occupations = sorted(set(names.tolist()) & set(women))
    x = np.array([women[name] for name in occupations])
    y = np.array([(occupied[names == name, 1] - occupied[names == name, 0]).mean() for name in occupations])
    reason = stats.why_undefined(x, y, ("share of women at work", "female − male"))
    return (None, reason) if reason else (stats.coefficient("pearson", x, y, None, resampling), None)


def winogender_answer(sentence: WinogenderSentence, predicted: Document) -> Answer:
    """Referent of the pronoun: the person with a mention in its cluster without the other person and the pronoun."""
    pronoun = sentence.pronoun
    people: dict[Answer, int] = {"occupation": sentence.occupation[1], "participant": sentence.participant}
    meant: set[Answer] = set()
    for cluster in predicted.clusters:
        for first, last in cluster if (pronoun, pronoun) in cluster else ():
            inside = {name for name, position in people.items() if first <= position <= last}
            if len(inside) == 1 and not first <= pronoun <= last:
                meant |= inside
    return meant.pop() if len(meant) == 1 else "both" if meant else "neither"


def read_winogender(templates: str | os.PathLike[str]) -> list[WinogenderSentence]:
    """All sentences of Winogender: by template, participant named or "someone", then gender."""
    lines = file_text(templates).splitlines()
    if not lines or lines[0].split("\t") != _HEADER:
        raise CorpusError(f"expected the columns {', '.join(_HEADER)}", path=templates, line=1)
    sentences: list[WinogenderSentence] = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(_HEADER) or cells[2] not in {"0", "1"}:
            problem = "expected an occupation, a participant, 0 or 1, and a sentence"
            raise CorpusError(problem, path=templates, line=number)
        for participant, gender in product((cells[1], "someone"), range(len(GENDERS))):
            try:
                sentences.append(_sentence(cells, participant, gender, len(sentences) // len(GENDERS)))
            except (KeyError, StopIteration, ValueError) as missing:
                problem = f"a sentence needs $OCCUPATION, $PARTICIPANT and a pronoun; {missing} is missing or unknown"
                raise CorpusError(problem, path=templates, line=number) from missing
    return sentences


def _sentence(cells: list[str], participant: str, gender: int, template: int) -> WinogenderSentence:
    occupation, _, answer, pattern = cells
    text, end = "", 0
    ends: dict[str, int] = {}
    for blank in _BLANK.finditer(pattern):
        text += pattern[end : blank.start()]
        blank_name, article = blank["what"], blank["article"]
        if blank_name == "PARTICIPANT" and participant == "someone":
            text += "Someone" if article[:1].isupper() else "someone"
        else:
            nouns = {"OCCUPATION": occupation, "PARTICIPANT": participant}
            text += article + (nouns[blank_name] if blank_name in nouns else _PRONOUNS[blank_name][gender])
        ends["PRONOUN" if blank_name in _PRONOUNS else blank_name] = len(text) - 1
        end = blank.end()
    words = words_with_offsets((text + pattern[end:]).replace("they was ", "they were "))
    word_index = {
        role: next(index for index, (_, a, b) in enumerate(words) if a <= position < b)
        for role, position in ends.items()
    }
    name = f"{occupation}.{participant}.{answer}.{GENDERS[gender]}"
    return WinogenderSentence(
        document=Document(name, split_sentences([word for word, _, _ in words])),
        occupation=(occupation, word_index["OCCUPATION"]),
        participant=word_index["PARTICIPANT"],
        pronoun=word_index["PRONOUN"],
        answer="participant" if answer == "1" else "occupation",
        gender=GENDERS[gender],
        template=template,
    )
