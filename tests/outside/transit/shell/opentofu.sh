# shellcheck shell=bash
# OpenTofu: encrypts its state with a data key, which Transit wraps.

cat >main.tf <<'HCL'
terraform {
  encryption {
    # It reads BAO_ADDR and BAO_TOKEN.
    key_provider "openbao" "transit" {
      key_name = "data"
    }
    method "aes_gcm" "state" {
      keys = key_provider.openbao.transit
    }
    state {
      method   = method.aes_gcm.state
      enforced = true
    }
  }
}

resource "terraform_data" "database" {
  input = "s3cret"
}

output "password" {
  value     = terraform_data.database.output
  sensitive = true
}
HCL
# A file of the person who runs this does not count.
unset TF_CLI_CONFIG_FILE
tofu init
tofu apply -auto-approve
jq --exit-status .encrypted_data terraform.tfstate >/dev/null
lacks s3cret terraform.tfstate
[ "$(tofu output -raw password)" = s3cret ]
BAO_TOKEN=wrong refuses 'permission denied' tofu output -raw password
