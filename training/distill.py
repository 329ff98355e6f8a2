"""Train readers on a GPU by the clock: a large one on labels, which then teaches small ones.

python -m training.distill pack FOLDER      # windows and questions as arrays, from what prepare wrote; needs no GPU
python -m training.distill teach FOLDER     # the large reader, and its probabilities for all windows
python -m training.distill student FOLDER   # a small reader, from labels or, once they are there, the probabilities too
python -m training.distill mean FOLDER      # the mean of the changed weights of several adapters, cut to a rank
python -m training.distill ship FOLDER      # the adapter --name, with what made it, among those that wikigr has

All others write ``NAME.safetensors`` with ``NAME.json``, which holds the settings and the figures. Rates follow the
clock, so that a training ends in time on any machine; only with ``--steps`` they follow the steps.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.adapter import read_adapter, save_adapter, ship_adapter
from training.bases import BASES
from training.features import epoch_batches
from training.measured import Measured, figures_of
from training.model import SpanReader
from training.train import shared_loss, span_loss
from training.windows import Arrays, DeviceWindows, Vocabulary, read_all, read_questions, width_of
from wikigr.embeddings.checkpoint import WEIGHTS
from wikigr.embeddings.prepared_files import sha256_of
from wikigr.reader.adapter import ADAPTER
from wikigr.reader.passage import BASE, MAX_ANSWER_TOKENS, SMALL

WINDOWS = "windows.npz"
PARTS = "parts.json"
QUESTIONS = "questions.jsonl.xz"
QUESTION_WINDOWS = "questions.npz"
TAUGHT = "taught.npy"

_WARMUP = 0.04
_GRADIENT_NORM = 1.0
_WEIGHT_DECAY = 0.01
_CHECKED_STEPS = 100
_READ_AT_ONCE = 256
_POLLED = 0.2


@dataclass(frozen=True, slots=True)
class Run:
    """The settings of a training.

    It ends after ``steps`` if that is not 0, and else after ``seconds``; the rate rises to ``rate`` in the first 4 %
    and falls linearly to 0. ``shares`` is the probability, by part, that an epoch reads a question; of ``asked``, only
    the first ``asked`` of the sources are read. ``shared`` and ``teaching`` are the weights of the losses of
    ``training.train``. A step reads ``batch`` windows. ``bfloat16`` multiplies in that type, and keeps
    all else in single precision.
    """

    rank: int
    rate: float
    scale: float = 2.0
    seconds: float = 0.0
    steps: int = 0
    shares: Mapping[str, float] = field(default_factory=dict)
    asked: float = 1.0
    shared: float = 0.0
    teaching: float = 0.0
    dropout: float = 0.0
    batch: int = 64
    bfloat16: bool = True
    seed: int = 7


class Clock:
    """How much of a run is done, by its steps or by the time since ``begun``."""

    def __init__(self, run: Run, begun: float, now: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._begun = begun
        self._now = now

    def done(self, step: int) -> float:
        """Return the share that is done before the step ``step``, at least 1 if it is over."""
        if self._run.steps:
            return step / self._run.steps
        return (self._now() - self._begun) / max(self._run.seconds, 1e-9)


def rate_at(done: float, rate: float) -> float:
    """Return the learning rate when the share ``done`` of a run is done."""
    return rate * min(done / _WARMUP, (1 - done) / (1 - _WARMUP)) if 0 < done < 1 else 0.0


def train_run(
    model: SpanReader, windows: DeviceWindows, arrays: Arrays, parts: Sequence[str], run: Run, clock: Clock
) -> dict[str, Any]:
    """Train ``model`` until ``clock`` says that it is over; return the number of steps and the losses on the way.

    Every hundred steps, a training whose loss is no number goes back to what was before, with half of the rate.
    """
    device = windows.device
    parameters = dict(model.trained_parameters())
    optimizer = torch.optim.AdamW(parameters.values(), lr=0.0, weight_decay=_WEIGHT_DECAY, fused=device == "cuda")
    model.train()
    kept = {name: value.detach().clone() for name, value in parameters.items()}
    total, step, highest, losses = torch.zeros((), device=device), 0, run.rate, []
    begun = time.monotonic()
    for rows, width in _endless(windows, arrays, parts, run):
        done = clock.done(step)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate_at(max(done, 1e-6), highest)
        batch = windows.batch(rows, width)
        with torch.autocast(device, torch.bfloat16, enabled=run.bfloat16):
            logits = model(batch.input_ids, batch.token_types, batch.mask)
        loss = span_loss(logits, batch, run.teaching)
        if run.shared:
            loss = loss + run.shared * shared_loss(logits, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters.values(), _GRADIENT_NORM)
        optimizer.step()
        total += loss.detach()
        step += 1
        if step % _CHECKED_STEPS == 0:
            mean = float(total) / _CHECKED_STEPS
            losses.append(round(mean, 4))
            total.zero_()
            if not np.isfinite(mean):
                highest /= 2
                optimizer.state.clear()
                with torch.no_grad():
                    for name, value in parameters.items():
                        value.copy_(kept[name])
            else:
                kept = {name: value.detach().clone() for name, value in parameters.items()}
            if step % (10 * _CHECKED_STEPS) == 0:
                print(f"step {step}, {time.monotonic() - begun:.0f} s, loss {mean:.3f}", flush=True)
    return {"trained_steps": step, "trained_seconds": round(time.monotonic() - begun, 1), "losses": losses[::5]}


def _endless(windows: DeviceWindows, arrays: Arrays, parts: Sequence[str], run: Run) -> Iterator[tuple[Tensor, int]]:
    """Yield the windows of each batch, epoch after epoch, with their width; an epoch draws questions by their part."""
    questions, part = arrays["question"], arrays["part"]
    chance = np.array([run.shares.get(name, 0.0) for name in parts])[part]
    chance = np.where((arrays["place"] < run.asked) & (chance > 0), chance, 0.0)
    if not chance.any():
        raise ValueError("The shares of the run leave nothing to read.")
    for epoch in range(1_000_000):
        drawn = np.random.default_rng([run.seed, epoch]).random(int(questions.max()) + 1)
        rows = np.flatnonzero(drawn[questions] < chance)
        together = questions[rows].tolist() if run.shared else None
        lengths = windows.lengths[rows].tolist()
        batches = [rows[numbers] for numbers in epoch_batches(lengths, run.batch, f"{run.seed}:{epoch}", together)]
        if not batches:
            continue
        flat = torch.from_numpy(np.concatenate(batches).astype(np.int64)).to(windows.device)
        begun = 0
        for chosen in batches:
            yield flat[begun : begun + len(chosen)], width_of(int(windows.lengths[chosen].max()))
            begun += len(chosen)


@torch.inference_mode()  # type: ignore[untyped-decorator]
def teach_all(model: SpanReader, windows: DeviceWindows, arrays: Arrays, *, bfloat16: bool) -> np.ndarray:
    """Return the probabilities of starts and ends that ``model`` gives all tokens, float16 ``(tokens, 2)``."""
    model.eval()
    taught = torch.zeros(len(arrays["ids"]), 2, dtype=torch.float16, device=windows.device)
    for rows, width in windows.in_order(range(len(windows)), _READ_AT_ONCE):
        chosen = torch.tensor(rows, device=windows.device)
        logits = logits_of(model, bfloat16=bfloat16)(windows.batch(chosen, width))
        windows.scatter(taught, chosen, logits.softmax(1))
    probabilities: np.ndarray = taught.cpu().numpy()
    return probabilities


def logits_of(model: SpanReader, *, bfloat16: bool) -> Callable[[Any], Tensor]:
    """Return a function from batches to logits; in single precision without ``bfloat16``."""
    device = next(model.parameters()).device.type

    def compute(batch: Any) -> Tensor:
        with torch.inference_mode(), torch.autocast(device, torch.bfloat16, enabled=bfloat16):
            return model(batch.input_ids, batch.token_types, batch.mask)  # type: ignore[no-any-return]

    return compute


def mean_adapter(adapters: Sequence[tuple[float, Mapping[str, Tensor]]], rank: int) -> dict[str, Tensor]:
    """Return the weighted mean of the weights that ``adapters`` change, cut to ``rank`` by singular values.

    The weights of ``adapters`` are divided by their sum. The ranks may differ, but not the scales.
    """
    total = sum(share for share, _ in adapters)
    shares = [share / total for share, _ in adapters]
    made: dict[str, Tensor] = {}
    for name, first in adapters[0][1].items():
        if name.endswith(".up"):
            layer = name.removesuffix(".up")
            ups = torch.cat([s * t[name].double() for s, (_, t) in zip(shares, adapters, strict=True)], 1)
            downs = torch.cat([t[f"{layer}.down"].double() for _, t in adapters], 0)
            up, down = cut(ups, downs, rank)
            made[name], made[f"{layer}.down"] = up.float(), down.float()
        elif not name.endswith(".down"):
            made[name] = sum(
                (s * t[name] for s, (_, t) in zip(shares, adapters, strict=True)),
                torch.zeros_like(first),
            )
    return made


def cut(up: Tensor, down: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Return the factors of rank ``rank`` whose product is nearest to ``up @ down``."""
    left, upper = torch.linalg.qr(up)
    right, lower = torch.linalg.qr(down.T)
    u, s, v = torch.linalg.svd(upper @ lower.T)
    root = s[:rank].sqrt()
    return left @ u[:, :rank] * root, root.unsqueeze(1) * (v[:rank] @ right.T)


