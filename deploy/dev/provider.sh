# shellcheck shell=bash
# ./dev up --oidc: an OpenID Connect provider, at which an owner, two custodians, a policy administrator
# and an auditor sign in.

up_provider() {
    local folder=$state/oidc home port
    if [ -n "$(provider_process)" ]; then
        stage provider "running, process $(provider_process)"
        return 0
    fi
    home=$(tests/doubles/oidc/setup) || die "cannot install the OpenID Connect provider"
    mkdir -p "$folder"
    [ -s "$folder/certificate.pem" ] || run openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 \
        -nodes -days 3650 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -addext basicConstraints=critical,CA:FALSE \
        -keyout "$folder/key.pem" -out "$folder/certificate.pem" 2>/dev/null ||
        die "cannot make the certificate of the provider"
    printf 'sealward-secret\n' | write_privately oidc/secret
    port=$(cat "$folder/port" 2>/dev/null) && port_is_free "$port" || port=$(free_port)
    printf '%s\n' "$port" >"$folder/port"
    started=(provider "${started[@]}")
    : >"$folder/issuer"
    # shellcheck disable=SC2016 # the inner shell expands it
    setsid bash -c 'printf "%s\n" $$ >"$1" && shift && exec "$@"' start "$folder/pid" \
        node tests/doubles/oidc/provider.mjs "$home" "$folder/certificate.pem" "$folder/key.pem" "$port" \
        </dev/null >"$folder/issuer" 2>"$folder/log" {owner_fd}>&- &
    wait_for_issuer "$folder"
    stage provider "ready on port $port, process $(provider_process)"
}

wait_for_issuer() {
    local waited
    for ((waited = 0; waited < 300; waited++)); do
        [ ! -s "$1/issuer" ] || return 0
        sleep 0.1
    done
    die "the provider is not ready; the end of its log:" "$(tail -n 15 "$1/log")"
}

# Prints the process id of this folder's provider, if it runs.
provider_process() {
    local pid
    pid=$(cat "$state/oidc/pid" 2>/dev/null) || return 0
    if tr '\0' '\n' 2>/dev/null <"/proc/${pid:-none}/cmdline" |
        grep -qxF "$state/oidc/certificate.pem"; then
        printf '%s' "$pid"
    fi
} 2>/dev/null

stop_provider() {
    local pid
    pid=$(provider_process)
    [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || true
    rm -f "$state/oidc/pid"
}

# The settings of sign-in at the provider. Two kinds of change need the approval of another person.
provider_settings() {
    cat <<TOML

[admin.oidc]
issuer = "$(cat "$state/oidc/issuer")"
client_id = "sealward"
client_secret = { file = $(toml_string "$state/oidc/secret") }
redirect_uri = "http://127.0.0.1:$1/dashboard/sign-in/callback"
scopes = ["openid", "profile", "groups"]
ca = $(toml_string "$state/oidc/certificate.pem")

[admin.oidc.roles]
owner = ["sealward-owners"]
custodian = ["sealward-custodians"]
policy_admin = ["sealward-policies"]
auditor = ["sealward-auditors"]

[approvals]
required = ["key.import", "key.destroy"]
TOML
}
