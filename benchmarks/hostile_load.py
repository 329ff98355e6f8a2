"""Ask a server questions from many clients, first alone and then beside hostile ones, and compare the waiting times.

    python benchmarks/hostile_load.py --pack packs/physics [--clients 150] [--hostile 50] [--rate 2] [--seconds 120]

The clients have one loopback address each and ask ``--rate`` questions a second in all. A fifth of the hostile ones
each: ask for articles in one pipeline and read nothing; send the head of a request byte by byte; have 8 of the longest
questions under way at any time; connect and disconnect; send a body that does not end. The hostile ones of one kind
share two addresses. Prints one JSON document. The exit code is 1 if a client got an error or the memory grew by a
tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
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
from serve_load import MAIN, questions, resident

ARTICLE = b"GET /api/articles/Albert%20Einstein HTTP/1.1\r\nHost: localhost\r\n\r\n"


def client_at(address: str, server: str) -> httpx2.AsyncClient:
    # Without TLS: to load its certificates takes as long as an answer.
    transport = httpx2.AsyncHTTPTransport(verify=False, local_address=address)
    return httpx2.AsyncClient(base_url=server, transport=transport, timeout=300)


async def connection_from(address: str, server: httpx2.URL) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(server.host, server.port, local_addr=(address, 0), limit=1024)


async def read_nothing(address: str, server: httpx2.URL) -> None:
    _, writer = await connection_from(address, server)
    while True:
        writer.write(ARTICLE * 100)
        await writer.drain()


async def send_slowly(address: str, server: httpx2.URL) -> None:
    _, writer = await connection_from(address, server)
    for byte in ARTICLE:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(1)


async def ask_long_questions(address: str, server: httpx2.URL) -> None:
    words = " ".join(questions(Path())).split()
    draw = random.Random(address)
    async with client_at(address, str(server)) as client:

        async def ask() -> None:
            question = " ".join(draw.choices(words, k=500))[:2000]
            response = await client.get("/api/ask", params={"question": question})
            if response.status_code == 503:
                await asyncio.sleep(0.1)

        await asyncio.gather(*(ask() for _ in range(8)))


async def come_and_go(address: str, server: httpx2.URL) -> None:
    _, writer = await connection_from(address, server)
    writer.write(ARTICLE)
    writer.close()
    await asyncio.sleep(0.2)


async def send_endless_body(address: str, server: httpx2.URL) -> None:
    _, writer = await connection_from(address, server)
    writer.write(b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\n{\r\n")
        await writer.drain()
        await asyncio.sleep(0.1)


KINDS: dict[str, Callable[[str, httpx2.URL], Awaitable[None]]] = {
    kind.__name__: kind for kind in (read_nothing, send_slowly, ask_long_questions, come_and_go, send_endless_body)
}


async def attack(number: int, kinds: list[str], server: httpx2.URL, attempts: Counter[str]) -> None:
    """Behave as hostile client ``number`` until cancelled."""
    kind = KINDS[kinds[number % len(kinds)]]
    address = f"127.0.1.{1 + number % (2 * len(kinds))}"
    await asyncio.sleep(number / 10)
    while True:
        attempts[kind.__name__] += 1
        with suppress(OSError, httpx2.TransportError):
            await kind(address, server)
        await asyncio.sleep(0.01)


async def ask(number: int, server: httpx2.URL, rate: float, outcomes: Counter[str], times: list[float]) -> None:
    """Ask ``rate`` questions a second until cancelled, at random times."""
    asked = questions(Path())
    draw = random.Random(number)
    async with client_at(f"127.0.2.{1 + number % 250}", str(server)) as client:
        while True:
            await asyncio.sleep(draw.expovariate(rate))
            begun = time.perf_counter()
            try:
                response = await client.get("/api/ask", params={"question": draw.choice(asked)})
            except httpx2.TransportError as error:
                outcomes[type(error).__name__] += 1
            else:
                outcomes[str(response.status_code)] += 1
                times.append(time.perf_counter() - begun)


async def load(process: int, server: httpx2.URL, options: argparse.Namespace, hostile: int) -> dict[str, Any]:
    outcomes: Counter[str] = Counter()
    attempts: Counter[str] = Counter()
    times: list[float] = []
    memory: list[float] = []
    tasks = [
        asyncio.create_task(ask(number, server, options.rate / options.clients, outcomes, times))
        for number in range(options.clients)
    ]
    tasks += [asyncio.create_task(attack(number, options.kinds, server, attempts)) for number in range(hostile)]
    for _ in range(8):
        await asyncio.sleep(options.seconds / 8)
        memory.append(resident(process))
    for task in tasks:
        task.cancel()
    failed = [error for error in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(error, Exception)]
    if failed:
        raise failed[0]
    p50, p95 = np.percentile(times, [50, 95])
    return {
        "hostile": hostile,
        "questions": len(times),
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
    command = ["serve", "--port", "0", "--offline", "--pack", str(options.pack)]
    with subprocess.Popen([sys.executable, "-c", MAIN, *command], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = httpx2.URL(server.stdout.readline().strip())
        for question in questions(Path()):
            httpx2.get(f"{address}api/ask", params={"question": question}, timeout=120).raise_for_status()
        quiet = asyncio.run(load(server.pid, address, options, 0))
        beside = asyncio.run(load(server.pid, address, options, options.hostile))
        server.terminate()
        begun = time.perf_counter()
        code = server.wait(60)
    found = {
        "quiet": quiet,
        "beside": beside,
        "p95_ratio": round(beside["p95_s"] / quiet["p95_s"], 2),
        "stop_s": round(time.perf_counter() - begun, 2),
        "exit": code,
    }
    print(json.dumps(found, indent=1))
    memory = beside["memory_mb"]
    return int(set(beside["outcomes"]) != {"200"} or memory[-1] > 1.1 * memory[1])


if __name__ == "__main__":
    sys.exit(main())
