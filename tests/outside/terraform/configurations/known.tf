data "sealward_service" "shop" {
  name = sealward_service.shop.name
}

data "sealward_policy" "payments" {
  policy_number = sealward_policy.payments.policy_number
}

data "sealward_key" "envelopes" {
  id = sealward_key.envelopes.id
}

data "sealward_api_key" "till" {
  name = sealward_api_key.till.name
}

data "sealward_identity" "cart" {
  name = sealward_identity.cart.name
}

data "sealward_jwks" "shop" {
  service_id = sealward_key.envelopes.service_id
  depends_on = [sealward_key.envelopes]
}

output "known" {
  value = [
    data.sealward_service.shop.id == sealward_service.shop.id,
    data.sealward_policy.payments.id == sealward_policy.payments.id,
    data.sealward_key.envelopes.thumbprint == sealward_key.envelopes.thumbprint,
    data.sealward_api_key.till.id == sealward_api_key.till.id,
    data.sealward_identity.cart.match.issuer == "https://issuer.example.com",
    jsondecode(data.sealward_jwks.shop.keys[0]).kid == sealward_key.envelopes.id,
  ]
}
