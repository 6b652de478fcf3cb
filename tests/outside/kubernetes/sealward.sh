# shellcheck shell=bash
# A Sealward with its own token and database, which can stop and start.
#
# Callers set work and program.

database=

# Prepares the token, the certificate, the database and the first admin key.
prepare_sealward() {
    local port
    port=$(free_port)
    url=https://localhost:$port
    softhsm/make-token "$work/token" sealward
    deploy/make-certificates "$work/tls" localhost >/dev/null
    export SOFTHSM2_CONF=$work/token/softhsm2.conf
    make_database
    cat >"$work/sealward.toml" <<TOML
environment = "development"

[http]
listen = "127.0.0.1:$port"

[http.tls]
certificate = "$work/tls/localhost.crt"
key = "$work/tls/localhost.key"

[database]
url = "$database_url"
password = { file = "$work/password" }

[migrate]
url = "$database_url"
password = { file = "$work/password" }

[hsm]
allow_raw_rsa = true

[[hsm.tokens]]
module = "/usr/lib/softhsm/libsofthsm2.so"
label = "sealward"
pin = { file = "$work/token/pin" }
TOML
    export SEALWARD_CONFIG=$work/sealward.toml
    "$program" migrate 2>"$work/migrate.log"
    "$program" init >/dev/null
    "$program" audit init >/dev/null
    admin_key=$("$program" api-key create --type admin --name first)
}

# The database belongs to the cluster of ./dev verify.
make_database() {
    local address=${SEALWARD_TEST_POSTGRES#*://} user
    user=${address%%[:@]*}
    printf %s "$address" | sed -nE 's/^[^:@]*:([^@]*)@.*/\1/p' >"$work/password"
    database=sealward_kubernetes_$$
    database_url=postgres://$user@${address##*@}
    database_url=${database_url%/*}/$database
    psql -q -v ON_ERROR_STOP=1 -c "create database $database" "$SEALWARD_TEST_POSTGRES"
}

drop_database() {
    [ -n "$database" ] || return 0
    psql -q -c "drop database if exists $database with (force)" "$SEALWARD_TEST_POSTGRES" || true
}

start_sealward() {
    "$program" serve >>"$work/sealward.log" 2>&1 &
    sealward_process=$!
    children+=("$sealward_process")
    wait_until "$program" health >/dev/null 2>&1
}

stop_sealward() {
    kill -KILL "$sealward_process"
    wait "$sealward_process" 2>/dev/null || true
}

# queries SQL: one value.
queries() { psql -qAt -c "$1" "${SEALWARD_TEST_POSTGRES%/*}/$database"; }
