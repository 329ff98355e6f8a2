"""Readers of input formats: MediaWiki dumps, ZIM files, HTML and Markdown folders, JSON Lines."""
