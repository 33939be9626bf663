"""Published numbers of Badder Seeds (2022), and what computes them."""
