package dev.sealward;

import java.lang.reflect.Method;
import java.util.Optional;

/** The current span of OpenTelemetry, if the program has OpenTelemetry. */
final class OpenTelemetry {
    private static final Optional<OpenTelemetry> FOUND = find();

    private final Method current;
    private final Method context;
    private final Method isValid;
    private final Method traceId;
    private final Method spanId;
    private final Method flags;
    private final Method hex;

    private OpenTelemetry() throws ReflectiveOperationException {
        Class<?> span = Class.forName("io.opentelemetry.api.trace.Span");
        Class<?> spanContext = Class.forName("io.opentelemetry.api.trace.SpanContext");
        current = span.getMethod("current");
        context = span.getMethod("getSpanContext");
        isValid = spanContext.getMethod("isValid");
        traceId = spanContext.getMethod("getTraceId");
        spanId = spanContext.getMethod("getSpanId");
        flags = spanContext.getMethod("getTraceFlags");
        hex = Class.forName("io.opentelemetry.api.trace.TraceFlags").getMethod("asHex");
    }

    private static Optional<OpenTelemetry> find() {
        try {
            return Optional.of(new OpenTelemetry());
        } catch (ReflectiveOperationException | LinkageError absent) {
            return Optional.empty();
        }
    }

    /** The W3C traceparent of the current span. */
    static Optional<String> traceparent() {
        return FOUND.flatMap(OpenTelemetry::read);
    }

    private Optional<String> read() {
        try {
            Object span = context.invoke(current.invoke(null));
            if (!(boolean) isValid.invoke(span)) {
                return Optional.empty();
            }
            return Optional.of("00-" + traceId.invoke(span) + "-" + spanId.invoke(span) + "-" + hex.invoke(flags.invoke(span)));
        } catch (ReflectiveOperationException failure) {
            return Optional.empty();
        }
    }
}
