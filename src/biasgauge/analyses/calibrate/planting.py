"""Texts with known associations: the design of a calibration, its plan of planting, and `plant`, which counts."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from biasgauge import registry
from biasgauge.analyses.calibrate.edits import Edit, EditableText, Mixture, Shuffle, Tokens
from biasgauge.analyses.calibrate.mentions import Mentions
from biasgauge.analyses.calibrate.rows import CarrierDose
from biasgauge.core import Floats, JsonMapping, JsonObject, Record, check_choice, check_number, check_whole
from biasgauge.errors import CorpusError, InputError, ParameterError
from biasgauge.io import as_read_back
from biasgauge.lexicons import words_of
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.stats import closed_form_se, log_odds_ratio
from biasgauge.text import TokenCorpus, edited_corpus

DOSES = (-log(10), -log(4), -log(2), 0.0, log(2), log(4), log(10))
"""Default doses of mentions: odds ratios of 2, 4 and 10 to either side, and none."""
SHARES = (-0.3, -0.15, -0.05, 0.0, 0.05, 0.15, 0.3)
"""Default doses of mixtures: shares of a carrier's tokens."""
GENDERED = ("gender_specific", "gender_specific_seed", "equalize", "gender")
"""Lexicons of words with a gender of their own: a dose would not be the only association of such a word."""
SENTIMENT = (
    ("good", "bad"), ("best", "worst"), ("better", "worse"), ("success", "failure"), ("successful", "unsuccessful"),
    ("win", "lose"), ("won", "lost"), ("victory", "defeat"), ("love", "hate"), ("life", "death"), ("peace", "war"),
    ("friend", "enemy"), ("friends", "enemies"), ("happy", "sad"), ("positive", "negative"), ("strong", "weak"),
    ("rich", "poor"), ("right", "wrong"), ("safe", "dangerous"), ("healthy", "sick"), ("easy", "difficult"),
    ("gain", "loss"), ("gained", "lost"), ("support", "oppose"), ("supported", "opposed"), ("healthy", "ill"),
)  # fmt: skip
"""Pairs (pleasant, unpleasant) of about equal frequency: another attribute to plant, which a measure must not see."""
_TOKENS_PER_SECOND = 830_000
"""Skip-gram of 100 dimensions on one core, tokens of one reading; bench/training.py measures it."""
_PLANTED_PER_SECOND = 3_000_000
"""Tokens in which two kinds of doses are planted, counted and written on one core; bench/calibration.py measures it."""
_SCORING_SECONDS, _ANALYSIS_SECONDS = 3.0, 30.0
"""For the scores of a model, and for the analysis."""


@dataclass(frozen=True)
class CalibrationDesign(Record):
    """Amounts planted and trained.

    Attributes:
        planting: "mentions" (the first order: doses are log odds ratios), or "mixture" (both orders: doses are shares).
        doses: doses to plant; 0 must be among them: those carriers are the blanks.
        per_dose: carriers that get each dose but 0.
        blanks: carriers that get dose 0.
        others: carriers of a dose of another attribute (the largest and the smallest), for specificity.
        plantings: number of planted texts, in each of which doses are assigned to carriers anew.
        seeds: random seeds that each text is trained with.
        bootstrap: samples of documents that each text is trained on, in the place of the text itself; 0 for none.
        shuffled: texts with their words in random order, for the effect of frequency alone.
    """

    planting: str = "mentions"
    doses: tuple[float, ...] = DOSES
    per_dose: int = 25
    blanks: int = 50
    others: int = 40
    plantings: int = 3
    seeds: int = 2
    bootstrap: int = 0
    shuffled: int = 1

    def __post_init__(self) -> None:
        check_choice(("mentions", "mixture"), planting=self.planting)
        check_whole(1, plantings=self.plantings, seeds=self.seeds)
        check_whole(2, per_dose=self.per_dose)
        check_whole(10, blanks=self.blanks)
        check_whole(0, others=self.others, bootstrap=self.bootstrap, shuffled=self.shuffled)
        reach = 1.0 if self.planting == "mixture" else 10.0
        for dose in self.doses:
            check_number(-reach, reach, doses=dose)
        if 0.0 not in self.doses or len(set(self.doses)) < 3:
            raise ParameterError(
                "The 'doses' parameter must hold 0 (the blanks) and at least two other doses, each once. "
                f"Got {', '.join(f'{dose:g}' for dose in self.doses) or 'none'}."
            )

    @property
    def levels(self) -> Floats:
        """One dose for each carrier."""
        doses = sorted(set(self.doses))
        return np.repeat(np.array(doses), [self.blanks if dose == 0 else self.per_dose for dose in doses])

    @property
    def models(self) -> int:
        """Number of models to train."""
        return self.seeds * max(1, self.bootstrap) * self.plantings + self.shuffled

    def seconds(self, tokens: int, *, effort: float, epochs: int, dim: int, n_jobs: int | None = None) -> float:
        """Estimated time on `n_jobs` cores, all of them by default: texts, models, scores, analysis."""
        cores = n_jobs or os.cpu_count() or 1
        per_model = tokens * epochs * effort * (0.4 + 0.6 * dim / 100) / _TOKENS_PER_SECOND
        planted = (self.plantings + self.shuffled) * tokens / _PLANTED_PER_SECOND
        return planted + per_model * ceil(self.models / cores) + self.models * _SCORING_SECONDS + _ANALYSIS_SECONDS

    def describe(self, **cost: Any) -> str:  # noqa: ANN401 - of `seconds`
        """Design and estimated time in one sentence."""
        seconds = self.seconds(**cost)
        time = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{max(1, round(seconds))} seconds"
        samples = f" × {counted(self.bootstrap, 'sample')}" if self.bootstrap else ""
        texts, seeds = counted(self.plantings, "planted text"), counted(self.seeds, "random seed")
        return (
            f"{counted(self.models, 'model')}: {texts} × {seeds}{samples}, {self.shuffled} shuffled; "
            f"{len(self.levels)} carriers at {len(set(self.doses))} doses; about {time}"
        )


