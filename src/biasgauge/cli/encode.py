"""`biasgauge encode`: words in sentences through a transformer, to files of vectors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from biasgauge import lexicons
from biasgauge.cli.command import WRITE, Outcome, WriteOptions, command
from biasgauge.cli.corpus_bias import Documents
from biasgauge.cli.files import Output, check_models, check_nothing
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_field, typed_layers, typed_pooling, typed_templates, typed_words
from biasgauge.vectors import encoders

EXAMPLES = """\
MODEL is a folder with config.json, model.safetensors and tokenizer.json (or of
sentence-transformers), or a GGUF file. Nothing is fetched from a hub, no code
of a model is run, no pickle is read. Every view (layer x pooling x template or
context) becomes one file of vectors; views:DIR stands for all of them wherever
vectors are asked for.

Examples:
  biasgauge encode minilm --words weat7 --words du2021 --out views
  biasgauge encode minilm --words weat7 --words he,she --pooling mean,cls
  biasgauge encode minilm --words weat7 --templates "This is {}." --layers 0,6
  biasgauge encode minilm --words weat7 --corpus wiki.txt --draws 20
  biasgauge score views:views --pairs du2021 --words weat7 --out scores
  biasgauge audit --encoder minilm
"""


@command(
    examples=EXAMPLES,
    checks={"model": check_models, "name": check_nothing},
    outputs=(Output("out", "folder", ("views.json", "*.safetensors")),),
)
def encode(
    model: str,
    /,
    *,
    words: tuple[str, ...],
    out: Path = Path("biasgauge-views"),
    templates: tuple[str, ...] = (),
    corpus: Path | None = None,
    draws: int = 10,
    layers: str = "all",
    pooling: str = "mean",
    name: Rare[str | None] = None,
    device: str = "cpu",
    layout: Rare[str] = "auto",
    field: str | None = None,
    documents: Documents = "line",
    options: WriteOptions = WRITE,
) -> Outcome:
    """Encode words in sentences with a transformer: views by layer, pooling and template.

    Args:
        model: folder of a model, or a GGUF file
        words: a lexicon, NAME:SET, words separated by commas, or a file with one word per line; repeat for several
        out: folder for the views
        templates: a sentence with {}, a set (any, bare, noun, name, adjective, verb), or your own TOML file; repeat for
            several; any by default
        corpus: a text to draw natural contexts from, in the place of templates
        draws: contexts of each word
        layers: all, or numbers separated by commas
        pooling: mean, first, last, sentence, cls, separated by commas, or all
        name: what tables call the model
        device: cpu, or cuda
        layout: of the text: lines, paragraphs, wikitext, tsv, csv, jsonl; by the file's ending if not given
        field: column or field that holds the text
        documents: in plain lines, what is a document
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with progress(options, "encoding") as report:
        result = encoders.encode_to_folder(
            model,
            _read_words(words),
            out,
            typed_templates(templates),
            corpus=corpus,
            draws=draws,
            layout=layout,
            field=typed_field(field),
            documents=documents,
            layers=typed_layers(layers),
            pooling=typed_pooling(pooling),
            name=name,
            device=device,
            random_state=options.seed,
            progress=report,
        )
    return Outcome(result, written={"views": Path(result.folder)})


def _read_words(typed: tuple[str, ...]) -> Any:
    """Read one lexicon by its name; of several, all their words."""
    lists = [typed_words(text) for text in typed]
    return lists[0] if len(lists) == 1 else [word for words in lists for word in lexicons.words_of(words).words]
