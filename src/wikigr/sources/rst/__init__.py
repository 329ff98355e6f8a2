"""reStructuredText documents as plain text: the syntax of docutils, and the roles and directives of Sphinx."""
