"""Every conformance case passes with both clients."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conformance import HERE, Runner, Server, running_server

DOCUMENT = json.loads((HERE / "cases.json").read_text())
LANGUAGES = ("python", "python-async")


def due() -> list[Any]:
    return [
        pytest.param(language, case, id=f"{language}-{case['name']}")
        for language in LANGUAGES
        for case in DOCUMENT["cases"]
        if case["part"] in DOCUMENT["languages"][language]
    ]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.mark.parametrize(("language", "case"), due())
def test_case(server: Server, language: str, case: Any, tmp_path: Path) -> None:
    verdict = Runner(server, language, case, tmp_path).run()
    assert verdict["problems"] == []
