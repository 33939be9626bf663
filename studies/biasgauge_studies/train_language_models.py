"""Replicates of small language models: masked (ModernBERT) and causal (Llama), many seeds side by side on one GPU.

    python -m biasgauge_studies.train_language_models prepare TEXT… --out PREPARED [--vocabulary 8000]
    python -m biasgauge_studies.train_language_models train PREPARED --out MODELS --kind masked --seeds 10 --steps 6000

TEXT: plain text, or the reviews' table (label, tab, text), compressed or not. `prepare` makes a word-piece tokenizer of
the text and writes the text as token ids; `train` writes a folder for each seed in the layout of Hugging Face
(config.json, model.safetensors, tokenizer.json), which every command of biasgauge takes, and trained.json with losses.
Seeds differ in their start, in the order of the text and in what is masked. With --seconds the number of steps is cut
to what fits. On two CPU cores `--seeds 2 --steps 40 --width 64 --batch 8` takes a minute.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from biasgauge_studies.stacked_transformers import Stack, config_of

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
START, END, MASK = 2, 3, 4
MASKED_SHARE = 0.2
WARM_UP = 0.05
CLIP = 1.0
PROBE = 20
"""Steps that are timed before the number of steps is settled."""


def main() -> None:
    """Prepare text, or train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    first = parts.add_parser("prepare")
    first.set_defaults(run=prepare)
    first.add_argument("text", type=Path, nargs="+")
    first.add_argument("--out", type=Path, required=True)
    first.add_argument("--vocabulary", type=int, default=8_000)
    first.add_argument("--words", type=int, default=16_000_000, help="about how many words to keep, evenly by file")
    second = parts.add_parser("train")
    second.set_defaults(run=train)
    second.add_argument("prepared", type=Path)
    second.add_argument("--out", type=Path, required=True)
    second.add_argument("--kind", choices=["masked", "causal"], required=True)
    second.add_argument("--seeds", type=int, default=10)
    second.add_argument("--steps", type=int, default=6_000)
    second.add_argument("--seconds", type=float, default=0.0, help="cut the steps to what fits; 0: do not")
    for name, value in (("width", 256), ("layers", 4), ("heads", 4), ("window", 128), ("batch", 48)):
        second.add_argument(f"--{name}", type=int, default=value)
    second.add_argument("--rate", type=float, default=1e-3)
    second.add_argument("--compile", action="store_true", help="fuse the operations of a step; a GPU is twice as fast")
    second.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    asked = parser.parse_args()
    asked.run(asked)


def documents(path: Path, words: int) -> Iterator[str]:
    """Texts of a file: lines of a table, or articles between blank lines; until there are so many words."""
    kept = 0
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        article: list[str] = []
        for line in lines:
            text = line.rstrip("\n")
            label, tab, review = text.partition("\t")
            done = [review] if tab and len(label) < 20 else []
            if not done and text.strip():
                article.append(text)
            elif not done and article:
                done, article = [" ".join(article)], []
            for whole in done:
                kept += whole.count(" ") + 1
                yield whole
            if kept >= words:
                return
        if article:
            yield " ".join(article)


def tokenizer_of(backend: Any, kind: str) -> Any:  # noqa: ANN401 - of tokenizers and transformers
    """The tokenizer of a kind of model: a masked one reads [CLS] … [SEP], a causal one starts with [CLS]."""
    from tokenizers import Tokenizer, processors
    from transformers import PreTrainedTokenizerFast

    own = Tokenizer.from_str(backend.to_str())
    named = {"pad_token": SPECIAL[0], "unk_token": SPECIAL[1]}
    if kind == "masked":
        own.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", START), ("[SEP]", END)]
        )
        named |= {"cls_token": SPECIAL[2], "sep_token": SPECIAL[3], "mask_token": SPECIAL[4]}
    else:
        named |= {"bos_token": SPECIAL[2], "eos_token": SPECIAL[3]}
    return PreTrainedTokenizerFast(tokenizer_object=own, model_max_length=128, **named)


