package dev.sealward.jpa;

import dev.sealward.BatchResult;
import dev.sealward.Content;
import dev.sealward.Envelope;
import dev.sealward.Payload;
import dev.sealward.ProtectRequest;
import dev.sealward.Protection.Protected;
import dev.sealward.SealwardClient;
import dev.sealward.UnprotectRequest;
import jakarta.persistence.AttributeConverter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * Encrypts a field of an entity. The database stores envelopes as text, and null as null. Table and column are the context of
 * the envelope, so a value that was moved elsewhere does not open.
 *
 * <pre>{@code
 * @Converter
 * public class IbanConverter extends SealedConverter<String> {
 *     public IbanConverter() {
 *         super(Application::sealward, String.class, "customers", "iban", "POL-000001");
 *     }
 * }
 * }</pre>
 *
 * @param <T> the type of the field
 */
public abstract class SealedConverter<T> implements AttributeConverter<T, String> {
    private final Supplier<SealwardClient> client;
    private final Class<T> type;
    private final String policyNumber;
    private final Map<String, String> context;

    /**
     * A converter of a field.
     *
     * @param client gives the client, because JPA makes converters itself
     * @param type the type of the field
     * @param table the table
     * @param column the column
     * @param policyNumber the policy, or null for the policy that is bound to the credential
     */
    protected SealedConverter(Supplier<SealwardClient> client, Class<T> type, String table, String column, String policyNumber) {
        this.client = client;
        this.type = type;
        this.policyNumber = policyNumber;
        this.context = Map.of("table", table, "column", column);
    }

    @Override
    public final String convertToDatabaseColumn(T value) {
        return value == null ? null : client.get().protect(sealing(value)).envelope().toString();
    }

    @Override
    public final T convertToEntityAttribute(String column) {
        return column == null ? null : value(client.get().unprotect(opening(column)));
    }

    /**
     * Seals values in batches.
     *
     * @param values the values, which can be null
     * @return the contents of the column
     */
    public final List<String> sealAll(List<T> values) {
        List<ProtectRequest> requests = values.stream().filter(Objects::nonNull).map(this::sealing).toList();
        var sealed = client.get().protectBatch(requests).iterator();
        var columns = new ArrayList<String>(values.size());
        for (T value : values) {
            BatchResult<Protected> result = value == null ? null : sealed.next();
            columns.add(result == null ? null : result.get().envelope().toString());
        }
        return columns;
    }

    /**
     * Opens values in batches.
     *
     * @param columns the contents of the column, which can be null
     * @return the values
     */
    public final List<T> openAll(List<String> columns) {
        List<UnprotectRequest> requests = columns.stream().filter(Objects::nonNull).map(this::opening).toList();
        var opened = client.get().unprotectBatch(requests).iterator();
        var values = new ArrayList<T>(columns.size());
        for (String column : columns) {
            BatchResult<Payload> result = column == null ? null : opened.next();
            values.add(result == null ? null : value(result.get()));
        }
        return values;
    }

    private ProtectRequest sealing(T value) {
        Content content = value instanceof byte[] bytes ? Content.bytes(bytes) : Content.of(value);
        return new ProtectRequest(content, policyNumber, context);
    }

    private UnprotectRequest opening(String column) {
        return new UnprotectRequest(Envelope.parse(column), policyNumber, context);
    }

    private T value(Payload payload) {
        return payload.as(type);
    }
}
