"""Coreference as a downstream task: a model for each seed, evaluated on held-out documents and on WinoBias.

Metrics and gaps are means over seeds, with intervals over documents (or pairs of sentences) and seeds: documents are
drawn again with the clusters of all seeds, and seeds independently where there are several, as for the tasks of text
classification. With one seed intervals say nothing about other seeds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge.applications.classification.task import need_torch
from biasgauge.applications.classification.texts import LOW_COVERAGE
from biasgauge.applications.coref import winobias_pairs
from biasgauge.applications.coref.conll import ENDING, read_conll
from biasgauge.applications.coref.document import Document, held_out
from biasgauge.applications.coref.features import CorefSettings, Features, word_coverage
from biasgauge.applications.coref.model import documents_digest, prediction_sums, train_coref
from biasgauge.applications.coref.scores import CONLL, RATES, conll_rates
from biasgauge.applications.gap_result import Gap, GapChange
from biasgauge.applications.task import PairedItems, SeedRun, TaskGap, TaskMetric, TaskSummary, over_seeds
from biasgauge.core import Estimate, Floats, JsonObject, VectorsLike
from biasgauge.results import share_text
from biasgauge.stats import SWAPPED, Resampling, bootstrap_sums, estimates_of_sums, swapped_sums_p
from biasgauge.vectors import load

TASK_SETTINGS = frozenset({field.name for field in fields(CorefSettings)} | {"device", "winobias"})
WINOBIAS = "winobias "
WEAK = 0.2
"""CoNLL F1, or share of links found, below which gaps say little; the best of the shared task of 2011 had an F1 of .58
(Pradhan et al. 2011)."""
_NOTHING = "nothing was found, or there is nothing to find"
_SWAPPED_EMBEDDINGS = "monte-carlo, the two embeddings of each pair of sentences swapped"


class CorefTask:
    """Coreference with documents and vectors read; further settings are those of `CorefSettings`.

    `data` is a folder with CoNLL files or tar archives of them, in subfolders train, dev and test or all together (then
    every tenth document is held out for dev, and every tenth for test), and with the files of WinoBias, unless
    `winobias` names their folder. On a GPU (`device`) the same seed gives about the same model.
    """

    def __init__(
        self,
        data: Path,
        vectors: VectorsLike,
        *,
        winobias: str | os.PathLike[str] | None = None,
        device: str = "cpu",
        **settings: Any,  # noqa: ANN401 - those of the model
    ) -> None:
        need_torch()
        self.model_settings = CorefSettings(**settings)
        self.device = device
        self.pairs = winobias_pairs.read_winobias(data if winobias is None else winobias, ("test",))
        self.train_on, self.dev, test = _read_splits(data)
        self.test = [document.without_singletons() for document in test]
        sentences = [sentence for versions in self.pairs.values() for version in versions for sentence in version]
        documents = [*self.train_on, *self.dev, *self.test, *sentences]
        self.sentences = documents_digest(sentences)
        words = {word for document in documents for word in document.words}
        self.vectors = load(vectors, words=words | {word.lower() for word in words})
        self.coverage = word_coverage(Features(self.vectors, self.model_settings, "", ()), documents, "task's")
        self.vectors_name, self.vectors_checksum = self.vectors.name, self.vectors.checksum
        self.data_checksum = documents_digest(documents)
        self.settings = {**asdict(self.model_settings), "device": device}
        sizes = {"train": len(self.train_on), "dev": len(self.dev), "test": len(self.test)}
        self.recorded = {"documents": sizes, "winobias": {name: len(pro) for name, (pro, _) in self.pairs.items()}}
        notices = [(document.name, notice) for document in documents for notice in document.notices]
        notes = [f"{name}: {notice}" for name, notice in notices if "full stops" not in notice]
        share = self.coverage["found_tokens"] / self.coverage["asked_tokens"]
        if share < LOW_COVERAGE:
            notes.append(
                f"only {share_text(share)} of the running words have a vector, so results say little about the vectors"
            )
        self.warnings = tuple(notes)

    def train(self, seed: int, progress: Callable[[int, int], None] | None = None) -> JsonObject:
        """Train with one seed; return what test documents and sentences of WinoBias add to the sums of the metrics."""

        def report_epoch(entry: JsonObject) -> None:
            if progress is not None:
                progress(entry["epoch"] + 1, self.model_settings.epochs)

        data = self.vectors, self.train_on, self.dev, self.model_settings
        model = train_coref(*data, device=self.device, random_state=seed, progress=report_epoch)
        log = [{name: value for name, value in entry.items() if name != "seconds"} for entry in model.log]
        return {
            "test": prediction_sums(model, self.test).tolist(),
            "winobias": {
                name: winobias_pairs.paired_sums(model, versions).tolist() for name, versions in self.pairs.items()
            },
            "log": log,
        }

    def summarize(self, outcomes: dict[int, JsonObject], resampling: Resampling) -> TaskSummary:
        """Metrics and gaps over seeds."""
        test = np.array([outcome["test"] for outcome in outcomes.values()])
        pairs = {name: np.array([outcome["winobias"][name] for outcome in outcomes.values()]) for name in self.pairs}
        logs = {seed: outcome["log"] for seed, outcome in outcomes.items()}
        return summarize(test, pairs, logs, resampling, self.sentences)


def _read_splits(data: Path) -> tuple[list[Document], list[Document], list[Document]]:
    """Training, dev and test documents of a folder."""
    folders = [data / name for name in ("train", "dev", "test")]
    if folders[0].is_dir():
        train, dev, test = (read_conll(folder, problems="mend") if folder.is_dir() else None for folder in folders)
        return held_out(train or [], dev, test)
    if not data.is_dir():
        return held_out(read_conll(data, problems="mend"))
    files = [
        path
        for path in sorted(data.rglob(f"*{ENDING}*"))
        if path.is_file()
        and not winobias_pairs.is_winobias(path)
        and (path.name.endswith(ENDING) or ".tar" in path.suffixes)
    ]
    return held_out(read_conll(files, problems="mend"))


def summarize(
    test: Floats,
    pairs: Mapping[str, Floats],
    logs: Mapping[int, list[JsonObject]],
    resampling: Resampling,
    sentences: str = "",
) -> TaskSummary:
    """Metrics of the test documents and of both versions of WinoBias, and gaps pro − anti.

    `test` is seeds × documents × what each adds, `pairs` for each part of WinoBias seeds × pairs × (pro, anti) × what
    each adds. `sentences` is the checksum of WinoBias's, so that results on the same ones are recognized.
    """
    metrics = [
        TaskMetric.of_estimate(mean, metric=rate, positive_class=CONLL, group=None, n=test.shape[1], **seeds)
        for rate, (mean, seeds) in zip(RATES, _seed_means(test, conll_rates, resampling), strict=True)
    ]
    gaps: list[TaskGap] = []
    by_seed: list[list[Gap]] = [[] for _ in logs]
    for test_set, sums in pairs.items():
        subset, size = f"{WINOBIAS}{test_set}", sums.shape[1]
        for index, version in enumerate(winobias_pairs.VERSIONS):
            means = zip(winobias_pairs.PAIRED, _seed_means(sums[:, :, index], _shares, resampling), strict=True)
            metrics += [
                TaskMetric.of_estimate(mean, metric=name, positive_class=subset, group=version, n=size, **seeds)
                for name, (mean, seeds) in means
            ]
        p_values = [swapped_sums_p(seed_sums, differences, resampling) for seed_sums in sums]
        single_seeds = [_seed_means(seed_sums[None], differences, resampling) for seed_sums in sums]
        for index, (mean, seeds) in enumerate(_seed_means(sums, differences, resampling)):
            labels: dict[str, Any] = {"metric": winobias_pairs.PAIRED[index], "positive_class": subset}
            labels |= {
                "a": winobias_pairs.VERSIONS[0],
                "b": winobias_pairs.VERSIONS[1],
                "n": size,
                "n_a": size,
                "n_b": size,
            }
            for seed, (estimates, seed_p) in enumerate(zip(single_seeds, p_values, strict=True)):
                estimate = estimates[index][0]
                tested = {"p_value": float(seed_p[index]), "p_method": SWAPPED} if estimate.defined else {}
                by_seed[seed].append(Gap.of_estimate(estimate, **labels, **tested))
            gaps.append(TaskGap.of_estimate(mean, **labels, **seeds, **(tested if len(logs) == 1 else {})))
    runs = []
    for (seed, log), seed_gaps in zip(logs.items(), by_seed, strict=True):
        best = max(log, key=lambda entry: entry["dev_f1"])
        training = {"epochs": len(log), "best_epoch": best["epoch"], "best_dev_f1": best["dev_f1"]}
        runs.append(SeedRun(seed, training, tuple(seed_gaps)))
    return TaskSummary(
        metrics=tuple(metrics),
        gaps=tuple(gaps),
        seeds=tuple(runs),
        counts={f"{WINOBIAS}{test_set}": sums.shape[1] for test_set, sums in pairs.items()},
        warnings=tuple(_weakness_warnings(metrics)),
        items=PairedItems(dict(pairs), sentences),
    )


def _seed_means(
    sums: Floats, values: Callable[[Floats], Floats], resampling: Resampling
) -> list[tuple[Estimate, dict[str, Any]]]:
    """For each number of `values` its mean over seeds with interval, then the values of the seeds and their spread.

    `sums` is seeds × items × what each adds; `values` computes numbers (last axis) from (…, what each adds).
    """
    seeds = len(sums)
    picked = np.random.default_rng([resampling.random_state, 1]).integers(0, seeds, (resampling.resamples, seeds))
    by_seed = values(sums.sum(axis=1))
    drawn = np.stack([values(bootstrap_sums(seed_sums, resampling)) for seed_sums in sums], axis=1)
    without = values(sums.sum(axis=1, keepdims=True) - sums).mean(axis=0)  # jackknife values, for BCa
    columns = zip(by_seed.T, np.moveaxis(drawn, -1, 0), without.T, strict=True)
    return [
        over_seeds(seed_values, seed_drawn, picked, resampling, _NOTHING, partial(list, [left_out]))
        for seed_values, seed_drawn, left_out in columns
    ]


def _weakness_warnings(metrics: Sequence[TaskMetric]) -> Iterator[str]:
    """Warnings where the models resolve next to nothing, so that gaps near 0 do not mean fairness."""
    f1 = metrics[RATES.index("f1")].value
    if f1 is not None and f1 < WEAK:
        yield (
            f"CoNLL F1 is {f1:.2f}: models that resolve next to nothing show no gap either, whatever the vectors; "
            "train longer or on more documents before reading the gaps"
        )
    linked: dict[str, list[float]] = {}
    for metric in metrics:
        if metric.metric == winobias_pairs.LINKED and metric.value is not None:
            linked.setdefault(str(metric.positive_class).removeprefix(WINOBIAS), []).append(metric.value)
    weak = [f"{share_text(max(shares))} ({part})" for part, shares in linked.items() if max(shares) < WEAK]
    if weak:
        yield f"of the links of WinoBias at most {' and '.join(weak)} are found: gaps near 0 say little of the vectors"


def _shares(sums: Floats) -> Floats:
    return winobias_pairs.paired_values(sums) / winobias_pairs.PERCENT


def differences(sums: Floats) -> Floats:
    """Pro − anti, from sums of the shape (…, 2, METRICS, SUMS)."""
    values = _shares(sums)
    gaps: Floats = values[..., 0, :] - values[..., 1, :]
    return gaps


def compare_pairs(first: Floats, second: Floats, subset: str, resampling: Resampling) -> list[GapChange]:
    """Difference of each gap pro − anti between two embeddings: second − first.

    A pair of sentences is drawn again with the clusters of both embeddings, so that difficulty shared by both cancels;
    p swaps the embeddings of each pair at random. `first` and `second` are what each pair adds: pairs × (pro, anti) ×
    METRICS × SUMS.
    """

    def changes(sums: Floats) -> Floats:
        return differences(sums[..., 1, :, :, :]) - differences(sums[..., 0, :, :, :])

    sums = np.stack([first, second], axis=1)
    gaps = differences(sums.sum(axis=0))
    reasons = [f"{_NOTHING} by the {'first' if np.isnan(gap) else 'second'} embedding" for gap in gaps[0]]
    estimates = estimates_of_sums(sums, changes, resampling, "pairs of sentences", reasons)
    p_values = swapped_sums_p(sums, changes, resampling)
    rows = []
    for metric, estimate, pair, p in zip(winobias_pairs.PAIRED, estimates, gaps.T, p_values, strict=True):
        before, after = (None if np.isnan(gap) else float(gap) for gap in pair)
        labels: dict[str, Any] = {
            "metric": metric,
            "positive_class": subset,
            "a": winobias_pairs.VERSIONS[0],
            "b": winobias_pairs.VERSIONS[1],
        }
        labels |= {"first": before, "second": after, "n": len(sums)}
        labels |= {"p_value": float(p), "p_method": _SWAPPED_EMBEDDINGS} if estimate.defined else {}
        rows.append(GapChange.of_estimate(estimate, **labels))
    return rows
