# shellcheck shell=bash
# The Debian packages each command needs: found by what they bring, installed where allowed.

# package, the sign that it is there (a command, or a path with wildcards), and why.
packages_to_build='
build-essential  cc                                     links Rust programs, compiles the C of aws-lc
jq               jq                                     reads the JSON of cargo and of the service
'
packages_to_run="$packages_to_build
curl             curl                                   asks for readiness, shows the round trip
postgresql       initdb                                 the database
softhsm2         /usr/lib/softhsm/libsofthsm2.so        a PKCS#11 token in software
"
packages_to_test="$packages_to_run
chromium         chromium                               the dashboard is clicked through in it
chromium-driver  chromedriver                           drives it
faketime         /usr/lib/*/faketime/libfaketime.so.1   moves the clock of the service
haproxy          /usr/sbin/haproxy                      balances the load of docs/operations.md
libclang-dev     /usr/lib/llvm-*/lib/libclang.so        bindgen, for the OpenSSL in kryoptic
libsqlite3-dev   /usr/include/sqlite3.h                 kryoptic keeps its objects there
nodejs           node                                   runs jose, for envelopes, and html-validate, for pages
npm              npm                                    fetches jose, axe-core and html-validate
perl             perl                                   configures the OpenSSL in kryoptic
pkg-config       pkg-config                             finds SQLite for kryoptic
redis-server     redis-server                           the rate limits that instances share
python3-venv     /usr/lib/python3*/ensurepip            jwcrypto and joserfc, likewise
valgrind         valgrind                               counts instructions
"
packages_to_bench="$packages_to_run
nghttp2-client   h2load                                 sends the load, over HTTP/1.1 and HTTP/2
"
packages_to_check="$packages_to_build
python3-venv     /usr/lib/python3*/ensurepip            hadolint and check-jsonschema
shellcheck       shellcheck                             reads these scripts
"

package_is_there() {
    case $1 in
        initdb) postgres_programs >/dev/null ;;
        chromium) chromium_program >/dev/null ;;
        /*) compgen -G "$1" >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

# Chromium, or the browser that is made of it.
chromium_program() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

missing_packages() {
    local package sign _why
    while read -r package sign _why; do
        [ -z "$package" ] || package_is_there "$sign" || printf '%s\n' "$package"
    done <<<"$1"
}

# need_packages LIST: installs what is missing, or says the one command to run.
need_packages() {
    local missing as_root=()
    mapfile -t missing < <(missing_packages "$1")
    if [ ${#missing[@]} -eq 0 ]; then
        stage packages "all there"
        return 0
    fi
    command -v apt-get >/dev/null || die "missing: ${missing[*]} (Debian's names)" \
        "there is no apt-get here: install them in this machine's own way, then try again"
    if [ "$EUID" -ne 0 ]; then
        sudo -n true 2>/dev/null || die "missing: ${missing[*]}; run this, then try again:" \
            "    sudo apt-get update && sudo apt-get install -y ${missing[*]}"
        as_root=(sudo -n)
    fi
    say "installing ${missing[*]}"
    run quietly "${as_root[@]}" apt-get update ||
        warn "the list of packages could not be brought up to date"
    run quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "${missing[@]}" ||
        die "these packages could not be installed: ${missing[*]}"
    mapfile -t missing < <(missing_packages "$1")
    [ ${#missing[@]} -eq 0 ] || die "installed, but still not found: ${missing[*]}"
    stage packages "installed"
}
