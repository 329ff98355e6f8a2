"""MediaWiki wikitext as plain text: templates, tables, infoboxes and links."""
