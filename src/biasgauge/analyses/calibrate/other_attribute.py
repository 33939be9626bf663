"""Something else to plant, which a measure of the first thing must not see."""

from __future__ import annotations

SENTIMENT = (
    ("good", "bad"), ("best", "worst"), ("better", "worse"), ("success", "failure"), ("successful", "unsuccessful"),
    ("win", "lose"), ("won", "lost"), ("victory", "defeat"), ("love", "hate"), ("life", "death"), ("peace", "war"),
    ("friend", "enemy"), ("friends", "enemies"), ("happy", "sad"), ("positive", "negative"), ("strong", "weak"),
    ("rich", "poor"), ("right", "wrong"), ("safe", "dangerous"), ("healthy", "sick"), ("easy", "difficult"),
    ("gain", "loss"), ("gained", "lost"), ("support", "oppose"), ("supported", "opposed"), ("healthy", "ill"),
)  # fmt: skip
"""Pairs (pleasant, unpleasant) of words that are about as frequent."""
