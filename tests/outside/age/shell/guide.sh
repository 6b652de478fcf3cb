# shellcheck shell=bash disable=SC2154
# The examples of docs/age.md, as a reader runs them: in a clone beside the service of ./dev up, in one shell.

for entry in "$root"/*; do ln -s "$entry" .; done
ln -s "$SEALWARD_DEV_DIR" .dev
awk '
    /^```/ { open = $0 == "```sh run" || ($0 == "```sh by-hand" && section != "## Install"); next }
    /^## / { section = $0 }
    open
' docs/age.md >guide-of-age.sh
bash -euo pipefail guide-of-age.sh >output
diff output - <<'OUTPUT'
active
active
password: s3cret
PASSWORD=s3cret
apiVersion: v1
kind: Secret
metadata:
    name: shop
stringData:
    password: s3cret
active
password: s3cret
apiVersion: v1
kind: Secret
metadata:
    name: shop
stringData:
    password: s3cret
secret.age
OUTPUT
