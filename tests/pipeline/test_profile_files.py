"""Profiles: what ships, how one extends another, and what each mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from wikigr.errors import UsageError
from wikigr.llm.options import FewShotOptions
from wikigr.pipeline import profile_files
from wikigr.pipeline.profile import Profile, profile_names
from wikigr.pipeline.profile_files import load_profile
from wikigr.pipeline.profile_schema import profile_values
from wikigr.reader.passage import ReaderOptions
from wikigr.rerankers.graph_reranker import GraphRerankerOptions
from wikigr.rerankers.graph_walk import GraphWalkOptions
from wikigr.retrieval.candidates import RetrievalOptions
from wikigr.retrieval.document_selection import MultiDocOptions


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "wikigr" / "profiles"
    folder.mkdir(parents=True)
    return folder


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_shipped_profile_loads_and_has_a_description() -> None:
    assert set(profile_names()) >= {"baseline", "enhanced", "fast", "precise", "recall"}
    for name in profile_names():
        profile = load_profile(name)
        assert (profile.name, bool(profile.description)) == (name, True)


def test_the_schema_defaults_are_the_shipped_enhanced_profile() -> None:
    shipped = load_profile(str(Path(profile_files.__file__).with_name("profiles") / "enhanced.yaml"))
    assert shipped == Profile() == load_profile("enhanced")
    assert profile_values(shipped) == profile_values(Profile())


def test_baseline_is_one_article_by_vector_search() -> None:
    baseline = load_profile("baseline")
    assert baseline[RetrievalOptions].mode == "dense"
    enabled = [
        name for name, values in profile_values(baseline).items() if isinstance(values, dict) and values.get("enabled")
    ]
    assert enabled == []


@pytest.mark.parametrize(
    ("text", "enabled"),
    [
        ("reader: small", True),
        ("reader: auto", True),
        ("reader: base", True),
        ("reader: off", False),
        ("reader: 'off'", False),
        ("reader: {enabled: false}", False),
        ("reader: {sections: 6}", True),
        ("extends: baseline\nreader: small", True),
        ("extends: baseline\nreader: on", True),
        ("extends: precise\nreader: off", False),
        ("extends: precise", True),
        ("extends: enhanced", True),
    ],
)
def test_the_reader_is_chosen_in_one_word(tmp_path: Path, text: str, enabled: bool) -> None:
    assert load_profile(write(tmp_path, "own.yaml", text))[ReaderOptions].enabled is enabled


def test_the_reader_base_chooses_among_more_sections(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("reader: base", encoding="utf-8")
    (tmp_path / "less.yaml").write_text("extends: ./own.yaml\nreader: small", encoding="utf-8")
    options = load_profile(str(tmp_path / "own.yaml"))[ReaderOptions]
    assert (options.use, options.sections) == ("base", 8)
    assert load_profile(str(tmp_path / "less.yaml"))[ReaderOptions].use == "small"


@pytest.mark.parametrize("text", ["reader: huge", "reader: large"])
def test_an_unknown_reader_is_named_with_those_that_exist(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"own\.yaml:1: reader is .*: input should be 'auto', 'small', 'base' or"):
        load_profile(write(tmp_path, "own.yaml", text))


@pytest.mark.parametrize("text", ["reader: 3", "reader:", "reader: [small]"])
def test_a_reader_that_is_no_choice_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"own\.yaml:1: reader must be a mapping"):
        load_profile(write(tmp_path, "own.yaml", text))


def test_a_profile_extends_another_by_name_or_by_file(tmp_path: Path) -> None:
    write(tmp_path, "middle.yaml", "extends: fast\nmulti_doc: {num_docs: 4}\n")
    last = load_profile(write(tmp_path, "last.yaml", "extends: middle.yaml\nfew_shot: {enabled: true}\n"))
    assert (last.name, last[MultiDocOptions].num_docs, last[MultiDocOptions].max_sections) == ("last", 4, 2)
    assert last[FewShotOptions].enabled
    assert not (last[GraphRerankerOptions].enabled or last[GraphWalkOptions].enabled)


def test_a_profile_without_parent_changes_the_defaults(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, "own.yaml", "multi_doc: {num_docs: auto}\n"))
    expected = {**profile_values(Profile().override(MultiDocOptions, num_docs="auto")), "name": "own"}
    assert profile_values(profile) == expected


def test_a_users_own_profile_comes_first_and_may_extend_its_namesake(own_folder: Path) -> None:
    write(own_folder, "enhanced.yaml", "extends: enhanced\nfew_shot: {num_examples: 7}\n")
    assert load_profile()[FewShotOptions].num_examples == 7
    write(own_folder, "mine.yaml", "extends: enhanced\n")
    assert "mine" in profile_names()
    assert load_profile("mine")[FewShotOptions].num_examples == 7


@pytest.mark.parametrize(
    ("text", "line", "says", "hint"),
    [
        ("graph_rerank: {alpha: 1}", 1, "no key 'graph_rerank'", "graph_reranker"),
        ("multi_doc:\n  num_doc: 3", 2, "no key 'multi_doc.num_doc'", "multi_doc.num_docs"),
        ("name: other", 1, "no key 'name'", None),
        ("multi_doc:\n\n  num_docs: '5'", 3, "multi_doc.num_docs is '5': input should be a valid integer", None),
        ("multi_doc: {num_docs: 11}", 1, "less than or equal to 10", None),
        ("multi_doc: {num_docs: true}", 1, "multi_doc.num_docs is True", None),
        ("few_shot: {enabled: 1}", 1, "valid boolean", None),
        ("few_shot: 3", 1, "must be a mapping", None),
        ("retrieval: {mode: sparse}", 1, "'hybrid', 'dense' or 'lexical'", None),
        ("budget: {max_cost_usd: .nan}", 1, "max_cost_usd is nan", None),
        ("budget: {max_tokens: 0}", 1, "greater than 0", None),
        ("graph_reranker:\n  alpha: 0.9\n  beta: 0.2", 2, "must sum to 1, not 1.1", None),
        ("graph_reranker: {alpha: auto}", 1, "both be numbers or both be auto", None),
        ("graph_reranker: {alpha: 0.0, beta: 1.0}", 1, "greater than 0", None),
        ("graph_walk: {restart: 0}", 1, "greater than 0", None),
        ("graph_walk: {restart: 1.0}", 1, "less than 1", None),
        ("few_shot: {}\nfew_shot: {}", 2, "few_shot is given twice", None),
        ("extends: [fast]", 1, "must name one profile", None),
        ("- a list", 1, "a profile is a mapping", None),
        ("\nretrieval: {mode: 3}", 2, "retrieval.mode is 3", None),
        ("extends: other.yaml", 1, "circle", None),
    ],
)
def test_a_mistake_names_file_line_and_key(tmp_path: Path, text: str, line: int, says: str, hint: str | None) -> None:
    write(tmp_path, "other.yaml", "extends: wrong.yaml\n")
    path = write(tmp_path, "wrong.yaml", text)
    with pytest.raises(UsageError) as caught:
        load_profile(path)
    where, _, message = caught.value.message.partition(": ")
    assert (where.rpartition("/")[2], says in message) in ((f"wrong.yaml:{line}", True), (f"other.yaml:{line}", True))
    assert hint is None or hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    "text", ["a: [", "\x00", "a: b: c", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")]
)
def test_what_is_no_yaml_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"wrong\.yaml"):
        load_profile(write(tmp_path, "wrong.yaml", text))


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="no profile 'enhancd'") as caught:
        load_profile("enhancd")
    assert caught.value.hint == "Did you mean 'enhanced'?"
    with pytest.raises(UsageError, match="no profile file"):
        load_profile("nowhere/x.yaml")
