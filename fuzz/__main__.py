"""Fuzz one target, guided by code coverage; needs atheris.

``python -m fuzz TARGET [libFuzzer option …]`` starts from ``corpus/TARGET``. It keeps new inputs in ``work/TARGET`` and
inputs that fail in ``work/failures``. The exit code is not 0 if an input raised an exception, took 20 s or 2 GiB.
"""

from __future__ import annotations

import sys

import atheris

from fuzz.targets import DICTIONARIES, FOLDER, load_target, seeds


def main() -> None:
    name, options = sys.argv[1], sys.argv[2:]
    # Modules are instrumented while they are imported, and some are imported only when an input needs them.
    with atheris.instrument_imports(include=["wikigr"]):
        test_one_input = load_target(name)
        for seed in seeds(name):
            test_one_input(seed.read_bytes())
    found, failures = FOLDER / "work" / name, FOLDER / "work" / "failures"
    found.mkdir(parents=True, exist_ok=True)
    failures.mkdir(exist_ok=True)
    defaults = ["-timeout=20", "-rss_limit_mb=2048", f"-artifact_prefix={failures}/{name}-"]
    dictionary = DICTIONARIES / f"{name}.dict"
    if dictionary.exists():
        defaults.append(f"-dict={dictionary}")
    # libFuzzer reads its options up to the first folder, and the last one of a name counts.
    atheris.Setup([sys.argv[0], *defaults, *options, str(found), str(FOLDER / "corpus" / name)], test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
