"""Receipts of real answers, and replaying them against a pack with changed text."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.possible_answers import answer_everything

from wikigr.answer.extractive import ExtractiveOptions
from wikigr.checks import Check
from wikigr.documents.answer import answer_document
from wikigr.documents.receipt import digest_of, make_receipt, read_receipts, write_receipts
from wikigr.documents.replay import find_receipts_pack, replay
from wikigr.errors import PackError, UsageError, WikigrError
from wikigr.pack.layout import installed_packs
from wikigr.pack.open import Pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.profile_files import load_profile

FILL = "The records of the parish say little about the years before, and nobody has looked for more of them since."
LIGHTHOUSE = "The engineer Ida Holm built the lighthouse of Ardmore in 1871."
BRIDGE = "The mason Piet Vander designed the bridge of Brask in 1902."
TELESCOPE = "The optician Lena Moor ground the mirror of the Corvane telescope."
CANAL = "The canal of Dunmere carries eleven thousand barges a year."
MILL = "The miller Otto Fens founded the paper mill of Ellis in 1788."

BEFORE = {
    "Ardmore Lighthouse": f"# Ardmore Lighthouse\n\n{FILL}\n\n## Construction\n\n{LIGHTHOUSE}\n\n{FILL}\n",
    "Brask Bridge": f"# Brask Bridge\n\n{FILL}\n\n## Design\n\n{BRIDGE}\n\n{FILL}\n\n## Traffic\n\n{FILL}\n",
    "Corvane Telescope": f"# Corvane Telescope\n\n{FILL}\n\n## Mirror\n\n{TELESCOPE}\n\n{FILL}\n",
    "Dunmere Canal": f"# Dunmere Canal\n\n{FILL}\n\n## Barges\n\n{CANAL}\n\n{FILL}\n",
    "Ellis Mill": f"# Ellis Mill\n\n{FILL}\n\n## Paper\n\n{MILL}\n\n{FILL}\n",
}
NEW = "A storm took the wooden tower that had stood there."
AFTER = {
    **BEFORE,
    "Ardmore Lighthouse": BEFORE["Ardmore Lighthouse"].replace(LIGHTHOUSE, f"{NEW}\n\n{LIGHTHOUSE}"),
    "Brask Bridge": f"# Brask Bridge\n\n{FILL}\n\n## Design\n\n{FILL}\n\n## Traffic\n\n{FILL} {BRIDGE}\n",
    "Corvane Telescope": f"# Corvane Telescope\n\n{FILL}\n\n## Mirror\n\n{FILL}\n",
    "Dunmere Canal": BEFORE["Dunmere Canal"].replace(CANAL, f"{TELESCOPE} It lies beside the canal."),
}

Build = Callable[[dict[str, str]], Path]


@pytest.fixture(scope="module")
def build(pack_of: Callable[..., Path]) -> Build:
    def build(articles: dict[str, str]) -> Path:
        # A paragraph that many articles repeat at their ends is a footer, which is left out.
        own = (
            (title, text.replace("the parish", f"parish {n:03}")) for n, (title, text) in enumerate(articles.items())
        )
        return pack_of("parish", {f"{title}.md": text for title, text in own})

    return build


@pytest.fixture(scope="module")
def before(build: Build) -> Iterator[Pack]:
    with Pack(build(BEFORE)) as pack:
        yield pack


@pytest.fixture(scope="module")
def after(build: Build) -> Iterator[Pack]:
    with Pack(build(AFTER)) as pack:
        yield pack


def quoted(pack: Pack, question: str, profile: Profile | None = None, **options: Any) -> Any:
    pipeline = Pipeline(profile or Profile(), pack, offline=True)
    return make_receipt(pipeline.answer(question), pipeline, **options)


def replayed(receipt: Any, pack: Pack, folder: Path) -> list[Check]:
    write_receipts(folder / "r.json", [receipt], batch=False)
    (read,) = read_receipts(folder / "r.json")
    return list(replay(read, pack))


def signed(original: Any, /, **changes: Any) -> Any:
    """The receipt with other values, and a digest of its own."""
    changed = {**original, **changes}
    changed.pop("sha256")
    return {**changed, "sha256": digest_of(changed)}


def failed(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.detail for check in checks if check.required and not check.passed}


def test_a_receipt_is_the_document_of_the_answer_and_is_confirmed(before: Pack, tmp_path: Path) -> None:
    question = "Who built the lighthouse of Ardmore?"
    pipeline = Pipeline(Profile(), before, offline=True)
    answer = pipeline.answer(question)
    receipt: Any = make_receipt(answer, pipeline)
    document = answer_document(answer, pipeline)
    # What it leaves out are addresses of files on this machine.
    assert list(receipt) == [*document, "receipt", "sha256"]
    assert "file:" in json.dumps(document) and "file:" not in json.dumps(receipt)
    assert [receipt[key] for key in ("answer", "span", "level", "pack")] == [
        document[key]  # type: ignore[literal-required]
        for key in ("answer", "span", "level", "pack")
    ]
    checks = replayed(receipt, before, tmp_path)
    assert failed(checks) == {}
    assert [check.name for check in checks][:4] == ["receipt", "wikigr", "pack", "citation [1]"]
    again: Any = make_receipt(answer, pipeline)
    for each in (receipt, again):
        del each["sha256"], each["receipt"]["created"]
    assert receipt == again


def test_a_receipt_without_blocks_as_earlier_versions_wrote_it_is_confirmed(before: Pack, tmp_path: Path) -> None:
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(own) for key, own in value.items() if key != "blocks"}
        return [without(own) for own in value] if isinstance(value, list) else value

    receipt = quoted(before, "Who built the lighthouse of Ardmore?")
    older = signed(without(receipt))
    assert older != receipt and older["citations"]
    assert failed(replayed(older, before, tmp_path)) == {}


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ("Who built the lighthouse of Ardmore?", "the quote moved to Ardmore Lighthouse#1 [53:115]"),
        ("Who designed the bridge of Brask?", "the quote moved to Brask Bridge#2 [107:166]"),
        ("Who ground the mirror of the Corvane telescope?", "the quote moved to Dunmere Canal#1 [0:66]"),
        ("How many barges does the canal of Dunmere carry a year?", "the quote is no longer in the pack"),
    ],
)
def test_a_quote_that_moved_or_is_gone_is_named(
    before: Pack, after: Pack, tmp_path: Path, question: str, problem: str
) -> None:
    problems = failed(replayed(quoted(before, question), after, tmp_path))
    assert problems["citation [1]"].endswith(f": {problem}"), problems
    assert problems["pack"].startswith("its content differs: ")
    assert {"short answer", "surroundings", "asked again"} & problems.keys()


def test_an_answer_from_an_unchanged_article_fails_the_pack_check_only(
    before: Pack, after: Pack, tmp_path: Path
) -> None:
    receipt = signed(quoted(before, "Who founded the paper mill of Ellis?"), alternatives=[])
    assert set(failed(replayed(receipt, after, tmp_path))) <= {"pack", "asked again"}


def test_every_hop_of_a_chain_is_checked(physics_pack: Path, tmp_path: Path) -> None:
    with Pack(physics_pack) as pack:
        receipt = quoted(pack, "Where was the physicist who proposed matter waves born?")
        assert len(receipt["chain"]) == 2
        changed = signed(receipt, chain=[{**receipt["chain"][0], "answer": "Nobody"}, receipt["chain"][1]])
        assert set(failed(replayed(changed, pack, tmp_path))) == {"hop 1", "asked again"}


def test_alternatives_and_surroundings_are_checked(
    physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Pack(physics_pack) as pack, monkeypatch.context() as patch:
        answer_everything(patch, "likely")
        receipt = quoted(pack, "Where was he born?")
        checks = replayed(receipt, pack, tmp_path)
        assert failed(checks) == {}
        names = {check.name for check in checks}
        assert {"surroundings", "alternative 1: citation [1]", "alternative 1: short answer"} <= names
        first, second = receipt["alternatives"]
        first = {**first, "citations": [{**first["citations"][0], "quote": "Nobody knows."}]}
        content = pack.sections([receipt["context"]["section_id"]])[receipt["context"]["section_id"]].content
        # The same text, counted from its end.
        backwards = {**receipt["context"], "start": receipt["context"]["start"] - len(content)}
        changed = signed(receipt, alternatives=[first, second], context=backwards)
        assert set(failed(replayed(changed, pack, tmp_path))) == {"surroundings", "alternative 1: citation [1]"}


def test_a_changed_receipt_is_detected(before: Pack, tmp_path: Path) -> None:
    receipt = {**quoted(before, "Who built the lighthouse of Ardmore?"), "answer": "Nobody."}
    problems = failed(replayed(receipt, before, tmp_path))
    assert problems["receipt"].startswith("changed since it was written")
    assert problems["asked again"].startswith("answer: now ") and "then 'Nobody.'" in problems["asked again"]
    assert set(failed(replayed(signed(receipt), before, tmp_path))) == {"asked again"}
    doubtful = signed(receipt, answer=quoted(before, receipt["question"])["answer"], confidence=0.01, level="sure")
    assert "confidence: now" in failed(replayed(doubtful, before, tmp_path))["asked again"]


def test_the_question_is_asked_again_with_its_profile_and_options(
    before: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "wikigr" / "profiles" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("extends: fast\nextractive: {max_sentences: 1}\n")
    base = load_profile("mine")
    question = "Who built the lighthouse of Ardmore?"
    used = base.override(ExtractiveOptions, max_sentences=2)
    receipt = quoted(before, question, used, base=base)
    assert receipt["receipt"]["settings"] == {"extractive.max_sentences": 2}
    assert failed(replayed(receipt, before, tmp_path)) == {}
    for settings in ({"extractive.max_sentences": 0}, {"multi_strategy.iterations": None}):
        changed = signed(receipt, receipt={**receipt["receipt"], "settings": settings})
        assert "settings of the receipt" in failed(replayed(changed, before, tmp_path))["asked again"]
    # Nothing else of a profile is taken from a receipt.
    ignored = {"cross_encoder.enabled": True, "extractive.max_sentences": 2}
    changed = signed(receipt, receipt={**receipt["receipt"], "settings": ignored})
    assert failed(replayed(changed, before, tmp_path)) == {}
    own.write_text("extends: fast\nsection_quality: {enabled: true}\n")
    wrong = signed(receipt, answer="Nobody.")
    assert failed(replayed(wrong, before, tmp_path))["asked again"].endswith("the profile mine has changed")
    own.unlink()
    (check,) = [check for check in replayed(receipt, before, tmp_path) if check.name == "asked again"]
    assert not check.required and "there is no profile 'mine'" in check.detail


def test_a_receipt_finds_its_pack_by_name_and_never_by_path(
    before: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert find_receipts_pack("parish", "there", "default") == ("there", "--pack")
    assert find_receipts_pack("parish", None, "default") == ("default", "default")
    for name in ("parish", str(before.layout.root), "../parish", ""):
        with pytest.raises(PackError, match="which is not installed"):
            find_receipts_pack(name, None, None)
    installed = installed_packs() / "parish"
    shutil.copytree(before.layout.root, installed)
    assert find_receipts_pack("parish", None, "default") == (installed, "installed")


def test_a_receipt_that_cannot_be_written_is_an_error(before: Pack, tmp_path: Path) -> None:
    receipt = quoted(before, "Who built the lighthouse of Ardmore?")
    with pytest.raises(WikigrError, match="Cannot write the receipt"):
        write_receipts(tmp_path / "missing" / "r.json", [receipt], batch=False)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"{", "Expecting property name"),
        (b"[]", "is not a wikigr receipt"),
        (b"{}", "is not a wikigr receipt"),
        (b'{"receipt": 1, "receipt": 2}', "duplicate key"),
        (b'{"receipt": 1}', "`answer`: field required"),
        (b'{"receipt": NaN}', "not JSON compliant"),
        (b'{"receipt": "\xff"}', "invalid start byte"),
        (b'{"receipt": "\\ud800"}', "surrogates not allowed"),
        (b'{"receipt": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_content_that_is_not_a_receipt_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "r.json").write_bytes(content)
    with pytest.raises(UsageError) as raised:
        list(read_receipts(tmp_path / "r.json"))
    assert says in raised.value.message, raised.value.message


def test_a_large_object_is_not_copied_for_every_key_that_it_lacks(tmp_path: Path) -> None:
    """Regression: a receipt of 16 MB took 22 GB."""
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps({"receipt": {"a": [1] * 200_000}}))
    with pytest.raises(UsageError, match="`answer`: field required"):
        list(read_receipts(path))
    tracemalloc.start()
    with pytest.raises(UsageError):
        list(read_receipts(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 15_000_000


def test_a_receipt_of_more_than_16_mib_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_bytes(b'{"receipt": "' + b"x" * (16 << 20) + b'"}')
    with pytest.raises(UsageError, match="has more than 16 MiB"):
        list(read_receipts(path))
