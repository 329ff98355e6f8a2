"""The reader in torch: BERT or MPNet with low-rank updates (LoRA, Hu et al. 2021) of its linear layers and a head."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

HEAD_WEIGHT = "head.weight"
HEAD_BIAS = "head.bias"


class LowRankLinear(nn.Module):  # type: ignore[misc]
    """``base(x) + scale * up(down(x))`` with a frozen ``base``; at first the update is zero."""

    def __init__(self, base: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.scale = scale
        self.down = nn.Parameter(torch.empty(rank, base.in_features, dtype=torch.float32))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, dtype=torch.float32))
        nn.init.normal_(self.down, std=base.in_features**-0.5)

    def forward(self, inputs: Tensor) -> Tensor:
        down = nn.functional.linear(inputs, self.down.to(inputs.dtype))
        updated: Tensor = self.base(inputs) + nn.functional.linear(down, (self.scale * self.up).to(inputs.dtype))
        return updated


class SpanReader(nn.Module):  # type: ignore[misc]
    """Returns the logits of the start and the end of an answer for each token; position 0 means no answer."""

    def __init__(
        self, checkpoint: Path, *, rank: int, scale: float, bfloat16: bool = False, dropout: float = 0.0
    ) -> None:
        """Read the encoder from the folder ``checkpoint``. ``bfloat16`` computes all but the head in that type."""
        from transformers import AutoModel, logging

        super().__init__()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        dtype = torch.bfloat16 if bfloat16 else torch.float32
        self.encoder = AutoModel.from_pretrained(checkpoint, add_pooling_layer=False)
        self._has_token_types = self.encoder.config.model_type == "bert"
        self.encoder.to(dtype).requires_grad_(False)
        for name, module in list(self.encoder.encoder.named_modules()):
            if isinstance(module, nn.Linear):
                parent, _, child = name.rpartition(".")
                adapted = LowRankLinear(module, rank, scale)
                setattr(self.encoder.encoder.get_submodule(parent), child, adapted)
        self.head = nn.Linear(self.encoder.config.hidden_size, 2)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        # A short training over varied data does not overfit, and dropout costs a fifth of a step on a CPU.
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = dropout

    def forward(self, input_ids: Tensor, token_types: Tensor, mask: Tensor) -> Tensor:
        """Return logits of shape ``(windows, tokens, 2)``; padding gets a large negative logit.

        The inputs have the shape ``(windows, tokens)``; ``mask`` is 1 for tokens and 0 for padding.
        """
        types = {"token_type_ids": token_types} if self._has_token_types else {}
        hidden = self.encoder(input_ids=input_ids, attention_mask=mask, **types).last_hidden_state
        with torch.autocast(hidden.device.type, enabled=False):
            logits: Tensor = self.head(hidden.float())
        return logits.masked_fill(mask.unsqueeze(-1) == 0, -1e4)

    def trained_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Yield the names and values of the adapter and the head."""
        for name, parameter in self.named_parameters():
            if parameter.requires_grad:
                yield name, parameter

    def adapter(self) -> dict[str, Tensor]:
        """Return the trained tensors by name, as views."""
        return {name: parameter.detach() for name, parameter in self.trained_parameters()}

    def load_adapter(self, tensors: dict[str, Tensor]) -> None:
        """Copy the tensors that ``adapter`` returned; raises ``ValueError`` if names or shapes differ."""
        own = dict(self.trained_parameters())
        if {name: value.shape for name, value in own.items()} != {n: t.shape for n, t in tensors.items()}:
            raise ValueError("The adapter does not fit the model: its tensors have other names or shapes.")
        with torch.no_grad():
            for name, parameter in own.items():
                parameter.copy_(tensors[name])
