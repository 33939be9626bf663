"""Published numbers of Goldfarb-Tarrant et al. 2021, and what computes them."""
