"""Reranking with real, tiny cross-encoders made here; what comes from the hub comes from one on loopback."""

from __future__ import annotations

import copy
import hashlib
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.distribution.letters import build_letters, bundle_encoder
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.models import find_prepared
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.reader.prepared import find_reader
from wikigr.reader.reader import Reader
from wikigr.rerankers.cross_encoder import CrossEncoderOptions, CrossEncoderReranker, reader_scores
from wikigr.retrieval.trace import Trace

WORDS = "atom energy light heat wave field spin quark".split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
RESULTS: list[dict[str, Any]] = [
    {"title": "Heat", "content": "light heat wave"},
    {"title": "Spin", "content": "atom spin quark", "score": 0.5},
    {"title": "Field", "content": "field energy heat"},
]


def _bert(labels: int = 1, architecture: str = "BertForSequenceClassification") -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(SPECIAL + WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=1,
        intermediate_size=64, max_position_embeddings=32, hidden_act="relu", initializer_range=0.2,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=labels,  # type: ignore[call-arg]
    )  # fmt: skip
    return getattr(transformers, architecture)(config)


def _write_matching_weights(bert: Any) -> None:
    """Make the score of ``bert`` rise with the share of the question's words that the text holds.

    Weights from a short training would depend on how the processor rounds; these leave a wide margin. The second half
    of each hidden state is the negative of the first, and a large constant is in both, so that layer normalization
    neither shifts nor scales the rest. In the first layer, each word attends to its occurrences and finds how many of
    them are in the text (token type 1): none for a word of the question that the text lacks, otherwise at least half.
    In the second layer, [CLS] averages that over the words of the question.
    """
    import torch

    words, count = slice(len(SPECIAL), len(SPECIAL + WORDS)), len(SPECIAL + WORDS)
    is_text, found, constant = range(count, count + 3)
    half, large, sharp = bert.config.hidden_size // 2, 100.0, 10.0
    embeddings, (match, average) = bert.bert.embeddings, bert.bert.encoder.layer
    with torch.no_grad():
        for parameter in bert.parameters():
            parameter.zero_()
        for module in bert.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.fill_(large / half**0.5)
        embeddings.word_embeddings.weight[:, :count] = torch.eye(count)
        embeddings.word_embeddings.weight[:, constant] = large
        embeddings.token_type_embeddings.weight[1, is_text] = 1.0
        for table in (embeddings.word_embeddings, embeddings.token_type_embeddings):
            table.weight[:, half:] = -table.weight[:, :half]
        for projection in (match.attention.self.query, match.attention.self.key):
            projection.weight[:count, :count] = sharp * torch.eye(count)
        average.attention.self.query.bias[0] = sharp
        average.attention.self.key.weight[0, words] = sharp
        average.attention.self.key.weight[0, is_text] = -2 * sharp
        for layer, source in ((match, is_text), (average, found)):
            layer.attention.self.value.weight[0, source] = 1.0
            layer.attention.output.dense.weight[[found, half + found], 0] = torch.tensor([1.0, -1.0])
        # The logit is about -3 if the text holds no word of the question, and at least 3 if it holds all.
        bert.bert.pooler.dense.weight[0, found] = 4.0
        bert.bert.pooler.dense.bias[0] = -1.0
        bert.classifier.weight[0, 0] = 4.0


def _save(bert: Any, folder: Path) -> Path:
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: n for n, word in enumerate(SPECIAL + WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, model_max_length=32, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    ).save_pretrained(folder)  # fmt: skip
    bert.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder that scores a text by the share of the question's words that it holds."""
    bert = _bert()
    _write_matching_weights(bert)
    return _save(bert, tmp_path_factory.mktemp("models") / "matcher")


@pytest.fixture(scope="module")
def reranker(matcher: Path) -> CrossEncoderReranker:
    made = CrossEncoderReranker(str(matcher))
    assert made._model is not None
    return made


