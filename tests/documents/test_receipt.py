"""Receipts of real answers, and replaying them against a pack with changed text."""

from __future__ import annotations

import json
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.llm.server import MessagesServer, first_cited, reply, status, text
from tests.possible_answers import answer_everything

from wikigr.answer.abstention import NOT_COVERED
from wikigr.answer.answer import Answer
from wikigr.checks import Check
from wikigr.documents.receipt import PackRecord, Receipt, canonical, digest_of, make_receipt, portable
from wikigr.documents.receipt_file import BatchReceipts, ReceiptError, check_target, read_receipts, write_receipt
from wikigr.documents.replay import find_receipts_pack, replay
from wikigr.embeddings.embedder import Embedder
from wikigr.errors import PackError, WikigrError
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.llm.options import SynthesisOptions
from wikigr.pack.layout import installed_packs
from wikigr.pack.open import Pack
from wikigr.pipeline.connect import connect
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile import Profile
from wikigr.pipeline.profile_files import load_profile
from wikigr.rerankers.cross_encoder import CrossEncoderOptions
from wikigr.settings import cache_folder
from wikigr.sources.detect import open_source

ROOT_PACK = Path(__file__).parents[2] / "packs" / "physics"

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
def build(tmp_path_factory: pytest.TempPathFactory, encoder: Embedder) -> Build:
    def build(articles: dict[str, str]) -> Path:
        folder = tmp_path_factory.mktemp("source")
        for number, (title, content) in enumerate(articles.items()):
            # A paragraph that many articles repeat at their ends is a footer, which is left out.
            own = content.replace("the parish", f"parish {number:03}")
            (folder / f"{title}.md").write_text(own, encoding="utf-8")
        pack = tmp_path_factory.mktemp("built") / "parish"
        build_pack(open_source(folder), str(folder), pack, encoder, BuildOptions(name="parish"))
        return pack

    return build


@pytest.fixture(scope="module")
def before(build: Build) -> Iterator[Pack]:
    with Pack(build(BEFORE)) as pack:
        yield pack


@pytest.fixture(scope="module")
def after(build: Build) -> Iterator[Pack]:
    with Pack(build(AFTER)) as pack:
        yield pack


def quoted(pack: Pack, question: str, profile: Profile | None = None, **options: Any) -> Receipt:
    pipeline = Pipeline(profile or Profile(), pack, offline=True)
    return make_receipt(pipeline.answer(question), pipeline, **options)


def replayed(receipt: Receipt, pack: Pack, folder: Path) -> list[Check]:
    write_receipt(folder / "r.json", receipt)
    (read,) = read_receipts(folder / "r.json")
    return list(replay(read, pack))


def failed(checks: list[Check]) -> dict[str, str]:
    return {check.name: check.detail for check in checks if check.required and not check.passed}


def test_the_receipt_of_a_quoted_answer_is_confirmed(before: Pack, tmp_path: Path) -> None:
    receipt = quoted(before, "Who built the lighthouse of Ardmore?")
    assert (receipt.query_type, receipt.answer) == ("extractive", f"{LIGHTHOUSE} [1]")
    assert receipt.pack == PackRecord("parish", "1.0.0", before.manifest.digest)
    (cited,) = receipt.citations
    assert before.sections([cited.section_id])[cited.section_id].content[cited.start : cited.end] == cited.quote
    assert (receipt.model, receipt.prompts, receipt.templates) == (None, (), {})
    checks = replayed(receipt, before, tmp_path)
    assert failed(checks) == {}
    assert {"receipt", "pack", "encoder", "profile", "citation [1]", "asked again"} <= {c.name for c in checks}
    assert sum(check.name.startswith("section ") for check in checks) == len(receipt.evidence) > 0


def test_a_receipt_that_cannot_be_written_is_an_error(before: Pack, tmp_path: Path) -> None:
    receipt = quoted(before, "Who built the lighthouse of Ardmore?")
    with pytest.raises(WikigrError, match=r"Cannot write the receipt .*gone/r\.json: No such file"):
        write_receipt(tmp_path / "gone" / "r.json", receipt)


