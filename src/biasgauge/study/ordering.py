"""What must come first: names in an order in which each follows those that it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasgauge.study.planning.builder import PlanBuilder


def in_order(
    plan: PlanBuilder, section: str, names: Sequence[str], made_of: Mapping[str, Sequence[str]], key: str
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Every name after those that it is made of, with the path of the key that says so.

    Names that are made of each other in a circle are left out, and one sentence says so.
    """
    own = set(names)
    left = {name: [one for one in made_of.get(name, ()) if one in own] for name in names}
    while True:
        try:
            order = list(TopologicalSorter(left).static_order())
            break
        except CycleError as problem:
            circle: list[str] = list(reversed(problem.args[1]))
            if circle[:-1]:
                first = min(range(len(circle) - 1), key=lambda place: names.index(circle[place]))
                circle = [*circle[first:-1], *circle[:first], circle[first]]
            plan.problem((section, circle[0], key), f"these {section} are made of each other: {' → '.join(circle)}")
            left = {
                name: [one for one in sources if one not in circle]
                for name, sources in left.items()
                if name not in circle
            }
    ranked = {name: place for place, name in enumerate(names)}
    depth: dict[str, int] = {}
    for name in order:
        depth[name] = 1 + max((depth[one] for one in left[name]), default=0)
    for name in sorted(order, key=lambda name: (depth[name], ranked[name])):
        yield name, (section, name, key)
