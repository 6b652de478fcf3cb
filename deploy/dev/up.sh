# shellcheck shell=bash
# ./dev up and ./dev down: a service with its own database and token, all in one folder.
#
#   id  lock  env (for people)  sealward.toml  sealward.pid  port  log
#   postgres  a cluster, or a link to it      token  what softhsm/make-token makes

up() {
    local detach=
    case ${1-} in
        --detach) detach=yes ;;
        '') ;;
        *) die "./dev up takes --detach and nothing else" ;;
    esac
    # These are what this script itself decides.
    unset SEALWARD_CONFIG SEALWARD_HTTP_LISTEN SEALWARD_DATABASE_URL SEALWARD_DATABASE_PASSWORD \
        SEALWARD_DATABASE_OWNER_URL SEALWARD_DATABASE_OWNER_PASSWORD SEALWARD_HSM_TOKENS
    need_cargo
    need_packages "$packages_to_run"
    take_state
    build_service
    at_end stop_what_was_started
    up_postgres
    up_token
    up_service
    demo
    addresses
    let_go
    if [ -n "$detach" ]; then
        started=()
        say "./dev down stops it"
    else
        follow
    fi
}

build_service() {
    program=$(cargo metadata --no-deps --format-version 1 --locked | jq -r .target_directory)/up/sealward
    run cargo build "${cargo_noise[@]}" --profile up --locked --bin sealward || die "the build failed"
    stage build "$program"
}

# What this run started, latest first: it stops again unless all went well and it may stay.
started=()
stop_what_was_started() {
    local what
    for what in "${started[@]}"; do
        case $what in
            service) stop_service ;;
            postgres) cluster_stop "$state/postgres" || warn "Postgres did not stop" ;;
        esac
    done
}

up_postgres() {
    local home
    home=$(cluster_home "$state/postgres")
    if cluster_answers "$home"; then
        stage postgres "runs on port $(cat "$home/port")"
    else
        cluster_make "$home"
        [ -n "$(cluster_process "$home")" ] || started=(postgres "${started[@]}")
        cluster_start "$home"
        stage postgres "started on port $(cat "$home/port"), data in $home"
    fi
    [ -s "$state/database-password" ] || random_word | write_privately database-password
    [ -s "$state/owner-password" ] || random_word | write_privately owner-password
    cluster_sql "$home" <<SQL
set client_min_messages to warning;
\\set password $(<"$state/database-password")
\\set owner_password $(<"$state/owner-password")
select format('create role %I login', name) from unnest(array['sealward', 'sealward_service']) as name
 where name not in (select rolname from pg_roles) \gexec
select format('create role %I', name) from unnest(array['sealward_application', 'sealward_retention']) as name
 where name not in (select rolname from pg_roles) \gexec
alter role sealward password :'owner_password';
alter role sealward_service password :'password';
grant sealward_application, sealward_retention to sealward_service;
select 'create database sealward owner sealward' where not exists (select from pg_database where datname = 'sealward') \gexec
SQL
}

up_token() {
    local there=made
    [ ! -s "$state/token/pin" ] || there=there
    softhsm/make-token "$state/token" sealward-dev
    export SOFTHSM2_CONF=$state/token/softhsm2.conf
    stage token "$there, in $state/token"
}

# write_privately FILE: whole or not at all, for its owner alone.
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
# Written by each ./dev up. To try another setting, give it in the environment:
# SEALWARD_LIMITS_MAX_BODY_BYTES=4096 ./dev up
environment = "development"

[http]
listen = "127.0.0.1:$1"

[database]
url = "postgres://sealward_service@127.0.0.1:$(cat "$state/postgres/port")/sealward"
password = { file = $(toml_string "$state/database-password") }
# Owns the schema; the service itself works without its rights.
owner_url = "postgres://sealward@127.0.0.1:$(cat "$state/postgres/port")/sealward"
owner_password = { file = $(toml_string "$state/owner-password") }

[hsm]
# SoftHSM2 has no RSA-OAEP with SHA-256.
allow_raw_rsa = true

[[hsm.tokens]]
module = $(toml_string "$(softhsm_module)")
label = "sealward-dev"
pin = { file = $(toml_string "$state/token/pin") }
TOML
}

# A file of the state folder as a person here would name it.
shown() {
    local file=$state/$1
    [ "$here" != "$root" ] || file=${file#"$root/"}
    printf %q "$file"
}

addresses() {
    cat <<TEXT

  API        $url
  dashboard  $url/dashboard (sign in with SEALWARD_ADMIN_KEY)
  keys       $(shown env)
  log        $(shown log)

TEXT
}

# Stays with the log until the service ends or someone interrupts.
follow() {
    local pid
    pid=$(service_process)
    if [ ${#started[@]} -eq 0 ]; then
        say "it was running before: Ctrl-C leaves it so, ./dev down stops it"
    else
        say "Ctrl-C stops it; this is its log"
    fi
    run tail --pid="$pid" -n +1 -F "$state/log" 2>/dev/null || true
    die "the service has ended"
}

# ./dev down [--purge]
down() {
    local purge= name home stopped=
    case ${1-} in
        --purge) purge=yes ;;
        '') ;;
        *) die "./dev down takes --purge and nothing else" ;;
    esac
    if [ ! -d "$state" ]; then
        say "nothing to stop: there is no $state"
        return 0
    fi
    take_state
    if [ -n "$(service_process)" ]; then
        stop_service
        stage service "stopped"
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
    [ -n "$stopped" ] || say "nothing was running"
    if [ -n "$purge" ]; then
        rm -rf "$state"
        say "$state is gone, with all keys and data"
    fi
}
