"""Numbers from the authors' own distances: tables 1 and 2, the posterior figures, shares within a band, debiasing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from biasgauge.analyses import posterior
from biasgauge.analyses.correlate import read_points
from biasgauge.core import Floats
from biasgauge.errors import InputError
from biasgauge.metrics import MacResult, mac_change, mac_from_similarities, weat_from_similarities
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.published import printed_numbers, row_ids
from biasgauge.scores import mac
from biasgauge.scores import mac_change as mac_of_change
from biasgauge.vectors import load

_PACKAGE = "biasgauge.papers.dobrzeniecka2023"
PRINTED = printed_numbers(_PACKAGE)
BANDS = {topic: PRINTED[f"bands.{topic}"] for topic in ("religion", "gender", "race")}
POSTERIORS = tuple(dict.fromkeys(name.split(".")[1] for name in row_ids(_PACKAGE, "posterior.")))
"""Sets of distances whose posterior the figures show."""
KINDS = ("associated", "different", "human", "neutral")
"""Connections; the released files call the last "none"."""
_MODELS = ("google", "glove", "reddit")
FILES = {
    **{f"{topic}_{model}": f"{topic}_group_{model}_dataset" for topic in BANDS for model in _MODELS},
    **{name: name for name in (f"weat_{number}_{model}" for number in (1, 7) for model in _MODELS)},
    **{name: name for name in (f"debiased_{topic}_reddit" for topic in BANDS)},
}
"""Our name of each of the 18 sets of distances, and the released file without its ending."""
_RACE = ("black", "caucasian", "asian", "africa", "america", "asia")
"""The six words on which Manzini et al. evaluate race."""
_TARGETS = ("math", "arts")
_DRAWS = 20_000
"""Of the published model, which draws independently. The Monte Carlo error of an end is .0005 or less; of religion on
Reddit, whose posteriors are wide, .0010, and .0017 of an overlap (standard deviations over four seeds)."""
_ROW_STREAM = 23
"""Of the random numbers that simulate rows, apart from those of the fit."""
_COORDINATES = ("dataset", "connection", "protected_word", "mean", "low_5_5", "high_94_5")
_END = 0.003
"""Tolerance of an end of a drawn interval."""
_DRAWN_CONTROLS = (
    "the paper's sentence is about Figure 7, whose ten control words are drawn at random: of these the nearest, "
    "blogger, candidate and sleep, are human; here among all 311 control words, of which the three nearest are neutral"
)
_LOW = "taken as low: less than half a standard deviation of the distances within a word, a medium effect (Cohen 1988)"
_EARLIER = "its rule: the earlier control words, behind this label; corrected: those of the labels after debiasing"
_WITHOUT_EARLIER = "the label comes from earlier control words, which are not among the data: datasets/outdated"


def _find(data: Data, name: str) -> Path | None:
    """The file of a set of distances; None where there is none."""
    return _file(data, "distances", FILES[name])


def _file(data: Data, need: str, stem: str) -> Path | None:
    """The first file of that name, gzipped or not."""
    names = {f"{stem}.csv", f"{stem}.csv.gz"}
    return next((path for path in data.find_all(need) if path.name in names), None)


def _absent(name: str) -> Recomputed:
    """The row of a number whose set of distances is not there."""
    return Recomputed(note=f"needs {FILES[name]}.csv")


def _from_files(data: Data, start: str, value: Callable[..., Recomputed]) -> Recomputations:
    """Rows START.NAME.…: `value` of the file of that name, the name, and the further labels of the row's id."""
    rows = {}
    for row in row_ids(_PACKAGE, f"{start}."):
        _, name, *labels = row.split(".")
        name = "religion_reddit" if name == "caption" else name
        path = _find(data, name)
        rows[row] = _absent(name) if path is None else value(path, name, *labels)
    return rows