def design_from(
    *, planting: str = "mentions", doses: Sequence[float] | None = None, **counts: int
) -> CalibrationDesign:
    """Build the design with these doses, by default those of the kind of planting.

    Raises:
        ParameterError: it is impossible.
    """
    default = SHARES if planting == "mixture" else DOSES
    return CalibrationDesign(planting, tuple(map(float, default if doses is None else doses)), **counts)


VERSION = 2
"""Increased when the same edits would give another text."""
Pairs = tuple[tuple[str, str], ...]
_FREQUENCY_BANDS = 10
_WRONG_TEXT = "is not the planted text that belongs there; remove the folder and plant again"


@dataclass(frozen=True, eq=False, repr=False)
class Planted(Result):
    """A planted text.

    Attributes:
        corpus: the text.
        doses: every carrier with its intended and its counted dose.
        edits: edits in their order.
        random_state: the seed.
        remarks: doses that were not reached.
    """

    tables: ClassVar[tuple[str, ...]] = ("doses",)
    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"corpus": JsonMapping, "warnings": tuple[str, ...]}

    corpus: TokenCorpus
    doses: tuple[CarrierDose, ...]
    edits: tuple[Edit, ...]
    random_state: int
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> JsonObject:
        """Counted doses, edits, and the corpus without its text."""
        return {
            "doses": [dose.to_dict() for dose in self.doses],
            "edits": [edit.to_dict() for edit in self.edits],
            "corpus": self.corpus.to_dict(),
            "random_state": self.random_state,
            "warnings": list(self.remarks),
        }

    def summary(self) -> Summary:
        """Intended and counted dose of each carrier."""
        numbers = (Column(name, "number") for name in ("dose", "counted log odds", "before"))
        rows = [(self.edits[dose.edit].name, dose.word, dose.dose, dose.log_odds, dose.before) for dose in self.doses]
        names = ", ".join(edit.name for edit in self.edits)
        return Summary(
            title="Planted text",
            headline=f"{len(self.corpus.tokens):,} tokens, {counted(self.doses, 'carrier')}; edits: {names}",
            tables=(Table.of("doses", "", ["edit", "word", *numbers], rows, most=20),),
            warnings=self.remarks,
        )


def plant(
    corpus: TokenCorpus,
    edits: Edit | Iterable[Edit],
    *,
    out: str | os.PathLike[str],
    window: int = 5,
    random_state: int = 0,
) -> Planted:
    """Edit a text so that the association of some words is known, and count it afterwards.

    Args:
        corpus: the tokenized text, which stays as it is.
        edits: `Mentions`, `Mixture`, `Swap`, `Shuffle`, or several, in their order.
        out: folder of planted texts, each under a hash of the request; a text that exists is not planted again.
        window: tokens on each side of an end in which carriers are counted.
        random_state: seed of everything that is drawn.

    Raises:
        ParameterError: a word does not occur, or the edits ask for more than the text has.
        CorpusError: the text cannot be written.
    """
    sequence = (edits,) if isinstance(edits, Edit) else tuple(edits)
    request = json.dumps([corpus.checksum, _request(sequence, window, random_state)], sort_keys=True)
    folder = Path(out) / f"planted-{hashlib.sha256(request.encode()).hexdigest()[:16]}"
    return plant_into(corpus, sequence, folder, window=window, random_state=random_state)


