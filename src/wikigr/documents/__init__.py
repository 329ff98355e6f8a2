"""The JSON documents that the terminal and the server print; `docs/reference/json.md` describes them."""
