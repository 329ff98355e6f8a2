"""HTML pages as plain text: content area, layout, tables, infoboxes and links."""
