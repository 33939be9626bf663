"""Plan of a calibration: the arguments of `calibrate`, checked against the text."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from biasgauge import registry
from biasgauge.analyses.calibrate.analysis import analyze
from biasgauge.analyses.calibrate.edits import EditableText
from biasgauge.analyses.calibrate.planting import (
    SENTIMENT,
    CalibrationDesign,
    Pairs,
    Planted,
    PlantingPlan,
    choose_carriers,
    design_from,
)
from biasgauge.analyses.calibrate.readings import Readings, ScoringPlan
from biasgauge.analyses.calibrate.result import Calibration
from biasgauge.analyses.calibrate.rows import DetectionRate
from biasgauge.core import JsonMapping, PairsLike, Record, WordsLike, check_level, check_whole
from biasgauge.errors import ParameterError
from biasgauge.lexicons import DEFAULT_LANGUAGE, Language, language_of, pairs_of, words_of
from biasgauge.scores import AS_PUBLISHED
from biasgauge.text import TokenCorpus
from biasgauge.text.training import algorithm, train

SIZES = (4, 8, 16, 25)
_BACKGROUND = 2000
"""Words in which nothing is planted, for the effect of frequency."""
_FEWEST_BACKGROUND_TOKENS = 20
_FEWEST_CARRIER_TOKENS = 5
"""Occurrences of a carrier: as many as training requires of a word."""
_FEWEST_OTHER_PAIRS = 3
"""Pairs of another attribute that a text must have to plant it."""
_NOT_IN_RECIPE = ("corpus", "out", "seeds", "bootstrap", "random_state", "n_jobs", "progress", "say")
"""Parameters of `train` that are arguments of `calibrate` itself."""


@dataclass(frozen=True)
class CalibrationPlan(Record):
    """Everything that decides a calibration.

    Attributes:
        planting: doses and words of each text.
        background: words in which nothing is planted.
        checksum, tokens: of the text.
        n_pairs: number of base pairs given; those of which a word does not occur are left out.
        recipe: settings of `train`.
        measures, tests: names of measures and association tests.
        sizes: numbers of words in sets.
        level: of all intervals.
    """

    renamed: ClassVar[Mapping[str, str]] = {"n_pairs": "asked_pairs"}

    planting: PlantingPlan
    background: tuple[str, ...]
    checksum: str
    tokens: int
    n_pairs: int
    recipe: JsonMapping = field(default_factory=lambda: recipe_settings("sgns"))
    measures: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    sizes: tuple[int, ...] = SIZES
    level: float = 0.95

    def complete(
        self,
        recipe: str | Mapping[str, Any] = "sgns",
        *,
        measures: Sequence[str] | None = None,
        tests: Sequence[str] | None = None,
        sizes: Sequence[int] = SIZES,
        level: float = 0.95,
        **design: Any,  # noqa: ANN401 - of `design_from`
    ) -> CalibrationPlan:
        """Add the numbers of texts and models, the recipe, and the measures and tests.

        Raises:
            ParameterError: an argument cannot be used.
        """
        check_level(level)
        for size in sizes:
            check_whole(1, sizes=size)
        return replace(
            self,
            planting=replace(self.planting, design=design_from(**design)),
            recipe=recipe_settings(recipe),
            measures=registered_names("measure", measures),
            tests=registered_names("association_test", tests),
            sizes=tuple(sizes),
            level=level,
        )

    def cost(self, n_jobs: int | None) -> str:
        """Design and estimated time in one sentence."""
        trainer = algorithm(self.recipe["algorithm"])
        settings = trainer.settings_from({name: self.recipe[name] for name in ("dim", "epochs") if name in self.recipe})
        text = self.planting.design.describe(
            tokens=self.tokens, effort=trainer.effort, epochs=settings.epochs, dim=settings.dim, n_jobs=n_jobs
        )
        return "; ".join([text, *self.remarks])

    @property
    def remarks(self) -> tuple[str, ...]:
        """Pairs that do not occur in the text."""
        pairs = self.planting.pairs
        if len(pairs) == self.n_pairs:
            return ()
        names = ", ".join("–".join(pair) for pair in pairs[:3]) + (", …" if pairs[3:] else "")
        return (f"only {len(pairs)} of {self.n_pairs} base pairs occur in the text ({names})",)

    @property
    def scoring(self) -> ScoringPlan:
        """Words, pairs and measures that are scored in every model."""
        plan = self.planting
        return ScoringPlan(plan.carriers, plan.others, self.background, plan.pairs, self.measures)

    def conclude(
        self, planted: Sequence[Planted], readings: Readings, verdict_rates: Sequence[DetectionRate] = ()
    ) -> Calibration:
        """Estimate curves, limits and rates."""
        counted = tuple(dose for text in planted for dose in text.doses if dose.edit == len(text.edits) - 1)
        plan = self.planting
        settings = {
            "corpus": {"checksum": self.checksum, "tokens": self.tokens}, "recipe": dict(self.recipe),
            "pairs": [list(pair) for pair in plan.pairs], "design": plan.design.to_dict(), "window": plan.window,
            "models": len(readings.vectors), "level": self.level, "random_state": plan.random_state,
        }  # fmt: skip
        result = analyze(
            readings, self.tests, self.sizes, settings, counted, tuple(verdict_rates), level=self.level,
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
    """Choose the words that doses are planted on; `complete` adds how they are trained on and scored.

    Raises:
        ParameterError: an argument cannot be used, or the text has too few words for the design.
    """
    base_pairs = pairs_of(language_of(language).own_pairs() if pairs is None else pairs).pairs
    planting, background = planting_plan(
        text, design_from(**design), base_pairs, pairs_of(other_pairs).pairs, carriers, window, random_state
    )
    return CalibrationPlan(planting, background, text.checksum, len(text.tokens), len(base_pairs))


def recipe_settings(recipe: str | Mapping[str, Any]) -> dict[str, Any]:
    """Check settings of `train` before anything is planted.

    Raises:
        ParameterError: `train` has no such setting, or it is an argument of `calibrate`.
    """
    settings = {"algorithm": recipe} if isinstance(recipe, str) else {"algorithm": "sgns", **recipe}
    if not isinstance(settings["algorithm"], str):
        raise ParameterError(f"A calibration trains with one algorithm. Got {settings['algorithm']!r}.")
    for name in settings:
        if name in _NOT_IN_RECIPE:
            raise ParameterError(f"A recipe has no {name!r}: give it to the calibration itself, not to its recipe.")
    further = {name: value for name, value in settings.items() if name not in signature(train).parameters}
    algorithm(settings["algorithm"]).settings_from(further)
    return settings


def registered_names(group: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """Check names of a group of the registry; by default all but published variants."""
    if isinstance(names, str):
        names = [names]
    if names is None:
        published = {variant for variants in AS_PUBLISHED.values() for variant in variants.values()}
        names = [name for name in registry.names(group) if name not in published]
    for name in names:
        registry.get(group, name)
    return tuple(names)


def planting_plan(
    text: TokenCorpus, design: CalibrationDesign, pairs: Pairs, other_pairs: Pairs, carriers: WordsLike | None,
    window: int, random_state: int,
) -> tuple[PlantingPlan, tuple[str, ...]]:  # fmt: skip
    """Choose the words of each dose, and background words in which nothing is planted."""
    view = EditableText(text, text.tokens)
    present = tuple(view.present_pairs(pairs))
    ends = {word for pair in present for word in pair}
    usable_pairs = tuple(pair for pair in other_pairs if set(pair) <= view.word_ids.keys() and not set(pair) & ends)
    other_ends = {word for pair in usable_pairs for word in pair}
    n_carriers = len(design.levels)
    n_others = design.others if len(usable_pairs) >= _FEWEST_OTHER_PAIRS else 0
    if carriers is None:
        chosen = choose_carriers(
            text, present, n_carriers + n_others, window=window, leave_out=other_ends, random_state=random_state
        )
    else:
        candidates = tuple(dict.fromkeys(words_of(carriers).words))
        counts = {word: text.counts[view.word_ids[word]] for word in candidates if word in view.word_ids}
        frequent = {word for word, count in counts.items() if count >= _FEWEST_CARRIER_TOKENS}
        chosen = tuple(word for word in candidates if word in frequent - ends - other_ends)
        if len(chosen) < n_carriers:
            raise ParameterError(
                f"The design deals doses to {n_carriers} carriers; {len(chosen)} of the {len(candidates)} given words "
                f"occur {_FEWEST_CARRIER_TOKENS} times and are no words of pairs. Give more words, or lower per_dose "
                "or blanks."
            )
    excluded = {*chosen, *ends, *other_ends}
    frequent_ids = np.flatnonzero(text.counts >= _FEWEST_BACKGROUND_TOKENS)
    plain = np.array([word_id for word_id in frequent_ids if text.words[word_id] not in excluded], np.int64)
    drawn = np.random.default_rng([random_state, 5]).choice(plain, min(_BACKGROUND, len(plain)), replace=False)
    background = tuple(text.words[word_id] for word_id in sorted(drawn.tolist()))
    others = chosen[n_carriers : n_carriers + n_others]
    plan = PlantingPlan(design, present, chosen[:n_carriers], others, usable_pairs, window, random_state)
    return plan, background
