# shellcheck shell=bash
# ./dev check: scripts, form, lints, documentation, dependencies. All that is wrong, at once.

cargo_deny_version=0.20.2
faults=()

check() {
    need_cargo
    need_packages "$packages_to_check"
    examine shellcheck every_script
    need_linters
    examine dockerfile "$linters/bin/hadolint" Dockerfile
    examine compose "$linters/bin/check-jsonschema" --builtin-schema vendor.compose-spec compose.yaml
    examine fmt cargo fmt --all --check
    examine clippy cargo clippy "${cargo_noise[@]}" --workspace --all-targets --locked -- -D warnings
    examine doc env RUSTDOCFLAGS='-D warnings' cargo doc "${cargo_noise[@]}" \
        --workspace --no-deps --document-private-items --locked
    need_cargo_deny
    examine deny "$cargo_deny" --locked --log-level warn check bans licenses sources
    examine_advisories
    [ ${#faults[@]} -eq 0 ] || die "${faults[*]}: see above"
    say "checked in $(since "$began_us")"
}

# examine NAME COMMAND...
examine() {
    local name=$1
    shift
    if run "$@"; then
        stage "$name" "in order"
    else
        faults+=("$name")
        stage "$name" "NOT in order"
    fi
}

# Every script of the repository, by its first line, and the parts they source.
every_script() {
    local scripts
    mapfile -t scripts < <(grep -rlIE --exclude-dir={target,.git,.dev} '^#!.*\b(ba)?sh$' . | sort)
    shellcheck --external-sources --check-sourced --source-path=SCRIPTDIR "${scripts[@]}"
}

# Linters from PyPI, in an environment of their own, once for each set of versions.
need_linters() {
    linters=$cache/tools/linters-$(sha256sum <deploy/dev/linters.txt | head -c 16)
    [ ! -f "$linters/whole" ] || return 0
    run install_linters "$linters" || die "the linters could not be installed"
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

# The database of advisories is fetched anew each time; a machine may have no way to it.
examine_advisories() {
    local said
    said=$(mktemp)
    at_end rm -f "$said"
    if run "$cargo_deny" --locked check advisories &>"$said"; then
        stage advisories "none against a dependency"
    elif grep -q 'failed to fetch advisory database' "$said"; then
        stage advisories "NOT CHECKED: their database could not be reached"
    else
        cat "$said" >&2
        faults+=(advisories)
        stage advisories "NOT in order"
    fi
}

need_cargo_deny() {
    local folder=$cache/tools/cargo-deny-$cargo_deny_version
    cargo_deny=$folder/bin/cargo-deny
    [ ! -x "$cargo_deny" ] || return 0
    say "building cargo-deny $cargo_deny_version, once (some minutes)"
    run build_cargo_deny "$folder" || die "cargo-deny could not be built"
    stage cargo-deny "built into $folder"
}

# One at a time, and whole or not at all.
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
