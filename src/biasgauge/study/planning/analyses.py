"""Cells of analyses: one result for each thing that an analysis is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from biasgauge.core import JsonObject
from biasgauge.study.planning.builder import Group, Member, PlanBuilder, Settings
from biasgauge.study.planning.models import OF, check_recipe, model_draws
from biasgauge.study.schema import AnalysisTable
from biasgauge.study.settings import arguments
from biasgauge.study.step import Analysis, Kind, analyses
from biasgauge.study.steps.calibration import DECIDE_WORDS

CORRELATE = "correlate"
"""Comes last: it reads tables of other analyses."""


def plan_analyses(plan: PlanBuilder) -> None:
    """Cells and results of every analysis."""
    kinds = analyses()
    for name, table in sorted(plan.study.analyses.items(), key=lambda item: item[1].kind == CORRELATE):
        path = ("analyses", name)
        if table.kind not in kinds:
            plan.unknown((*path, "kind"), f"there is no kind of analysis {table.kind!r}", table.kind, kinds)
            continue
        kind = kinds[table.kind].kind
        if table.before is not None and kind.needs != "change":
            plan.problem((*path, "before"), f"the kind {kind.name!r} does not compare; 'before' is not for it")
        if not table.of and kind.needs != "table":
            plan.problem((*path, "of"), f"{name!r} needs 'of': the names of what it is made of")
            continue
        before = len(plan.problems)
        settings = plan.checked(
            path,
            table.settings,
            kind.settings,
            f"the kind {kind.name!r}",
            checks=kind.checks,
            required=kind.required,
            trial=kind.trial,
            paths=kind.paths,
        )
        settings.lexicons.update(kind.implicit_checksum)
        if kind.needs == "planted" and len(plan.problems) > before:
            continue  # how many cells it has is among its settings
        _Analysis(plan, name, table, kinds[table.kind], settings).plan_cells()


class _Analysis:
    """One analysis, checked, to be made of several things."""

    def __init__(
        self, plan: PlanBuilder, name: str, table: AnalysisTable, analysis: Analysis, settings: Settings
    ) -> None:
        self.plan, self.name, self.table, self.settings = plan, name, table, settings
        self.kind, self.step = analysis
        self.path = ("analyses", name)

    def plan_cells(self) -> None:
        """Cells and results, by what the kind is made of."""
        planners = {
            "scores": self._of_scores,
            "model": self._of_each_model,
            "models": self._of_models,
            "models and text": self._of_models,
            "groups": self._of_groups,
            "change": self._of_changes,
            "sources": self._of_sources,
            "points": self._of_tasks,
            "table": self._of_table,
            "corpus": self._of_corpora,
            "planted": self._of_planted,
        }
        planners[self.kind.needs]()

    def problem(self, key: str, sentence: str) -> None:
        """Note that something is wrong with one of its keys."""
        self.plan.problem((*self.path, key), sentence)

    def groups(self) -> list[Group]:
        """The groups of models that it is made of."""
        return self._named(self.plan.groups, OF)

    def scored(self) -> list[Group]:
        """The score tensors that it is made of."""
        return self._named(self.plan.scores, ("scores",))

    def _named(self, among: dict[str, Group], sections: Sequence[str]) -> list[Group]:
        path = (*self.path, "of")
        groups = [group for name in self.table.of for group in self.plan.named(name, path, among, sections)]
        return list({group.name: group for group in groups}.values())

    def add(self, inputs: dict[str, str], extra: dict[str, object], subject: str, *, step: str | None = None) -> str:
        """A cell of this analysis."""
        settings = {"kind": self.kind.name, **self.settings.cell_settings, **extra} if step is None else extra
        paths = self.settings.paths if step is None else {}
        label = f"{self.name}/{subject}".rstrip("/")
        return self.plan.add(step or self.step.name, settings, inputs=inputs, paths=paths, label=label)

    def result(self, subject: str, key: str) -> None:
        """The result of one of the things."""
        full = f"{self.name}/{subject}".rstrip("/")
        self.plan.result(full, key, part="analyses", kind=self.kind.name, of=subject)

    def gathered(self, group: Group, cells: Sequence[tuple[Member, str]]) -> None:
        """One result of the results of several models."""
        key = self.add(
            {f"model{number}": key for number, (_, key) in enumerate(cells)},
            {"kind": self.kind.name, "of": group.name, "models": [member.label for member, _ in cells]},
            group.name,
            step="gather",
        )
        self.result(group.name, key)

    def _of_scores(self) -> None:
        scored = self.scored()
        many_tables = len({group.name.split("/")[0] for group in scored}) > 1
        for group in scored:
            subject = group.name if many_tables else group.of or group.name
            self.result(subject, self.add({"scores": group.tensor or ""}, {}, subject))

    def _of_each_model(self) -> None:
        for group in self.groups():
            cells = [
                (member, self.add({"vectors": member.key}, {"model": member.label}, member.label))
                for member in group.members
            ]
            self.gathered(group, cells)

    def _of_models(self) -> None:
        for group in self.groups():
            if len(group.members) < self.kind.fewest:
                least = f"the kind {self.kind.name!r} needs at least {self.kind.fewest} models in a group"
                self.problem("of", f"{least}; {group.name!r} has {len(group.members)} (more seeds make more)")
                continue
            inputs = {f"model{number}": member.key for number, member in enumerate(group.members)}
            if self.kind.needs == "models and text" and group.corpus_key is not None:
                inputs["corpus"] = group.corpus_key
            labels = [member.label for member in group.members]
            self.result(group.name, self.add(inputs, {"models": labels}, group.name))

    def _of_groups(self) -> None:
        """All groups together; where several references each mean several groups, those of each reference."""
        path = (*self.path, "of")
        named = {name: self.plan.named(name, path, self.plan.groups, OF) for name in dict.fromkeys(self.table.of)}
        separately = len(named) > 1 and all(len(groups) > 1 for groups in named.values())
        for reference, groups in named.items() if separately else [("", self.groups())]:
            if len(groups) < self.kind.fewest:
                least = f"the kind {self.kind.name!r} compares at least {self.kind.fewest} groups of models"
                self.problem("of", f"{least}; {', '.join(self.table.of)} means {len(groups)}")
                continue
            names = _distinct_names([group.name for group in groups])
            inputs: dict[str, str] = {}
            described = []
            for number, (name, group) in enumerate(zip(names, groups, strict=True)):
                inputs |= {f"model{number}-{index}": member.key for index, member in enumerate(group.members)}
                described.append({"name": name, "models": [member.label for member in group.members]})
            self.result(reference, self.add(inputs, {"groups": described}, reference))

    def _of_changes(self) -> None:
        before = None
        if self.table.before is not None:
            named = self.plan.named(self.table.before, (*self.path, "before"), self.plan.groups, OF)
            if len(named) > 1:
                listed = ", ".join(group.name for group in named)
                self.problem("before", f"'before' must name one group; {self.table.before!r} means {listed}")
            if len(named) != 1:
                return
            before = named[0]
        for group in self.groups():
            earlier = [member.before for member in group.members] if before is None else list(before.members)
            if None in earlier or len(earlier) != len(group.members):
                why = (
                    f"{group.name!r} is no mitigation; say what was there before with 'before'"
                    if before is None
                    else f"{group.name!r} has {len(group.members)} models, and {before.name!r} has {len(earlier)}"
                )
                self.problem("of", why)
                continue
            cells = [
                (
                    member,
                    self.add(
                        {"before": first.key, "after": member.key},
                        {"before": first.label, "after": member.label},
                        member.label,
                    ),
                )
                for first, member in zip(earlier, group.members, strict=True)
                if first is not None
            ]
            self.gathered(group, cells)

    def _of_sources(self) -> None:
        inputs: dict[str, str] = {}
        sources = []
        for number, group in enumerate(self.scored()):
            if group.corpus_key is None:
                self.problem("of", f"{group.name!r} was not trained in this study, so its corpus is not known")
                return
            inputs |= {f"scores{number}": group.tensor or "", f"corpus{number}": group.corpus_key}
            inputs |= {f"model{number}-{index}": member.key for index, member in enumerate(group.members)}
            models = [member.label for member in group.members]
            sources.append({"algorithm": group.algorithm, "corpus": group.corpus, "models": models})
        if sources:
            self.result("", self.add(inputs, {"sources": sources}, ""))

    def _of_tasks(self) -> None:
        tasks = list(self.plan.tasks)
        inputs: dict[str, str] = {}
        versions: list[dict[str, Any]] = []
        for reference in dict.fromkeys(self.table.of):
            if reference not in tasks:
                if ("tasks", reference) not in self.plan.study.broken and reference not in self.plan.study.tasks:
                    self.plan.unknown((*self.path, "of"), f"there is no {reference!r} in tasks", reference, tasks)
                continue
            for group, cells in self.plan.tasks[reference]:
                for member, key in zip(group.members, cells, strict=True):
                    number = len(versions)
                    inputs |= {f"model{number}": member.key, f"task{number}": key}
                    versions.append({**vars(group.version), "name": member.label})
        if versions:
            key = self.add(inputs, {"versions": versions}, "")
            self.plan.tables[self.name] = key
            self.result("", key)

    def _of_corpora(self) -> None:
        for reference, corpus in self._corpora():
            self.result(reference, self.add({"corpus": corpus}, {}, reference))

    def _of_planted(self) -> None:
        for reference, corpus in self._corpora():
            label = f"{self.name}/{reference}"
            cells = plan_calibration(self.plan, self.path, label, self.kind, self.settings, corpus)
            if cells is not None:
                self.result(reference, self.add(*cells, reference))

    def _corpora(self) -> Iterator[tuple[str, str]]:
        """The corpora that it is made of: names and cells."""
        for reference in dict.fromkeys(self.table.of):
            if reference in self.plan.corpora:
                yield reference, self.plan.corpora[reference]
            elif ("corpora", reference) not in self.plan.study.broken and reference not in self.plan.study.corpora:
                sentence = f"there is no {reference!r} in corpora"
                self.plan.unknown((*self.path, "of"), sentence, reference, self.plan.study.corpora)

    def _of_table(self) -> None:
        if ("points" in self.table.settings) == bool(self.table.of):
            self.plan.problem(
                self.path, f"{self.name!r} needs either 'of', an analysis of kind \"points\", or 'points', a file"
            )
            return
        if not self.table.of:
            self.result("", self.add({}, {}, ""))
        for reference in dict.fromkeys(self.table.of):
            if reference in self.plan.tables:
                self.result(reference, self.add({"points": self.plan.tables[reference]}, {}, reference))
            elif ("analyses", reference) not in self.plan.study.broken:
                tables = [name for name, table in self.plan.study.analyses.items() if table.kind == "points"]
                if reference not in tables:
                    sentence = f'there is no analysis {reference!r} of kind "points"'
                    self.plan.unknown((*self.path, "of"), sentence, reference, tables)


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Names of groups without what all of their paths have: "first" and "second" for "sgns/first" and "sgns/second"."""
    paths = [name.split("/") for name in names]
    if len({len(path) for path in paths}) > 1:
        return list(names)
    varying = [index for index in range(len(paths[0])) if len({path[index] for path in paths}) > 1]
    return ["/".join(path[index] for index in varying) for path in paths] if varying else list(names)


