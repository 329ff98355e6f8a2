"""The interactive prompt of ``wikigr ask``."""