@pytest.mark.parametrize(("query", "best"), [("spin", "Spin"), ("light", "Heat"), ("field", "Field")])
def test_the_text_that_answers_comes_first(reranker: CrossEncoderReranker, query: str, best: str) -> None:
    before = copy.deepcopy(RESULTS)
    found = reranker.rerank(query, RESULTS)
    assert found[0]["title"] == best
    scores = [result["ce_score"] for result in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.9 > 0.1 > scores[1]
    assert all(type(result.pop("ce_score")) is float for result in found)
    assert sorted(found, key=RESULTS.index) == RESULTS == before


def test_the_scores_are_the_models_own(reranker: CrossEncoderReranker, matcher: Path) -> None:
    from sentence_transformers import CrossEncoder

    # The texts hold both words, none and one.
    expected = CrossEncoder(str(matcher)).predict([("heat light", result["content"]) for result in RESULTS])
    found = {result["title"]: result["ce_score"] for result in reranker.rerank("heat light", RESULTS)}
    assert [found[result["title"]] for result in RESULTS] == pytest.approx(expected.tolist(), abs=1e-6)


def test_top_k(reranker: CrossEncoderReranker) -> None:
    many = RESULTS * 3
    assert [len(reranker.rerank("spin", many, top_k=k)) for k in (1, 2, 20)] == [1, 2, 9]
    assert len(reranker.rerank("spin", many)) == 5
    assert reranker.rerank("spin", []) == []


def test_equal_scores_keep_their_order(reranker: CrossEncoderReranker) -> None:
    same = [{"title": str(n), "content": "atom spin quark"} for n in range(20)]
    assert [result["title"] for result in reranker.rerank("spin", same, top_k=20)] == [str(n) for n in range(20)]


@pytest.mark.parametrize(
    "result", [{"title": "spin"}, {"title": "spin", "content": " "}, {"title": "spin", "content": None}]
)
def test_a_title_is_read_where_there_is_no_content(reranker: CrossEncoderReranker, result: dict[str, Any]) -> None:
    (found,) = reranker.rerank("spin", [result])
    (expected,) = reranker.rerank("spin", [{"title": "heat", "content": "spin"}])
    assert found == {**result, "ce_score": pytest.approx(expected["ce_score"])}


def test_text_that_is_no_unicode_is_scored_all_the_same(reranker: CrossEncoderReranker) -> None:
    assert reranker.rerank("\udcff", [{"title": "\udcff"}])[0]["title"] == "\udcff"


@pytest.mark.parametrize(
    ("results", "top_k", "message"),
    [
        (RESULTS, 0, "top_k"),
        ([], -1, "top_k"),
        ([RESULTS[0], {"score": 1.0}], 5, "result 2 has neither"),
        ([{"content": "", "title": ""}], 5, "result 1 has neither"),
    ],
)
def test_impossible_requests(
    reranker: CrossEncoderReranker, results: list[dict[str, Any]], top_k: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        reranker.rerank("spin", results, top_k)


def test_a_score_that_is_not_finite_is_an_error(tmp_path: Path) -> None:
    bert = _bert()
    bert.classifier.bias.data.fill_(float("nan"))
    folder = _save(bert, tmp_path / "diverged")
    with pytest.raises(ValueError, match="diverged gave a score that is not finite"):
        CrossEncoderReranker(str(folder)).rerank("spin", RESULTS)


def _nothing(folder: Path) -> None:
    assert not folder.exists()


def _torn(folder: Path) -> None:
    weights = _save(_bert(), folder) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])


def _three_labels(folder: Path) -> None:
    _save(_bert(labels=3), folder)


def _no_head(folder: Path) -> None:
    _save(_bert(architecture="BertModel"), folder)


@pytest.mark.parametrize(
    ("make", "cause"),
    [(_nothing, "broken"), (_torn, ""), (_three_labels, "3 scores per pair"), (_no_head, "weights are of BertModel")],
)
def test_a_model_that_cannot_be_loaded_leaves_results_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, make: Callable[[Path], None], cause: str
) -> None:
    folder = tmp_path / "broken"
    make(folder)
    with caplog.at_level(logging.WARNING, logger="wikigr.rerankers.cross_encoder"):
        reranker = CrossEncoderReranker(str(folder))
    (record,) = (record for record in caplog.records if record.name == "wikigr.rerankers.cross_encoder")
    assert record.levelname == "WARNING"
    assert f"The cross-encoder {folder} cannot be loaded" in record.getMessage()
    assert cause in record.getMessage()
    assert reranker._model is None
    passed = reranker.rerank("spin", RESULTS, top_k=1)
    assert passed == RESULTS
    assert passed is not RESULTS
    with pytest.raises(ValueError, match="top_k"):
        reranker.rerank("spin", RESULTS, top_k=0)


SCIENTISTS: list[dict[str, Any]] = [
    {"title": "Niels Bohr", "section": "Life", "content": "He was born in Copenhagen and studied there.", "score": 0.9},
    {"title": "Rain", "content": "Rain is water that falls from clouds."},
    {"title": "Albert Einstein", "section": "Life", "content": "He was born in Ulm and worked in Bern from 1902."},
]


