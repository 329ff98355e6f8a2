"""Record the ranges of the values that 8-bit products multiply with weights.

    python -m training.int8_ranges encoder PACK QUESTIONS.jsonl [--sections 160] [--clip 0.1]
    python -m training.int8_ranges reader READING.jsonl[.xz]... [--questions 80] [--base FOLDER]

``encoder`` runs the default encoder in single precision on sections of the pack, spread evenly over it, and on the
questions, and writes ``src/wikigr/embeddings/int8_ranges.json``. Other ranges give other vectors, so change them only
with the id of the 8-bit form.

``reader`` runs the small reader that ships in single precision on questions with their contexts, drawn from files with
a ``question``, a ``context`` (or a ``text``) and maybe a ``title`` and a ``heading`` a line, and on half as many
contexts of other questions. It adds the ranges to the description of the adapter,
``src/wikigr/reader/adapters/small.json``. Run it for every new adapter. The ``--outliers`` channels with the greatest
values are divided so that these are no greater than those of the next one; after the activation, ``--single`` channels
are multiplied in single precision instead. With ``--base FOLDER``, it does so for the reader ``base``, whose base model
lies in that folder. Its outliers are too large to be divided, so run it with ``--outliers 0 --others 32 --single 128``:
``--others`` channels of all other values are multiplied in single precision as well.

Of the least and the greatest value of every token, the outermost ``--clip`` percent are left out.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper
from tokenizers import Tokenizer

from training.examples import read_lines
from wikigr.embeddings.checkpoint import Checkpoint
from wikigr.embeddings.int8 import RECORDED, Ranges, ValueRange, ranges_to_json
from wikigr.embeddings.model_id import DEFAULT_MODEL
from wikigr.embeddings.models import prepare
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS
from wikigr.embeddings.runtime import onnxruntime
from wikigr.embeddings.tokenization import TextTokenizer, token_batches
from wikigr.embeddings.weights import checkpoint_folder
from wikigr.pack.locate import find_pack
from wikigr.pack.open import Pack
from wikigr.reader.adapter import ADAPTER, BASE_ADAPTER, Adapter, as_json
from wikigr.reader.graph import write_reader_graph
from wikigr.reader.windows import TOKEN_TYPES, Window, WindowMaker

Feed = Mapping[str, NDArray[np.int32]]


def multiplied(model: onnx.ModelProto) -> list[str]:
    """Return the values that the layers of ``model`` multiply with weights."""
    weights = {tensor.name for tensor in model.graph.initializer}
    nodes = (node for node in model.graph.node if node.op_type in ("MatMul", "Attention") and node.name != "head")
    return list(dict.fromkeys(node.input[0] for node in nodes if node.input[1] in weights))


def record(
    path: Path, feeds: Iterable[Feed], clip: float, *, outliers: int = 0, single: int = 0, others: int = 0
) -> Ranges:
    """Return the range of each value that the graph ``path`` multiplies with weights.

    ``single`` is the number of channels in single precision after the activation, ``others`` that of other values.
    """
    model = onnx.load(path)
    names = multiplied(model)
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    found = defaultdict(list)
    takes = {source.name for source in session.get_inputs()}
    for feed in feeds:
        real = feed[ATTENTION_MASK].astype(bool)
        for name, values in zip(names, session.run(names, {name: feed[name] for name in takes}), strict=True):
            found[name].append(values[real])
    return {
        name: range_of(
            np.concatenate(values),
            clip,
            **({"single": single} if "gelu" in name else {"outliers": outliers, "single": others}),
        )
        for name, values in found.items()
    }


def range_of(values: NDArray[np.float32], clip: float, *, outliers: int = 0, single: int = 0) -> ValueRange:
    """Return the range of ``values`` of the shape ``(tokens, channels)``."""
    greatest = np.abs(values).max(axis=0)
    order = np.argsort(-greatest, kind="stable").tolist()
    divisors = {c: round(float(greatest[c] / greatest[order[outliers]]), 3) for c in sorted(order[:outliers])}
    values = values.copy()
    for channel, divisor in divisors.items():
        values[:, channel] /= divisor
    values[:, order[:single]] = 0
    low = np.percentile(values.min(axis=1), clip)
    high = np.percentile(values.max(axis=1), 100 - clip)
    return ValueRange(round(float(low), 3), round(float(high), 3), divisors, tuple(sorted(order[:single])))


def record_encoder(options: argparse.Namespace) -> None:
    questions = [json.loads(line)["question"] for line in options.questions.read_text().splitlines()]
    with Pack(find_pack(options.pack).root) as pack:
        rows = pack.graph.rows("MATCH (s:Section) RETURN s.article_title, s.content ORDER BY s.section_id")
    sections = rows[:: max(1, len(rows) // options.sections)][: options.sections]

    encoder = prepare("all-MiniLM-L6-v2")
    encoded = TextTokenizer(encoder).encode([f"{title}\n{text}" for title, text in sections] + questions)
    feeds = [
        {INPUT_IDS: batch.input_ids, ATTENTION_MASK: batch.attention_mask}
        for batch in token_batches(encoded, pad_id=0, max_tokens=512, max_texts=64)
    ]
    found = ranges_to_json(record(encoder.graph, feeds, options.clip))
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    sha256 = encoder.identity.weights_sha256
    RECORDED.write_text(f'{{\n  "sha256": "{sha256}",\n  "ranges": {{\n{lines}\n  }}\n}}\n')
    print(f"{RECORDED}: {len(found)} ranges")


def record_reader(options: argparse.Namespace) -> None:
    path = BASE_ADAPTER if options.base is not None else ADAPTER
    adapter = Adapter(path)
    adapter.description = replace(adapter.description, ranges=None)
    encoder = prepare("all-MiniLM-L6-v2") if options.base is None else None
    with (
        tempfile.TemporaryDirectory() as folder,
        nullcontext(options.base) if encoder is None else checkpoint_folder(DEFAULT_MODEL) as source,
    ):
        checkpoint = Checkpoint.read(source)
        maker = WindowMaker(Tokenizer.from_file(str(source / "tokenizer.json")))
        windows = list(draw_windows(options.reading, options.questions, maker))
        graph = Path(folder) / "reader.onnx"
        if encoder is not None:
            shutil.copy(f"{encoder.graph}.data", folder)
        write_reader_graph(
            checkpoint.weights,
            checkpoint.config,
            adapter,
            graph.parent,
            graph.name,
            encoder=encoder.graph if encoder is not None else None,
        )
        found = ranges_to_json(
            record(
                graph,
                map(feed_of, windows),
                options.clip,
                outliers=options.outliers,
                single=options.single,
                others=options.others,
            )
        )
    path = path.with_suffix(".json")
    described = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(as_json({**described, "ranges": found}), encoding="utf-8")
    print(f"{path}: {len(found)} ranges from {len(windows)} windows")


def draw_windows(files: Sequence[Path], count: int, maker: WindowMaker) -> Iterator[Window]:
    """Yield the first windows of ``count`` questions of each file, and of half as many with other contexts."""
    draw = random.Random(0)
    for file in files:
        rows = list(read_lines(file))
        asked = draw.sample(rows, count)
        pairs = [*zip(asked, asked, strict=True), *zip(asked[: count // 2], draw.sample(rows, count // 2), strict=True)]
        for question, row in pairs:
            yield maker.windows(
                question["question"], row.get("title", ""), row.get("heading", ""), row.get("text") or row["context"]
            )[0]


def feed_of(window: Window) -> Feed:
    input_ids = np.array([window.input_ids], np.int32)
    token_types = np.array([window.token_types], np.int32)
    return {INPUT_IDS: input_ids, ATTENTION_MASK: np.ones_like(input_ids), TOKEN_TYPES: token_types}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    models = parser.add_subparsers(required=True)
    encoder = models.add_parser("encoder")
    encoder.add_argument("pack")
    encoder.add_argument("questions", type=Path)
    encoder.add_argument("--sections", type=int, default=160)
    encoder.add_argument("--clip", type=float, default=0.1)
    encoder.set_defaults(record=record_encoder)
    reader = models.add_parser("reader")
    reader.add_argument("reading", type=Path, nargs="+")
    reader.add_argument("--base", type=Path)
    reader.add_argument("--questions", type=int, default=80)
    reader.add_argument("--clip", type=float, default=0.02)
    reader.add_argument("--outliers", type=int, default=4)
    reader.add_argument("--single", type=int, default=48)
    reader.add_argument("--others", type=int, default=0)
    reader.set_defaults(record=record_reader)
    options = parser.parse_args()
    options.record(options)


if __name__ == "__main__":
    main()
