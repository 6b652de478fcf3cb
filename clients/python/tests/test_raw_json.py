"""JSON text that is sent and received as it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import pytest

from sealward import Plaintext, RawJson, UnexpectedAnswer
from sealward.exchange import Answer, Part, Request


def test_raw_json_is_not_printed() -> None:
    assert repr(RawJson("4111")) == "RawJson([redacted])"


@contextmanager
def limit_of_int(digits: int) -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(digits)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def opened(text: str) -> Plaintext:
    return Plaintext(RawJson(text), "r")


@pytest.mark.parametrize("sign", ["", "-"])
def test_integer_is_exact_with_any_number_of_digits(sign: str) -> None:
    for digits, kind in ((4300, int), (4301, Decimal), (1_000_000, Decimal)):
        text = sign + "7" * digits
        value = opened(f'{{"a":[{text}]}}').value["a"][0]
        assert (type(value), str(value) == text) == (kind, True)


@pytest.mark.parametrize("limit", [0, 640])
def test_limit_of_the_process_does_not_fail_a_value(limit: int) -> None:
    with limit_of_int(limit):
        assert opened("7" * 640).value == Decimal("7" * 640)
        assert opened("7" * 4300).value == Decimal("7" * 4300)
        assert type(opened("7" * 4301).value) is Decimal


@pytest.mark.parametrize(("text", "value"), [("1e400", float("inf")), ("0." + "3" * 100_000, 1 / 3), ("1e-400", 0.0)])
def test_fraction_is_the_nearest_float(text: str, value: float) -> None:
    assert opened(text).value == value


def test_number_of_many_digits_is_no_base64() -> None:
    with pytest.raises(UnexpectedAnswer, match="the value is not a base64 string"):
        _ = opened("7" * 5000).data


def test_text_of_an_item_does_not_change() -> None:
    numbers = [
        "7" * 5000,
        "-" + "7" * 1_000_000,
        "1e400",
        "1e" + "9" * 30,
        "0." + "3" * 5000,
        '{"a":[1.0,' + "7" * 5000 + "]}",
    ]
    items = ",".join(f'{{"status":200,"payload":{number}}}' for number in numbers)
    assert [part.raw("payload") for part in batch(items).items()] == [RawJson(number) for number in numbers]


def test_error_beside_a_number_of_many_digits_is_read() -> None:
    answer = Answer(400, {}, f'{{"more":{"7" * 5000},"error":{{"code":"INVALID_REQUEST","message":"m"}}}}'.encode())
    assert answer.error(Request("POST", "/")).code == "INVALID_REQUEST"


def batch(items: str) -> Part:
    part = Answer(200, {}, f'{{"requestId":"r","items":[{items}]}}'.encode()).result(Request("POST", "/"))
    assert part is not None
    return part
