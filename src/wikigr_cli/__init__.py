"""The command line of ``wikigr``: it parses arguments, calls the library and prints. It holds no retrieval logic."""
