"""lms and ss of the paper's table of overall results, by set and model; the last three by definition.

Quoted from memory: the paper was not at hand. Rows of GPT-2 and BERT-base agree with the authors' scores.
"""

from __future__ import annotations

OVERALL: dict[str, tuple[float, float]] = {
    "dev.sentiment": (65.5, 60.2),
    "dev.bert-base": (85.8, 59.6),
    "dev.bert-large": (85.8, 59.7),
    "dev.roberta-base": (69.0, 49.9),
    "dev.roberta-large": (76.6, 56.0),
    "dev.xlnet-base": (67.3, 54.2),
    "dev.xlnet-large": (78.0, 54.4),
    "dev.gpt2": (83.7, 57.0),
    "dev.gpt2-medium": (87.1, 59.0),
    "dev.gpt2-large": (88.9, 61.9),
    "dev.ensemble": (90.7, 62.0),
    "test.sentiment": (65.1, 60.8),
    "test.bert-base": (85.4, 58.3),
    "test.bert-large": (85.8, 59.3),
    "test.roberta-base": (68.2, 50.5),
    "test.roberta-large": (75.8, 54.8),
    "test.xlnet-base": (67.7, 54.1),
    "test.xlnet-large": (78.2, 54.0),
    "test.gpt2": (83.6, 56.4),
    "test.gpt2-medium": (85.9, 58.2),
    "test.gpt2-large": (88.3, 60.1),
    "test.ensemble": (90.5, 62.5),
    "ideal": (100.0, 50.0),
    "stereotyped": (100.0, 100.0),
    "random": (50.0, 50.0),
}
