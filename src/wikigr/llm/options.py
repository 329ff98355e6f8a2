"""The sections of a profile about models: who writes, with which examples, and what a run may spend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from wikigr.options import Few, Limits, Name, Options, Positive


@dataclass(frozen=True, slots=True)
class FewShotOptions(Options):
    """Worked examples in a model's prompt."""

    section: ClassVar[str] = "few_shot"

    enabled: Annotated[bool, "put worked examples from the pack into a model's prompt"] = True
    num_examples: Annotated[Few, "number of examples"] = 3


@dataclass(frozen=True, slots=True)
class SynthesisOptions(Options):
    """Who writes the answer. ``auto`` uses a model if a file, a key or a server is configured, and quotes otherwise."""

    section: ClassVar[str] = "synthesis"

    provider: Annotated[
        Literal["auto", "claude", "none"],
        "what writes the answer: a model (`claude`), no model (`none`: quotations), or a model if one is configured "
        "(`auto`)",
    ] = "auto"
    model: Annotated[Name, "the model that writes the answer: an id, or the path of a file that ends in .gguf"] = (
        "claude-opus-4-6"
    )
    expansion_model: Annotated[Name, "the model that rephrases the question"] = "claude-haiku-4-5-20251001"
    citations: Annotated[
        Literal["auto", "native", "markers", "short"],
        "how a model cites: the API's search results (`native`), numbers in the text that are then checked "
        "(`markers`), or one quotation in answer to a short prompt, for small models (`short`); `auto` is `native` for "
        "Claude models, `short` for files and `markers` for others",
    ] = "auto"
    max_tokens: Annotated[int, Limits(ge=1, le=32_000), "maximum length of a model's answer, in tokens"] = 1024
    own_knowledge: Annotated[bool, "let the model answer from memory, labeled, if the pack has no answer"] = False
    timeout: Annotated[float, Limits(gt=0.0, le=3600.0), "seconds allowed for one call"] = 60.0
    retries: Annotated[int, Limits(ge=0, le=10), "how often to retry a busy server"] = 2


@dataclass(frozen=True, slots=True)
class ModelFileOptions(Options):
    """A model in a GGUF file, which runs on this machine; ``synthesis.model`` is its path."""

    section: ClassVar[str] = "model_file"

    threads: Annotated[Positive | None, "number of threads; `null` means one for each processor"] = None
    context: Annotated[
        int, Limits(ge=256, le=1_048_576), "tokens of the prompt and the answer together; more take more memory"
    ] = 8192
    prompt_tokens: Annotated[
        int,
        Limits(ge=500, le=1_048_576),
        "tokens of the prompt of an answer, about, where `synthesis.citations` is `short`",
    ] = 1200


@dataclass(frozen=True, slots=True)
class BudgetOptions(Options):
    """What one run may spend on a model; ``null`` means unlimited."""

    section: ClassVar[str] = "budget"

    max_tokens: Annotated[Positive | None, "tokens that a run may use; `null` means unlimited"] = None
    max_cost_usd: Annotated[
        Annotated[float, Limits(gt=0.0, le=10_000.0)] | None, "US dollars that a run may cost; `null` means unlimited"
    ] = None
