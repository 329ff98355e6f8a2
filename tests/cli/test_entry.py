"""Ctrl-C ends the command line with 130 and without a traceback, whenever it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

# Sends SIGINT when a module is looked for, which is the same moment however busy the machine is.
INTERRUPT = """
import os, signal, sys

class Interrupt:
    left = int(sys.argv.pop(1))

    def find_spec(self, name, path=None, target=None):
        Interrupt.left -= 1
        if Interrupt.left == 0:
            os.write(1, b"sent\\n")
            os.kill(os.getpid(), signal.SIGINT)

from wikigr_cli.entry import main

sys.meta_path.insert(0, Interrupt())
main()
"""


def test_ctrl_c_during_any_import_ends_the_process_without_a_traceback(physics_pack: Path) -> None:
    ask = ("ask", "What is spin?", "--offline", "--pack", str(physics_pack))
    # The command line itself, then what it needs for a question.
    for count in (1, 60, 240):
        command = [sys.executable, "-c", INTERRUPT, str(count), *ask]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode, done.stdout, done.stderr) == (130, "sent\n", "Interrupted.\n"), count


def test_ctrl_c_is_ignored_where_the_shell_ignores_it(physics_pack: Path) -> None:
    ask = ("search", "spin", "--mode", "lexical", "--pack", str(physics_pack))
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT, "2", *ask],
        capture_output=True, text=True, check=False, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("sent\n")
