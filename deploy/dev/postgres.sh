# shellcheck shell=bash
# Postgres clusters. Each cluster has a home folder that belongs to the user who runs it:
#   data/  the cluster    log  the server log    port    password  of the superuser
# Postgres refuses to run as root. Root runs it as the user postgres, or as nobody.

# postgres_programs [HOME]: the folder of the server programs. Uses the version of the cluster in
# HOME if it exists, otherwise the newest version.
postgres_programs() {
    local home=${1-} version='' folder
    [ -z "$home" ] || [ ! -f "$home/data/PG_VERSION" ] || version=$(<"$home/data/PG_VERSION")
    for folder in $(compgen -G "/usr/lib/postgresql/${version:-*}/bin" | sort -rV) \
        "$(dirname "$(readlink -f "$(command -v initdb)")")"; do
        if [ -x "$folder/initdb" ] && [ -x "$folder/pg_ctl" ]; then
            printf '%s' "$folder"
            return 0
        fi
    done
    return 1
}

postgres_user() {
    if [ "$EUID" -ne 0 ]; then id -un; elif id postgres &>/dev/null; then echo postgres; else echo nobody; fi
}

# Runs a command as the clusters' user, in a folder which that user may enter.
as_postgres() (
    cd /
    [ "$EUID" -eq 0 ] || exec "$@" {owner_fd}>&-
    local user
    user=$(postgres_user)
    exec setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups \
        env HOME=/ "$@" {owner_fd}>&-
)

# cluster_home FOLDER: creates it and prints its real path. If the clusters' user cannot enter
# FOLDER, the home is in /var/lib/sealward-dev and FOLDER is a link to it.
cluster_home() {
    local folder=$1 home elsewhere
    if [ "$EUID" -eq 0 ]; then
        elsewhere=/var/lib/sealward-dev/$(cat "$state/id")-$(basename "$folder")
        [ -d "$folder" ] || ! [ -d "$elsewhere" ] || ln -sfn "$elsewhere" "$folder"
    fi
    if [ ! -d "$folder" ]; then
        rm -f "$folder"
        mkdir -m 700 "$folder"
    fi
    home=$(readlink -f "$folder")
    if [ "$EUID" -eq 0 ]; then
        chown "$(postgres_user):" "$home"
        if ! as_postgres test -w "$home"; then
            mkdir -p "$(dirname "$elsewhere")"
            rm -rf "$elsewhere.new"
            mv "$home" "$elsewhere.new"
            mv -T "$elsewhere.new" "$elsewhere"
            ln -s "$elsewhere" "$folder"
            home=$elsewhere
        fi
    fi
    printf '%s\n' "$home"
}

# cluster_make HOME [INITDB-OPTION...]: creates a cluster atomically.
cluster_make() {
    local home=$1 programs
    shift
    [ ! -d "$home/data" ] || return 0
    programs=$(postgres_programs) || die "Postgres's initdb was not found"
    rm -rf "$home/data.new"
    random_hex | as_postgres tee "$home/password" >/dev/null
    as_postgres chmod 600 "$home/password"
    run quietly as_postgres "$programs/initdb" -D "$home/data.new" -U postgres \
        --pwfile="$home/password" --auth-local=trust --auth-host=scram-sha-256 \
        --encoding=UTF8 --locale=C.UTF-8 "$@" || die "initdb failed"
    printf "include 'sealward.conf'\n" | as_postgres tee -a "$home/data.new/postgresql.conf" >/dev/null
    mv "$home/data.new" "$home/data"
}