def plant_into(
    corpus: TokenCorpus, edits: Sequence[Edit], folder: Path, *, window: int = 5, random_state: int = 0
) -> Planted:
    """As `plant`, in a folder of this name; a text in it must be the one requested."""
    check_whole(1, window=window)
    check_whole(0, random_state=random_state)
    request = _request(edits, window, random_state)

    def apply_edits(tokens: Tokens) -> Mapping[str, Any]:
        text = EditableText(corpus, tokens)
        before = _count_doses(text, edits, window)
        seeds = range(random_state * 64, random_state * 64 + len(edits))
        remarks = [remark for edit, seed in zip(edits, seeds, strict=True) for remark in edit.apply(text, seed)]
        after = _count_doses(text, edits, window)
        rows = [{**row, "before": earlier["log_odds"]} for row, earlier in zip(after, before, strict=True)]
        return {"planted": {**request, "doses": rows, "remarks": remarks}}

    planted = edited_corpus(corpus, apply_edits, folder)
    recorded = planted.settings.get("planted")
    matches = isinstance(recorded, dict) and all(recorded.get(key) == v for key, v in as_read_back(request).items())
    if not matches or planted.settings.get("source") != corpus.checksum:
        raise CorpusError(_WRONG_TEXT, path=planted.path)
    return planted_from(planted, edits, random_state)


def planted_from(corpus: TokenCorpus, edits: Sequence[Edit], random_state: int) -> Planted:
    """Read counted doses and remarks from the settings of a planted corpus.

    Raises:
        CorpusError: it has none.
    """
    try:
        recorded = corpus.settings["planted"]
        doses = tuple(map(CarrierDose.from_dict, recorded["doses"]))
        return Planted(corpus, doses, tuple(edits), random_state, tuple(map(str, recorded["remarks"])))
    except (TypeError, KeyError, AttributeError, InputError) as error:
        raise CorpusError(_WRONG_TEXT, path=corpus.path) from error


def _request(edits: Sequence[Edit], window: int, random_state: int) -> dict[str, Any]:
    """Everything that decides a planted text, but the original text."""
    edit_settings = [edit.to_dict() for edit in edits]
    return {"edits": edit_settings, "window": window, "random_state": random_state, "version": VERSION}


def _count_doses(text: EditableText, edits: Sequence[Edit], window: int) -> list[dict[str, Any]]:
    """Counts and log odds of the carriers of every edit, with the pairs of that edit."""
    rows: list[dict[str, Any]] = []
    for index, edit in enumerate(edits):
        if not isinstance(edit, Mentions | Mixture):
            continue
        intended = edit.doses if isinstance(edit, Mentions) else edit.shares
        text.number_words(intended)  # every carrier occurs
        near, totals = text.count_near_ends(intended, edit.pairs, window)
        tables = np.stack([near[:, 0], totals[0] - near[:, 0], near[:, 1], totals[1] - near[:, 1]], axis=1)
        odds, errors = log_odds_ratio(tables).tolist(), closed_form_se(tables).tolist()
        n_a, n_b = totals.tolist()
        for (word, dose), log_odds, se, (n_wa, n_wb) in zip(intended.items(), odds, errors, near.tolist(), strict=True):
            row = {"edit": index, "word": word, "dose": float(dose), "log_odds": log_odds, "se": se}
            rows.append({**row, "n_wa": n_wa, "n_a": n_a, "n_wb": n_wb, "n_b": n_b})
    return rows


