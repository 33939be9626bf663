"""Cells of measurements: scores, downstream tasks, and one result for each subject of an analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from biasgauge import registry
from biasgauge.core import JsonMapping, JsonObject, did_you_mean
from biasgauge.study.cell import address_sha256
from biasgauge.study.planning.builder import CheckedSettings, Member, PlanBuilder, PlannedGroup, numbered
from biasgauge.study.planning.models import check_recipe, model_draws, seed_list
from biasgauge.study.schema import AnalysisTable, ScoresTable, TaskTable
from biasgauge.study.settings import Setting, arguments, check_pairs, check_words, group_sets, parameters
from biasgauge.study.step import Kind, Step, analyses
from biasgauge.study.steps.calibration import DECIDE_WORDS

FULL = "full"
"""Instead of a list of words: all words of the models."""
SUMMARY = ("level", "resamples", "random_state")
"""Settings of tasks that only the summary over seeds depends on."""
TASK_PATHS = ("train_data", "winobias")
"""Settings of tasks that name a file or folder."""
CORRELATE = "correlate"
"""The kind that comes last: it reads tables of other analyses."""


def plan_scores(plan: PlanBuilder) -> None:
    """Add the words, the scores of each model, and one tensor of every group; groups NAME/GROUP."""
    for name, table in plan.study.scores.items():
        settings = _check_scores(plan, ("scores", name), table)
        for group in plan.named_once(table.of, ("scores", name, "of")):
            full = f"{name}/{group.name}"
            words = {}
            if settings.stored["words"] == FULL:
                words = {"words": plan.add("vocabulary", {}, inputs=group.inputs, label=f"words of {full}")}
            scores = [
                plan.add(
                    "score",
                    settings.cell_settings,
                    inputs={"vectors": member.key, **words},
                    paths=settings.paths,
                    label=f"score {full} {member.label.removeprefix(group.name)}".replace(" /", " ").rstrip(),
                )
                for member in group.members
            ]
            inputs = numbered("model", scores)
            tensor = plan.add("tensor", {"models": group.labels}, inputs=inputs, label=f"tensor {full}")
            plan.scores[full] = replace(group, name=full, tensor=tensor, scored=group.name)


def _check_scores(plan: PlanBuilder, path: tuple[str, ...], table: ScoresTable) -> CheckedSettings:
    from biasgauge.scores import AS_PUBLISHED

    measures = [table.measures] if isinstance(table.measures, str) else list(table.measures)
    values = {"pairs": table.pairs, "words": table.words, "measures": measures, **table.settings}
    checks = {
        "pairs": check_pairs,
        "words": lambda value: "" if value == FULL else check_words(value),
        "pool": check_words,
    }
    known = parameters("biasgauge.scores:score", 1)
    settings = plan.checked(path, values, known, "scores", checks=checks, table_keys=["of"])
    rule = table.settings.get("as_published")
    if rule is not None and rule not in AS_PUBLISHED:
        near = did_you_mean(str(rule), AS_PUBLISHED)
        plan.problem((*path, "as_published"), f"'as_published' must be one of {', '.join(AS_PUBLISHED)}{near}")
    with plan.noting((*path, "measures")):
        for measure in measures:
            registry.get("measure", measure)
    return settings


def plan_tasks(plan: PlanBuilder) -> None:
    """Add cells for each model and seed, for the seeds together, and for the models together; results NAME/GROUP."""
    for name, table in plan.study.tasks.items():
        path = ("tasks", name)
        settings = _check_task(plan, path, table)
        data = plan.located(table.data, (*path, "data"), "file or folder")
        if len(data) > 1:
            plan.problem((*path, "data"), f"{table.data!r} means several files, seen from {plan.study.folder}")
        groups = plan.named_once(table.of, (*path, "of"))
        if settings is None or len(data) != 1:
            continue
        plan.tasks[name] = []
        for group in groups:
            cells = [_task_cells(plan, name, table, settings, data[0], member) for member in group.members]
            plan.tasks[name].append((group, cells))
            plan.gathered(name, group, cells, section="tasks", kind=table.task)


def _check_task(plan: PlanBuilder, path: tuple[str, ...], table: TaskTable) -> CheckedSettings | None:
    tasks = registry.names("task")
    if table.task not in tasks:
        plan.unknown((*path, "task"), f"there is no task {table.task!r}", table.task, tasks)
        return None
    known = {name: Setting(name, None, "object") for name in sorted(registry.get("task", table.task).settings)}
    summary = parameters("biasgauge.applications:extrinsic", 3)
    known |= {name: setting for name, setting in summary.items() if name in SUMMARY}
    checks = {"group_words": _group_words_checksum}
    owner = f"the task {table.task!r}"
    return plan.checked((*path, "settings"), table.settings, known, owner, checks=checks, paths=TASK_PATHS)


def _group_words_checksum(value: object) -> str:
    from biasgauge.applications.classification import group_words

    sets = group_words(group_sets(value))
    return address_sha256({"groups": [[name, sorted(words)] for name, words in sets.items()]})  # in their order


def _task_cells(
    plan: PlanBuilder, name: str, table: TaskTable, settings: CheckedSettings, data: Path, model: Member
) -> str:
    """Add the cells of one model: one for each seed, and the summary, whose key is returned."""
    seeds = seed_list(table.seeds, plan.study.about.seed)
    task_settings = {name: value for name, value in settings.stored.items() if name not in SUMMARY}
    summary = {name: settings.stored[name] for name in SUMMARY if name in settings.stored}
    content = {"task": table.task, **settings.cell_settings, "settings": task_settings}
    vectors, paths, label = {"vectors": model.key}, {**settings.paths, "data": data}, f"{name}/{model.label}"
    trained = [
        plan.add("task", {**content, "seed": seed}, inputs=vectors, paths=paths, label=f"train {label} seed{seed}")
        for seed in seeds
    ]
    return plan.add(
        "task-summary",
        {**content, "seeds": seeds, "model": model.label, "summary": summary},
        inputs=vectors | numbered("seed", trained),
        paths=paths,
        label=label,
    )


class AnalysisSubject(NamedTuple):
    """One result of an analysis: name of what it is of, inputs of its cell, and settings beside those of the kind."""

    name: str
    inputs: dict[str, str]
    settings: JsonMapping = MappingProxyType({})


def plan_analyses(plan: PlanBuilder) -> None:
    """Add cells and results of every analysis."""
    kinds = analyses()
    for name, table in _in_order(plan):
        path = ("analyses", name)
        if table.kind not in kinds:
            plan.unknown((*path, "kind"), f"there is no kind of analysis {table.kind!r}", table.kind, kinds)
            continue
        kind, step = kinds[table.kind]
        if table.before is not None and kind.needs != "change":
            plan.problem((*path, "before"), f"the kind {kind.name!r} does not compare; 'before' is not for it")
        if not table.of and kind.needs not in {"table", "files"}:
            plan.problem((*path, "of"), f"{name!r} needs 'of': the names of what it is made of")
            continue
        before = len(plan.problems)
        settings = plan.checked(
            (*path, "settings"),
            table.settings,
            kind.settings,
            f"the kind {kind.name!r}",
            checks=kind.checks,
            required=kind.required,
            trial=kind.trial,
            paths=kind.paths,
        )
        settings.lexicons.update(kind.implicit_checksum)
        analysis = AnalysisPlanner(plan, name, table, kind, step, settings)
        if kind.needs in {"model", "change"}:
            analysis.plan_each_model()
        elif kind.needs != "planted" or len(plan.problems) == before:  # the settings of a calibration make its cells
            analysis.plan_subjects()


def _in_order(plan: PlanBuilder) -> list[tuple[str, AnalysisTable]]:
    """Analyses, each after those that it is made of; tables of points are correlated last."""
    tables = dict(sorted(plan.study.analyses.items(), key=lambda item: item[1].kind == CORRELATE))
    sorter = TopologicalSorter(
        {name: [other for other in table.of if other in tables] for name, table in tables.items()}
    )
    try:
        return [(name, tables[name]) for name in sorter.static_order()]
    except CycleError as problem:
        *_, cycle = problem.args
        plan.problem(("analyses", cycle[0], "of"), f"analyses are made of each other: {' of '.join(cycle)}")
        return []


@dataclass
class AnalysisPlanner:
    """Cells of one analysis, whose settings are checked."""

    plan: PlanBuilder
    name: str
    table: AnalysisTable
    kind: Kind
    step: Step
    settings: CheckedSettings

    def problem(self, sentence: str, key: str = "of") -> None:
        """Note that something is wrong with one of its keys."""
        self.plan.problem(("analyses", self.name, key), sentence)

    def groups(self, *, scores: bool = False) -> list[PlannedGroup]:
        """Groups of models, or of scores, that it is made of."""
        return self.plan.named_once(self.table.of, ("analyses", self.name, "of"), scores=scores)

    def add(self, subject: AnalysisSubject) -> str:
        """Add the cell of a subject."""
        settings = {"kind": self.kind.name, **self.settings.cell_settings, **subject.settings}
        label = f"{self.name}/{subject.name}".rstrip("/")
        return self.plan.add(self.step.name, settings, inputs=subject.inputs, paths=self.settings.paths, label=label)

    def plan_each_model(self) -> None:
        """Add a cell for each model, alone or beside what it was before, and one result of those of a group."""
        compares = self.kind.needs == "change"
        named = self._named_before() if compares and self.table.before else []
        if compares and self.table.before and len(named) != 1:
            return
        for group in self.groups():
            earlier = named[0].members if named else [member.before for member in group.members]
            if compares and len(earlier) != len(group.members):
                self.problem(
                    f"{group.name!r} has {len(group.members)} models, and {named[0].name!r} has {len(earlier)}"
                )
                continue
            if compares and None in earlier:
                self.problem(f"{group.name!r} is no mitigation; say what was there before with 'before'")
                continue
            cells = []
            for member, before in zip(group.members, earlier, strict=True):
                inputs, settings = {"vectors": member.key}, {"model": member.label}
                if compares and before is not None:
                    inputs = {"before": before.key, "after": member.key}
                    settings = {"before": before.label, "after": member.label}
                cells.append(self.add(AnalysisSubject(member.label, inputs, settings)))
            self.plan.gathered(self.name, group, cells, section="analyses", kind=self.kind.name)

    def _named_before(self) -> list[PlannedGroup]:
        """The groups that 'before' names; there must be one."""
        groups = self.plan.named_once([self.table.before or ""], ("analyses", self.name, "before"))
        if len(groups) > 1:
            listed = ", ".join(group.name for group in groups)
            self.problem(f"'before' must name one group; {self.table.before!r} means {listed}", "before")
        return groups

    def plan_subjects(self) -> None:
        """Add the cell and the result of each subject."""
        subjects = {
            "scores": self._scores,
            "models": self._models,
            "models and text": self._models,
            "groups": self._compared_groups,
            "sources": self._sources,
            "points": self._task_points,
            "table": self._points_tables,
            "corpus": self._corpora,
            "planted": self._corpora,
            "files": self._outcomes,
        }
        for subject in subjects[self.kind.needs]():
            key, name = self.add(subject), f"{self.name}/{subject.name}".rstrip("/")
            self.plan.result(name, key, section="analyses", kind=self.kind.name, subject=subject.name)
            if self.kind.needs == "points":
                self.plan.points[self.name] = key
            if self.kind.needs == "files":
                self.plan.outcomes[self.name] = key

    def _scores(self) -> Iterator[AnalysisSubject]:
        groups = self.groups(scores=True)
        several_tables = len({group.name.split("/")[0] for group in groups}) > 1
        for group in groups:
            yield AnalysisSubject(group.name if several_tables else group.scored, {"scores": group.tensor})

    def _models(self) -> Iterator[AnalysisSubject]:
        for group in self.groups():
            if len(group.members) < self.kind.fewest:
                least = f"the kind {self.kind.name!r} needs at least {self.kind.fewest} models in a group"
                self.problem(f"{least}; {group.name!r} has {len(group.members)} (more seeds make more)")
                continue
            has_text = self.kind.needs == "models and text" and group.corpus_key is not None
            corpus = {"corpus": group.corpus_key or ""} if has_text else {}
            yield AnalysisSubject(group.name, group.inputs | corpus, {"models": group.labels})

    def _compared_groups(self) -> Iterator[AnalysisSubject]:
        """All groups together; where several references each mean several groups, those of each reference."""
        named = self.plan.named(self.table.of, ("analyses", self.name, "of"))
        if len(named) < 2 or not all(len(groups) > 1 for groups in named.values()):
            named = {"": list({group.name: group for groups in named.values() for group in groups}.values())}
        for reference, groups in named.items():
            if len(groups) < self.kind.fewest:
                least = f"the kind {self.kind.name!r} compares at least {self.kind.fewest} groups of models"
                self.problem(f"{least}; {', '.join(self.table.of)} means {len(groups)}")
                continue
            names = _distinct_names([group.name for group in groups])
            described = [{"name": name, "models": group.labels} for name, group in zip(names, groups, strict=True)]
            yield AnalysisSubject(reference, _members_of(groups), {"groups": described})

    def _sources(self) -> Iterator[AnalysisSubject]:
        groups = self.groups(scores=True)
        if untrained := next((group for group in groups if group.corpus_key is None), None):
            self.problem(f"{untrained.name!r} was not trained in this study, so its corpus is not known")
        elif groups:
            scores = numbered("scores", (group.tensor for group in groups))
            corpora = numbered("corpus", (group.corpus_key or "" for group in groups))
            sources = [
                {"algorithm": group.algorithm, "corpus": group.corpus, "models": group.labels} for group in groups
            ]
            yield AnalysisSubject("", scores | corpora | _members_of(groups), {"sources": sources})

    def _task_points(self) -> Iterator[AnalysisSubject]:
        plan, models, tasks, versions = self.plan, [], [], []
        for reference in dict.fromkeys(self.table.of):
            plan.undeclared(("analyses", self.name, "of"), f"there is no {reference!r} in tasks", reference, "tasks")
            for group, cells in plan.tasks.get(reference, ()):
                models += [member.key for member in group.members]
                tasks += cells
                versions += [{**group.version, "name": label} for label in group.labels]
        if versions:
            yield AnalysisSubject("", numbered("model", models) | numbered("task", tasks), {"versions": versions})

    def _points_tables(self) -> Iterator[AnalysisSubject]:
        """A file of points, or tables of analyses of this study."""
        plan = self.plan
        if ("points" in self.table.settings) == bool(self.table.of):
            needed = f"{self.name!r} needs either 'of', an analysis of kind \"points\", or 'points', a file"
            plan.problem(("analyses", self.name), needed)
            return
        if not self.table.of:
            yield AnalysisSubject("", {})
        tables = [name for name, table in plan.study.analyses.items() if table.kind == "points"]
        for reference in dict.fromkeys(self.table.of):
            if reference in plan.points:
                yield AnalysisSubject(reference, {"points": plan.points[reference]})
            elif reference not in tables and ("analyses", reference) not in plan.study.broken:
                sentence = f'there is no analysis {reference!r} of kind "points"'
                plan.unknown(("analyses", self.name, "of"), sentence, reference, tables)

    def _outcomes(self) -> Iterator[AnalysisSubject]:
        """Files alone, or outcomes of other analyses of files."""
        plan, names = self.plan, list(dict.fromkeys(self.table.of))
        for name in names:
            if name not in plan.outcomes and ("analyses", name) not in plan.study.broken:
                sentence = f"there is no analysis of files {name!r}"
                plan.unknown(("analyses", self.name, "of"), sentence, name, plan.outcomes)
                return
        yield AnalysisSubject("", numbered("outcome", (plan.outcomes[name] for name in names)), {"outcomes": names})

    def _corpora(self) -> Iterator[AnalysisSubject]:
        for reference in dict.fromkeys(self.table.of):
            path = ("analyses", self.name, "of")
            if reference not in self.plan.corpora:
                self.plan.undeclared(path, f"there is no {reference!r} in corpora", reference, "corpora")
                continue
            corpus = self.plan.corpora[reference].key
            if self.kind.needs == "corpus":
                yield AnalysisSubject(reference, {"corpus": corpus})
            elif (subject := self._calibration(reference, corpus)) is not None:
                yield subject

    def _calibration(self, reference: str, corpus: str) -> AnalysisSubject | None:
        """Add all cells of a calibration but the last, which is that of the subject.

        None, with a problem noted, where its recipe is wrong. Texts, models and scores have addresses of their own:
        more random seeds, more planted texts or other tests find them again.
        """
        from biasgauge.analyses.calibrate import registered_names

        plan, settings, name = self.plan, self.settings, f"{self.name}/{reference}"
        values = {key: setting.default for key, setting in self.kind.settings.items()}
        values |= arguments(settings.stored, self.kind.settings)
        recipe = {"algorithm": values["recipe"]} if isinstance(values["recipe"], str) else dict(values["recipe"])
        path = ("analyses", self.name, "settings", "recipe")
        training = check_recipe(plan, path, recipe.pop("algorithm", "sgns"), recipe)
        if training is None:
            return None
        word_settings = {
            "settings": {key: value for key, value in settings.stored.items() if key in DECIDE_WORDS},
            "lexicons": {key: value for key, value in settings.lexicons.items() if key in (*DECIDE_WORDS, "unasked")},
        }
        plan_cell = plan.add(
            "calibration-plan", word_settings, inputs={"corpus": corpus}, paths=settings.paths, label=f"plan {name}"
        )
        registered: JsonObject = {
            "measures": registered_names("measure", values["measures"]),
            "tests": registered_names("association_test", values["tests"]),
        }

        def plant(label: str, number: int, *, shuffled: bool) -> str:
            inputs = {"plan": plan_cell, "corpus": corpus}
            return plan.add("plant", {"draw": number, "shuffled": shuffled}, inputs=inputs, label=f"plant {label}")

        def train(text: str, label: str, draw: dict[str, int]) -> tuple[str, str]:
            """Keys of a model of a text, and of its scores."""
            vectors = plan.add("train", {**training, **draw}, inputs={"corpus": text}, label=f"train {label}")
            inputs = {"plan": plan_cell, "vectors": vectors}
            measures = {"measures": registered["measures"]}
            return vectors, plan.add("calibration-scores", measures, inputs=inputs, label=f"score {label}")

        first = values["random_state"]
        draws = model_draws(range(first, first + values["seeds"]), values["bootstrap"], first)
        inputs = {"plan": plan_cell}
        models: list[dict[str, str]] = []
        for number in range(values["plantings"]):
            label = f"{name}/text{number}"
            text = inputs[f"text{number}"] = plant(label, number, shuffled=False)
            models.append({})
            for run, (end, draw) in enumerate(draws):
                models[-1][f"vectors{run}"], inputs[f"scores{number}-{run}"] = train(text, f"{label}-{end}", draw)
        for number in range(values["shuffled"]):
            label = f"{name}/shuffled{number}"
            _, inputs[f"shuffled{number}"] = train(plant(label, number, shuffled=True), label, {"seed": first})
        verdicts = [
            plan.add(
                "calibration-verdicts",
                {"kind": self.kind.name, **settings.cell_settings, **registered, "draw": number},
                inputs={**inputs, **vectors},
                paths=settings.paths,
                label=f"judge {name}/text{number}",
            )
            for number, vectors in enumerate(models if values["verdicts"] else ())
        ]
        return AnalysisSubject(reference, inputs | numbered("verdicts", verdicts), registered)


def _members_of(groups: Sequence[PlannedGroup]) -> dict[str, str]:
    """The models of several groups as inputs of a cell, numbered by group and within it."""
    return {
        f"model{number}-{index}": member.key
        for number, group in enumerate(groups)
        for index, member in enumerate(group.members)
    }


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Names of groups without what all of their paths have: "first" and "second" for "sgns/first" and "sgns/second"."""
    paths = [name.split("/") for name in names]
    if len({len(path) for path in paths}) > 1:
        return list(names)
    varying = [index for index in range(len(paths[0])) if len({path[index] for path in paths}) > 1]
    return ["/".join(path[index] for index in varying) for path in paths] if varying else list(names)
