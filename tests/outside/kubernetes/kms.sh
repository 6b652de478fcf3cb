# shellcheck shell=bash
# Encrypts the secrets of a cluster with `sealward kube-kms`, as docs/kubernetes-secrets.md shows: rotation, restarts, an
# outage, and bad input.
#
# This file does the work of the kubelet and of systemd with the manifest and the unit of the page.

# The secrets of the measurement, and of the other steps.
many=10000 some=300
# Seconds. An API server writes for three minutes without its plugin.
outage=300

check_kms() {
    prepare_node
    start_etcd
    prepare_apiserver
    prepare_sealward
    start_sealward
    start_apiserver
    wait_until is_healthy /readyz
    began=$SECONDS
    plaintext
    set_up
    encrypted
    restarts
    rotation
    revoked_credential
    bad_input
    stuck_service
    long_outage
    nothing_was_lost
}

say() { printf '  %-68s %8s\n' "$1" "${2-}"; }

# The folders of a control plane node. The page names them without $node.
prepare_node() {
    node=$work/node
    mkdir -p "$node"/etc/{kubernetes/manifests,systemd/system} "$node"/run
    socket=$node/run/sealward-kms/kms.sock
    monitor=127.0.0.1:$(free_port)
}

# follow HEADING: runs the commands of a section of the page.
follow() {
    blocks docs/kubernetes-secrets.md "$1" | sed -E \
        -e "s#/(etc/kubernetes|etc/sealward-kms|etc/systemd|run/sealward-kms)#$node/\1#g" \
        -e "s#^URL=.*#URL=$url#; s#^ADMIN_KEY=.*#ADMIN_KEY=$admin_key#; s#^CA=.*#CA=$work/tls/ca.crt#" \
        -e "s#127.0.0.1:9182#$monitor#g; s#port: 9182#port: ${monitor#*:}#" >"$work/step"
    [ -s "$work/step" ] || fails "docs/kubernetes-secrets.md has no commands below: $1"
    # shellcheck disable=SC1091 # written above
    . "$work/step"
}

# stored NAMESPACE/NAME: the value of a secret in etcd, as text.
stored() { etcdctl get --print-value-only "/registry/secrets/$1" | tr -d '\0'; }

# secrets create|list|delete COUNT: prints the seconds.
secrets() { python3 tests/outside/kubernetes/secrets.py "$1" "https://127.0.0.1:$api" "$token" many "$2"; }

plaintext() {
    kubectl create namespace many >/dev/null
    kubectl create secret generic before --from-literal=password=plain >/dev/null
    [[ $(stored default/before) != k8s:enc* ]] || fails "a secret is encrypted before the configuration"
    say "$many secrets created without encryption" "$(secrets create "$many") s"
    say "listed" "$(secrets list "$many") s"
    secrets delete "$many" >/dev/null
}

# The page, as a static pod first and then with systemd.
set_up() {
    follow 'Create the key of the cluster'
    follow 'Run the plugin as a static pod'
    run_static_pod
    wait_until is_ok
    [ "$(stat -c %a "$socket")" = 600 ] || fails "the socket has the mode $(stat -c %a "$socket")"
    # The controller that creates it does not run.
    kubectl --namespace kube-system create serviceaccount default >/dev/null
    kubectl create --dry-run=server -f "$node/etc/kubernetes/manifests/sealward-kms.yaml" >/dev/null
    stop_plugin
    [ ! -e "$socket" ] || fails "the socket is still there"
    mkdir -p "${socket%/*}"
    follow 'Run the plugin with systemd'
    wait_until is_ok
    say "set up as the page says"
}

