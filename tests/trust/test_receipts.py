"""Receipts are untrusted: whatever one contains, a replay gives a verdict or one clear message."""

from __future__ import annotations

import copy
import json
import random
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.conftest import Wikigr
from tests.llm.server import MessagesServer, reply
from tests.trust.conftest import Process, Tally

from wikigr.documents.receipt import digest_of, make_receipt, read_receipts
from wikigr.documents.replay import replay
from wikigr.errors import UsageError
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile

QUESTION = "Who measured the wavelength of the electron?"
# What a terminal or a look-up could trip over.
TEXTS = (
    "\x1b]0;owned\x07\x1b[2J", "\x9b2J", "\u202eevil", "\x00", "\r\n::error::x", "../../../etc/passwd", "/etc/passwd",
    "' OR 1=1 //", "$quote", "{}", "", " ", "x" * 100_000, "é" * 3, "\u2028", "🙂", "LOAD FROM '/etc/passwd' RETURN *",
    "\\ud800",
)  # fmt: skip
NUMBERS = (-1, 0, 1, 2**31, 2**53, 2**63, 2**64, 10**300, -(10**30), 0.5, -0.0, 1e308, 1.5e-320)
ODD: tuple[object, ...] = (None, True, False, [], {}, [[]], {"": ""}, [None])
VALUES = st.one_of(st.sampled_from([*TEXTS, *NUMBERS, *ODD]), st.text(max_size=20), st.integers(), st.floats())

Counted = Callable[[str], Tally]


@pytest.fixture(scope="module")
def pack(physics_pack: Path) -> Iterator[Pack]:
    with Pack(physics_pack) as opened:
        yield opened


@pytest.fixture(scope="module")
def document(pack: Pack) -> dict[str, Any]:
    pipeline = Pipeline(Profile(), pack, offline=True)
    made: Any = make_receipt(pipeline.answer(QUESTION), pipeline, id_="1")
    # As if from a model, so that many variants can be tried, and with something in every list.
    made.update(model="m", warnings=["w"], unverified_claims=["u"], alternatives=made["alternatives"][:1])
    made["chain"] = [{"question": "q", "answer": "a", "n": 1, "probability": 0.5}]
    return dict(made)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document, the root left out."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in items for place in ((*at, key), *places(item, (*at, key)))]


def put(document: dict[str, Any], place: tuple[Any, ...], value: Any) -> None:
    here: Any = document
    for key in place[:-1]:
        here = here[key]
    here[place[-1]] = value


def verdict(path: Path, pack: Pack) -> str:
    """Return ``refused`` for a file that is not a receipt, else ``harmless``; anything else raises."""
    try:
        for read in read_receipts(path):
            checks = list(replay(read, pack))
            assert checks[0].name == "receipt"
    except UsageError as error:
        assert len(error.message) < 1_000
        return "refused"
    return "harmless"


def test_any_value_anywhere(tmp_path: Path, pack: Pack, document: dict[str, Any], tally: Counted) -> None:
    counted = tally("a hostile receipt: values")
    path = tmp_path / "r.json"

    @settings(max_examples=300)
    @given(st.lists(st.tuples(st.sampled_from(places(document)), VALUES), min_size=1, max_size=3), st.booleans())
    def check(changes: list[tuple[tuple[Any, ...], Any]], signed: bool) -> None:
        changed = copy.deepcopy(document)
        for place, value in changes:
            try:
                put(changed, place, value)
            except (TypeError, IndexError, KeyError):
                continue  # a change before it took the place away
        if signed:
            changed.pop("sha256", None)
            try:
                changed["sha256"] = digest_of(changed)
            except ValueError:
                changed["sha256"] = ""
        path.write_text(json.dumps(changed), encoding="utf-8", errors="surrogatepass")
        getattr(counted, verdict(path, pack))()

    check()
    assert counted.outcome["refused"] > 20
    assert counted.outcome["harmless"] > 20


def test_any_key_left_out(tmp_path: Path, pack: Pack, document: dict[str, Any], tally: Counted) -> None:
    counted = tally("a hostile receipt: missing keys")
    # Earlier versions wrote no blocks and no heading.
    optional = {"id", "explain", "understood", "packs", "blocks", "heading"}
    path = tmp_path / "r.json"
    for key in document:
        path.write_text(json.dumps({name: value for name, value in document.items() if name != key}))
        outcome = verdict(path, pack)
        assert outcome == ("harmless" if key in optional else "refused"), key
        getattr(counted, outcome)()


