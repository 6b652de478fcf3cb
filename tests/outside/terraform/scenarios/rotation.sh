# shellcheck shell=bash
# A scheduled rotation leaves the plan empty. The resource goes on with the successor, and deletes both keys.

configure provider.tf
cat >main.tf <<'HCL'
resource "sealward_service" "signer" {
  name = "signer"
}

resource "sealward_key" "rotating" {
  service_id          = sealward_service.signer.id
  name                = "rotating"
  algorithm           = "P-256"
  rotation_days       = 1
  deletion_protection = false
}
HCL
applies

# The successors are found by the name.
sed 's/"rotating" {/"second" {/' main.tf | sed -n '/^resource "sealward_key"/,$p' >second.tf
in_one_line 'a key that rotates needs a name of its own' tofu apply -no-color -auto-approve
rm second.tf
plans_nothing

first=$(api GET '/admin/keys?name=rotating' | jq -r '.items[0].id')
library=$(compgen -G '/usr/lib/*/faketime/libfaketime.so.1')
restart_with LD_PRELOAD="$library" FAKETIME=+2d FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1
statuses() { api GET "/admin/keys?name=rotating&status=$1" | jq -r '.items[].id'; }
rotated() { [ "$(statuses retired)" = "$first" ] && [ -n "$(statuses active)" ]; }
wait_until rotated
plans_nothing
tofu refresh -no-color
tofu state show -no-color sealward_key.rotating | grep "current_id.*$(statuses active)"

sed -i 's/rotation_days .*/rotation_days = 30/' main.tf
applies
plans_nothing
[ "$(api GET "/admin/keys/$(statuses active)" | jq .rotationDays)" = 30 ]
sed -i.kept '/rotation_days/d' main.tf
in_one_line 'cannot lose rotation_days' tofu apply -no-color -auto-approve
mv main.tf.kept main.tf
tofu destroy -no-color -auto-approve -target sealward_key.rotating
[ "$(statuses active)$(statuses retired)" = '' ]
restart_with