# As the kubelet.
run_static_pod() {
    mapfile -t plugin < <("$tools/python/bin/python" -c '
import sys, yaml
[container] = yaml.safe_load(open(sys.argv[1]))["spec"]["containers"]
print(*container["args"], sep="\n")' "$node/etc/kubernetes/manifests/sealward-kms.yaml")
    plugin=("$program" "${plugin[@]}")
    start_plugin
}

# The page calls it.
systemctl() {
    [ "$*" = "enable --now sealward-kms" ] || return 0
    local unit=$node/etc/systemd/system/sealward-kms.service
    sed -i "s#/usr/local/bin/sealward#$program#" "$unit"
    systemd-analyze verify "$unit" >"$work/unit.log" 2>&1 || true
    ! grep -F sealward-kms.service "$work/unit.log" || fails "systemd refuses the unit"
    read -ra plugin < <(sed -n 's/^ExecStart=//p' "$unit")
    start_plugin
}

start_plugin() {
    "${plugin[@]}" 2>>"$work/plugin.log" &
    plugin_process=$!
    children+=("$plugin_process")
}

stop_plugin() {
    kill -TERM "$plugin_process"
    wait "$plugin_process" || fails "the plugin ended with $?"
}

# The health of the plugin, as text.
reason() { curl -sS --max-time 3 "http://$monitor/healthz"; }
is_ok() { [ "$(reason 2>/dev/null)" = ok ]; }
says() { [[ $(reason 2>/dev/null) == *"$1"* ]]; }

encrypted() {
    follow 'Configure the API server' >"$work/configured"
    [ "$(<"$work/configured")" = ok ] || fails "the plugin says:" "$(<"$work/configured")"
    stop_apiserver
    start_encrypting
    wait_until is_healthy /readyz
    follow 'Encrypt the existing secrets' >"$work/encrypted"
    grep -qF k8s:enc:kms:v2:sealward: "$work/encrypted" || fails "the new secret is not encrypted"
    [[ $(stored default/before) = k8s:enc:kms:v2:sealward:* ]] || fails "the migration left a secret"
    [ "$(password before)" = plain ] || fails "the migration changed a secret"
    # Without identity, the API server refuses secrets that are not encrypted.
    sed -i '/identity/d' "$node/etc/kubernetes/encryption.yaml"
    say "k8s:enc:kms:v2: in etcd, old secrets migrated"
    say "$many secrets created with encryption" "$(secrets create "$many") s"
    say "listed" "$(secrets list "$many") s"
}

start_encrypting() {
    start_apiserver --encryption-provider-config="$node/etc/kubernetes/encryption.yaml" \
        --encryption-provider-config-automatic-reload=true
}

password() { kubectl get secret "$1" -o jsonpath='{.data.password}' | base64 -d; }

restarts() {
    stop_plugin
    [ ! -e "$socket" ] || fails "the socket is still there"
    start_plugin
    wait_until is_ok
    stop_apiserver
    start_encrypting
    wait_until is_healthy /readyz
    say "$many secrets listed after a restart of plugin and API server" "$(secrets list "$many") s"
    secrets delete "$many" >/dev/null
    secrets create "$some" >/dev/null
}

# Once by hand, with a restart that makes the API server decrypt with the old key, and once as the page says.
rotation() {
    local first=$KEY rotated=$SECONDS
    KEY=$(make_key)
    wait_until writes_with "$KEY"
    say "a rotation shows in a new secret after" "$((SECONDS - rotated)) s"
    stop_apiserver
    start_encrypting
    wait_until is_healthy /readyz
    secrets list "$some" >/dev/null
    [ "$(password before)" = plain ] || fails "a secret with the old key is not readable"
    rotated=$SECONDS
    follow 'Rotate the key of the cluster' >"$work/rotated"
    [ "$(tail -n 1 "$work/rotated")" = retired ] || fails "the old key is not retired"
    [ "$(in_use "$first") $(in_use "$OLD")" = "0 0" ] || fails "the migration left secrets with an old key"
    secrets list "$some" >/dev/null
    say "rotated and migrated as the page says, $some secrets" "$((SECONDS - rotated)) s"
}

writes_with() {
    kubectl create secret generic rotated --dry-run=client -o yaml "--from-literal=password=$SECONDS" |
        kubectl apply -f - >/dev/null
    [[ $(stored default/rotated) == *"$1"* ]]
}

# The credential is replaced without a restart, and the API server writes meanwhile.
revoked_credential() {
    local id
    id=$(admin "/admin/api-keys?serviceId=$SERVICE" | jq -r '.items[0].id')
    admin "/admin/api-keys/$id" -X DELETE
    wait_until says '401 AUTHENTICATION_FAILED'
    say "$(reason)"
    secrets list "$some" >/dev/null
    kubectl create secret generic revoked --from-literal=password=kept >/dev/null
    api_key | jq -r .secret >"$node/etc/sealward-kms/key"
    wait_until is_ok
    [ "$(password revoked)" = kept ] || fails "a secret was lost"
}

# Each ends with, or shows, one line. The plugin of the cluster stays as it is.
bad_input() {
    local long without_space=()
    long=$work/$(head -c 108 /dev/zero | tr '\0' x)
    ends_with 78 'cannot read the credential' --api-key-file "$work/missing"
    ends_with 78 'must begin with https://' --url http://example.com
    ends_with 78 'the path of the socket has' --socket "$long"
    ends_with 78 'is no socket' --socket "$work/sealward.toml"
    install -d -m 777 "$work/open"
    ends_with 78 'other users can replace the socket' --socket "$work/open/kms.sock"
    ends_with 1 'another process listens on' --socket "$socket"
    ends_with 1 'is another program using this port?' --monitor-listen "$monitor"
    mkdir "$work/full"
    # A file system without a free inode, in a mount namespace.
    # shellcheck disable=SC2016 # the inner shell expands it
    without_space=(unshare --map-root-user --mount bash -c 'mount -t tmpfs -o nr_inodes=1 none "$0" && exec "$@"' "$work/full")
    ends_with 1 'No space left on device' --socket "$work/full/kms.sock"
    without_space=()
    echo sk_live_wrong >"$work/wrong"
    shows '401 AUTHENTICATION_FAILED' --api-key-file "$work/wrong"
    shows 'cannot reach Sealward' --url https://localhost:1
    wait_until is_ok
}

# prepare_other OPTION VALUE...: the command of another plugin, in which these options count.
prepare_other() {
    local -A options=([--url]=$url [--ca]=$work/tls/ca.crt [--api-key-file]=$node/etc/sealward-kms/key [--socket]=$work/other.sock)
    local option
    while [ $# -gt 0 ]; do
        options[$1]=$2
        shift 2
    done
    other=("$program" kube-kms)
    for option in "${!options[@]}"; do other+=("$option" "${options[$option]}"); done
}

# ends_with CODE TEXT OPTION VALUE...
ends_with() {
    local code=0 expected=$1 text=$2
    shift 2
    prepare_other "$@"
    "${without_space[@]}" "${other[@]}" 2>"$work/other.log" || code=$?
    [ "$code" = "$expected" ] || fails "$* ended with $code:" "$(<"$work/other.log")"
    grep '^sealward: ' "$work/other.log" | grep -qF "$text" || fails "$* without the text $text:" "$(<"$work/other.log")"
    say "$(grep '^sealward: ' "$work/other.log" | sed "s#$work#…#g" | cut -c 1-110)" "$code"
    [ ! -e "$work/other.sock" ] || fails "a socket is left"
}

# shows TEXT OPTION VALUE...: the plugin logs one line and goes on.
shows() {
    local text=$1 process
    shift
    prepare_other "$@"
    "${other[@]}" 2>"$work/other.log" &
    process=$!
    children+=("$process")
    wait_until grep -qF "$text" "$work/other.log"
    kill -TERM "$process"
    wait "$process" || fails "the plugin ended with $?"
    say "$(grep -F "$text" "$work/other.log" | jq -r .error | cut -c 1-110)"
    [ "$(grep -cF "$text" "$work/other.log")" = 1 ] || fails "more than one line:" "$(<"$work/other.log")"
    [ ! -e "$work/other.sock" ] || fails "a socket is left"
}

# A process that is stopped accepts connections and never answers.
stuck_service() {
    local took
    kill -STOP "$sealward_process"
    wait_until is_stuck
    took=$(curl -s -o /dev/null -w '%{time_total}' --max-time 5 "http://$monitor/healthz")
    kill -CONT "$sealward_process"
    wait_until is_ok
    say "a stuck service is an error after" "$(<"$work/stuck") s"
    awk "BEGIN { exit !($(<"$work/stuck") < 3 && $took < 3) }" || fails "a call took longer than 3 s"
}

is_stuck() {
    curl -s -o "$work/stuck.reason" -w '%{time_total}' --max-time 5 "http://$monitor/healthz" >"$work/stuck"
    grep -qF 'no answer within' "$work/stuck.reason"
}

long_outage() {
    local began=$SECONDS refused=
    stop_sealward
    while ((SECONDS - began < outage - 20)); do
        [ "$(password before)" = plain ] || fails "a secret is not readable in the outage"
        is_healthy /livez || fails "/livez fails in the outage"
        if [ -z "$refused" ] && ! writes 2>"$work/refused.log"; then
            refused=$((SECONDS - began))
        fi
        sleep 5
    done
    [ -n "$refused" ] || fails "the API server still writes after $((SECONDS - began)) s"
    grep -qF expired "$work/refused.log" || fails "another reason:" "$(<"$work/refused.log")"
    say "outage of Sealward: reads go on, writes are refused after" "$refused s"
    ! is_healthy /readyz || fails "/readyz does not show the outage"
    stop_apiserver
    start_encrypting
    wait_until is_healthy /livez
    ! secrets list "$some" >/dev/null 2>&1 || fails "secrets are readable without Sealward after a restart"
    while ((SECONDS - began < outage)); do sleep 1; done
    start_sealward
    began=$SECONDS
    wait_until writes 2>/dev/null
    secrets list "$some" >/dev/null
    say "after $outage s: reads and writes again after" "$((SECONDS - began)) s"
}

writes() {
    kubectl create secret generic written --dry-run=client -o yaml "--from-literal=password=$SECONDS" |
        kubectl apply -f - >/dev/null
}

nothing_was_lost() {
    local probes calls name
    [ "$(password before) $(password revoked)" = "plain kept" ] || fails "a secret was lost"
    secrets list "$some" >/dev/null
    probes=$(queries "select count(*) from crypto_operations_audit where request_id = 'kube-kms-probe'")
    calls=$(queries "select count(*) from crypto_operations_audit where request_id <> 'kube-kms-probe'")
    say "audit log: $probes probes and $calls calls with seeds in" "$((SECONDS - began)) s"
    curl -sS "http://$monitor/metrics" >"$work/metrics"
    while read -r name; do
        grep -q "^$name" "$work/metrics" || fails "the metric $name is missing"
    done < <(grep -oE '^\| .sealward_kube_kms_[a-z_]+' docs/kubernetes-secrets.md | cut -c 4-)
    ! grep -rqF "$(<"$node/etc/sealward-kms/key")" "$work"/*.log || fails "a log contains the API key"
    stop_plugin
    [ ! -e "$socket" ] || fails "the socket is still there"
}
