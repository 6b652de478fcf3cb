# shellcheck shell=bash
# What ./dev up makes once to have something to try, and one round trip with it.

demo() {
    read_env
    demo_admin_key
    demo_world
    write_env
    stage demo "service demo, policy DEMO, a key, an API key"
    round_trip
}

# The environment file's values, if it is there; they are ours, so sourcing is safe.
read_env() {
    SEALWARD_ADMIN_KEY='' SEALWARD_API_KEY=''
    # shellcheck disable=SC1091 # written by this script
    [ ! -f "$state/env" ] || . "$state/env"
    SEALWARD_POLICY=DEMO
}

# What a person's shell needs. Settings and address are for every program; keys stay in the shell.
write_env() {
    {
        printf 'export SEALWARD_CONFIG=%q SOFTHSM2_CONF=%q SEALWARD_URL=%q\n' \
            "$state/sealward.toml" "$state/token/softhsm2.conf" "$url"
        # shellcheck disable=SC2016 # expanded by the person's shell
        printf 'PATH=%q:$PATH\n' "$(dirname "$program")"
        printf '%s=%s\n' SEALWARD_ADMIN_KEY "$SEALWARD_ADMIN_KEY" \
            SEALWARD_API_KEY "$SEALWARD_API_KEY" SEALWARD_POLICY "$SEALWARD_POLICY"
    } | write_privately env
}

# admin METHOD PATH [BODY]: what the management API answers, or the end with its refusal.
admin() {
    local body=() answer
    [ $# -lt 3 ] || body=(-H 'Content-Type: application/json' -d "$3")
    answer=$(curl -sS -w '\n%{http_code}' -X "$1" -H @<(bearer "$SEALWARD_ADMIN_KEY") "${body[@]}" "$url$2")
    case ${answer##*$'\n'} in
        2??) printf '%s' "${answer%$'\n'*}" ;;
        *) die "$1 $2 was refused:" "$answer" ;;
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

# What an interrupted run made and nobody knows the secret of.
revoke_others() {
    local id
    for id in $(admin GET '/admin/api-keys?limit=200' |
        jq -r --arg name "$1" --arg kept "$2" \
            '.items[] | select(.name == $name and .status == "active" and .id != $kept) | .id'); do
        admin DELETE "/admin/api-keys/$id"
    done
}

# Only what is missing is made, so that an interrupted run is completed, and what a person
# changed since stays as it is.
demo_world() {
    local service made
    service=$(admin GET '/admin/services?name=demo' | jq -r '.items[] | select(.name == "demo") | .id')
    [ -n "$service" ] || service=$(admin POST /admin/services '{"name": "demo"}' | jq -r .id)
    [ -n "$(admin GET "/admin/keys?serviceId=$service&use=enc" | jq -r '.items[].id')" ] ||
        admin POST /admin/keys "$(jq -n --arg service "$service" \
            '{serviceId: $service, name: "demo", generate: true}')" >/dev/null
    [ "$(status_of "$SEALWARD_ADMIN_KEY" "/admin/policies/$SEALWARD_POLICY")" = 200 ] ||
        admin POST /admin/policies "$(jq -n --arg service "$service" --arg number "$SEALWARD_POLICY" \
            '{policyNumber: $number, name: "demo", destinationServiceId: $service}')" >/dev/null
    key_works "$SEALWARD_API_KEY" /api/v1/health && return 0
    made=$(admin POST /admin/api-keys "$(jq -n --arg service "$service" --arg number "$SEALWARD_POLICY" \
        '{name: "demo", type: "test", serviceId: $service, policyNumber: $number}')")
    SEALWARD_API_KEY=$(jq -r .secret <<<"$made")
    revoke_others demo "$(jq -r .id <<<"$made")"
}

round_trip() {
    local answer
    say
    say "\$ . $(shown env)"
    # shellcheck disable=SC1091 # written by this script
    . "$state/env"
    # shellcheck disable=SC2016 # shown as a person types it
    show 'curl -s "$SEALWARD_URL/api/v1/protect" -H "Authorization: Bearer $SEALWARD_API_KEY" \
    -H "Content-Type: application/json" \
    -d '"'"'{"payload": {"card": "4111 1111 1111 1111", "amount": 12.50}}'"'"' | tee '"$(shown envelope.json)"
    # shellcheck disable=SC2016
    show 'jq "{jwe}" '"$(shown envelope.json)"' | curl -s "$SEALWARD_URL/api/v1/unprotect" \
    -H "Authorization: Bearer $SEALWARD_API_KEY" -H "Content-Type: application/json" -d @-'
    jq -e 'has("payload")' <<<"$answer" >/dev/null ||
        warn "what was protected did not come back: is the demo as it was made?"
}

# Shows a command, does exactly that, and shows what it answers.
show() {
    printf '$ %s\n' "$1"
    answer=$(eval "$1")
    [ -z "$answer" ] || printf '%s\n\n' "$answer"
}
