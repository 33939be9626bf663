"""Properties of words that may decide how reliably their bias can be measured."""
