"""Knowledge packs: build them from text, search them, and answer from them with citations that can be checked."""

__version__ = "0.1.0"
