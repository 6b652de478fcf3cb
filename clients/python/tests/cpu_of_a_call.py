"""Measures the CPU time of a call of `protect` against that of bare httpx, with 16 connections.

The bare client encodes the same body and decodes the same answer. The server, whose CPU time does not count, runs in
another process.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx

from sealward import AsyncClient, Client

CONNECTIONS = 16
CALLS = 4000
ROUNDS = 5
KEY = "sk_test_cpu"
HEADERS = {"Authorization": f"Bearer {KEY}"}
PAYLOAD = {"card": "4111 1111 1111 1111", "name": "A. Customer"}
SERVER = Path(__file__).parents[2] / "conformance/answering.py"


def measured(call: Callable[[], Any]) -> float:
    """The microseconds of CPU time of a call in one of 16 threads."""

    def worker(_: int) -> None:
        for _ in range(CALLS // CONNECTIONS):
            call()

    began = time.process_time()
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        list(threads.map(worker, range(CONNECTIONS)))
    return (time.process_time() - began) / CALLS * 1e6


async def measured_async(call: Callable[[], Awaitable[Any]]) -> float:
    """The microseconds of CPU time of a call in one of 16 tasks."""

    async def worker() -> None:
        for _ in range(CALLS // CONNECTIONS):
            await call()

    began = time.process_time()
    async with anyio.create_task_group() as tasks:
        for _ in range(CONNECTIONS):
            tasks.start_soon(worker)
    return (time.process_time() - began) / CALLS * 1e6


def show(name: str, bare: float, client: float) -> None:
    more = 100 * (client / bare - 1)
    sys.stdout.write(f"{name}: bare {bare:.0f} µs, client {client:.0f} µs: {more:+.1f} %\n")


def threads(url: str) -> None:
    with httpx.Client(headers=HEADERS, trust_env=False) as bare, Client(url, KEY) as client:
        for _ in range(ROUNDS):
            without = measured(lambda: bare.post(f"{url}/api/v1/protect", json={"payload": PAYLOAD}).json()["jwe"])
            show("Client", without, measured(lambda: client.protect(PAYLOAD).jwe))


async def tasks(url: str) -> None:
    async with httpx.AsyncClient(headers=HEADERS, trust_env=False) as bare, AsyncClient(url, KEY) as client:

        async def call_bare() -> Any:
            return (await bare.post(f"{url}/api/v1/protect", json={"payload": PAYLOAD})).json()["jwe"]

        for _ in range(ROUNDS):
            without = await measured_async(call_bare)
            show("AsyncClient", without, await measured_async(lambda: client.protect(PAYLOAD)))


def main() -> None:
    with subprocess.Popen([sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        threads(url)
        anyio.run(tasks, url)
        server.communicate("")


if __name__ == "__main__":
    main()
