terraform {
  required_providers {
    sealward = { source = "sealward.dev/sealward/sealward" }
  }
}

# SEALWARD_ADMIN_KEY is the admin key.
provider "sealward" {
  url               = "https://sealward.example.com"
  wait_for_approval = "30m"
}
