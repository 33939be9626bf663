"""Debiasing methods: one module a method (or family), each with a `METHOD` that the registry finds."""
