"""Build knowledge packs from text, search them, and answer questions from them with verifiable citations."""

__version__ = "0.2.0"
