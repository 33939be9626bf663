"""Guo & Caliskan 2021, CEAT: associations of words in random contexts."""
