"""The other backends: OpenVINO, exported graphs, and the documented generator."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, load_model, numpy_helper
from tests.embeddings.conftest import MakeBert

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.loader import open_encoder
from wikigr.embeddings.models import prepare
from wikigr.embeddings.onnx import OnnxEncoder
from wikigr.embeddings.onnx_import import adapt_graph
from wikigr.embeddings.runtime import onnxruntime
from wikigr.errors import ModelError

TEXTS = ["", "the energy of light", "who is the atom?", "wave " * 400, "def x ( a ) : return 2"]


@pytest.mark.parametrize(("precision", "agreement"), [("f32", 0.99999), ("bf16", 0.999)])
def test_openvino_agrees_with_onnx_runtime(encoder: Embedder, precision: str, agreement: float) -> None:
    pytest.importorskip("openvino", reason="the extra 'openvino' is not installed")
    from wikigr.embeddings.models import find_prepared
    from wikigr.embeddings.openvino import OpenVinoEncoder

    other = OpenVinoEncoder(find_prepared(encoder.identity.model_id), precision=precision)
    assert other.identity == encoder.identity
    vectors = other.encode(TEXTS)
    assert (vectors * encoder.encode(TEXTS)).sum(axis=1).min() >= agreement
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert other.encode([]).shape == (0, encoder.identity.dimension)


def test_openvino_errors_say_how_to_fix_them(make_bert: MakeBert, tmp_path: Path) -> None:
    pytest.importorskip("openvino", reason="the extra 'openvino' is not installed")
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    prepared.graph.write_bytes(b"\0" * prepared.graph.stat().st_size)
    with pytest.raises(ModelError, match="OpenVINO cannot read"):
        open_encoder(prepared.folder, backend="openvino")


def _make_other_architecture(make_bert: MakeBert, kind: str) -> Path:
    """Create a folder of another architecture with the tokenizer and the layout of a BERT folder."""
    torch = pytest.importorskip("torch", reason="the extra 'models' is not installed")
    import transformers

    folder: Path = make_bert(kind)
    sizes: dict[str, Any] = {"vocab_size": 40, "pad_token_id": 0, "max_position_embeddings": 40}
    torch.manual_seed(0)
    if kind == "distilbert":
        model = transformers.DistilBertModel(
            transformers.DistilBertConfig(dim=24, n_layers=2, n_heads=4, hidden_dim=40, **sizes)
        )
    else:
        model = transformers.MPNetModel(
            transformers.MPNetConfig(
                hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40, **sizes
            )
        )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["distilbert", "mpnet"])
def test_other_architectures_are_exported(make_bert: MakeBert, tmp_path: Path, kind: str) -> None:
    folder = _make_other_architecture(make_bert, kind)
    from wikigr.embeddings.onnx_import import export_graph
    from wikigr.embeddings.sentence_transformers import SentenceTransformersEncoder

    prepared = prepare(str(folder), cache_dir=tmp_path / "cache")
    ours, theirs = OnnxEncoder(prepared), SentenceTransformersEncoder(str(folder), device="cpu")
    assert ours.identity == theirs.identity
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=5e-6)

    # A graph that the folder brings, as the hub's models do, is taken as it is.
    (folder / "onnx").mkdir()
    export_graph(folder, folder / "onnx")
    brought = OnnxEncoder(prepare(str(folder), cache_dir=tmp_path / "other"))
    np.testing.assert_allclose(brought.encode(TEXTS), ours.encode(TEXTS), atol=5e-6)


def test_a_graph_with_segments_gets_the_first(tmp_path: Path) -> None:
    """A graph with 64-bit inputs whose hidden states are the sum of the word and segment vectors."""
    draw = np.random.default_rng(0)
    words, segments = (draw.standard_normal((size, 6)).astype(np.float32) for size in (10, 2))
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["word"]),
        helper.make_node("Gather", ["segments", "token_type_ids"], ["segment"]),
        helper.make_node("Add", ["word", "segment"], ["sum"]),
        helper.make_node("Cast", ["attention_mask"], ["unused"], to=TensorProto.FLOAT),
        helper.make_node("Identity", ["sum"], ["last_hidden_state"]),
    ]
    names = ("input_ids", "attention_mask", "token_type_ids")
    graph = helper.make_graph(
        nodes,
        "segments",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in names],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", 6])],
        [numpy_helper.from_array(words, "words"), numpy_helper.from_array(segments, "segments")],
    )
    source = tmp_path / "source.onnx"
    source.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    )
    adapt_graph(source, 6, "mean", tmp_path, "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    ids, mask = np.array([[1, 2, 3], [4, 5, 0]], np.int32), np.array([[1, 1, 1], [1, 1, 0]], np.int32)
    (vectors,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    expected = np.stack([words[[1, 2, 3]].mean(axis=0), words[[4, 5]].mean(axis=0)]) + segments[0]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_a_graph_that_is_not_an_encoder_is_refused(make_bert: MakeBert, tmp_path: Path) -> None:
    folder = make_bert()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "unheard-of"}))
    (folder / "onnx").mkdir()
    graph = folder / "onnx" / "model.onnx"
    graph.write_bytes(b"no graph at all")
    with pytest.raises(ModelError, match=r"Cannot read|inputs"):
        prepare(str(folder), cache_dir=tmp_path / "cache")
    graph.write_bytes(b"")
    with pytest.raises(ModelError, match="inputs"):
        prepare(str(folder), cache_dir=tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


def test_the_generator_embeds_queries_and_texts(encoder: Embedder) -> None:
    from wikigr.embeddings import EmbeddingGenerator

    generator = EmbeddingGenerator()
    assert (generator.model_name, generator.dimension) == (encoder.identity.model_id, 384)
    assert EmbeddingGenerator("all-MiniLM-L6-v2").model_name == generator.model_name
    vectors = generator.generate(TEXTS)
    np.testing.assert_allclose(vectors, encoder.encode(TEXTS), atol=1e-6)
    query = generator.embed_query(TEXTS[1])
    assert query.shape == (384,)
    np.testing.assert_allclose(query, vectors[1], atol=1e-5)
    with pytest.raises(TypeError, match="embed_query"):
        generator.generate("one text")


def test_the_package_is_light_until_it_is_used() -> None:
    program = "import sys, wikigr.embeddings; print(*sorted({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_query_imports_nothing_that_writes_graphs(encoder: Embedder) -> None:
    program = (
        "import sys; from wikigr.embeddings.loader import open_encoder; open_encoder().encode(['x']);"
        "print(*sorted({'onnx', 'safetensors', 'torch', 'openvino', 'sentence_transformers', 'subprocess'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("", "subprocess")


@pytest.mark.parametrize("location", ["../secret", "absolute", "linked"])
def test_weights_outside_of_the_folder_are_not_read(make_bert: MakeBert, tmp_path: Path, location: str) -> None:
    """ONNX Runtime before 1.24 reads any file that the graph of an untrusted encoder names."""
    prepared = prepare(str(make_bert()), cache_dir=tmp_path / "cache")
    secret = prepared.folder.parent / "secret"
    secret.write_bytes(bytes(1_000))
    (prepared.folder / "linked").symlink_to(secret)
    graph = load_model(prepared.graph, load_external_data=False)
    weights = graph.graph.initializer[0]
    weights.CopyFrom(TensorProto(name=weights.name, data_type=TensorProto.FLOAT, dims=[8, 24]))
    weights.data_location = TensorProto.EXTERNAL
    where = str(secret) if location == "absolute" else location
    for key, value in (("location", where), ("offset", "0"), ("length", str(8 * 24 * 4))):
        weights.external_data.add(key=key, value=value)
    prepared.graph.write_bytes(graph.SerializeToString())
    with pytest.raises(ModelError, match="External data path"):
        OnnxEncoder(prepared)
