"""Text to token ids, with the tokenizer of a prepared encoder."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from wikigr.embeddings.prepared import PREPARE_HINT, PreparedModel
from wikigr.errors import ModelError

# Texts handed to the tokenizer at once: enough for all its threads, few enough that their encodings stay small.
_CHUNK = 1024


class TextTokenizer:
    """Cuts texts at the encoder's window; ``pad_id`` is the id that fills a batch."""

    def __init__(self, prepared: PreparedModel) -> None:
        try:
            self._tokenizer = Tokenizer.from_buffer(prepared.tokenizer.read_bytes())
        except (OSError, ValueError) as error:
            raise ModelError(
                f"The tokenizer {prepared.tokenizer} cannot be read: {error}.", hint=f"{PREPARE_HINT} --force"
            ) from error
        padding = self._tokenizer.padding
        self.pad_id = int(padding["pad_id"]) if padding else 0
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(prepared.max_tokens)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, special tokens included; never an empty list for a text."""
        if len(texts) == 1:
            # One text needs no thread pool, whose start would cost more than the work.
            return [self._tokenizer.encode(well_formed(texts[0])).ids or [self.pad_id]]
        encoded: list[list[int]] = []
        for start in range(0, len(texts), _CHUNK):
            chunk = [well_formed(text) for text in texts[start : start + _CHUNK]]
            encoded += [item.ids or [self.pad_id] for item in self._tokenizer.encode_batch_fast(chunk)]
        return encoded


def well_formed(text: str) -> str:
    """``text`` with U+FFFD for every unpaired surrogate: a tokenizer takes valid Unicode only."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
