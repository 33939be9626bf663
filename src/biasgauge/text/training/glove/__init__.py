"""GloVe."""
