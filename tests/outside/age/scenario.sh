# shellcheck shell=bash disable=SC2154
# What the scenarios in shell/ use: a policy for files, a user who can open them, and what is refused.

# shellcheck disable=SC1091 # written by ./dev up
. "$SEALWARD_DEV_DIR/env"
# age starts the plugin with the address in the identity.
export -n SEALWARD_URL
unset SEALWARD_API_KEY
# A process that was stopped only obeys this signal.
trap '[ ${#children[@]} -eq 0 ] || kill -KILL "${children[@]}" 2>/dev/null || true' EXIT

# make_destination NAME: a service with a key, and a policy of this number. Sets `destination`.
make_destination() {
    destination=$(api POST /admin/services "{\"name\": \"$1\"}" | jq -r .id)
    rotate >rotated.json
    api POST /admin/policies "{\"policyNumber\": \"$1\", \"name\": \"$1\", \"destinationServiceId\": \"$destination\",
        \"alg\": \"ECDH-ES+A256KW\", \"allowedServiceIds\": [\"$caller\"]}" >policy.json
}

# A new key of the destination becomes active.
rotate() {
    api POST /admin/keys "{\"serviceId\": \"$destination\", \"name\": \"files\", \"use\": \"enc\", \"algorithm\": \"P-256\", \"generate\": true}"
}

make_api_key() { api POST /admin/api-keys "{\"name\": \"$1\", \"type\": \"test\", \"serviceId\": \"$caller\"}"; }

change_policy() { api PUT "/admin/policies/$policy" "$1" >/dev/null; }

# freeze STATUS: frozen or active.
freeze() { api PUT "/admin/services/$destination" "{\"status\": \"$1\"}" >/dev/null; }

# The files that were opened, in the audit log. Each is a call of /unprotect.
openings() {
    api GET "/admin/audit?policyNumber=$policy&outcome=done&limit=200" |
        jq -e '.items | map(select(.endpoint == "/api/v1/unprotect")) | length'
}

# The policy has the name of the client. The user has the API key of a service that the policy allows.
policy=${client//[^A-Za-z0-9]/-}
caller=$(api POST /admin/services "{\"name\": \"caller of $policy\"}" | jq -r .id)
make_destination "$policy"
make_api_key "$policy" >api-key.json
SEALWARD_API_KEY=$(jq -r .secret api-key.json)
export SEALWARD_API_KEY

age-plugin-sealward identity --url "$SEALWARD_URL" --policy "$policy" >identity.txt
recipient=$(age-plugin-sealward recipient --url "$SEALWARD_URL" --policy "$policy")
[ "$recipient" = "$(sed -n 's/^# recipient: //p' identity.txt)" ]
# opened NUMBER: so many files were opened.
opened() {
    local found
    found=$(openings)
    [ "$found" = "$1" ] || fails "$found files were opened, not $1"
}

# says TEXT COMMAND...: the command must fail with the text in one line.
says() { refuses_in_one_line "$1" whole_lines "${@:2}"; }

# whole_lines COMMAND...: SOPS breaks the line of the plugin at 60 characters.
whole_lines() {
    local output status=0
    output=$("$@" 2>&1) || status=$?
    echo "${output//$'\n      | '/ }"
    return "$status"
}

# refusals COMMAND...: what a user reads if the command, which opens a file, is refused.
refusals() {
    SEALWARD_API_KEY=sk_test_wrong says 'AUTHENTICATION_FAILED' "$@"
    SEALWARD_API_KEY='' says 'set SEALWARD_API_KEY' "$@"
    SEALWARD_URL=https://sealward.example.com says 'SEALWARD_URL is another service' "$@"
    SEALWARD_API_KEY=$(revoked_key) says 'AUTHENTICATION_FAILED' "$@"
    SEALWARD_API_KEY=$(stranger_key) says 'OPERATION_NOT_ALLOWED' "$@"
    freeze frozen
    says 'SERVICE_FROZEN' "$@"
    freeze active
}

# The secret of an API key that was revoked.
revoked_key() {
    local made
    made=$(make_api_key revoked)
    api DELETE "/admin/api-keys/$(jq -r .id <<<"$made")"
    jq -r .secret <<<"$made"
}

# The API key of a service that the policy does not allow.
stranger_key() {
    local caller
    caller=$(api POST /admin/services "{\"name\": \"stranger $RANDOM\"}" | jq -r .id)
    make_api_key stranger | jq -r .secret
}

# unreachable COMMAND...: what a user reads if the service of far.txt does not answer, and if it is not there.
# far.txt is the identity with the address of a forwarder.
unreachable() {
    local port
    port=$(free_port)
    python3 "$sources/forward.py" "$port" "${SEALWARD_URL##*:}" &
    children+=($!)
    wait_for "http://127.0.0.1:$port/api/v1/health"
    age-plugin-sealward identity --url "http://127.0.0.1:$port" --policy "$policy" >far.txt
    "$@" >opened-far
    kill -STOP "${children[-1]}"
    says "http://127.0.0.1:$port, policy $policy: no answer within 10 s" "$@"
    kill -KILL "${children[-1]}"
    wait "${children[-1]}" 2>/dev/null || true
    says "http://127.0.0.1:$port, policy $policy: cannot reach Sealward" "$@"
}
