"""The tokenizer of the default encoder."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer

from wikigr.embeddings.models import prepare


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(prepare("all-MiniLM-L6-v2").tokenizer))
