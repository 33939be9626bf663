"""`biasgauge convert`: vectors of any format into another."""

from __future__ import annotations

from pathlib import Path

from biasgauge import vectors as embeddings
from biasgauge.cli.command import WRITE, Outcome, WriteOptions, command
from biasgauge.cli.files import Output
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_words
from biasgauge.lexicons import words_of

EXAMPLES = """\
The format of the input is found from its content, that of the output from its
ending: .safetensors, .bin, .txt, .vec, .npz, .npy, .parquet or .arrow, each
also with .gz. Nothing in the input is run, whatever it is.

Examples:
  biasgauge convert cc.en.300.bin english.safetensors
  biasgauge convert word2vec.model vectors.bin
  biasgauge convert sgns/1990-w.npy 1990.vec.gz
  biasgauge convert vectors.txt.gz vectors.parquet --limit 100000
  biasgauge convert vectors.npy vectors.bin --vocabulary words.txt
  biasgauge convert hub:minishlab/potion-base-8M v.safetensors --allow-download
"""


@command(examples=EXAMPLES, outputs=(Output("out"),))
def convert(
    vectors: Path,
    out: Path,
    /,
    *,
    words: str | None = None,
    limit: int | None = None,
    vocabulary: Path | None = None,
    allow_download: bool = False,
    options: WriteOptions = WRITE,
) -> Outcome:
    """Convert vectors from any format that biasgauge reads to any that it writes.

    Args:
        vectors: a vector file, a folder of static embeddings, or hub:NAME on the Hugging Face hub
        out: where to write; the ending says how
        words: take only these: separated by commas, a file, or a lexicon
        limit: take only the first rows
        vocabulary: the word list that belongs to a bare matrix
        allow_download: open a connection to the Hugging Face hub; nothing else opens one
    """
    chosen = None if words is None else words_of(typed_words(words)).words
    with progress(options, "converting") as report:
        result = embeddings.convert(
            vectors,
            out,
            words=chosen,
            limit=limit,
            vocabulary=vocabulary,
            allow_download=allow_download,
            progress=report,
        )
    return Outcome(result, written={"vectors": Path(result.path)})
