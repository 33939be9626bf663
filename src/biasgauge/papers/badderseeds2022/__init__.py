"""Badder Seeds 2022: are lists of seed words fit to measure bias? A reproduction of Antoniak & Mimno 2021."""
