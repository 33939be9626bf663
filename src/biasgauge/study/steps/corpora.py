"""Texts to tokens (`read_corpus`), texts without some of their stereotypical lines (`balance`), and what counts say."""

from __future__ import annotations

from biasgauge.core import to_plain
from biasgauge.io import manifest_text, read_record
from biasgauge.study.files import restored
from biasgauge.study.outcomes import CORPUS, analysis
from biasgauge.study.settings import TEST_OR_SETS, check_pairs, check_words
from biasgauge.study.step import Job, Kind, Step
from biasgauge.text import MANIFEST, read_corpus

TEXT = "text.txt"


def read(job: Job) -> None:
    """Read the files in their order; what they are called does not count, so it is not recorded."""
    sources = (
        [job.inputs["text"] / TEXT] if job.inputs else [job.files[f"text{number}"] for number in range(len(job.files))]
    )
    read_corpus(sources, out=job.out / CORPUS, progress=job.progress, **job.settings["settings"])
    path = job.out / CORPUS / MANIFEST
    manifest = read_record(path, again="run the study again")
    if all(source.is_file() for source in sources):
        for number, file in enumerate(manifest["settings"]["files"]):
            file["name"] = f"text{number}"
    path.write_text(manifest_text(manifest, indent=1), encoding="utf-8", newline="\n")


def write_balanced(job: Job) -> None:
    """Write the balanced text and what became of its lines."""
    from biasgauge.mitigation import balance

    settings = restored(dict(job.settings["settings"]), job.files)
    source = job.inputs["text"] / TEXT if job.inputs else job.files["text"]
    result = balance(source, settings.pop("lexicon"), out=job.out / TEXT, progress=job.progress, **settings)
    counts = {name: value for name, value in result.to_dict().items() if name not in {"path", "source", "settings"}}
    job.write_json("balance.json", to_plain({**counts, "warnings": result.warnings}))


_CHECKS = {**TEST_OR_SETS, "words": check_words, "pairs": check_pairs}
_READING = ("layout", "tokenizer", "field", "documents")
CORPUS_BIAS = Kind(
    "corpus-bias",
    needs="corpus",
    functions=("biasgauge.analyses.corpus_bias:corpus_bias",),
    checks=_CHECKS,
    hidden=_READING,
    tables={"sets.csv": "sets_to_frame"},
    about="Log odds ratio of words near one group against near the other, from counts: 0 is as likely near both.",
    shown=("sets", "words"),
    result="biasgauge.analyses.corpus_bias:CorpusBias",
)
INFLUENCE = Kind(
    "influence",
    needs="corpus",
    functions=("biasgauge.analyses.calibrate:influence",),
    checks=_CHECKS,
    hidden=_READING,
    about="How much a log odds ratio changes without each document, counted exactly.",
    shown=("removals", "documents"),
)
STEP = (
    Step("corpus", 1, read, "text to tokens"),
    Step("balance", 1, write_balanced, "a text without some of its stereotypical lines"),
    analysis(CORPUS_BIAS, "what a text itself says about words"),
    analysis(INFLUENCE, "which documents of a text carry an association"),
)