def test_what_is_written_is_what_is_read(before: Pack, tmp_path: Path) -> None:
    receipts = [quoted(before, "Who built the lighthouse of Ardmore?", id_=n) for n in ("a", 7)]
    batch = BatchReceipts(tmp_path / "many.jsonl")
    for receipt in receipts:
        batch.append(receipt)
    batch.finish()
    read = list(read_receipts(tmp_path / "many.jsonl"))
    assert [(item.line, item.receipt.id, item.intact) for item in read] == [(1, "a", True), (2, 7, True)]
    assert [item.receipt.to_document() for item in read] == [json.loads(canonical(r.to_document())) for r in receipts]
    assert [path.name for path in tmp_path.iterdir()] == ["many.jsonl"]


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (
            "Who built the lighthouse of Ardmore?",
            f"the quote moved to [{len(NEW) + 2}:{len(NEW) + 2 + len(LIGHTHOUSE)}] of the section",
        ),
        (
            "Who designed the bridge of Brask?",
            f"the quote moved to another section: Brask Bridge › Traffic, Brask Bridge#2 "
            f"[{len(FILL) + 1}:{len(FILL) + 1 + len(BRIDGE)}]",
        ),
        (
            "Who ground the mirror of the Corvane telescope?",
            f"the quote moved to another article: Dunmere Canal › Barges, Dunmere Canal#1 [0:{len(TELESCOPE)}]",
        ),
        ("How many barges does the canal of Dunmere carry a year?", "the quote is no longer in the pack"),
    ],
)
def test_a_changed_article_is_named(before: Pack, after: Pack, tmp_path: Path, question: str, problem: str) -> None:
    receipt = quoted(before, question)
    (cited,) = receipt.citations
    problems = failed(replayed(receipt, after, tmp_path))
    assert problems["citation [1]"].endswith(f": {problem}")
    assert problems[f"section {cited.section_id}"].startswith("its text changed")
    assert "asked again" in problems
    assert before.manifest.digest[:12] in problems["pack"]
    # Exactly the sections with changed text are named.
    old, new = (pack.sections([item.section_id for item in receipt.evidence]) for pack in (before, after))
    changed = {f"section {id_}" for id_, section in old.items() if new[id_].content != section.content}
    assert {name for name in problems if name.startswith("section ")} == changed
    assert set(problems) == changed | {"pack", "citation [1]", "short answer", "surroundings", "asked again"}


TWO_HOPS = "In which town was the critic born who asked whether the Moon is there when nobody looks?"


def test_every_hop_of_a_chain_is_checked(physics_pack: Path, tmp_path: Path) -> None:
    with Pack(physics_pack) as pack:
        receipt = quoted(pack, TWO_HOPS, load_profile("enhanced"))
        assert receipt.span is not None
        assert [hop.answer for hop in receipt.chain] == ["Albert Einstein", "Ulm"]
        names = {check.name for check in replayed(receipt, pack, tmp_path) if check.passed}
        assert {"short answer", "hop 1", "hop 2", "asked again"} <= names
        first, last = receipt.chain
        other = replace(receipt, chain=(replace(first, answer="Niels Bohr"), last))
        assert set(failed(replayed(other, pack, tmp_path))) == {"hop 1", "asked again"}
        other = replace(receipt, span=replace(receipt.span, start=receipt.span.start + 1))
        assert set(failed(replayed(other, pack, tmp_path))) == {"short answer", "asked again"}


def test_a_receipt_from_before_short_answers_can_be_replayed(before: Pack, tmp_path: Path) -> None:
    document = quoted(before, "Who built the lighthouse of Ardmore?").to_document()
    for key in ("span", "chain", "level", "answer_kind", "context", "alternatives", "sha256"):
        del document[key]
    (tmp_path / "old.json").write_text(json.dumps({**document, "sha256": digest_of(document)}))
    (read,) = read_receipts(tmp_path / "old.json")
    assert read.intact
    assert failed(list(replay(read, before))) == {}


