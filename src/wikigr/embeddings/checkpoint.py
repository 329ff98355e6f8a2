"""Read a checkpoint folder in the sentence-transformers layout."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from tokenizers import Tokenizer, normalizers

from wikigr.errors import ModelError
from wikigr.files import read_regular

Pooling = Literal["mean", "cls"]

WEIGHTS = "model.safetensors"
CONFIG = "config.json"
# Of a tokenizer, the largest of its files but the weights.
MAX_DESCRIPTION_BYTES = 64 << 20
_MODULES = "modules.json"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The description of an encoder in its files. ``max_tokens`` includes special tokens."""

    folder: Path
    config: Mapping[str, Any]
    pooling: Pooling
    max_tokens: int
    lowercase: bool

    @classmethod
    def read(cls, folder: Path) -> Checkpoint:
        """Read the checkpoint in ``folder``.

        Raises ``ModelError`` if files are missing or if the encoder has steps other than transformer, pooling and
        normalization.
        """
        for name in (CONFIG, WEIGHTS, "tokenizer.json"):
            if not (folder / name).is_file():
                raise ModelError(
                    f"{folder} has no {name}; an encoder folder must contain {CONFIG}, tokenizer.json and {WEIGHTS}."
                )
        config = _json(folder / CONFIG)
        # Without modules.json, sentence-transformers loads a bare transformer and ignores the other files.
        bare = not (folder / _MODULES).is_file()
        sentence = {} if bare else _json(folder / "sentence_bert_config.json", missing_ok=True)
        prompts = _json(folder / "config_sentence_transformers.json", missing_ok=True)
        if prompts.get("default_prompt_name"):
            raise _unsupported(folder, "adds a prompt to every text")
        return cls(
            folder=folder,
            config=config,
            pooling="mean" if bare else _pooling(folder),
            max_tokens=_window(folder, config, sentence),
            lowercase=bool(sentence.get("do_lower_case")),
        )

    @property
    def weights(self) -> Path:
        return self.folder / WEIGHTS

    def tokenizer_json(self) -> str:
        """Return the tokenizer as JSON, with this encoder's window, padding and lower-casing."""
        path = self.folder / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_buffer(read_regular(path, MAX_DESCRIPTION_BYTES))
        except (OSError, ValueError) as error:
            raise ModelError(f"Cannot read {path}: {error}.") from error
        if self.lowercase:
            steps = [normalizers.Lowercase()]
            if tokenizer.normalizer is not None:
                steps.append(tokenizer.normalizer)
            tokenizer.normalizer = normalizers.Sequence(steps)
        tokenizer.enable_truncation(self.max_tokens)
        tokenizer.enable_padding(pad_id=_whole(self.config.get("pad_token_id"), 0))
        return str(tokenizer.to_str())


def _window(folder: Path, config: Mapping[str, Any], sentence: Mapping[str, Any]) -> int:
    positions = _whole(config.get("max_position_embeddings"), 512)
    if sentence.get("max_seq_length") is not None:
        window = _whole(sentence["max_seq_length"], positions)
    else:
        tokenizer = _json(folder / "tokenizer_config.json", missing_ok=True)
        window = _whole(tokenizer.get("model_max_length"), positions)
    window = min(window, positions)
    if window < 3:
        raise ModelError(f"The encoder in {folder} has a window of {window} tokens, which leaves no room for text.")
    return window


def _pooling(folder: Path) -> Pooling:
    modules = _json(folder / _MODULES, want=list)
    place = None
    for module in modules:
        kind = str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else ""
        if kind not in ("Transformer", "Pooling", "Normalize"):
            raise _unsupported(folder, f"has a step {kind or module!r}")
        if kind == "Pooling":
            place = PurePosixPath(str(module.get("path", "")))
    if place is None:
        raise ModelError(f"The encoder in {folder} has no pooling, so it does not produce text vectors.")
    if place.is_absolute() or ".." in place.parts:
        raise ModelError(f"{folder / _MODULES} points outside its folder: {place}.")
    settings = _json(folder / place / "config.json")
    # The older format has one flag for each mode.
    flags = {
        name.removeprefix("pooling_mode_"): value
        for name, value in settings.items()
        if name.startswith("pooling_mode_")
    }
    modes = [name for name, value in flags.items() if value] or [settings.get("pooling_mode", "mean")]
    if modes in (["mean"], ["mean_tokens"]):
        return "mean"
    if modes in (["cls"], ["cls_token"]):
        return "cls"
    raise _unsupported(folder, f"pools by {modes}")


def _unsupported(folder: Path, what: str) -> ModelError:
    return ModelError(
        f"The encoder in {folder} {what}, which only the backend sentence-transformers supports.",
        hint="pip install 'wikigr[models]' and use the backend sentence-transformers",
    )


def _whole(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default


def _json(path: Path, *, want: type = dict, missing_ok: bool = False) -> Any:
    try:
        value = json.loads(read_regular(path, MAX_DESCRIPTION_BYTES))
    except FileNotFoundError as error:
        if missing_ok:
            return want()
        raise ModelError(f"{path} is missing.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"Cannot read {path}: {error}.") from error
    if not isinstance(value, want):
        raise ModelError(f"{path} is not a JSON {want.__name__}.")
    return value