def prepare(asked: argparse.Namespace) -> None:
    """Make the tokenizer and write the text as token ids."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    each = asked.words // len(asked.text)
    texts = [text for path in asked.text for text in documents(path, each)]
    backend = Tokenizer(models.WordPiece(unk_token=SPECIAL[1]))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=asked.vocabulary, special_tokens=list(SPECIAL), show_progress=False)
    backend.train_from_iterator(texts[:: max(1, len(texts) // 20_000)], trainer)
    parts = []
    for start in range(0, len(texts), 2_000):
        batch = backend.encode_batch(texts[start : start + 2_000], add_special_tokens=False)
        parts += [np.array([START, *encoded.ids, END], np.uint16) for encoded in batch]
    random = np.random.default_rng(0)
    ids = np.concatenate([parts[place] for place in random.permutation(len(parts))])
    asked.out.mkdir(parents=True, exist_ok=True)
    backend.save(str(asked.out / "tokenizer.json"))
    np.save(asked.out / "ids.npy", ids)
    print(f"{len(texts):,} documents, {len(ids):,} tokens, {backend.get_vocab_size():,} pieces")


def train(asked: argparse.Namespace) -> None:
    """Train all seeds side by side, and write their folders."""
    from tokenizers import Tokenizer

    backend = Tokenizer.from_file(str(asked.prepared / "tokenizer.json"))
    ids = torch.from_numpy(np.load(asked.prepared / "ids.npy").astype(np.int32)).to(asked.device)
    size = {name: getattr(asked, name) for name in ("width", "layers", "heads", "window")}
    config = config_of(asked.kind, backend.get_vocab_size(), size)
    seeds = list(range(asked.seeds))
    stack = Stack(asked.kind, config, seeds, asked.device)
    asked.loss = torch.compile(mean_losses, dynamic=False) if asked.compile else mean_losses
    count = sum(weight.numel() for weight in stack.parameters()) // len(seeds)
    losses, steps, spent = fit(stack, ids, asked)
    places = stack.save(asked.out, tokenizer_of(backend, asked.kind))
    about = {
        "kind": asked.kind, "parameters": count, "steps": steps, "batch": asked.batch, "window": asked.window,
        "rate": asked.rate, "tokens_seen": steps * asked.batch * asked.window, "seconds": round(spent, 1),
        "loss": losses,
        "models": [place.name for place in places],
    }  # fmt: skip
    (asked.out / f"{asked.kind}_trained.json").write_text(json.dumps(about, indent=1))
    print(json.dumps(about))


def fit(stack: Stack, ids: torch.Tensor, asked: argparse.Namespace) -> tuple[list[float], int, float]:
    """Losses at the end by seed (mean of the last tenth of steps), the number of steps, and seconds."""
    decayed = [weight for weight in stack.parameters() if weight.dim() == 3]
    plain = [weight for weight in stack.parameters() if weight.dim() < 3]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=asked.rate, betas=(0.9, 0.98), fused=asked.device != "cpu")
    randoms = [torch.Generator(asked.device).manual_seed(77 + seed) for seed in stack.seeds]
    steps, history, begun = asked.steps, [], time.monotonic()
    step = 0
    while step < steps:
        warm = min(1.0, (step + 1) / max(1, WARM_UP * steps))
        rate = asked.rate * warm * 0.5 * (1 + np.cos(np.pi * step / steps))
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = losses_of(stack, ids, asked, randoms)
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss.sum())
        clip(stack)
        optimizer.step()
        if step >= 0.9 * steps:
            history.append(loss.detach())
        step += 1
        if asked.seconds and step == PROBE:
            _wait(asked.device)
            warmed = time.monotonic()
        if asked.seconds and step == 2 * PROBE:
            _wait(asked.device)
            each = (time.monotonic() - warmed) / PROBE
            steps = max(3 * PROBE, min(steps, step + int((asked.seconds - (time.monotonic() - begun)) / each)))
    _wait(asked.device)
    means = torch.stack(history or [loss.detach()]).mean(dim=0)
    return [round(float(value), 4) for value in means], steps, time.monotonic() - begun


def losses_of(
    stack: Stack, ids: torch.Tensor, asked: argparse.Namespace, randoms: list[torch.Generator]
) -> torch.Tensor:
    """Mean loss of each seed on a batch of its own."""
    rows = asked.window + (stack.kind == "causal")
    places = torch.stack(
        [torch.randint(len(ids) - rows, (asked.batch,), generator=random, device=ids.device) for random in randoms]
    )
    batch = ids[places[..., None] + torch.arange(rows, device=ids.device)].long()
    if stack.kind == "causal":
        causal: torch.Tensor = asked.loss(stack, batch[..., :-1], batch[..., 1:], None)
        return causal
    shown, targets, chosen = masked(stack, batch, randoms)
    guessed: torch.Tensor = asked.loss(stack, shown, targets, chosen)
    return guessed


def mean_losses(stack: Stack, shown: torch.Tensor, targets: torch.Tensor, chosen: torch.Tensor | None) -> torch.Tensor:
    """Mean loss of each seed over the tokens to be predicted: those chosen, or all."""
    device = shown.device.type
    with torch.autocast(device, torch.bfloat16, enabled=device != "cpu"):
        states = stack.hidden(shown)
        if chosen is not None:
            states = states.gather(2, chosen[..., None].expand(*chosen.shape, states.shape[-1]))
        logits = stack.logits(states.flatten(1, 2))
    each = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), reduction="none")
    return each.view(len(stack.seeds), -1).mean(dim=1)


def masked(
    stack: Stack, batch: torch.Tensor, randoms: list[torch.Generator]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What the model is shown, the tokens to be predicted, and where they stand: 8 of 10 hidden, 1 replaced, 1 left."""
    count = max(1, round(MASKED_SHARE * batch.shape[-1]))
    noise = torch.stack([torch.rand(batch.shape[1:], generator=random, device=batch.device) for random in randoms])
    chosen = noise.topk(count, dim=-1).indices
    targets = batch.gather(2, chosen)
    fate = torch.stack([torch.rand(chosen.shape[1:], generator=random, device=batch.device) for random in randoms])
    other = (noise.gather(2, chosen).frac() * 7_919_000).long() % (stack.config.vocab_size - len(SPECIAL)) + len(
        SPECIAL
    )
    shown = torch.where(fate < 0.8, MASK, torch.where(fate < 0.9, other, targets))
    return batch.scatter(2, chosen, shown), targets, chosen


def clip(stack: Stack) -> None:
    """Gradients of each seed to a norm of at most 1, each seed by itself."""
    grads = [weight.grad for weight in stack.parameters() if weight.grad is not None]
    squares = torch.stack([grad.flatten(1).pow(2).sum(dim=1) for grad in grads]).sum(dim=0)
    scale = (CLIP / (squares.sqrt() + 1e-6)).clamp(max=1.0)
    for grad in grads:
        grad.mul_(scale.view(-1, *(1,) * (grad.dim() - 1)))


def _wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
