# shellcheck shell=bash
# A change that needs approval is an error that names it, or waits for it.

configure provider.tf
admin_key() {
    "$program" api-key create --config "$work/service/sealward.toml" --type admin --name "$1" --person "$1" --json | jq -r .secret
}
export SOFTHSM2_CONF=$work/service/token/softhsm2.conf
SEALWARD_ADMIN_KEY=$(admin_key alice)
bob=$(admin_key bob)
restart_with SEALWARD_APPROVALS_REQUIRED='["policy.open", "credential.open"]'
pending() { API_KEY=$bob api GET '/admin/changes?status=pending' | jq -r '.items[].id'; }

cat >main.tf <<'HCL'
provider "sealward" {
  wait_for_approval = var.wait
}

variable "wait" {
  default = null
}

resource "sealward_service" "approved" {
  name = "approved"
}

resource "sealward_policy" "approved" {
  policy_number          = "APPROVED"
  name                   = "approved"
  destination_service_id = sealward_service.approved.id
  allowed_service_ids    = ["*"]
}
HCL
in_one_line 'waits for approval until' tofu apply -no-color -auto-approve
change=$(pending)
API_KEY=$bob api POST "/admin/changes/$change/reject" '{"comment": "no"}'
[ -z "$(pending)" ]

is_pending() { [ -n "$(pending)" ]; }
# decide_when_pending DECISION: decides the change that comes.
decide_when_pending() {
    wait_until is_pending
    API_KEY=$bob api POST "/admin/changes/$(pending)/$1" '{"comment": "checked"}' >/dev/null
}
decide_when_pending reject &
decider=$!
in_one_line 'is rejected by bob ("checked")' tofu apply -no-color -auto-approve -var wait=10m
wait "$decider"
decide_when_pending approve &
decider=$!
applies -var wait=10m
wait "$decider"
plans_nothing
[ "$(api GET /admin/policies/APPROVED | jq -r .status)" = active ]

# The secret of an approved API key reaches its ephemeral resource.
cp "$sources/configurations/secret.tf" .
cat >>main.tf <<'HCL'

resource "sealward_api_key" "till" {
  name       = "approved"
  type       = "test"
  service_id = sealward_service.approved.id
}
HCL
decide_when_pending approve &
decider=$!
applies -var wait=10m
wait "$decider"
plans_nothing
API_KEY=$(<secret) api GET /api/v1/caller | jq -e .serviceId
lacks "$(<secret)" terraform.tfstate
restart_with