class Folder:
    """The arrays and questions that ``pack`` wrote, on a device."""

    def __init__(self, folder: Path, vocabulary: Vocabulary, device: str) -> None:
        self.device = device
        self.vocabulary = vocabulary
        self._folder = folder

    def windows(self) -> tuple[DeviceWindows, Arrays, list[str]]:
        """Return the windows to train on, with the names of their parts."""
        arrays = dict(np.load(self._folder / WINDOWS))
        parts = json.loads((self._folder / PARTS).read_text(encoding="utf-8"))
        return DeviceWindows(arrays, self.vocabulary, self.device), arrays, parts

    def measure(
        self, model: SpanReader, *, bfloat16: bool, lengths: Sequence[tuple[int, float]] = ((MAX_ANSWER_TOKENS, 0.1),)
    ) -> dict[str, Any]:
        """Return the figures of ``model`` on all questions, by the longest span and the cost of its tokens."""
        model.eval()
        arrays = dict(np.load(self._folder / QUESTION_WINDOWS))
        questions: list[Measured] = read_questions(self._folder / QUESTIONS)
        windows = DeviceWindows(arrays, self.vocabulary, self.device)
        compute = logits_of(model, bfloat16=bfloat16)
        limits = [(tokens, cost) for tokens, cost in lengths]
        readings = read_all(compute, windows, arrays, questions, size=_READ_AT_ONCE, limits=limits)
        return {
            f"{tokens} tokens, {cost}": figures_of(questions, found)
            for (tokens, cost), found in zip(limits, readings, strict=True)
        }


