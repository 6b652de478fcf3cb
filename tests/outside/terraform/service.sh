# shellcheck shell=bash
# The service, which can restart with other settings.

# Keys are destroyed at once, so that their services can be deleted.
start_service() {
    cd "$root"
    SEALWARD_DEV_DIR=$work/service SEALWARD_KEYS_DESTRUCTION_DELAY=1s ./dev up --detach
}

stop_service() {
    # Another process than that of ./dev up can run.
    end_process
    SEALWARD_DEV_DIR=$work/service "$root/dev" down --purge >/dev/null || true
}

end_process() {
    local pid
    pid=$(cat "$work/service/sealward.pid" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null || return 0
    wait_until ended "$pid"
}

ended() { ! kill -0 "$1" 2>/dev/null; }

# The program that ./dev up runs.
program=${SEALWARD_TEST_PROGRAM:-$root/target/up/sealward}

# restart_with VARIABLE=VALUE...: runs the service again, with these variables too.
restart_with() {
    end_process
    env SEALWARD_KEYS_DESTRUCTION_DELAY=1s SOFTHSM2_CONF="$work/service/token/softhsm2.conf" "$@" \
        setsid "$program" serve --config "$work/service/sealward.toml" </dev/null >>"$work/service/log" 2>&1 &
    echo "$!" >"$work/service/sealward.pid"
    wait_until curl -sf -o /dev/null "$SEALWARD_URL/readyz"
}
