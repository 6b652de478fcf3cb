# shellcheck shell=bash
# The service itself: started, found again, stopped.

up_service() {
    local port
    if [ -n "$(service_process)" ]; then
        port=$(cat "$state/port")
        if [ "$(build_mark)" != "$(cat "$state/build" 2>/dev/null)" ]; then
            say "the running service is of another build: starting it anew"
            stop_service
        elif [ "${SEALWARD_PORT:-$port}" != "$port" ]; then
            choose_port >/dev/null
            say "the running service is on port $port: starting it anew"
            stop_service
        else
            url=http://127.0.0.1:$port
            wait_until_ready
            stage service "runs, as process $(service_process)"
            return 0
        fi
    fi
    port=$(choose_port)
    url=http://127.0.0.1:$port
    write_settings "$port"
    "$program" check-config --config "$state/sealward.toml" >/dev/null ||
        die "the settings are refused: see above"
    [ ! -f "$state/log" ] || mv "$state/log" "$state/log.1"
    build_mark >"$state/build"
    printf '%s\n' "$port" >"$state/port"
    started=(service "${started[@]}")
    start_service
    wait_until_ready
    stage service "ready on port $port, as process $(service_process)"
}

# Writes its own number before it becomes the service, so that no interrupt can leave behind a
# service that nobody knows of. In a session of its own: a Ctrl-C is this script's to handle.
start_service() {
    local format=()
    [ ! -t 1 ] || [ -n "$detach" ] || format=(SEALWARD_LOG_FORMAT=pretty)
    (umask 077 && : >"$state/log")
    # shellcheck disable=SC2016 # the inner shell's words
    env "${format[@]}" setsid bash -c 'printf "%s\n" $$ >"$1" && shift && exec "$@"' start \
        "$state/sealward.pid" "$program" serve --config "$state/sealward.toml" \
        </dev/null >>"$state/log" 2>&1 {leash}>&- &
    service_job=$!
}

# A changed file is another build: its number and time tell.
build_mark() { stat -c '%i %Y' "$program"; }

# The service of this very folder, if it lives: a number in an old file may be anyone's.
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
    # Longer than it gives requests in flight.
    for ((waited = 0; waited < 350; waited++)); do
        if [ -z "$(service_process)" ]; then
            rm -f "$state/sealward.pid"
            return 0
        fi
        sleep 0.1
    done
    warn "the service did not end within 35 s and is killed"
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
            die "the service ended with code $code; it said:" "$(tail -n 15 "$state/log")"
        fi
        sleep 0.1
    done
    die "the service is not ready; the end of its log says:" "$(tail -n 15 "$state/log")"
}

# SEALWARD_PORT or nothing; else the last one, else 8080, else a free one.
choose_port() {
    local port
    if [ -n "${SEALWARD_PORT-}" ]; then
        [[ $SEALWARD_PORT =~ ^[1-9][0-9]{0,4}$ && $SEALWARD_PORT -le 65535 ]] ||
            die "SEALWARD_PORT=$SEALWARD_PORT is not a port"
        port_is_free "$SEALWARD_PORT" || die "port $SEALWARD_PORT, which SEALWARD_PORT asks for, is taken"
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
