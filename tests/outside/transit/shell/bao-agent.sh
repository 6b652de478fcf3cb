# shellcheck shell=bash
# The agent of OpenBao logs in with AppRole and as a workload, and adds its token to requests of applications.

port=$(free_port)

# agent NAME: the standard input has its method.
agent() {
    cat - <(listener) >"$1.hcl"
    env -u BAO_TOKEN -u VAULT_TOKEN bao agent -config="$1.hcl" >"$1.log" 2>&1 &
    agent=$!
    children+=("$agent")
    wait_until encrypts
}
listener() {
    cat <<HCL
vault {
  address = "$BAO_ADDR"
}
api_proxy {
  use_auto_auth_token = true
}
listener "tcp" {
  address     = "127.0.0.1:$port"
  tls_disable = true
}
HCL
}
encrypts() {
    curl -sf "http://127.0.0.1:$port/v1/transit/encrypt/data" -d '{"plaintext": "Y2FyZA=="}' |
        jq --exit-status '.data.ciphertext | startswith("vault:v")' >/dev/null
}
stop() {
    kill "$agent"
    wait "$agent" || true
}

printf %s "$VAULT_ROLE_ID" >role
printf %s "$VAULT_SECRET_ID" >secret
agent approle <<HCL
auto_auth {
  method "approle" {
    config = {
      role_id_file_path                   = "$PWD/role"
      secret_id_file_path                 = "$PWD/secret"
      remove_secret_id_file_after_reading = false
    }
  }
  sink "file" {
    config = { path = "$PWD/approle.token" }
  }
}
HCL
stop

# The first token of the workload ends after some seconds: the agent logs in again.
$TRANSIT_SHORT_TOKEN >workload
agent jwt <<HCL
auto_auth {
  method "jwt" {
    config = {
      path                    = "$PWD/workload"
      role                    = "short"
      remove_jwt_after_reading = false
    }
  }
  sink "file" {
    config = { path = "$PWD/jwt.token" }
  }
}
HCL
first=$(<jwt.token)
printf %s "$VAULT_JWT" >workload
replaced() { [ "$(<jwt.token)" != "$first" ]; }
wait_until replaced
encrypts
stop