def vocabularies(small: Path, large: Path | None) -> Vocabulary:
    """Return how the pieces are numbered in the model of ``large``, or in that of ``small`` without it."""
    return Vocabulary.of(_tokens(small), _tokens(large) if large is not None else None)


def _tokens(folder: Path) -> dict[str, int]:
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokens = {str(token): int(number) for token, number in vocabulary["model"]["vocab"].items()}
    return tokens | {str(t["content"]): int(t["id"]) for t in vocabulary["added_tokens"]}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m training.distill", description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=("pack", "teach", "student", "mean", "ship"))
    parser.add_argument("folder", type=Path, help="the folder of the arrays")
    parser.add_argument("--work", type=Path, help="pack: the folder that prepare wrote to")
    parser.add_argument("--small", type=Path, help="the folder of the small base")
    parser.add_argument("--large", type=Path, help="the folder of the large base, if it is the one to train")
    parser.add_argument("--name", default="adapter", help="the name of what is written")
    parser.add_argument("--output", type=Path, help="the folder to write to (by default that of the arrays)")
    parser.add_argument("--start", type=Path, help="the adapter to start from")
    parser.add_argument("--adapter", action="append", default=[], metavar="FILE=SHARE", help="mean: of these")
    parser.add_argument("--run", type=json.loads, default={}, metavar="JSON", help="settings of the training")
    parser.add_argument("--until", type=float, help="end the training at this time, in seconds since 1970")
    parser.add_argument("--lengths", type=json.loads, default=[[MAX_ANSWER_TOKENS, 0.1]], help="spans to measure with")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    options = parser.parse_args(arguments)
    options.output = options.output or options.folder
    if options.device == "cuda":
        torch.set_float32_matmul_precision("high")
    {"pack": _pack, "teach": _train, "student": _train, "mean": _mean, "ship": _ship}[options.command](options)


