# shellcheck shell=bash
# ./dev test, verify and bench: prepare the test environment and remove it at the end.

# Tests read these variables:
#   SEALWARD_TEST_POSTGRES   the superuser's URL of a cluster that tests may fill and break
#   SEALWARD_TEST_SOFTHSM    the PKCS#11 module of SoftHSM2
#   SEALWARD_TEST_KRYOPTIC   the PKCS#11 module of kryoptic
#   SEALWARD_TEST_INTEROP    the folder with third-party JOSE libraries
#   SEALWARD_TEST_API        the folder with tools that check the API against its OpenAPI document
#   SEALWARD_TEST_PAGES      the folder with axe-core and html-validate
#   SEALWARD_TEST_OIDC       the folder with an OpenID Connect provider
#   SEALWARD_TEST_SEED       a printed seed; repeats the moments at which a test kills processes
#   SEALWARD_TEST_CHROMIUM, SEALWARD_TEST_CHROMEDRIVER   the browser and its driver
prepare_tests() {
    require_cargo
    require_packages "$packages_to_test"
    SEALWARD_TEST_SOFTHSM=$(softhsm_module)
    export SEALWARD_TEST_SOFTHSM
    prepare_kryoptic
    prepare_interop
    prepare_api
    prepare_oidc
    prepare_pages
}

# Settings for the service of ./dev up must not reach the tests.
clear_service_variables() {
    local name
    for name in $(compgen -e SEALWARD_ | grep -v '^SEALWARD_TEST_'); do unset "$name"; done
}

softhsm_module() {
    compgen -G '/usr/lib/softhsm/libsofthsm2.so' || die "the PKCS#11 module of SoftHSM2 was not found"
}

# kryoptic is the second token of the tests. It is built once for each source and compiler version.
prepare_kryoptic() {
    local sources=tests/doubles/kryoptic-token key
    [ -f "$sources/Cargo.toml" ] || return 0
    key=$({ (cd "$sources" && find . -type f -not -path './target/*' -exec sha256sum {} +) | sort -k 2 &&
        rustc -vV; } | sha256sum | head -c 16)
    SEALWARD_TEST_KRYOPTIC=$cache/kryoptic-$key.so
    export SEALWARD_TEST_KRYOPTIC
    if [ -f "$SEALWARD_TEST_KRYOPTIC" ]; then
        stage kryoptic "present"
        return 0
    fi
    info "building kryoptic (once, a few minutes)"
    run build_kryoptic "$sources" "$SEALWARD_TEST_KRYOPTIC" || die "cannot build kryoptic"
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

# The third-party JOSE libraries of the interoperability tests.
prepare_interop() {
    SEALWARD_TEST_INTEROP=$(tests/outside/interop/setup) || die "cannot install the JOSE libraries"
    export SEALWARD_TEST_INTEROP
    stage interop "jose, jwcrypto and joserfc: present"
}

# The tools that check the API against its OpenAPI document.
prepare_api() {
    SEALWARD_TEST_API=$(tests/outside/api/setup) || die "cannot install the tools that check the API"
    export SEALWARD_TEST_API
    stage api "schemathesis and openapi-spec-validator: present"
}

# The OpenID Connect provider of the tests of sign-in.
prepare_oidc() {
    SEALWARD_TEST_OIDC=$(tests/doubles/oidc/setup) || die "cannot install the OpenID Connect provider"
    export SEALWARD_TEST_OIDC
    stage oidc "oidc-provider: present"
}

# The browser of the dashboard tests, and the checkers of its pages.
prepare_pages() {
    SEALWARD_TEST_CHROMIUM=$(chromium_program) || die "Chromium was not found"
    SEALWARD_TEST_CHROMEDRIVER=$(command -v chromedriver) || die "chromedriver was not found"
    SEALWARD_TEST_PAGES=$(tests/outside/pages/setup) || die "cannot install axe-core and html-validate"
    export SEALWARD_TEST_CHROMIUM SEALWARD_TEST_CHROMEDRIVER SEALWARD_TEST_PAGES
    stage pages "Chromium, axe-core and html-validate: present"
}

# Prints the folder for temporary files: in memory, if 4 GiB are free there and 8 GiB of memory are
# available. Each test creates and deletes a database of 1,000 files, which takes file systems on a
# disk half of the time of all tests.
temporary_root() {
    local free available
    free=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1) || free=0
    available=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
    if ((free > 4 << 20 && available > 8 << 20)) && ! findmnt -no OPTIONS /dev/shm | grep -qw noexec; then
        echo /dev/shm
    else
        echo /tmp
    fi
}

