"""`biasgauge encode`: words in sentences through a transformer, to files of vectors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.inputs import check_models, check_nothing
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import progress
from biasgauge.cli.views import typed_layers, typed_pooling, typed_templates
from biasgauge.cli.words import typed_field, typed_words
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.cli.options import Options

EXAMPLES = """\
MODEL is a folder with config.json, model.safetensors and tokenizer.json (or of
sentence-transformers), or a GGUF file. Nothing is fetched from a hub, no code
of a model is run, no pickle is read. Every view (layer x pooling x template or
context) becomes one file of vectors; views:DIR stands for all of them wherever
vectors are asked for.

Examples:
  biasgauge encode minilm --words weat7 --out views
  biasgauge encode minilm --words weat7 --words he,she --pooling mean,cls
  biasgauge encode minilm --words weat7 --templates "This is {}." --layers 0,6
  biasgauge encode minilm --words weat7 --corpus wiki.txt --draws 20
  biasgauge score views:views --pairs du2021 --words weat7 --out scores
  biasgauge audit --encoder minilm
"""


def words(typed: Sequence[str]) -> Any:  # noqa: ANN401 - whatever stands for words
    """One lexicon by its name; of several, all their words."""
    from biasgauge.lexicons import words_of

    read = [typed_words(text) for text in typed]
    return read[0] if len(read) == 1 else [word for part in read for word in words_of(part).words]


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Encode; the libraries below are told that there is no hub."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from biasgauge.vectors.encoders import encode_to_folder

    with progress(options, "encoding") as report:
        result = encode_to_folder(random_state=options.seed, progress=report, **arguments)
    return Outcome(result, written={"views": Path(result.folder)})


app = command(
    "vectors.encoders:encode_to_folder",
    name="encode",
    arguments="model",
    options="words out templates corpus draws layers pooling name device layout field documents",
    examples=EXAMPLES,
    changes={
        "model": Option("folder of a model, or a GGUF file", type=str, check=check_models),
        "name": Option(check=check_nothing),
        "words": Option(
            "a lexicon, NAME:SET, words separated by commas, or a file with one word per line; repeat for several",
            type=tuple[str, ...],
            read=words,
        ),
        "out": Option("folder for the views", type=Path, default=Path("biasgauge-views")),
        "templates": Option(
            "a sentence with {}, a set (any, bare, noun, name, adjective, verb), or your own TOML file; repeat for "
            "several; any by default",
            type=tuple[str, ...],
            default=(),
            read=typed_templates,
        ),
        "corpus": Option("a text to draw natural contexts from, in the place of templates", type=Path | None),
        "layers": Option("all, or numbers separated by commas", type=str, default="all", read=typed_layers),
        "pooling": Option(
            "mean, first, last, sentence, cls, separated by commas, or all",
            type=str,
            default="mean",
            read=typed_pooling,
        ),
        "layout": Option(
            "of the text: lines, paragraphs, wikitext, tsv, csv, jsonl; by the file's ending if not given"
        ),
        "documents": Option("in plain lines, what is a document", type=Literal["line", "blank-line", "file"]),
        "field": Option("column or field that holds the text", type=str | None, default=None, read=typed_field),
    },
    call=run,
    saves=False,
    outputs=(Output("out", "folder", ("views.json", "*.safetensors")),),
)