# cluster_start HOME [SETTING...]: starts the cluster unless it runs. It keeps its previous port
# while that port is free.
cluster_start() {
    local home=$1 programs port socket
    shift
    ! cluster_answers "$home" || return 0
    programs=$(postgres_programs "$home") || die \
        "$home/data belongs to Postgres $(cat "$home/data/PG_VERSION"), which is not installed"
    cluster_remove_stale_locks "$home"
    port=$(cat "$home/port" 2>/dev/null) && port_is_free "$port" || port=$(free_port)
    socket=$(socket_folder "$home")
    printf '%s\n' "$port" | as_postgres tee "$home/port" >/dev/null
    printf '%s\n' "port = $port" "listen_addresses = '127.0.0.1'" \
        "unix_socket_directories = '$socket'" "unix_socket_permissions = 0700" "$@" |
        as_postgres tee "$home/data/sealward.conf" >/dev/null
    as_postgres "$programs/pg_ctl" -D "$home/data" -l "$home/log" -s -w -t 60 start >/dev/null ||
        die "Postgres did not start; the end of $home/log says:" "$(tail -n 5 "$home/log" 2>/dev/null)"
}

cluster_answers() {
    [ -n "$(cluster_process "$1")" ] &&
        PGCONNECT_TIMEOUT=5 PGOPTIONS='-c statement_timeout=5s' cluster_sql "$1" -c 'select 1' &>/dev/null
}

# Prints the process id of this cluster's postmaster, if it runs. The id in a stale file may belong
# to another process, so its working folder must be this cluster's data.
cluster_process() {
    local pid
    pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) || return 0
    [ "$(readlink -f "/proc/$pid/cwd" 2>/dev/null)" != "$(readlink -f "$1/data")" ] ||
        printf '%s' "$pid"
}

# A crash leaves lock files behind. Postgres does not start if their process id belongs to a
# running process or a zombie. This removes them once no process works in the data folder.
cluster_remove_stale_locks() {
    local home=$1 data cwd pid
    pid=$(cluster_process "$home")
    [ -z "$pid" ] || die "Postgres (process $pid) does not answer; its log is $home/log"
    data=$(readlink -f "$home/data")
    for cwd in /proc/[0-9]*/cwd; do
        [ "$(readlink "$cwd" 2>/dev/null)" != "$data" ] || return 0
    done
    rm -f "$home/data/postmaster.pid" "$(socket_folder "$home")"/.s.PGSQL.*
}

# cluster_stop HOME [MODE]
cluster_stop() {
    local home=$1 programs
    [ -n "$(cluster_process "$home")" ] || return 0
    programs=$(postgres_programs "$home") || return 1
    as_postgres "$programs/pg_ctl" -D "$home/data" -s -w -t 60 -m "${2:-fast}" stop ||
        [ -z "$(cluster_process "$home")" ]
}

# Runs SQL as the superuser, over the socket that only the clusters' user may open.
cluster_sql() {
    local home=$1
    shift
    as_postgres "$(postgres_programs "$home")/psql" -h "$(socket_folder "$home")" \
        -p "$(cat "$home/port")" -U postgres -d postgres -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}

cluster_superuser_url() {
    printf 'postgres://postgres:%s@127.0.0.1:%s/postgres' "$(cat "$1/password")" "$(cat "$1/port")"
}

# The path of a socket is at most 107 bytes long, and the path of a clone may be longer. The
# socket is therefore in /tmp, in a folder that belongs to the clusters' user.
socket_folder() {
    local folder user
    user=$(postgres_user)
    folder=/tmp/sealward-$(printf '%s %s' "$user" "$(readlink -f "$1")" | sha256sum | head -c 12)
    as_postgres mkdir -m 700 "$folder" 2>/dev/null || true
    [ "$(stat -c %U:%a "$folder")" = "$user:700" ] || die "$folder belongs to another user: remove it"
    printf '%s' "$folder"
}

random_hex() { head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

port_is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# These ports are below the range that the kernel assigns automatically.
free_port() {
    local port
    for _ in {1..200}; do
        port=$((20000 + RANDOM % 10000))
        if port_is_free "$port"; then
            printf '%s' "$port"
            return 0
        fi
    done
    die "no port between 20000 and 30000 is free"
}
