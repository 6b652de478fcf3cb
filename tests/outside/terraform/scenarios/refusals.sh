# shellcheck shell=bash
# Bad input is an error in one line, and the state keeps what it had.

configure provider.tf
cat >main.tf <<'HCL'
provider "sealward" {}

resource "sealward_service" "refused" {
  name = "refused"
}
HCL
applies
before=$(jq -S .resources terraform.tfstate)

wrong=sk_admin_0000000000000000000000000000000000000000000000000
SEALWARD_ADMIN_KEY=$wrong in_one_line 'authentication failed (401 AUTHENTICATION_FAILED)' tofu plan -no-color -input=false
revoked=$(api POST /admin/api-keys '{"name": "revoked", "type": "admin"}')
api DELETE "/admin/api-keys/$(jq -r .id <<<"$revoked")"
SEALWARD_ADMIN_KEY=$(jq -r .secret <<<"$revoked") in_one_line 'authentication failed (401' tofu plan -no-color -input=false
SEALWARD_URL=http://127.0.0.1:1 in_one_line 'connection failed' tofu plan -no-color -input=false
SEALWARD_URL=nowhere in_one_line 'URL is not an http or https address' tofu plan -no-color -input=false
sed -i.kept 's/^provider .*/provider "sealward" { url = "" }/' main.tf
in_one_line 'url is empty; remove it to use its default' tofu plan -no-color -input=false
mv main.tf.kept main.tf
in_one_line 'set exactly one of SEALWARD_API_KEY' env -u SEALWARD_ADMIN_KEY tofu plan -no-color -input=false

cat >taken.tf <<'HCL'
resource "sealward_service" "taken" {
  name = "refused"
}
HCL
in_one_line '409 CONFLICT' tofu apply -no-color -auto-approve
[ "$(jq -S .resources terraform.tfstate)" = "$before" ] || fails "the state changed"
rm taken.tf
plans_nothing
tofu destroy -no-color -auto-approve
