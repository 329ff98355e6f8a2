"""The Model Context Protocol: tools and resources for assistants, over standard input and output or HTTP."""
