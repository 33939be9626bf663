"""Published numbers of Du, Fang & Nguyen 2021, and what computes them."""
