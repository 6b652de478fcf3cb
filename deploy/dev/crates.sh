# shellcheck shell=bash
# The crates that ./dev check CRATE and ./dev test CRATE select.

# Columns: crate; package; the folders and files of tests/it that test it. Other tests of tests/it
# test several crates together, and run with ./dev test.
crates='
formats    sealward-formats    canonical envelope
hsm        hsm
engine     sealward-engine     audit catalog db ledger ratelimit rows faults/jobs
http       sealward-http       admin credentials openapi runtime
dashboard  sealward-dashboard  dashboard
transit    sealward-transit    transit
client     sealward-client     client
kube-kms   sealward-kube-kms   kube_kms
age        age-plugin-sealward age_plugin
sealward   sealward            command documents packaging server
'

crate_names() { awk 'NF { print $1 }' <<<"$crates"; }

is_crate() { crate_names | grep -qxF -- "$1"; }

# Prints the package of a crate.
crate_package() { awk -v crate="$1" '$1 == crate { print $2 }' <<<"$crates"; }

# Prints the filters that select the tests of a crate in tests/it.
crate_filters() { awk -v crate="$1" '$1 == crate { for (i = 3; i <= NF; i++) { gsub("/", "::", $i); print $i "::" } }' <<<"$crates"; }
