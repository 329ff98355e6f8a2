"""Record the ranges of the values that the 8-bit form of the default encoder multiplies with weights.

    python benchmarks/int8_ranges.py PACK QUESTIONS.jsonl [--sections 160] [--clip 0.1]

Runs the encoder in single precision on sections of the pack, spread evenly over it, and on the questions, and writes
``src/wikigr/embeddings/int8_ranges.json``. Of the least and the greatest value of every token, the outermost ``--clip``
percent are left out. Other ranges give other vectors, so change them only with the id of the 8-bit form.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from wikigr.embeddings.batching import token_batches
from wikigr.embeddings.int8 import RECORDED
from wikigr.embeddings.models import prepare
from wikigr.embeddings.prepared import ATTENTION_MASK, INPUT_IDS
from wikigr.embeddings.runtime import onnxruntime
from wikigr.embeddings.tokenization import TextTokenizer
from wikigr.pack.locate import find_pack
from wikigr.pack.open import Pack

Feed = Mapping[str, NDArray[np.int32]]


def multiplied(model: onnx.ModelProto) -> list[str]:
    """Return the values that ``model`` multiplies with weights."""
    weights = {tensor.name for tensor in model.graph.initializer}
    nodes = (node for node in model.graph.node if node.op_type in ("MatMul", "Attention"))
    return list(dict.fromkeys(node.input[0] for node in nodes if node.input[1] in weights))


def ranges(path: Path, feeds: Iterable[Feed], clip: float) -> dict[str, tuple[float, float]]:
    """Return the range of each value that the graph ``path`` multiplies with weights."""
    model = onnx.load(path)
    names = multiplied(model)
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    lows, highs = defaultdict(list), defaultdict(list)
    for feed in feeds:
        real = feed[ATTENTION_MASK].astype(bool)
        for name, values in zip(names, session.run(names, dict(feed)), strict=True):
            lows[name].append(values[real].min(axis=1))
            highs[name].append(values[real].max(axis=1))
    return {
        name: (
            round(float(np.percentile(np.concatenate(lows[name]), clip)), 3),
            round(float(np.percentile(np.concatenate(highs[name]), 100 - clip)), 3),
        )
        for name in names
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--sections", type=int, default=160)
    parser.add_argument("--clip", type=float, default=0.1)
    options = parser.parse_args()
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
    found = ranges(encoder.graph, feeds, options.clip)
    lines = ",\n".join(f"    {json.dumps(name)}: [{low}, {high}]" for name, (low, high) in found.items())
    sha256 = encoder.identity.weights_sha256
    RECORDED.write_text(f'{{\n  "sha256": "{sha256}",\n  "ranges": {{\n{lines}\n  }}\n}}\n')
    print(f"{RECORDED}: {len(found)} ranges")


if __name__ == "__main__":
    main()
