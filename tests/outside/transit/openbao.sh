# shellcheck shell=bash
# The same keys and callers in OpenBao's development server: they show what a client expects there.

start_openbao() {
    local port mount
    port=$(free_port)
    export VAULT_ADDR=http://127.0.0.1:$port BAO_ADDR=http://127.0.0.1:$port
    bao server -dev -dev-no-store-token -dev-root-token-id=root -dev-listen-address="127.0.0.1:$port" >"$work/openbao.log" 2>&1 &
    children+=($!)
    wait_for "$VAULT_ADDR/v1/sys/health"
    as_root sys/mounts/transit '{"type": "transit"}'
    # Like Sealward, it creates no key when a client encrypts with an unknown name.
    as_root transit/config/keys '{"disable_upsert": true}'
    make_bao_key data aes256-gcm96
    make_bao_key shop aes256-gcm96
    make_bao_key unseal aes256-gcm96
    make_bao_key ec ecdsa-p256
    make_bao_key release ecdsa-p256
    make_bao_key rsa rsa-2048
    make_bao_key ed ed25519
    make_bao_key mac hmac ', "key_size": 32'

    as_root sys/policies/acl/app "$(jq -n '{policy: "path \"transit/*\" { capabilities = [\"create\", \"read\", \"update\"] }
        path \"transit/keys/*\" { capabilities = [\"read\", \"list\"] }"}')"
    as_root sys/auth/approle '{"type": "approle"}'
    as_root auth/approle/role/app '{"token_policies": "app"}'
    for mount in jwt kubernetes; do
        as_root "sys/auth/$mount" '{"type": "jwt"}'
        as_root "auth/$mount/config" "$(jq -Rs '{jwt_validation_pubkeys: .}' "$work/issuer/public.pem")"
        as_root "auth/$mount/role/app" "$(workload 1h)"
    done
    # bao-agent logs in with a token whose time to live is short.
    as_root auth/jwt/role/short "$(workload 5s)"
    VAULT_ROLE_ID=$(as_root auth/approle/role/app/role-id | jq -r .data.role_id)
    VAULT_SECRET_ID=$(as_root auth/approle/role/app/secret-id '{}' | jq -r .data.secret_id)
    VAULT_TOKEN=$(as_root auth/token/create '{"policies": ["app"], "period": "1h"}' | jq -r .auth.client_token)
    export VAULT_TOKEN VAULT_ROLE_ID VAULT_SECRET_ID BAO_TOKEN=$VAULT_TOKEN ADMIN_TOKEN=root ADMIN_NAMESPACE=
}

# as_root PATH [BODY]
as_root() {
    curl -sS --fail-with-body -H 'X-Vault-Token: root' "$VAULT_ADDR/v1/$1" ${2+-d "$2"}
}

# make_bao_key NAME TYPE [MEMBERS]
make_bao_key() { as_root "transit/keys/$1" "{\"type\": \"$2\"${3-}}"; }

# workload TTL: a role for the tokens of the issuer.
workload() {
    jq -n --arg ttl "$1" '{role_type: "jwt", user_claim: "sub", bound_audiences: "sealward", token_policies: "app",
        token_max_ttl: $ttl}'
}
