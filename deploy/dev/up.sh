# shellcheck shell=bash
# ./dev up and ./dev down: a service with its own database and token, in one folder.
#
#   id  lock  env (for shells)  sealward.toml  sealward.pid  port  log
#   oidc  certificate, port and log of the provider (--oidc)
#   postgres  a cluster, or a link to it      token  created by softhsm/make-token

up() {
    local detach='' argument
    for argument; do
        case $argument in
            --detach) detach=yes ;;
            --oidc) with_provider=yes ;;
            *) die "usage: ./dev up [--detach] [--oidc]" ;;
        esac
    done
    # This script sets these itself.
    unset SEALWARD_CONFIG SEALWARD_HTTP_LISTEN SEALWARD_DATABASE_URL SEALWARD_DATABASE_PASSWORD \
        SEALWARD_MIGRATE_URL SEALWARD_MIGRATE_PASSWORD SEALWARD_HSM_TOKENS \
        SEALWARD_DATABASE_OWNER_URL SEALWARD_DATABASE_OWNER_PASSWORD
    require_cargo
    require_packages "$packages_to_run"
    [ -z "$with_provider" ] || require_packages "$packages_for_provider"
    lock_state
    build_service
    at_exit stop_started
    up_postgres
    up_token
    [ -z "$with_provider" ] || up_provider
    up_service
    demo
    addresses
    release_owner_fd
    if [ -n "$detach" ]; then
        started=()
        info "stop it with: ./dev down"
    else
        follow_log
    fi
}

# SEALWARD_TEST_PROGRAM is a program to start instead.
build_service() {
    program=${SEALWARD_TEST_PROGRAM:-}
    if [ -n "$program" ]; then
        stage build "not built: $program"
        return 0
    fi
    program=$(cargo metadata --no-deps --format-version 1 --locked | jq -r .target_directory)/up/sealward
    run cargo build "${cargo_verbosity[@]}" --profile up --locked --bin sealward || die "the build failed"
    stage build "$program"
}

# Whether people sign in at an OpenID Connect provider.
with_provider=

# Processes that this run started, latest first. They stop unless the run succeeds with --detach.
started=()
stop_started() {
    local what
    for what in "${started[@]}"; do
        case $what in
            service) stop_service ;;
            provider) stop_provider ;;
            postgres) cluster_stop "$state/postgres" || warn "Postgres did not stop" ;;
        esac
    done
}

up_postgres() {
    local home
    home=$(cluster_home "$state/postgres")
    if cluster_answers "$home"; then
        stage postgres "running on port $(cat "$home/port")"
    else
        cluster_make "$home"
        [ -n "$(cluster_process "$home")" ] || started=(postgres "${started[@]}")
        cluster_start "$home"
        stage postgres "started on port $(cat "$home/port"), data in $home"
    fi
    [ -s "$state/database-password" ] || random_hex | write_privately database-password
    [ -s "$state/owner-password" ] || random_hex | write_privately owner-password
    cluster_sql "$home" <<SQL
set client_min_messages to error;
\\set password $(<"$state/database-password")
\\set owner_password $(<"$state/owner-password")
select format('create role %I login', name) from unnest(array['sealward', 'sealward_service']) as name
 where name not in (select rolname from pg_roles) \gexec
select format('create role %I', name) from unnest(array['sealward_application', 'sealward_retention']) as name
 where name not in (select rolname from pg_roles) \gexec
alter role sealward password :'owner_password';
alter role sealward_service password :'password';
grant sealward_application to sealward_service;
revoke sealward_retention from sealward_service;
select 'create database sealward owner sealward' where not exists (select from pg_database where datname = 'sealward') \gexec
SQL
}

up_token() {
    local status=created
    [ ! -s "$state/token/pin" ] || status=present
    softhsm/make-token "$state/token" sealward-dev
    export SOFTHSM2_CONF=$state/token/softhsm2.conf
    stage token "$status, in $state/token"
}

# write_privately FILE: replaces the file atomically; only its owner may read it.
write_privately() {
    (umask 077 && cat >"$state/$1.new")
    mv "$state/$1.new" "$state/$1"
}

toml_string() {
    local text=${1//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

write_settings() {
    write_privately sealward.toml <<TOML
# Each ./dev up writes this file. Override a setting with an environment variable:
# SEALWARD_LIMITS_MAX_BODY_BYTES=4096 ./dev up
environment = "development"

[http]
listen = "127.0.0.1:$1"

[database]
url = "postgres://sealward_service@127.0.0.1:$(cat "$state/postgres/port")/sealward"
password = { file = $(toml_string "$state/database-password") }

# The login that owns the schema. The service does not read this section.
[migrate]
url = "postgres://sealward@127.0.0.1:$(cat "$state/postgres/port")/sealward"
password = { file = $(toml_string "$state/owner-password") }

# The API for clients of Vault and OpenBao.
[transit]
enabled = true

[hsm]
# SoftHSM2 does not support RSA-OAEP with SHA-256.
allow_raw_rsa = true

[[hsm.tokens]]
module = $(toml_string "$(softhsm_module)")
label = "sealward-dev"
pin = { file = $(toml_string "$state/token/pin") }
$([ -z "$with_provider" ] || provider_settings "$1")
TOML
}

# Prints the path of a file in the state folder, relative to the caller's folder where possible.
display_path() {
    local file=$state/$1
    [ "$here" != "$root" ] || file=${file#"$root/"}
    printf %q "$file"
}

addresses() {
    cat <<TEXT

  API        $url
  dashboard  $url/dashboard (sign in with SEALWARD_ADMIN_KEY${with_provider:+ or single sign-on})
  keys       $(display_path env)
  log        $(display_path log)

TEXT
}

# Prints the log until the service ends or the user interrupts.
follow_log() {
    local pid
    pid=$(service_process)
    if [ ${#started[@]} -eq 0 ]; then
        info "the service was already running: Ctrl-C leaves it running, ./dev down stops it"
    else
        info "Ctrl-C stops the service; its log follows"
    fi
    run tail --pid="$pid" -n +1 -F "$state/log" 2>/dev/null || true
    die "the service has stopped"
}

# ./dev down [--purge]
down() {
    local purge= name home stopped=
    case ${1-} in
        --purge) purge=yes ;;
        '') ;;
        *) die "usage: ./dev down [--purge]" ;;
    esac
    if [ ! -d "$state" ]; then
        info "nothing to stop: $state does not exist"
        return 0
    fi
    lock_state
    if [ -n "$(service_process)" ]; then
        stop_service
        stage service "stopped"
        stopped=yes
    fi
    if [ -n "$(provider_process)" ]; then
        stop_provider
        stage provider "stopped"
        stopped=yes
    fi
    for name in postgres test-postgres; do
        home=$(readlink -f "$state/$name")
        [ -d "$home" ] || continue
        if [ -n "$(cluster_process "$home")" ]; then
            cluster_stop "$home" || die "Postgres in $home did not stop"
            stage "postgres" "stopped ($name)"
            stopped=yes
        fi
        [ -z "$purge" ] || rm -rf "$(socket_folder "$home")" "$home"
    done
    [ -n "$stopped" ] || info "nothing was running"
    if [ -n "$purge" ]; then
        rm -rf "$state"
        info "removed $state with all keys and data"
    fi
}
