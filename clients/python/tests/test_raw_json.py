"""JSON text that is sent as it is."""

from __future__ import annotations

from sealward import RawJson


def test_raw_json_is_not_printed() -> None:
    assert repr(RawJson("4111")) == "RawJson([redacted])"
