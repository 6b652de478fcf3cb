package dev.sealward;

import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Optional;

/** The header Retry-After: seconds or a date. */
final class RetryAfter {
    private RetryAfter() {}

    /** The pause that the service asks for. */
    static Optional<Duration> of(HttpHeaders headers, Instant now) {
        return headers.firstValue("Retry-After").flatMap(text -> read(text, now));
    }

    private static Optional<Duration> read(String text, Instant now) {
        try {
            if (text.matches("[0-9]{1,9}")) {
                return Optional.of(Duration.ofSeconds(Long.parseLong(text)));
            }
            Duration pause = Duration.between(now, DateTimeFormatter.RFC_1123_DATE_TIME.parse(text, Instant::from));
            return Optional.of(pause.isNegative() ? Duration.ZERO : pause);
        } catch (DateTimeException unreadable) {
            return Optional.empty();
        }
    }
}
