"""What a calibration plants, trains and reads: the arguments of `calibrate`, checked and held against the text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np

from biasgauge import registry
from biasgauge.analyses.calibrate.analysis import analyzed
from biasgauge.analyses.calibrate.carriers import choose_carriers
from biasgauge.analyses.calibrate.design import DOSES, SHARES, Design
from biasgauge.analyses.calibrate.edit import Text
from biasgauge.analyses.calibrate.other_attribute import SENTIMENT
from biasgauge.analyses.calibrate.parts import Rate
from biasgauge.analyses.calibrate.planting import Planted
from biasgauge.analyses.calibrate.readings import Asked, ModelReading, Readings, joined, read_model
from biasgauge.analyses.calibrate.result import Calibration
from biasgauge.analyses.calibrate.texts import Pairs, PlantingPlan
from biasgauge.core import JsonMapping, PairsLike, Record, VectorsLike, WordsLike, check_level, check_whole
from biasgauge.errors import ParameterError
from biasgauge.lexicons import DEFAULT_LANGUAGE, Language, language_of, pairs_of, words_of
from biasgauge.scores import AS_PUBLISHED
from biasgauge.text import TokenCorpus
from biasgauge.text.training import algorithm, train

SIZES = (4, 8, 16, 25)
_BACKGROUND = 2000
"""Words in which nothing is planted, for the effect of frequency."""
_LEAST_COUNT = 20
_FEWEST_PLACES = 5
"""Times that a carrier must occur: as often as a word that is trained on."""
_FEWEST_PAIRS = 3
"""Pairs of something else that a text must have to plant it."""
_DECIDED = ("corpus", "out", "seeds", "bootstrap", "random_state", "n_jobs", "progress", "say")
"""Parameters of `train` that a calibration decides by others of its own."""


@dataclass(frozen=True)
class CalibrationPlan(Record):
    """Everything that a calibration does, but the training itself.

    Attributes:
        planting: what is planted in each text, on which words.
        background: words in which nothing is planted.
        checksum, tokens: of the text.
        asked_pairs: how many base pairs were given; those of which a word does not occur are left out.
        recipe: settings of `train`.
        measures, tests: names of measures and association tests.
        sizes: numbers of words in sets.
        level: of all intervals.
    """

    planting: PlantingPlan
    background: tuple[str, ...]
    checksum: str
    tokens: int
    asked_pairs: int
    recipe: JsonMapping = field(default_factory=lambda: recipe_settings("sgns"))
    measures: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    sizes: tuple[int, ...] = SIZES
    level: float = 0.95

    def completed(
        self,
        recipe: str | Mapping[str, Any] = "sgns",
        *,
        measures: Sequence[str] | None = None,
        tests: Sequence[str] | None = None,
        sizes: Sequence[int] = SIZES,
        level: float = 0.95,
        **design: Any,  # noqa: ANN401 - of `design_from`
    ) -> CalibrationPlan:
        """The same words and doses, with how often they are planted, and how they are trained on and read.

        Raises:
            ParameterError: an argument cannot be used.
        """
        check_level(level)
        for size in sizes:
            check_whole(1, sizes=size)
        return replace(
            self, planting=replace(self.planting, design=design_from(**design)), recipe=recipe_settings(recipe),
            measures=names_of("measure", measures), tests=names_of("association_test", tests), sizes=tuple(sizes),
            level=level,
        )  # fmt: skip

    def cost(self, n_jobs: int | None) -> str:
        """The plan in one sentence, with about how long it takes."""
        chosen = algorithm(self.recipe["algorithm"])
        known = chosen.settings_from({name: self.recipe[name] for name in ("dim", "epochs") if name in self.recipe})
        told = self.planting.design.told(
            tokens=self.tokens, effort=chosen.effort, epochs=known.epochs, dim=known.dim, n_jobs=n_jobs
        )
        return "; ".join([told, *self.remarks])

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is odd about the text and the pairs."""
        pairs = self.planting.pairs
        if len(pairs) == self.asked_pairs:
            return ()
        named = ", ".join("–".join(pair) for pair in pairs[:3]) + (", …" if pairs[3:] else "")
        return (f"only {len(pairs)} of {self.asked_pairs} base pairs occur in the text ({named})",)

    def read(self, model: VectorsLike) -> ModelReading:
        """Scores of all words in one model, and the vectors that association tests look at."""
        return read_model(model, self.asked)

    @property
    def asked(self) -> Asked:
        """What is read in every model."""
        plan = self.planting
        return Asked(plan.carriers, plan.others, self.background, plan.pairs, self.measures)

    def joined(
        self, planted: Sequence[Planted], read: Sequence[Sequence[ModelReading]], shuffled: Sequence[ModelReading]
    ) -> Readings:
        """What was read in the models of each planted text, and in those of shuffled ones, beside counted doses."""
        return joined(planted, read, shuffled, self.asked)

    def concluded(self, planted: Sequence[Planted], readings: Readings, judged: Sequence[Rate] = ()) -> Calibration:
        """What follows from it."""
        counted = tuple(dose for text in planted for dose in text.doses if dose.edit == len(text.edits) - 1)
        plan = self.planting
        about = {
            "corpus": {"checksum": self.checksum, "tokens": self.tokens},
            "recipe": dict(self.recipe),
            "pairs": [list(pair) for pair in plan.pairs],
            "design": plan.design.to_dict(),
            "window": plan.window,
            "models": len(readings.vectors),
            "level": self.level,
            "random_state": plan.random_state,
        }
        result = analyzed(
            readings, self.tests, self.sizes, about, counted, tuple(judged), level=self.level,
            random_state=plan.random_state,
        )  # fmt: skip
        return replace(result, warnings=(*self.remarks, *result.warnings))


