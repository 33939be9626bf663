"""Labelled texts of published data sets: one file a layout, each with a function that gives `TextData`."""
