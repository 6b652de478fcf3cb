# shellcheck shell=bash
# ./dev test and ./dev verify: all that a test needs, found or made, and gone again at the end.

# The variables that tests read.
#   SEALWARD_TEST_POSTGRES   the superuser's address of a cluster that may be filled and broken
#   SEALWARD_TEST_SOFTHSM    the module of SoftHSM2
#   SEALWARD_TEST_KRYOPTIC   the module of kryoptic
#   SEALWARD_TEST_INTEROP    the folder with the JOSE libraries of others
#   SEALWARD_TEST_API        the folder with the tools that hold the API to its document
#   SEALWARD_TEST_PAGES      the folder with what looks at the dashboard's pages
#   SEALWARD_TEST_SEED       the moments at which processes are killed, to have them again; a test prints it
#   SEALWARD_TEST_CHROMIUM, SEALWARD_TEST_CHROMEDRIVER   the browser, and what drives it
prepare_tests() {
    need_cargo
    need_packages "$packages_to_test"
    SEALWARD_TEST_SOFTHSM=$(softhsm_module)
    export SEALWARD_TEST_SOFTHSM
    prepare_kryoptic
    prepare_interop
    prepare_api
    prepare_pages
}

# A clean environment: what a person set for the service of ./dev up must not reach tests.
forget_the_service() {
    local name
    for name in $(compgen -e SEALWARD_ | grep -v '^SEALWARD_TEST_'); do unset "$name"; done
}

softhsm_module() {
    compgen -G '/usr/lib/softhsm/libsofthsm2.so' || die "SoftHSM2's module was not found"
}

# The second token, built once for each state of its sources and each compiler.
prepare_kryoptic() {
    local sources=tests/kryoptic-token key
    [ -f "$sources/Cargo.toml" ] || return 0
    key=$({ find "$sources" -type f -not -path '*/target/*' -exec sha256sum {} + | sort -k 2 &&
        rustc -vV; } | sha256sum | head -c 16)
    SEALWARD_TEST_KRYOPTIC=$cache/kryoptic-$key.so
    export SEALWARD_TEST_KRYOPTIC
    if [ -f "$SEALWARD_TEST_KRYOPTIC" ]; then
        stage kryoptic "there"
        return 0
    fi
    say "building kryoptic, once (some minutes)"
    run build_kryoptic "$sources" "$SEALWARD_TEST_KRYOPTIC" || die "kryoptic could not be built"
    stage kryoptic "built into $cache"
}

build_kryoptic() {
    local sources=$1 module=$2 target=$cache/kryoptic-build built
    exec 8>"$cache/kryoptic.lock"
    flock 8
    [ ! -f "$module" ] || return 0
    CARGO_TARGET_DIR=$target cargo build --release --locked --quiet \
        --manifest-path "$sources/Cargo.toml" 8>&-
    built=$(compgen -G "$target/release/lib*kryoptic*.so" | head -n 1)
    cp "$built" "$module.new"
    mv "$module.new" "$module"
    rm -rf "$target"
}

# The JOSE libraries of others that envelopes are exchanged with.
prepare_interop() {
    SEALWARD_TEST_INTEROP=$(tests/interop/setup) || die "the JOSE libraries could not be installed"
    export SEALWARD_TEST_INTEROP
    stage interop "jose, jwcrypto and joserfc are there"
}

# The tools that hold the API to its document.
prepare_api() {
    SEALWARD_TEST_API=$(tests/api/setup) || die "the tools that check the API could not be installed"
    export SEALWARD_TEST_API
    stage api "schemathesis and openapi-spec-validator are there"
}

# The browser of the dashboard's tests, and what looks at its pages.
prepare_pages() {
    SEALWARD_TEST_CHROMIUM=$(chromium_program) || die "Chromium was not found"
    SEALWARD_TEST_CHROMEDRIVER=$(command -v chromedriver) || die "chromedriver was not found"
    SEALWARD_TEST_PAGES=$(tests/pages/setup) || die "axe-core and html-validate could not be installed"
    export SEALWARD_TEST_CHROMIUM SEALWARD_TEST_CHROMEDRIVER SEALWARD_TEST_PAGES
    stage pages "Chromium, axe-core and html-validate are there"
}

# A cluster, and a folder for what tests write, that end with this script, however that ends:
# their keeper waits at the leash.
throwaway_cluster() {
    local home
    home=$(as_postgres mktemp -d /tmp/sealward-test-XXXXXX)
    TMPDIR=$(mktemp -d /tmp/sealward-work-XXXXXX)
    export TMPDIR
    # Tests that run as others than root have folders in it.
    chmod 711 "$TMPDIR"
    exec {leash}>&-
    exec {leash}> >(
        trap '' INT TERM HUP
        cat >/dev/null
        cluster_stop "$home" immediate &>/dev/null
        rm -rf "$(socket_folder "$home")" "$home" "$TMPDIR"
    )
    local keeper=$!
    at_end end_cluster "$keeper"
    cluster_make "$home" --no-sync
    cluster_start "$home" "${throwaway_settings[@]}"
    SEALWARD_TEST_POSTGRES=$(cluster_superuser_url "$home")
    export SEALWARD_TEST_POSTGRES
    stage postgres "a throw-away cluster runs in $home"
}

