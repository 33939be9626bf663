"""Dobrzeniecka & Urbaniak 2023: single numbers hide uncertainty; a Bayesian model of distances instead."""
