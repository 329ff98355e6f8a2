"""The training loop, with checkpoints that resume to the same result."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.config import Config, Phase
from training.features import Batch, Feature, collate, epoch_batches
from training.model import SpanReader

CHECKPOINT = "checkpoint.pt"
LOG = "log.jsonl"
CONFIG = "config.json"

# A logit of what cannot be; finite, so that gradients stay so.
_NEVER = -1e4


@dataclass(slots=True)
class _Position:
    """Where the training stands: ``step`` batches are done, the last ``batch`` of them in this ``epoch``."""

    step: int = 0
    epoch: int = 0
    batch: int = 0


def span_loss(logits: Tensor, batch: Batch, teaching: float = 0.0) -> Tensor:
    """Return the mean negative log-likelihood of the accepted starts and ends.

    Several accepted positions share their probability (Clark & Gardner 2018). ``teaching`` is the weight of the cross
    entropy with the teacher's distributions (Hinton et al. 2015), where the batch has them.
    """
    losses = []
    for side, target in enumerate((batch.starts, batch.ends)):
        logs = logits[..., side].log_softmax(-1)
        loss = -logs.masked_fill(~target, -torch.inf).logsumexp(-1)
        if teaching and batch.taught is not None:
            taught = -(batch.taught[..., side] * logs).sum(-1)
            has_teacher = batch.taught[..., side].sum(-1) > 0
            loss = torch.where(has_teacher, (1 - teaching) * loss + teaching * taught, loss)
        losses.append(loss)
    return torch.stack(losses).mean()


def shared_loss(logits: Tensor, batch: Batch) -> Tensor:
    """Return the mean negative log-likelihood of the accepted starts and ends among all windows of a question.

    This is the shared normalization of Clark & Gardner (2018). Logits are taken relative to no answer in their window,
    as in the margins that choose between windows. Questions without an answer in the batch do not count; 0 if none has.
    """
    relative = (logits - logits[:, :1]).masked_fill(~batch.text.unsqueeze(-1), _NEVER)
    targets = torch.stack((batch.starts, batch.ends), -1) & batch.text.unsqueeze(-1)
    same = batch.questions.unsqueeze(-1) == batch.questions
    every, right = (
        scores.logsumexp(1).masked_fill(~same.unsqueeze(-1), _NEVER).logsumexp(1)
        for scores in (relative, relative.masked_fill(~targets, _NEVER))
    )
    # Each question counts once, however many windows it has. Nothing here waits for a GPU.
    answered = same.float() @ targets.any(1).float() > 0
    weights = answered / same.sum(1, keepdim=True)
    return ((every - right) * weights).sum() / weights.sum().clamp(min=torch.finfo(weights.dtype).tiny)


def learning_rate(step: int, phase: Phase) -> float:
    """Return the rate of a step, counted from 0: linear between the points of ``phase.learning_rates``."""
    steps, rates = zip(*phase.learning_rates, strict=True)
    return float(np.interp(step, steps, rates))


def train(
    features: Sequence[Feature],
    checkpoint: Path,
    pad_id: int,
    run: Path,
    config: Config,
    phase: Phase,
    *,
    start: Mapping[str, Tensor] | None = None,
    stop_at: int | None = None,
    device: str = "cpu",
) -> SpanReader:
    """Train a phase on ``features`` from the encoder in the folder ``checkpoint``, and return the trained model.

    The adapter is at first ``start``, or changes nothing. The folder ``run`` receives the settings, the log and the
    last checkpoint; training continues from it. ``stop_at`` ends after that many steps. ``device`` is ``cpu`` or
    ``cuda``; the model that is returned is on it. Only the learning rates of
    later steps may change, which also makes a finished phase longer. Raises ``ValueError`` if ``run`` holds a
    training with other settings.
    """
    run.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    model = SpanReader(checkpoint, rank=config.rank, scale=config.scale, bfloat16=config.bfloat16)
    model.to(device).train()
    parameters = dict(model.trained_parameters())
    optimizer = torch.optim.AdamW(parameters.values(), lr=0.0, weight_decay=config.weight_decay)
    position = _Position()
    state = torch.load(run / CHECKPOINT, weights_only=True, map_location="cpu") if (run / CHECKPOINT).exists() else None
    if state is not None:
        position = _Position(*state["position"])
    _record_settings(run / CONFIG, config, phase, position.step)
    if state is None and start is not None:
        model.load_adapter(dict(start))
    if state is not None:
        model.load_adapter(state["adapter"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
    last = phase.steps if stop_at is None else min(stop_at, phase.steps)
    if position.step >= last:
        return model
    with (run / LOG).open("a", encoding="utf-8") as log:
        begun, examples, total = time.perf_counter(), 0, 0.0
        for batch, reached in _batches(features, pad_id, config, phase, position):
            batch = batch.to(device)
            rate = learning_rate(position.step, phase)
            for group in optimizer.param_groups:
                group["lr"] = rate
            logits = model(batch.input_ids, batch.token_types, batch.mask)
            loss = span_loss(logits, batch, phase.teaching)
            if phase.shared:
                loss = loss + phase.shared * shared_loss(logits, batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(parameters.values(), config.gradient_norm)
            optimizer.step()
            position = reached
            examples += len(batch.input_ids)
            total += float(loss.detach())
            if position.step % 10 == 0 or position.step == last:
                elapsed = time.perf_counter() - begun
                line = {
                    "step": position.step,
                    "epoch": position.epoch,
                    "loss": round(total / ((position.step - 1) % 10 + 1), 4),
                    "lr": rate,
                    "examples_per_second": round(examples / elapsed, 2),
                }
                log.write(json.dumps(line) + "\n")
                log.flush()
                begun, examples, total = time.perf_counter(), 0, 0.0
            if position.step % config.checkpoint_steps == 0 or position.step == last:
                _save(run / CHECKPOINT, model, optimizer, position)
            if position.step == last:
                break
    return model


def _batches(
    features: Sequence[Feature], pad_id: int, config: Config, phase: Phase, position: _Position
) -> Iterator[tuple[Batch, _Position]]:
    """Yield the batches after ``position``, each with the position after it."""
    lengths = [len(feature.input_ids) for feature in features]
    questions = [feature.question for feature in features] if phase.shared else None
    step, epoch, done = position.step, position.epoch, position.batch
    while True:
        for number, rows in enumerate(epoch_batches(lengths, config.batch_size, f"{config.seed}:{epoch}", questions)):
            if number < done:
                continue
            step += 1
            yield collate([features[row] for row in rows], pad_id), _Position(step, epoch, number + 1)
        epoch, done = epoch + 1, 0


def _record_settings(path: Path, config: Config, phase: Phase, done: int) -> None:
    if path.exists():
        known = json.loads(path.read_text(encoding="utf-8"))
        before = Config.from_json({**known["config"], "phases": [known["phase"]]}).phases[0]
        same_rates = all(learning_rate(step, before) == learning_rate(step, phase) for step in range(done))
        same_phase = replace(before, learning_rates=phase.learning_rates, share=phase.share) == phase
        same_rest = Config.from_json(known["config"]) == replace(config, phases=())
        if not (same_rates and same_phase and same_rest):
            raise ValueError(f"{path} holds other settings; choose another run folder, or delete this one.")
    settings = {"config": replace(config, phases=()).to_json(), "phase": asdict(phase)}
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def _save(path: Path, model: SpanReader, optimizer: torch.optim.Optimizer, position: _Position) -> None:
    state: dict[str, Any] = {
        "adapter": model.adapter(),
        "optimizer": optimizer.state_dict(),
        "random": torch.get_rng_state(),
        "position": [position.step, position.epoch, position.batch],
    }
    unfinished = path.with_suffix(".new")
    torch.save(state, unfinished)
    unfinished.replace(path)
