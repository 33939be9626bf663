"""`calibrate`: known bias planted in a text, models trained on it, and what the measures read back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge import registry
from biasgauge._io.atomic import made_folder
from biasgauge.calibration.analysis import analyzed
from biasgauge.calibration.carriers import choose_carriers
from biasgauge.calibration.design import DOSES, SHARES, Design
from biasgauge.calibration.edit import Text
from biasgauge.calibration.other_attribute import SENTIMENT
from biasgauge.calibration.parts import Rate
from biasgauge.calibration.readings import Readings, read_models
from biasgauge.calibration.result import Calibration
from biasgauge.calibration.texts import Pairs, PlantingPlan, Progress, SweepTrainer, Trainer
from biasgauge.corpora import TokenCorpus, read_corpus
from biasgauge.errors import ParameterError
from biasgauge.inputs import PairsLike, WordsLike
from biasgauge.lexicons import DEFAULT_LANGUAGE, Language, language_of, pairs_of, words_of
from biasgauge.scores.scoring import AS_PUBLISHED
from biasgauge.stats.estimate import check_level
from biasgauge.training.algorithms import algorithm

SIZES = (4, 8, 16, 25)
_BACKGROUND = 2000
"""Words in which nothing is planted, for the effect of frequency."""
_LEAST_COUNT = 20
_FEWEST_PAIRS = 3
"""Pairs of something else that a text must have to plant it."""
Verdicts = Callable[[Readings, Sequence[Sequence[Any]]], Sequence[Rate]]
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
    check_level(level)
    settings = {"algorithm": recipe} if isinstance(recipe, str) else {"algorithm": "sgns", **recipe}
    usual = SHARES if planting == "mixture" else DOSES
    design = Design(
        planting, tuple(map(float, usual if doses is None else doses)), per_dose, blanks, others, plantings, seeds,
        bootstrap, shuffled,
    )  # fmt: skip
    base = pairs_of(language_of(language).own_pairs() if pairs is None else pairs)
    names = _names("measure", measures), _names("association_test", tests)
    train_all = trainer or SweepTrainer(settings, seeds, bootstrap, random_state, n_jobs)
    train_shuffled = trainer or SweepTrainer(settings, 1, 0, random_state, n_jobs)
    with _folder(out) as folder:
        text = corpus if isinstance(corpus, TokenCorpus) else read_corpus(corpus, out=folder / "corpus")
        plan, background = _plan(text, design, base.pairs, pairs_of(other_pairs).pairs, carriers, window, random_state)
        if tell is not None:
            tell(_cost(text, design, settings, n_jobs))
        planted = plan.plant(text, folder)
        unordered = plan.shuffled(text, folder)
        models = train_all([each.corpus for each in planted], folder, _part(progress, 0.0, 0.85))
        without_order = train_shuffled(unordered, folder, _part(progress, 0.85, 0.95)) if unordered else []
        readings = read_models(
            planted, models, [model for runs in without_order for model in runs], carriers=plan.carriers,
            others=plan.others, background=background, pairs=plan.pairs, measures=names[0],
            progress=_part(progress, 0.95, 1.0),
        )  # fmt: skip
        judged = () if verdicts is None else tuple(verdicts(readings, models))
    counted = tuple(dose for each in planted for dose in each.doses if dose.edit == len(each.edits) - 1)
    about = {
        "corpus": {"checksum": text.checksum, "tokens": len(text.tokens)},
        "recipe": settings,
        "pairs": [list(pair) for pair in plan.pairs],
        "design": design.to_dict(),
        "window": window,
        "models": sum(map(len, models)),
        "level": level,
        "random_state": random_state,
    }
    return analyzed(readings, names[1], tuple(sizes), about, counted, judged, level=level, random_state=random_state)


def _names(group: str, given: Sequence[str] | None) -> tuple[str, ...]:
    """Names of a group of the registry, each looked up."""
    if isinstance(given, str):
        given = [given]
    published = {variant for variants in AS_PUBLISHED.values() for variant in variants.values()}
    known = (name for name in registry.names(group) if name not in published)
    names = tuple(known) if given is None else tuple(given)
    for name in names:
        registry.get(group, name)
    return names


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folder for texts and models; a temporary one goes when the work is done."""
    if out is not None:
        yield made_folder(out)
        return
    with tempfile.TemporaryDirectory(prefix="biasgauge-calibration-") as folder:
        yield Path(folder)


def _part(progress: Progress | None, start: float, end: float) -> Progress | None:
    """Progress of one part of the work."""
    if progress is None:
        return None
    return lambda done, total: progress(int(1000 * (start + (end - start) * done / max(1, total))), 1000)


def _cost(text: TokenCorpus, design: Design, settings: Mapping[str, Any], n_jobs: int | None) -> str:
    chosen = algorithm(settings["algorithm"])
    known = chosen.settings_from({name: value for name, value in settings.items() if name in ("dim", "epochs")})
    return design.told(tokens=len(text.tokens), effort=chosen.effort, epochs=known.epochs, dim=known.dim, n_jobs=n_jobs)


def _plan(
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
        given = words_of(carriers).words
        chosen = tuple(word for word in given if word in view.places and word not in ends | ends_of_others)
        if len(chosen) < wanted:
            raise ParameterError(
                f"The design deals doses to {wanted} carriers; {len(chosen)} of the {len(given)} given words occur and "
                "are no words of pairs. Give more words, or lower per_dose or blanks."
            )
    rare = np.flatnonzero(text.counts >= _LEAST_COUNT)
    plain = np.array([place for place in rare if text.words[place] not in {*chosen, *ends, *ends_of_others}])
    random = np.random.default_rng([random_state, 5])
    drawn = random.choice(plain, min(_BACKGROUND, len(plain)), replace=False) if len(plain) else plain
    background = tuple(text.words[place] for place in sorted(drawn.tolist()))
    plan = PlantingPlan(design, present, chosen[:wanted], chosen[wanted : wanted + extra], other, window, random_state)
    return plan, background