@pytest.fixture(scope="module")
def reader(encoder: Embedder) -> Reader:
    return Reader(find_reader(find_prepared(encoder.identity.model_id)))


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("Where was Albert Einstein born?", "Albert Einstein"),
        ("Where was Niels Bohr born?", "Niels Bohr"),
        ("What falls from clouds?", "Rain"),
    ],
)
def test_the_margin_of_the_reader_is_highest_where_the_answer_is(reader: Reader, question: str, best: str) -> None:
    scores = dict(zip([item["title"] for item in SCIENTISTS], reader_scores(reader, question, SCIENTISTS), strict=True))
    assert max(scores, key=scores.__getitem__) == best


def test_a_pack_without_a_reader_says_so_once_and_keeps_the_order(
    encoder: Embedder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Regression: the stage failed, with a message, for every question."""
    pack = build_letters(tmp_path / "letters", encoder)
    for path in bundle_encoder(pack).glob("reader.*"):
        path.unlink()
    precise = load_profile("precise")
    traces = [Trace(), Trace()]
    with Pack(pack) as opened:
        pipeline = Pipeline(precise, opened, offline=True)
        found = [pipeline.search("What is the second letter?", top_k=3, trace=trace) for trace in traces]
        plain = Pipeline(precise.override(CrossEncoderOptions, enabled=False), opened, offline=True)
        expected = plain.search("What is the second letter?", top_k=3)
    assert found == [expected, expected]
    assert [len(trace.warnings) for trace in traces] == [1, 0]
    assert traces[0].warnings[0].startswith("cross_encoder: The reader has not been prepared")
    assert all(trace.degraded for trace in traces)
    assert not caplog.records


class _Hub(ThreadingHTTPServer):
    """Serves one model, ``acme/matcher``, as the model hub does, and keeps what was asked for."""

    daemon_threads = True
    commit = "0" * 40

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _HubHandler)
        self.files = files
        self.asked: list[str] = []

    def answer(self, path: str) -> tuple[int, bytes]:
        """What the hub has at ``path``; it is down for every other model."""
        listing = [
            {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
            for name, data in self.files.items()
        ]
        siblings = [{"rfilename": name} for name in self.files]
        if path.startswith("/api/models/acme/matcher/revision/"):
            return 200, json.dumps({"id": "acme/matcher", "sha": self.commit, "siblings": siblings}).encode()
        if path.startswith("/api/models/acme/matcher/tree/"):
            return 200, json.dumps(listing).encode()
        name = path.removeprefix(f"/acme/matcher/resolve/{self.commit}/")
        return (200, self.files[name]) if name in self.files else (503, b"")


class _HubHandler(BaseHTTPRequestHandler):
    server: _Hub

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        self.server.asked.append(self.path)
        status, body = self.server.answer(self.path.partition("?")[0])
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", self.server.commit)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(matcher: Path) -> Iterator[_Hub]:
    files = {path.name: path.read_bytes() for path in matcher.iterdir()}
    with _Hub({**files, "pytorch_model.bin": b"pickle", "modeling.py": b"raise SystemExit"}) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


# The hub library reads its settings when it is imported, hence another process.
_PROGRAM = """
import sys
from wikigr.rerankers.cross_encoder import CrossEncoderReranker
assert "sentence_transformers" not in sys.modules
for name in sys.argv[1:]:
    print(CrossEncoderReranker(name)._model is not None)
"""


def _loads(hub: _Hub, home: Path, *names: str, offline: bool = False) -> list[str]:
    settings = {"HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}", "HF_HOME": str(home), "NO_PROXY": "*"}
    command = [sys.executable, "-c", _PROGRAM, *names]
    environment = {**os.environ, **settings, "HF_HUB_OFFLINE": "1" if offline else "0"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.trust
def test_a_model_is_downloaded_once_and_a_hub_that_is_down_is_asked_once(hub: _Hub, tmp_path: Path) -> None:
    assert _loads(hub, tmp_path, "acme/matcher", "acme/matcher", "acme/down") == ["True", "True", "False"]
    assert sum("acme/matcher/revision" in path for path in hub.asked) == 1
    assert not [path for path in hub.asked if path.endswith((".bin", ".py"))]
    assert len([path for path in hub.asked if "acme/down" in path]) == 1
    hub.asked.clear()
    assert _loads(hub, tmp_path, "acme/matcher", "acme/down", offline=True) == ["True", "False"]
    assert hub.asked == []