def table_1(data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Distances to two decimals; how many rows there are; which words were lost."""
    rows: Recomputations = {}
    if path := _find(data, "religion_reddit"):
        table = posterior.read_distances(path)
        columns = table.columns()
        pairs = zip(columns["protected_word"], columns["word_to_compare"], columns["cosine_distance"], strict=True)
        distances = {f"table1.{word}.{attribute}": distance for word, attribute, distance in pairs}
        rows = {name: Recomputed.both(distances[name]) for name in PRINTED if name in distances}
        rows["table1.rows"] = Recomputed.both(int((table.connection <= posterior.CONNECTIONS.index("different")).sum()))
        for word, differs in (("muslim", ""), ("priest", _DRAWN_CONTROLS)):
            nearest = np.where(table.word == table.words.index(word), table.distance, np.inf).argmin()
            connection = posterior.CONNECTIONS[table.connection[nearest]]
            rows[f"nearest.{word}"] = Recomputed.of(connection, connection, differs=differs)

    def value(path: Path, name: str, label: str) -> Recomputed:
        """Repeated rows, or rows that lack a word: their share for WEAT 1 and 7, else their number."""
        table = posterior.read_distances(path, duplicates="keep")
        lost = table.without_value
        share_lost = lost / (len(table) + lost) if "weat" in name else lost
        return Recomputed.both(table.repeated if label == "repeated" else share_lost)

    return {**rows, **_from_files(data, "data", value)}


def _mac_row(result: MacResult, note: str = "", *, complement: bool = False) -> Recomputed:
    """MAC, or one less it, with its interval."""
    row = Recomputed.of(result.value, result.value, note)
    if result.value is None or result.interval is None or result.interval.low is None or result.interval.high is None:
        return row
    low, high = result.interval.low, result.interval.high
    if complement:
        return Recomputed.both(1 - result.value, note)._replace(low=1 - high, high=1 - low)
    return row._replace(low=low, high=high)


def table_2(data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """MAC with a bootstrap interval over words, the paired t test, WEAT 7 from distances."""
    rows: Recomputations = {}
    macs: dict[str, MacResult] = {}
    for name in FILES:
        path = _find(data, name)
        if path is None or name.startswith("weat"):
            continue
        table = posterior.read_distances(path)
        chosen = np.isin(table.word, [table.words.index(word) for word in _RACE if word in table.words])
        macs[name] = mac_from_similarities((table.select(chosen) if "race" in name else table).similarities())
    for row in row_ids(_PACKAGE, "mac."):
        name = row.removeprefix("mac.")
        rows[row] = _mac_row(macs[name], "BCa interval over words") if name in macs else _absent(name)
    for topic in BANDS:
        before, after = f"{topic}_reddit", f"debiased_{topic}_reddit"
        rows[f"bands.{topic}"] = _mac_row(macs[before], complement=True) if before in macs else _absent(before)
        if before not in macs or after not in macs:
            if topic != "religion":
                rows[f"table2.{topic}.hard.p"] = _absent(after if before in macs else before)
            continue
        change = mac_change(macs[before], macs[after])
        rows[f"table2.{topic}.hard.p"] = Recomputed(change.p_value)
        if topic == "religion":
            rows["table2.religion.hard.t"] = Recomputed(change.t)
            rows["table2.religion.mac"] = _mac_row(macs[before])
            rows["table2.religion.hard.mac"] = _mac_row(macs[after])
    rows |= _soft_debiased(data)
    for model in _MODELS:
        path = _find(data, f"weat_7_{model}")
        for end, ddof in (("", 0), (".sample_sd", 1)):
            missing = _absent(f"weat_7_{model}")
            rows[f"weat7.{model}{end}"] = missing if path is None else _weat_7(posterior.read_distances(path), ddof)
    return rows


def _soft_debiased(data: Data) -> Recomputations:
    """MAC of religion after soft debiasing and p of its change, from Manzini et al.'s vectors; nothing without them."""
    paths = {path.name.partition(".")[0]: path for path in data.find_all("reddit")}
    if not {"plain", "religion_soft"} <= paths.keys():
        return {}
    plain, soft = (load(paths[name]) for name in ("plain", "religion_soft"))
    after, change = mac(soft, "religion"), mac_of_change(plain, soft, "religion")
    return {
        "table2.religion.soft.mac": Recomputed.of(after, after, after.reason or ""),
        "table2.religion.soft.p": Recomputed(change.p_value, note=change.reason or ""),
    }


def _weat_7(table: posterior.DistanceTable, ddof: int) -> Recomputed:
    """Rows of a connection say which target words and which terms belong together."""
    columns = table.columns()
    sets: dict[str, tuple[set[str], set[str]]] = {name: (set(), set()) for name in _TARGETS}
    distance = {}
    names = ("protected_word", "word_to_compare", "word_class", "connection", "cosine_distance")
    for word, attribute, source, kind, value in zip(*(columns[name] for name in names), strict=True):
        distance[word, attribute] = value
        if kind == "associated" and source in sets:
            sets[source][0].add(word)
            sets[source][1].add(attribute)
    if not all(words and terms for words, terms in sets.values()):
        return Recomputed(note=f"the associated rows are not of the classes {' and '.join(_TARGETS)}")
    blocks = [
        np.array([[1 - distance[word, term] for term in sorted(sets[terms][1])] for word in sorted(sets[target][0])])
        for target in _TARGETS
        for terms in _TARGETS
    ]
    result = weat_from_similarities(*blocks, ddof=ddof)
    interval = result.interval
    ends = (None, None) if interval is None else (interval.low, interval.high)
    kind = "sample" if ddof else "population"
    return Recomputed(result.effect_size, result.effect_size, *ends, note=f"{kind} standard deviation; BCa over words")


def _published_fit(data: Data, path: Path, seed: int) -> posterior.Posterior:
    """As published: one residual for each connection, percentiles, repeated rows kept."""
    return data.once(
        ("published", path),
        lambda: posterior.bayes(
            posterior.read_distances(path, duplicates="keep"), interval="percentile", draws=_DRAWS, random_state=seed
        ),
    )


def _crossed_fit(data: Data, path: Path, seed: int) -> posterior.Posterior:
    """As we hold it right: attributes that all protected words share, HPDI, repeated rows once."""
    return data.once(
        ("crossed", path), lambda: posterior.bayes(posterior.read_distances(path), variant="crossed", random_state=seed)
    )


def groups(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Mean and interval of each connection: as published, and with attributes shared by all protected words."""
    rows: Recomputations = {}
    for number, name in enumerate(POSTERIORS, 1):
        path = _find(data, name)
        fits = () if path is None else (_published_fit(data, path, seed), _crossed_fit(data, path, seed))
        theirs, ours = ({group.connection: group for group in fit.groups} for fit in fits) if fits else ({}, {})
        for kind in KINDS:
            start = f"posterior.{name}.{kind}"
            if kind not in theirs or kind not in ours:
                rows |= {f"{start}.{end}": _absent(name) for end in ("mean", "low", "high")}
                continue
            published, crossed = theirs[kind], ours[kind]
            rows[f"{start}.mean"] = Recomputed(published.mean, crossed.mean, crossed.low, crossed.high)
            rows[f"{start}.low"] = Recomputed(published.low, crossed.low)
            rows[f"{start}.high"] = Recomputed(published.high, crossed.high)
        if progress is not None:
            progress(number, len(POSTERIORS))
    return rows


def _coordinates(path: Path) -> dict[tuple[str, str, str], Floats]:
    """Mean and ends of each point of the figures, by set, connection and word ("*" is the group)."""
    points = read_points(path)
    lacking = [column for column in _COORDINATES if column not in points.columns]
    if lacking:
        raise InputError(f"{path}: expected the columns {', '.join(_COORDINATES)}; lacks {lacking[0]}")
    labels = zip(*(points.texts(name) for name in _COORDINATES[:3]), strict=True)
    values = np.column_stack([points.numbers(name) for name in _COORDINATES[3:]])
    empty = np.flatnonzero(np.isnan(values).any(axis=1))
    if empty.size:
        raise InputError(f"{path}, line {points.lines[empty[0]]}: lacks one of {', '.join(_COORDINATES[3:])}")
    return {
        (dataset, "neutral" if kind == "none" else kind, word): numbers
        for (dataset, kind, word), numbers in zip(labels, values, strict=True)
    }


def words(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Differences between the words' coordinates and those of the figures."""
    figures = {point: drawn for path in data.find_all("coordinates") for point, drawn in _coordinates(path).items()}
    rows: Recomputations = {}
    for name in POSTERIORS:
        path = _find(data, name)
        ours = {
            (word.connection, word.word): np.array([word.mean, word.low, word.high], float)
            for word in (() if path is None else _published_fit(data, path, seed).words)
        }
        worst = [
            np.abs(drawn - ours[kind, word]).max()
            for (dataset, kind, word), drawn in figures.items()
            if dataset == name and (kind, word) in ours
        ]
        nothing = _absent(name) if path is None else Recomputed(note="no coordinates of its words")
        rows[f"words.{name}.mean"] = Recomputed(float(np.mean(worst))) if worst else nothing
        rows[f"words.{name}.largest"] = Recomputed(float(np.max(worst))) if worst else nothing
    return rows


def coverage(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Share of the observed distances within the predicted intervals, in %."""

    def simulated(path: Path) -> posterior.PredictiveCheck | None:
        """As published: every row is simulated on its own."""
        fitted = _published_fit(data, path, seed)
        if fitted.predictive is None:
            return None
        random = np.random.default_rng([seed, _ROW_STREAM])
        return posterior.check_predictions(fitted.draws, fitted.table, random, each_row=True)

    def value(path: Path, _name: str, level: str) -> Recomputed:
        published = data.once(("simulated", path), lambda: simulated(path))
        checks = published, _crossed_fit(data, path, seed).predictive
        theirs, ours = (None if check is None else float(getattr(check, f"within_{level}")) for check in checks)
        return Recomputed(theirs, ours).times(100)

    return _from_files(data, "coverage", value)


def overlaps(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """By how much two intervals overlap, below 0: the room between them. Corrected: in the crossed model."""

    def value(path: Path, _name: str, first: str, second: str) -> Recomputed:
        crossed = _crossed_fit(data, path, seed)
        contrast, sign = _contrast(crossed, first, second)
        ends = sorted(sign * (end or 0.0) for end in (contrast.low, contrast.high))
        theirs, ours = (_overlap(fit, first, second) for fit in (_published_fit(data, path, seed), crossed))
        drawn = "the drawn intervals overlap" if (theirs or 0.0) >= 0 else "the drawn intervals do not overlap"
        if theirs is not None and abs(theirs) < _END:
            drawn += f", by {abs(theirs):.4f}, less than the tolerance of an end ({_END}): hair-thin"
        numbers = f"{sign * (contrast.mean or 0.0):+.3f} [{ends[0]:+.3f}, {ends[1]:+.3f}]".replace("-", "−")
        note = (
            f"{drawn}; {first} less {second} in the crossed model: {numbers}, with probability "
            f"{contrast.p_direction:.3f} of this sign"
        )
        return Recomputed(theirs, ours, note=note)

    return _from_files(data, "overlap", value)


def _contrast(fit: posterior.Posterior, first: str, second: str) -> tuple[posterior.ConnectionContrast, int]:
    """Contrast of two connections over all words, and 1, or −1 where it stands the other way round."""
    between = (contrast for contrast in fit.contrasts if contrast.word is None)
    contrast = next(contrast for contrast in between if {contrast.a, contrast.b} == {first, second})
    return contrast, 1 if contrast.a == first else -1


def differences(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Differences of mean distances, in standard deviations of distances within a word. Corrected: crossed model."""

    def scaled(fit: posterior.Posterior, first: str, second: str) -> list[float | None]:
        """Mean and both ends; the region of practical equivalence is a tenth of the standard deviation."""
        contrast, sign = _contrast(fit, first, second)
        ends = (contrast.low, contrast.high)[::sign]
        return [None if one is None else sign * one / (10 * fit.rope) for one in (contrast.mean, *ends)]

    def value(path: Path, _name: str, first: str, second: str) -> Recomputed:
        fit = _published_fit(data, path, seed)
        contrast, sign = _contrast(fit, first, second)
        note = f"{sign * (contrast.mean or 0.0):+.3f} in cosines; {_LOW}".replace("-", "−")
        ours, low, high = scaled(_crossed_fit(data, path, seed), first, second)
        return Recomputed(scaled(fit, first, second)[0], ours, low, high, note)

    return _from_files(data, "differences", value)


def _overlap(fit: posterior.Posterior, first: str, second: str) -> float | None:
    groups = {group.connection: group for group in fit.groups}
    lows, highs = zip(*((groups[name].low, groups[name].high) for name in (first, second)), strict=True)
    return None if None in (*lows, *highs) else float(min(highs) - max(lows))


def bands(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Shares within ±(1 − MAC): before with the earlier control words, where they are, as published.

    Corrected: the same control words before and after; intervals over words and attributes.
    """
    rows: Recomputations = {}
    for number, (topic, width) in enumerate(BANDS.items(), 1):
        names = {"before": f"{topic}_reddit", "after": f"debiased_{topic}_reddit"}
        paths = {side: path for side, name in names.items() if (path := _find(data, name))}
        earlier = _file(data, "earlier", f"{topic}Reddit")
        raw: dict[str, dict[str, float]] = {}
        for side, name in names.items():
            if side not in paths:
                rows |= {f"band.{topic}.{side}.{kind}": _absent(name) for kind in KINDS}
                continue
            labeled = earlier if side == "before" and earlier is not None else paths[side]
            raw[side] = posterior.read_distances(labeled, duplicates="keep").share_within(width)
            note = "" if side == "after" else _WITHOUT_EARLIER if earlier is None else _EARLIER
            for group in posterior.within_band(
                posterior.read_distances(paths[side]), band=width, random_state=seed
            ).shares:
                control = group.connection in {"human", "neutral"}
                row = Recomputed(raw[side][group.connection], group.share, group.low, group.high, note * control)
                rows[f"band.{topic}.{side}.{group.connection}"] = row.times(100)
        # differences of the labels before and after; corrected: on the same words
        changes = {name.rpartition(".")[2]: name for name in row_ids(_PACKAGE, f"band.{topic}.change.")}
        if len(paths) < len(names):
            missing = names["after" if "before" in paths else "before"]
            rows |= {name: _absent(missing) for name in changes.values()}
        else:
            before, after = (posterior.read_distances(paths[side]) for side in names)
            both = posterior.within_band(before, after=after, band=width, random_state=seed)
            same = {share.connection: share for share in both.shares if share.side == "change"}
            for kind, name in changes.items():
                theirs, ours = raw["after"][kind] - raw["before"][kind], same[kind]
                rows[name] = Recomputed(theirs, ours.share, ours.low, ours.high).times(100)
        if progress is not None:
            progress(number, len(BANDS))
    return rows


def debiasing(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Associated less different of a word before and after, from the word means; corrected: in the crossed model."""
    rows = {}
    for row in row_ids(_PACKAGE, "debiasing."):
        _, topic, *labels = row.split(".")
        paths = {name: _find(data, name) for name in (f"{topic}_reddit", f"debiased_{topic}_reddit")}
        missing = next((name for name, path in paths.items() if path is None), None)
        present = [path for path in paths.values() if path is not None]
        theirs, ours = (
            None if missing else _labeled_change(labels, *(fit(data, path, seed) for path in present))
            for fit in (_published_fit, _crossed_fit)
        )
        rows[row] = _absent(missing) if missing else Recomputed(theirs, ours)
    return rows


def _labeled_change(labels: list[str], before: posterior.Posterior, after: posterior.Posterior) -> float | str | None:
    """The number of a row: the word that moved most, a difference after, or the product of both."""
    first, second = (_differences(fit) for fit in (before, after))
    if labels == ["moved"]:
        return max(first, key=lambda word: abs(second[word] - first[word]))
    word, quantity = labels
    return second[word] if quantity == "after" else second[word] * first[word]


def _differences(fit: posterior.Posterior) -> dict[str, float]:
    """Associated less different, by word."""
    means = {(row.connection, row.word): row.mean for row in fit.words if row.word is not None and row.mean is not None}
    return {word: means[kind, word] - means["different", word] for kind, word in means if kind == "associated"}
