"""One table for all commands: a command line that is wrong or fails, its exit code, and a line that it prints."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from .conftest import Wikigr

USAGE = [
    ("why 'What is spin?'", "Missing argument 'TITLE'."),
    ("What is spin?", "No pack was given."),
    ("photon", "Try 'wikigr --help', or ask a question: wikigr ask photon"),
    ("bild notes", "Did you mean 'pack build'?"),
    ("help bild", "Did you mean 'pack build'?"),
    ("aks x", "Did you mean 'ask'?"),
    ("help pack biuld", "wikigr pack has no command 'biuld'.\nDid you mean 'build'?"),
    ("help ask more", "wikigr ask has no command 'more'."),
    ("--pack x ask y", "--pack is an option of a command and goes after it."),
    ("ask x --top-k 3", "No such option: --top-k.\nIt is an option of `wikigr log`, `wikigr search` and "),
    ("ask x --pakc y", "No such option: --pakc. Did you mean --pack?"),
    ("graph neighbors x --depht 2", "If it is a part of the name, quote the name or put -- before it."),
    ("graph schema", "No pack was given.\nGive --pack, set WIKIGR_PACK, or choose a default pack"),
    ("ask q", "No pack was given."),
    ("ask", "Give either a question or --batch."),
    ("ask q --batch -", "Give either a question or --batch."),
    ("ask '  ' -p PACK", "empty"),
    ("ask --batch missing -p nowhere", "Cannot read the questions in missing: No such file or directory."),
    ("ask x --explain-limit 0", "0 is not in the range x>=1."),
    ("ask x -p PACK --max-sentences 11", "'--max-sentences'"),
    ("ask x -p PACK --max-cost 0", "--max-cost"),
    ("ask x -p PACK --json --format md", "--json and --format md contradict each other."),
    ("ask x -p PACK --format csv", "'csv' is not one of"),
    ("ask --batch - -p PACK --format md", "--batch prints JSON Lines, not md."),
    ("ask x -p PACK -o .", "is not a regular file"),
    ("ask x -p PACK -o no/x.md", "does not exist"),
    ("search x --top-k many", "'many' is not a valid"),
    ("search x --top-k 0", "0 is not in the range 1<=x<=100000."),
    ("search x --format markdown", "'markdown' is not one of 'text', 'json', 'jsonl', 'md', 'csv'."),
    ("search x --mode fuzzy", "'hybrid'"),
    ("search x --fields titel --json -p PACK", "Did you mean 'title'?"),
    ("search x --fields title -p PACK", "--fields needs another format than text."),
    ("search x --json --format csv -p PACK", "--json and --format csv contradict each other."),
    ("search --batch - --format csv -p PACK", "--batch prints JSON Lines, not csv."),
    ("show 'Heisenberg uncertainty' -p PACK", "Did you mean"),
    ("show Spin#99 -p PACK", "It has Spin#0 (Introduction)"),
    ("show Spin#Discovry -p PACK", "Spin#1 (Discovery)"),
    ("show zzzz -p PACK", "Nothing in the pack is called 'zzzz'"),
    ("open Spin -p PACK --quote ' '", "--quote must not be empty."),
    ("why q 'Broglie waves' -p PACK --offline", "Nothing in the pack is called"),
    ("why ' ' Spin -p PACK --offline", "empty"),
    ("why q Spin -p PACK --profile enhancd", "Did you mean 'enhanced'?"),
    ("why q 'Louis de Broglie' -p PACK --offline --section 'Prof and prize'", "Proof and prize"),
    ("graph paths Spin -p PACK", "Give two names, or one name and --metapath."),
    ("graph paths Spin --metapath LINKS_TOO -p PACK", "Did you mean LINKS_TO?"),
    ("graph paths Spin --metapath 'LINKS_TO -> ' -p PACK", "empty step"),
    ("graph paths Spin Laser --max-hops 99 -p PACK", "at most 8"),
    ("graph paths Spin 'Nobody at all' -p PACK", "Nothing in the pack is called"),
    ("graph cypher 'CREATE (:Article {title: 1})' -p PACK", "CREATE is not allowed"),
    ("graph cypher 'MATCH (a:Article RETURN a' -p PACK", "was expected"),
    ("graph cypher '' -p PACK", "empty"),
    ("graph cypher 'MATCH (a:Film) RETURN a' -p PACK", "`wikigr graph schema` shows labels"),
    ("graph cypher 'RETURN 1' --timeout 0 -p PACK", "--timeout must be above 0"),
    ("graph cypher 'RETURN 1' --timeout nan -p PACK", "--timeout must be above 0"),
    ("pagerank build PACK PACK -o x.json", "-o works with a single pack only."),
    ("pagerank build PACK -o no/such/folder.json", "Create its folder first: mkdir -p no/such"),
    ("pack build missing -o out", "missing does not exist."),
    ("pack export", "No pack was given.\nGive PACK, set WIKIGR_PACK"),
    ("pack verify", "No pack was given.\nGive PACK, set WIKIGR_PACK"),
    ("pack make", "No recipe was given."),
    ("pack make flask-docs --list", "--list takes no recipe."),
    ("pack make flask-dosc", "flask-docs"),
    ("pack make flask-docs -o tab.yaml", "tab.yaml is a file, but -o takes a folder."),
    ("eval validate missing", "missing does not exist."),
    ("replay missing", "Cannot read the receipt missing"),
    ("profile show missing.yaml", "There is no profile file missing.yaml."),
    ("profile show tab.yaml", "a tab, but YAML is indented with blanks in line 2, column 1."),
    ("profile show list.yaml", "a list that is not closed with ] in line 2, column 2 (it begins in line 1"),
]
FAILURES = [
    ("ask x -p nowhere", 4, "There is no pack 'nowhere'"),
    ("graph schema -p nowhere", 4, "There is no pack 'nowhere'"),
    ("pack update . --from missing", 4, "does not contain a pack"),
    ("graph cypher 'RETURN 1/0' -p PACK", 3, "Divide by zero"),
]
# What is wrong on standard input.
INPUT = [("ask - -p PACK < ", "Standard input holds no question.")]
ROWS = [*((line, 2, says) for line, says in (*USAGE, *INPUT)), *FAILURES]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[" * 100_000, "it is nested too deeply."),
        ("9" * 5_000, "a number in it has too many digits."),
        ("null", "it is not a JSON object."),
        ('{\n"a": }', "Expecting value at line 2, column 6."),
    ],
    ids=["deep", "digits", "null", "syntax"],
)
def test_a_run_that_is_no_document_is_named_in_plain_words(
    wikigr: Wikigr, tmp_path: Path, content: str, says: str
) -> None:
    (tmp_path / "run.json").write_text(content)
    result = wikigr("eval", "report", str(tmp_path))
    assert (result.code, result.err) == (3, f"wikigr: Cannot read the run {tmp_path / 'run.json'}: {says}\n")


@pytest.mark.parametrize(("line", "code", "says"), ROWS, ids=lambda value: value[:50] if isinstance(value, str) else "")
def test_a_mistake_has_its_code_and_plain_words(
    wikigr: Wikigr, physics_pack: Path, tmp_path: Path, line: str, code: int, says: str
) -> None:
    (tmp_path / "tab.yaml").write_text("extends: fast\n\tretrieval: 3\n")
    (tmp_path / "list.yaml").write_text("a: [1\nb: 2\n")
    (tmp_path / "COPY").symlink_to(physics_pack)
    command, _, given = line.partition(" < ")
    result = wikigr(*shlex.split(command.replace("PACK", str(physics_pack))), stdin=given)
    assert (result.code, result.out) == (code, "")
    assert says in result.err and "Traceback" not in result.err