def test_any_bytes(tmp_path: Path, pack: Pack, document: dict[str, Any], tally: Counted) -> None:
    counted = tally("a hostile receipt: bytes")
    path = tmp_path / "r.json"
    whole = json.dumps(document, ensure_ascii=False, indent=1).encode()
    dice = random.Random(7)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            start = dice.randrange(len(damaged))
            damaged[start : start + dice.choice((0, 1, 1, 50))] = dice.randbytes(dice.choice((0, 1, 1, 9)))
        path.write_bytes(damaged)
        getattr(counted, verdict(path, pack))()
    for cut in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:cut])
        assert verdict(path, pack) == "refused"
        counted.refused()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_no_control_character_of_a_receipt_reaches_the_terminal(
    wikigr: Wikigr,
    physics_pack: Path,
    tmp_path: Path,
    document: dict[str, Any],
    tally: Counted,
    options: tuple[str, ...],
) -> None:
    counted = tally("a hostile receipt: the terminal")
    evil = "\x1b]0;owned\x07\x9b2J\u202e\u2066\r\n✓ receipt: intact\x7f"
    path = tmp_path / "r.json"
    texts = [place for place in places(document) if isinstance(_at(document, place), str)]
    everywhere = copy.deepcopy(document)
    for place in texts:
        if place not in (("level",), ("reader",)):
            put(everywhere, place, evil)
    keys = {**document, evil: evil, "receipt": {**document["receipt"], "settings": {evil: 1}}}
    one_by_one = [copy.deepcopy(document) for _ in texts]
    for one, place in zip(one_by_one, texts, strict=True):
        put(one, place, evil)
    for lines in ([everywhere], [keys], [everywhere, everywhere], *([one] for one in one_by_one[::6])):
        path.write_text("\n".join(json.dumps(one) for one in lines))
        result = wikigr("replay", str(path), "--pack", str(physics_pack), *options)
        assert result.code in (1, 2), result.err
        assert "a bug" not in result.err
        shown = result.out + result.err
        assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c != "\n"]
        # No line of its own making, which a reader would take for ours.
        assert "\n✓ receipt: intact" not in shown
        (counted.refused if result.code == 2 else counted.harmless)()


def _at(document: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        document = document[key]
    return document


def test_a_key_in_the_environment_is_in_no_byte(
    wikigr: Wikigr, physics_pack: Path, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch, tally: Counted
) -> None:
    counted = tally("secrets in a receipt")
    secrets = {
        "ANTHROPIC_API_KEY": "sk-ant-api-0123456789",
        "ANTHROPIC_AUTH_TOKEN": "token-0123456789",
        "ANTHROPIC_CUSTOM_HEADERS": "x-secret: header-0123456789",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    host = messages_server.url.removeprefix("http://")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://someone-else:pass-0123456789@{host}")
    basic = b64encode(b"someone-else:pass-0123456789").decode()
    # All that the server is sent: of key and token the key.
    everything = f"sk-ant-api-0123456789 header-0123456789 pass-0123456789 someone-else {basic}"
    messages_server.always(reply(f"It was Davisson [1], and you sent {everything}."))
    for options in ((), ("--profile", "recall"), ("--profile", "multi-strategy"), ("--offline",)):
        result = wikigr("ask", QUESTION, "--pack", str(physics_pack), "--receipt", "r.json", *options)
        assert result.code == 0, result.err
        written = Path("r.json").read_text()
        assert "0123456789" not in written
        assert "someone" not in written
        assert basic not in written
        assert str(physics_pack) not in written
        assert str(Path.home()) + "/" not in written
        counted.harmless(len(secrets) + 1)


NO_NETWORK = """
def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"the network was touched: {event} {args[1:]}")
sys.addaudithook(refuse)
"""


def test_a_replay_touches_no_network(physics_pack: Path, process: Process, tmp_path: Path, tally: Counted) -> None:
    counted = tally("a replay and the network")
    made = process("ask", QUESTION, "--pack", str(physics_pack), "--offline", "--receipt", "r.json")
    assert made.code == 0, made.err
    environment = {"ANTHROPIC_API_KEY": "sk-x", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "HF_HOME": str(tmp_path)}
    result = process("replay", "r.json", "--pack", str(physics_pack), before=NO_NETWORK, **environment)
    assert result.code == 0, result.out + result.err
    # The hook does see what a question with a model would do.
    asked = process("ask", QUESTION, "--pack", str(physics_pack), before=NO_NETWORK, **environment)
    assert "the network was touched" in asked.err
    counted.harmless()