def plan_calibration(
    plan: PlanBuilder, path: Sequence[str], name: str, kind: Kind, settings: Settings, corpus: str
) -> tuple[dict[str, str], dict[str, object]] | None:
    """Add all cells of a calibration but the last, whose inputs it gives, and what that is told beside its settings.

    None, and noted, where its recipe is wrong. Texts, models and scores have addresses of their own: more random seeds,
    more planted texts or other tests find them again.

    Args:
        plan: what is planned.
        path: of the table of the analysis.
        name: of the analysis and its corpus, for labels.
        kind: of the analysis.
        settings: those of the analysis, checked.
        corpus: the cell of the tokens.
    """
    from biasgauge.analyses.calibrate import registered_names

    defaults = {key: setting.default for key, setting in kind.settings.items()}
    values = {**defaults, **arguments(settings.stored, kind.settings)}
    recipe_table = {"algorithm": values["recipe"]} if isinstance(values["recipe"], str) else dict(values["recipe"])
    start = (*path, "settings", "recipe")
    recipe = check_recipe(plan, start, recipe_table.pop("algorithm", "sgns"), recipe_table)
    if recipe is None:
        return None
    first = values["random_state"]
    word_settings = {key: value for key, value in settings.stored.items() if key in DECIDE_WORDS}
    lexicons = {key: checksum for key, checksum in settings.lexicons.items() if key in (*DECIDE_WORDS, "unasked")}
    cell = plan.add(
        "calibration-plan", {"settings": word_settings, "lexicons": lexicons}, inputs={"corpus": corpus},
        paths=settings.paths, label=f"plan {name}",
    )  # fmt: skip
    about: dict[str, object] = {
        "measures": registered_names("measure", values["measures"]),
        "tests": registered_names("association_test", values["tests"]),
    }
    analysis_settings = {"kind": kind.name, **settings.cell_settings, **about}

    def planted(label: str, about: JsonObject) -> str:
        inputs = {"plan": cell, "corpus": corpus}
        return plan.add("plant", about, inputs=inputs, label=f"plant {name}/{label}")

    def model(text: str, label: str, draw: dict[str, int]) -> tuple[str, str]:
        vectors = plan.add(
            "train", {**recipe, **draw}, inputs={"corpus": text}, label=f"train {name}/{label}",
        )  # fmt: skip
        read = {"plan": cell, "vectors": vectors}
        return vectors, plan.add(
            "calibration-scores", {"measures": about["measures"]}, inputs=read, label=f"score {name}/{label}"
        )

    inputs = {"plan": cell}
    models: list[list[str]] = []
    for number in range(values["plantings"]):
        text = planted(f"text{number}", {"draw": number, "shuffled": False})
        inputs[f"text{number}"] = text
        models.append([])
        draws = model_draws(range(first, first + values["seeds"]), values["bootstrap"], first)
        for run, draw in enumerate(draws):
            vectors, inputs[f"scores{number}-{run}"] = model(text, f"text{number}-{draw.label}", draw.settings)
            models[-1].append(vectors)
    for number in range(values["shuffled"]):
        text = planted(f"shuffled{number}", {"draw": number, "shuffled": True})
        _, inputs[f"shuffled{number}"] = model(text, f"shuffled{number}", {"seed": first})
    judged = {
        f"verdicts{number}": plan.add(
            "calibration-verdicts", {**analysis_settings, "draw": number},
            inputs={**inputs, **{f"vectors{run}": vectors for run, vectors in enumerate(runs)}},
            paths=settings.paths, label=f"judge {name}/text{number}",
        )
        for number, runs in enumerate(models if values["verdicts"] else ())
    }  # fmt: skip
    return {**inputs, **judged}, about
