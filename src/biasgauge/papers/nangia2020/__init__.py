"""Nangia et al. 2020: CrowS-Pairs."""
