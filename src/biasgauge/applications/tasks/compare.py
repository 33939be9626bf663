"""`compare_tasks`: are the gaps of a task smaller with the other vectors?"""

from __future__ import annotations

from biasgauge.applications.group_gaps.measured import compare_gaps
from biasgauge.applications.group_gaps.result import GapComparison
from biasgauge.applications.tasks.result import PairedItems, TaskItems, TaskResult
from biasgauge.errors import ParameterError
from biasgauge.stats import bootstrap_settings

DIFFER = "Two results can be compared on the same test items and groups; these differ."
_INTERVAL = ("level", "resamples", "random_state")


def compare_tasks(first: TaskResult, second: TaskResult, *, seed: int | None = None) -> GapComparison:
    """How gaps differ between two results on the same test items, such as before and after debiasing: second − first.

    Items are texts, or, for coreference, pairs of sentences of WinoBias. One model of each is compared, so the
    intervals are about other test items and not about other seeds.

    Args:
        first: a result of `extrinsic`.
        second: another one, with other vectors.
        seed: which of the seeds that both have; the first such by default.

    Raises:
        ParameterError: the items or groups are not the same, there are no gaps, or the seed is in neither.
    """
    first_items, second_items = first.items, second.items
    if first_items is None or second_items is None or not first.gaps or not second.gaps:
        raise ParameterError(
            "Two results can be compared where both have items and gaps; one of these has none (a result that was read "
            "from JSON has no items)."
        )
    numbers = [[run.seed for run in result.seeds] for result in (first, second)]
    both = [run for run in numbers[0] if run in numbers[1]] if seed is None else [seed]
    if not both or any(both[0] not in own for own in numbers):
        raise ParameterError(f"Both results must have the seed to compare. Got seeds {numbers[0]} and {numbers[1]}.")
    places = (numbers[0].index(both[0]), numbers[1].index(both[0]))
    if isinstance(first_items, PairedItems) and isinstance(second_items, PairedItems):
        return _compare_pairs(first, first_items, second_items, places)
    if isinstance(first_items, TaskItems) and isinstance(second_items, TaskItems) and first.counts == second.counts:
        return _compare_items(first, first_items, second_items, places)
    raise ParameterError(DIFFER)


def _compare_items(
    first: TaskResult, first_items: TaskItems, second_items: TaskItems, places: tuple[int, int]
) -> GapComparison:
    """Gaps between groups of items."""
    if (first_items.labels, first_items.groups) != (second_items.labels, second_items.groups):
        raise ParameterError(DIFFER)
    kept = [at for at, group in enumerate(first_items.groups) if group in first.counts]
    asked = {name: first.settings[name] for name in ("positive", "as_published", *_INTERVAL)}
    predictions = first_items.predictions[places[0]], second_items.predictions[places[1]]
    columns = ([column[at] for at in kept] for column in (first_items.labels, *predictions, first_items.groups))
    return compare_gaps(*columns, order=list(first.counts), **asked)


def _compare_pairs(
    first: TaskResult, first_items: PairedItems, second_items: PairedItems, places: tuple[int, int]
) -> GapComparison:
    """Gaps between two versions of the same sentences."""
    from biasgauge.applications.coref.task_summary import WINOBIAS, compare_pairs

    if (first_items.checksum, list(first_items.parts)) != (second_items.checksum, list(second_items.parts)):
        raise ParameterError(DIFFER)
    asked = {name: first.settings[name] for name in _INTERVAL}
    how = bootstrap_settings("compare_tasks", method="percentile", **asked)
    changes = [
        change
        for name, sums in first_items.parts.items()
        for change in compare_pairs(sums[places[0]], second_items.parts[name][places[1]], f"{WINOBIAS}{name}", how)
    ]
    return GapComparison(how.to_settings(), (), dict(first.counts.items()), (), tuple(changes))
