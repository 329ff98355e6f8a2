"""Opening a pack, and reading it through ``Pack``."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wikigr.embeddings.embedder import Embedder
from wikigr.embeddings.models import find_prepared
from wikigr.errors import ModelError, PackError
from wikigr.graph.engine import Graph
from wikigr.index import dense
from wikigr.index.quantized import QuantizedWriter
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.pack import open as open_module
from wikigr.pack.layout import GRAPH_INDEX, MANIFEST, VECTORS
from wikigr.pack.manifest import describe_files, read_manifest
from wikigr.pack.models import encoder_source
from wikigr.pack.open import Pack
from wikigr.pack.validate import validate_pack
from wikigr.pipeline.pipeline import Pipeline
from wikigr.pipeline.profile_files import load_profile
from wikigr.reader.passage import Passage
from wikigr.reader.prepared import NoReaderError
from wikigr.retrieval.entity_linking import open_linker
from wikigr.retrieval.trace import Trace
from wikigr.sources.detect import open_source


@pytest.mark.parametrize("preload", [False, True])
def test_a_pack_opens_and_finds_its_own_text(letters_pack: Path, preload: bool) -> None:
    with Pack(letters_pack, preload=preload) as pack:
        assert pack.manifest.name == "letters"
        (query,) = pack.encoder.encode(["Beta is the second letter."])
        assert pack.nearest(query, 1)[0].section_id == "Beta#0"
        assert [hit.section_id for hit in pack.lexical.search("second letter", 1)] == ["Beta#0"]


def test_nearest_is_ordered_by_cosine_similarity(letters_pack: Path) -> None:
    with Pack(letters_pack) as pack:
        (query,) = pack.encoder.encode(["light of high energy"])
        hits = pack.nearest(query, 10)
        rows = pack.graph.rows("MATCH (s:Section) RETURN s.section_id, s.embedding")
        expected = {section_id: float(np.asarray(vector) @ query) for section_id, vector in rows}
        assert len(hits) == len(expected) == 4
        assert {hit.section_id: hit.score for hit in hits} == pytest.approx(expected, abs=1e-5)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_quantized_vectors_find_what_the_exact_scan_finds(quantized_letters: Path) -> None:
    with Pack(quantized_letters, preload=True) as pack:
        assert pack.dense_method(10) == "quantized"
        assert pack.dense_method(10_000) == "exact"
        assert pack.dense_warning == ""
        for text in ("light of high energy", "Beta is the second letter."):
            (query,) = pack.encoder.encode([text])
            found, exact = pack.nearest(query, 3), pack.nearest(query, 3, exact=True)
            assert [hit.section_id for hit in found] == [hit.section_id for hit in exact]
            assert [hit.score for hit in found] == pytest.approx([hit.score for hit in exact], abs=1e-3)
            # Half precision shows, so these are not the vectors of the database.
            assert [hit.score for hit in found] != [hit.score for hit in exact]
    assert all(check.passed for check in validate_pack(quantized_letters))


def test_damaged_quantized_vectors_are_not_used(quantized_letters: Path) -> None:
    for name in ("header.json", "signs.npy", "rows.npy", "ids.npy"):
        path = quantized_letters / VECTORS / name
        content = path.read_bytes()
        # The last bytes of the signs are those of the last 64 dimensions of the last section.
        path.write_bytes(content[:-8] + bytes(byte ^ 1 for byte in content[-8:]))
        with Pack(quantized_letters, preload=True) as pack:
            (query,) = pack.encoder.encode(["light of high energy"])
            assert pack.nearest(query, 4) == pack.nearest(query, 4, exact=True)
            assert pack.dense_method(10) == "exact"
            assert "compared with all sections instead; `wikigr pack build`" in pack.dense_warning
            trace = Trace()
            Pipeline(load_profile(), pack, offline=True).search("light of high energy", top_k=3, trace=trace)
            assert [record.warning for record in trace.stages if record.stage == "dense"] == [pack.dense_warning]
        path.write_bytes(content)


def test_quantized_vectors_of_other_vectors_fail_the_validation(quantized_letters: Path) -> None:
    folder, manifest = quantized_letters / VECTORS, read_manifest(quantized_letters / MANIFEST)
    shutil.rmtree(folder)
    sections = manifest.counts["sections"]
    with QuantizedWriter(folder, sections, 384, manifest.digest) as writer:
        writer.add(["Alpha#0"] * sections, np.ones((sections, 384), dtype=np.float32))
    files = {name: record for name, record in manifest.files.items() if not name.startswith(VECTORS)}
    files |= {f"{VECTORS}/{name}": record for name, record in describe_files(folder).items()}
    (quantized_letters / MANIFEST).write_text(replace(manifest, files=files).to_json())
    failed = [check for check in validate_pack(quantized_letters) if not check.passed]
    assert [(check.name, check.detail) for check in failed] == [
        ("quantized vectors", "differ from the vectors in the database")
    ]


def test_a_large_pack_without_quantized_vectors_says_how_to_add_them(
    letters_pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "MIN_QUANTIZED_SECTIONS", 2)
    with Pack(letters_pack) as pack:
        assert pack.dense_method(10) == "exact"
        assert "no quantized vectors; `wikigr pack build` adds them" in pack.dense_warning


def test_sections_omits_unknown_ids(letters_pack: Path) -> None:
    with Pack(letters_pack) as pack:
        found = pack.sections(["Gamma#0", "Nothing#0", "Alpha#1"])
        assert list(found) == ["Gamma#0", "Alpha#1"]
        assert found["Alpha#1"].content.endswith("Alpha decay.")


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys that are looked up in databases from here on."""
    keys: list[str] = []
    look_up = Graph.look_up

    def noted(graph: Graph, cypher: str, wanted: Sequence[str]) -> list[Sequence[Any]]:
        keys.extend(wanted)
        return look_up(graph, cypher, wanted)

    monkeypatch.setattr(Graph, "look_up", noted)
    return keys


