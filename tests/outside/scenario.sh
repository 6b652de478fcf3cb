# shellcheck shell=bash
# What checks with the programs of others share.

# Processes that end with the script.
children=()
trap '[ ${#children[@]} -eq 0 ] || kill "${children[@]}" 2>/dev/null || true' EXIT

# A free port below the ephemeral range.
free_port() {
    python3 -c 'import random, socket
while True:
    port = random.randrange(10000, 32000)
    with socket.socket() as tried:
        if tried.connect_ex(("127.0.0.1", port)):
            print(port)
            break'
}

# wait_until COMMAND...: for at least two minutes.
wait_until() {
    local tried
    for ((tried = 0; tried < 1200; tried++)); do
        ! "$@" || return 0
        sleep 0.1
    done
    fails "did not happen: $*"
}

answers() { curl -s -o /dev/null --max-time 5 "$1"; }
wait_for() { wait_until answers "$1"; }

fails() {
    echo "error: $*" >&2
    exit 1
}

# need_go VERSION
need_go() {
    local found
    found=$(go env GOVERSION 2>/dev/null | cut -c 3-) || fails "go was not found; this check needs Go $1 or later"
    printf '%s\n' "$1" "$found" | sort -VC || fails "Go $found is too old; this check needs Go $1 or later"
}

failed=()

# step NAME COMMAND...: prints how long it takes. If it fails, prints the end of its output, and adds it to `failed`.
# Callers set work, which gets the output.
step() {
    local name=$1
    shift
    SECONDS=0
    # A background process obeys `set -e`; a condition of `if` does not.
    ("$@") >"$work/$name.log" 2>&1 &
    if wait "$!"; then
        printf '%-22s %9s\n' "$name" "$SECONDS"
    else
        failed+=("$name")
        printf '%-22s %9s\n' "$name" FAILED
        tail -n 40 "$work/$name.log" >&2
    fi
}

# Ends if a step failed.
expect_no_failure() { [ ${#failed[@]} -eq 0 ] || fails "failed: ${failed[*]}"; }

# api METHOD PATH [BODY]: a call of the management API of SEALWARD_URL. API_KEY replaces the admin key.
api() {
    local content=application/json
    [ "$1" != PATCH ] || content=application/merge-patch+json
    curl -sS --fail-with-body -X "$1" "$SEALWARD_URL$2" -H "Authorization: Bearer ${API_KEY-$SEALWARD_ADMIN_KEY}" \
        -H "Content-Type: $content" ${3+-d "$3"}
}

# refuses TEXT COMMAND...: the command must fail, and its output must contain the text.
refuses() {
    local output text=$1
    shift
    ! output=$("$@" 2>&1) || fails "succeeded: $*"
    [[ $output == *"$text"* ]] || fails "$* failed without the text $text:" "$output"
}

# refuses_in_one_line TEXT COMMAND...: the command must fail. One line of its output contains the text, and none an API
# key. Prints the output.
refuses_in_one_line() {
    local lines output text=$1
    shift
    ! output=$("$@" 2>&1) || fails "succeeded: $*"
    lines=$(grep -cF -- "$text" <<<"$output") || fails "$* failed without the text $text:" "$output"
    [ "$lines" = 1 ] || fails "$* printed the text $text in $lines lines:" "$output"
    [[ $output != *sk_* ]] || fails "$* printed an API key"
    echo "$output"
}

# lacks TEXT FILE
lacks() { refuses '' grep -F "$1" "$2"; }
