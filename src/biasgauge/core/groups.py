"""The kinds of things that can be added, as data: what each is called, its class, and where those that ship stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """One kind of thing that can be added.

    Attributes:
        says: what one of them is called in a sentence.
        kind: "module:Class" that each must be an instance of; several are separated by "|".
        home: the package whose modules hold those that ship, or the one module that does.
        attribute: under which a module holds them: one, or a tuple of several.
        by_module: each that ships bears the name of its module, alone or among others joined by "_" (ripa_unit is in
            `ripa`), so that finding one imports no other.
        classes: each is a subclass of `kind`, not an instance.
        file: each is a package of `home` that holds this file, which `made_by` reads, so that listing imports nothing.
        inside: "module:function" that gives what a registered thing holds, a loader for each name.
        reader: "module:function" that reads a thing from a name, a file, or the thing itself.
        made_from: another group, each thing of which makes one of this group too.
        made_by: "module:function" that makes it.
    """

    says: str
    kind: str
    home: str
    attribute: str
    by_module: bool = False
    classes: bool = False
    file: str = ""
    inside: str = ""
    reader: str = ""
    made_from: str = ""
    made_by: str = ""

    @property
    def article(self) -> str:
        """Indefinite article of the name: "a" or "an"."""
        return "an" if self.says[0] in "aeiou" else "a"


GROUPS = {
    "measure": Group("measure", "biasgauge.metrics.measure:Measure", "biasgauge.metrics", "MEASURE", by_module=True),
    "association_test": Group(
        "association test", "biasgauge.metrics.set_test:SetTest", "biasgauge.metrics", "TEST", by_module=True
    ),
    "mitigation": Group(
        "mitigation",
        "biasgauge.mitigation.mitigation:Mitigation",
        "biasgauge.mitigation.methods",
        "METHOD",
        classes=True,
    ),
    "vector_format": Group(
        "vector format",
        "biasgauge.vectors.formats.vector_format:VectorFormat",
        "biasgauge.vectors.formats",
        "FORMAT",
    ),
    "likelihood_measure": Group(
        "likelihood measure",
        "biasgauge.analyses.likelihood.models:LikelihoodMeasure",
        "biasgauge.analyses.likelihood.measures",
        "MEASURE",
    ),
    "encoder": Group("encoder", "biasgauge.vectors.encoders.encoding:Encoder", "biasgauge.vectors.encoders", "ENCODER"),
    "corpus_reader": Group(
        "corpus reader", "biasgauge.text.corpus_reader:CorpusReader", "biasgauge.text.readers", "READER"
    ),
    "task": Group(
        "task",
        "biasgauge.applications.task:Task",
        "biasgauge.applications.shipped_tasks",
        "TASK",
        made_from="data_set",
        made_by="biasgauge.applications.classification.task:classification_task",
    ),
    "data_set": Group(
        "data set",
        "biasgauge.applications.classification.task:DataSet",
        "biasgauge.applications.classification.data_sets",
        "DATA_SET",
    ),
    "lexicon": Group(
        "lexicon",
        "pathlib:Path|types:ModuleType",
        "biasgauge.lexicons.by_name",
        "FOLDER",
        inside="biasgauge.lexicons.by_name:lexicons_in",
        reader="biasgauge.lexicons:lexicon",
    ),
    "word_source": Group(
        "word source",
        "biasgauge.lexicons.recipes.word_source:WordSource",
        "biasgauge.lexicons.recipes.sources",
        "SOURCE",
    ),
    "verdict_rule": Group(
        "verdict rule", "biasgauge.audits.verdict_rule:VerdictRule", "biasgauge.audits.rules", "RULE"
    ),
    "audit_part": Group("audit part", "biasgauge.audits.part:AuditPart", "biasgauge.audits.parts", "PART"),
    "study_step": Group("study step", "biasgauge.study.step:Step", "biasgauge.study.steps", "STEP"),
    "paper": Group(
        "paper",
        "biasgauge.papers.paper:Paper",
        "biasgauge.papers",
        "PAPER",
        file="paper.toml",
        made_by="biasgauge.papers.published:read_paper",
    ),
}
"""Every group, by the name that `names`, `get` and entry points ("biasgauge.NAME") use."""
