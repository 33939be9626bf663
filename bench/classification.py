"""An epoch of Kim's classifier on frozen vectors: against a plain PyTorch loop.

    python bench/classification.py [--texts 25000] [--dimensions 300] [--threads 1] [--repeat 1]

Both train the same model (3, 4, 5 × 100, dropout, Adam, max-norm, batches of 64) on the same synthetic tweets: lengths
as in English hate-speech data (median 18 tokens), words by Zipf's law. The plain loop is what one writes first: a
`DataLoader` that shuffles and pads each batch, `nn.Embedding.from_pretrained`, one convolution layer for each width,
`max` over time. In one run, on the same threads, with the same optimizer. The last line holds both against each other:
the same loss from the same weights.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from timing import best
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from biasgauge.applications.classification.cnn import KimCnn, NumberedTexts, fixed_threads, train
from biasgauge.applications.classification.settings import CnnSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = 20_000
SETTINGS = CnnSettings(epochs=1, patience=None)


def problem(count: int, dimensions: int) -> tuple[list[list[str]], list[int], NDArray[np.float32]]:
    """Texts, labels and a table of vectors with a zero row at either end."""
    random = np.random.default_rng(0)
    lengths = np.clip(random.lognormal(2.9, 0.5, count).astype(int), 3, 70)
    chances = 1 / np.arange(1, WORDS + 1)
    drawn = random.choice(WORDS, lengths.sum(), p=chances / chances.sum()) + 1
    ends = np.cumsum(lengths)
    texts = [[f"w{word}" for word in drawn[end - size : end]] for end, size in zip(ends, lengths, strict=True)]
    table = random.standard_normal((WORDS + 2, dimensions), np.float32) * np.float32(0.3)
    table[[0, -1]] = 0
    return texts, random.integers(0, 2, count).tolist(), table


class PlainCnn(nn.Module):
    """The usual way to write it; row 0 pads."""

    def __init__(self, vectors: torch.Tensor, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(vectors)  # type: ignore[no-untyped-call]
        self.convolutions = nn.ModuleList(
            [nn.Conv1d(vectors.shape[1], SETTINGS.filters, width) for width in SETTINGS.widths]
        )
        self.dropout = nn.Dropout(SETTINGS.dropout)
        self.output = nn.Linear(len(SETTINGS.widths) * SETTINGS.filters, classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits."""
        vectors = self.embedding(tokens).transpose(1, 2)
        pooled = [functional.relu(layer(vectors)).max(dim=2).values for layer in self.convolutions]
        found: torch.Tensor = self.output(self.dropout(torch.cat(pooled, dim=1)))
        return found


def plain_epoch(texts: list[list[str]], labels: list[int], table: NDArray[np.float32]) -> None:
    numbers = {f"w{word}": word for word in range(1, WORDS + 1)}
    items = [
        (torch.tensor([numbers[word] for word in text] + [0] * max(0, 5 - len(text))), label)
        for text, label in zip(texts, labels, strict=True)
    ]

    def collate(batch: list[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        tokens, own = zip(*batch, strict=True)
        return pad_sequence(list(tokens), batch_first=True), torch.tensor(own)

    model = PlainCnn(torch.from_numpy(table), 2).train()
    optimizer = torch.optim.Adam([one for one in model.parameters() if one.requires_grad], lr=SETTINGS.learning_rate)
    for tokens, own in DataLoader(items, batch_size=SETTINGS.batch, shuffle=True, collate_fn=collate):  # type: ignore[arg-type]
        optimizer.zero_grad()
        functional.cross_entropy(model(tokens), own).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        with torch.no_grad():
            model.output.weight.copy_(torch.renorm(model.output.weight, 2, 0, 3.0))


def our_epoch(texts: list[list[str]], labels: list[int], table: NDArray[np.float32]) -> None:
    numbers = {f"w{word}": word for word in range(1, WORDS + 1)}
    numbered = NumberedTexts.of(texts, labels, numbers, least=5)
    few = NumberedTexts.of(texts[:64], labels[:64], numbers, least=5)
    train(numbered, few, table, 2, SETTINGS, seed=0)


def difference(texts: list[list[str]], labels: list[int], table: NDArray[np.float32]) -> float:
    """Loss of one batch of texts of one length, from the same weights, without dropout."""
    numbers = {f"w{word}": word for word in range(1, WORDS + 1)}
    places = [at for at, text in enumerate(texts) if len(text) == 18][:64]
    numbered = NumberedTexts.of([texts[at] for at in places], [labels[at] for at in places], numbers, least=5)
    tokens = torch.from_numpy(numbered.batch(np.arange(len(places))))
    ours = KimCnn(SETTINGS, torch.from_numpy(table), 2, torch.Generator().manual_seed(0)).eval()
    plain = PlainCnn(torch.from_numpy(table), 2).eval()
    with torch.no_grad():
        start = 0
        for number, layer in enumerate(plain.convolutions):
            width = SETTINGS.widths[number]
            bank = ours.weights[start : start + width * SETTINGS.filters].view(width, SETTINGS.filters, -1)
            layer.weight.copy_(bank.permute(1, 2, 0))  # type: ignore[operator]
            layer.bias.copy_(ours.bias[number * SETTINGS.filters : (number + 1) * SETTINGS.filters])  # type: ignore[operator]
            start += width * SETTINGS.filters
        plain.output.weight.copy_(ours.output)
        plain.output.bias.copy_(ours.output_bias)
        own = torch.from_numpy(numbered.labels)
        losses = [float(functional.cross_entropy(model(tokens), own)) for model in (ours, plain)]
    return abs(losses[0] - losses[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=25_000)
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1)
    asked = parser.parse_args()
    given = problem(asked.texts, asked.dimensions)
    with fixed_threads(asked.threads):
        ours = best(lambda: our_epoch(*given), asked.repeat)
        plain = best(lambda: plain_epoch(*given), asked.repeat)
        off = difference(*given)
    print(f"an epoch of Kim's CNN, {asked.texts:,} texts × {asked.dimensions}, {asked.threads} thread(s)")
    print(f"  biasgauge      {ours:7.2f} s")
    print(f"  plain PyTorch  {plain:7.2f} s   {plain / ours:5.2f} × biasgauge")
    print(f"  one batch, the same weights: losses differ by {off:.1e}")


if __name__ == "__main__":
    main()