def test_alternatives_and_surroundings_are_recorded_and_checked(
    physics_pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_everything(monkeypatch, "likely")
    with Pack(physics_pack) as pack:
        receipt = quoted(pack, "Where was Werner Heisenberg born?")
        assert (receipt.level, receipt.answer_kind, len(receipt.alternatives)) == ("likely", "span", 2)
        checks = replayed(receipt, pack, tmp_path)
        assert failed(checks) == {}
        names = {check.name for check in checks}
        assert {"surroundings", "alternative 1: citation [1]", "alternative 1: short answer"} <= names
        assert {"alternative 2: citation [1]", "alternative 2: surroundings"} <= names
        first, second = receipt.alternatives
        assert receipt.context is not None and first.span is not None
        for forged, wrong in (
            (replace(receipt, level="sure"), {"asked again"}),
            (replace(receipt, alternatives=(first,)), {"asked again"}),
            (replace(receipt, context=replace(receipt.context, end=receipt.context.end - 1)), {"surroundings"}),
            (
                replace(receipt, alternatives=(first, replace(second, citations=[_moved(second.citations[0])]))),
                {"alternative 2: citation [1]"},
            ),
            (
                replace(receipt, alternatives=(replace(first, span=_moved(first.span)), second)),
                {"alternative 1: short answer"},
            ),
        ):
            assert set(failed(replayed(forged, pack, tmp_path))) == wrong


def _moved(part: Any) -> Any:
    return replace(part, start=part.start + 1, end=part.end + 1)


def test_an_answer_from_an_unchanged_article_fails_the_pack_check_only(
    before: Pack, build: Build, tmp_path: Path
) -> None:
    receipt = quoted(before, "Who founded the paper mill of Ellis?", load_profile("baseline"))
    assert {item.title for item in receipt.evidence} == {"Ellis Mill"}
    with Pack(build({**BEFORE, "Dunmere Canal": AFTER["Dunmere Canal"]})) as other:
        assert set(failed(replayed(receipt, other, tmp_path))) == {"pack"}


def test_a_section_that_moved_on_or_is_gone_is_named(before: Pack, build: Build, tmp_path: Path) -> None:
    receipt = quoted(before, "Who designed the bridge of Brask?")
    inserted = BEFORE["Brask Bridge"].replace("## Design", f"## Ford\n\nA ford. {FILL}\n\n## Design")
    # A section of the same article with the quote takes precedence over the first one in the pack.
    copied = BEFORE["Ardmore Lighthouse"].replace("## Construction", f"{BRIDGE}\n\n## Construction")
    with Pack(build({**BEFORE, "Ardmore Lighthouse": copied, "Brask Bridge": inserted})) as other:
        problems = failed(replayed(receipt, other, tmp_path))
    assert problems["section Brask Bridge#1"] == "its text changed; the original text is now in Brask Bridge#2"
    assert "Brask Bridge#2 [0:" in problems["citation [1]"]
    remaining = {title: content for title, content in BEFORE.items() if title != "Brask Bridge"}
    with Pack(build(remaining)) as other:
        problems = failed(replayed(receipt, other, tmp_path))
    assert problems["section Brask Bridge#1"] == "gone"


def test_an_abstention_has_a_receipt_too(before: Pack, tmp_path: Path) -> None:
    receipt = quoted(before, "Which enzyme unwinds DNA during replication?")
    assert (receipt.abstained, receipt.answer, receipt.citations) == (True, NOT_COVERED, ())
    assert failed(replayed(receipt, before, tmp_path)) == {}


def test_two_receipts_of_a_question_differ_in_the_time_only(before: Pack) -> None:
    first, second = (quoted(before, "Who designed the bridge of Brask?").to_document() for _ in range(2))
    for document in (first, second):
        del document["created"], document["sha256"]
    assert canonical(first) == canonical(second)
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    third, fourth = (quoted(before, "Who designed the bridge of Brask?", created=moment) for _ in range(2))
    assert canonical(third.to_document()) == canonical(fourth.to_document())
    assert third.created == "2026-01-02T03:04:05+00:00"


def test_the_canonical_form_is_the_documented_one() -> None:
    assert canonical({"b": "é\x7f\n", "a": [1, 2.5, None, {}]}) == '{"a":[1,2.5,null,{}],"b":"é\x7f\\n"}'.encode()
    for value in (float("nan"), float("inf"), "\ud800"):
        with pytest.raises(ValueError):
            canonical([value])


def test_what_a_killed_process_of_this_number_left_does_not_stop_a_receipt(before: Pack, tmp_path: Path) -> None:
    receipt = quoted(before, "Who designed the bridge of Brask?")
    left = tmp_path / f".r.json.{os.getpid()}"
    left.write_bytes(b"half a rec")
    write_receipt(tmp_path / "r.json", receipt)
    assert len(list(read_receipts(tmp_path / "r.json"))) == 1
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(WikigrError, match="Cannot write the receipt"):
        write_receipt(tmp_path / "folder.json", receipt)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([left.name, "folder.json", "r.json"])


def test_each_receipt_of_a_batch_is_in_the_partial_file_at_once(before: Pack, tmp_path: Path) -> None:
    path, receipt = tmp_path / "many.jsonl", quoted(before, "Who built the lighthouse of Ardmore?")
    path.write_text("an earlier batch")
    partial = tmp_path / "many.jsonl.partial"
    check_target(path, batch=True)
    batch = BatchReceipts(path)
    assert not partial.exists()
    for count in (1, 2):
        batch.append(receipt)
        assert len(list(read_receipts(partial))) == count
    assert path.read_text() == "an earlier batch"
    with pytest.raises(ReceiptError, match=r"many\.jsonl\.partial contains the receipts of a batch") as caught:
        check_target(path, batch=True)
    assert f"wikigr replay {partial}" in (caught.value.hint or "")
    check_target(path, batch=False)
    with pytest.raises(WikigrError, match=r"Cannot write the receipt .*many\.jsonl\.partial: File exists"):
        BatchReceipts(path).append(receipt)
    assert len(list(read_receipts(partial))) == 2
    assert batch.finish()
    assert len(list(read_receipts(path))) == 2
    assert not partial.exists()
    assert not BatchReceipts(path).finish()
    assert len(list(read_receipts(path))) == 2


def test_the_receipts_of_a_batch_replace_the_file_that_a_link_leads_to(before: Pack, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.jsonl").symlink_to("folder/many.jsonl")
    batch = BatchReceipts(tmp_path / "link.jsonl")
    batch.append(quoted(before, "Who built the lighthouse of Ardmore?"))
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["many.jsonl.partial"]
    assert batch.finish()
    assert (tmp_path / "link.jsonl").is_symlink()
    assert len(list(read_receipts(tmp_path / "folder" / "many.jsonl"))) == 1


def test_a_receipt_of_a_batch_that_cannot_be_written_leaves_the_earlier_ones(before: Pack, tmp_path: Path) -> None:
    receipt = quoted(before, "Who built the lighthouse of Ardmore?")
    batch = BatchReceipts(tmp_path / "many.jsonl")
    batch.append(receipt)
    size = (tmp_path / "many.jsonl.partial").stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, limits[1]))
    try:
        with pytest.raises(WikigrError, match=r"Cannot write the receipt .*File too large"):
            batch.append(receipt)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not batch.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["many.jsonl.partial"]
    assert (tmp_path / "many.jsonl.partial").stat().st_size == size + 10
    assert len(list(read_receipts(tmp_path / "many.jsonl.partial"))) == 1