def test_sections_that_were_read_are_kept(letters_pack: Path, looked_up: list[str]) -> None:
    wanted = ["Gamma#0", "Alpha#0", "Nothing#0", "Alpha#1", "Beta#0"]
    with Pack(letters_pack) as fresh:
        expected = fresh.sections(wanted)
    looked_up.clear()
    with Pack(letters_pack) as pack, pack.connect() as twin:
        pack.sections(["Alpha#1", "Beta#0"])
        found = pack.sections(wanted)
        assert (found, list(found)) == (expected, list(expected))
        assert twin.sections(["Beta#0", "Gamma#0"]) == {each: expected[each] for each in ("Beta#0", "Gamma#0")}
    assert looked_up == ["Alpha#1", "Beta#0", "Gamma#0", "Alpha#0", "Nothing#0"]


def test_few_and_short_sections_are_kept(
    letters_pack: Path, looked_up: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_module, "_MAX_KEPT_SECTIONS", 2)
    with Pack(letters_pack) as pack:
        # Three are more than may be kept; then two are, and another one in their place.
        for ids in (["Alpha#0", "Alpha#1", "Beta#0"], ["Alpha#0", "Beta#0"], ["Alpha#1"], ["Beta#0"]):
            looked_up.clear()
            assert list(pack.sections(ids)) == looked_up == ids
        assert list(pack.sections(["Alpha#1", "Beta#0"])) == ["Alpha#1", "Beta#0"]
        assert looked_up == ["Beta#0"]
    monkeypatch.setattr(open_module, "_MAX_KEPT_CHARS", len("Beta is the second letter.") - 1)
    looked_up.clear()
    with Pack(letters_pack) as pack:
        assert pack.sections(["Beta#0"]) == pack.sections(["Beta#0"])
    assert looked_up == ["Beta#0", "Beta#0"]


def test_a_pack_in_the_place_of_another_answers_from_its_own_sections(
    letters_copy: Path, tmp_path: Path, encoder: Embedder
) -> None:
    source = tmp_path / "other.md"
    source.write_text("# Alpha\n\nAlpha is a star.\n")
    build_pack(open_source(source), str(source), tmp_path / "other", encoder, BuildOptions(name="letters"))
    with Pack(letters_copy) as old:
        before = old.sections(["Alpha#0"])["Alpha#0"]
        names = open_linker(old).names_in("Is Beta a star?")
        letters_copy.rename(tmp_path / "old")
        (tmp_path / "other").rename(letters_copy)
        with Pack(letters_copy) as new:
            assert new.sections(["Alpha#0"])["Alpha#0"].content == "Alpha is a star."
            assert open_linker(new).names_in("Is Beta a star?") == ()
        assert old.sections(["Alpha#0"])["Alpha#0"] == before
        assert open_linker(old).names_in("Is Beta a star?") == names == ((3, 7),)


