"""Splits batches that exceed the limits of one request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

MAX_ITEMS = 1000
MAX_BYTES = 16 << 20


def batches(items: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The bodies for JSON texts of items, and the number of items in each."""
    batch: list[str] = []
    size = len('{"items":[]}')
    for item in items:
        length = len(item.encode()) + 1
        if batch and (len(batch) == MAX_ITEMS or size + length > MAX_BYTES):
            yield _body(batch), len(batch)
            batch, size = [], len('{"items":[]}')
        batch.append(item)
        size += length
    if batch:
        yield _body(batch), len(batch)


def _body(items: list[str]) -> str:
    return '{"items":[' + ",".join(items) + "]}"
