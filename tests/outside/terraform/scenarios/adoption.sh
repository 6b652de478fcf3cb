# shellcheck shell=bash
# Resources that exist are imported by ID, and by name or number. Then others change them.

configure provider.tf shop.tf
applies
declare -A ids
for address in $(tofu state list); do ids[$address]=$(tofu state show -no-color "$address" | sed -n 's/^    id  *= "\(.*\)"/\1/p'); done
# imports ADDRESS ID
imports() {
    tofu state rm -no-color "$1"
    tofu import -no-color -input=false "$1" "$2"
    [ "$(tofu state show -no-color "$1" | sed -n 's/^    id  *= "\(.*\)"/\1/p')" = "${ids[$1]}" ]
}
for address in "${!ids[@]}"; do imports "$address" "${ids[$address]}"; done
# deletion_protection is true after an import, which an apply changes.
applies
plans_nothing
imports sealward_service.shop shop
imports sealward_policy.payments PAYMENTS
imports sealward_key.envelopes "${ids[sealward_service.shop]}/envelopes"
imports sealward_key.envelopes envelopes
imports sealward_api_key.till till
imports sealward_identity.cart cart
applies
plans_nothing
tofu state rm -no-color sealward_service.shop
in_one_line 'no service is named "nothing"' tofu import -no-color -input=false sealward_service.shop nothing

tofu import -no-color -input=false sealward_service.shop shop
plans_nothing

# Changes from outside are in the plan, and an apply reverts them. A freeze stays.
api PATCH /admin/policies/PAYMENTS '{"failureMode": "drop"}'
plans '"drop" -> "error"'
applies
plans_nothing
[ "$(api GET /admin/policies/PAYMENTS | jq -r .failureMode)" = error ]

service=$(api GET '/admin/services?name=shop' | jq -r '.items[0].id')
api PATCH "/admin/services/$service" '{"status": "frozen"}'
plans_nothing
api PATCH "/admin/services/$service" '{"status": "active"}'

# A plan that is older than a change from outside changes nothing.
tofu plan -no-color -input=false -var description=late -out late.plan
api PATCH /admin/policies/PAYMENTS '{"name": "other"}'
api PATCH "/admin/services/$service" '{"publishKeys": false}'
refuses 'precondition failed' tofu apply -no-color late.plan
[ "$(api GET /admin/policies/PAYMENTS | jq -r '.name + " " + (.description | tostring)')" = 'other null' ]
applies
plans_nothing

identity=$(api GET '/admin/identities?name=cart' | jq -r '.items[0].id')
api DELETE "/admin/identities/$identity"
plans 'sealward_identity.cart will be created'
applies
plans_nothing
destroys_all
