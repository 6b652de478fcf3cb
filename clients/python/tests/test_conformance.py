"""Every conformance case passes with both clients."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conformance import HERE, Runner, Server, running_server
from known import known

DOCUMENT = json.loads((HERE / "cases.json").read_text())
LANGUAGES = ("python", "python-async")


WORLD = os.environ.get("SEALWARD_WORLD")
OPENAPI = os.environ.get("SEALWARD_OPENAPI")


def parts(language: str) -> list[str]:
    return DOCUMENT["languages"][language] + ["live"] * bool(WORLD)


def due() -> list[Any]:
    return [
        pytest.param(language, case, id=f"{language}-{case['name']}")
        for language in LANGUAGES
        for case in DOCUMENT["cases"]
        if case["part"] in parts(language)
    ]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    files = (("--service", WORLD), ("--openapi", OPENAPI))
    with running_server(*(text for option, file in files if file for text in (option, file))) as server:
        yield server


@pytest.mark.parametrize(("language", "case"), due())
def test_case(server: Server, language: str, case: Any, tmp_path: Path) -> None:
    verdict = Runner(server, language, case, tmp_path).run()
    assert verdict["problems"] == []


@pytest.mark.skipif(OPENAPI is None, reason="SEALWARD_OPENAPI names no OpenAPI document")
@pytest.mark.parametrize("language", LANGUAGES)
def test_library_knows_every_member(server: Server, language: str) -> None:
    assert server.post(f"known/{language}", known())["problems"] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_case_ran(server: Server, language: str) -> None:
    report = server.get(f"report/{language}")
    assert (report["missing"], report["failed"]) == ([], {})
