"""Evaluations of the project itself: blessed results, and the bench of questions on real sources."""
