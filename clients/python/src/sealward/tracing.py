"""The trace of the current request, if the program uses OpenTelemetry."""

from __future__ import annotations

import sys


def traceparent() -> str | None:
    """The W3C header of the current span. OpenTelemetry is used only if the program imported it."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"