def test_an_incomplete_last_line_is_skipped_in_a_partial_file_only(before: Pack, tmp_path: Path) -> None:
    line = json.dumps(quoted(before, "Who built the lighthouse of Ardmore?").to_document()) + "\n"
    for rest, count in ((line[:-1], 1), (line[:200], 1), ("", 1)):
        (tmp_path / "r.partial").write_text(line + rest)
        assert len(list(read_receipts(tmp_path / "r.partial"))) == count
    (tmp_path / "r.partial").write_text(line[:200])
    with pytest.raises(ReceiptError, match="contains no complete receipt"):
        list(read_receipts(tmp_path / "r.partial"))
    (tmp_path / "r.jsonl").write_text(line + line[:200])
    with pytest.raises(ReceiptError, match="Line 2"):
        list(read_receipts(tmp_path / "r.jsonl"))


def test_a_changed_receipt_is_detected(before: Pack, tmp_path: Path) -> None:
    receipt = quoted(before, "Who designed the bridge of Brask?")
    document = receipt.to_document()
    assert document["sha256"] == digest_of({key: value for key, value in document.items() if key != "sha256"})
    (tmp_path / "r.json").write_text(json.dumps({**document, "answer": "Bob. [1]"}), encoding="utf-8")
    (read,) = read_receipts(tmp_path / "r.json")
    assert set(failed(list(replay(read, before)))) == {"receipt", "asked again"}
    del document["sha256"]
    (tmp_path / "r.json").write_text(json.dumps(document), encoding="utf-8")
    (read,) = read_receipts(tmp_path / "r.json")
    assert set(failed(list(replay(read, before)))) == {"receipt"}


