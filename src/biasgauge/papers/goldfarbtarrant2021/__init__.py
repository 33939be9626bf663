"""Goldfarb-Tarrant et al. 2021: does WEAT say anything about an application?

The paper prints scatter plots and words; the points for English hate speech were released, so the words can be held
against them. What "moderate" stands for is our reading: an absolute r from .3 to .7
(Ratner 2009).
"""
