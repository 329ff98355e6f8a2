"""A bench of questions on real sources; README.md describes it, and ``python -m eval.real`` runs it."""
