"""Installs, upgrades and removes the chart, and runs the commands of its pods.

check.py WORK API TOKEN HELM PROGRAM API_PORT PROBE_PORT METRICS_PORT
"""

import base64, json, os, ssl, subprocess, sys, threading, time, urllib.error, urllib.parse, urllib.request
from pathlib import Path

import yaml

work, api, token, helm, program, *ports = sys.argv[1:]
work = Path(work)
listen, probes, metrics = ports
NAMESPACE = "sealward"
ISSUER = "https://kubernetes.default.svc"
AUDIENCE = "https://sealward.example.com"
PATIENCE = 60
unverified = ssl._create_unverified_context()


def request(method, path, body=None, media="application/json"):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": media}
    sent = urllib.request.Request(api + path, data, headers, method=method)
    with urllib.request.urlopen(sent, context=unverified) as response:
        return json.load(response)


def within(what, attempt):
    end = time.monotonic() + PATIENCE
    while not (found := attempt()):
        assert time.monotonic() < end, f"{what} took too long"
        time.sleep(0.2)
    return found


def namespaced(group, plural, name=""):
    prefix = "/api/v1" if group == "v1" else f"/apis/{group}"
    return f"{prefix}/namespaces/{NAMESPACE}/{plural}" + (f"/{name}" if name else "")


def secret(name, files):
    data = {key: base64.b64encode(Path(file).read_bytes()).decode() for key, file in files.items()}
    request("POST", namespaced("v1", "secrets"), {"metadata": {"name": name}, "data": data})


def content(source):
    """The files of a volume, as the kubelet would write them."""
    if "secret" in source:
        found = request("GET", namespaced("v1", "secrets", source["secret"]["secretName"]))
        return {name: base64.b64decode(data) for name, data in found["data"].items()}
    found = request("GET", namespaced("v1", "configmaps", source["configMap"]["name"]))
    return {name: text.encode() for name, text in found["data"].items()}


def command(pod, name):
    """The command and the environment of the pod. Its volumes are in a folder of its own."""
    root = work / name
    [container] = pod["containers"]
    sources = {volume["name"]: volume for volume in pod["volumes"]}
    for mount in container["volumeMounts"]:
        folder = root / mount["mountPath"].lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in content(sources[mount["name"]]).items():
            if file.endswith(".toml"):
                data = data.replace(b'"/etc/sealward/', f'"{root}/etc/sealward/'.encode())
            (folder / file).write_bytes(data)
    variables = {variable["name"]: variable["value"] for variable in container["env"]}
    variables["SEALWARD_CONFIG"] = str(root) + variables["SEALWARD_CONFIG"]
    variables["PATH"] = os.environ["PATH"]
    return [program, *container["args"]], variables


def run_jobs(stop):
    """Does the work of the Job controller and the kubelet."""
    done = set()
    while not stop.wait(0.2):
        for job in request("GET", namespaced("batch/v1", "jobs"))["items"]:
            uid, name = job["metadata"]["uid"], job["metadata"]["name"]
            if uid in done:
                continue
            done.add(uid)
            words, variables = command(job["spec"]["template"]["spec"], name)
            ended = subprocess.run(words, env=variables, capture_output=True, text=True)
            print(f"  {name}: exit code {ended.returncode}")
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            kind = "Complete" if ended.returncode == 0 else "Failed"
            if ended.returncode:
                print(ended.stderr, file=sys.stderr)
            conditions = [{"type": "SuccessCriteriaMet", "status": "True", "lastTransitionTime": now},
                          {"type": kind, "status": "True", "lastTransitionTime": now}]
            status = {"startTime": now, "conditions": conditions if kind == "Complete" else conditions[1:]}
            if kind == "Complete":
                status |= {"completionTime": now, "succeeded": 1}
            request("PATCH", namespaced("batch/v1", "jobs", name) + "/status", {"status": status},
                    "application/merge-patch+json")


