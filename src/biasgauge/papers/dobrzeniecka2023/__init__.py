"""Published numbers of Dobrzeniecka & Urbaniak, and what computes them."""
