# shellcheck shell=bash
# What the scenarios in shell/ use. Each runs in an empty folder with the programs of the clients in PATH.

. "$sources/../scenario.sh"

# bao as the administrator of the keys.
as_administrator() { BAO_TOKEN=$ADMIN_TOKEN BAO_NAMESPACE=$ADMIN_NAMESPACE bao "$@"; }
