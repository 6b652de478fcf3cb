# shellcheck shell=bash
# The Debian packages that each command needs. Missing packages are installed where permitted.

# Columns: package; a command or a path pattern by which this script detects it; purpose.
packages_to_build='
build-essential  cc                                     links Rust programs, compiles the C of aws-lc
jq               jq                                     reads the JSON of cargo and of the service
'
packages_to_run="$packages_to_build
curl             curl                                   checks readiness, sends the sample requests
postgresql       initdb                                 the database
softhsm2         /usr/lib/softhsm/libsofthsm2.so        a PKCS#11 token in software
"
packages_for_provider='
nodejs           node                                   runs the OpenID Connect provider of up --oidc
npm              npm                                    installs it
openssl          openssl                                makes its certificate
'
packages_for_kryoptic='
libclang-dev     /usr/lib/llvm-*/lib/libclang.so        bindgen for the OpenSSL in kryoptic
libsqlite3-dev   /usr/include/sqlite3.h                 object store of kryoptic
perl             perl                                   configures the OpenSSL in kryoptic
pkg-config       pkg-config                             finds SQLite for kryoptic
'
packages_to_test="$packages_to_run$packages_for_kryoptic
chromium         chromium                               runs the dashboard tests
chromium-driver  chromedriver                           controls Chromium
faketime         /usr/lib/*/faketime/libfaketime.so.1   changes the clock of the service
golang-go        go                                     builds the verifier of audit logs
haproxy          /usr/sbin/haproxy                      load balancer of docs/operations.md
nodejs           node                                   runs jose and html-validate
npm              npm                                    installs jose, axe-core and html-validate
redis-server     redis-server                           shared rate limits
rsyslog          rsyslogd                               syslog collector
rsyslog-gnutls   /usr/lib/*/rsyslog/lmnsd_gtls.so       its TLS
python3-venv     /usr/lib/python3*/ensurepip            environment for jwcrypto and joserfc
valgrind         valgrind                               counts instructions
"
packages_to_bench="$packages_to_run$packages_for_kryoptic
nghttp2-client   h2load                                 load generator
"
packages_for_tokens='
dbus             dbus-daemon                            the bus of tpm2-abrmd
libnss3          /usr/lib/*/libsoftokn3.so              a token in software
libnss3-tools    certutil                               initializes it
libtpm2-pkcs11-1 /usr/lib/*/pkcs11/libtpm2_pkcs11.so    offers a TPM as a token
libtpm2-pkcs11-tools tpm2_ptool                         initializes it
opencryptoki     pkcsslotd                              a token in software
opensc           pkcs11-tool                            makes keys in tokens
p11-kit          p11-kit                                offers a token on a socket
swtpm            swtpm                                  a TPM in software
tpm2-abrmd       tpm2-abrmd                             its resource manager
'
packages_for_age="$packages_to_run
python3          python3                                the forwarder of the check
"
packages_for_bare='
debootstrap      debootstrap                            creates minimal Debian systems
git              git                                    clones the repository into them
'
packages_for_deb="$packages_to_build
debootstrap      debootstrap                            creates minimal Debian systems
iproute2         ip                                     their loopback interface
"
packages_for_image="$packages_to_run
buildah          buildah                                builds the image
debootstrap      debootstrap                            creates its base images
iproute2         ip                                     the loopback interface of its network
podman           podman                                 runs the image
runc             runc                                   runs it without a writable cgroup
"
packages_for_chart='
diffutils        diff                                   shows differences of the manifest
python3-venv     /usr/lib/python3*/ensurepip            environment for kubernetes-validate
'
packages_for_kubernetes="$packages_to_run
$packages_for_chart
etcd-client      etcdctl                                reads what the API server stored
etcd-server      etcd                                   store of the API server
openssl          openssl                                its key, and certificates
systemd          systemd-analyze                        checks the unit of the KMS plugin
"
packages_for_clients="$packages_to_run
default-jdk-headless  javac                             compiles and tests the Java client
golang-go        go                                     tests the Go client, or downloads the Go that does
maven            mvn                                    packages the Java client
nodejs           node                                   builds the TypeScript client
npm              npm                                    installs its tools, and Node.js 18 for its tests
openssl          openssl                                certificates of the scripted server
python3-venv     /usr/lib/python3*/ensurepip            environment for the Python client
"
packages_for_release="$packages_for_image$packages_for_clients
git              git                                    clones the repository, verifies its tag
gpg              gpg                                    signs and verifies checksums
gpg-agent        gpg-agent                              keeps the key of the check
"
packages_for_generated_clients="$packages_to_run
default-jdk-headless  javac                             runs openapi-generator, compiles its Java clients
maven            mvn                                    installs openapi-generator, builds its Java clients
nodejs           node                                   runs Spectral, Redocly and the TypeScript clients
npm              npm                                    installs them
python3-venv     /usr/lib/python3*/ensurepip            environment for the Python clients
"
packages_for_nimbus="$packages_to_run
default-jdk-headless  javac                             compiles and runs the Java program of tests/outside/nimbus
maven            mvn                                    downloads Nimbus JOSE+JWT
"
packages_for_screenshots='
pngquant         pngquant                               makes the screenshots small
'
packages_for_terraform="$packages_to_run
faketime         /usr/lib/*/faketime/libfaketime.so.1   lets a key rotate
openssl          openssl                                makes the key of a partner
"
packages_for_transit="$packages_to_run
default-jdk-headless  javac                             compiles and runs the Java clients
maven            mvn                                    installs them
nodejs           node                                   runs the JavaScript clients
npm              npm                                    installs them
openssl          openssl                                certificate of the issuer of tokens
python3-venv     /usr/lib/python3*/ensurepip            environment for the Python clients
"
packages_to_check="$packages_to_build
python3-venv     /usr/lib/python3*/ensurepip            environment for hadolint and check-jsonschema
shellcheck       shellcheck                             checks shell scripts
"

package_is_there() {
    case $1 in
        initdb) postgres_programs >/dev/null ;;
        chromium) chromium_program >/dev/null ;;
        /*) compgen -G "$1" >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

# Chromium, or a browser based on it.
chromium_program() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

missing_packages() {
    local package sign _why
    while read -r package sign _why; do
        [ -z "$package" ] || package_is_there "$sign" || printf '%s\n' "$package"
    done <<<"$1"
}

# require_packages LIST: installs missing packages, or prints the command that does.
require_packages() {
    local missing as_root=()
    mapfile -t missing < <(missing_packages "$1")
    if [ ${#missing[@]} -eq 0 ]; then
        stage packages "present"
        return 0
    fi
    command -v apt-get >/dev/null || die "missing: ${missing[*]} (Debian package names)" \
        "apt-get was not found: install them with this system's package manager, then try again"
    if [ "$EUID" -ne 0 ]; then
        sudo -n true 2>/dev/null || die "missing: ${missing[*]}; run this, then try again:" \
            "    sudo apt-get update && sudo apt-get install -y ${missing[*]}"
        as_root=(sudo -n)
    fi
    info "installing ${missing[*]}"
    run quietly "${as_root[@]}" apt-get update ||
        warn "apt-get update failed"
    run quietly "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "${missing[@]}" ||
        die "cannot install: ${missing[*]}"
    mapfile -t missing < <(missing_packages "$1")
    [ ${#missing[@]} -eq 0 ] || die "installed but not found: ${missing[*]}"
    stage packages "installed"
}