def run_helm(*words):
    ended = subprocess.run([helm, *words, "--namespace", NAMESPACE], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def admission(pod):
    """Whether the API server accepts the pod. The service account of a pod must exist."""
    body = {"metadata": {"name": "tried"}, "spec": pod}
    try:
        request("POST", namespaced("v1", "pods") + "?dryRun=All", body)
        return "accepted"
    except urllib.error.HTTPError as refused:
        return json.load(refused)["message"]


url = urllib.parse.urlsplit(os.environ["SEALWARD_TEST_POSTGRES"])
name = "sealward_kubernetes_%d" % os.getpid()
connection = {**os.environ, "PGPASSWORD": url.password or ""}
psql = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", url.hostname, "-p", str(url.port), "-U", url.username,
        "-d", "postgres"]
subprocess.run([*psql, "-c", f"create database {name}"], env=connection, check=True)
try:
    request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": {
        "pod-security.kubernetes.io/enforce": "restricted"}}})
    # The controller that creates it does not run.
    request("POST", namespaced("v1", "serviceaccounts"), {"metadata": {"name": "default"}})
    (work / "password").write_text(url.password or "x")
    for secret_name in ["sealward-database", "sealward-owner", "sealward-retention"]:
        secret(secret_name, {"password": work / "password"})
    secret("sealward-hsm", {"pin": work / "token/pin"})
    secret("sealward-tls", {"tls.crt": work / "tls/localhost.crt", "tls.key": work / "tls/localhost.key"})
    database = f"postgres://{url.username}@{url.hostname}:{url.port}/{name}"
    values = {
        "settings": {
            "environment": "development",
            "http": {"listen": f"127.0.0.1:{listen}", "probe_listen": f"127.0.0.1:{probes}", "drain_delay": "0s"},
            "metrics": {"listen": f"127.0.0.1:{metrics}"},
            "database": {"url": database, "ca": None},
            "migrate": {"url": database},
            "auth": {"issuers": [{"issuer": ISSUER, "audience": AUDIENCE, "algorithms": ["RS256"],
                                  "jwks_url": f"{api}/openid/v1/jwks",
                                  "ca": str(work / "certificates/apiserver.crt")}]},
            "retain": {"url": database},
            "hsm": {"allow_raw_rsa": True, "tokens": [{
                "module": "/usr/lib/softhsm/libsofthsm2.so", "label": "sealward",
                "pin": {"file": "/etc/sealward/hsm/pin"}}]},
        },
        "volumes": {"database-ca": None},
        "env": [{"name": "SOFTHSM2_CONF", "value": os.environ["SOFTHSM2_CONF"]}],
    }
    (work / "values.yaml").write_text(yaml.safe_dump(values))
    chart = ["sealward", "deploy/helm/sealward", "--values", str(work / "values.yaml")]

    stop = threading.Event()
    controller = threading.Thread(target=run_jobs, args=[stop], daemon=True)
    controller.start()
    run_helm("install", *chart, "--timeout", "3m")
    print("installed")

    deployment = request("GET", namespaced("apps/v1", "deployments", "sealward"))
    cron = request("GET", namespaced("batch/v1", "cronjobs", "sealward-retain"))
    serve = deployment["spec"]["template"]["spec"]
    retain = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    for pod in [serve, retain]:
        assert admission(pod) == "accepted", admission(pod)
    privileged = json.loads(json.dumps(serve))
    privileged["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    assert "violates PodSecurity" in admission(privileged), admission(privileged)
    print('Pod Security "restricted" accepts the pods')

    words, variables = command(serve, "serve")
    with open(work / "pod.serve.log", "w") as log:
        service = subprocess.Popen(words, env=variables, stdout=log, stderr=log)

    def ready():
        assert service.poll() is None, (work / "pod.serve.log").read_text()
        return subprocess.run([program, "health"], env=variables, capture_output=True).returncode == 0

    within("the start", ready)

    def cli(*arguments):
        ended = subprocess.run([program, *arguments], env=variables, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    assert cli("audit", "init").count("\n") == 1
    admin_key = cli("api-key", "create", "--type", "admin", "--name", "first")
    trusted = ssl.create_default_context(cafile=work / "tls/ca.crt")

    def call(key, path, body=None):
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        sent = urllib.request.Request(f"https://localhost:{listen}{path}", data, headers)
        with urllib.request.urlopen(sent, context=trusted) as response:
            return json.load(response)

    def status(credential):
        try:
            call(credential, "/api/v1/caller")
            return 200
        except urllib.error.HTTPError as refused:
            return refused.code

    def bound_token(name, audience, account=None):
        """A token for a pod, as the kubelet requests it."""
        account = account or name
        if account == name:
            request("POST", namespaced("v1", "serviceaccounts"), {"metadata": {"name": account}})
        spec = {**json.loads(json.dumps(serve)), "serviceAccountName": account, "serviceAccount": account}
        pod = request("POST", namespaced("v1", "pods"), {"metadata": {"name": name}, "spec": spec})
        bound = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod["metadata"]["uid"]}
        wanted = {"audiences": [audience], "expirationSeconds": 600, "boundObjectRef": bound}
        granted = request("POST", namespaced("v1", "serviceaccounts", account) + "/token", {"spec": wanted})
        return granted["status"]["token"]

    service_id = call(admin_key, "/admin/services", {"name": "shop"})["id"]
    call(admin_key, "/admin/keys", {"serviceId": service_id, "name": "first", "generate": True})
    call(admin_key, "/admin/policies", {"policyNumber": "SHOP", "name": "shop", "destinationServiceId": service_id,
                                        "allowedServiceIds": [service_id]})
    key = call(admin_key, "/admin/api-keys", {"name": "shop", "type": "live", "serviceId": service_id,
                                              "policyNumber": "SHOP"})["secret"]
    jwe = call(key, "/api/v1/protect", {"payload": {"card": "4111"}})["jwe"]
    assert call(key, "/api/v1/unprotect", {"jwe": jwe})["payload"] == {"card": "4111"}
    print("a round trip with the settings and secrets of the Deployment")

    # The API server shows its keys to authenticated clients only, and Sealward is none.
    discovery = "system:service-account-issuer-discovery"
    request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": "discovery-for-sealward"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": discovery},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:unauthenticated"}]})
    identity = call(admin_key, "/admin/identities", {"name": "shop", "serviceId": service_id, "policyNumber": "SHOP",
        "match": {"issuer": ISSUER, "claims": {"/kubernetes.io/namespace": NAMESPACE,
                                               "/kubernetes.io/serviceaccount/name": "shop"}}})["id"]
    of_shop = bound_token("shop", AUDIENCE)
    # An unknown key is fetched at most every 30 seconds.
    within("the keys of the API server", lambda: status(of_shop) == 200)
    assert call(of_shop, "/api/v1/caller")["credential"] == {"type": "identity", "id": identity}
    jwe = call(of_shop, "/api/v1/protect", {"payload": {"card": "4111"}})["jwe"]
    assert call(of_shop, "/api/v1/unprotect", {"jwe": jwe})["payload"] == {"card": "4111"}
    assert status(bound_token("other", AUDIENCE)) == 401
    assert status(bound_token("shop-2", "https://kubernetes.default.svc", account="shop")) == 401
    print("a bound service account token authenticates as a workload identity")

    words, variables_of_retain = command(retain, "retain")
    subprocess.run(words, env=variables_of_retain, check=True)
    print("sealward retain succeeded")

    before = deployment["spec"]["template"]["metadata"]["annotations"]["checksum/settings"]
    run_helm("upgrade", *chart, "--set", "settings.hsm.workers=8", "--timeout", "3m")
    deployment = request("GET", namespaced("apps/v1", "deployments", "sealward"))
    assert deployment["spec"]["template"]["metadata"]["annotations"]["checksum/settings"] != before
    print("upgraded")
    service.terminate()
    assert service.wait(PATIENCE) == 0

    run_helm("uninstall", "sealward")
    stop.set()
    controller.join()
    left = [resource["metadata"]["name"]
            for group, plural in [("apps/v1", "deployments"), ("batch/v1", "cronjobs"), ("batch/v1", "jobs"),
                                  ("v1", "services"), ("policy/v1", "poddisruptionbudgets"),
                                  ("networking.k8s.io/v1", "networkpolicies")]
            for resource in request("GET", namespaced(group, plural))["items"]]
    maps = [found["metadata"]["name"] for found in request("GET", namespaced("v1", "configmaps"))["items"]]
    assert left == [] and not [found for found in maps if found.startswith("sealward")], (left, maps)
    print("removed")
finally:
    if "service" in globals() and service.poll() is None:
        service.kill()
    subprocess.run([*psql, "-c", f"drop database if exists {name} with (force)"], env=connection, check=True)
