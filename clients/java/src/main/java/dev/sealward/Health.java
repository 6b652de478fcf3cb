package dev.sealward;

import java.util.List;

/**
 * The state of the service and its parts. Statuses are ok, degraded or unavailable.
 *
 * @param status the state of the service
 * @param version the version of the service
 * @param timestamp the time in RFC 3339
 * @param checks the state of its parts
 */
public record Health(String status, String version, String timestamp, Checks checks) {
    /**
     * The parts of the service.
     *
     * @param database the database
     * @param hsm the tokens
     * @param audit the audit log
     * @param rateLimiter the rate limits
     * @param records the records of the database
     */
    public record Checks(Database database, Hsm hsm, Audit audit, Check rateLimiter, Check records) {}

    /**
     * The database.
     *
     * @param status its state
     * @param latencyMs the time of a query, or null
     */
    public record Database(String status, Double latencyMs) {}

    /**
     * The tokens.
     *
     * @param status their state
     * @param latencyMs the time of an operation, or null
     * @param tokens each token
     * @param missingKeys the keys that no token has, or null
     * @param wornKeys the keys that made many signatures, or null
     */
    public record Hsm(String status, Double latencyMs, List<Token> tokens, List<String> missingKeys, List<String> wornKeys) {}

    /**
     * A token.
     *
     * @param label its label
     * @param status its state
     * @param workers the number of workers that run
     * @param configuredWorkers the number of workers that should run
     */
    public record Token(String label, String status, int workers, int configuredWorkers) {}

    /**
     * The audit log.
     *
     * @param status its state
     * @param queued the number of records that wait
     */
    public record Audit(String status, long queued) {}

    /**
     * Another part.
     *
     * @param status its state
     */
    public record Check(String status) {}
}
