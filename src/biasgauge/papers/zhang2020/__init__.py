"""Published numbers of Zhang, Sneyd & Stevenson 2020, and what computes them."""
