"""One reader per data set."""
