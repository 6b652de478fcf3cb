# shellcheck shell=bash
# Output, exit handling and long-running commands of the dev script.

now_us() { printf '%s' "${EPOCHREALTIME/[^0-9]/}"; }

began_us=$(now_us)
stage_us=$began_us

# Prints the time since the given moment, as "12.3 s".
since() {
    local us=$(($(now_us) - $1))
    printf '%d.%d s' $((us / 1000000)) $((us % 1000000 / 100000))
}

# Prints one line for a completed stage, with the time since the previous stage.
stage() {
    printf '%-11s %-58s %9s\n' "$1" "$2" "$(since "$stage_us")"
    stage_us=$(now_us)
}

info() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }

die() {
    printf 'error: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '       %s\n' "${@//$'\n'/$'\n       '}" >&2
    exit 1
}

# Shows the output of a command only if the command fails.
quietly() {
    local output
    output=$("$@" 2>&1) && return 0
    local status=$?
    printf '%s\n' "$output" >&2
    return "$status"
}

# Commands that run when the script exits, latest first.
cleanups=()
at_exit() { cleanups=("$*" "${cleanups[@]}"); }

# In a function that runs from here, a bare `return` would return the exit status of the script.
# These functions use `return 0`.
child=
finish() {
    local status=$? cleanup
    trap - EXIT
    trap '' INT TERM HUP
    set +e
    for cleanup in "${cleanups[@]}"; do $cleanup; done
    exit "$status"
}

# A long command runs in its own process group. An interrupt reaches this script immediately,
# and the script then ends exactly that group.
interrupted() {
    local status=$1 waited
    trap '' INT TERM HUP
    if [ -n "$child" ] && kill -TERM -- "-$child" 2>/dev/null; then
        for ((waited = 0; waited < 100; waited++)); do
            kill -0 -- "-$child" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL -- "-$child" 2>/dev/null || true
    fi
    printf '\ninterrupted\n' >&2
    exit "$status"
}

trap finish EXIT
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
trap 'interrupted 129' HUP

# owner_fd holds a lock or the write end of a pipe. The kernel closes it when this script ends,
# even after SIGKILL. Processes that may outlive the script must not inherit it.
exec {owner_fd}>/dev/null

release_owner_fd() {
    exec {owner_fd}>&-
    exec {owner_fd}>/dev/null
}

run() {
    local status=0
    set -m
    "$@" </dev/null {owner_fd}>&- &
    child=$!
    set +m
    wait "$child" || status=$?
    child=
    return "$status"
}
