"""Packs that stay open for many clients: a JSON API, and the Model Context Protocol (extra ``serve``)."""
