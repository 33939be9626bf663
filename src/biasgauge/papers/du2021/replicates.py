"""The reliabilities of Du et al. 2021 on replicates that the user holds."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from biasgauge.agreement import reliability
from biasgauge.agreement.lists import ALL_WORDS
from biasgauge.embeddings import load
from biasgauge.lexicons import lexicon
from biasgauge.papers.row import Recomputed
from biasgauge.scores import ScoreStore, score
from biasgauge.scores.store import MANIFEST

if TYPE_CHECKING:
    from biasgauge.agreement import ReliabilityResult
    from biasgauge.agreement.distributions import Distribution
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.scores import ScoreTensor

CORPORA = ("wikitext103", "askscience", "askhistorians")
COMBINATIONS = tuple(f"{algorithm}-{corpus}" for algorithm in ("sgns", "glove") for corpus in CORPORA)
"""Folders of replicates, by algorithm and corpus."""
STANDS_FOR = "sgns-wikitext103"
"""What replicates of another name are set beside: the models of the paper's figure 2."""
_LISTS = ("occ16", "occ18", "adj", "google10k", "du2021_queries")
_PUBLISHED = {"ripa": "ripa_unit", "nbm": "nbm_du2021"}
_FORMS_ON = (ALL_WORDS, "google10k", "occ16")
"""Word lists on which pairs are compared, the best first."""


class Replicates(NamedTuple):
    """Reliabilities of one algorithm on one corpus: as the paper's code scores, and corrected; None where not known."""

    published: ReliabilityResult | None
    corrected: ReliabilityResult | None
    note: str
    same: bool

    def row(self, published: float | None, corrected: float | None) -> Recomputed:
        """A row about these replicates."""
        return Recomputed(published, corrected, note=self.note, same_data=self.same)


def on_replicates(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """What can be said from the replicates that were found; rows about others are left out."""
    folders = _folders(data.path("replicates"))
    sets = {}
    for number, (name, (folder, same)) in enumerate(folders.items(), 1):
        sets[name] = _assess(folder, seed, same=same)
        if progress is not None:
            progress(number, len(folders))
    rows: dict[str, Recomputed] = {}
    for name, replicates in sets.items():
        rows |= _of_words(name, replicates)
    for corpus in CORPORA:
        rows |= _alpha(corpus, [sets[name] for name in sets if name.endswith(f"-{corpus}")])
    rows = {name: row for name, row in rows.items() if row.as_published is not None or row.corrected is not None}
    return rows | (_relations(sets.get(STANDS_FOR, next(iter(sets.values())))) if sets else {})


def holds_replicates(folder: Path) -> bool:
    """Whether models or scores are in it, or in a folder of it."""
    return folder.is_dir() and bool(_folders(folder))


def _folders(folder: Path) -> dict[str, tuple[Path, bool]]:
    """Folders by what they stand for, and whether they are named as the paper's; one of any other name stands in."""
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and _holds_any(path))
    folders = [folder] if _holds_any(folder) else inner
    named = {path.name: (path, True) for path in folders if path.name in COMBINATIONS}
    others = [path for path in folders if path.name not in COMBINATIONS]
    if STANDS_FOR not in named and others:
        named[STANDS_FOR] = (others[0], False)
    return named


def _holds_any(folder: Path) -> bool:
    """Whether a folder is a store of scores or has files of vectors in it."""
    return (folder / MANIFEST).is_file() or bool(_models(folder))


def _models(folder: Path) -> list[Path]:
    """Files of vectors; recipes beside them, hidden files and notes are none."""
    files = (path for path in folder.iterdir() if path.is_file() and path.suffix != ".json")
    return sorted(path for path in files if not path.name.startswith((".", "SOURCE", "README")))


def _assess(folder: Path, seed: int, *, same: bool) -> Replicates:
    if (folder / MANIFEST).is_file():
        store = ScoreStore.open(folder)
        result = _reliability(store, seed)
        published = store.provenance.get("as_published") == "du2021"
        note = f"{len(store.models)} replicates of {folder.name}"
        return Replicates(result if published else None, None if published else result, note, same)
    models = _models(folder)
    known = set(load(models[0]).words)  # words that are not there are left out without a word, as the paper does
    words = list(dict.fromkeys(word for name in _LISTS for word in lexicon(name).words if word in known))
    theirs, ours = (
        _reliability(score(models, pairs="du2021", words=words, as_published=rule), seed) for rule in ("du2021", None)
    )
    return Replicates(theirs, ours, f"{len(models)} replicates of {folder.name}", same)


