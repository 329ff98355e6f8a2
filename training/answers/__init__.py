"""Fit the model that gives every possible answer the probability that it is right."""
