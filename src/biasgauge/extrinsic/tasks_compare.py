"""`compare_tasks`: are the gaps of a task smaller with the other vectors?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.errors import ParameterError
from biasgauge.extrinsic.gaps_paired import compare_gaps

if TYPE_CHECKING:
    from biasgauge.extrinsic.gaps_result import GapComparison
    from biasgauge.extrinsic.tasks_result import TaskResult


def compare_tasks(first: TaskResult, second: TaskResult, *, seed: int | None = None) -> GapComparison:
    """How gaps differ between two results on the same test items, such as before and after debiasing: second − first.

    One model of each is compared, so the intervals are about other test items and not about other seeds.

    Args:
        first: a result of `extrinsic`.
        second: another one, with other vectors.
        seed: which of the seeds that both have; the first such by default.

    Raises:
        ParameterError: the items or groups are not the same, there are no gaps, or the seed is in neither.
    """
    if first.items is None or second.items is None or not first.gaps or not second.gaps:
        raise ParameterError("Two results can be compared where both have items and gaps; one of these has none.")
    same = (first.items.labels, first.items.groups, first.counts) == (
        second.items.labels,
        second.items.groups,
        second.counts,
    )
    if not same:
        raise ParameterError("Two results can be compared on the same test items and groups; these differ.")
    numbers = [[one.seed for one in result.seeds] for result in (first, second)]
    both = [one for one in numbers[0] if one in numbers[1]] if seed is None else [seed]
    if not both or any(both[0] not in own for own in numbers):
        raise ParameterError(f"Both results must have the seed to compare. Got seeds {numbers[0]} and {numbers[1]}.")
    places = [own.index(both[0]) for own in numbers]
    kept = [at for at, group in enumerate(first.items.groups) if group in first.counts]
    return compare_gaps(
        [first.items.labels[at] for at in kept],
        [first.items.predictions[places[0]][at] for at in kept],
        [second.items.predictions[places[1]][at] for at in kept],
        [first.items.groups[at] for at in kept],
        positive=first.settings["positive"],
        order=list(first.counts),
        as_published=first.settings["as_published"],
        level=first.settings["level"],
        resamples=first.settings["resamples"],
        random_state=first.settings["random_state"],
    )
