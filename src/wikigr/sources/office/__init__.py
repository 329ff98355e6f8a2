"""Read PDF, e-books, office files and notebooks with the libraries of the extra ``documents``."""
