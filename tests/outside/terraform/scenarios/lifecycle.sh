# shellcheck shell=bash
# Each resource is created, used, changed and deleted. The plan after each of these is empty.

configure provider.tf shop.tf secret.tf known.tf
applies
plans_nothing
[ "$(tofu output -json known | jq -c 'unique')" = '[true]' ] || fails "a data source differs"

# A use changes last_used_at, and no plan.
API_KEY=$(<secret) api POST /api/v1/protect '{"payload": 1}' | jq -e .jwe
plans_nothing
lacks "$(<secret)" terraform.tfstate
lacks "$(<secret)" apply.log

applies -var description=till
plans_nothing -var description=till
[ "$(api GET /admin/policies/PAYMENTS | jq -r .description)" = till ]
applies
plans_nothing
[ "$(api GET /admin/policies/PAYMENTS | jq -r .description)" = null ]

destroys_all