end_cluster() {
    let_go
    wait "$1" 2>/dev/null
}

# Durability costs time, and what is thrown away needs none; a test that is about durability
# starts a cluster of its own.
throwaway_settings=(
    'fsync = off'
    'synchronous_commit = off'
    'full_page_writes = off'
    'max_connections = 500'
    'shared_buffers = 256MB'
    'log_min_messages = fatal'
)

# ./dev test-env: a cluster that stays until ./dev down, and the variables for a shell.
test_environment() {
    local variable
    make_test_environment 1>&2
    for variable in $(compgen -v SEALWARD_TEST_); do
        printf 'export %s=%q\n' "$variable" "${!variable}"
    done
}

# Apart from what is printed: a shell that reads it waits for all that might still write there.
make_test_environment() {
    local home
    prepare_tests
    take_state
    home=$(cluster_home "$state/test-postgres")
    cluster_make "$home" --no-sync
    cluster_start "$home" "${throwaway_settings[@]}"
    SEALWARD_TEST_POSTGRES=$(cluster_superuser_url "$home")
    stage postgres "runs until ./dev down"
}

# ./dev test [FILTER...]
run_tests() {
    local said status=0
    prepare_tests
    forget_the_service
    run cargo build "${cargo_noise[@]}" --workspace --lib --bins --tests --locked || die "the tests do not compile"
    stage build "the tests are compiled"
    throwaway_cluster
    said=$(mktemp)
    at_end rm -f "$said"
    run all_tests "$said" "$@" || status=$?
    stage tests "run"
    count_tests "$said" "$status" "$@"
}

all_tests() {
    local said=$1 status=0
    shift
    [ ! -t 1 ] || export CARGO_TERM_COLOR=always
    # Most tests wait for other processes most of the time, so there is room for more than cores.
    export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))}
    export NEXTEST_TEST_THREADS=${NEXTEST_TEST_THREADS:-$RUST_TEST_THREADS}
    if cargo nextest --version &>/dev/null; then
        cargo nextest run --workspace --locked --no-fail-fast --no-tests=pass "$@" 2>&1 |
            tee -a "$said" || status=$?
        cargo test --workspace --doc --locked --no-fail-fast -- "$@" 2>&1 | tee -a "$said" || status=$?
    else
        cargo test --workspace --locked --no-fail-fast -- "$@" 2>&1 | tee -a "$said" || status=$?
    fi
    return "$status"
}

# Sums the summaries of all test binaries (cargo's and nextest's words).
count_tests() {
    local said=$1 status=$2 passed failed skipped
    shift 2
    read -r passed failed skipped < <(sed -E 's/\x1b\[[0-9;]*m//g' "$said" | awk '
        /^test result: / || /^ *Summary \[.*tests? run:/ {
            gsub(/[;,()]/, " ")
            for (i = 2; i <= NF; i++) {
                if ($i == "passed") passed += $(i - 1)
                if ($i == "failed") failed += $(i - ($(i - 1) == "exec" ? 2 : 1))
                if ($i == "ignored" || $i == "skipped") skipped += $(i - 1)
                if ($i == "timed") failed += $(i - 1)
            }
        }
        END { print passed + 0, failed + 0, skipped + 0 }')
    if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]; then
        warn "a test binary ended without saying how its tests went"
        failed=1
    fi
    say "tested in $(since "$began_us")"
    if [ $# -gt 0 ]; then
        [ $((passed + failed)) -gt 0 ] || die "no test matches: $*"
        skipped=0
    fi
    if [ "$skipped" -gt 0 ]; then
        say "$passed passed, $failed failed, $skipped skipped"
    else
        say "$passed passed, $failed failed"
    fi
    return "$status"
}

# The long checks there are: a folder of tests/ with a script named run, but for the bench.
long_checks() {
    local script
    for script in tests/*/run; do
        script=$(basename "$(dirname "$script")")
        [ "$script" = bench ] || printf '%s\n' "$script"
    done
}

# ./dev verify [NAME [ARGUMENT...]]: one of them, or each as long as it takes by itself.
verify() {
    local names name failed=()
    mapfile -t names < <(long_checks)
    if [ $# -gt 0 ]; then
        [[ " ${names[*]} " == *" $1 "* ]] || die "there is no long check $1, only: ${names[*]}"
        names=("$1")
        shift
    fi
    prepare_tests
    forget_the_service
    throwaway_cluster
    for name in "${names[@]}"; do
        run "tests/$name/run" "$@" || failed+=("$name")
        stage "$name" "run"
    done
    [ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
}

# ./dev bench [--quick | scale [NAME]]: on a cluster as durable as any.
bench() {
    need_cargo
    need_packages "$packages_to_bench"
    SEALWARD_TEST_SOFTHSM=$(softhsm_module)
    export SEALWARD_TEST_SOFTHSM
    forget_the_service
    throwaway_settings=()
    throwaway_cluster
    run tests/bench/run "$@" || die "the bench did not come to its end"
}
