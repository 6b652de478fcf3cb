# shellcheck shell=bash
# Follows docs/terraform.md as a new user does, in a copy of what it needs and without the settings of this test.

(cd "$root" && git ls-files -z -- clients Cargo.toml docs/terraform.md | xargs -0 cp --parents -t "$OLDPWD")
mkdir .dev
cp "$work/service/env" .dev/env
unset TF_CLI_CONFIG_FILE SEALWARD_URL SEALWARD_ADMIN_KEY
# The modules of Go are not in the home of the new user, because they are read-only.
GOMODCACHE=$(go env GOMODCACHE)
GOCACHE=$(go env GOCACHE)
HOME=$PWD
export GOMODCACHE GOCACHE HOME
bash -euo pipefail <(blocks docs/terraform.md 'Install the provider')
awk '/^```hcl$/ { inside = 1; next } /^```$/ { inside = 0 } inside' docs/terraform.md >infrastructure/main.tf
bash -euo pipefail <(blocks docs/terraform.md 'Apply a configuration') | tee guide.log
grep '"jwe"' guide.log
lacks "$(<infrastructure/orders.key)" infrastructure/terraform.tfstate
# shellcheck disable=SC1091 # written by ./dev up
. .dev/env
export SEALWARD_URL SEALWARD_ADMIN_KEY
cd infrastructure
plans_nothing
