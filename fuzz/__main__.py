"""Fuzz one target, guided by code coverage; needs atheris.

``python -m fuzz TARGET [libFuzzer option …]`` starts from ``corpus/TARGET``. It keeps new inputs in ``work/TARGET`` and
inputs that fail in ``work/failures``. The exit code is not 0 if an input raised an exception, took 20 s or 2 GiB.
``python -m fuzz`` prints the names of the targets.
"""

from __future__ import annotations

import sys


def main() -> None:
    if len(sys.argv) == 1:
        from fuzz.targets import TARGETS

        sys.stdout.write(" ".join(TARGETS) + "\n")
        return
    import atheris

    name, options = sys.argv[1], sys.argv[2:]
    # Modules are instrumented while they are imported, and some are imported only when an input needs them.
    with atheris.instrument_imports(include=["wikigr"]):
        from fuzz.targets import DICTIONARIES, FOLDER, TARGETS, seeds

        for seed in seeds(name):
            TARGETS[name](seed.read_bytes())
    found, failures = FOLDER / "work" / name, FOLDER / "work" / "failures"
    found.mkdir(parents=True, exist_ok=True)
    failures.mkdir(exist_ok=True)
    defaults = ["-timeout=20", "-rss_limit_mb=2048", f"-artifact_prefix={failures}/{name}-"]
    dictionary = DICTIONARIES / f"{name}.dict"
    if dictionary.exists():
        defaults.append(f"-dict={dictionary}")
    # libFuzzer reads its options up to the first folder, and the last one of a name counts.
    atheris.Setup([sys.argv[0], *defaults, *options, str(found), str(FOLDER / "corpus" / name)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