# Creates a cluster and a folder for files of tests, in $1 if given. A background process reads
# from owner_fd. It removes both when this script ends, even after SIGKILL.
temporary_cluster() {
    local home root=${1-}
    [ -n "$root" ] || root=$(temporary_root)
    home=$(as_postgres mktemp -d "$root/sealward-test-XXXXXX")
    TMPDIR=$(mktemp -d "$root/sealward-XXXXXX")
    export TMPDIR
    # Processes of other users have folders in it.
    chmod 711 "$TMPDIR"
    exec {owner_fd}>&-
    exec {owner_fd}> >(
        trap '' INT TERM HUP
        cat >/dev/null
        cluster_stop "$home" immediate &>/dev/null
        rm -rf "$(socket_folder "$home")" "$home" "$TMPDIR"
    )
    at_exit end_cluster "$!"
    cluster_make "$home" --no-sync
    cluster_start "$home" "${temporary_settings[@]}"
    use_one_scram_round "$home"
    SEALWARD_TEST_POSTGRES=$(cluster_superuser_url "$home")
    export SEALWARD_TEST_POSTGRES
    stage postgres "a temporary cluster runs in $home"
}

end_cluster() {
    release_owner_fd
    wait "$1" 2>/dev/null
}

# Replaces the superuser's SCRAM secret by one with one round of hashing instead of 4,096. Without
# optimization, these rounds take half of the tests' CPU time. Rounds protect weak passwords; this
# password has 192 random bits.
use_one_scram_round() {
    local secret
    secret=$(as_postgres python3 -c "$scram_secret" "$1/password")
    cluster_sql "$1" <<<"ALTER ROLE postgres PASSWORD '$secret'"
}

# Prints the SCRAM secret, in the form of RFC 5803, of the password in a file.
# shellcheck disable=SC2016 # Python expands it
scram_secret='
import base64, hashlib, hmac, os, sys
password, salt = open(sys.argv[1], "rb").read().strip(), os.urandom(16)
salted = hashlib.pbkdf2_hmac("sha256", password, salt, 1)
def key(name): return hmac.digest(salted, name, "sha256")
parts = salt, hashlib.sha256(key(b"Client Key")).digest(), key(b"Server Key")
salt, stored, server = (base64.b64encode(part).decode() for part in parts)
print(f"SCRAM-SHA-256$1:{salt}${stored}:{server}")
'

# The temporary cluster is fast and not durable. A test of durability starts its own cluster.
temporary_settings=(
    'fsync = off'
    'synchronous_commit = off'
    'full_page_writes = off'
    'autovacuum = off'
    'max_connections = 500'
    'shared_buffers = 256MB'
    'log_min_messages = fatal'
)

# ./dev test-env: starts a cluster that runs until ./dev down, and prints the variables.
test_environment() {
    local variable
    make_test_environment 1>&2
    for variable in $(compgen -v SEALWARD_TEST_); do
        printf 'export %s=%q\n' "$variable" "${!variable}"
    done
}

# Runs with stdout on stderr. A shell that evaluates the output of test-env would otherwise wait
# for background processes that hold its pipe open.
make_test_environment() {
    local home
    prepare_tests
    lock_state
    home=$(cluster_home "$state/test-postgres")
    cluster_make "$home" --no-sync
    cluster_start "$home" "${temporary_settings[@]}"
    use_one_scram_round "$home"
    SEALWARD_TEST_POSTGRES=$(cluster_superuser_url "$home")
    stage postgres "running until ./dev down"
}

