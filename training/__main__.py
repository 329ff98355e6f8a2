"""Prepare data, train, evaluate and export the reader.

python -m training run             # all of the following
python -m training prepare         # examples and retrieved sections, into training/.work
python -m training train           # continues from the last checkpoint
python -m training evaluate        # a table and figures.json
python -m training export          # the adapter
python -m training calibrate       # the weights of the confidence, into the adapter's description
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Idle OpenMP threads must sleep instead of spin: on shared cores, a step otherwise takes four times as much CPU time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from training.config import Config
from training.sources import squad2

if TYPE_CHECKING:
    from training.model import SpanReader

_HERE = Path(__file__).parent
_ADAPTER = _HERE.parent / "src" / "wikigr" / "reader" / "adapters" / "small.safetensors"
_FIGURES = "figures.json"
_REFINED = "refined"
_OFF_TOPIC_QUESTIONS = "musique"


def main(arguments: list[str] | None = None) -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=["run", "prepare", "train", "evaluate", "export", "calibrate"])
    data = Path(os.environ.get("WIKIGR_TRAINING_DATA", _HERE.parent.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=data, help="the folder of the data sets (WIKIGR_TRAINING_DATA)")
    parser.add_argument(
        "--work", type=Path, default=_HERE / ".work", help="the folder of everything that is not shipped"
    )
    parser.add_argument("--run", default="default", help="the name of the training below --work")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=JSON", help="such as rank=32, data.qamr=0")
    parser.add_argument("--start", type=Path, help="the adapter to continue from, which may be an earlier release's")
    parser.add_argument("--stop-at", type=int, help="end the training after this many steps; it can continue later")
    parser.add_argument("--questions", type=int, default=400, help="questions of each group to evaluate")
    parser.add_argument("--output", type=Path, default=_ADAPTER, help="where export writes the adapter")
    options = parser.parse_args(arguments)
    config = _with_settings(Config(), options.set)
    if options.start is not None:
        config = replace(config, start_sha256=hashlib.sha256(options.start.read_bytes()).hexdigest())
    if options.command in ("run", "prepare"):
        _prepare(options, config)
    if options.command in ("run", "train"):
        _train(options, config)
    if options.command in ("run", "evaluate"):
        _evaluate(options)
    if options.command in ("run", "export"):
        _export(options)
    if options.command in ("run", "calibrate"):
        _calibrate(options)


def _with_settings(config: Config, settings: list[str]) -> Config:
    values = config.to_json()
    for setting in settings:
        key, _, value = setting.partition("=")
        *groups, name = key.split(".")
        target = values
        for group in groups:
            target = target.get(group, {})
        if name not in target:
            raise SystemExit(f"There is no setting {key}.")
        target[name] = json.loads(value)
    return Config.from_json(values)


def _prepare(options: argparse.Namespace, config: Config) -> None:
    from training.examples import read_lines
    from training.prepare import prepare, read_sources
    from training.retrieve import retrieve
    from wikigr.embeddings.loader import open_encoder

    encoder = open_encoder(purpose="bulk")
    for name, count in sorted(prepare(options.data, options.work, config, encoder).items()):
        print(f"{name:40} {count:7,}")
    sources = read_sources(options.data, config)
    print(f"held out: {', '.join(sources.titles)}")
    off_topic = [row["question"] for row in read_lines(options.data / _OFF_TOPIC_QUESTIONS / "queries.jsonl.xz")]
    corpus = options.data / squad2.NAME / "corpus.jsonl.xz"
    retrieve(corpus, sources.held_out, off_topic, options.work, encoder, limit=options.questions)


def _train(options: argparse.Namespace, config: Config) -> None:
    from training.adapter import read_adapter
    from training.examples import read_examples
    from training.features import make_features
    from training.prepare import TRAINING_FILE
    from training.train import train
    from wikigr.embeddings.model_id import DEFAULT_MODEL
    from wikigr.embeddings.weights import checkpoint_folder

    with checkpoint_folder(DEFAULT_MODEL) as folder:
        maker, pad_id = _window_maker(folder, config)
        examples = read_examples(options.work / TRAINING_FILE)
        features = make_features(examples, maker)
        print(f"{len(features):,} windows of {sum(len(f.input_ids) for f in features) / len(features):.0f} tokens")
        run = options.work / options.run
        start = read_adapter(options.start) if options.start is not None else None
        model = train(features, folder, pad_id, run, config, start=start, stop_at=options.stop_at)
        if config.refine_rates and options.stop_at is None:
            features = make_features([e for e in examples if e.source in config.refine_sources], maker)
            print(f"{len(features):,} windows to refine")
            train(features, folder, pad_id, run / _REFINED, config.refined(), start=model.adapter())


def _evaluate(options: argparse.Namespace) -> None:
    from training.evaluate import evaluate
    from training.retrieve import RETRIEVED_FILE, read_retrieved
    from wikigr.embeddings.model_id import DEFAULT_MODEL
    from wikigr.embeddings.weights import checkpoint_folder

    run = options.work / options.run
    with checkpoint_folder(DEFAULT_MODEL) as folder:
        model, config, step = _trained(run, folder, options.start)
        maker, pad_id = _window_maker(folder, config)
        questions = read_retrieved(options.work / RETRIEVED_FILE)
        if options.questions:
            questions = _first(questions, options.questions)
        figures = {name: asdict(found) for name, found in evaluate(model, maker, pad_id, questions, config).items()}
    keys = list(next(iter(figures.values())))
    print(" | ".join(["step", "read", *keys]))
    for name, row in figures.items():
        print(" | ".join([str(step), name, *(f"{row[key]:.4g}" for key in keys)]))
    (run / _FIGURES).write_text(json.dumps({"step": step, **figures}, indent=2) + "\n", encoding="utf-8")


def _export(options: argparse.Namespace) -> None:
    from training.adapter import write_adapter
    from wikigr.embeddings.model_id import DEFAULT_MODEL
    from wikigr.embeddings.weights import checkpoint_folder
    from wikigr.reader.passage import UNCALIBRATED

    run = options.work / options.run
    with checkpoint_folder(DEFAULT_MODEL) as folder:
        model, config, _ = _trained(run, folder, options.start)
    figures = json.loads((run / _FIGURES).read_text(encoding="utf-8"))
    begun = ["--start ADAPTER"] if config.start_sha256 else []
    command = " ".join(["python -m training run", *begun, *(f"--set '{setting}'" for setting in options.set)])
    write_adapter(model, options.output, config, figures=figures, calibration=UNCALIBRATED, command=command)
    print(f"{options.output}: {options.output.stat().st_size / 1e6:.2f} MB")


def _calibrate(options: argparse.Namespace) -> None:
    from tempfile import TemporaryDirectory

    from training.adapter import write_calibration
    from training.calibrate import calibrate, open_reader
    from training.retrieve import RETRIEVED_FILE, SQUAD2_PACK, read_retrieved
    from wikigr.embeddings.model_id import DEFAULT_MODEL
    from wikigr.embeddings.models import find_prepared
    from wikigr.pack.open import Pack

    questions = _first(read_retrieved(options.work / RETRIEVED_FILE), options.questions)
    with TemporaryDirectory() as temporary, Pack(options.work / SQUAD2_PACK, purpose="queries") as pack:
        reader = open_reader(options.output, find_prepared(DEFAULT_MODEL), Path(temporary) / "encoder")
        calibration, figures = calibrate(pack, reader, questions)
    write_calibration(options.output, calibration, figures)
    print(json.dumps({"calibration": asdict(calibration), "figures": figures}, indent=2))


def _trained(run: Path, folder: Path, start: Path | None) -> tuple[SpanReader, Config, int]:
    """Return the model of the last checkpoint in float32, its settings and its step."""
    import torch

    from training.adapter import read_adapter
    from training.model import SpanReader
    from training.train import CHECKPOINT, CONFIG

    config = Config.read(run / CONFIG)
    torch.set_num_threads(config.threads)
    state = torch.load(run / CHECKPOINT, weights_only=True)
    adapter, step = state["adapter"], state["position"][0]
    if config.refine_rates:
        other = torch.load(run / _REFINED / CHECKPOINT, weights_only=True)
        share = config.refined_share
        adapter = {name: (1 - share) * adapter[name] + share * other["adapter"][name] for name in adapter}
        step += other["position"][0]
    if config.start_sha256:
        if start is None or hashlib.sha256(start.read_bytes()).hexdigest() != config.start_sha256:
            raise SystemExit(f"This training continued from the adapter {config.start_sha256}: name it with --start.")
        share = config.start_share
        adapter = {name: share * value + (1 - share) * adapter[name] for name, value in read_adapter(start).items()}
    model = SpanReader(folder, rank=config.rank, scale=config.scale)
    # The figures must be those of the exported file, which holds float16.
    model.load_adapter({name: tensor.half().float() for name, tensor in adapter.items()})
    return model, config, step


def _window_maker(folder: Path, config: Config) -> Any:
    from tokenizers import Tokenizer

    from wikigr.reader.windows import WindowMaker

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return WindowMaker(tokenizer, config.windows), tokenizer.token_to_id("[PAD]")


def _first(questions: list[Any], count: int) -> list[Any]:
    """Return the first ``count`` questions of each group."""
    seen: dict[str, int] = {}
    kept = []
    for question in questions:
        seen[question.group] = seen.get(question.group, 0) + 1
        if seen[question.group] <= count:
            kept.append(question)
    return kept


if __name__ == "__main__":
    main()
