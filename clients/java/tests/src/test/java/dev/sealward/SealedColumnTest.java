package dev.sealward;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sealward.jpa.SealedConverter;
import jakarta.persistence.Column;
import jakarta.persistence.Convert;
import jakarta.persistence.Converter;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.hibernate.cfg.Configuration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A JPA provider reads and writes encrypted fields through the real service that SEALWARD_WORLD names. */
class SealedColumnTest {
    private static SealwardClient client;

    @Converter
    public static class IbanConverter extends SealedConverter<String> {
        public IbanConverter() {
            super(() -> client, String.class, "customers", "iban", null);
        }
    }

    @Converter
    public static class PictureConverter extends SealedConverter<byte[]> {
        public PictureConverter() {
            super(() -> client, byte[].class, "customers", "picture", null);
        }
    }

    @Entity(name = "customers")
    public static class Customer {
        @Id
        long id;

        @Convert(converter = IbanConverter.class)
        @Column(length = 4000)
        String iban;

        @Convert(converter = PictureConverter.class)
        @Column(length = 4000)
        byte[] picture;
    }

    @BeforeAll
    static void connect() throws Exception {
        JsonNode world = Json.MAPPER.readTree(Files.readString(Path.of(System.getenv("SEALWARD_WORLD"))));
        client = new SealwardClient(ClientOptions.of(world.get("service").asText())
                .credential(Credential.apiKey(world.get("apiKey").asText())));
    }

    @Test
    void aProviderStoresEnvelopes() {
        var configuration = new Configuration()
                .addAnnotatedClass(Customer.class)
                .setProperty("hibernate.connection.url", "jdbc:h2:mem:sealed")
                .setProperty("hibernate.hbm2ddl.auto", "create");
        try (var factory = configuration.buildSessionFactory()) {
            factory.inTransaction(session -> {
                var customer = new Customer();
                customer.id = 1;
                customer.iban = "DE02";
                customer.picture = new byte[] {0, -1};
                session.persist(customer);
                session.persist(new Customer());
            });
            factory.inSession(session -> {
                Customer found = session.find(Customer.class, 1L);
                assertEquals("DE02", found.iban);
                assertArrayEquals(new byte[] {0, -1}, found.picture);
                assertNull(session.find(Customer.class, 0L).iban);
                String stored = session.createNativeQuery("select iban from customers where id = 1", String.class).getSingleResult();
                assertTrue(stored.startsWith("{\"protected\":"), stored);
                assertThrows(SealwardException.DecryptionFailed.class, () -> new PictureConverter().convertToEntityAttribute(stored));
            });
        }
    }

    @Test
    void aListIsOpenedInBatches() {
        var converter = new IbanConverter();
        List<String> columns = converter.sealAll(Arrays.asList("DE02", null, "DE03"));
        assertNull(columns.get(1));
        assertEquals(Arrays.asList("DE02", null, "DE03"), converter.openAll(columns));
    }
}
