"""The table of options: one name, one short form and one meaning for each, whichever command has it.

Help texts group options by the headings here, settings files check the names at their top level, and
``docs/reference/options.md`` is generated from the table. A test compares it with the command tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

INPUT, RETRIEVAL, MODEL, BUILD, CHECKS, SERVER, OUTPUT, GLOBAL = HEADINGS = (
    "Input",
    "Retrieval",
    "Model and cost",
    "Building",
    "Checks",
    "Server",
    "Output",
    "Global options",
)
# The pack of every command that has no variable or settings of its own.
PACK_VARIABLE = "WIKIGR_PACK"


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option: its long name without dashes, the heading above it in help texts, its meaning and its short form.

    The help text of a command may say it in more detail. ``own`` lists the commands that a default for all commands
    does not reach: they choose among the profiles of a stored run, or remove a pack.
    """

    name: str
    heading: str
    meaning: str
    short: str = ""
    own: tuple[str, ...] = ()


OPTIONS = {
    row.name: row
    for row in (
        OptionRow(
            "pack",
            INPUT,
            "The pack: a folder, a .db file or a name from `wikigr pack list`.",
            "-p",
            own=("pack remove", "pack use"),
        ),
        OptionRow("batch", INPUT, "A file with one question per line, or - for standard input."),
        OptionRow("query", INPUT, "The question that the results to rerank belong to."),
        OptionRow("questions", INPUT, "A file of gold questions."),
        OptionRow("split", INPUT, "Use only the gold questions of this split."),
        OptionRow("from", INPUT, "The source that a pack is updated from."),
        OptionRow("source-format", INPUT, "The format of the source."),
        OptionRow("limit", INPUT, "Read at most this many articles."),
        OptionRow("section", INPUT, "Follow only this section."),
        OptionRow("start", INPUT, "Start from this article or entity."),
        OptionRow("judge-labels", INPUT, "Human grades to compare the judge with."),
        OptionRow("allow-private", INPUT, "Also follow redirects to private addresses."),
        OptionRow("top-k", RETRIEVAL, "The maximum number of results.", "-k"),
        OptionRow(
            "profile",
            RETRIEVAL,
            "The retrieval profile.",
            own=("eval bless", "eval compare", "eval flips", "eval gate"),
        ),
        OptionRow("mode", RETRIEVAL, "Rank by vectors, by BM25 or by both."),
        OptionRow("fusion", RETRIEVAL, "How two rankings are fused."),
        OptionRow("exact", RETRIEVAL, "Compare the question with every vector."),
        OptionRow("method", RETRIEVAL, "How to rerank."),
        OptionRow("alpha", RETRIEVAL, "The weight of the given score."),
        OptionRow("beta", RETRIEVAL, "The weight of PageRank."),
        OptionRow("fuzzy", RETRIEVAL, "Also match misspelled names."),
        OptionRow("semantic", RETRIEVAL, "Add this many articles with the nearest vectors."),
        OptionRow("relation", RETRIEVAL, "Show only edges of this relation."),
        OptionRow("direction", RETRIEVAL, "Show outgoing edges, incoming edges or both."),
        OptionRow("metapath", RETRIEVAL, "Follow this sequence of relations."),
        OptionRow("max-hops", RETRIEVAL, "The maximum number of edges in a path."),
        OptionRow("max-relations", RETRIEVAL, "The maximum number of relations to follow in a round."),
        OptionRow("max-entities", RETRIEVAL, "The maximum number of entities to explore in a round."),
        OptionRow("max-iterations", RETRIEVAL, "The maximum number of rounds of graph exploration."),
        OptionRow("iterations", RETRIEVAL, "The maximum number of planning rounds."),
        OptionRow("embedding-model", RETRIEVAL, "The encoder: a model id or a folder."),
        OptionRow("timeout", RETRIEVAL, "Interrupt the query after this many seconds."),
        OptionRow("model", MODEL, "The model that writes the answer."),
        OptionRow("offline", MODEL, "Call no model and download nothing."),
        OptionRow("max-cost", MODEL, "The maximum cost of the answers in US dollars."),
        OptionRow("stream", MODEL, "Print a model's answer while it is written."),
        OptionRow("show-prompt", MODEL, "Print the request to the model and send nothing."),
        OptionRow("judge", MODEL, "A model that grades the answers as well."),
        OptionRow("judge-model", MODEL, "The model of the judge."),
        OptionRow("judge-max-cost", MODEL, "The maximum cost of the judge in US dollars."),
        OptionRow("fresh", MODEL, "Ask models again for cached replies."),
        OptionRow("extract", MODEL, "Let a model extract entities and relations."),
        OptionRow("extract-model", MODEL, "The model that extracts."),
        OptionRow("extract-max-cost", MODEL, "The maximum cost of the extraction in US dollars."),
        OptionRow("name", BUILD, "The name of the pack."),
        OptionRow("pack-version", BUILD, "The semantic version of the pack."),
        OptionRow("description", BUILD, "A description of the pack in one line."),
        OptionRow("license", BUILD, "The license of the text."),
        OptionRow("bundle-encoder", BUILD, "Copy the encoder into the pack."),
        OptionRow("sign", BUILD, "Sign with this private key."),
        OptionRow("damping", BUILD, "The damping factor of PageRank."),
        OptionRow("tol", BUILD, "The tolerance at which PageRank stops."),
        OptionRow("max-iter", BUILD, "The maximum number of iterations of PageRank."),
        OptionRow("resume", BUILD, "Resume an interrupted run."),
        OptionRow("keep-going", BUILD, "Skip unreadable records."),
        OptionRow("engine", BUILD, "Where to run: on this machine or on a Ray cluster."),
        OptionRow("ray-address", BUILD, "The Ray cluster to join."),
        OptionRow("workers", BUILD, "The maximum number of worker processes of a cluster."),
        OptionRow("staging-path", BUILD, "The folder or URI that all machines of a cluster share."),
        OptionRow("jobs", BUILD, "How much to do in parallel."),
        OptionRow("seed", BUILD, "The seed of random numbers."),
        OptionRow("repeat", BUILD, "How many times to ask every question."),
        OptionRow("ablate", BUILD, "Switch off each enhancement in turn."),
        OptionRow("dry-run", BUILD, "Show what would change and write nothing."),
        OptionRow("project", BUILD, "Change the project's settings file, not the user's."),
        OptionRow("unset", BUILD, "Remove the setting."),
        OptionRow("yes", BUILD, "Do not ask for confirmation.", "-y"),
        OptionRow("force", BUILD, "Do it although a check advises against it."),
        OptionRow("sha256", CHECKS, "The SHA-256 that the archive must have."),
        OptionRow("trust", CHECKS, "The public key that the signature must come from."),
        OptionRow("strict", CHECKS, "Exit with 1 if the pack does not cover the question."),
        OptionRow("exit-code", CHECKS, "Exit with 1 if there are differences."),
        OptionRow("refuse-leaks", CHECKS, "Refuse to run if few-shot examples leak answers."),
        OptionRow("primary", CHECKS, "The metric that decides."),
        OptionRow("margin", CHECKS, "The largest difference that does not matter."),
        OptionRow("min", CHECKS, "A metric and the value that it must reach."),
        OptionRow("baseline", CHECKS, "The blessed run that must not be better."),
        OptionRow("fail-on", CHECKS, "The verdict that fails the gate."),
        OptionRow("max-errors", CHECKS, "The share of samples that may fail."),
        OptionRow("host", SERVER, "The address at which to listen."),
        OptionRow("port", SERVER, "The port at which to listen."),
        OptionRow("allowed-host", SERVER, "Another host name of the server, such as that of a proxy."),
        OptionRow("token", SERVER, "The secret that clients must send."),
        OptionRow("open", SERVER, "Open the address of the server in the browser."),
        OptionRow("print-config", SERVER, "Print the settings of an assistant."),
        OptionRow("output", OUTPUT, "The file or folder to write.", "-o"),
        OptionRow("format", OUTPUT, "The output format."),
        OptionRow("json", OUTPUT, "Print one JSON document."),
        OptionRow("fields", OUTPUT, "The keys of the results to print."),
        OptionRow("all", OUTPUT, "Print everything, not only the most important part."),
        OptionRow("max-sentences", OUTPUT, "The maximum number of sentences to quote."),
        OptionRow("quote", OUTPUT, "A text to highlight."),
        OptionRow("browser", OUTPUT, "Open the address in the browser."),
        OptionRow("explain", OUTPUT, "Show the scores of every candidate."),
        OptionRow("receipt", OUTPUT, "Write the evidence of the answer to a file."),
        OptionRow("origin", OUTPUT, "Show where each value comes from."),
        OptionRow("quiet", GLOBAL, "Hide progress and notes; errors still show.", "-q"),
        OptionRow("verbose", GLOBAL, "Print a trace of every stage on stderr.", "-v"),
        OptionRow("debug", GLOBAL, "Show the traceback of an error."),
        OptionRow("help", GLOBAL, "Show this text.", "-h"),
        OptionRow("version", GLOBAL, "Print the version and the commit."),
        OptionRow("install-completion", GLOBAL, "Install completion for the current shell."),
        OptionRow("show-completion", GLOBAL, "Print the completion script of the current shell."),
    )
}