def _pack(options: argparse.Namespace) -> None:
    from training.cargo import write_cargo

    print(json.dumps(write_cargo(options.work, options.folder, options.small), indent=2))


def _train(options: argparse.Namespace) -> None:
    begun = time.monotonic()
    run = Run(**options.run)
    torch.manual_seed(run.seed)
    random.seed(run.seed)
    base = options.large or options.small
    folder = Folder(options.folder, vocabularies(options.small, options.large), options.device)
    windows, arrays, parts = folder.windows()
    model = SpanReader(base, rank=run.rank, scale=run.scale, dropout=run.dropout)
    if options.start is not None:
        model.load_adapter(read_adapter(options.start))
    model.to(options.device)
    if run.teaching:
        while not (options.folder / TAUGHT).exists():
            time.sleep(_POLLED)
        windows.teach(np.load(options.folder / TAUGHT))
    print(f"{options.name}: {len(windows):,} windows after {time.monotonic() - begun:.1f} s", flush=True)
    if options.until is not None:
        run = replace(run, seconds=round(options.until - time.time(), 1))
    log = train_run(model, windows, arrays, parts, run, Clock(run, time.monotonic()))
    _write(options, model, run, log)
    if options.command == "teach":
        taught = teach_all(model, windows, arrays, bfloat16=run.bfloat16)
        np.save(options.folder / f"new-{TAUGHT}", taught)
        (options.folder / f"new-{TAUGHT}").rename(options.folder / TAUGHT)
        print(f"{options.name}: taught after {time.monotonic() - begun:.1f} s", flush=True)
    _measure(options, folder, model, run, log)
    print(f"{options.name}: {log['trained_steps']} steps, ended after {time.monotonic() - begun:.1f} s", flush=True)


def _mean(options: argparse.Namespace) -> None:
    run = Run(**options.run)
    pairs = [given.rpartition("=") for given in options.adapter]
    tensors = mean_adapter([(float(s), read_adapter(Path(p))) for p, _, s in pairs], run.rank)
    model = SpanReader(options.large or options.small, rank=run.rank, scale=run.scale)
    model.load_adapter(tensors)
    model.to(options.device)
    log = {"mean": [[Path(path).stem, float(share)] for path, _, share in pairs]}
    _write(options, model, run, log)
    folder = Folder(options.folder, vocabularies(options.small, options.large), options.device)
    _measure(options, folder, model, run, log)


def _ship(options: argparse.Namespace) -> None:
    name = BASE if options.large is not None else SMALL
    source = options.output / f"{options.name}.safetensors"
    command = "see 'With a GPU' in training/README.md"
    ship_adapter(
        source,
        ADAPTER.with_name(f"{name}.safetensors"),
        base_sha256=sha256_of((options.large or options.small) / WEIGHTS),
        command=command,
    )


def _measure(options: argparse.Namespace, folder: Folder, model: SpanReader, run: Run, log: dict[str, Any]) -> None:
    # The figures must be those of the file, which holds float16.
    model.load_adapter({name: tensor.half().float() for name, tensor in model.adapter().items()})
    lengths = [(int(tokens), float(cost)) for tokens, cost in options.lengths]
    figures = folder.measure(model, bfloat16=options.large is not None and run.bfloat16, lengths=lengths)
    _write(options, model, run, {**log, "figures": figures})


def _write(options: argparse.Namespace, model: SpanReader, run: Run, log: Mapping[str, Any]) -> None:
    """Write the adapter and beside it what ``read_adapter`` needs, the settings and ``log``."""
    options.output.mkdir(parents=True, exist_ok=True)
    described = {
        "base_model": BASES[BASE if options.large is not None else SMALL],
        "config": asdict(run),
        **({"start": options.start.stem} if options.start is not None else {}),
        **log,
    }
    save_adapter(model, options.output / f"{options.name}.safetensors", run.scale)
    unfinished = options.output / f"{options.name}.json.new"
    unfinished.write_text(json.dumps(described), encoding="utf-8")
    unfinished.rename(options.output / f"{options.name}.json")


if __name__ == "__main__":
    main()
