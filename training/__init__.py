"""How the reader's adapter was trained: data, training, evaluation and export. See ``training/README.md``."""
