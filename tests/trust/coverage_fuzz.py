"""Fuzzes one source format, led by what of our code each input reaches; run as a program, with atheris installed.

``python coverage_fuzz.py FORMAT SAMPLE SECONDS SEED``; in the folder of the file SAMPLE it keeps what it found. It ends
with 0 when nothing crashed, hung for 20 s or took 2 GiB.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["wikigr.sources"]):
    import source_child

    from wikigr.sources import mediawiki, rdf, triples, zim  # noqa: F401


def main() -> None:
    name, sample, seconds, seed = sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    corpus = sample.parent / "corpus"
    corpus.mkdir()
    (corpus / "sample").write_bytes(sample.read_bytes())

    def once(data: bytes) -> None:
        sample.write_bytes(data)
        source_child.read(name, sample)

    limits = [f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048", "-max_len=8192", f"-seed={seed}"]
    atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={sample.parent}/", str(corpus)], once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
