"""The terminal front end of ``wikigr``: it parses, calls the library and prints; it holds no retrieval logic."""
