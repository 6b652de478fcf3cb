import org.openapitools.client.ApiClient;
import org.openapitools.client.model.Service;
import org.openapitools.client.model.ServiceChanges;

/** The parts that depend on the HTTP library: `java.net.http` and Jackson. */
final class Connection {
    static ApiClient to(String url, String key) {
        ApiClient client = new ApiClient();
        client.updateBaseUri(url);
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
        return client;
    }

    static <T> T read(String json, Class<T> type) throws Exception {
        return new ApiClient().getObjectMapper().readValue(json, type);
    }

    static ServiceChanges changes(Service service) {
        return new ApiClient().getObjectMapper().convertValue(service, ServiceChanges.class);
    }

    private Connection() {}
}
