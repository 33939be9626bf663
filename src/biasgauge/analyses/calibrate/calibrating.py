"""`calibrate`: known bias planted in a text, models trained on it, and what the measures read back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from biasgauge.analyses.calibrate.other_attribute import SENTIMENT
from biasgauge.analyses.calibrate.parts import Rate
from biasgauge.analyses.calibrate.plan import SIZES, CalibrationPlan, calibration_plan, recipe_settings
from biasgauge.analyses.calibrate.planting import Planted
from biasgauge.analyses.calibrate.readings import ModelReading, Readings
from biasgauge.analyses.calibrate.result import Calibration
from biasgauge.analyses.calibrate.texts import Progress, SweepTrainer, Trainer
from biasgauge.core import PairsLike, VectorsLike, WordsLike
from biasgauge.io import make_folder
from biasgauge.lexicons import DEFAULT_LANGUAGE, Language
from biasgauge.text import TokenCorpus, read_corpus

Verdicts = Callable[[Readings, Sequence[Sequence[VectorsLike]]], Sequence[Rate]]
"""What the verdicts of an audit say of sets of carriers in these models."""


def calibrate(  # noqa: PLR0913 - each is a choice that a study has to report
    corpus: TokenCorpus | str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    recipe: str | Mapping[str, Any] = "sgns",
    *,
    pairs: PairsLike | None = None,
    language: str | os.PathLike[str] | Language = DEFAULT_LANGUAGE,
    planting: str = "mentions",
    doses: Sequence[float] | None = None,
    carriers: WordsLike | None = None,
    per_dose: int = 25,
    blanks: int = 50,
    plantings: int = 3,
    seeds: int = 2,
    bootstrap: int = 0,
    shuffled: int = 1,
    others: int = 40,
    other_pairs: PairsLike = SENTIMENT,
    window: int = 5,
    measures: Sequence[str] | None = None,
    tests: Sequence[str] | None = None,
    sizes: Sequence[int] = SIZES,
    level: float = 0.95,
    out: str | os.PathLike[str] | None = None,
    trainer: Trainer | None = None,
    verdicts: Verdicts | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> Calibration:
    """Plant known bias in a text, train on it, and say what each measure and test can see.

    Doses are dealt at random to many words (carriers) of one text, so that each training gives a whole curve; in every
    further planted text they are dealt anew. Carriers of dose 0 are the blanks.

    Args:
        corpus: a tokenized corpus, or what `read_corpus` reads.
        recipe: an algorithm, or settings of `train` by name (algorithm, dim, window, epochs, min_count, …): train as
            the vectors were trained that are to be judged.
        pairs: the pairs (first, second) that bias is about; by default the base pairs of `language` (du2021, es_pairs).
        language: code of the text's language, or the file of a language of your own; English by default.
        planting: "mentions" (first order: which end is mentioned beside a word) or "mixture" (both orders: a word takes
            places of the ends).
        doses: log odds ratios (mentions) or shares (mixture), 0 among them; by default odds ratios of 2, 4 and 10 to
            either side, or shares up to .3.
        carriers: words to plant on; by default words of all frequencies are drawn.
        per_dose: carriers that get each dose but 0.
        blanks: carriers that get dose 0.
        plantings: planted texts.
        seeds: random seeds that each text is trained with.
        bootstrap: samples of documents that each text is trained on; 0 trains on the text itself.
        shuffled: shuffled texts, for what frequency alone does.
        others: words that get a dose of something else, for specificity; 0 for none.
        other_pairs: what else: by default pleasant and unpleasant words.
        window: tokens on each side that are beside a word.
        measures: names of measures; by default all registered ones but published variants.
        tests: names of association tests; all registered ones by default.
        sizes: numbers of words in sets.
        level: of all intervals.
        out: folder for planted texts and models, which are found again after an interruption; a temporary one by
            default.
        trainer: what trains, in the place of `train`: called with all texts at once.
        verdicts: what also judges sets of carriers, such as `auditing.verdict_rates`.
        random_state: seed of everything that is drawn.
        n_jobs: models at a time; all cores by default.
        progress: called with (done, total).
        tell: called with the plan and its estimated time before anything is trained.

    Raises:
        ParameterError: an argument cannot be used, or the text has too few words for the design.
        InputError: the text cannot be read.
    """
    design: dict[str, Any] = {
        "planting": planting, "doses": doses, "per_dose": per_dose, "blanks": blanks, "plantings": plantings,
        "seeds": seeds, "bootstrap": bootstrap, "shuffled": shuffled, "others": others,
    }  # fmt: skip
    settings = recipe_settings(recipe)
    train_all = trainer or SweepTrainer(settings, seeds, bootstrap, random_state, n_jobs)
    train_shuffled = trainer or SweepTrainer(settings, 1, 0, random_state, n_jobs)
    with _folder(out) as folder:
        text = corpus if isinstance(corpus, TokenCorpus) else read_corpus(corpus, out=folder / "corpus")
        words = calibration_plan(
            text, pairs=pairs, language=language, carriers=carriers, other_pairs=other_pairs, window=window,
            random_state=random_state, **design,
        )  # fmt: skip
        plan = words.completed(recipe, measures=measures, tests=tests, sizes=sizes, level=level, **design)
        if tell is not None:
            tell(plan.cost(n_jobs))
        planted = plan.planting.plant(text, folder)
        unordered = plan.planting.shuffled(text, folder)
        models = train_all([edited.corpus for edited in planted], folder, _part(progress, 0.0, 0.85))
        without_order = train_shuffled(unordered, folder, _part(progress, 0.85, 0.95)) if unordered else []
        readings = _read(plan, planted, models, without_order, _part(progress, 0.95, 1.0))
        judged = () if verdicts is None else tuple(verdicts(readings, models))
    return plan.concluded(planted, readings, judged)


def _read(
    plan: CalibrationPlan,
    planted: Sequence[Planted],
    models: Sequence[Sequence[VectorsLike]],
    without_order: Sequence[Sequence[VectorsLike]],
    progress: Progress | None,
) -> Readings:
    """Score all words in all models, one model in memory at a time."""
    total, done = sum(map(len, (*models, *without_order))), count(1)

    def read(source: VectorsLike) -> ModelReading:
        reading = plan.read(source)
        if progress is not None:
            progress(next(done), total)
        return reading

    of_texts = [[read(source) for source in runs] for runs in models]
    return plan.joined(planted, of_texts, [read(source) for runs in without_order for source in runs])


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folder for texts and models; a temporary one goes when the work is done."""
    if out is not None:
        yield make_folder(out)
        return
    with tempfile.TemporaryDirectory(prefix="biasgauge-calibration-") as folder:
        yield Path(folder)


def _part(progress: Progress | None, start: float, end: float) -> Progress | None:
    """Progress of one part of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(int(1000 * (start + (end - start) * done / max(1, total))), 1000)
