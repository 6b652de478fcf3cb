/** The trace of the current request, if the program uses OpenTelemetry. */

interface OpenTelemetry {
    readonly context?: { active(): { getValue(key: symbol): Span | undefined } };
}

interface Span {
    spanContext(): { traceId: string; spanId: string; traceFlags: number };
}

/** Where `@opentelemetry/api` 1.x puts itself and the current span, so that libraries need not depend on it. */
const API = Symbol.for("opentelemetry.js.api.1");
const CURRENT_SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/** The W3C header of the current span. */
export function traceparent(): string | undefined {
    const api = (globalThis as Record<symbol, unknown>)[API] as OpenTelemetry | undefined;
    const span = api?.context?.active().getValue(CURRENT_SPAN)?.spanContext();
    if (span === undefined || /^0*$/.test(span.traceId)) return undefined;
    return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, "0")}`;
}
