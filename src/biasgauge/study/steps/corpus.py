"""A text to tokens: `read_corpus`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from biasgauge.corpora import read_corpus
from biasgauge.corpora.token_corpus import MANIFEST
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job

CORPUS = "corpus"
TEXT = "text.txt"


def run(job: Job) -> None:
    """Read the files in their order; what they are called does not count, so it is not recorded."""
    sources = [job.inputs["text"] / TEXT] if job.inputs else [job.files[f"text{n}"] for n in range(len(job.files))]
    read_corpus(sources, out=job.out / CORPUS, progress=job.progress, **job.settings["settings"])
    about = job.out / CORPUS / MANIFEST
    manifest = json.loads(about.read_bytes())
    if all(source.is_file() for source in sources):
        for number, file in enumerate(manifest["settings"]["files"]):
            file["name"] = f"text{number}"
    about.write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")


STEP = Step("corpus", 1, run, "text to tokens")
