variable "description" {
  type    = string
  default = null
}

resource "sealward_service" "shop" {
  name         = "shop"
  description  = var.description
  publish_keys = true
}

resource "sealward_key" "envelopes" {
  service_id          = sealward_service.shop.id
  name                = "envelopes"
  algorithm           = "P-256"
  rotation_days       = 1
  deletion_protection = false
}

resource "sealward_policy" "payments" {
  policy_number          = "PAYMENTS"
  name                   = "payments"
  description            = var.description
  destination_service_id = sealward_service.shop.id
  alg                    = "ECDH-ES+A256KW"
  allowed_service_ids    = ["*"]
  deletion_protection    = false
}

resource "sealward_api_key" "till" {
  name               = "till"
  type               = "test"
  service_id         = sealward_service.shop.id
  policy_number      = sealward_policy.payments.policy_number
  allowed_operations = ["protect", "unprotect"]
  expires_at         = "2040-01-01T00:00:00+02:00"
}

resource "sealward_identity" "cart" {
  name          = "cart"
  service_id    = sealward_service.shop.id
  policy_number = sealward_policy.payments.policy_number
  match = {
    issuer = "https://issuer.example.com"
    claims = jsonencode({ "/kubernetes.io/namespace" = "shop" })
  }
}