def test_what_was_not_so_when_it_was_written_is_named(before: Pack, tmp_path: Path) -> None:
    receipt = quoted(before, "Who designed the bridge of Brask?")
    (cited,) = receipt.citations
    for forged, problem in (
        (replace(receipt, citations=[replace(cited, title="Ellis Mill")]), "the section is now Brask Bridge › Design"),
        (replace(receipt, citations=[replace(cited, start=2**53)]), "the quote moved to [0:59] of the section"),
        (
            replace(receipt, citations=[replace(cited, quote="no such \x00 quote")]),
            "the quote is no longer in the pack",
        ),
        (replace(receipt, citations=[replace(cited, section_id="x' OR 1=1")]), "the quote moved to another section"),
    ):
        assert problem in failed(replayed(forged, before, tmp_path))["citation [1]"]
    doubtful = replace(receipt, confidence=receipt.confidence - 0.01)
    assert "the confidence is" in failed(replayed(doubtful, before, tmp_path))["asked again"]
    assert failed(replayed(replace(receipt, confidence=receipt.confidence - 0.0002), before, tmp_path)) == {}
    other = replace(receipt, encoder=replace(receipt.encoder, weights_sha256="0" * 64))
    assert set(failed(replayed(other, before, tmp_path))) == {"encoder"}


