"""Packs to look at: a manual with a table, code, steps, tasks and a PDF, and one whose every field attacks a page."""

from __future__ import annotations

import json
from pathlib import Path

from tests.sources.office.files import Page

from wikigr.embeddings.embedder import Embedder
from wikigr.ingest.build import BuildOptions, build_pack
from wikigr.sources.detect import open_source

HARBOR_PAGES: list[Page] = [
    [(1, "The basins"), "The harbor of Vessin has three basins. It was opened in 1911 by Odile Marchetti."],
    [(1, "Cranes"), "The crane Berta lifts at most 45 tonnes. It is greased every second Monday."],
    [(1, "Pilots"), "The pilot station of Vessin answers on channel 12. Its head is Karim Haddad."],
]
# Tabs, trailing blanks and several blanks in a row: what is copied must have all of them.
CODE = "gauge --reset \\\n    --station \"Vessin   North\"\t--depth=0   \n\n  echo '<b>done</b> [1]'"
_ROWS = "\n".join(f"| {n} | Quay {chr(64 + n)} | {3 + n * 0.5:.1f} | {40 + n * 15} |" for n in range(1, 25))
NOTE = f"""---
title: Berths of Vessin
---
The berths of the harbor of Vessin and their depth.

| Berth | Quay | Depth in metres | Length in metres |
| ---: | --- | ---: | ---: |
{_ROWS}

## Reset the tide gauge

Run this command on the gauge to reset it:

```sh
{CODE}
```

## How to book a berth

1. Call the harbor office on channel 9.
2. Name the ship, its length and its draught.
3. Wait for the number of the berth.

Before you sail:

- [x] Pay the harbor fee
- [ ] Return the shore power cable
"""

SCRIPT = "<script>alert('ZQX')</script>"
HANDLER = "\"><img src=x onerror=alert('ZQX')>"
# Control characters, and characters that turn the direction of text around, which get into a pack.
CONTROLS = "\x9b2J\x85\u202eelbissop\u202c\u2066x\u2069"
HOSTILE_TITLE = f"Gate {SCRIPT} & 'keys'"
_HOSTILE = [
    {
        "id": "gate",
        "title": HOSTILE_TITLE,
        "text": f"The brass gate of Orrin was built by Mara Quill in 1871. {SCRIPT} {HANDLER} {CONTROLS}\n"
        f"# {HANDLER}\nIts keys hang beside the Old tower. javascript:alert(1) {{{{ 7 * 7 }}}} {{% raw %}}\n\n"
        f"- {SCRIPT}\n- second\n\nyear | {SCRIPT}\n1871 | {HANDLER}",
        "links": ["tower", "../../../etc/passwd"],
        "url": "javascript:alert(document.cookie)",
        "categories": [SCRIPT, HANDLER],
        "aliases": [f"alias {SCRIPT}", f"brass {CONTROLS} gate"],
    },
    {
        "id": "tower",
        "title": "Old tower",
        "text": "The Old tower of Orrin is 40 metres high. It was built by Edda Farn in 1790.",
        "links": ["gate", "path"],
        "url": "https://example.org/tower?a=1&b=<script>",
        "categories": ["Building"],
    },
    {
        "id": "path",
        "title": "../../../etc/passwd",
        "text": "A title that looks like a path.",
        "url": "file:///etc/passwd",
    },
]


def build(source: Path, pack: Path, encoder: Embedder, *, description: str = "", terms: str = "") -> Path:
    options = BuildOptions(name=pack.name, description=description, license=terms)
    build_pack(open_source(source), str(source), pack, encoder, options)
    return pack


def hostile_records(folder: Path, encoder: Embedder) -> Path:
    """Build the hostile pack in ``folder``."""
    source = folder / "source.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in _HOSTILE), encoding="utf-8")
    return build(source, folder / "hostile", encoder, description=f"{SCRIPT} {CONTROLS}", terms=HANDLER)