# ./dev test [CRATE... | FILTER...]
run_tests() {
    local output word status=0 crates_to_test=() packages=(--workspace)
    for word in "$@"; do
        ! is_crate "$word" || crates_to_test+=("$word")
    done
    if [ ${#crates_to_test[@]} -gt 0 ]; then
        [ ${#crates_to_test[@]} -eq $# ] || die "name either crates or filters: $*"
        mapfile -t packages < <(for word in "$@"; do echo "--package=$(crate_package "$word")"; done)
    fi
    prepare_tests
    clear_service_variables
    run cargo build "${cargo_verbosity[@]}" "${packages[@]}" --lib --bins --tests --locked || die "the tests do not compile"
    stage build "tests compiled"
    temporary_cluster
    output=$(mktemp)
    at_exit rm -f "$output"
    if [ ${#crates_to_test[@]} -gt 0 ]; then
        for word in "$@"; do run crate_tests "$output" "$word" || status=$?; done
    else
        run all_tests "$output" "$@" || status=$?
    fi
    stage tests "finished"
    count_tests "$output" "$status" "$@"
}

all_tests() {
    local output=$1 status=0
    shift
    cargo_test "$output" --workspace --lib --bins --tests -- "$@" || status=$?
    cargo_test "$output" --workspace --doc -- "$@" || status=$?
    return "$status"
}

# crate_tests OUTPUT CRATE: runs the tests of a crate, and those in tests/it that test it.
crate_tests() {
    local output=$1 package filters targets=(--lib --bins --tests) status=0
    package=--package=$(crate_package "$2")
    mapfile -t filters < <(crate_filters "$2")
    # The tests of this package are tests/it.
    [ "$2" != sealward ] || targets=(--lib --bins)
    cargo_test "$output" "$package" "${targets[@]}" -- || status=$?
    cargo_test "$output" "$package" --doc -- || status=$?
    [ ${#filters[@]} -eq 0 ] ||
        cargo_test "$output" --package=sealward --test it -- "${filters[@]}" || status=$?
    return "$status"
}

# cargo_test OUTPUT OPTION... -- [FILTER...]: also appends what it prints to a file.
cargo_test() {
    local output=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    [ ! -t 1 ] || export CARGO_TERM_COLOR=always
    # Most tests wait for other processes, so more threads than cores are useful.
    export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))}
    export NEXTEST_TEST_THREADS=${NEXTEST_TEST_THREADS:-$RUST_TEST_THREADS}
    if [[ " ${options[*]} " != *' --doc '* ]] && cargo nextest --version &>/dev/null; then
        cargo nextest run "${options[@]}" --locked --no-fail-fast --no-tests=pass "$@" 2>&1 | tee -a "$output"
    else
        cargo test "${options[@]}" --locked --no-fail-fast -- "$@" 2>&1 | tee -a "$output"
    fi
}

# Adds up the summaries of all test binaries, in the formats of cargo test and nextest.
count_tests() {
    local output=$1 status=$2 passed failed skipped
    shift 2
    read -r passed failed skipped < <(sed -E 's/\x1b\[[0-9;]*m//g' "$output" | awk '
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
        warn "a test binary ended without a summary"
        failed=1
    fi
    info "tested in $(since "$began_us")"
    if [ $# -gt 0 ]; then
        [ $((passed + failed)) -gt 0 ] || die "no test matches: $*"
        skipped=0
    fi
    if [ "$skipped" -gt 0 ]; then
        info "$passed passed, $failed failed, $skipped skipped"
    else
        info "$passed passed, $failed failed"
    fi
    sed -nE 's/^test (.+) \.\.\. FAILED$/failed: \1/p' "$output" | sort -u >&2
    return "$status"
}

# The long checks: each folder of tests/long and tests/outside with a script named run, except the
# bench.
long_checks() {
    local script
    for script in tests/{long,outside}/*/run; do
        basename "$(dirname "$script")"
    done | grep -vx bench | sort
}

# ./dev verify [NAME [ARGUMENT...]]: runs one long check, or all with their default arguments.
verify() {
    local names name failed=()
    mapfile -t names < <(long_checks)
    if [ $# -gt 0 ]; then
        [[ " ${names[*]} " == *" $1 "* ]] || die "unknown long check $1; known: ${names[*]}"
        names=("$1")
        shift
    fi
    [[ " ${names[*]} " != *" age "* ]] || require_packages "$packages_for_age"
    [[ " ${names[*]} " != *" bare "* ]] || require_packages "$packages_for_bare"
    [[ " ${names[*]} " != *" deb "* ]] || require_packages "$packages_for_deb"
    [[ " ${names[*]} " != *" image "* ]] || require_packages "$packages_for_image"
    [[ " ${names[*]} " != *" chart "* ]] || require_packages "$packages_for_chart"
    [[ " ${names[*]} " != *" kubernetes "* ]] || require_packages "$packages_for_kubernetes"
    [[ " ${names[*]} " != *" clients "* ]] || require_packages "$packages_for_clients"
    [[ " ${names[*]} " != *" generated-clients "* ]] || require_packages "$packages_for_generated_clients"
    [[ " ${names[*]} " != *" nimbus "* ]] || require_packages "$packages_for_nimbus"
    [[ " ${names[*]} " != *" terraform "* ]] || require_packages "$packages_for_terraform"
    [[ " ${names[*]} " != *" tokens "* ]] || require_packages "$packages_for_tokens"
    [[ " ${names[*]} " != *" transit "* ]] || require_packages "$packages_for_transit"
    [[ " ${names[*]} " != *" release "* ]] || require_packages "$packages_for_release"
    [[ " ${names[*]} " != *" screenshots "* ]] || require_packages "$packages_for_screenshots"
    case ${names[*]} in
        chart) ;;
        age | bare | clients | deb | generated-clients | image | nimbus | release | terraform | transit) require_cargo ;;
        *)
            prepare_tests
            temporary_cluster
            ;;
    esac
    clear_service_variables
    for name in "${names[@]}"; do
        run tests/*/"$name"/run "$@" || failed+=("$name")
        stage "$name" "finished"
    done
    [ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
}

# ./dev bench: runs on a cluster with the default durability.
bench() {
    require_cargo
    require_packages "$packages_to_bench"
    SEALWARD_TEST_SOFTHSM=$(softhsm_module)
    export SEALWARD_TEST_SOFTHSM
    prepare_kryoptic
    clear_service_variables
    temporary_settings=()
    # The commits of the measurements are on a disk.
    temporary_cluster /tmp
    run tests/long/bench/run "$@" || die "the bench failed"
}
