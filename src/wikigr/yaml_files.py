"""Read the YAML of settings and profiles, within limits that the text of a stranger cannot exceed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from wikigr.files import describe_read_error, open_regular

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 50
_OPENING = (
    yaml.BlockMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.FlowSequenceStartToken,
)
_CLOSING = (yaml.BlockEndToken, yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)


class Document(NamedTuple):
    """The ``values`` of a document and the ``node`` that they were made of; both are ``None`` for an empty one."""

    values: Any
    node: Any


def read_yaml_file(path: Path) -> Document:
    """Return the document in a regular file; raises ``OSError``, and ``ValueError`` as ``read_yaml`` does."""
    with open_regular(path) as file:
        return read_yaml(file.read(MAX_BYTES + 1))


def read_yaml(data: bytes) -> Document:
    """Return the document in ``data``, which is UTF-8 and whose dates stay text.

    Raises ``ValueError``, whose message has no period, for a mistake (with its line and column), for aliases, which
    can stand for a document of any size, null characters, more than ``MAX_DEPTH`` levels, or more than ``MAX_BYTES``.
    """
    if len(data) > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES // 1024**2} MiB")
    try:
        text = data.decode("utf-8")
        _check_tokens(text)
        loader = _loader_class()(text)
        try:
            node = loader.get_single_node()
            return Document(loader.construct_document(node) if node is not None else None, node)
        finally:
            loader.dispose()
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(describe_read_error(error)) from error


def _check_tokens(text: str) -> None:
    depth = 0
    for token in yaml.scan(text, Loader=yaml.SafeLoader):
        line = token.start_mark.line + 1
        if isinstance(token, yaml.AliasToken | yaml.AnchorToken):
            raise ValueError(f"an alias or anchor (*name, &name) in line {line}, which is not supported")
        if isinstance(token, yaml.ScalarToken) and "\0" in token.value:
            raise ValueError(f"a null character in line {line}, which no path or name can have")
        depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        if depth > MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} levels in line {line}")


@cache
def _loader_class() -> type[yaml.SafeLoader]:
    class Loader(yaml.SafeLoader):
        """A safe loader for which a date is text."""

    resolvers = yaml.SafeLoader.yaml_implicit_resolvers
    Loader.yaml_implicit_resolvers = {
        letter: [(tag, pattern) for tag, pattern in pairs if tag != "tag:yaml.org,2002:timestamp"]
        for letter, pairs in resolvers.items()
    }
    return Loader
