"""Layouts of text files: each module holds its `READER`, which the registry finds."""
