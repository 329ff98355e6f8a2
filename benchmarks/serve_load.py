"""Ask a running ``wikigr serve`` different questions from many clients, and print throughput, latency and memory.

    python benchmarks/serve_load.py --pack packs/physics --seconds 60

Each part starts its own server: with the profile ``enhanced``, with the same without the reader and the hops that it
reads, and, with ``--update``, while ``wikigr pack update`` replaces a copy of the pack underneath. Memory is the
resident set of the server, at a quarter of the time and at the end. On a busy machine, look at the processor time of a
question.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

ROOT = Path(__file__).parent.parent
MAIN = "from wikigr_cli.entry import main; main()"


def questions(pack: Path) -> list[str]:
    """The gold questions of the pack's folder, or of the demo pack."""
    own = pack / "eval" / "questions.jsonl"
    path = own if own.is_file() else ROOT / "packs" / "physics" / "eval" / "questions.jsonl"
    return [json.loads(line)["question"] for line in path.read_text(encoding="utf-8").splitlines()]


def resident(pid: int) -> float:
    """Megabytes of a process in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def processor(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(pack: Path, profile: str, clients: int, seconds: float, update_from: Path | None) -> dict[str, Any]:
    """Ask for ``seconds`` from ``clients`` threads; ``update_from`` is the folder of articles of an updated pack."""
    command = ["serve", "--port", "0", "--offline", "--pack", str(pack), "--profile", profile]
    started = time.perf_counter()
    server = subprocess.Popen([sys.executable, "-c", MAIN, *command], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().strip()
    asked = questions(pack)
    httpx2.get(f"{address}api/ask", params={"question": asked[0]}, timeout=120).raise_for_status()
    cold = time.perf_counter() - started
    times: list[float] = []
    outcomes: Counter[str] = Counter()
    digests: Counter[str] = Counter()
    memory: list[float] = []
    busy = processor(server.pid)
    end = time.perf_counter() + seconds

    def ask(number: int) -> None:
        with httpx2.Client(base_url=address, timeout=300) as client:
            place = number * 7
            while time.perf_counter() < end:
                begun = time.perf_counter()
                response = client.get("/api/ask", params={"question": asked[place % len(asked)]})
                times.append(time.perf_counter() - begun)
                outcomes[str(response.status_code)] += 1
                if response.status_code == 200:
                    digests[response.json()["pack"]["digest"][:8]] += 1
                else:
                    print(response.text, file=sys.stderr)
                place += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    updates = 0
    while time.perf_counter() < end:
        memory.append(resident(server.pid))
        if update_from is not None:
            note = update_from / f"note-{updates}.md"
            note.write_text(f"# Note {updates}\nThis is note number {updates} of the benchmark.\n")
            arguments = [sys.executable, "-c", MAIN, "pack", "update", str(pack), "--from", str(update_from)]
            subprocess.run(arguments, check=True, capture_output=True)
            updates += 1
        time.sleep(min(1.0, seconds / 20))
    for thread in threads:
        thread.join()
    memory.append(resident(server.pid))
    busy = processor(server.pid) - busy
    server.terminate()
    code = server.wait(60)
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    return {
        "profile": Path(profile).stem,
        "cold_s": round(cold, 2),
        "questions": len(times),
        "per_second": round(len(times) / seconds, 1),
        "cpu_ms": round(1000 * busy / len(times)),
        "p50_s": round(float(p50), 3),
        "p95_s": round(float(p95), 3),
        "p99_s": round(float(p99), 3),
        "memory_mb": [round(memory[len(memory) // 4]), round(memory[-1])],
        "outcomes": dict(outcomes),
        "packs": len(digests),
        "updates": updates,
        "exit": code,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--update", type=Path, metavar="ARTICLES", help="the articles of the pack, to update it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        unread = Path(folder) / "without-reader.yaml"
        unread.write_text("extends: enhanced\nreader: {enabled: false}\nhops: {enabled: false}\n")
        for profile in ("enhanced", str(unread)):
            print(json.dumps(load(options.pack, profile, options.clients, options.seconds, None)), flush=True)
        if options.update is not None:
            pack, articles = Path(folder) / options.pack.name, Path(folder) / options.update.name
            shutil.copytree(options.pack, pack)
            shutil.copytree(options.update, articles)
            found = load(pack, str(unread), options.clients, options.seconds, articles)
            print(json.dumps({**found, "with": "pack update"}), flush=True)


if __name__ == "__main__":
    main()