def _reliability(scores: ScoreTensor | ScoreStore, seed: int) -> ReliabilityResult:
    """Whatever share of a list was found, as the paper does."""
    return reliability(scores, min_coverage=0.0, target=None, random_state=seed)


def _of_words(name: str, replicates: Replicates) -> dict[str, Recomputed]:
    rows: dict[str, Recomputed] = {}
    sides = replicates[:2]
    if name == STANDS_FOR:
        for row, words in (("occ16", "occ16"), ("full", ALL_WORDS)):
            for measure in ("dbwa", "ripa", "nbm"):
                medians = (_median(side, "test_retest", words, measure) for side in sides)
                rows[f"test_retest.{name}.{row}.{measure}"] = replicates.row(*medians)
        for row, words in (("google10k", "google10k"), ("full", ALL_WORDS)):
            rows[f"below.{name}.{row}"] = replicates.row(*(_share_below(side, words) for side in sides))
    # corrected: measures brought to one standard deviation before they are compared
    kinds = ("inter_rater", "inter_rater_standardized")
    medians = (_median(side, kind, ALL_WORDS, None) for side, kind in zip(sides, kinds, strict=True))
    return rows | {f"inter_rater.{name}.full": replicates.row(*medians)}


def _summaries(result: ReliabilityResult | None, kind: str, words: str) -> list[Distribution]:
    rows = () if result is None else result.summaries
    return [row for row in rows if (row.reliability, row.of, row.list) == (kind, "word", words)]


def _median(result: ReliabilityResult | None, kind: str, words: str, measure: str | None) -> float | None:
    names = {measure, _PUBLISHED.get(measure or "", measure)}
    return next((row.median for row in _summaries(result, kind, words) if row.measure in names), None)


def _share_below(result: ReliabilityResult | None, words: str) -> float | None:
    rows = _summaries(result, "test_retest", words)
    count = sum(row.count for row in rows)
    return 100 * sum(row.below for row in rows) / count if count else None


def _alpha(corpus: str, sets: list[Replicates]) -> dict[str, Recomputed]:
    medians = []
    for side in ("published", "corrected"):
        results = (getattr(replicates, side) for replicates in sets)
        rows = [row for result in results if result is not None for row in result.internal.to_dict()]
        values = [row["value"] for row in rows if (row["of"], row["list"]) == ("pairs", "google10k")]
        known = [value for value in values if value is not None]
        medians.append(median(known) if known else None)
    note = "; ".join(replicates.note for replicates in sets)
    whole = len(sets) == len(COMBINATIONS) // len(CORPORA) and all(replicates.same for replicates in sets)
    return {f"alpha.pairs.{corpus}": Recomputed(medians[0], medians[1], note=note, same_data=whole)}


def _relations(replicates: Replicates) -> dict[str, Recomputed]:
    """How measures correlate, pairs in the singular against the plural, one reliability with the other."""
    sides: dict[str, dict[int, tuple[float | None, float | None, float | None]]] = {}
    short = {variant: name for name, variant in _PUBLISHED.items()}
    for side, result in enumerate(replicates[:2]):
        if result is None:
            continue
        for pair in result.measures:
            name = f"pearson.{short.get(pair.a, pair.a)}.{short.get(pair.b, pair.b)}"
            sides.setdefault(name, {})[side] = (pair.value, pair.low, pair.high)
        for words in _FORMS_ON:
            for form in result.forms:
                if form.list == words:
                    sides.setdefault(f"forms.{form.reliability}.t", {}).setdefault(side, (form.t, None, None))
            for relation in result.relations:
                if (relation.list, relation.of) == (words, "pair"):
                    sides.setdefault("forms.r", {}).setdefault(side, (relation.value, relation.low, relation.high))
    none = (None, None, None)
    return {
        name: Recomputed(both.get(0, none)[0], *both.get(1, none), note=replicates.note, same_data=False)
        for name, both in sides.items()
    }
