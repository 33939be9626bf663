"""Groups of people, the words that name them, and the stereotypes held about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from biasgauge.lexicons.model import Lexicon

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Group:
    """One group: its protected words, each once, and the attributes that the stereotype gives it."""

    name: str
    protected: tuple[str, ...]
    attributes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Stereotypes(Lexicon):
    """Groups with protected words and attributes.

    A protected word with an attribute of its own group is *associated*, with one of another group *different*.
    `human` and `neutral` name the lexicons of control words. `defining_sets` has one word per group in each row, in
    the order of `group_order`; a word may stand in several rows. `eval_targets` are the words evaluated by MAC.
    """

    kind: ClassVar[str] = "stereotypes"
    groups: tuple[Group, ...]
    group_order: tuple[str, ...] = ()
    defining_sets: tuple[tuple[str, ...], ...] = ()
    eval_targets: tuple[str, ...] = ()
    human: str | None = None
    neutral: str | None = None

    @property
    def sets(self) -> Mapping[str, tuple[str, ...]]:
        """Words under "GROUP.protected" and "GROUP.attributes"."""
        return {
            f"{group.name}.{part}": words
            for group in self.groups
            for part, words in (("protected", group.protected), ("attributes", group.attributes))
        }

    @property
    def slots(self) -> tuple[tuple[str, str], ...]:
        """(group, protected word) as often as the word stands in `defining_sets`, row by row.

        This is the repetition of the published race data: 18 slots for 10 words. Without defining sets every
        protected word has one slot.
        """
        if self.defining_sets:
            return tuple(slot for row in self.defining_sets for slot in zip(self.group_order, row, strict=True))
        return tuple((group.name, word) for group in self.groups for word in group.protected)

    def content(self) -> dict[str, object]:
        """Give `groups` and whatever else is stated."""
        content: dict[str, object] = {}
        if self.defining_sets:
            content["group_order"] = list(self.group_order)
            content["defining_sets"] = [list(row) for row in self.defining_sets]
        if self.eval_targets:
            content["eval_targets"] = list(self.eval_targets)
        controls = {key: value for key, value in (("human", self.human), ("neutral", self.neutral)) if value}
        if controls:
            content["controls"] = controls
        content["groups"] = {
            group.name: {"protected": list(group.protected), "attributes": list(group.attributes)}
            for group in self.groups
        }
        return content

    def _rows(self) -> list[dict[str, object]]:
        return [
            {"set": f"{group.name}.{part}", "word": word, "group": group.name, "part": part}
            for group in self.groups
            for part, words in (("protected", group.protected), ("attributes", group.attributes))
            for word in words
        ]
