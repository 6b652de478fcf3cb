"""The canonical form, as the service signs it."""

from __future__ import annotations

import pytest

from sealward import InvalidRequest, RawJson
from sealward.canonical import signed_bytes

NUMBERS = [
    ("0", "0"),
    ("-0.0", "0"),
    ("1.0", "1"),
    ("1e3", "1000"),
    ("-1.50", "-1.5"),
    ("1e21", "1e+21"),
    ("100000000000000000000", "100000000000000000000"),
    ("1.5e300", "1.5e+300"),
    ("0.000001", "0.000001"),
    ("1e-7", "1e-7"),
    ("123e-20", "1.23e-18"),
    ("5e-324", "5e-324"),
    ("9007199254740992", "9007199254740992"),
]
REFUSED = [
    "9007199254740993",
    "0.1000000000000000001",
    "1e400",
    "0e99999999999999999999",
    "1e-99999999999999999999",
    "1180591620717411303424",
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":1}',
    '"\\ud800"',
    '["\\udfff"]',
]


@pytest.mark.parametrize(("text", "canonical"), NUMBERS)
def test_number_is_written_as_ecmascript_writes_it(text: str, canonical: str) -> None:
    assert signed_bytes(RawJson(f"[{text}]")) == f"[{canonical}]".encode()


@pytest.mark.parametrize("text", REFUSED)
def test_value_without_a_canonical_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        signed_bytes(RawJson(text))


def test_members_are_sorted_by_utf_16_code_units() -> None:
    assert signed_bytes({"\U0001f600": 1, "\uffff": 2, "a": 3}) == '{"a":3,"😀":1,"\uffff":2}'.encode()


def test_string_is_signed_as_its_bytes() -> None:
    assert signed_bytes("ü\n") == "ü\n".encode()
