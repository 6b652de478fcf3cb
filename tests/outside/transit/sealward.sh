# shellcheck shell=bash
# A service of ./dev up with the keys and callers of the scenarios.

start_sealward() {
    local service
    export SEALWARD_DEV_DIR=$work/service
    SEALWARD_AUTH_ISSUERS=$(
        cat <<TOML
[{ issuer = "https://issuer.example.com", audience = "sealward", algorithms = ["ES256"],
   jwks_url = "$(<"$work/issuer/url")", ca = "$work/issuer/certificate.pem" }]
TOML
    )
    export SEALWARD_AUTH_ISSUERS
    ./dev up --detach
    # shellcheck disable=SC1091 # written by ./dev up
    . "$work/service/env"

    service=$(api POST /admin/services '{"name": "transit"}' | jq -r .id)
    make_key data data AES-256
    make_key shop data AES-256
    make_key unseal data AES-256
    make_key ec sig P-256
    make_key release sig P-256
    make_key rsa sig RSA-2048
    make_key ed sig Ed25519
    make_key mac sig HMAC-SHA256
    api POST /admin/identities "{\"name\": \"app\", \"serviceId\": \"$service\",
        \"match\": {\"issuer\": \"https://issuer.example.com\", \"subject\": \"app\"}}"

    VAULT_TOKEN=$(api POST /admin/api-keys "{\"name\": \"app\", \"type\": \"test\", \"serviceId\": \"$service\"}" | jq -r .secret)
    export VAULT_ADDR=$SEALWARD_URL BAO_ADDR=$SEALWARD_URL VAULT_TOKEN BAO_TOKEN=$VAULT_TOKEN
    export VAULT_ROLE_ID=$service VAULT_SECRET_ID=$VAULT_TOKEN
    export ADMIN_TOKEN=$SEALWARD_ADMIN_KEY ADMIN_NAMESPACE=$service
}

# make_key NAME USE ALGORITHM
make_key() {
    api POST /admin/keys "{\"serviceId\": \"$service\", \"name\": \"$1\", \"use\": \"$2\", \"algorithm\": \"$3\", \"generate\": true}"
}

stop_sealward() { ./dev down --purge >/dev/null || true; }
