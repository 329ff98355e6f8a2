"""Markdown notes as plain text: CommonMark, Obsidian, Pandoc and Docusaurus syntax, and links between notes."""
