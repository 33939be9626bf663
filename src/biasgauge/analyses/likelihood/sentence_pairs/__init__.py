"""Pairs of sentences, the user's own or those of CrowS-Pairs: which of the two does a model prefer?"""
