# shellcheck shell=bash
# Starts, finds and stops the service.

up_service() {
    local port
    if [ -n "$(service_process)" ]; then
        port=$(cat "$state/port")
        if [ "$(build_id)" != "$(cat "$state/build" 2>/dev/null)" ]; then
            info "the running service is from another build and restarts"
            stop_service
        elif [ "${SEALWARD_PORT:-$port}" != "$port" ]; then
            choose_port >/dev/null
            info "the running service listens on port $port and restarts"
            stop_service
        elif [ -n "$with_provider" ] && ! grep -qxF '[admin.oidc]' "$state/sealward.toml"; then
            info "the running service has no provider and restarts"
            stop_service
        else
            url=http://127.0.0.1:$port
            wait_until_ready
            stage service "running, process $(service_process)"
            return 0
        fi
    fi
    port=$(choose_port)
    url=http://127.0.0.1:$port
    write_settings "$port"
    "$program" check-config --config "$state/sealward.toml" >/dev/null ||
        die "the settings are invalid"
    "$program" migrate --config "$state/sealward.toml" 2>"$state/migrate.log" ||
        die "the migration failed:" "$(tail -n 5 "$state/migrate.log")"
    "$program" init --config "$state/sealward.toml" >/dev/null ||
        die "cannot make the row key in the token"
    "$program" audit init --config "$state/sealward.toml" >"$state/audit-keys" ||
        die "cannot begin the tamper-evident audit logs"
    [ ! -f "$state/log" ] || mv "$state/log" "$state/log.1"
    build_id >"$state/build"
    printf '%s\n' "$port" >"$state/port"
    started=(service "${started[@]}")
    start_service
    wait_until_ready
    stage service "ready on port $port, process $(service_process)"
}

# The shell writes its process id before exec, so that an interrupt cannot leave an unknown
# service behind. setsid keeps Ctrl-C away from the service; this script handles it.
start_service() {
    local format=()
    [ ! -t 1 ] || [ -n "$detach" ] || format=(SEALWARD_LOG_FORMAT=pretty)
    (umask 077 && : >"$state/log")
    # shellcheck disable=SC2016 # the inner shell expands it
    env "${format[@]}" setsid bash -c 'printf "%s\n" $$ >"$1" && shift && exec "$@"' start \
        "$state/sealward.pid" "$program" serve --config "$state/sealward.toml" \
        </dev/null >>"$state/log" 2>&1 {owner_fd}>&- &
    service_job=$!
}

# Inode and modification time identify a build.
build_id() { stat -c '%i %Y' "$program"; }

# Prints the process id of this folder's service, if it runs. The id in a stale file may belong to
# another process, so the command line must name this folder's settings.
service_process() {
    local pid
    pid=$(cat "$state/sealward.pid" 2>/dev/null) || return 0
    if tr '\0' '\n' 2>/dev/null <"/proc/${pid:-none}/cmdline" |
        grep -qxF "$state/sealward.toml"; then
        printf '%s' "$pid"
    fi
} 2>/dev/null

stop_service() {
    local pid waited
    pid=$(service_process)
    [ -n "$pid" ] || return 0
    kill -TERM "$pid" 2>/dev/null || true
    # Longer than http.drain_timeout.
    for ((waited = 0; waited < 350; waited++)); do
        if [ -z "$(service_process)" ]; then
            rm -f "$state/sealward.pid"
            return 0
        fi
        sleep 0.1
    done
    warn "the service did not stop within 35 s; sending SIGKILL"
    kill -KILL "$pid" 2>/dev/null || true
    rm -f "$state/sealward.pid"
}

wait_until_ready() {
    local waited
    for ((waited = 0; waited < 600; waited++)); do
        ! curl -sf -o /dev/null --max-time 2 "$url/readyz" || return 0
        if [ -n "${service_job-}" ] && ! kill -0 "$service_job" 2>/dev/null; then
            local code=0
            wait "$service_job" || code=$?
            die "the service exited with code $code; the end of its log:" "$(tail -n 15 "$state/log")"
        fi
        sleep 0.1
    done
    die "the service is not ready; the end of its log:" "$(tail -n 15 "$state/log")"
}

# SEALWARD_PORT if set; otherwise the previous port, 8080 or a free port.
choose_port() {
    local port
    if [ -n "${SEALWARD_PORT-}" ]; then
        [[ $SEALWARD_PORT =~ ^[1-9][0-9]{0,4}$ && $SEALWARD_PORT -le 65535 ]] ||
            die "SEALWARD_PORT must be a port number: $SEALWARD_PORT"
        port_is_free "$SEALWARD_PORT" || die "port $SEALWARD_PORT (SEALWARD_PORT) is in use"
        printf '%s' "$SEALWARD_PORT"
        return 0
    fi
    for port in $(cat "$state/port" 2>/dev/null) 8080; do
        if port_is_free "$port"; then
            printf '%s' "$port"
            return 0
        fi
    done
    free_port
}
