import com.google.gson.JsonObject;

import org.openapitools.client.ApiClient;
import org.openapitools.client.JSON;
import org.openapitools.client.auth.HttpBearerAuth;
import org.openapitools.client.model.Service;
import org.openapitools.client.model.ServiceChanges;

/** The parts that depend on the HTTP library: OkHttp and Gson. */
final class Connection {
    static ApiClient to(String url, String key) {
        ApiClient client = new ApiClient();
        client.setBasePath(url);
        for (String scheme : new String[] {"adminKey", "applicationKey"}) {
            ((HttpBearerAuth) client.getAuthentication(scheme)).setBearerToken(key);
        }
        return client;
    }

    static <T> T read(String json, Class<T> type) throws Exception {
        return JSON.getGson().fromJson(json, type);
    }

    /** Members that this client does not know stay as they are in PUT. */
    static ServiceChanges changes(Service service) {
        JsonObject members = JSON.getGson().toJsonTree(service).getAsJsonObject();
        members.keySet().retainAll(ServiceChanges.openapiFields);
        return JSON.getGson().fromJson(members, ServiceChanges.class);
    }

    private Connection() {}
}
