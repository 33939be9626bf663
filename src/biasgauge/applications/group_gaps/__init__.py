"""Differences in performance between groups of people."""
