"""The examples in the help texts. Imported only for a help text; a test runs them all, in this order."""

from __future__ import annotations

# Two for each command. They fit into 76 columns.
EXAMPLES = {
    "": (
        "wikigr ask Who proposed matter waves --pack packs/physics",
        "wikigr help pack build",
    ),
    "ask": (
        'wikigr ask "Who proposed matter waves?" --pack packs/physics',
        'echo "What is spin?" | wikigr ask - --pack packs/physics --json',
    ),
    "replay": (
        "wikigr replay answer.json --pack packs/physics",
        "wikigr replay answer.json --pack packs/physics --json",
    ),
    "search": (
        "wikigr search exclusion principle --pack packs/physics -k 3",
        'wikigr search "spin" --pack packs/physics --mode lexical --format csv',
    ),
    "rerank": (
        "wikigr rerank results.json --pack packs/physics",
        "wikigr search spin -p packs/physics --json | wikigr rerank -p packs/physics",
    ),
    "why": (
        'wikigr why "What is spin?" Spin --pack packs/physics',
        'wikigr why who proposed matter waves "Louis de Broglie" -p packs/physics',
    ),
    "show": (
        "wikigr show Louis de Broglie --pack packs/physics",
        'wikigr show "Louis de Broglie#3" --pack packs/physics --json',
    ),
    "open": (
        'wikigr open "Louis de Broglie#3" --pack packs/physics',
        "wikigr open Spin --pack packs/physics --quote angular",
    ),
    "graph": ("wikigr graph neighbors Spin --pack packs/physics",),
    "graph link": (
        'wikigr graph link "Did Bohr teach Heisenberg?" --pack packs/physics',
        'wikigr graph link "wave mechanics" --pack packs/physics --semantic 3',
    ),
    "graph neighbors": (
        "wikigr graph neighbors Louis de Broglie --pack packs/physics",
        "wikigr graph neighbors Spin --direction in -k 5 --pack packs/physics",
    ),
    "graph triplets": (
        'wikigr graph triplets "What did Bohr change?" --pack packs/physics',
        'wikigr graph triplets "Who knew him?" --start Spin -p packs/physics',
    ),
    "graph paths": (
        'wikigr graph paths Spin "Louis de Broglie" --pack packs/physics',
        'wikigr graph paths Spin --metapath "LINKS_TO" -k 3 --pack packs/physics',
    ),
    "graph cypher": (
        'wikigr graph cypher "MATCH (a:Article) RETURN a.title" -p packs/physics -k 3',
        'wikigr graph cypher "MATCH (e:Entity) RETURN e.name" -p packs/physics --json',
    ),
    "graph schema": (
        "wikigr graph schema --pack packs/physics",
        "wikigr graph schema --pack packs/physics --top-k 5 --json",
    ),
    "pack": ("wikigr pack build notes -o packs/notes", "wikigr pack info packs/notes"),
    "pack build": (
        "wikigr pack build notes -o packs/notes",
        "wikigr pack build notes -o packs/notes --license CC0-1.0 --jobs 1",
    ),
    "pack info": ("wikigr pack info packs/physics", "wikigr pack info packs/physics --json"),
    "pack list": ("wikigr pack list", "wikigr pack list packs --json"),
    "pack validate": ("wikigr pack validate packs/physics", "wikigr pack validate --pack packs/notes --json"),
    "pack diff": (
        "wikigr pack diff packs/notes packs/notes",
        "wikigr pack diff packs/notes packs/notes --exit-code --json",
    ),
    "pack update": (
        "wikigr pack update packs/notes --from notes --dry-run",
        "wikigr pack update packs/notes --from notes",
    ),
    "pack export": (
        "wikigr pack export packs/physics -o physics.wikigr",
        "wikigr pack export packs/physics --sign key -o signed.wikigr",
    ),
    "pack verify": (
        "wikigr pack verify physics.wikigr",
        "wikigr pack verify signed.wikigr --trust key.pub",
    ),
    "pack install": (
        "wikigr pack install physics.wikigr",
        "wikigr pack install signed.wikigr --trust key.pub --name signed",
    ),
    "pack use": ("wikigr pack use physics", "wikigr pack use physics --project"),
    "pack remove": ("wikigr pack remove physics --yes", "wikigr pack remove signed --yes --json"),
    "pagerank": ("wikigr pagerank build packs/physics",),
    "pagerank build": (
        "wikigr pagerank build packs/physics",
        "wikigr pagerank build packs/physics -o scores.parquet",
    ),
    "pagerank top": (
        "wikigr pagerank top --pack packs/physics",
        "wikigr pagerank top --pack packs/physics -k 3 --json",
    ),
    "pagerank show": (
        "wikigr pagerank show Albert Einstein --pack packs/physics",
        "wikigr pagerank show Spin --pack packs/physics --json",
    ),
    "pagerank verify": (
        "wikigr pagerank verify packs/physics",
        "wikigr pagerank verify --pack packs/physics --json",
    ),
    "profile": ("wikigr profile list",),
    "profile list": ("wikigr profile list", "wikigr profile list --json"),
    "profile show": ("wikigr profile show enhanced", "wikigr profile show fast --json"),
    "profile validate": ("wikigr profile validate mine.yaml", "wikigr profile validate fast precise"),
    "profile diff": ("wikigr profile diff baseline enhanced", "wikigr profile diff enhanced mine.yaml --json"),
    "eval": ("wikigr eval run --pack packs/physics --offline -o runs/first", "wikigr eval report runs/first"),
    "eval run": (
        "wikigr eval run --pack packs/physics --offline -o runs/first",
        "wikigr eval run -p packs/physics --profile fast --offline -o runs/second",
    ),
    "eval report": (
        "wikigr eval report runs/first",
        "wikigr eval report runs/first --format html -o report.html",
    ),
    "eval trec": ("wikigr eval trec runs/first -o trec", "wikigr eval trec runs/first -o trec --json"),
    "eval compare": (
        "wikigr eval compare runs/first runs/second",
        "wikigr eval compare runs/first runs/second --primary recall@5",
    ),
    "eval flips": ("wikigr eval flips runs/first", "wikigr eval flips runs/first runs/second --json"),
    "eval bless": (
        "wikigr eval bless runs/first -o baseline.json",
        "wikigr eval bless runs/first -o baseline.json --profile baseline",
    ),
    "eval gate": (
        "wikigr eval gate runs/first --min accuracy=0.1",
        "wikigr eval gate runs/first --min accuracy=0.1 --max-errors 0.05",
    ),
    "eval calibrate": (
        "wikigr eval calibrate --pack packs/physics --dry-run",
        "wikigr eval calibrate --pack packs/physics --split dev --json",
    ),
    "eval validate": (
        "wikigr eval validate packs/physics/eval/questions.jsonl",
        "wikigr eval validate packs/physics/eval/questions.jsonl -p packs/physics",
    ),
    "serve": (
        "wikigr serve --pack packs/physics --open",
        "wikigr serve --pack packs/physics --host 0.0.0.0 --token $SECRET",
    ),
    "mcp": (
        "wikigr mcp --pack packs/physics --print-config claude-code",
        "wikigr mcp --pack packs/physics --print-config cursor",
    ),
    "model": ("wikigr model prepare",),
    "model prepare": ("wikigr model prepare", "wikigr model prepare --json"),
    "config": ("wikigr config show --origin",),
    "config show": ("wikigr config show", "wikigr config show --origin"),
    "doctor": ("wikigr doctor", "wikigr doctor --json"),
    "help": ("wikigr help", "wikigr help pack build"),
    "version": ("wikigr version", "wikigr version --json"),
}