def test_titles_and_headings(letters_pack: Path) -> None:
    with Pack(letters_pack) as pack:
        assert pack.find_title("aLPHA") == "Alpha"
        assert pack.find_title("Delta") is None
        assert len(pack.headings("Alpha")) == 2
        assert pack.headings("Alpha")[1] == "Use"
        assert pack.headings("Delta") == []


def test_a_pack_without_graph_index_rebuilds_it_and_warns(letters_copy: Path) -> None:
    with Pack(letters_copy) as pack:
        stored = pack.graph_index
        assert pack.graph_index_warning == ""
    (letters_copy / GRAPH_INDEX).unlink()
    with Pack(letters_copy) as pack:
        assert pack.graph_index.digest == stored.digest
        assert "has no graph index" in pack.graph_index_warning


def test_another_encoder_is_refused_on_first_use(letters_copy: Path, encoder: Embedder) -> None:
    fields = json.loads((letters_copy / MANIFEST).read_text())
    fields["encoder"]["weights_sha256"] = "0" * 64
    (letters_copy / MANIFEST).write_text(json.dumps(fields))
    with Pack(letters_copy, encoder=encoder.identity.model_id) as pack:
        with pytest.raises(PackError, match="cannot be compared") as caught:
            _ = pack.encoder
        assert "--embedding-model" in (caught.value.hint or "")


def test_a_damaged_bundled_encoder_is_damage_to_the_pack(letters_copy: Path) -> None:
    fields = json.loads((letters_copy / MANIFEST).read_text())
    (letters_copy / MANIFEST).write_text(json.dumps({**fields, "bundled_encoder": True}))
    (letters_copy / "encoder").mkdir()
    with Pack(letters_copy) as pack, pytest.raises(PackError, match="bundled with the pack 'letters' is damaged"):
        _ = pack.encoder


def test_the_encoder_of_a_pack_is_its_model_unless_it_is_bundled(letters_copy: Path) -> None:
    with Pack(letters_copy) as pack:
        assert encoder_source(pack.layout, pack.manifest) == pack.manifest.encoder.model_id
    fields = json.loads((letters_copy / MANIFEST).read_text())
    (letters_copy / MANIFEST).write_text(json.dumps({**fields, "bundled_encoder": True}))
    with Pack(letters_copy) as pack:
        assert encoder_source(pack.layout, pack.manifest) == str(letters_copy / "encoder")


def test_the_bundled_reader_is_used(bundled_letters: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    text = "Ada Lovelace was born in London."
    with Pack(bundled_letters) as pack:
        ((span,),) = pack.reader.read(
            "Where was Ada Lovelace born?", [Passage("Ada Lovelace", "", text, ((0, len(text)),))]
        )
    assert span is not None
    assert "London" in text[span.start : span.end]


def test_a_damaged_bundled_reader_is_damage_to_the_pack_and_none_is_fine(bundled_letters: Path) -> None:
    for name in ("reader.json", "reader.onnx", "reader.onnx.data", "tokenizer.json"):
        path = bundled_letters / "encoder" / name
        whole = path.rename(path.with_suffix(".whole"))
        path.write_text("[")
        with Pack(bundled_letters) as pack, pytest.raises(PackError, match="reader that is bundled with") as caught:
            _ = pack.reader
        assert caught.value.hint == "Get the pack again, or build it again with --bundle-encoder."
        whole.replace(path)
    (bundled_letters / "encoder" / "reader.json").unlink()
    with Pack(bundled_letters) as pack, pytest.raises(NoReaderError, match="has not been prepared"):
        _ = pack.reader


def test_another_encoder_brings_its_own_reader(
    bundled_letters: Path, encoder: Embedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bundled_letters / "encoder" / "reader.json").write_text("[")
    with Pack(bundled_letters, encoder=encoder.identity.model_id) as pack:
        _ = pack.reader
    folder = find_prepared(encoder.identity.model_id).folder
    copy = shutil.copytree(folder, tmp_path / "encoder")
    (copy / "reader.json").unlink()
    with Pack(bundled_letters, encoder=str(copy)) as pack, pytest.raises(ModelError) as caught:
        _ = pack.reader
    assert type(caught.value) is ModelError
    assert caught.value.hint == "wikigr model prepare"
