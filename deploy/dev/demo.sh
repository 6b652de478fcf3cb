# shellcheck shell=bash
# The demo resources that ./dev up creates once, and a sample round trip.

demo() {
    read_env
    demo_admin_key
    demo_resources
    write_env
    stage demo "service demo, policy DEMO, a key, an API key"
    round_trip
}

# Reads the environment file if it exists. This script wrote it, so sourcing is safe.
read_env() {
    SEALWARD_ADMIN_KEY='' SEALWARD_API_KEY=''
    # shellcheck disable=SC1091 # written by this script
    [ ! -f "$state/env" ] || . "$state/env"
    SEALWARD_POLICY=DEMO
}

# Writes the variables for a shell. It exports settings and the address; the keys stay in the shell.
write_env() {
    {
        printf 'export SEALWARD_CONFIG=%q SOFTHSM2_CONF=%q SEALWARD_URL=%q\n' \
            "$state/sealward.toml" "$state/token/softhsm2.conf" "$url"
        # shellcheck disable=SC2016 # the reader's shell expands it
        printf 'PATH=%q:$PATH\n' "$(dirname "$program")"
        printf '%s=%s\n' SEALWARD_ADMIN_KEY "$SEALWARD_ADMIN_KEY" \
            SEALWARD_API_KEY "$SEALWARD_API_KEY" SEALWARD_POLICY "$SEALWARD_POLICY"
    } | write_privately env
}

# admin METHOD PATH [BODY]: prints the response of the management API, or ends with its error.
admin() {
    local body=() answer
    [ $# -lt 3 ] || body=(-H 'Content-Type: application/json' -d "$3")
    answer=$(curl -sS -w '\n%{http_code}' -X "$1" -H @<(bearer "$SEALWARD_ADMIN_KEY") "${body[@]}" "$url$2")
    case ${answer##*$'\n'} in
        2??) printf '%s' "${answer%$'\n'*}" ;;
        *) die "$1 $2 failed:" "$answer" ;;
    esac
}

bearer() { printf 'Authorization: Bearer %s\n' "$1"; }

status_of() { curl -s -o /dev/null -w '%{http_code}' -H @<(bearer "$1") "$url$2"; }

key_works() { [ -n "$1" ] && [ "$(status_of "$1" "$2")" != 401 ]; }

demo_admin_key() {
    key_works "$SEALWARD_ADMIN_KEY" '/admin/services?limit=1' && return 0
    local made
    made=$("$program" api-key create --type admin --name dev --json --config "$state/sealward.toml")
    SEALWARD_ADMIN_KEY=$(jq -r .secret <<<"$made")
    revoke_others dev "$(jq -r .id <<<"$made")"
}

# revoke_others NAME KEPT: revokes keys of an interrupted run, whose secrets are lost.
revoke_others() {
    local id
    for id in $(admin GET '/admin/api-keys?limit=200' |
        jq -r --arg name "$1" --arg kept "$2" \
            '.items[] | select(.name == $name and .status == "active" and .id != $kept) | .id'); do
        admin DELETE "/admin/api-keys/$id"
    done
}

# Creates only missing resources: it completes an interrupted run and keeps later changes.
demo_resources() {
    local service made
    service=$(admin GET '/admin/services?name=demo' | jq -r '.items[] | select(.name == "demo") | .id')
    [ -n "$service" ] || service=$(admin POST /admin/services '{"name": "demo"}' | jq -r .id)
    [ -n "$(admin GET "/admin/keys?serviceId=$service&use=enc" | jq -r '.items[].id')" ] ||
        admin POST /admin/keys "$(jq -n --arg service "$service" \
            '{serviceId: $service, name: "demo", generate: true}')" >/dev/null
    [ "$(status_of "$SEALWARD_ADMIN_KEY" "/admin/policies/$SEALWARD_POLICY")" = 200 ] ||
        admin POST /admin/policies "$(jq -n --arg service "$service" --arg number "$SEALWARD_POLICY" \
            '{policyNumber: $number, name: "demo", destinationServiceId: $service,
              allowedServiceIds: [$service]}')" >/dev/null
    key_works "$SEALWARD_API_KEY" /api/v1/health && return 0
    made=$(admin POST /admin/api-keys "$(jq -n --arg service "$service" --arg number "$SEALWARD_POLICY" \
        '{name: "demo", type: "test", serviceId: $service, policyNumber: $number}')")
    SEALWARD_API_KEY=$(jq -r .secret <<<"$made")
    revoke_others demo "$(jq -r .id <<<"$made")"
}

round_trip() {
    local answer
    info
    info "\$ . $(display_path env)"
    # shellcheck disable=SC1091 # written by this script
    . "$state/env"
    # shellcheck disable=SC2016 # printed as a reader would type it
    show 'curl -s "$SEALWARD_URL/api/v1/protect" -H "Authorization: Bearer $SEALWARD_API_KEY" \
    -H "Content-Type: application/json" \
    -d '"'"'{"payload": {"card": "4111 1111 1111 1111", "amount": 12.50}}'"'"' | tee '"$(display_path envelope.json)"
    # shellcheck disable=SC2016
    show 'jq "{jwe}" '"$(display_path envelope.json)"' | curl -s "$SEALWARD_URL/api/v1/unprotect" \
    -H "Authorization: Bearer $SEALWARD_API_KEY" -H "Content-Type: application/json" -d @-'
    jq -e 'has("payload")' <<<"$answer" >/dev/null ||
        warn "the round trip did not return the payload; did the demo resources change?"
}

# Prints a command, runs it, and prints its output.
show() {
    printf '$ %s\n' "$1"
    answer=$(eval "$1")
    [ -z "$answer" ] || printf '%s\n\n' "$answer"
}
