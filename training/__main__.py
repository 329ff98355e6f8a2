"""Prepare data, train, evaluate and export a reader.

python -m training run             # all of the following
python -m training prepare         # examples and retrieved sections, into training/.work
python -m training train           # continues from the last checkpoint
python -m training evaluate        # a table of this reader and of the one that ships, and figures.json
python -m training export          # the adapter
python -m training calibrate       # the weights of the confidence, into the adapter's description
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Idle OpenMP threads must sleep instead of spin: on shared cores, a step otherwise takes four times as much CPU time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from training.bases import base_folder
from training.config import RECIPES, Config
from training.sources import squad2
from wikigr.reader.passage import SMALL

if TYPE_CHECKING:
    from torch import Tensor

    from training.model import SpanReader

_HERE = Path(__file__).parent
_ADAPTERS = _HERE.parent / "src" / "wikigr" / "reader" / "adapters"
_FIGURES = "figures.json"
_OFF_TOPIC_QUESTIONS = "musique"
_COMMANDS = ("run", "prepare", "train", "evaluate", "export", "calibrate")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=_COMMANDS)
    data = Path(os.environ.get("WIKIGR_TRAINING_DATA", _HERE.parent.parent / "shared" / "data"))
    parser.add_argument("--reader", choices=sorted(RECIPES), default=SMALL, help="the recipe")
    parser.add_argument("--data", type=Path, default=data, help="the folder of the data sets (WIKIGR_TRAINING_DATA)")
    parser.add_argument(
        "--work", type=Path, default=_HERE / ".work", help="the folder of everything that is not shipped"
    )
    parser.add_argument("--pages", type=Path, help="the pages of training/asked (by default WORK/pages)")
    parser.add_argument("--run", help="the name of the training below --work (by default that of the reader)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=JSON", help="such as rank=32, data.qamr=0")
    parser.add_argument("--start", type=Path, help="the adapter to continue from, which may be an earlier release's")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where train computes")
    parser.add_argument("--stop-at", type=int, help="end each phase after this many steps; it can continue later")
    parser.add_argument("--questions", type=int, default=400, help="questions of each group to evaluate")
    parser.add_argument("--adapter", type=Path, action="append", default=[], help="evaluate these adapters instead")
    parser.add_argument("--output", type=Path, help="where export writes the adapter")
    options = parser.parse_args(arguments)
    options.run = options.work / (options.run or options.reader)
    # The calibration of the other reader comes from that of the small one.
    ships = options.reader == SMALL
    if options.command == "calibrate" and not ships:
        parser.error("only the small reader has a calibration")
    options.output = options.output or (_ADAPTERS if ships else options.run) / f"{options.reader}.safetensors"
    config = _with_settings(RECIPES[options.reader], options.set)
    if options.start is not None:
        config = replace(config, start_sha256=hashlib.sha256(options.start.read_bytes()).hexdigest())
    steps = (("prepare", _prepare), ("train", _train), ("evaluate", _evaluate), ("export", _export))
    for name, step in (*steps, ("calibrate", _calibrate)) if ships else steps:
        if options.command in ("run", name):
            step(options, config)


def _with_settings(config: Config, settings: list[str]) -> Config:
    values = config.to_json()
    for setting in settings:
        key, _, value = setting.partition("=")
        *groups, name = key.split(".")
        target: Any = values
        for group in groups:
            target = target[int(group)] if isinstance(target, list | tuple) else target.get(group, {})
        if name not in target:
            raise SystemExit(f"There is no setting {key}.")
        target[name] = json.loads(value)
    return Config.from_json(values)


def _prepare(options: argparse.Namespace, config: Config) -> None:
    from training.asked_examples import asked_parts
    from training.cargo import DEVELOPMENT_FILE
    from training.examples import read_lines
    from training.judged import JUDGED_FILE, judge_all, write_judged
    from training.prepare import prepare, read_sources
    from training.retrieve import retrieve
    from training.windows import write_questions
    from wikigr.embeddings.loader import open_encoder

    encoder = open_encoder(purpose="bulk")
    asked, development = asked_parts(options.data, options.pages or options.work / "pages", config.seed)
    counts = prepare(options.data, options.work, config, encoder, asked)
    write_questions(options.work / DEVELOPMENT_FILE, development)
    for name, count in sorted(counts.items()):
        print(f"{name:40} {count:7,}")
    sources = read_sources(options.data, config)
    print(f"held out: {', '.join(sources.titles)}")
    off_topic = [row["question"] for row in read_lines(options.data / _OFF_TOPIC_QUESTIONS / "queries.jsonl.xz")]
    corpus = options.data / squad2.NAME / "corpus.jsonl.xz"
    retrieve(corpus, sources.held_out, off_topic, options.work, encoder, limit=options.questions)
    write_judged(options.work / JUDGED_FILE, judge_all(options.data, options.work / "packs", encoder))


def _train(options: argparse.Namespace, config: Config) -> None:
    from training.adapter import read_adapter
    from training.features import make_features
    from training.prepare import read_phase
    from training.train import train

    start: dict[str, Tensor] | None = read_adapter(options.start) if options.start is not None else None
    with base_folder(config.base, options.work) as folder:
        maker, pad_id = _window_maker(folder, config)
        for number, phase in enumerate(config.phases):
            settings = config.at(number)
            features = make_features(read_phase(options.work, settings, phase), maker)
            tokens = sum(len(feature.input_ids) for feature in features) / len(features)
            print(f"{phase.name}: {len(features):,} windows of {tokens:.0f} tokens")
            run = options.run / phase.name
            model = train(
                features,
                folder,
                pad_id,
                run,
                settings,
                phase,
                start=start,
                stop_at=options.stop_at,
                device=options.device,
            )
            start = {name: tensor.cpu() for name, tensor in model.adapter().items()}


def _evaluate(options: argparse.Namespace, config: Config) -> None:
    import torch

    from training.adapter import read_adapter, read_shape
    from training.model import SpanReader
    from training.report import as_table, measure

    torch.set_num_threads(config.threads)
    rows = {}
    for path in options.adapter or ():
        shape = read_shape(path)
        with base_folder(shape.base, options.work) as folder:
            model = SpanReader(folder, rank=shape.rank, scale=shape.scale)
            model.load_adapter(read_adapter(path))
            rows[path.stem] = measure(model, *_window_maker(folder, config), options.work, options.questions, config)
    if not options.adapter:
        with base_folder(config.base, options.work) as folder:
            model, step = _trained(options, config, folder)
            figures = measure(model, *_window_maker(folder, config), options.work, options.questions, config)
        rows[f"{options.reader}, {step} steps"] = figures
        (options.run / _FIGURES).write_text(json.dumps({"step": step, **figures}, indent=2) + "\n", encoding="utf-8")
    print(as_table(rows))


def _export(options: argparse.Namespace, config: Config) -> None:
    from training.adapter import write_adapter
    from wikigr.embeddings.checkpoint import WEIGHTS
    from wikigr.embeddings.prepared_files import sha256_of
    from wikigr.reader.passage import UNCALIBRATED

    with base_folder(config.base, options.work) as folder:
        model, _ = _trained(options, config, folder)
        base_sha256 = sha256_of(folder / WEIGHTS)
    figures = json.loads((options.run / _FIGURES).read_text(encoding="utf-8"))
    begun = ["--start ADAPTER"] if config.start_sha256 else []
    settings = [f"--set '{setting}'" for setting in options.set]
    command = " ".join([f"python -m training run --reader {options.reader}", *begun, *settings])
    write_adapter(
        model,
        options.output,
        config,
        base_sha256=base_sha256,
        figures=figures,
        calibration=UNCALIBRATED,
        command=command,
    )
    print(f"{options.output}: {options.output.stat().st_size / 1e6:.2f} MB")


def _calibrate(options: argparse.Namespace, config: Config) -> None:
    from tempfile import TemporaryDirectory

    from training.adapter import write_calibration
    from training.calibrate import calibrate, open_reader
    from training.retrieve import RETRIEVED_FILE, SQUAD2_PACK, first_of_each_group, read_retrieved
    from wikigr.embeddings.model_id import DEFAULT_MODEL
    from wikigr.embeddings.models import find_prepared
    from wikigr.pack.open import Pack

    questions = first_of_each_group(read_retrieved(options.work / RETRIEVED_FILE), options.questions)
    with TemporaryDirectory() as temporary, Pack(options.work / SQUAD2_PACK, purpose="queries") as pack:
        reader = open_reader(options.output, find_prepared(DEFAULT_MODEL), Path(temporary) / "encoder")
        calibration, figures = calibrate(pack, reader, questions)
    write_calibration(options.output, calibration, figures)
    print(json.dumps({"calibration": asdict(calibration), "figures": figures}, indent=2))


def _trained(options: argparse.Namespace, config: Config, folder: Path) -> tuple[SpanReader, int]:
    """Return the mean of the adapters of all phases in float32, and the number of steps."""
    import torch

    from training.adapter import read_adapter
    from training.model import SpanReader
    from training.train import CHECKPOINT

    torch.set_num_threads(config.threads)
    shares: list[tuple[float, dict[str, Tensor]]] = []
    steps = 0
    for phase in config.phases:
        state = torch.load(options.run / phase.name / CHECKPOINT, weights_only=True, map_location="cpu")
        shares.append((phase.share, state["adapter"]))
        steps += state["position"][0]
    if config.start_sha256:
        shares.append((config.start_share, read_adapter(options.start)))
    total = sum(share for share, _ in shares)
    adapter = {
        name: sum((share / total * tensors[name] for share, tensors in shares if share), torch.zeros(()))
        for name in shares[0][1]
    }
    model = SpanReader(folder, rank=config.rank, scale=config.scale)
    # The figures must be those of the exported file, which holds float16.
    model.load_adapter({name: tensor.half().float() for name, tensor in adapter.items()})
    return model, steps


def _window_maker(folder: Path, config: Config) -> tuple[Any, int]:
    from tokenizers import Tokenizer

    from wikigr.reader.windows import WindowMaker

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    pads = (tokenizer.token_to_id(name) for name in ("<pad>", "[PAD]"))
    return WindowMaker(tokenizer, config.windows), next(pad for pad in pads if pad is not None)


if __name__ == "__main__":
    main()
