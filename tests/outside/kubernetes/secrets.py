"""Creates, deletes or reads and compares many secrets, and prints the seconds.

secrets.py create|list|delete API TOKEN NAMESPACE COUNT
"""

import base64, http.client, json, ssl, sys, threading, time

action, api, token, namespace, count = sys.argv[1:]
count = int(count)
unverified = ssl._create_unverified_context()
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
path = f"/api/v1/namespaces/{namespace}/secrets"
CONNECTIONS = 4


def request(connection, method, path, body=None):
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    assert response.status in (200, 201), answer
    return answer


def connect():
    return http.client.HTTPSConnection(api.removeprefix("https://"), context=unverified, timeout=30)


def create(connection, number):
    body = {"metadata": {"name": f"many-{number}"}, "stringData": {"password": f"password {number}"}}
    request(connection, "POST", path, body)


def delete(connection, number):
    request(connection, "DELETE", f"{path}/many-{number}")


def each(act):
    done = [False] * CONNECTIONS

    def some(first):
        connection = connect()
        for number in range(first, count, CONNECTIONS):
            act(connection, number)
        done[first] = True

    threads = [threading.Thread(target=some, args=[first]) for first in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(done)


def check_all():
    found = request(connect(), "GET", path)["items"]
    values = {item["metadata"]["name"]: base64.b64decode(item["data"]["password"]).decode() for item in found}
    assert values == {f"many-{number}": f"password {number}" for number in range(count)}, len(values)


began = time.monotonic()
if action == "list":
    check_all()
else:
    each({"create": create, "delete": delete}[action])
print(f"{time.monotonic() - began:.1f}")
