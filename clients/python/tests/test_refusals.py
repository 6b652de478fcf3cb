"""What the library refuses itself: one base class, and no payload in the message."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import anyio
import pytest

from sealward import ApiKey, AsyncClient, Client, ClientClosed, Envelope, InvalidConfiguration, InvalidRequest, RawJson
from sealward.fields import Field

URL = "http://127.0.0.1:9"
SECRET = "4111 1111 1111 1111"


def in_itself() -> list[Any]:
    value: list[Any] = [SECRET]
    value.append(value)
    return value


def deep() -> list[Any]:
    value: list[Any] = [SECRET]
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({SECRET, 1}, "JSON cannot represent a value of the type set"),
        ({"card": object()}, "JSON cannot represent a value of the type object"),
        ({"card": b"4111"}, "JSON cannot represent a value of the type bytes"),
        (ApiKey(SECRET), "JSON cannot represent a value of the type ApiKey"),
        (Envelope({}, "r"), "JSON cannot represent a value of the type Envelope"),  # type: ignore[typeddict-item]
        ({(SECRET, 1): 1}, "JSON cannot represent a dictionary whose keys are not strings"),
        ([SECRET, math.nan], "JSON cannot represent NaN, infinity, or a value that contains itself"),
        ([SECRET, -math.inf], "JSON cannot represent NaN, infinity, or a value that contains itself"),
        (in_itself(), "JSON cannot represent NaN, infinity, or a value that contains itself"),
        (deep(), "the value has too many levels"),
        ([SECRET, "\ud800"], "JSON cannot represent a lone surrogate"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_value_that_json_cannot_represent_is_refused(payload: Any, message: str) -> None:
    with Client(URL, "sk_test_x") as client, pytest.raises(InvalidRequest) as raised:
        client.protect(payload)
    assert str(raised.value) == message
    assert raised.value.__context__ is None


@pytest.mark.parametrize("text", ['{"card": 4111', "4111 1111", "", '"\ud800"', "[" * 100_000])
def test_raw_json_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        RawJson(text)
    assert str(raised.value) == "the text is not one JSON value"
    assert raised.value.__context__ is None


def test_closed_client_refuses_calls() -> None:
    client = Client(URL, "sk_test_x")
    client.close()
    with pytest.raises(ClientClosed, match="the client is closed"):
        client.caller()


def test_closed_client_of_tasks_refuses_calls() -> None:
    async def call() -> None:
        client = AsyncClient(URL, "sk_test_x")
        await client.close()
        await client.caller()

    with pytest.raises(ClientClosed, match="the client is closed"):
        anyio.run(call)


def test_column_without_an_envelope_is_refused() -> None:
    with Client(URL, "sk_test_x") as client:
        for text in ("DE02", '{"protected": "x"}', "null"):
            with pytest.raises(InvalidRequest, match="the column does not hold an envelope"):
                Field(client, "customers", "iban", None).load(text)


@pytest.mark.parametrize(
    "url", ["", "localhost", "ftp://localhost", "https://", "https://localhost/?a=b", "https://x:y"]
)
def test_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidConfiguration):
        Client(url, "sk_test_x")


def test_ca_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    with pytest.raises(InvalidConfiguration, match=r"cannot use the CA file .*ca\.pem"):
        Client(URL, "sk_test_x", ca_file=file)
