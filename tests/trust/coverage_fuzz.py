"""Fuzz one source format, guided by code coverage; a program that needs atheris.

``python coverage_fuzz.py FORMAT SAMPLE SECONDS SEED`` writes its findings to the folder of the file SAMPLE. The exit
code is 0 when no input crashed, hung for 20 s or took 2 GiB.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["wikigr.sources"]):
    import source_child

    from wikigr.sources.formats import FORMATS

    for row in FORMATS:
        import_module(row.reader.partition(":")[0])


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