def test_the_profile_of_that_name_may_have_changed(
    before: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "wikigr" / "profiles" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("extends: fast\n")
    base = load_profile("mine")
    flagged = base.override(SynthesisOptions, model="claude-haiku-4-5")
    receipt = quoted(before, "Who designed the bridge of Brask?", flagged, base=base)
    assert (receipt.profile.known, receipt.profile.flags) == (True, {"synthesis.model": "claude-haiku-4-5"})
    assert failed(replayed(receipt, before, tmp_path)) == {}
    own.write_text("extends: fast\nmulti_doc: {num_docs: 2}\nsynthesis: {model: x}\n")
    assert failed(replayed(receipt, before, tmp_path)) == {"profile": "mine has changed: multi_doc.num_docs"}
    own.unlink()
    assert failed(replayed(receipt, before, tmp_path)) == {"profile": "this machine has no profile mine"}


def test_a_profile_from_a_file_is_taken_from_the_receipt(before: Pack, tmp_path: Path) -> None:
    file = tmp_path / "enhanced.yaml"
    file.write_text("multi_doc: {num_docs: 1}\n")
    receipt = quoted(before, "Who designed the bridge of Brask?", load_profile(str(file)))
    assert (receipt.profile.name, receipt.profile.known) == ("enhanced", False)
    checks = replayed(receipt, before, tmp_path)
    assert failed(checks) == {}
    assert "came from a file" in next(check.detail for check in checks if check.name == "profile")
    assert str(tmp_path) not in json.dumps(receipt.to_document())


def test_a_model_folder_that_a_receipt_names_is_not_opened(before: Pack, tmp_path: Path) -> None:
    profile = Profile()
    profile = profile.override(CrossEncoderOptions, enabled=True, model=str(tmp_path / "ce"))
    assert portable(profile)[CrossEncoderOptions].model == "ce"
    receipt = quoted(before, "Who designed the bridge of Brask?")
    forged = replace(receipt, profile=replace(receipt.profile, known=False, content=profile))
    problems = failed(replayed(forged, before, tmp_path))
    assert problems == {"asked again": "not done: the receipt requires a cross-encoder that no local profile uses"}


def test_a_receipt_finds_its_pack_by_name_and_never_by_path(
    before: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    record = PackRecord("parish", "1.0.0", "0")
    with pytest.raises(PackError, match="which is not installed"):
        find_receipts_pack(record, None, None)
    assert find_receipts_pack(record, None, "elsewhere").found == "default"
    (installed_packs() / "parish").mkdir(parents=True)
    assert find_receipts_pack(record, None, "elsewhere").location == installed_packs() / "parish"
    assert find_receipts_pack(record, "given", "elsewhere").location == "given"
    for name in ("../packs/parish", str(before.layout.root), "..", ".", "", "parish/", "x" * 10_000, "\x00"):
        with pytest.raises(PackError):
            find_receipts_pack(replace(record, name=name), None, None)


# With a model


Ask = Callable[..., tuple[Pipeline, Answer]]
KEY = "sk-ant-secret-0123456789"


@pytest.fixture
def ask(before: Pack, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> Ask:
    host = messages_server.url.removeprefix("http://")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://user:pass-word@{host}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    def ask(question: str, profile: Profile | None = None) -> tuple[Pipeline, Answer]:
        profile = profile or Profile()
        pipeline = Pipeline(profile, before, model=connect(profile))
        return pipeline, pipeline.answer(question)

    return ask


def cite_first(request: dict[str, Any]) -> Any:
    first = next(block for block in request["messages"][0]["content"] if block["type"] == "search_result")
    return reply(text("Ida Holm", first_cited(first)), text("."))(request)


def sent(server: MessagesServer, number: int = -1) -> str:
    body = server.requests[number].json
    return digest_of({key: body[key] for key in ("system", "messages")})


def test_the_receipt_of_a_model_knows_what_was_sent(
    ask: Ask,
    before: Pack,
    after: Pack,
    messages_server: MessagesServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    messages_server.always(cite_first)
    pipeline, answer = ask("Who built the lighthouse of Ardmore?")
    receipt = make_receipt(answer, pipeline)
    assert (receipt.query_type, receipt.usage.calls) == ("synthesis", 1)
    assert [(p.purpose, p.style, p.sha256) for p in receipt.prompts] == [("synthesis", "native", sent(messages_server))]
    assert list(receipt.templates) == ["citations_native", "synthesis"]
    assert receipt.model is not None
    assert (receipt.model.id, receipt.model.base_url) == ("claude-opus-4-6", messages_server.url)

    requests = len(messages_server.requests)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    checks = replayed(receipt, before, tmp_path)
    assert failed(checks) == {}
    assert {"prompt texts", "prompt (synthesis)", "answer"} <= {check.name for check in checks}
    problems = failed(replayed(receipt, after, tmp_path))
    assert "changed" in problems["prompt (synthesis)"]
    assert "Ardmore Lighthouse#1" in problems["prompt (synthesis)"]
    other = replace(receipt, templates={**receipt.templates, "synthesis": "0", "../../secret": "0"})
    assert failed(replayed(other, before, tmp_path)) == {
        "prompt texts": "changed in this wikigr: ../../secret, synthesis"
    }
    reworded = replace(receipt, question="Who painted the lighthouse of Ardmore?")
    assert "from the same sections" in failed(replayed(reworded, before, tmp_path))["prompt (synthesis)"]
    assert len(messages_server.requests) == requests


def test_the_prompt_of_a_server_without_search_results_is_the_second_one(
    ask: Ask, before: Pack, messages_server: MessagesServer, tmp_path: Path
) -> None:
    messages_server.script(status(400, "unknown content type search_result"), reply(f"{LIGHTHOUSE} [1]"))
    pipeline, answer = ask("Who built the lighthouse of Ardmore?")
    receipt = make_receipt(answer, pipeline)
    assert [(p.style, p.sha256) for p in receipt.prompts] == [("markers", sent(messages_server))]
    assert receipt.degraded
    assert failed(replayed(receipt, before, tmp_path)) == {}


def test_the_worked_examples_are_a_part_of_the_prompt(
    before: Pack, messages_server: MessagesServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_server.url)
    messages_server.always(cite_first)
    folder = tmp_path / "parish"
    shutil.copytree(before.layout.root, folder)
    examples = json.loads((ROOT_PACK / "few_shot_examples.json").read_text(encoding="utf-8"))
    (folder / "few_shot_examples.json").write_text(json.dumps(examples), encoding="utf-8")
    with Pack(folder) as pack:
        pipeline = Pipeline(Profile(), pack, model=connect(Profile()))
        receipt = make_receipt(pipeline.answer("Who built the lighthouse of Ardmore?"), pipeline)
        assert "<examples>" in messages_server.requests[0].raw.decode()
        assert "examples" in receipt.templates
        assert receipt.prompts[0].sha256 == sent(messages_server)
        assert failed(replayed(receipt, pack, tmp_path)) == {}
    # Without them the sections are the same, and the prompt is not.
    problem = failed(replayed(receipt, before, tmp_path))["prompt (synthesis)"]
    assert "from the same sections" in problem
    assert "worked examples" in problem


def test_a_model_that_declines_or_answers_from_memory_has_a_receipt(
    ask: Ask, before: Pack, messages_server: MessagesServer, tmp_path: Path
) -> None:
    messages_server.always(reply(NOT_COVERED))
    pipeline, answer = ask("Who built the lighthouse of Ardmore?")
    declined = make_receipt(answer, pipeline)
    assert (declined.abstained, [p.purpose for p in declined.prompts]) == (True, ["synthesis"])
    messages_server.script(reply(NOT_COVERED), reply("Bob."))
    profile = Profile()
    pipeline, answer = ask(
        "Who built the lighthouse of Ardmore?", profile.override(SynthesisOptions, own_knowledge=True)
    )
    recalled = make_receipt(answer, pipeline)
    assert [p.purpose for p in recalled.prompts] == ["synthesis", "own_knowledge"]
    assert [p.sha256 for p in recalled.prompts] == [sent(messages_server, -2), sent(messages_server)]
    assert failed(replayed(declined, before, tmp_path)) == failed(replayed(recalled, before, tmp_path)) == {}


def test_rephrasing_counts_as_a_use_of_the_model(ask: Ask, messages_server: MessagesServer) -> None:
    messages_server.always(reply("Which helicase is it?"))
    pipeline, answer = ask("Which enzyme unwinds DNA during replication?", load_profile("recall"))
    receipt = make_receipt(answer, pipeline)
    assert (receipt.query_type, receipt.prompts, list(receipt.templates)) == ("abstained", (), ["rephrase"])
    assert receipt.model is not None


def test_a_server_that_sends_the_key_back_does_not_get_it_into_a_receipt(
    ask: Ask, messages_server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages_server.always(reply(f"Your key is {KEY}."))
    pipeline, answer = ask("Who built the lighthouse of Ardmore?")
    # A library's own words may hold it too.
    with answer.trace.stage("few_shot") as record:
        record.degrade(f"no {KEY}")
    written = canonical(make_receipt(answer, pipeline).to_document()).decode()
    assert answer.text == "Your key is [key]. [unverified]"
    assert not any(secret in written for secret in (KEY, "pass-word"))
    assert "Your key is" in written
    # An address with a query is of no use to the SDK, which is then said with the address, but for the query.
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{messages_server.url}/?token=query-secret")
    pipeline, answer = ask("Which enzyme unwinds DNA during replication?", load_profile("recall"))
    assert "query-secret" not in " ".join(answer.trace.warnings)
    receipt = make_receipt(answer, pipeline)
    assert receipt.warnings
    assert "query-secret" not in canonical(receipt.to_document()).decode()


def warned(pack: Pack, warning: str, profile: Profile | None = None) -> str:
    """Return a warning as it appears in a receipt."""
    pipeline = Pipeline(profile or Profile(), pack, offline=True)
    answer = pipeline.answer("Who built the lighthouse of Ardmore?")
    with answer.trace.stage("few_shot") as record:
        record.degrade(warning)
    return make_receipt(answer, pipeline).warnings[-1].removeprefix("few_shot: ")


def test_a_path_in_a_warning_is_cut(before: Pack, tmp_path: Path) -> None:
    told = warned(before, f"{tmp_path}/a.json and '{before.layout.root}/x' failed; see https://example.org/a/b or 1/2")
    assert told == "…/a.json and 'PACK/x' failed; see https://example.org/a/b or 1/2"
    assert (
        warned(before, "no file '/srv/Jane Doe/a b.json', nor file:///srv/x/c")
        == "no file '…/a b.json', nor file://…/c"
    )
    # A path that merely starts like the pack's folder is another one.
    assert warned(before, f"{before.layout.root}-2/x failed") == "…/x failed"


@pytest.mark.parametrize("given", [".", "e", "../home jane/e"])
def test_a_relative_pack_takes_nothing_from_the_words_of_a_warning(
    before: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    folder = tmp_path / "home jane" / "e"
    shutil.copytree(before.layout.root, folder)
    monkeypatch.chdir(folder if given == "." else folder.parent)
    with Pack(Path(given)) as pack:
        told = warned(pack, f"the graph index. It was made anew, see e.g. {folder}/x and {given}/y.")
    stands = "PACK" if "/" in given else given
    assert told == f"the graph index. It was made anew, see e.g. PACK/x and {stands}/y."


@pytest.mark.parametrize(
    "given", ["{}/Jane Doe/secret dir/ce", "../Jane Doe/secret dir/ce", "~/secret dir/ce", "../none/ce"]
)
def test_no_folder_of_a_cross_encoder_is_in_a_receipt(
    before: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    home = tmp_path / "Jane Doe"
    (home / "secret dir" / "ce").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    # The encoder and the reader are in the user's own cache.
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_folder().parent))
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(home))
    model = given.format(tmp_path)
    profile = Profile()
    profile = profile.override(CrossEncoderOptions, model=model)
    assert portable(profile)[CrossEncoderOptions].model == "ce"
    told = warned(before, f"cross_encoder.model: {model}: {home}/secret dir/ce has no weights; {home}/a/b too", profile)
    there = "…/ce" if "secret" in model else "…/secret dir/ce"
    assert told == f"cross_encoder.model: …/ce: {there} has no weights; …/b too"
    written = json.dumps(quoted(before, "Who designed the bridge of Brask?", profile).to_document())
    assert "secret" not in written
    assert "Jane" not in written


def test_which_names_of_a_cross_encoder_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "models" / "ce").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    for model, name in (
        ("cross-encoder/ms-marco-MiniLM-L-12-v2", "cross-encoder/ms-marco-MiniLM-L-12-v2"),
        ("models/ce", "ce"),
        ("models/other", "models/other"),
        ("a/b/c", "c"),
        ("models/../x y/ce", "ce"),
        ("..", "folder"),
        ("~nobody-of-that-name/ce", "ce"),
    ):
        profile = Profile().override(CrossEncoderOptions, model=model)
        assert portable(profile)[CrossEncoderOptions].model == name


# Invalid receipts


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"[]", "not a wikigr receipt"),
        (b'{"schema_version": 1, "question": "x"}', "not a wikigr receipt"),
        (b'{"kind": "wikigr receipt", "schema_version": 2}', "has schema 2"),
        (b'{"kind": "wikigr receipt", "schema_version": true}', "schema_version"),
        (b'{"kind": "wikigr receipt", "schema_version": 1}', "`created`: field required"),
        (b'{"kind": "wikigr receipt", "kind": "wikigr receipt", "schema_version": 1}', "duplicate key"),
        (b'{"kind": "wikigr receipt", "schema_version": 1, "x": NaN}', "NaN"),
        (b'{"kind": "wikigr receipt", "schema_version": 1, "x": 1e999}', "JSON"),
        (b'{"kind": "wikigr receipt", "schema_version": 1, "x": "\\ud800"}', "Unicode"),
        (b"\xff\xfe", "Unicode"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"x": ' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        (b'{"x": ' + b"9" * 10_000 + b"}", "JSON"),
        (b'{\n"x": "' + b"x" * (9 << 20), "larger than 8 MiB"),
        (b'{"x": "' + b"x" * (9 << 20) + b'"}', "larger than 8 MiB"),
    ],
)
def test_content_that_is_not_a_receipt_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(content)
    with pytest.raises(ReceiptError, match=says):
        list(read_receipts(path))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(ReceiptError, match="Cannot read the receipt"):
            list(read_receipts(path))
    with pytest.raises(ReceiptError, match="larger than 8 MiB"):
        list(read_receipts(Path("/dev/zero")))
