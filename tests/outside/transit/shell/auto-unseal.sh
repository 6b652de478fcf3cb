# shellcheck shell=bash
# OpenBao unseals itself with Transit: at its first start, after a restart, and after a rotation of the key.

port=$(free_port)
local_address=http://127.0.0.1:$port
mkdir storage
cat >settings.hcl <<HCL
api_addr     = "$local_address"
cluster_addr = "http://127.0.0.1:$(free_port)"
storage "raft" {
  path    = "$PWD/storage"
  node_id = "one"
}
listener "tcp" {
  address     = "127.0.0.1:$port"
  tls_disable = true
}
seal "transit" {
  address    = "$BAO_ADDR"
  token      = "$BAO_TOKEN"
  mount_path = "transit/"
  key_name   = "unseal"
}
HCL

start() {
    bao server -config=settings.hcl >>server.log 2>&1 &
    server=$!
    children+=("$server")
    wait_for "$local_address/v1/sys/seal-status"
}
stop() {
    kill "$server"
    wait "$server" || true
}
unsealed() { [ "$(curl -sS "$local_address/v1/sys/seal-status" | jq .sealed)" = false ]; }
at_home() { BAO_ADDR=$local_address BAO_TOKEN=$root bao "$@"; }

start
root=$(BAO_ADDR=$local_address bao operator init -format=json -recovery-shares=1 -recovery-threshold=1 | jq -r .root_token)
wait_until unsealed
at_home secrets enable -version=1 kv
at_home write kv/shop password=s3cret
for change in restart rotate restart; do
    stop
    [ "$change" = restart ] || as_administrator write -force transit/keys/unseal/rotate
    start
    wait_until unsealed
    [ "$(at_home read -field=password kv/shop)" = s3cret ]
done
stop
