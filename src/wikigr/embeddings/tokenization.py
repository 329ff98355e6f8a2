"""Convert texts to token ids with the tokenizer of a prepared encoder."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from wikigr.embeddings.prepared import PREPARE_HINT, PreparedModel
from wikigr.errors import ModelError

# Texts per call of the tokenizer: enough for all its threads, but few enough to bound memory.
_CHUNK = 1024


class TextTokenizer:
    """Tokenizes texts and truncates them to the encoder's window; ``pad_id`` is the id of padding."""

    def __init__(self, prepared: PreparedModel) -> None:
        try:
            self._tokenizer = Tokenizer.from_buffer(prepared.tokenizer.read_bytes())
        except (OSError, ValueError) as error:
            raise ModelError(
                f"Cannot read the tokenizer {prepared.tokenizer}: {error}.", hint=f"{PREPARE_HINT} --force"
            ) from error
        padding = self._tokenizer.padding
        self.pad_id = int(padding["pad_id"]) if padding else 0
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(prepared.max_tokens)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, including special tokens; at least one id per text."""
        if len(texts) == 1:
            # For a single text, starting the tokenizer's thread pool would take longer than the work.
            return [self._tokenizer.encode(well_formed(texts[0])).ids or [self.pad_id]]
        encoded: list[list[int]] = []
        for start in range(0, len(texts), _CHUNK):
            chunk = [well_formed(text) for text in texts[start : start + _CHUNK]]
            encoded += [item.ids or [self.pad_id] for item in self._tokenizer.encode_batch_fast(chunk)]
        return encoded


def well_formed(text: str) -> str:
    """Return ``text`` with U+FFFD for every unpaired surrogate, because tokenizers accept only valid Unicode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
