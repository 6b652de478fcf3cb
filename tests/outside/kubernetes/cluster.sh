# shellcheck shell=bash
# A cluster without kubelet and controllers: etcd, and an API server that can restart.
#
# Callers set work and apiserver. Processes in children end with the script.

stop_children() {
    [ ${#children[@]} -eq 0 ] || kill -KILL "${children[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    children=()
}

start_etcd() {
    local clients peers
    clients=$(free_port) peers=$(free_port)
    etcd_url=http://127.0.0.1:$clients
    etcd --data-dir "$work/etcd" --listen-client-urls "$etcd_url" --advertise-client-urls "$etcd_url" \
        --listen-peer-urls "http://127.0.0.1:$peers" --initial-advertise-peer-urls "http://127.0.0.1:$peers" \
        --initial-cluster "default=http://127.0.0.1:$peers" >"$work/etcd.log" 2>&1 &
    children+=($!)
    export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=$etcd_url
}

# The address, the credentials and the keys of the API server, which stay when it restarts.
prepare_apiserver() {
    api=$(free_port)
    openssl genrsa -out "$work/accounts.key" 2048 2>/dev/null
    token=$(openssl rand -hex 16)
    printf '%s,admin,admin,system:masters\n' "$token" >"$work/tokens.csv"
    cat >"$work/kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{ name: test, cluster: { server: "https://127.0.0.1:$api", insecure-skip-tls-verify: true } }]
users: [{ name: admin, user: { token: $token } }]
contexts: [{ name: test, context: { cluster: test, user: admin } }]
current-context: test
YAML
    export KUBECONFIG=$work/kubeconfig KUBECACHEDIR=$work/cache
}

# start_apiserver [OPTION...]
start_apiserver() {
    "$apiserver" --etcd-servers "$etcd_url" --secure-port "$api" --bind-address 127.0.0.1 \
        --advertise-address 127.0.0.1 --cert-dir "$work/certificates" --token-auth-file "$work/tokens.csv" \
        --authorization-mode RBAC --service-cluster-ip-range 10.96.0.0/16 \
        --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$work/accounts.key" \
        --service-account-signing-key-file "$work/accounts.key" "$@" >>"$work/apiserver.log" 2>&1 &
    apiserver_process=$!
    children+=("$apiserver_process")
}

stop_apiserver() {
    kill -TERM "$apiserver_process"
    wait "$apiserver_process" || true
}

# health PATH: the HTTP status of a health check of the API server.
health() {
    curl -sk -o /dev/null -w '%{http_code}' --max-time 10 -H "Authorization: Bearer $token" "https://127.0.0.1:$api$1" || true
}

is_healthy() { [ "$(health "$1")" = 200 ]; }
