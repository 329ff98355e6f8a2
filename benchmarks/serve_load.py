"""Ask a server questions from many clients, alone and beside hostile ones: throughput, latency, memory.

    python benchmarks/serve_load.py --pack packs/physics [--clients 150] [--rate 2] [--hostile 50] [--seconds 120]

The clients have one loopback address each and ask ``--rate`` questions a second in all; with ``--rate 0``, each asks
again as soon as it was answered, which measures throughput (16 clients are enough). A fifth of the hostile clients
each: ask for articles in one pipeline and read nothing; send the head of a request byte by byte; have 8 of the longest
questions under way at any time; connect and disconnect; send a body that does not end. Prints one JSON document. The
exit code is 1 if a client got an error or the memory grew by a tenth. On a busy machine, look at the processor time of
a question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

GOLD = Path(__file__).parent.parent / "packs" / "physics" / "eval" / "questions.jsonl"
QUESTIONS = [json.loads(line)["question"] for line in GOLD.read_text(encoding="utf-8").splitlines()]
ARTICLE = b"GET /api/articles/Albert%20Einstein HTTP/1.1\r\nHost: localhost\r\n\r\n"


def client_at(address: str, server: httpx2.URL) -> httpx2.AsyncClient:
    # Without TLS: to load its certificates takes as long as an answer.
    transport = httpx2.AsyncHTTPTransport(verify=False, local_address=address)
    return httpx2.AsyncClient(base_url=server, transport=transport, timeout=300)


async def connection_from(address: str, server: httpx2.URL) -> asyncio.StreamWriter:
    _, writer = await asyncio.open_connection(server.host, server.port, local_addr=(address, 0), limit=1024)
    return writer


async def read_nothing(address: str, server: httpx2.URL) -> None:
    writer = await connection_from(address, server)
    while True:
        writer.write(ARTICLE * 100)
        await writer.drain()


async def send_slowly(address: str, server: httpx2.URL) -> None:
    writer = await connection_from(address, server)
    for byte in ARTICLE:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(1)


async def ask_long_questions(address: str, server: httpx2.URL) -> None:
    words = " ".join(QUESTIONS).split()
    draw = random.Random(address)
    async with client_at(address, server) as client:

        async def ask_one() -> None:
            question = " ".join(draw.choices(words, k=500))[:2000]
            response = await client.get("/api/ask", params={"question": question})
            if response.status_code == 503:
                await asyncio.sleep(0.1)

        await asyncio.gather(*(ask_one() for _ in range(8)))


async def come_and_go(address: str, server: httpx2.URL) -> None:
    writer = await connection_from(address, server)
    writer.write(ARTICLE)
    writer.close()
    await asyncio.sleep(0.2)


async def send_endless_body(address: str, server: httpx2.URL) -> None:
    writer = await connection_from(address, server)
    writer.write(b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\n{\r\n")
        await writer.drain()
        await asyncio.sleep(0.1)


KINDS: dict[str, Callable[[str, httpx2.URL], Awaitable[None]]] = {
    kind.__name__: kind for kind in (read_nothing, send_slowly, ask_long_questions, come_and_go, send_endless_body)
}


async def attack(number: int, kinds: list[str], server: httpx2.URL, attempts: Counter[str]) -> None:
    """Behave as hostile client ``number`` until cancelled. Those of one kind share two addresses."""
    kind = KINDS[kinds[number % len(kinds)]]
    address = f"127.0.1.{1 + number % (2 * len(kinds))}"
    await asyncio.sleep(number / 10)
    while True:
        attempts[kind.__name__] += 1
        with suppress(OSError, httpx2.TransportError):
            await kind(address, server)
        await asyncio.sleep(0.01)


async def ask(number: int, server: httpx2.URL, rate: float, outcomes: Counter[str], times: list[float]) -> None:
    """Ask ``rate`` questions a second until cancelled, at random times; 0: one after another."""
    draw = random.Random(number)
    async with client_at(f"127.0.2.{1 + number % 250}", server) as client:
        while True:
            await asyncio.sleep(draw.expovariate(rate) if rate else 0)
            begun = time.perf_counter()
            try:
                response = await client.get("/api/ask", params={"question": draw.choice(QUESTIONS)})
            except httpx2.TransportError as error:
                outcomes[type(error).__name__] += 1
            else:
                outcomes[str(response.status_code)] += 1
                times.append(time.perf_counter() - begun)


def resident(pid: int) -> float:
    """Return the megabytes of a process in memory."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def processor(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def load(pid: int, server: httpx2.URL, options: argparse.Namespace, hostile: int) -> dict[str, Any]:
    outcomes: Counter[str] = Counter()
    attempts: Counter[str] = Counter()
    times: list[float] = []
    memory: list[float] = []
    busy = processor(pid)
    tasks = [
        asyncio.create_task(ask(number, server, options.rate / options.clients, outcomes, times))
        for number in range(options.clients)
    ]
    tasks += [asyncio.create_task(attack(number, options.kinds, server, attempts)) for number in range(hostile)]
    for _ in range(8):
        await asyncio.sleep(options.seconds / 8)
        memory.append(resident(pid))
    busy = processor(pid) - busy
    for task in tasks:
        task.cancel()
    failed = [error for error in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(error, Exception)]
    if failed:
        raise failed[0]
    p50, p95 = np.percentile(times, [50, 95])
    return {
        "hostile": hostile,
        "questions": len(times),
        "per_second": round(len(times) / options.seconds, 1),
        "cpu_ms": round(1000 * busy / len(times)),
        "p50_s": round(float(p50), 3),
        "p95_s": round(float(p95), 3),
        "outcomes": dict(outcomes),
        "attempts": dict(attempts),
        "memory_mb": [round(value) for value in memory],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--clients", type=int, default=150)
    parser.add_argument("--hostile", type=int, default=50)
    parser.add_argument("--rate", type=float, default=2.0)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args()
    program = "from wikigr_cli.entry import main; main()"
    command = [sys.executable, "-c", program, "serve", "--port", "0", "--offline", "--pack", str(options.pack)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = httpx2.URL(server.stdout.readline().strip())
        for question in QUESTIONS:
            httpx2.get(f"{address}api/ask", params={"question": question}, timeout=120).raise_for_status()
        found: dict[str, Any] = {"quiet": asyncio.run(load(server.pid, address, options, 0))}
        if options.hostile:
            found["beside"] = asyncio.run(load(server.pid, address, options, options.hostile))
            found["p95_ratio"] = round(found["beside"]["p95_s"] / found["quiet"]["p95_s"], 2)
        server.terminate()
        begun = time.perf_counter()
        found["exit"] = server.wait(60)
        found["stop_s"] = round(time.perf_counter() - begun, 2)
    print(json.dumps(found, indent=1))
    last = found.get("beside", found["quiet"])
    return int(set(last["outcomes"]) != {"200"} or last["memory_mb"][-1] > 1.1 * last["memory_mb"][1])


if __name__ == "__main__":
    sys.exit(main())