def calibration_plan(
    text: TokenCorpus,
    *,
    pairs: PairsLike | None = None,
    language: str | os.PathLike[str] | Language = DEFAULT_LANGUAGE,
    carriers: WordsLike | None = None,
    other_pairs: PairsLike = SENTIMENT,
    window: int = 5,
    random_state: int = 0,
    **design: Any,  # noqa: ANN401 - of `design_from`
) -> CalibrationPlan:
    """Choose the words that doses are planted on; `completed` says how they are trained on and read.

    Raises:
        ParameterError: an argument cannot be used, or the text has too few words for the design.
    """
    asked = pairs_of(language_of(language).own_pairs() if pairs is None else pairs).pairs
    planting, background = planting_plan(
        text, design_from(**design), asked, pairs_of(other_pairs).pairs, carriers, window, random_state
    )
    return CalibrationPlan(planting, background, text.checksum, len(text.tokens), len(asked))


def design_from(*, planting: str = "mentions", doses: Sequence[float] | None = None, **counts: int) -> Design:
    """The design with these doses, by default those that are usual for the way of planting.

    Raises:
        ParameterError: it is impossible.
    """
    usual = SHARES if planting == "mixture" else DOSES
    return Design(planting=planting, doses=tuple(map(float, usual if doses is None else doses)), **counts)


def recipe_settings(recipe: str | Mapping[str, Any]) -> dict[str, Any]:
    """Settings of `train`, checked before anything is planted.

    Raises:
        ParameterError: one of them is none of `train`, or is decided by another argument of `calibrate`.
    """
    settings = {"algorithm": recipe} if isinstance(recipe, str) else {"algorithm": "sgns", **recipe}
    if not isinstance(settings["algorithm"], str):
        raise ParameterError(f"A calibration trains with one algorithm. Got {settings['algorithm']!r}.")
    for name in settings:
        if name in _DECIDED:
            raise ParameterError(f"A recipe has no {name!r}: give it to the calibration itself, not to its recipe.")
    common = signature(train).parameters
    algorithm(settings["algorithm"]).settings_from(
        {name: value for name, value in settings.items() if name not in common}
    )
    return settings


def names_of(group: str, given: Sequence[str] | None) -> tuple[str, ...]:
    """Names of a group of the registry, each looked up; all but published variants where none are given."""
    if isinstance(given, str):
        given = [given]
    published = {variant for variants in AS_PUBLISHED.values() for variant in variants.values()}
    known = (name for name in registry.names(group) if name not in published)
    names = tuple(known) if given is None else tuple(given)
    for name in names:
        registry.get(group, name)
    return names


def planting_plan(
    text: TokenCorpus,
    design: Design,
    pairs: Pairs,
    other_pairs: Pairs,
    carriers: WordsLike | None,
    window: int,
    random_state: int,
) -> tuple[PlantingPlan, tuple[str, ...]]:
    """What is planted on which words, and words in which nothing is."""
    view = Text(text, text.tokens)
    present = tuple(view.present(pairs))
    ends = {word for pair in present for word in pair}
    other = tuple(pair for pair in other_pairs if set(pair) <= view.places.keys() and not set(pair) & ends)
    ends_of_others = {word for pair in other for word in pair}
    wanted = len(design.levels)
    extra = design.others if len(other) >= _FEWEST_PAIRS else 0
    if carriers is None:
        chosen = choose_carriers(
            text, present, wanted + extra, window=window, leave_out=ends_of_others, random_state=random_state
        )
    else:
        given = tuple(dict.fromkeys(words_of(carriers).words))
        frequent = {word for word in given if word in view.places and text.counts[view.places[word]] >= _FEWEST_PLACES}
        chosen = tuple(word for word in given if word in frequent - ends - ends_of_others)
        if len(chosen) < wanted:
            raise ParameterError(
                f"The design deals doses to {wanted} carriers; {len(chosen)} of the {len(given)} given words occur "
                f"{_FEWEST_PLACES} times and are no words of pairs. Give more words, or lower per_dose or blanks."
            )
    rare = np.flatnonzero(text.counts >= _LEAST_COUNT)
    plain = np.array([place for place in rare if text.words[place] not in {*chosen, *ends, *ends_of_others}])
    random = np.random.default_rng([random_state, 5])
    drawn = random.choice(plain, min(_BACKGROUND, len(plain)), replace=False) if len(plain) else plain
    background = tuple(text.words[place] for place in sorted(drawn.tolist()))
    plan = PlantingPlan(design, present, chosen[:wanted], chosen[wanted : wanted + extra], other, window, random_state)
    return plan, background
