# shellcheck shell=bash
# The rooms: the crates that ./dev check ROOM and ./dev test ROOM select.

# Columns: room; package; the folders and files of tests/it that test it. Other tests of tests/it
# test several crates together, and run with ./dev test.
rooms='
formats    sealward-formats    canonical envelope
hsm        hsm
engine     sealward-engine     audit catalog db ledger ratelimit
http       sealward-http       admin credentials openapi runtime
dashboard  sealward-dashboard  dashboard
transit    sealward-transit    transit
client     sealward-client     client
kube-kms   sealward-kube-kms   kube_kms
age        age-plugin-sealward age_plugin
sealward   sealward            command documents packaging server
'

room_names() { awk 'NF { print $1 }' <<<"$rooms"; }

is_room() { room_names | grep -qxF -- "$1"; }

# Prints the package of a room.
room_package() { awk -v room="$1" '$1 == room { print $2 }' <<<"$rooms"; }

# Prints the filters that select the tests of a room in tests/it.
room_filters() { awk -v room="$1" '$1 == room { for (i = 3; i <= NF; i++) print $i "::" }' <<<"$rooms"; }
