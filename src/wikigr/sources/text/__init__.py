"""Plain text files, and the underlined headings that they share with reStructuredText."""