def choose_carriers(
    corpus: TokenCorpus,
    pairs: Sequence[tuple[str, str]],
    count: int,
    *,
    window: int = 5,
    counts: tuple[int, int] | None = None,
    least: int = 20,
    leave_out: Iterable[str] = (),
    random_state: int = 0,
) -> tuple[str, ...]:
    """Draw words that doses can be planted on, evenly over the range of frequencies.

    Args:
        corpus: the text.
        pairs: the pairs to plant: their words, and words of the shipped gender lexicons, are no carriers.
        count: number of words.
        window: tokens on each side.
        counts: least and largest number of occurrences; by default 200 to 2,000, or to 2 in 10,000 tokens where that
            is more.
        least: number of words of pairs that must stand near a carrier.
        leave_out: further words that are no carriers.
        random_state: seed.

    Raises:
        ParameterError: the text has too few such words.
    """
    text = EditableText(corpus, corpus.tokens)
    low, high = counts or (200, max(2_000, len(corpus.tokens) // 5_000))
    frequent = np.flatnonzero((corpus.counts >= low) & (corpus.counts <= high))
    near_ends, _ = text.count_near_ends([corpus.words[word_id] for word_id in frequent], pairs, window)
    shipped = registry.names("lexicon")
    excluded = {word for name in GENDERED if name in shipped for word in words_of(name).words}
    excluded |= {word for pair in pairs for word in pair} | set(leave_out)
    suitable = [
        word_id
        for word_id in frequent[near_ends.sum(axis=1) >= least]
        if (word := corpus.words[word_id]).isalpha() and len(word) > 2 and word not in excluded
    ]
    if len(suitable) < count:
        raise ParameterError(
            f"The calibration needs {count} carriers: words of three letters or more that are not about gender, occur "
            f"{low:,} to {high:,} times, and {least} times or more beside a word of a pair; the corpus has "
            f"{len(suitable)}. Give more text, fewer doses, fewer words a dose, or carriers."
        )
    random = np.random.default_rng([random_state, 7])
    by_frequency = np.array(suitable, np.int64)[np.argsort(np.log(corpus.counts[suitable]), kind="stable")]
    bands = np.array_split(by_frequency, min(_FREQUENCY_BANDS, count))
    sizes = [len(members) for members in np.array_split(np.arange(count), len(bands))]
    drawn = [random.choice(band, size, replace=False) for band, size in zip(bands, sizes, strict=True)]
    return tuple(corpus.words[word_id] for word_id in random.permutation(np.concatenate(drawn)))


def assign_doses(carriers: Sequence[str], levels: Floats, random_state: int, draw: int) -> dict[str, float]:
    """Assign doses to carriers at random: `levels` has one for each carrier; every draw assigns anew."""
    random = np.random.default_rng([random_state, 8, draw])
    return dict(zip(carriers, random.permutation(levels).tolist(), strict=True))


@dataclass(frozen=True)
class PlantingPlan(Record):
    """Doses and words of the texts of a calibration.

    Attributes:
        design: number of words and texts.
        pairs: pairs that define the association.
        carriers: words with a dose.
        others: words with a dose of another attribute.
        other_pairs: pairs of that attribute.
        window: tokens on each side.
        random_state: seed.
    """

    design: CalibrationDesign
    pairs: Pairs
    carriers: tuple[str, ...]
    others: tuple[str, ...]
    other_pairs: Pairs
    window: int
    random_state: int

    def edits(self, draw: int) -> list[Edit]:
        """Edits of one planted text.

        Carriers start from the odds of the whole text, also where they are mixed: a blank has no association.
        """
        doses = assign_doses(self.carriers, self.design.levels, self.random_state, draw)
        mixed = self.design.planting == "mixture"
        mentions = {word: 0.0 if mixed else dose for word, dose in doses.items()} | dict.fromkeys(self.others, 0.0)
        edits: list[Edit] = []
        if self.others:
            extremes = (min(self.design.doses), max(self.design.doses)) if not mixed else (-2.3, 2.3)
            other_doses = {word: extremes[number % 2] for number, word in enumerate(self.others)}
            edits.append(Mentions(other_doses, self.other_pairs, self.window))
        edits.append(Mentions(mentions, self.pairs, self.window))
        if mixed:
            edits.append(Mixture(doses, self.pairs))
        return edits

    def seed(self, draw: int) -> int:
        """Random seed of one planted text."""
        return self.random_state * 1000 + draw

    def plant(self, corpus: TokenCorpus, folder: Path) -> list[Planted]:
        """Plant all texts in a folder."""
        return [
            plant(corpus, self.edits(draw), out=folder, window=self.window, random_state=self.seed(draw))
            for draw in range(self.design.plantings)
        ]

    def shuffle(self, corpus: TokenCorpus, folder: Path) -> list[TokenCorpus]:
        """Make the shuffled texts in a folder."""
        return [
            plant(corpus, Shuffle(), out=folder, random_state=self.seed(draw)).corpus
            for draw in range(self.design.shuffled)
        ]
