"""What a text itself says about words: log odds ratios from counts, and what vectors make of them."""
