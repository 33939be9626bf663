"""Cells of analyses: one result for each thing that an analysis is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.lexicons.nearest import meant
from biasgauge.study.costs import NOTHING
from biasgauge.study.kind import Kind, kind_named, kind_names
from biasgauge.study.plan_models import OF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.study.book import Book, Group, Member, Settings
    from biasgauge.study.schema import AnalysisTable

CORRELATE = "correlate"
"""Comes last: it reads tables of other analyses."""


def plan_analyses(book: Book) -> None:
    """Cells and results of every analysis."""
    for name, table in sorted(book.study.analyses.items(), key=lambda item: item[1].kind == CORRELATE):
        path = ("analyses", name)
        if table.kind not in kind_names():
            near = meant(table.kind, kind_names()) or f"; there are {', '.join(kind_names())}"
            book.problem((*path, "kind"), f"there is no kind of analysis {table.kind!r}{near}")
            continue
        kind = kind_named(table.kind)
        if table.before is not None and kind.needs != "change":
            book.problem((*path, "before"), f"the kind {kind.name!r} does not compare; 'before' is not for it")
        if not table.of and kind.needs != "table":
            book.problem((*path, "of"), f"{name!r} needs 'of': the names of what it is made of")
            continue
        found = book.checked(
            path,
            table.settings,
            kind.known,
            f"the kind {kind.name!r}",
            checks=kind.checks,
            required=kind.required,
            trial=kind.trial,
            paths=kind.paths,
        )
        found.lexicons.update(kind.unasked_checksum)
        _PLANNERS[kind.needs](_Analysis(book, name, table, kind, found))


class _Analysis:
    """One analysis, checked, to be made of several things."""

    def __init__(self, book: Book, name: str, table: AnalysisTable, kind: Kind, found: Settings) -> None:
        self.book, self.name, self.table, self.kind, self.found = book, name, table, kind, found
        self.path = ("analyses", name)

    def groups(self) -> list[Group]:
        """The groups of models that it is made of."""
        return self._named(self.book.groups, OF)

    def scored(self) -> list[Group]:
        """The score tensors that it is made of."""
        return self._named(self.book.scores, ("scores",))

    def _named(self, among: dict[str, Group], sections: Sequence[str]) -> list[Group]:
        found = {}
        for reference in self.table.of:
            for group in self.book.named(reference, (*self.path, "of"), among, sections):
                found[group.name] = group
        return list(found.values())

    def add(self, inputs: dict[str, str], about: dict[str, object], of: str, *, step: str | None = None) -> str:
        """A cell of this analysis."""
        settings = {"kind": self.kind.name, **self.found.told, **about} if step is None else about
        places = self.found.places if step is None else {}
        return self.book.add(
            step or self.kind.step,
            settings,
            inputs=inputs,
            places=places,
            label=f"{self.name}/{of}".rstrip("/"),
            size=NOTHING,
        )

    def result(self, of: str, key: str) -> None:
        """The result of one of the things."""
        full = f"{self.name}/{of}".rstrip("/")
        self.book.result(full, key, part="analyses", kind=self.kind.name, of=of)

    def gathered(self, group: Group, cells: Sequence[tuple[Member, str]]) -> None:
        """One result of the results of several models."""
        key = self.add(
            {f"model{number}": key for number, (_, key) in enumerate(cells)},
            {"kind": self.kind.name, "of": group.name, "models": [one.label for one, _ in cells]},
            group.name,
            step="gather",
        )
        self.result(group.name, key)


def _of_scores(one: _Analysis) -> None:
    scored = one.scored()
    several = len({group.name.split("/")[0] for group in scored}) > 1
    for group in scored:
        of = group.name if several else group.of or group.name
        one.result(of, one.add({"scores": group.tensor or ""}, {}, of))


def _of_each_model(one: _Analysis) -> None:
    for group in one.groups():
        cells = [
            (member, one.add({"vectors": member.key}, {"model": member.label}, member.label))
            for member in group.members
        ]
        one.gathered(group, cells)


def _of_models(one: _Analysis) -> None:
    for group in one.groups():
        if len(group.members) < one.kind.fewest:
            one.book.problem(
                (*one.path, "of"),
                f"the kind {one.kind.name!r} needs at least {one.kind.fewest} models in a group; {group.name!r} has "
                f"{len(group.members)} (more seeds make more)",
            )
            continue
        inputs = {f"model{number}": member.key for number, member in enumerate(group.members)}
        one.result(group.name, one.add(inputs, {"models": [member.label for member in group.members]}, group.name))


def _of_changes(one: _Analysis) -> None:
    before = None
    if one.table.before is not None:
        found = one.book.named(one.table.before, (*one.path, "before"), one.book.groups, OF)
        if len(found) > 1:
            listed = ", ".join(group.name for group in found)
            one.book.problem(
                (*one.path, "before"), f"'before' must name one group; {one.table.before!r} means {listed}"
            )
        if len(found) != 1:
            return
        before = found[0]
    for group in one.groups():
        earlier = [member.before for member in group.members] if before is None else list(before.members)
        if None in earlier or len(earlier) != len(group.members):
            why = (
                f"{group.name!r} is no mitigation; say what was there before with 'before'"
                if before is None
                else f"{group.name!r} has {len(group.members)} models, and {before.name!r} has {len(earlier)}"
            )
            one.book.problem((*one.path, "of"), why)
            continue
        cells = [
            (
                member,
                one.add(
                    {"before": first.key, "after": member.key},
                    {"before": first.label, "after": member.label},
                    member.label,
                ),
            )
            for first, member in zip(earlier, group.members, strict=True)
            if first is not None
        ]
        one.gathered(group, cells)


def _of_sources(one: _Analysis) -> None:
    inputs: dict[str, str] = {}
    sources = []
    for number, group in enumerate(one.scored()):
        if group.corpus_key is None:
            one.book.problem(
                (*one.path, "of"), f"{group.name!r} was not trained in this study, so its corpus is not known"
            )
            return
        inputs |= {f"scores{number}": group.tensor or "", f"corpus{number}": group.corpus_key}
        inputs |= {f"model{number}-{place}": member.key for place, member in enumerate(group.members)}
        models = [member.label for member in group.members]
        sources.append({"algorithm": group.algorithm, "corpus": group.corpus, "models": models})
    if sources:
        one.result("", one.add(inputs, {"sources": sources}, ""))


def _of_tasks(one: _Analysis) -> None:
    tasks = list(one.book.tasks)
    inputs: dict[str, str] = {}
    versions: list[dict[str, Any]] = []
    for reference in dict.fromkeys(one.table.of):
        if reference not in tasks:
            if ("tasks", reference) not in one.book.study.broken and reference not in one.book.study.tasks:
                near = meant(reference, tasks) or f"; there are {', '.join(tasks) or 'none'}"
                one.book.problem((*one.path, "of"), f"there is no {reference!r} in tasks{near}")
            continue
        for group, cells in one.book.tasks[reference]:
            for member, key in zip(group.members, cells, strict=True):
                number = len(versions)
                inputs |= {f"model{number}": member.key, f"task{number}": key}
                versions.append({**vars(group.version), "name": member.label})
    if versions:
        key = one.add(inputs, {"versions": versions}, "")
        one.book.tables[one.name] = key
        one.result("", key)


def _of_table(one: _Analysis) -> None:
    if ("points" in one.table.settings) == bool(one.table.of):
        one.book.problem(
            one.path, f"{one.name!r} needs either 'of', an analysis of kind \"points\", or 'points', a file"
        )
        return
    if not one.table.of:
        one.result("", one.add({}, {}, ""))
    for reference in dict.fromkeys(one.table.of):
        if reference in one.book.tables:
            one.result(reference, one.add({"points": one.book.tables[reference]}, {}, reference))
        elif ("analyses", reference) not in one.book.study.broken:
            known = [name for name, table in one.book.study.analyses.items() if table.kind == "points"]
            near = meant(reference, known) or f"; there are {', '.join(known) or 'none'}"
            if reference not in known:
                one.book.problem((*one.path, "of"), f'there is no analysis {reference!r} of kind "points"{near}')


_PLANNERS = {
    "scores": _of_scores,
    "model": _of_each_model,
    "models": _of_models,
    "change": _of_changes,
    "sources": _of_sources,
    "points": _of_tasks,
    "table": _of_table,
}
