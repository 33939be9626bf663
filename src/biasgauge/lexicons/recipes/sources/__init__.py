"""Word sources that ship: `SOURCE` in a file of its own for each."""
