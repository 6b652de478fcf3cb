# shellcheck shell=bash
# What the dev script says, how it ends, and how it runs what takes long.

now_us() { printf '%s' "${EPOCHREALTIME/[^0-9]/}"; }

began_us=$(now_us)
stage_us=$began_us

# "12.3 s" since the given time.
since() {
    local us=$(($(now_us) - $1))
    printf '%d.%d s' $((us / 1000000)) $((us % 1000000 / 100000))
}

# One line for a stage that is done, with the time since the last such line.
stage() {
    printf '%-11s %-58s %9s\n' "$1" "$2" "$(since "$stage_us")"
    stage_us=$(now_us)
}

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }

die() {
    printf 'error: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '       %s\n' "${@//$'\n'/$'\n       '}" >&2
    exit 1
}

# Shows what a command said only if it fails.
quietly() {
    local said
    said=$("$@" 2>&1) && return 0
    local status=$?
    printf '%s\n' "$said" >&2
    return "$status"
}

# Everything that must happen however the script ends, latest first.
endings=()
at_end() { endings=("$*" "${endings[@]}"); }

# In a function that runs from here a bare `return` would return how the script ended, so
# all say `return 0`.
child=
end() {
    local status=$? ending
    trap - EXIT
    trap '' INT TERM HUP
    set +e
    for ending in "${endings[@]}"; do $ending; done
    exit "$status"
}

# A long command runs in a process group of its own, so that an interrupt reaches this
# script at once and ends all of the command, and nothing but the command.
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

trap end EXIT
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
trap 'interrupted 129' HUP

# The leash is a lock, or a pipe at whose other end someone waits: both learn that this script
# has ended, even if it was killed. Nothing that may outlive the script inherits it.
exec {leash}>/dev/null

let_go() {
    exec {leash}>&-
    exec {leash}>/dev/null
}

run() {
    local status=0
    set -m
    "$@" </dev/null {leash}>&- &
    child=$!
    set +m
    wait "$child" || status=$?
    child=
    return "$status"
}