# Spellings of the release before this one, by command: the old option and the name it has now.
OLD_SPELLINGS = {
    "eval run": {"--strict": "refuse-leaks"},
    "graph cypher": {"--limit": "top-k"},
    "graph link": {"--limit": "top-k"},
    "graph neighbors": {"--limit": "top-k"},
    "graph paths": {"--max-paths": "top-k"},
    "graph schema": {"--relations": "top-k"},
    "graph triplets": {"--max-triplets": "top-k", "--from": "start"},
    "pack build": {"--format": "source-format"},
    "pack update": {"--format": "source-format"},
    "pagerank top": {"--count": "top-k", "-n": "top-k"},
}
# Variables of the release before this one that were not named after the option, by command: the option and the last
# part of the old variable. Every --json had one of these as well.
_OLD_VARIABLES = {
    "eval gate": {"min": "FLOORS"},
    "eval report": {"format": "REPORT_FORMAT"},
    "eval run": {"min": "FLOORS", "profile": "PROFILES"},
    "graph schema": {"top-k": "MOST"},
    "graph triplets": {"start": "SOURCES"},
    "pack build": {"license": "LICENSE_NAME"},
    "pack diff": {"all": "EVERYTHING"},
    "pack update": {"all": "EVERYTHING", "from": "SOURCE"},
    "pagerank build": {"format": "FILE_FORMAT"},
}
_OLD_JSON = "JSON_OUTPUT"


def variable(path: Sequence[str], option: str) -> str:
    """Return the environment variable of an option of the command at ``path``."""
    return _variable((*path, option))


def old_variables(path: Sequence[str], option: str) -> Iterator[str]:
    """Yield the variables that an option of the command at ``path`` had in the release before this one."""
    command = " ".join(path)
    ending = _OLD_JSON if option == "json" else _OLD_VARIABLES.get(command, {}).get(option)
    if ending is not None:
        yield _variable((*path, ending))
    for old, new in OLD_SPELLINGS.get(command, {}).items():
        if new == option and old.startswith("--"):
            yield _variable((*path, old.removeprefix("--")))


def _variable(words: Sequence[str]) -> str:
    return "_".join(("wikigr", *words)).upper().replace("-", "_")
