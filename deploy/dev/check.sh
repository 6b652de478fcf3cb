# shellcheck shell=bash
# ./dev check: runs every check, or those of one crate, and reports all failures at the end.

cargo_deny_version=0.20.2
failed_checks=()

# ./dev check [CRATE...]
check() {
    local crate
    require_cargo
    if [ $# -gt 0 ]; then
        for crate in "$@"; do
            is_crate "$crate" || die "unknown crate $crate; known: $(crate_names | xargs)"
        done
        require_packages "$packages_to_build"
        for crate in "$@"; do check_crates "--package=$(crate_package "$crate")"; done
    else
        check_everything
    fi
    [ ${#failed_checks[@]} -eq 0 ] || die "failed: ${failed_checks[*]}"
    info "checked in $(since "$began_us")"
}

check_everything() {
    require_packages "$packages_to_check"
    run_check shellcheck every_script
    run_check migrations released_migrations
    require_linters
    run_check dockerfile "$linters/bin/hadolint" Dockerfile
    run_check compose "$linters/bin/check-jsonschema" --builtin-schema vendor.compose-spec compose.yaml
    check_crates --workspace
    # The fuzz targets have a workspace of their own, which the tests do not build.
    run_check fuzz-lock quietly cargo metadata --locked --format-version 1 --manifest-path tests/long/fuzz/Cargo.toml
    require_cargo_deny
    run_check deny "$cargo_deny" --locked --log-level warn check bans licenses sources
    check_advisories
    run_check vex quietly deploy/vex
}

# check_crates SELECTION: --workspace, or one --package.
check_crates() {
    run_check fmt cargo fmt "${1/--workspace/--all}" --check
    run_check clippy cargo clippy "${cargo_verbosity[@]}" "$1" --all-targets --no-deps --locked -- -D warnings
    run_check doc env RUSTDOCFLAGS='-D warnings' cargo doc "${cargo_verbosity[@]}" \
        "$1" --no-deps --document-private-items --locked
}

# run_check NAME COMMAND...
run_check() {
    local name=$1
    shift
    if run "$@"; then
        stage "$name" "passed"
    else
        failed_checks+=("$name")
        stage "$name" "FAILED"
    fi
}

# Finds every script of the repository by its first line, and checks it with the files it sources.
every_script() {
    local scripts
    mapfile -t scripts < <(grep -rlIE --exclude-dir={target,node_modules,.git,.dev} '^#!.*\b(ba)?sh$' . | sort)
    shellcheck --external-sources --check-sourced --source-path=SCRIPTDIR "${scripts[@]}"
}

# The migrations of a release never change.
released_migrations() {
    local tag
    for tag in $(git tag --list 'v*'); do
        [[ ! $tag =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
            git diff --exit-code --no-renames --diff-filter=a --stat "$tag" -- 'migrations/*.sql' || return
    done
}

# Installs linters from PyPI in a virtual environment, once for each set of versions.
require_linters() {
    linters=$cache/tools/linters-$(sha256sum <deploy/dev/linters.txt | head -c 16)
    [ ! -f "$linters/whole" ] || return 0
    run install_linters "$linters" || die "cannot install the linters"
    stage linters "installed into $linters"
}

install_linters() {
    local folder=$1
    mkdir -p "$cache/tools"
    exec 8>"$cache/tools/lock"
    flock 8
    [ ! -f "$folder/whole" ] || return 0
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check -r deploy/dev/linters.txt
    touch "$folder/whole"
}

# cargo-deny downloads the advisory database each time; a machine may be offline.
check_advisories() {
    local output
    output=$(mktemp)
    at_exit rm -f "$output"
    if run "$cargo_deny" --locked check advisories &>"$output"; then
        stage advisories "passed"
    elif grep -q 'failed to fetch advisory database' "$output"; then
        stage advisories "NOT CHECKED: the database is unreachable"
    else
        cat "$output" >&2
        failed_checks+=(advisories)
        stage advisories "FAILED"
    fi
}

require_cargo_deny() {
    local folder=$cache/tools/cargo-deny-$cargo_deny_version
    cargo_deny=$folder/bin/cargo-deny
    [ ! -x "$cargo_deny" ] || return 0
    info "building cargo-deny $cargo_deny_version (once, a few minutes)"
    run build_cargo_deny "$folder" || die "cannot build cargo-deny"
    stage cargo-deny "built into $folder"
}

# A lock allows one build at a time. The final rename makes the installation atomic.
build_cargo_deny() {
    local folder=$1 building=$1.building
    mkdir -p "$cache/tools"
    exec 8>"$cache/tools/lock"
    flock 8
    [ ! -x "$folder/bin/cargo-deny" ] || return 0
    rm -rf "$building"
    (cd / && CARGO_TARGET_DIR=$building/target cargo install --locked --quiet \
        --version "$cargo_deny_version" --root "$building" cargo-deny 8>&-)
    rm -rf "$building/target" "$folder"
    mv "$building" "$folder"
}
