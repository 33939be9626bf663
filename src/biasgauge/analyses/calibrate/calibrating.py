"""`calibrate`: plant known bias in a text, train models on it, and estimate what the measures detect."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from biasgauge.analyses.calibrate.plan import SIZES, calibration_plan, recipe_settings
from biasgauge.analyses.calibrate.planting import SENTIMENT
from biasgauge.analyses.calibrate.readings import ModelReading, Readings, join_readings, read_model
from biasgauge.analyses.calibrate.result import Calibration
from biasgauge.analyses.calibrate.rows import DetectionRate
from biasgauge.core import JsonMapping, PairsLike, VectorsLike, WordsLike
from biasgauge.io import make_folder
from biasgauge.lexicons import DEFAULT_LANGUAGE, Language
from biasgauge.text import TokenCorpus, read_corpus
from biasgauge.text.training import train

Progress = Callable[[int, int], None]
Models = list[VectorsLike]
"""Models of one text: files, or the models themselves."""
Verdicts = Callable[[Readings, Sequence[Sequence[VectorsLike]]], Sequence[DetectionRate]]
"""Rates at which the verdicts of an audit report sets of carriers in these models."""


TextTrainer = Callable[[Sequence[TokenCorpus], Path, Progress | None], list[Models]]
"""Trains each of several texts with the same seeds and samples; models that the folder has are not trained again."""


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
    trainer: TextTrainer | None = None,
    verdicts: Verdicts | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
) -> Calibration:
    """Plant known bias in a text, train on it, and estimate what each measure and test detects.

    Doses are assigned at random to many words (carriers) of one text, so that each training gives a whole curve; in
    every further planted text they are assigned anew. Carriers of dose 0 are the blanks. Limit of blank: 95 % quantile
    of blanks; limit of detection: smallest dose of which 95 % lie beyond it (Currie 1968; CLSI EP17).

    Args:
        corpus: a tokenized corpus, or what `read_corpus` reads.
        recipe: an algorithm, or settings of `train` by name (algorithm, dim, window, epochs, min_count, …): train as
            the vectors were trained that are to be judged.
        pairs: the pairs (first, second) that bias is about; by default the base pairs of `language` (du2021, es_pairs).
        language: code of the text's language, or the file of a language of your own; English by default.
        planting: "mentions" (first order: which end is mentioned near a word) or "mixture" (both orders: a word trades
            tokens with the ends).
        doses: log odds ratios (mentions) or shares (mixture), 0 among them; by default odds ratios of 2, 4 and 10 to
            either side, or shares up to .3.
        carriers: words to plant on; by default words of all frequencies are drawn.
        per_dose: carriers that get each dose but 0.
        blanks: carriers that get dose 0.
        plantings: planted texts.
        seeds: random seeds that each text is trained with.
        bootstrap: samples of documents that each text is trained on; 0 trains on the text itself.
        shuffled: shuffled texts, for the effect of frequency alone.
        others: words that get a dose of another attribute, for specificity; 0 for none.
        other_pairs: pairs of that attribute; by default pleasant and unpleasant words.
        window: tokens on each side that are near a word.
        measures: names of measures; by default all registered ones but published variants.
        tests: names of association tests; all registered ones by default.
        sizes: numbers of words in sets.
        level: of all intervals.
        out: folder for planted texts and models, which are found again after an interruption; a temporary one by
            default.
        trainer: replaces `train`: called with all texts at once.
        verdicts: judges sets of carriers too, such as `audits.verdict_rates`.
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
    with tempfile.TemporaryDirectory(prefix="biasgauge-calibration-") if out is None else nullcontext(out) as place:
        folder = make_folder(place)
        text = corpus if isinstance(corpus, TokenCorpus) else read_corpus(corpus, out=folder / "corpus")
        plan = calibration_plan(
            text, pairs=pairs, language=language, carriers=carriers, other_pairs=other_pairs, window=window,
            random_state=random_state, **design,
        ).complete(recipe, measures=measures, tests=tests, sizes=sizes, level=level, **design)  # fmt: skip
        if tell is not None:
            tell(plan.cost(n_jobs))
        planted = plan.planting.plant(text, folder)
        shuffled_texts = plan.planting.shuffle(text, folder)
        models = train_all([edited.corpus for edited in planted], folder, _subrange(progress, 0.0, 0.85))
        report = _subrange(progress, 0.85, 0.95)
        shuffled_models = train_shuffled(shuffled_texts, folder, report) if shuffled_texts else []
        total, done = sum(map(len, (*models, *shuffled_models))), count(1)
        report = _subrange(progress, 0.95, 1.0)

        def read(source: VectorsLike) -> ModelReading:
            """Score all words in one model, which alone is in memory."""
            reading = read_model(source, plan.scoring)
            if report is not None:
                report(next(done), total)
            return reading

        planted_readings = [[read(source) for source in runs] for runs in models]
        shuffled_readings = [read(source) for runs in shuffled_models for source in runs]
        readings = join_readings(planted, planted_readings, shuffled_readings, plan.scoring)
        verdict_rates = () if verdicts is None else verdicts(readings, models)
    return plan.conclude(planted, readings, verdict_rates)


def _subrange(progress: Progress | None, start: float, end: float) -> Progress | None:
    """Progress of a stage that takes the work from the share `start` to the share `end`."""
    if progress is None:
        return None
    return lambda done, total: progress(int(1000 * (start + (end - start) * done / max(1, total))), 1000)


@dataclass(frozen=True)
class SweepTrainer:
    """Trains with `train`; models that exist are found by their recipe."""

    settings: JsonMapping
    seeds: int
    bootstrap: int = 0
    random_state: int = 0
    n_jobs: int | None = None

    def __call__(self, texts: Sequence[TokenCorpus], folder: Path, progress: Progress | None) -> list[Models]:
        """Train every text, as many models at a time as there are cores."""
        cores = self.n_jobs or os.cpu_count() or 1
        models = self.seeds * max(1, self.bootstrap)
        parallel_texts = max(1, min(len(texts), -(-cores // models)))
        done, lock = [0.0] * len(texts), Lock()

        def train_text(number: int) -> Models:
            def report(steps: int, total: int) -> None:
                with lock:
                    done[number] = steps / max(1, total)
                    if progress is not None:
                        progress(int(1000 * sum(done)), 1000 * len(texts))

            trained = train(
                texts[number], out=folder / f"models-{texts[number].checksum[:12]}", seeds=self.seeds,
                bootstrap=self.bootstrap, random_state=self.random_state, n_jobs=max(1, cores // parallel_texts),
                progress=report, **self.settings,
            )  # fmt: skip
            return list(trained.paths)

        with ThreadPoolExecutor(parallel_texts) as pool:
            return list(pool.map(train_text, range(len(texts))))
